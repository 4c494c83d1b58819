//! CPU targets by number of threads.

use super::equal_time_devices::ratio;
use super::{Cell, Table, films_cell, films_column};
use crate::format::{count, fixed, number, percent};
use crate::records::Scaling;
use crate::statistics::timing::MedianInterval;
use crate::study::{Study, push_new};
use lockstep_core::Integrator;

/// Speed of one target with some number of threads over that with its fewest.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed<'a> {
    /// The measurement.
    pub record: &'a Scaling,
    /// Milliseconds of a pass.
    pub time: MedianInterval,
    /// Time with the fewest threads over the time with this number of threads, round by round.
    pub speed_up: MedianInterval,
    /// Speed-up over the increase of threads, 1 where every thread helps as much as the first.
    pub efficiency: f64,
}

/// The speeds of a study, where rounds are whole.
pub fn speeds(study: &Study) -> Vec<Speed<'_>> {
    let fewest = |record: &Scaling| {
        let same = |other: &&Scaling| other.scene == record.scene && other.target == record.target;
        study.scalings.iter().filter(same).min_by_key(|other| other.threads)
    };
    let speed = |record| {
        let base: &Scaling = fewest(record)?;
        let speed_up = MedianInterval::of_ratio(&base.times_ms, &record.times_ms)?;
        let more = f64::from(record.threads) / f64::from(base.threads);
        let time = MedianInterval::of(&record.times_ms)?;
        Some(Speed { record, time, speed_up, efficiency: speed_up.median / more })
    };
    study.scalings.iter().filter_map(speed).collect()
}

/// The speed-up of every scene and target with the most threads, a sentence each.
pub fn scaling_sentences(study: &Study) -> Vec<String> {
    let all = speeds(study);
    let is_most = |speed: &&Speed| {
        let key = |s: &Speed| (s.record.scene.clone(), s.record.target.clone());
        let own = all.iter().filter(|s| key(s) == key(speed));
        own.map(|s| s.record.threads).max() == Some(speed.record.threads)
    };
    let sentence = |s: &Speed| {
        let [median, low, high] =
            [s.speed_up.median, s.speed_up.low, s.speed_up.high].map(|value| fixed(value, 2));
        format!(
            "{} on {}: {} threads are {median} times as fast as the fewest ({low} to {high})",
            s.record.target, s.record.scene, s.record.threads
        )
    };
    all.iter().filter(is_most).map(sentence).collect()
}

/// Time, speed-up and efficiency by number of threads.
pub fn scaling_table(study: &Study) -> Table {
    let numbers = ["Threads", "Median ms", "Low ms", "High ms", "Speed-up", "From", "To", "Efficiency"];
    let mut table = Table::new("scaling", "Thread scaling", &["Scene", "Target"], &numbers).noted(
        "Passes of the same samples, timed in rounds in which all numbers of threads take turns, after one pass that is not \
         timed. Speed-up: time with the fewest threads over time with these, round by round, its median and interval. \
         Efficiency: speed-up over the increase of threads. Films: “=” where the film of all passes equals that of the \
         fewest threads, integer by integer.",
    );
    table.columns.push(films_column());
    for Speed { record, time, speed_up, efficiency } in speeds(study) {
        let mut row = vec![Cell::text(&record.scene), Cell::text(&record.target)];
        row.push(Cell { text: count(u64::from(record.threads)), value: record.threads.into() });
        row.extend([time.median, time.low, time.high].map(|ms| Cell::number(ms, number(ms))));
        row.extend([speed_up.median, speed_up.low, speed_up.high].map(|s| Cell::number(s, fixed(s, 2))));
        row.push(Cell::number(efficiency, percent(efficiency)));
        row.push(films_cell(record.identical));
        table.rows.push(row);
    }
    table
}

/// Speed-ups of every scene, target and number of threads, a column for each integrator; no rows where no two were timed.
pub fn scaling_integrators_table(study: &Study) -> Table {
    let all = speeds(study);
    let (mut by, mut points) = (Vec::new(), Vec::new());
    for Scaling { scene, target, threads, .. } in all.iter().map(|speed| speed.record) {
        target.integrator.iter().for_each(|integrator| push_new(&mut by, *integrator));
        push_new(&mut points, (scene.as_str(), target.renderer(), *threads));
    }
    let names: Vec<String> = by.iter().map(ToString::to_string).collect();
    let numbers: Vec<&str> = std::iter::once("Threads").chain(names.iter().map(String::as_str)).collect();
    let title = "Speed-up by threads";
    let mut table = Table::new("scaling-integrators", title, &["Scene", "Target"], &numbers).noted(
        "Time with the fewest threads over time with these by the same integrator, round by round: its median, and in \
         parentheses its interval.",
    );
    if by.len() < 2 {
        return table;
    }
    for (scene, renderer, threads) in points {
        let cell = |integrator: &Integrator| {
            let wanted = renderer.by(*integrator);
            let is_own = |speed: &&Speed<'_>| {
                let record = speed.record;
                (record.scene.as_str(), &record.target, record.threads) == (scene, &wanted, threads)
            };
            all.iter().find(is_own).map_or_else(Cell::empty, |Speed { speed_up, .. }| {
                let is_base = speed_up.low == 1.0 && speed_up.high == 1.0;
                ratio(speed_up.median, (!is_base).then_some([speed_up.low, speed_up.high]))
            })
        };
        let mut row = vec![Cell::text(scene), Cell::text(renderer.to_string())];
        row.push(Cell { text: count(u64::from(threads)), value: threads.into() });
        row.extend(by.iter().map(cell));
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Environment;

    #[test]
    fn speed_up_and_efficiency_are_against_the_fewest_threads() {
        let record = |threads, times_ms: [f64; 3]| Scaling {
            scene: "s".into(),
            target: "t".into(),
            threads,
            times_ms: times_ms.into(),
            identical: threads == 1,
            ..Default::default()
        };
        let records = vec![record(4, [3.0, 4.0, 5.0]).into(), record(1, [9.0, 12.0, 15.0]).into()];
        let study = Study::from_records(records, Environment::default());
        let found = speeds(&study);
        assert!((found[0].speed_up.median - 3.0).abs() < 1e-12 && (found[0].efficiency - 0.75).abs() < 1e-12);
        assert!((found[1].speed_up.median - 1.0).abs() < 1e-12 && (found[1].efficiency - 1.0).abs() < 1e-12);
        let films: Vec<_> =
            scaling_table(&study).rows.iter().map(|row| row.last().unwrap().text.clone()).collect();
        assert_eq!(films, ["differ", "="]);
        let most = "t on s: 4 threads are 3.00 times as fast as the fewest (3.00 to 3.00)";
        assert_eq!(scaling_sentences(&study), [most]);
    }
    #[test]
    fn integrators_stand_side_by_side_by_target_and_threads() {
        let record = |target: &str, threads, ms: f64| {
            let (scene, target) = ("s".into(), target.into());
            Scaling { scene, target, threads, times_ms: vec![ms; 3], ..Default::default() }.into()
        };
        let records = vec![
            record("t+path", 1, 4.0),
            record("t+path", 2, 2.0),
            record("t+vcm", 1, 9.0),
            record("t+vcm", 2, 6.0),
        ];
        let table = scaling_integrators_table(&Study::from_records(records.clone(), Environment::default()));
        let rows: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(rows[0], ["s", "t", "1", "1.00", "1.00"]);
        assert_eq!(rows[1], ["s", "t", "2", "2.00 (2.00 to 2.00)", "1.50 (1.50 to 1.50)"]);
        let one = Study::from_records(records[..2].to_vec(), Environment::default());
        assert!(scaling_integrators_table(&one).rows.is_empty());
    }
}
