//! `lockstep devices`: every target, present or not.

use lockstep_core::math::canary::{OPERATIONS, PROBES};
use lockstep_core::{DeviceInfo, OpenOptions, Unavailable};
use serde_json::{Value, json};
use std::time::Instant;

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
    let own: Vec<Listed> = targets
        .into_iter()
        .map(|target| {
            let check = (args.prove && target.is_exact()).then(|| ArithmeticCheck::of(&target));
            Listed { target, check }
        })
        .collect();
    if args.json {
        let externals = externals.all.iter().map(external_to_json);
        print_json(&own.iter().map(to_json).chain(externals).collect::<Vec<_>>())?;
    } else {
        print(&text(&own, &externals.all))?;
    }
    backends::require(&required)?;
    let refused = own.iter().any(|listed| listed.check.as_ref().is_some_and(|check| check.refusal.is_some()));
    Ok(if refused { Exit::Differs } else { Exit::Fine })
}

/// A target, with the check of its arithmetic where one was asked for.
struct Listed {
    target: Target,
    check: Option<ArithmeticCheck>,
}

/// The canary of exact mode on one target.
struct ArithmeticCheck {
    /// Why the target was not opened.
    refusal: Option<String>,
    /// The time of opening it.
    milliseconds: f64,
}

impl ArithmeticCheck {
    fn of(target: &Target) -> Self {
        let start = Instant::now();
        let refusal = target.open(&OpenOptions::default()).err().map(|failure| failure.to_string());
        Self { refusal, milliseconds: start.elapsed().as_secs_f64() * 1e3 }
    }

    fn in_words(&self) -> String {
        let operations = OPERATIONS.map(|operation| operation.name).join(", ");
        match &self.refusal {
            Some(refusal) => format!("refused: {refusal}"),
            None => format!("exact in {PROBES} probes each of {operations}; {:.0} ms", self.milliseconds),
        }
    }
}

/// One target as JSON: its device, or why it is absent.
fn to_json(Listed { target, check }: &Listed) -> Value {
    let mut value = target_to_json(target);
    if let Some(check) = check {
        value["proven"] = json!(check.refusal.is_none());
        value["refusal"] = json!(check.refusal);
        value["proof_ms"] = json!(check.milliseconds);
    }
    value
}

fn target_to_json(target: &Target) -> Value {
    match &target.state {
        Ok(info) => json!({
            "target": target.id, "present": true, "backend": info.backend, "device": info.device,
            "driver": info.driver, "compiler": info.compiler, "flags": info.flags,
            "compute_units": info.compute_units, "clocks": info.clocks, "kernel_hash": info.kernel_hash,
            "exact": info.exact, "note": info.note,
            "modes": target.modes(),
        }),
        Err(unavailable) => json!({
            "target": target.id, "present": false, "reason": unavailable.reason, "remedy": unavailable.remedy,
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
        Err(unavailable) => {
            target["reason"] = json!(unavailable.reason);
            target["remedy"] = json!(unavailable.remedy);
        }
    }
    target
}

type Rows = Vec<(&'static str, String)>;

/// A paragraph a target, its name in the first column.
fn text(targets: &[Listed], externals: &[External]) -> String {
    let own = targets.iter().map(|Listed { target, check }| {
        let mut rows = target.state.as_ref().map_or_else(absent_rows, present_rows);
        rows.extend(check.iter().map(|check| ("check", check.in_words())));
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

fn absent_rows(unavailable: &Unavailable) -> Rows {
    vec![("absent", unavailable.reason.clone()), ("remedy", unavailable.remedy.clone())]
}

fn external_rows(external: &External) -> Rows {
    let declared = &external.declared;
    let mut rows = match &external.state {
        Ok(program) => vec![("program", program.display().to_string())],
        Err(unavailable) => absent_rows(unavailable),
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
        let check = Some(ArithmeticCheck { refusal: Some("it rounds".into()), milliseconds: 1.0 });
        let all = [Listed { target, check }, Listed { target: absent, check: None }];
        insta::assert_snapshot!(text(&all, &[]), @r"
        cpu-bvh  device    Some CPU
                 driver    built-in
                 compiler  rustc 1
                 threads   2
                 images    identical to those of every other exact target
                 check     refused: it rounds
        cuda@0   absent    no CUDA driver is installed
                 remedy    Install NVIDIA's driver.
        ");
    }

    #[test]
    fn a_proof_names_every_operation_and_a_refusal_is_in_the_json() {
        let target = backends::one("cpu-bvh", lockstep_core::Mode::Exact).unwrap();
        let check = ArithmeticCheck::of(&target);
        let words = check.in_words();
        assert!(OPERATIONS.iter().all(|operation| words.contains(operation.name)), "{words}");
        assert_eq!(to_json(&Listed { target: target.clone(), check: Some(check) })["proven"], true);
        let refused = ArithmeticCheck { refusal: Some("opencl@x: division".into()), milliseconds: 0.0 };
        let json = to_json(&Listed { target: target.clone(), check: Some(refused) });
        assert_eq!((&json["proven"], &json["refusal"]), (&json!(false), &json!("opencl@x: division")));
        assert!(to_json(&Listed { target, check: None }).get("proven").is_none());
    }
}
