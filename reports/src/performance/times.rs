//! Times and rates of two studies.
//!
//! The rounds of two studies are no pairs, so the ratio's interval is made of both medians' intervals: its ends
//! are the ratios of opposite ends. It encloses the ratio of the medians where both intervals enclose theirs.

use super::common::Common;
use crate::format::fixed;
use crate::records::{TargetId, Timing, mega_per_second};
use crate::statistics::timing::{Change, LEAST_ROUNDS, MedianInterval};
use crate::study::{Study, push_new};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds of a step.
type Quantity = fn(&Timing) -> f64;

/// The compared times, and how each is read from a step.
const QUANTITIES: [(&str, Quantity); 3] =
    [("total", |t| t.total_ms), ("trace", |t| t.trace_ms), ("shade", |t| t.shade_ms)];

/// Equal times: the floor of studies that measured none.
const NO_FLOOR: MedianInterval =
    MedianInterval { median: 1.0, low: 1.0, high: 1.0, coverage: 1.0, count: usize::MAX };

/// A time of one target on one scene in the earlier and in the later study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeDiff {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// The time: `total`, `trace`, `shade`.
    pub quantity: &'static str,
    /// Samples per pixel that both studies rendered.
    pub spp: u32,
    /// Milliseconds in the earlier study, over the samples that both studies rendered.
    pub before: MedianInterval,
    /// Milliseconds in the later study, over the samples that both studies rendered.
    pub after: MedianInterval,
    /// Ratio of the later study's time to the earlier's.
    pub ratio: MedianInterval,
    /// Million rays a second in the earlier study, over this time; NaN where no rays were counted.
    #[serde(with = "crate::float")]
    pub mrays_before: f64,
    /// Million rays a second in the later study, over this time; NaN where no rays were counted.
    #[serde(with = "crate::float")]
    pub mrays_after: f64,
    /// Whether the time is shorter in the later study, longer or the same; nothing where rounds are too few or the machines
    /// differ.
    pub change: Option<Change>,
    /// Why there is no verdict; empty where there is one.
    pub reason: String,
}

impl TimeDiff {
    /// The verdict, or why there is none.
    pub(super) fn word(&self) -> &str {
        match self.change {
            Some(change) => change.as_str(),
            None => &self.reason,
        }
    }

    /// The comparison in a sentence.
    pub(super) fn sentence(&self) -> String {
        let r = &self.ratio;
        let [median, low, high] = [r.median, r.low, r.high].map(|value| fixed(value, 3));
        format!(
            "{} on {}: {}, {median} of the time before ({low} to {high})",
            self.target,
            self.scene,
            self.word()
        )
    }
}

/// One round of a study: milliseconds and rays of the steps that both have.
#[derive(Default)]
struct Round {
    steps: usize,
    ms: f64,
    rays: u64,
}

/// The times that both studies measured, in the order of the later.
pub(super) fn times(before: &Study, after: &Study, common: &Common) -> Vec<TimeDiff> {
    let mut keys = Vec::new();
    after.timings.iter().for_each(|t| push_new(&mut keys, (t.scene.as_str(), &t.target)));
    let of = |(scene, target): (&str, &TargetId)| {
        let steps = |study: &Study| -> BTreeSet<(u32, u32)> {
            let own = study.timings.iter().filter(|t| t.scene == scene && t.target == *target);
            own.map(|t| (t.spp_from, t.spp_to)).collect()
        };
        let steps: BTreeSet<(u32, u32)> = steps(before).intersection(&steps(after)).copied().collect();
        let rows = QUANTITIES.iter().filter_map(|&(quantity, ms)| {
            let [old, new] = [before, after].map(|study| rounds(&study.timings, (scene, target), &steps, ms));
            let floor = floor(&[before, after], quantity);
            let (before, mrays_before) = median(&old)?;
            let (after, mrays_after) = median(&new)?;
            let ratio = ratio(&before, &after)?;
            let reason = if !common.is_timed_alike(target) {
                "another machine"
            } else if ratio.count < LEAST_ROUNDS {
                "too few rounds"
            } else {
                ""
            };
            Some(TimeDiff {
                scene: scene.to_owned(),
                target: target.clone(),
                quantity,
                spp: steps
                    .iter()
                    .fold(0, |spp: u32, (from, to)| spp.saturating_add(to.saturating_sub(*from))),
                change: reason.is_empty().then(|| Change::of(&ratio, &floor)),
                reason: reason.to_owned(),
                before,
                after,
                ratio,
                mrays_before,
                mrays_after,
            })
        });
        rows.collect::<Vec<_>>()
    };
    keys.into_iter().filter(|(scene, _)| common.has_scene(scene)).flat_map(of).collect()
}

/// The rounds in which all of these steps were timed.
fn rounds(
    timings: &[Timing],
    (scene, target): (&str, &TargetId),
    steps: &BTreeSet<(u32, u32)>,
    ms: Quantity,
) -> Vec<Round> {
    let own = timings.iter().filter(|t| t.scene == scene && t.target == *target);
    let mut rounds: BTreeMap<(u64, u32), Round> = BTreeMap::new();
    for t in own.filter(|t| steps.contains(&(t.spp_from, t.spp_to))) {
        let round = rounds.entry((t.seed, t.repeat)).or_default();
        round.steps += 1;
        round.ms += ms(t);
        round.rays = round.rays.saturating_add(t.rays());
    }
    rounds.into_values().filter(|round| round.steps == steps.len() && round.ms > 0.0).collect()
}

/// The median time of some rounds, and the median of their million rays a second.
fn median(rounds: &[Round]) -> Option<(MedianInterval, f64)> {
    let times: Vec<f64> = rounds.iter().map(|round| round.ms).collect();
    let rates: Vec<f64> = rounds.iter().map(|round| mega_per_second(round.rays, round.ms)).collect();
    let rate = MedianInterval::of(&rates).filter(|rate| rate.median > 0.0);
    Some((MedianInterval::of(&times)?, rate.map_or(f64::NAN, |rate| rate.median)))
}

/// Time after over time before, with the interval between opposite ends.
fn ratio(before: &MedianInterval, after: &MedianInterval) -> Option<MedianInterval> {
    let found = MedianInterval {
        median: after.median / before.median,
        low: after.low / before.high,
        high: after.high / before.low,
        coverage: (before.coverage + after.coverage - 1.0).max(0.0),
        count: before.count.min(after.count),
    };
    [found.median, found.low, found.high].iter().all(|ratio| ratio.is_finite()).then_some(found)
}

/// The floor: the range of the ratios that studies measured of their first target against itself, over all
/// scenes.
fn floor(studies: &[&Study], quantity: &str) -> MedianInterval {
    let floors = studies.iter().flat_map(|study| crate::tables::compared(study));
    let own = floors.filter(|c| c.aa_control && c.quantity == quantity).filter_map(|c| c.ratio);
    own.fold(NO_FLOOR, |all, one| MedianInterval {
        low: all.low.min(one.low),
        high: all.high.max(one.high),
        ..all
    })
}
