//! Findings that are said once of groups of identical targets.

use crate::records::TargetId;
use crate::verdict::StudyVerdict;
use std::collections::HashSet;

/// Findings about pairs of targets, in words, without repeats among identical targets. What is said of two groups of
/// identical targets is said once, of the first pair of them.
pub fn once_a_group<'a, T>(
    verdict: &StudyVerdict,
    findings: &'a [T],
    pair: impl Fn(&T) -> [&TargetId; 2],
    in_words: impl Fn(&T) -> String,
) -> Vec<(&'a T, String)> {
    let line_of = |[a, b]: [&TargetId; 2]| {
        let is_between = |[left, right]: &[Vec<TargetId>; 2]| {
            (left.contains(a) && right.contains(b)) || (left.contains(b) && right.contains(a))
        };
        verdict.lines.iter().position(|line| is_between(&line.sides))
    };
    let mut said = HashSet::new();
    let is_new = |(finding, words): &(&T, String)| match line_of(pair(finding)) {
        Some(line) => said.insert((line, words.clone())),
        None => true,
    };
    findings.iter().map(|finding| (finding, in_words(finding))).filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Difference, Environment, Record};
    use crate::study::Study;
    use crate::verdict::verdict;

    #[test]
    fn equal_findings_of_identical_targets_are_said_once_and_others_each() {
        let pair = |a: &str, b: &str, pixels_differing: u64| -> Record {
            let (scene, a, b, identical) = ("s".into(), a.into(), b.into(), pixels_differing == 0);
            Difference { scene, a, b, spp: 1, identical, pixels_differing, ..Difference::default() }.into()
        };
        let records = vec![pair("x", "y", 0), pair("x", "e", 3), pair("y", "e", 3)];
        let study = Study::from_records(records, Environment::default());
        let names = |a: &str, b: &str, words: &'static str| ([TargetId::from(a), b.into()], words);
        let findings = [
            names("x", "e", "in t"),
            names("y", "e", "in t"),
            names("y", "e", "in u"),
            names("q", "e", "in t"),
        ];
        let said = once_a_group(&verdict(&study), &findings, |f| [&f.0[0], &f.0[1]], |f| f.1.to_owned());
        let said: Vec<(String, String)> =
            said.into_iter().map(|(f, words)| (f.0[0].to_string(), words)).collect();
        assert_eq!(
            said,
            [("x", "in t"), ("y", "in u"), ("q", "in t")].map(|(a, words)| (a.into(), words.into()))
        );
    }
}
