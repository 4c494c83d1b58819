//! The findings of a comparison for CI systems: JUnit XML, Markdown, and known failures.

use std::path::Path;

use lockstep_reports::image_io::atomic_write_text;
use lockstep_reports::statistics::Agreement;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::layer_verdict::LayerVerdict;
use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::golden::{Expectation, Expectations};

/// The word of images and layers that have no counterpart, or one of another size.
const NOT_COMPARED: &str = "not compared";

/// One comparison in the light of what was expected, or an image that has nothing to be compared with.
#[derive(Debug)]
pub(super) struct Finding {
    /// The scene, with the layer's name where there are several.
    pub(super) scene: String,
    /// The two sides; of an image without a counterpart the one that is there.
    pub(super) pair: String,
    /// The verdict, or [`NOT_COMPARED`].
    pub(super) word: &'static str,
    /// Reason for the verdict, in a sentence without a full stop.
    pub(super) reason: String,
    exit: Exit,
    /// The entry that expects it to fail.
    expected: Option<Expectation>,
    /// Whether the last day of the entry that expects this is over.
    expired: bool,
}

impl Finding {
    /// Weighs a comparison.
    pub(super) fn of(
        found: &LayerVerdict,
        expectations: &Expectations,
        args: &CompareArgs,
        today: &str,
    ) -> Self {
        let exit = match found.agreement {
            _ if found.equal => Exit::Fine,
            _ if args.tolerance.is_some() => Exit::Differs,
            Some(Agreement::Identical | Agreement::WithinNoise) => Exit::Fine,
            Some(Agreement::Inconclusive) => Exit::Inconclusive,
            Some(Agreement::Biased | Agreement::Broken) | None => Exit::Differs,
        };
        let expected =
            [&found.names.0, &found.names.1].into_iter().find_map(|t| expectations.of(&found.scene, t, ""));
        Self {
            scene: found.scene.clone(),
            pair: format!("{} : {}", found.names.0, found.names.1),
            word: found.word(),
            reason: found.reason.clone(),
            exit,
            expired: expected.is_some_and(|row| row.is_expired(today)),
            expected: expected.cloned(),
        }
    }

    /// An image or layer of a target that is not compared, which is no pass.
    pub(super) fn missing(
        target: &str,
        scene: &str,
        reason: &str,
        expectations: &Expectations,
        today: &str,
    ) -> Self {
        let expected = expectations.of(scene, target, "");
        Self {
            scene: scene.to_owned(),
            pair: target.to_owned(),
            word: NOT_COMPARED,
            reason: reason.to_owned(),
            exit: Exit::Missing,
            expired: expected.is_some_and(|row| row.is_expired(today)),
            expected: expected.cloned(),
        }
    }

    fn is_compared(&self) -> bool {
        self.word != NOT_COMPARED
    }

    /// Exit code of the comparison: a known failure is fine until its last day, and a pass that is listed as a failure is
    /// not.
    pub(super) fn exit(&self) -> Exit {
        match (&self.expected, self.exit) {
            (None, exit) => exit,
            (Some(_), Exit::Fine) => Exit::Differs,
            (Some(_), exit) => {
                if self.expired {
                    exit
                } else {
                    Exit::Fine
                }
            }
        }
    }

    /// The remark beside the verdict that the entry causes.
    pub(super) fn remark(&self) -> Option<String> {
        let row = self.expected.as_ref()?;
        Some(match (self.exit, self.expired) {
            (Exit::Fine, _) => format!("listed as failing ({}); delete its entry", row.reason),
            (_, true) => format!("was tolerated until {}: {}", row.last_day(), row.reason),
            (_, false) => format!("known until {}: {}", row.last_day(), row.reason),
        })
    }

    fn detail(&self) -> String {
        self.remark().map_or_else(|| self.reason.clone(), |remark| format!("{remark}; {}", self.reason))
    }

    fn is_good(&self) -> bool {
        self.exit() == Exit::Fine
    }
}

/// Writes the files that were asked for.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(super) fn write(args: &CompareArgs, findings: &[Finding]) -> Result<(), Failure> {
    let put = |file: Option<&Path>, text: String| file.map_or(Ok(()), |file| atomic_write_text(file, &text));
    put(args.junit.as_deref(), junit(findings)?)?;
    Ok(put(args.markdown.as_deref(), markdown(findings))?)
}

fn junit(findings: &[Finding]) -> Result<String, Failure> {
    let mut suite = TestSuite::new("compare");
    suite.add_test_cases(findings.iter().map(|f| {
        let mut status = match (f.is_good(), &f.expected) {
            (true, Some(_)) => TestCaseStatus::skipped(),
            (true, None) => TestCaseStatus::success(),
            (false, _) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        if !f.is_good() || f.expected.is_some() {
            status.set_type(f.word).set_message(f.detail());
        }
        let mut case = TestCase::new(f.scene.as_str(), status);
        case.set_classname(f.pair.as_str());
        if f.is_good() {
            case.set_system_out(format!("{}: {}", f.word, f.detail()));
        }
        case
    }));
    let mut report = Report::new("lockstep");
    report.add_test_suite(suite);
    report.to_string().map_err(|e| Failure::Input(format!("cannot write the findings as JUnit XML: {e}")))
}

fn markdown(findings: &[Finding]) -> String {
    let compared = findings.iter().filter(|f| f.is_compared()).count();
    let failed = findings.iter().filter(|f| f.is_compared() && !f.is_good()).count();
    let missing = findings.len() - compared;
    let sign = if findings.iter().all(Finding::is_good) && compared > 0 { "✅" } else { "❌" };
    let missing = if missing > 0 { format!(", {missing} not compared") } else { String::new() };
    let mut text = format!("## {sign} Images: {compared} compared, {failed} failed{missing}\n\n");
    text.push_str("| | Scene | Images | Verdict | |\n| :--- | :--- | :--- | :--- | :--- |\n");
    let escaped = |text: &str| text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ");
    for f in findings {
        let sign = match (f.is_good(), &f.expected) {
            (true, Some(_)) => "⚠️",
            (true, None) => "✅",
            (false, _) => "❌",
        };
        let cells = [&f.scene, &f.pair, f.word, &f.detail()].map(escaped);
        text.push_str(&format!("| {sign} | {} |\n", cells.join(" | ")));
    }
    text
}
