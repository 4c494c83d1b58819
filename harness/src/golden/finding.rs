//! A check's verdict in the light of what was expected.

use std::time::Duration;

use super::expectations::{Expectation, Expectations};
use super::verdict::Verdict;
use crate::exit::Exit;

/// One golden, checked on one target.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The scene, as it is named on the command line.
    pub(super) scene: String,
    /// The target; empty where the verdict is about the golden alone.
    pub(super) target: String,
    /// The verdict on the rendered image.
    pub(super) verdict: Verdict,
    /// The outcome, given the expected failures.
    pub(super) outcome: Outcome,
    /// The command that looks into a failure.
    pub(super) triage: Option<String>,
    /// How long it took.
    pub(super) time: Duration,
}

/// The meaning of a verdict where failures may be expected.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The target passes, as it should.
    Passed,
    /// The target fails, as is known.
    KnownFailure(Expectation),
    /// The target fails.
    Failed,
    /// The target passes, though it is listed as failing.
    UnexpectedPass(Expectation),
    /// The target fails as was known, and the last day is over.
    Expired(Expectation),
}

impl Outcome {
    /// Weighs a verdict. A golden that is missing, or of another scene, is never a known failure: nothing was
    /// rendered.
    pub(super) fn of(verdict: &Verdict, expected: Option<&Expectation>, today: &str) -> Self {
        let passed = verdict.exit() == Exit::Fine;
        match expected {
            _ if matches!(verdict, Verdict::Missing(_) | Verdict::SceneChanged) => Self::Failed,
            Some(row) if passed => Self::UnexpectedPass(row.clone()),
            Some(row) if row.is_expired(today) => Self::Expired(row.clone()),
            Some(row) => Self::KnownFailure(row.clone()),
            None if passed => Self::Passed,
            None => Self::Failed,
        }
    }

    /// Whether the finding lets a run pass.
    pub(super) fn is_good(&self) -> bool {
        matches!(self, Self::Passed | Self::KnownFailure(_))
    }
}

impl Finding {
    /// Exit code of a run with this finding.
    pub(super) fn exit(&self) -> Exit {
        match (&self.outcome, self.verdict.exit()) {
            (outcome, _) if outcome.is_good() => Exit::Fine,
            (Outcome::Failed, exit) => exit,
            _ => Exit::Differs,
        }
    }

    /// The finding in a word or two.
    pub(super) fn word(&self) -> &'static str {
        match self.outcome {
            Outcome::Passed | Outcome::Failed => self.verdict.word(),
            Outcome::KnownFailure(_) => "known failure",
            Outcome::UnexpectedPass(_) => "passes unexpectedly",
            Outcome::Expired(_) => "expired",
        }
    }

    /// The whole story in one line, without the command.
    pub(super) fn detail(&self) -> String {
        let found = self.verdict.detail();
        let and = |text: String| if found.is_empty() { text } else { format!("{text}; {found}") };
        match &self.outcome {
            Outcome::Passed | Outcome::Failed => found,
            Outcome::KnownFailure(row) => and(format!("known until {}: {}", row.last_day(), row.reason)),
            Outcome::UnexpectedPass(row) => {
                and(format!("listed as failing ({}); delete its entry from expectations.toml", row.reason))
            }
            Outcome::Expired(row) => and(format!(
                "was tolerated until {}: {}; mend it or renew its entry",
                row.last_day(),
                row.reason
            )),
        }
    }
}

/// Entries about the scenes checked whose last day is over and that no check of this run met: they are to be
/// deleted or renewed wherever their target is.
pub(super) fn stale<'a>(
    expectations: &'a Expectations,
    scenes: &[&str],
    findings: &[Finding],
    today: &str,
) -> Vec<&'a Expectation> {
    let met = |row: &Expectation| {
        findings
            .iter()
            .any(|f| matches!(&f.outcome, Outcome::UnexpectedPass(r) | Outcome::Expired(r) if r == row))
    };
    let rows = expectations.rows.iter();
    rows.filter(|row| scenes.contains(&row.scene.as_str()) && row.is_expired(today) && !met(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation() -> Expectation {
        toml::from_str("scene = \"s\"\ntarget = \"t\"\nreason = \"r\"\nexpires = 2027-01-31\n").unwrap()
    }

    fn outcome(verdict: &Verdict, today: &str) -> Outcome {
        Outcome::of(verdict, Some(&expectation()), today)
    }

    #[test]
    fn a_known_failure_passes_until_its_last_day_and_a_pass_fails() {
        let before = outcome(&Verdict::InvalidSamples, "2027-01-31");
        assert!(matches!(before, Outcome::KnownFailure(_)) && before.is_good());
        let after = outcome(&Verdict::InvalidSamples, "2027-02-01");
        assert!(matches!(after, Outcome::Expired(_)) && !after.is_good());
        let passes = outcome(&Verdict::Identical, "2027-01-01");
        assert!(matches!(passes, Outcome::UnexpectedPass(_)) && !passes.is_good());
    }

    #[test]
    fn a_missing_golden_cannot_be_expected() {
        let finding = Finding {
            scene: "s".into(),
            target: "t".into(),
            verdict: Verdict::Missing("g".into()),
            outcome: outcome(&Verdict::Missing("g".into()), "2027-01-01"),
            triage: None,
            time: Duration::ZERO,
        };
        assert_eq!((finding.outcome.clone(), finding.exit()), (Outcome::Failed, Exit::Missing));
    }

    #[test]
    fn what_nothing_is_known_of_passes_or_fails_by_its_verdict() {
        assert_eq!(Outcome::of(&Verdict::Identical, None, "2027-01-01"), Outcome::Passed);
        assert_eq!(Outcome::of(&Verdict::InvalidSamples, None, "2027-01-01"), Outcome::Failed);
    }

    #[test]
    fn an_expired_entry_that_no_check_met_is_stale() {
        let all = Expectations { path: "e".into(), rows: vec![expectation()] };
        assert_eq!(stale(&all, &["s"], &[], "2027-02-01").len(), 1);
        assert!(stale(&all, &["other"], &[], "2027-02-01").is_empty());
        assert!(stale(&all, &["s"], &[], "2027-01-31").is_empty());
    }
}
