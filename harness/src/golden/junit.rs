//! Findings as JUnit XML, which CI systems show beside other tests.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::finding::{Finding, Outcome};
use super::summary::{Summary, stale_line};
use crate::exit::Failure;

/// One suite with a case for each finding: its name is the scene, its class the target. A known failure is
/// skipped with its reason.
///
/// # Errors
/// [`Failure::Input`] when the document cannot be written, which no text of ours causes.
pub(super) fn junit(summary: &Summary<'_>) -> Result<String, Failure> {
    let mut suite = TestSuite::new("golden");
    suite.set_time(summary.findings.iter().map(|f| f.time).sum());
    suite.add_test_cases(summary.findings.iter().map(case));
    for row in summary.stale {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("expired").set_message(stale_line(row));
        let mut case = TestCase::new(row.scene.as_str(), status);
        case.set_classname(row.target.as_str());
        suite.add_test_case(case);
    }
    let mut report = Report::new("lockstep");
    report.set_time(summary.findings.iter().map(|f| f.time).sum());
    report.add_test_suite(suite);
    report.to_string().map_err(|e| Failure::Input(format!("cannot write the findings as JUnit XML: {e}")))
}

fn case(finding: &Finding) -> TestCase {
    let mut status = match &finding.outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::KnownFailure(_) => TestCaseStatus::skipped(),
        Outcome::Failed | Outcome::UnexpectedPass(_) | Outcome::Expired(_) => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
    };
    if finding.outcome != Outcome::Passed {
        let look = finding.triage.as_ref().map(|look| format!("\nlook into it: {look}")).unwrap_or_default();
        status.set_type(finding.word());
        status.set_message(finding.detail());
        status.set_description(format!("{}: {}{look}", finding.word(), finding.detail()));
    }
    let mut case = TestCase::new(finding.scene.as_str(), status);
    case.set_classname(if finding.target.is_empty() { "golden" } else { finding.target.as_str() });
    case.set_time(finding.time);
    if finding.outcome == Outcome::Passed && !finding.detail().is_empty() {
        case.set_system_out(finding.detail());
    }
    case
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Verdict;
    use super::*;
    use std::time::Duration;

    #[test]
    fn failures_are_counted_and_their_texts_escaped() {
        let verdict = Verdict::Missing("a<b>&\"c\"".into());
        let outcome = Outcome::of(&verdict, None, "2027-01-01");
        let time = Duration::from_millis(250);
        let missing =
            Finding { scene: "s".into(), target: String::new(), verdict, outcome, triage: None, time };
        let fine = Finding {
            target: "cpu-bvh".into(),
            verdict: Verdict::Identical,
            outcome: Outcome::Passed,
            ..missing.clone()
        };
        let xml = junit(&Summary { findings: &[missing, fine], stale: &[] }).unwrap();
        for words in
            ["tests=\"2\"", "failures=\"1\"", "a&lt;b&gt;&amp;", "classname=\"cpu-bvh\"", "time=\"0.250\""]
        {
            assert!(xml.contains(words), "{words} is not in\n{xml}");
        }
    }
}
