//! Kernel resources from the log of `ptxas -v`.

use lockstep_core::KernelResources;

/// Resources of every kernel named in the log of `ptxas -v`.
pub fn from_ptxas(log: &str) -> Vec<KernelResources> {
    let mut found: Vec<KernelResources> = Vec::new();
    for line in log.lines() {
        let name = line.split_once("Compiling entry function '").and_then(|(_, rest)| rest.split_once('\''));
        if let Some((name, _)) = name {
            found.push(KernelResources { kernel: name.into(), ..KernelResources::default() });
        }
        let Some(kernel) = found.last_mut() else { continue };
        kernel.registers = number_before(line, " registers").or(kernel.registers);
        kernel.spill_bytes = number_before(line, " bytes spill stores").or(kernel.spill_bytes);
        kernel.stack_bytes = number_before(line, " bytes stack frame").or(kernel.stack_bytes);
        kernel.shared_bytes = number_before(line, " bytes smem").or(kernel.shared_bytes);
    }
    found
}

/// The whole number right before some words.
fn number_before(line: &str, words: &str) -> Option<u64> {
    let (before, _) = line.split_once(words)?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_log_is_read_kernel_by_kernel() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function 'ls_shade' for 'sm_90'\n\
                   ptxas info    : Function properties for ls_shade\n    \
                       144 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n\
                   ptxas info    : Used 80 registers, 8 bytes smem, 1104 bytes cmem[0]\n\
                   ptxas info    : Compiling entry function 'ls_tally' for 'sm_90'\n\
                   ptxas info    : Used 10 registers\n";
        let found = from_ptxas(log);
        let shade = KernelResources {
            kernel: "ls_shade".into(),
            registers: Some(80),
            spill_bytes: Some(12),
            stack_bytes: Some(144),
            shared_bytes: Some(8),
            width: None,
        };
        let tally =
            KernelResources { kernel: "ls_tally".into(), registers: Some(10), ..KernelResources::default() };
        assert_eq!(found, [shade, tally]);
    }

    #[test]
    fn a_log_of_another_compiler_tells_nothing() {
        assert!(from_ptxas("warning: 3 registers\n").is_empty());
    }
}
