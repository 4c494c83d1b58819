//! `lockstep devices`: every target, present or not.

use lockstep_core::DeviceInfo;
use serde_json::{Value, json};

use crate::backends::{self, Target};
use crate::cli::DevicesArgs;
use crate::exit::{Exit, Failure};
use crate::kernels;
use crate::output::{print, print_json};

/// Lists the targets.
///
/// # Errors
/// [`Failure::TargetAbsent`] when a required target is; what standard output says otherwise.
pub(crate) fn run(args: &DevicesArgs) -> Result<Exit, Failure> {
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    let targets = if args.all { backends::all_targets() } else { backends::targets() };
    if args.json {
        print_json(&targets.iter().map(to_json).collect::<Vec<_>>())?;
    } else {
        print(&text(&targets))?;
    }
    backends::require(&args.require)?;
    Ok(Exit::Fine)
}

/// One target as JSON: its device, or why it is absent.
fn to_json(target: &Target) -> Value {
    match &target.state {
        Ok(info) => json!({
            "target": target.id, "present": true, "backend": info.backend, "device": info.device,
            "driver": info.driver, "compiler": info.compiler, "flags": info.flags,
            "compute_units": info.compute_units, "clocks": info.clocks, "kernel_hash": info.kernel_hash,
            "exact": info.exact, "note": info.note,
            "modes": target.modes(),
        }),
        Err(absence) => json!({
            "target": target.id, "present": false, "reason": absence.reason, "remedy": absence.remedy,
        }),
    }
}

/// A paragraph a target, its name in the first column.
fn text(targets: &[Target]) -> String {
    let width = targets.iter().map(|t| t.id.to_string().len()).max().unwrap_or(0);
    let mut text = String::new();
    for target in targets {
        let rows = match &target.state {
            Ok(info) => present_rows(info),
            Err(absence) => {
                vec![("absent", absence.reason.clone()), ("remedy", absence.remedy.clone())]
            }
        };
        for (i, (label, value)) in rows.into_iter().filter(|(_, value)| !value.is_empty()).enumerate() {
            let name = if i == 0 { target.id.to_string() } else { String::new() };
            text.push_str(&format!("{name:width$}  {label:8}  {value}\n"));
        }
    }
    text
}

fn present_rows(info: &DeviceInfo) -> Vec<(&'static str, String)> {
    let units = if info.compute_units == 0 { String::new() } else { info.compute_units.to_string() };
    let promise = if info.exact {
        "identical to those of every other exact target"
    } else {
        "may differ: another intersector picks its own hits"
    };
    vec![
        ("device", info.device.clone()),
        ("driver", info.driver.clone()),
        ("compiler", [info.compiler.as_str(), info.flags.as_str()].join(" ").trim().to_owned()),
        (if info.backend == "cpu" { "threads" } else { "units" }, units),
        ("clocks", info.clocks.clone()),
        ("images", promise.to_owned()),
        ("note", info.note.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_targets_show_reason_and_remedy() {
        let mut target = backends::one("cpu-bvh", lockstep_core::Mode::Exact).unwrap();
        let info = DeviceInfo {
            device: "Some CPU".into(),
            backend: "cpu".into(),
            driver: "built-in".into(),
            compiler: "rustc 1".into(),
            compute_units: 2,
            exact: true,
            ..DeviceInfo::default()
        };
        target.state = Ok(info);
        let mut absent = target.clone();
        absent.id = "cuda@0".into();
        absent.state = Err(lockstep_core::Unavailable {
            reason: "no CUDA driver is installed".into(),
            remedy: "Install NVIDIA's driver.".into(),
        });
        insta::assert_snapshot!(text(&[target, absent]), @r"
        cpu-bvh  device    Some CPU
                 driver    built-in
                 compiler  rustc 1
                 threads   2
                 images    identical to those of every other exact target
        cuda@0   absent    no CUDA driver is installed
                 remedy    Install NVIDIA's driver.
        ");
    }
}
