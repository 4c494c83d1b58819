//! Studies made by hand, compared.

use super::*;
use crate::records::{
    Convergence, Environment, FilmHash, HostInfo, Record, StudySettings, TargetInfo, Timing,
};
use crate::statistics::timing::Change;
use crate::study::Study;
use lockstep_core::DeviceInfo;

/// A study of one scene on one target, a step of 0 to 4 samples timed once for every number of milliseconds.
fn study(commit: &str, milliseconds: &[f64], film: &str) -> Study {
    let timings = milliseconds.iter().enumerate().map(|(repeat, &total_ms)| {
        let timing = Timing {
            scene: "s".into(),
            target: "t".into(),
            spp_to: 4,
            repeat: repeat as u32,
            total_ms,
            trace_ms: total_ms / 2.0,
            extension_rays: 1_000_000,
            ..Timing::default()
        };
        Record::from(timing)
    });
    let mut records: Vec<Record> = timings.collect();
    records.push(FilmHash::new("s", &"t".into(), 4, 0, film).into());
    let convergence = Convergence {
        scene: "s".into(),
        target: "t".into(),
        spp: 4,
        against: "x".into(),
        ..Default::default()
    };
    records.push(convergence.into());
    Study::from_records(records, environment(commit))
}

fn environment(commit: &str) -> Environment {
    let device = DeviceInfo { target: "t".into(), device: "D".into(), ..DeviceInfo::default() };
    Environment {
        commit: Some(commit.into()),
        started_utc: format!("2026-01-0{}T00:00:00Z", commit.len()),
        host: HostInfo { cpu: "C".into(), cores: 2, ..HostInfo::default() },
        targets: vec![TargetInfo::from(device)],
        settings: StudySettings { width: 8, height: 8, ..StudySettings::default() },
        ..Environment::default()
    }
}

fn total(diff: &StudyDiff) -> &TimeDiff {
    diff.times.iter().find(|t| t.quantity == "total").unwrap()
}

/// Six rounds about a time, within 1 %.
fn rounds(ms: f64) -> Vec<f64> {
    [0.99, 1.0, 1.01, 0.995, 1.005, 1.0].map(|noise| noise * ms).to_vec()
}

#[test]
fn a_time_is_slower_or_faster_where_its_interval_excludes_one_and_else_the_same() {
    let before = study("a", &rounds(100.0), "f");
    for (ms, change) in [(100.5, Change::Same), (110.0, Change::Slower), (90.0, Change::Faster)] {
        let diff = StudyDiff::of(&before, &study("bb", &rounds(ms), "f")).unwrap();
        let time = total(&diff);
        assert_eq!(time.change, Some(change), "{ms}: {:?}", time.ratio);
        assert!((time.ratio.median - ms / 100.0).abs() < 1e-9);
        assert!(time.ratio.low < time.ratio.median && time.ratio.median < time.ratio.high);
        assert!((time.mrays_before - 10.0).abs() < 1e-9, "{}", time.mrays_before);
    }
}

#[test]
fn only_times_beyond_the_share_fail_and_those_without_a_verdict_are_named() {
    let before = study("a", &rounds(100.0), "f");
    let after = |ms: &[f64]| StudyDiff::of(&before, &study("bb", ms, "f")).unwrap();
    let slower = after(&rounds(108.0));
    assert_eq!(slower.slower_by(0.10), Vec::<String>::new());
    assert!(slower.slower_by(0.05)[0].starts_with("t on s: slower, 1.080 of the time before ("));
    assert_eq!(after(&rounds(92.0)).slower_by(0.0), Vec::<String>::new());
    let once = after(&[200.0]);
    assert_eq!(once.slower_by(0.05), Vec::<String>::new(), "one round proves nothing");
    assert!(once.undecided()[0].contains("too few rounds"), "{:?}", once.undecided());
    assert!(once.headline().contains("1 without a verdict"), "{}", once.headline());
}

#[test]
fn times_that_lie_within_a_studys_own_floor_are_the_same() {
    let with_floor = |commit: &str, ms: f64, second: f64| {
        let mut study = study(commit, &rounds(ms), "f");
        study.aa_control =
            study.timings.iter().map(|t| Timing { total_ms: t.total_ms * second, ..t.clone() }).collect();
        study
    };
    let diff = |second| {
        let (before, after) = (with_floor("a", 100.0, second), with_floor("bb", 110.0, 1.0));
        total(&StudyDiff::of(&before, &after).unwrap()).change
    };
    assert_eq!(diff(1.01), Some(Change::Slower));
    assert_eq!(diff(1.20), Some(Change::Same), "a machine that is 20 % off itself shows nothing of 10 %");
}

#[test]
fn another_machine_has_no_verdict_on_times_but_one_on_films() {
    let before = study("a", &rounds(100.0), "f");
    let mut after = study("bb", &rounds(200.0), "g");
    after.environment.host.cpu = "E".into();
    let diff = StudyDiff::of(&before, &after).unwrap();
    assert_eq!(total(&diff).change, None);
    assert!(diff.undecided()[0].contains("another machine"));
    assert_eq!(diff.environment, ["Processor: C before, E after"]);
    assert_eq!((diff.films[0].compared, diff.films[0].changed), (1, 1));
    assert_eq!(diff.films[0].first_changed_spp, Some(4));
    assert!(diff.headline().ends_with("Films: 1 of 1 changed."), "{}", diff.headline());
}

#[test]
fn scenes_and_targets_of_one_study_alone_are_named_and_other_settings_refused() {
    let before = study("a", &rounds(100.0), "f");
    let mut other = study("bb", &rounds(100.0), "f");
    other.environment.scenes.insert("s".into(), "another hash".into());
    let diff = StudyDiff::of(&before, &other).unwrap();
    assert_eq!(diff.not_compared, ["s is another scene than before"]);
    assert!(diff.times.is_empty() && diff.films.is_empty() && diff.errors.is_empty());

    let mut larger = study("bb", &rounds(100.0), "f");
    larger.environment.settings.width = 16;
    let error = StudyDiff::of(&before, &larger).unwrap_err();
    assert_eq!(StudyDiff::check_plan(&before.environment, &larger.environment), Err(error.clone()));
    let error = error.to_string();
    assert!(error.contains("8×8") && error.contains("16×8") && error.contains("same options"), "{error}");

    let mut renamed = study("bb", &rounds(100.0), "f");
    renamed.timings.iter_mut().for_each(|t| t.scene = "r".into());
    renamed.convergences.clear();
    let error = StudyDiff::of(&before, &renamed).unwrap_err();
    assert!(matches!(error, DiffError::Scenes { .. }), "{error}");

    let planned = |scene: &str| {
        let scenes = [(scene.to_owned(), "hash".to_owned())].into();
        Environment { scenes, ..environment("a") }
    };
    assert_eq!(StudyDiff::check_plan(&planned("s"), &planned("s")), Ok(()));
    assert_eq!(StudyDiff::check_plan(&planned("s"), &planned("r")), Err(error));
}

#[test]
fn the_markdown_has_a_table_of_times_films_and_errors() {
    let (before, after) = (study("a", &rounds(100.0), "f"), study("bb", &rounds(110.0), "f"));
    let text = StudyDiff::of(&before, &after).unwrap().markdown();
    for part in [
        "1 slower",
        "1 of 1 unchanged",
        "### Times and rates",
        "### Films",
        "### Errors",
        "| s | t | total | slower |",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn a_history_is_in_the_order_of_its_studies_and_names_commits() {
    let studies =
        [study("ccc", &rounds(50.0), "f"), study("a", &rounds(100.0), "f"), study("bb", &rounds(80.0), "f")];
    let history = History::of(&studies);
    assert_eq!(history.names, ["a", "bb", "ccc"]);
    let rates: Vec<f64> = history.points.iter().map(|p| p.mrays.median.round()).collect();
    assert_eq!(rates, [10.0, 13.0, 20.0]);
    assert_eq!(history.table().rows.len(), 3);
    let plots = history.plots().unwrap();
    assert_eq!(plots[0].file_name, "history.s.svg");
    for text in ["ccc", "t, D", "million rays a second"] {
        assert!(plots[0].svg.contains(text), "{text}");
    }
    assert_eq!(history.sentences(), ["t, D on s: 2.000 of the rate of a at ccc"]);
    assert_eq!(
        History::of(&studies[1..2]).sentences(),
        ["t, D on s: 10.00 Mrays/s at a, the only study of it"]
    );
}
