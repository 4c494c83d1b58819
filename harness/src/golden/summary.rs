//! The findings of a run of checks, for people, for programs and for pull requests.

use lockstep_reports::metrics::Metrics;
use serde_json::{Value, json};

use super::expectations::Expectation;
use super::finding::{Finding, Outcome};
use crate::output::json_number;
use crate::terminal::Grading;

/// All findings of a run.
#[derive(Debug)]
pub(super) struct Summary<'a> {
    /// The findings, one for each golden and target.
    pub(super) findings: &'a [Finding],
    /// Expired entries that no check met.
    pub(super) stale: &'a [&'a Expectation],
}

impl Summary<'_> {
    /// Findings and entries that fail the run.
    fn failed(&self) -> usize {
        self.findings.iter().filter(|f| !f.outcome.is_good()).count() + self.stale.len()
    }

    fn counts(&self) -> String {
        let known = self.findings.iter().filter(|f| matches!(f.outcome, Outcome::KnownFailure(_))).count();
        let known = if known > 0 { format!(", {known} known to fail") } else { String::new() };
        format!("{} checked, {} failed{known}", self.findings.len(), self.failed())
    }

    /// A line for each finding, one below a failure that says how to look into it, and the totals.
    pub(super) fn text(&self, graded: Grading) -> String {
        let width = |of: fn(&Finding) -> usize| self.findings.iter().map(of).max().unwrap_or(0);
        let (scene, target) = (width(|f| f.scene.len()), width(|f| f.target.len()));
        let mut text = String::new();
        for f in self.findings {
            let word = if f.outcome.is_good() { f.word().to_owned() } else { f.word().to_uppercase() };
            let word = graded(f.outcome.is_good(), &format!("{word:13}"));
            let line = format!("{:scene$}  {:target$}  {word}  {}", f.scene, f.target, f.detail());
            text.push_str(line.trim_end());
            text.push('\n');
            if let Some(look) = &f.triage {
                text.push_str(&format!("{:scene$}  look into it: {look}\n", ""));
            }
        }
        for row in self.stale {
            text.push_str(&format!("{}\n", stale_line(row)));
        }
        text + &format!("{}\n", self.counts())
    }

    /// One JSON document: a list with an object for each finding.
    pub(super) fn json(&self) -> Value {
        let stale = self.stale.iter().map(|row| {
            json!({
                "scene": row.scene, "target": row.target, "verdict": "expired", "passed": false,
                "detail": stale_line(row),
            })
        });
        Value::Array(self.findings.iter().map(finding_json).chain(stale).collect())
    }

    /// A summary in GitHub's Markdown.
    pub(super) fn markdown(&self) -> String {
        let sign = if self.failed() == 0 { "✅" } else { "❌" };
        let mut text = format!("## {sign} Goldens: {}\n\n", self.counts());
        text.push_str("| | Scene | Target | Result | |\n| :--- | :--- | :--- | :--- | :--- |\n");
        let escaped = |text: &str| text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ");
        for f in self.findings {
            let sign = match (&f.outcome, f.outcome.is_good()) {
                (Outcome::KnownFailure(_), _) => "⚠️",
                (_, true) => "✅",
                _ => "❌",
            };
            let cells = [&f.scene, &f.target, f.word(), &f.detail()].map(escaped);
            text.push_str(&format!("| {sign} | {} |\n", cells.join(" | ")));
        }
        for row in self.stale {
            text.push_str(&format!("\n❌ {}\n", escaped(&stale_line(row))));
        }
        let looks: Vec<&Finding> = self.findings.iter().filter(|f| f.triage.is_some()).collect();
        if !looks.is_empty() {
            text.push_str("\n### To look into it\n");
        }
        for f in looks {
            let look = f.triage.as_deref().unwrap_or_default();
            text.push_str(&format!(
                "\n{} on {}:\n\n```sh\n{look}\n```\n",
                escaped(&f.scene),
                escaped(&f.target)
            ));
        }
        text
    }
}

pub(super) fn stale_line(row: &Expectation) -> String {
    format!(
        "expectations.toml: {} was tolerated until {}; renew the entry or delete it",
        row.about(),
        row.last_day()
    )
}

fn finding_json(f: &Finding) -> Value {
    let metric = |of: fn(&Metrics) -> f64| f.verdict.metrics().map(|m| json_number(of(m)));
    let expected = match &f.outcome {
        Outcome::KnownFailure(row) | Outcome::UnexpectedPass(row) | Outcome::Expired(row) => Some(row),
        Outcome::Passed | Outcome::Failed => None,
    };
    json!({
        "scene": f.scene, "target": f.target,
        "verdict": f.verdict.word(), "detail": f.detail(), "passed": f.outcome.is_good(),
        "outcome": f.word(), "look_into_it": f.triage, "seconds": f.time.as_secs_f64(),
        "expected_failure": expected.map(|row| json!({ "reason": row.reason, "expires": row.last_day() })),
        "pixels_differing": f.verdict.metrics().map(|m| m.pixels_differing),
        "mse": metric(|m| m.mse), "psnr": metric(|m| m.psnr), "ssim": metric(|m| m.ssim),
        "flip": metric(|m| m.float.flip),
    })
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Verdict;
    use super::*;
    use std::time::Duration;

    fn findings() -> Vec<Finding> {
        let finding = |target: &str, verdict: Verdict, look: Option<&str>| Finding {
            scene: "cornell".into(),
            target: target.into(),
            outcome: Outcome::of(&verdict, None, "2027-01-01"),
            verdict,
            triage: look.map(str::to_owned),
            time: Duration::from_millis(1500),
        };
        vec![
            finding("cpu-bvh", Verdict::Identical, None),
            finding("opencl@a|b", Verdict::InvalidSamples, Some("lockstep trace cornell -b x")),
        ]
    }

    #[test]
    fn people_read_every_finding_and_how_to_look_into_it() {
        let findings = findings();
        let summary = Summary { findings: &findings, stale: &[] };
        insta::assert_snapshot!(summary.text(|_, text| text.to_owned()), @r"
        cornell  cpu-bvh     identical
        cornell  opencl@a|b  INVALID        samples were not finite, negative or clamped
                 look into it: lockstep trace cornell -b x
        2 checked, 1 failed
        ");
    }

    #[test]
    fn a_pull_request_shows_the_same_in_markdown() {
        let findings = findings();
        let summary = Summary { findings: &findings, stale: &[] };
        insta::assert_snapshot!(summary.markdown(), @r"
        ## ❌ Goldens: 2 checked, 1 failed

        | | Scene | Target | Result | |
        | :--- | :--- | :--- | :--- | :--- |
        | ✅ | cornell | cpu-bvh | identical |  |
        | ❌ | cornell | opencl@a\|b | invalid | samples were not finite, negative or clamped |

        ### To look into it

        cornell on opencl@a\|b:

        ```sh
        lockstep trace cornell -b x
        ```
        ");
    }
}
