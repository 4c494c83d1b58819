//! Targets against the first, over rounds of timing, beside the floor of the timing itself.

use super::{Cell, Table};
use crate::format::{fixed, number, percent};
use crate::records::{TargetId, Timing};
use crate::statistics::timing::{Change, LEAST_ROUNDS, MedianInterval, in_words};
use crate::study::{Study, push_new};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds of a step.
type Quantity = fn(&Timing) -> f64;

/// The compared times, and how each is read from a step.
const QUANTITIES: [(&str, Quantity); 3] =
    [("total", |t| t.total_ms), ("trace", |t| t.trace_ms), ("shade", |t| t.shade_ms)];

/// The time of one target on one scene over rounds, against that of the first target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Whether the row is the A/A control: the first target's second time.
    pub aa_control: bool,
    /// The compared time: `total`, `trace`, `shade`.
    pub quantity: &'static str,
    /// Milliseconds of the whole spp schedule.
    pub time: MedianInterval,
    /// Time over the first target's; nothing for the first target itself.
    pub ratio: Option<MedianInterval>,
    /// Whether the target is faster than the first target, slower or the same; nothing for the first target and for the A/A
    /// control.
    pub change: Option<Change>,
}

/// Seed and repeat: which round.
type Round = (u64, u32);

/// Times of every target on every scene with at least [`LEAST_ROUNDS`] rounds in which all steps were timed, by quantity.
pub fn compared(study: &Study) -> Vec<Compared> {
    let mut keys = Vec::new();
    study.timings.iter().for_each(|t| push_new(&mut keys, (t.scene.as_str(), &t.target)));
    let mut scenes = Vec::new();
    keys.iter().for_each(|key| push_new(&mut scenes, key.0));
    let mut found = Vec::new();
    for scene in scenes {
        let targets: Vec<&TargetId> = keys.iter().filter(|key| key.0 == scene).map(|key| key.1).collect();
        for quantity in QUANTITIES {
            found.extend(compared_targets(study, scene, &targets, quantity));
        }
    }
    found
}

/// The targets of one scene against the first of them.
fn compared_targets(
    study: &Study,
    scene: &str,
    targets: &[&TargetId],
    (quantity, ms): (&'static str, Quantity),
) -> Vec<Compared> {
    let Some(&first) = targets.first() else { return Vec::new() };
    let base = rounds(&study.timings, scene, first, ms);
    let second = rounds(&study.aa_control, scene, first, ms);
    let floor = ratio(&second, &base);
    let row =
        |target: &TargetId, own: &BTreeMap<Round, f64>, aa_control: bool, ratio: Option<MedianInterval>| {
            let times: Vec<f64> = own.values().copied().collect();
            let time = MedianInterval::of(&times).filter(|time| time.count >= LEAST_ROUNDS)?;
            let change = ratio.zip(floor).filter(|_| !aa_control).map(|(r, f)| Change::of(&r, &f));
            let (scene, target) = (scene.to_owned(), target.clone());
            Some(Compared { scene, target, aa_control, quantity, time, ratio, change })
        };
    // A program renders every level from its first sample: its times are of more samples than those of others.
    let others = targets[1..].iter().map(|target| {
        let own = rounds(&study.timings, scene, target, ms);
        let is_same_work = steps(&study.timings, scene, target) == steps(&study.timings, scene, first);
        row(target, &own, false, ratio(&own, &base).filter(|_| is_same_work))
    });
    let of_first = [row(first, &base, false, None), row(first, &second, true, floor)];
    of_first.into_iter().chain(others).flatten().collect()
}

/// The steps that were timed on a target.
fn steps(timings: &[Timing], scene: &str, target: &TargetId) -> BTreeSet<(u32, u32)> {
    let own = timings.iter().filter(|t| t.scene == scene && t.target == *target);
    own.map(|t| (t.spp_from, t.spp_to)).collect()
}

/// The sum over the spp schedule of one target's steps, for every round in which all steps were timed.
fn rounds(timings: &[Timing], scene: &str, target: &TargetId, quantity: Quantity) -> BTreeMap<Round, f64> {
    let own = || timings.iter().filter(|t| t.scene == scene && t.target == *target);
    let steps = steps(timings, scene, target).len();
    let mut sums: BTreeMap<Round, (usize, f64)> = BTreeMap::new();
    for t in own() {
        let (count, sum) = sums.entry((t.seed, t.repeat)).or_default();
        *count += 1;
        *sum += quantity(t);
    }
    sums.into_iter().filter(|(_, (count, _))| *count == steps).map(|(round, (_, sum))| (round, sum)).collect()
}

/// The ratio over the rounds that both have; nothing where these are fewer than [`LEAST_ROUNDS`].
fn ratio(times: &BTreeMap<Round, f64>, base: &BTreeMap<Round, f64>) -> Option<MedianInterval> {
    let both = times.iter().filter_map(|(round, time)| Some((*time, *base.get(round)?)));
    let (times, base): (Vec<f64>, Vec<f64>) = both.unzip();
    MedianInterval::of_ratio(&times, &base).filter(|ratio| ratio.count >= LEAST_ROUNDS)
}

/// A sentence for every target and scene whose whole time was compared with the first target's.
pub fn round_sentences(study: &Study) -> Vec<String> {
    let found: Vec<Compared> = compared(study).into_iter().filter(|c| c.quantity == "total").collect();
    let first = |scene: &str| found.iter().find(|c| c.scene == scene && c.ratio.is_none());
    let floor = |scene: &str| found.iter().find(|c| c.scene == scene && c.aa_control).and_then(|c| c.ratio);
    let sentence = |c: &Compared| {
        let (change, ratio, first) = (c.change?, c.ratio?, first(&c.scene)?);
        let (own, first, scene) = (&c.target, &first.target, &c.scene);
        let text = match change {
            Change::Same => format!("the times of {own} and {first} on {scene} cannot be told apart"),
            Change::Faster | Change::Slower => {
                format!("{own} is {} than {first} on {scene}", change.as_str())
            }
        };
        let [median, low, high] = [ratio.median, ratio.low, ratio.high].map(|r| fixed(r, 3));
        let control = match floor(&c.scene).filter(|_| change == Change::Same && !ratio.contains(1.0)) {
            Some(floor) => format!(
                ", not clear of the A/A control, {first} timed twice, whose ratio is {} to {}",
                fixed(floor.low, 3),
                fixed(floor.high, 3)
            ),
            None => String::new(),
        };
        Some(format!("{text}: their ratio is {median} ({low} to {high}, {} rounds){control}", ratio.count))
    };
    found.iter().filter_map(sentence).collect()
}

/// Median times with their intervals, ratios to the first target, the floor, and whether a target is faster.
pub fn rounds_table(study: &Study) -> Table {
    let texts = ["Scene", "Time", "Target", "Against the first"];
    let numbers =
        ["Ratio", "Ratio low", "Ratio high", "Median ms", "Low ms", "High ms", "Rounds", "Coverage"];
    let mut table = Table::new("timing-rounds", "Times over rounds", &texts, &numbers).noted(&in_words());
    table.notes.push(
        "Summed over the spp schedule. Ratio: time over that of the scene's first target; its second time (A/A) is the floor. \
         Coverage: the probability with which the intervals enclose the median."
            .to_owned(),
    );
    for c in compared(study) {
        let label = if c.aa_control { format!("{}, again (A/A)", c.target) } else { c.target.to_string() };
        let word = match (c.change, c.aa_control, c.ratio) {
            (Some(change), ..) => change.as_str(),
            (None, true, _) => "the floor",
            (None, false, None) => "the first",
            (None, false, Some(_)) => "no floor",
        };
        let mut row = vec![Cell::text(&c.scene), Cell::text(c.quantity), Cell::text(label), Cell::text(word)];
        let ratio = |get: fn(&MedianInterval) -> f64| {
            c.ratio.as_ref().map(get).map_or_else(Cell::empty, |r| Cell::number(r, fixed(r, 3)))
        };
        row.extend([ratio(|r| r.median), ratio(|r| r.low), ratio(|r| r.high)]);
        row.extend([c.time.median, c.time.low, c.time.high].map(|ms| Cell::number(ms, number(ms))));
        row.push(Cell::count(c.time.count as u64));
        row.push(Cell::number(c.time.coverage, percent(c.time.coverage)));
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Record};

    fn step(target: &str, repeat: u32, spp: (u32, u32), ms: f64) -> Timing {
        Timing {
            scene: "s".into(),
            target: target.into(),
            spp_from: spp.0,
            spp_to: spp.1,
            repeat,
            total_ms: ms,
            trace_ms: ms / 2.0,
            shade_ms: ms / 4.0,
            ..Default::default()
        }
    }

    /// Rounds of two steps; `b` takes a tenth longer than `a`, whose second time is a hundredth off.
    fn study(rounds: u32) -> Study {
        let mut records: Vec<Record> = Vec::new();
        for repeat in 0..rounds {
            let drift = 1.0 + 0.1 * f64::from(repeat);
            for spp in [(0, 1), (1, 2)] {
                records.push(step("a", repeat, spp, drift * 10.0).into());
                records.push(step("b", repeat, spp, drift * 11.0).into());
                let off = if repeat % 2 == 0 { 1.01 } else { 0.99 };
                records.push(Record::AaControl(step("a", repeat, spp, drift * 10.0 * off)));
            }
        }
        // A round that was stopped half way.
        records.push(step("a", rounds, (0, 1), 1.0).into());
        Study::from_records(records, Environment::default())
    }

    #[test]
    fn times_of_other_samples_make_no_ratio() {
        let mut study = study(6);
        study.timings.iter_mut().filter(|t| t.target == "b".into()).for_each(|t| t.spp_from = 0);
        assert!(compared(&study).iter().all(|c| c.target != "b".into() || c.ratio.is_none()));
        assert!(compared(&study).iter().any(|c| c.target == "b".into()), "the times themselves are shown");
    }

    #[test]
    fn targets_are_compared_round_by_round_with_the_first_and_its_floor() {
        let found = compared(&study(3));
        let totals: Vec<_> = found.iter().filter(|c| c.quantity == "total").collect();
        assert_eq!(totals.len(), 3);
        let [first, aa_control, other] = [totals[0], totals[1], totals[2]];
        assert_eq!((first.time.median, first.time.count, first.ratio), (22.0, 3, None));
        assert!(
            aa_control.aa_control && aa_control.change.is_none() && aa_control.ratio.unwrap().contains(1.0)
        );
        let ratio = other.ratio.unwrap();
        assert!((ratio.low - 1.1).abs() < 1e-12 && (ratio.high - 1.1).abs() < 1e-12, "the drift cancels");
        assert_eq!(other.change, Some(Change::Slower));
        assert_eq!(
            round_sentences(&study(3)),
            ["b is slower than a on s: their ratio is 1.100 (1.100 to 1.100, 3 rounds)"]
        );
    }

    #[test]
    fn a_ratio_within_the_control_is_told_with_it() {
        let mut noisy = study(3);
        noisy.aa_control.iter_mut().for_each(|t| t.total_ms *= 1.0 + 0.1 * f64::from(t.repeat));
        assert_eq!(
            round_sentences(&noisy),
            [
                "the times of b and a on s cannot be told apart: their ratio is 1.100 (1.100 to 1.100, 3 rounds), not clear \
              of the A/A control, a timed twice, whose ratio is 1.010 to 1.212"
            ]
        );
    }

    #[test]
    fn fewer_than_three_rounds_tell_nothing() {
        assert_eq!(rounds_table(&study(2)).rows.len(), 0);
        assert_eq!(rounds_table(&study(3)).rows.len(), 9);
    }
}
