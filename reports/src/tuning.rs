//! Kernel configurations of each target, compared with the target's default.
//!
//! Configurations are timed in rounds, each of them once a round and the default twice.
//! [`crate::statistics::timing`] has the rule by which one is called faster or slower.

use crate::records::{Mode, TargetId, Tune};
use crate::statistics::timing::{Change, LEAST_ROUNDS, MedianInterval};
use crate::study::{Study, push_new};

/// One kernel configuration of one target on one scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tuned {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// The configuration's label.
    pub configuration: String,
    /// The part of the configuration's label that names structure and scheduling, such as `megakernel/persistent`.
    pub scheduling: String,
    /// Work-items of a work-group, where there are any.
    pub group: Option<u32>,
    /// Whether the configuration belongs to the grid of scheduling and group.
    pub in_grid: bool,
    /// Whether the configuration is the target's default.
    pub default: bool,
    /// Whether the row is the A/A control: the default's second time in each round.
    pub aa_control: bool,
    /// Samples per pixel of a pass.
    pub spp: u32,
    /// Median milliseconds of traversal, shading and all else; NaN where one kernel does all.
    pub parts: [f64; 3],
    /// Milliseconds of a pass; nothing where it was refused.
    pub total: Option<MedianInterval>,
    /// Time over the default's, round by round; nothing for the default itself, and where rounds are too few.
    pub ratio: Option<MedianInterval>,
    /// Whether the configuration is faster than the default, slower or the same; nothing where there is no ratio, and for
    /// the A/A control.
    pub change: Option<Change>,
    /// Whether the configuration is the fastest of the target's exact ones on the scene; the default where none is
    /// faster.
    pub best: bool,
    /// Whether film and ray counts are the default's in every round.
    pub identical: bool,
    /// Whether film and ray counts must be the default's.
    pub promised: bool,
    /// Whether the configuration is timed for the cost of exactness or of another estimator, and never a choice.
    pub measures_only: bool,
    /// The reason why the configuration was refused; empty where it ran.
    pub refused: String,
    /// The kernels' arithmetic: exact or fast.
    pub mode: Mode,
}

impl Tuned {
    /// Whether the configuration breaks the promise that none changes an exact film.
    pub fn is_bug(&self) -> bool {
        self.refused.is_empty() && self.promised && !self.identical
    }

    /// Whether the configuration may be chosen: exact, no control, no bug, and not there for measuring alone.
    pub fn is_choice(&self) -> bool {
        self.mode == Mode::Exact && !self.measures_only && !self.aa_control && !self.is_bug()
    }

    /// Time over the default's, 1 for the default itself; nothing where that is not known.
    pub fn relative(&self) -> Option<f64> {
        if self.default && !self.aa_control { Some(1.0) } else { self.ratio.map(|ratio| ratio.median) }
    }
}

/// Every configuration of every target of every scene, in the order in which they were first timed.
pub fn tuned(study: &Study) -> Vec<Tuned> {
    let mut groups = Vec::new();
    study.tunes.iter().for_each(|s| push_new(&mut groups, (s.scene.as_str(), &s.target)));
    groups.into_iter().flat_map(|(scene, target)| of_target(&study.tunes, scene, target)).collect()
}

fn of_target(tunes: &[Tune], scene: &str, target: &TargetId) -> Vec<Tuned> {
    let own: Vec<&Tune> = tunes.iter().filter(|s| s.scene == scene && s.target == *target).collect();
    let base: Vec<&Tune> = own.iter().filter(|s| s.default && !s.aa_control).copied().collect();
    let aa_control: Vec<&Tune> = own.iter().filter(|s| s.aa_control).copied().collect();
    let floor = ratio(&aa_control, &base);
    let mut keys = Vec::new();
    own.iter().for_each(|s| push_new(&mut keys, (s.aa_control, s.configuration.as_str())));
    // The floor stands beside the default.
    keys.sort_by_key(|(aa_control, configuration)| {
        (!own.iter().any(|s| s.default && s.configuration == *configuration), *aa_control)
    });
    let rows = keys.into_iter().filter_map(|key| {
        let times: Vec<&Tune> =
            own.iter().filter(|s| (s.aa_control, s.configuration.as_str()) == key).copied().collect();
        row(&times, &base, floor.as_ref())
    });
    let mut rows: Vec<Tuned> = rows.collect();
    // The default is the best of several only where others have a ratio too. A ratio below 1 by chance makes no best.
    let enough = rows.iter().any(|row| row.ratio.is_some());
    let beats = |row: &Tuned| row.default || row.change == Some(Change::Faster);
    let candidate = |row: &Tuned| row.relative().filter(|_| enough && row.is_choice() && beats(row));
    let least = rows.iter().filter_map(candidate).min_by(f64::total_cmp);
    rows.iter_mut().for_each(|row| row.best = least.is_some() && candidate(row) == least);
    rows
}

/// One configuration from its times in all rounds.
fn row(times: &[&Tune], base: &[&Tune], floor: Option<&MedianInterval>) -> Option<Tuned> {
    let first = times.first()?;
    let ran: Vec<&Tune> = times.iter().filter(|s| s.refused.is_empty()).copied().collect();
    let all = |get: fn(&Tune) -> f64| ran.iter().map(|s| get(s)).collect::<Vec<f64>>();
    let median = |get| MedianInterval::of(&all(get)).map_or(f64::NAN, |found| found.median);
    let ratio = ratio(&ran, base).filter(|_| !first.default || first.aa_control);
    Some(Tuned {
        scene: first.scene.clone(),
        target: first.target.clone(),
        configuration: first.configuration.clone(),
        scheduling: first.scheduling.clone(),
        group: first.group,
        in_grid: first.in_grid,
        default: first.default,
        aa_control: first.aa_control,
        spp: first.spp,
        parts: [median(|s| s.trace_ms), median(|s| s.shade_ms), median(|s| s.queue_ms)],
        total: MedianInterval::of(&all(|s| s.total_ms)),
        ratio,
        change: ratio
            .zip(floor)
            .filter(|_| !first.aa_control)
            .map(|(ratio, floor)| Change::of(&ratio, floor)),
        best: false,
        identical: ran.iter().all(|s| s.identical),
        promised: first.promised,
        measures_only: first.measures_only,
        refused: times
            .iter()
            .map(|s| s.refused.as_str())
            .find(|why| !why.is_empty())
            .unwrap_or("")
            .to_owned(),
        mode: first.mode,
    })
}

/// The ratio of total times over the rounds that both have.
fn ratio(times: &[&Tune], base: &[&Tune]) -> Option<MedianInterval> {
    let of_round = |s: &&Tune| {
        let base = base.iter().find(|b| b.repeat == s.repeat)?;
        Some((s.total_ms, base.total_ms))
    };
    let (times, base): (Vec<f64>, Vec<f64>) = times.iter().filter_map(of_round).unzip();
    MedianInterval::of_ratio(&times, &base).filter(|ratio| ratio.count >= LEAST_ROUNDS)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::records::{Environment, Record};

    /// Rounds of a tuning run: label, milliseconds and whether the film is the default's.
    pub(crate) fn study(configurations: &[(&str, f64, bool)], rounds: u32) -> Study {
        let record = |repeat: u32, aa_control: bool, (label, ms, identical): (&str, f64, bool)| -> Record {
            let group = label.split_once("group=").and_then(|(_, group)| group.parse().ok());
            let mega = label.starts_with("mega");
            let part = |share: f64| if mega { f64::NAN } else { ms * share };
            Tune {
                scene: "cornell".into(),
                target: "gpu".into(),
                configuration: label.into(),
                scheduling: label.split("/group").next().unwrap_or_default().into(),
                group: group.or(Some(128)),
                in_grid: !label.contains("fast") && !label.contains("float"),
                default: label == "wavefront",
                repeat,
                aa_control,
                spp: 4,
                trace_ms: part(0.5),
                shade_ms: part(0.3),
                queue_ms: part(0.2),
                total_ms: ms * (1.0 + 0.001 * f64::from(repeat)),
                identical,
                promised: !label.contains("fast") && !label.contains("float"),
                measures_only: label.contains("float"),
                mode: if label.contains("fast") { Mode::Fast } else { Mode::Exact },
                ..Tune::default()
            }
            .into()
        };
        let mut records = Vec::new();
        for repeat in 0..rounds {
            records.extend(configurations.iter().map(|&one| record(repeat, false, one)));
            records.push(record(
                repeat,
                true,
                (configurations[0].0, configurations[0].1 * 1.002, configurations[0].2),
            ));
        }
        Study::from_records(records, Environment::default())
    }

    #[test]
    fn the_best_is_the_least_time_of_exact_configurations_and_the_floor_has_no_finding() {
        let found = tuned(&study(
            &[
                ("wavefront", 10.0, true),
                ("wavefront/group=64", 8.0, true),
                ("megakernel", 15.0, true),
                ("wavefront/fast", 5.0, false),
            ],
            6,
        ));
        let labels: Vec<&str> = found.iter().map(|row| row.configuration.as_str()).collect();
        assert_eq!(labels, ["wavefront", "wavefront", "wavefront/group=64", "megakernel", "wavefront/fast"]);
        assert_eq!(found.iter().map(|row| row.best).collect::<Vec<_>>(), [false, false, true, false, false]);
        let changes: Vec<Option<Change>> = found.iter().map(|row| row.change).collect();
        use Change::{Faster, Slower};
        assert_eq!(changes, [None, None, Some(Faster), Some(Slower), Some(Faster)]);
        assert!(found.iter().all(|row| !row.is_bug()), "fast films may differ");
        assert!(found[3].parts[0].is_nan() && found[2].parts[0] > 3.9);
    }

    #[test]
    fn a_ratio_whose_interval_holds_one_makes_no_best() {
        let mut study = study(&[("wavefront", 10.0, true), ("no-compaction", 8.0, true)], 6);
        // Twice slower in half of the rounds.
        for tune in study.tunes.iter_mut().filter(|tune| tune.configuration == "no-compaction") {
            tune.total_ms *= if tune.repeat % 2 == 0 { 1.0 } else { 2.0 };
        }
        let found = tuned(&study);
        let no_compaction = found.iter().find(|row| row.configuration == "no-compaction").unwrap();
        let ratio = no_compaction.ratio.unwrap();
        assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
        assert!(!no_compaction.best && no_compaction.change == Some(Change::Same));
        assert!(found[0].best && found[0].default && !found[0].aa_control, "the default stays");
    }

    #[test]
    fn an_exact_configuration_with_another_film_is_a_bug_and_never_the_best() {
        let found = tuned(&study(&[("wavefront", 10.0, true), ("no-compaction", 1.0, false)], 3));
        assert!(found[2].is_bug() && !found[2].best && found[0].best);
    }

    #[test]
    fn a_configuration_that_only_measures_is_no_bug_and_never_the_best() {
        let found = tuned(&study(&[("wavefront", 10.0, true), ("wavefront/float-merges", 9.0, false)], 6));
        assert!(!found[2].is_bug() && !found[2].best && found[0].best);
        assert_eq!(found[2].change, Some(Change::Faster));
    }

    #[test]
    fn too_few_rounds_have_no_best() {
        let found = tuned(&study(&[("wavefront", 10.0, true), ("megakernel", 1.0, true)], 2));
        assert!(found.iter().all(|row| !row.best && row.change.is_none()));
    }

    #[test]
    fn a_refused_configuration_has_no_time() {
        let mut study = study(&[("wavefront", 10.0, true)], 3);
        study.tunes.push(Tune {
            scene: "cornell".into(),
            target: "gpu".into(),
            configuration: "wavefront/group=1024".into(),
            refused: "too large".into(),
            promised: true,
            ..Tune::default()
        });
        let found = tuned(&study);
        assert_eq!((found[2].total, found[2].relative(), found[2].is_bug()), (None, None, false));
        assert_eq!(found[2].refused, "too large");
    }
}
