//! `lockstep devices`: every target, present or not.

use lockstep_core::{DeviceInfo, Unavailable};
use serde_json::{Value, json};

use crate::backends::{self, Target};
use crate::cli::DevicesArgs;
use crate::exit::{Exit, Failure};
use crate::external::{External, Externals};
use crate::kernels;
use crate::output::{print, print_json};

/// Lists the targets.
///
/// # Errors
/// [`Failure::TargetAbsent`] when a required target is; what standard output says otherwise.
pub(crate) fn run(args: &DevicesArgs) -> Result<Exit, Failure> {
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    let targets = if args.all { backends::all_targets() } else { backends::targets() };
    let mut externals = Externals::find(args.targets_file.as_deref(), &[])?;
    let required = externals.require(&args.require)?;
    externals.all.retain(|external| external.listed || args.all);
    if args.json {
        let externals = externals.all.iter().map(external_to_json);
        print_json(&targets.iter().map(to_json).chain(externals).collect::<Vec<_>>())?;
    } else {
        print(&text(&targets, &externals.all))?;
    }
    backends::require(&required)?;
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

/// An external target as JSON: how its program is run, and whether it is there.
fn external_to_json(external: &External) -> Value {
    let declared = &external.declared;
    let mut target = json!({
        "target": external.id, "present": external.state.is_ok(), "backend": "program", "exact": false,
        "command": declared.command.declared(), "times": declared.times.in_words(),
        "declared": declared.declared_at(),
    });
    match &external.state {
        Ok(program) => target["program"] = json!(program),
        Err(absence) => {
            target["reason"] = json!(absence.reason);
            target["remedy"] = json!(absence.remedy);
        }
    }
    target
}

type Rows = Vec<(&'static str, String)>;

/// A paragraph a target, its name in the first column.
fn text(targets: &[Target], externals: &[External]) -> String {
    let own = targets.iter().map(|target| {
        let rows = target.state.as_ref().map_or_else(absent_rows, present_rows);
        (target.id.to_string(), rows)
    });
    let declared = externals.iter().map(|external| (external.id.to_string(), external_rows(external)));
    let all: Vec<(String, Rows)> = own.chain(declared).collect();
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, rows) in &all {
        for (i, (label, value)) in rows.iter().filter(|(_, value)| !value.is_empty()).enumerate() {
            let name = if i == 0 { name.as_str() } else { "" };
            text.push_str(&format!("{name:width$}  {label:8}  {value}\n"));
        }
    }
    text
}

fn absent_rows(absence: &Unavailable) -> Rows {
    vec![("absent", absence.reason.clone()), ("remedy", absence.remedy.clone())]
}

fn external_rows(external: &External) -> Rows {
    let declared = &external.declared;
    let mut rows = match &external.state {
        Ok(program) => vec![("program", program.display().to_string())],
        Err(absence) => absent_rows(absence),
    };
    rows.push(("command", declared.command.in_line()));
    rows.push(("times", declared.times.in_words()));
    rows.push(("images", "compared by statistics over seeds".to_owned()));
    rows.push(("declared", declared.declared_at()));
    rows
}

fn present_rows(info: &DeviceInfo) -> Rows {
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
        insta::assert_snapshot!(text(&[target, absent], &[]), @r"
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
