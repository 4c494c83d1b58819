//! Checks side by side, each in a process of its own: a compiler of kernels keeps one processor busy, and most of a
//! first selftest is compilation. A driver that crashes fails one check.

use lockstep_conformance::{Check, CheckResult, Outcome};
use serde_json::Value;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::table::CheckRow;
use crate::exit::Failure;
use crate::interrupt;

/// Runs checks of a target, at most `jobs` at once, and hands out a row for each as it ends. Checks that have not begun when the
/// user asks to stop have none.
///
/// # Errors
/// Those of `show`.
pub(super) fn run(
    target: &str,
    quick: bool,
    checks: &[Check],
    jobs: usize,
    mut show: impl FnMut(CheckRow) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let (ended, rows) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(checks.len()) {
            let (next, ended) = (&next, ended.clone());
            scope.spawn(move || {
                while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed))
                    && !interrupt::requested()
                {
                    let start = Instant::now();
                    let result = in_a_process(target, quick, check.name());
                    let row = CheckRow { name: check.name(), result, seconds: start.elapsed().as_secs_f64() };
                    if ended.send(row).is_err() {
                        return;
                    }
                }
            });
        }
        drop(ended);
        rows.iter().try_for_each(&mut show)
    })
}

/// The result of one check, by this program again.
fn in_a_process(target: &str, quick: bool, name: &str) -> CheckResult {
    let ran = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(["selftest", "--targets", target, "--only", name, "--jobs", "1", "--json"]);
        command.args(quick.then_some("--quick")).stdin(Stdio::null()).output()
    });
    match ran {
        Ok(output) => result_of(&output, name),
        Err(error) => CheckResult::Failed(format!("its process could not be started: {error}")),
    }
}

/// The row of a check in what a process printed.
fn result_of(output: &Output, name: &str) -> CheckResult {
    let printed: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let checks = printed.as_ref().and_then(|printed| printed["targets"][0]["checks"].as_array());
    let row = checks.and_then(|checks| checks.iter().find(|row| row["check"] == name));
    let remark = row.and_then(|row| row["remark"].as_str()).unwrap_or_default().to_owned();
    match row.and_then(|row| row["result"].as_str()) {
        Some("pass") => CheckResult::Ended(Outcome::Passed(remark)),
        Some("skip") => CheckResult::Ended(Outcome::Skipped(remark)),
        Some("fail") => CheckResult::Failed(remark),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            CheckResult::Failed(format!("its process ended with {}\n{}", output.status, said.trim_end()))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn output(signal: i32, stdout: &str) -> Output {
        let status = ExitStatus::from_raw(signal);
        Output { status, stdout: stdout.into(), stderr: b"libcuda.so: no such symbol\n".into() }
    }

    #[test]
    fn a_row_is_read_from_what_a_process_printed() {
        let printed = |result: &str| {
            format!(
                r#"{{"targets":[{{"checks":[{{"check":"other","result":"pass","remark":""}},
                {{"check":"a::b","result":"{result}","remark":"two\nlines","seconds":1.5}}]}}]}}"#
            )
        };
        let of = |result| result_of(&output(0, &printed(result)), "a::b");
        assert_eq!(of("pass"), CheckResult::Ended(Outcome::Passed("two\nlines".into())));
        assert_eq!(of("skip"), CheckResult::Ended(Outcome::Skipped("two\nlines".into())));
        assert_eq!(of("fail"), CheckResult::Failed("two\nlines".into()));
    }

    #[test]
    fn a_process_that_crashes_fails_its_check_with_what_it_said() {
        for printed in ["", "{\"targets\":[]}", "{\"targets\":[{\"checks\":[]}]}"] {
            let CheckResult::Failed(reason) = result_of(&output(11, printed), "a::b") else {
                panic!("{printed} passes")
            };
            assert!(reason.contains("signal: 11") && reason.ends_with("no such symbol"), "{reason}");
        }
    }
}
