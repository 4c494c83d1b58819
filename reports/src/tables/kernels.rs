//! Resources of compiled kernels.

use super::{Cell, Table};
use crate::study::Study;

/// Registers, spills, stack and shared memory of every kernel of every target that reports them.
pub fn kernel_table(study: &Study) -> Table {
    let numbers = ["Registers", "Spill bytes", "Stack bytes", "Shared bytes", "Width"];
    let mut table = Table::new("kernels", "Kernel resources", &["Target", "Kernel"], &numbers);
    table.notes.push(
        "Registers, spilled bytes and stack are a work-item's, shared memory is a work-group's, and the width is how \
         many work-items run in step. A cell is empty where driver and compiler do not tell."
            .to_owned(),
    );
    for target in &study.environment.targets {
        for k in &target.kernels {
            let mut row = vec![Cell::text(target.info.target.to_string()), Cell::text(&k.kernel)];
            let numbers = [k.registers, k.spill_bytes, k.stack_bytes, k.shared_bytes, k.width];
            row.extend(numbers.map(|n| n.map_or_else(Cell::empty, Cell::count)));
            table.rows.push(row);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{DeviceInfo, Environment, KernelResources, TargetInfo};

    #[test]
    fn what_is_not_told_is_empty_and_targets_without_kernels_have_no_row() {
        let kernel = KernelResources { kernel: "ls_shade".into(), registers: Some(80), ..Default::default() };
        let info = |target: &str| DeviceInfo { target: target.into(), ..DeviceInfo::default() };
        let told = TargetInfo { info: info("cuda@0"), kernels: vec![kernel], program: None };
        let targets = vec![info("cpu-bvh").into(), told];
        let study = Study::from_records(Vec::new(), Environment { targets, ..Default::default() });
        let table = kernel_table(&study);
        let texts: Vec<_> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((table.rows.len(), texts), (1, vec!["cuda@0", "ls_shade", "80", "", "", "", ""]));
    }
}
