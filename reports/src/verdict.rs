//! What a study found, in words.

use crate::records::Difference;
use crate::study::Study;
use crate::tables::format::{count, number};

/// What all comparisons of one pair of targets say together.
#[derive(Debug, Clone, PartialEq)]
pub struct PairVerdict {
    /// First target.
    pub a: String,
    /// Second target.
    pub b: String,
    /// `exact` or `fast`.
    pub mode: String,
    /// Comparisons, over scenes, rungs and seeds.
    pub points: usize,
    /// How many of them found the films equal to the bit.
    pub identical: usize,
    /// The first comparison, by scene and rung, that did not.
    pub first_difference: Option<Difference>,
    /// The comparison with the most differing pixels.
    pub worst: Option<Difference>,
}

impl PairVerdict {
    /// Whether every comparison found the films equal.
    pub fn is_identical(&self) -> bool {
        self.points > 0 && self.identical == self.points
    }

    /// One sentence. `pixels` is the number of pixels of an image, 0 if unknown.
    pub fn sentence(&self, pixels: u64) -> String {
        let points = plural(self.points, "comparison");
        let Some(worst) = self.worst.as_ref().filter(|_| !self.is_identical()) else {
            return format!(
                "identical to the bit in {}",
                if self.points == 1 { points } else { format!("all {points}") }
            );
        };
        let of = if pixels > 0 { format!(" of {}", count(pixels)) } else { String::new() };
        let noun = if pixels == 0 && worst.pixels_differing == 1 { "pixel" } else { "pixels" };
        let already = match &self.first_difference {
            Some(first) if (&first.scene, first.spp) != (&worst.scene, worst.spp) => {
                format!("; first on {} at {} spp", first.scene, first.spp)
            }
            _ => String::new(),
        };
        let some = if self.identical > 0 {
            format!(" ({} of {points} identical)", self.identical)
        } else {
            String::new()
        };
        format!(
            "differ in at most {}{of} {noun}, on {} at {} spp with an 8-bit MSE of {}{already}{some}",
            count(worst.pixels_differing),
            worst.scene,
            worst.spp,
            number(worst.mse),
        )
    }
}

/// The verdict of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// One line for the top of a page.
    pub headline: String,
    /// Whether the headline is good news: every exact pair identical and no sample refused.
    pub good: bool,
    /// Every pair, in the order in which they were compared.
    pub pairs: Vec<PairVerdict>,
}

/// Draws the verdict from a study's records.
pub fn verdict(study: &Study) -> Verdict {
    let pairs = pair_verdicts(study);
    let refused: u64 = study.rejected.iter().map(|r| r.non_finite + r.negative + r.clamped).sum();
    let differing = pairs.iter().filter(|p| !p.is_identical()).count();
    let headline = if refused > 0 {
        format!("Broken: films refused {} samples", count(refused))
    } else if pairs.is_empty() {
        match study.targets().len() {
            0 => "Nothing was measured".to_owned(),
            1 => "One target, so nothing to compare it with".to_owned(),
            _ => "Targets were measured but not yet compared".to_owned(),
        }
    } else if differing == 0 && pairs.len() == 1 {
        format!("{} and {} are identical to the bit", pairs[0].a, pairs[0].b)
    } else if differing == 0 {
        format!("All {} are identical to the bit", plural(study.targets().len(), "target"))
    } else if pairs.len() == 1 {
        let most = pairs[0].worst.as_ref().map_or(0, |w| w.pixels_differing);
        let noun = if most == 1 { "pixel" } else { "pixels" };
        format!("{} and {} differ in up to {} {noun}", pairs[0].a, pairs[0].b, count(most))
    } else {
        let verb = if differing == 1 { "differs" } else { "differ" };
        format!("{differing} of {} {verb}", plural(pairs.len(), "pair"))
    };
    let good =
        refused == 0 && !pairs.is_empty() && pairs.iter().all(|p| p.mode != "exact" || p.is_identical());
    Verdict { headline, good, pairs }
}

fn pair_verdicts(study: &Study) -> Vec<PairVerdict> {
    let mut pairs: Vec<PairVerdict> = Vec::new();
    for d in &study.differences {
        let found = pairs.iter().position(|p| p.a == d.a && p.b == d.b && p.mode == d.mode.as_str());
        let index = found.unwrap_or_else(|| {
            pairs.push(PairVerdict {
                a: d.a.clone(),
                b: d.b.clone(),
                mode: d.mode.as_str().to_owned(),
                points: 0,
                identical: 0,
                first_difference: None,
                worst: None,
            });
            pairs.len() - 1
        });
        let pair = &mut pairs[index];
        pair.points += 1;
        if d.identical {
            pair.identical += 1;
            continue;
        }
        if pair.first_difference.is_none() {
            pair.first_difference = Some(d.clone());
        }
        if pair.worst.as_ref().is_none_or(|w| w.pixels_differing < d.pixels_differing) {
            pair.worst = Some(d.clone());
        }
    }
    pairs
}

/// A number and a noun, with an s where it belongs.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", count(n as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Mode, Record, RejectedSamples};

    fn difference(b: &str, spp: u32, pixels_differing: u64) -> Difference {
        Difference {
            scene: "s".into(),
            a: "x".into(),
            b: b.into(),
            spp,
            pixels_differing,
            mse: pixels_differing as f64,
            identical: pixels_differing == 0,
            ..Default::default()
        }
    }

    fn verdict_of(records: Vec<Record>) -> Verdict {
        verdict(&Study::from_records(records, Environment::default()))
    }

    #[test]
    fn identical_everywhere_is_said_and_good() {
        let v = verdict_of(vec![difference("y", 1, 0).into(), difference("y", 2, 0).into()]);
        assert_eq!((v.headline.as_str(), v.good), ("x and y are identical to the bit", true));
        assert_eq!(v.pairs[0].sentence(0), "identical to the bit in all 2 comparisons");
    }

    #[test]
    fn the_first_and_the_worst_difference_are_named() {
        let v = verdict_of(
            [0, 1, 9].iter().zip([1, 2, 4]).map(|(&px, spp)| difference("y", spp, px).into()).collect(),
        );
        assert_eq!((v.headline.as_str(), v.good), ("x and y differ in up to 9 pixels", false));
        assert_eq!(
            v.pairs[0].sentence(100),
            "differ in at most 9 of 100 pixels, on s at 4 spp with an 8-bit MSE of 9.000; first on s at 2 spp (1 of 3 \
             comparisons identical)"
        );
    }

    #[test]
    fn a_fast_build_may_differ_and_refused_samples_may_not() {
        let fast = Difference { mode: Mode::Fast, ..difference("y", 1, 5) };
        let v = verdict_of(vec![fast.into(), difference("z", 1, 0).into()]);
        assert_eq!((v.headline.as_str(), v.good), ("1 of 2 pairs differs", true));
        let refused = RejectedSamples { non_finite: 3, ..Default::default() };
        let v = verdict_of(vec![refused.into(), difference("y", 1, 0).into()]);
        assert_eq!((v.headline.as_str(), v.good), ("Broken: films refused 3 samples", false));
    }

    #[test]
    fn a_study_without_comparisons_says_so() {
        assert_eq!(verdict_of(Vec::new()).headline, "Nothing was measured");
        assert!(!verdict_of(Vec::new()).good);
    }
}
