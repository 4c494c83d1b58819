//! The table of checks, as text and as JSON.

use lockstep_conformance::{CHECKS, CheckResult, Outcome};
use serde_json::{Value, json};
use std::fmt;

use crate::backends::Target;

/// One check of one target.
pub(super) struct CheckRow {
    pub(super) name: &'static str,
    pub(super) result: CheckResult,
    pub(super) seconds: f64,
}

/// All checks of one target.
pub(super) struct TargetRows {
    pub(super) name: String,
    pub(super) rows: Vec<CheckRow>,
}

/// How many checks ended in each way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

impl Tally {
    pub(super) fn of(targets: &[TargetRows]) -> Self {
        let mut tally = Self::default();
        for row in targets.iter().flat_map(|target| &target.rows) {
            match row.result {
                CheckResult::Ended(Outcome::Passed(_)) => tally.passed += 1,
                CheckResult::Ended(Outcome::Skipped(_)) => tally.skipped += 1,
                CheckResult::Failed(_) => tally.failed += 1,
            }
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

impl CheckRow {
    /// The word of the result, and a remark or the reason.
    fn words(&self) -> (&'static str, &str) {
        match &self.result {
            CheckResult::Ended(Outcome::Passed(remark)) => ("pass", remark),
            CheckResult::Ended(Outcome::Skipped(reason)) => ("skip", reason),
            CheckResult::Failed(reason) => ("fail", reason),
        }
    }
}

/// One line; further lines of a reason are indented.
impl fmt::Display for CheckRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = CHECKS.iter().map(|check| check.name().len()).max().unwrap_or(0);
        let (word, remark) = self.words();
        let line = format!("  {word}  {:width$}  {:6.1} s  ", self.name, self.seconds);
        let remark = remark.trim_end().replace('\n', "\n        ");
        writeln!(f, "{}", format!("{line}{remark}").trim_end())
    }
}

/// The lines above a target's checks: its name and its device.
pub(super) fn heading(target: &Target) -> String {
    let Ok(info) = &target.state else { return format!("{}\n", target.id) };
    let parts = [info.device.as_str(), info.driver.as_str(), info.compiler.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}: {}\n", target.id, parts.join("; "))
}

/// The whole table.
pub(super) fn to_json(targets: &[TargetRows], tally: &Tally) -> Value {
    let check = |row: &CheckRow| {
        let (result, remark) = row.words();
        json!({ "check": row.name, "result": result, "remark": remark, "seconds": row.seconds })
    };
    let target = |target: &TargetRows| json!({ "target": target.name, "checks": target.rows.iter().map(check).collect::<Vec<_>>() });
    json!({
        "targets": targets.iter().map(target).collect::<Vec<_>>(),
        "passed": tally.passed, "failed": tally.failed, "skipped": tally.skipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted_and_reasons_shown() {
        let row = |result| CheckRow { name: "contract::names_its_device", result, seconds: 0.25 };
        let rows = vec![
            row(CheckResult::Ended(Outcome::default())),
            row(CheckResult::Ended(Outcome::Skipped("no fast mode".into()))),
            row(CheckResult::Failed("left: 1\nright: 2".into())),
        ];
        let text: String = rows.iter().map(ToString::to_string).collect();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  pass  contract::names_its_device ") && lines[0].ends_with("0.2 s"));
        assert!(lines[1].starts_with("  skip  ") && lines[1].ends_with("no fast mode"));
        assert!(lines[2].ends_with("left: 1") && lines[3].ends_with("        right: 2"));
        let targets = [TargetRows { name: "t".into(), rows }];
        let tally = Tally::of(&targets);
        assert_eq!(tally.to_string(), "1 passed, 1 failed, 1 skipped");
        let json = to_json(&targets, &tally);
        assert_eq!(json["targets"][0]["checks"][2]["result"], "fail");
        assert_eq!((&json["passed"], &json["failed"]), (&json!(1), &json!(1)));
    }
}
