//! Several targets on one image: rates, efficiency, idle and wasted time by schedule.

use super::{Cell, Table, films_cell, films_column};
use crate::format::{fixed, number, percent};
use crate::labels::joined;
use crate::records::{AA_CONTROL, ALONE, Sharing};
use crate::statistics::timing::MedianInterval;
use crate::study::Study;

/// The measurement of a group under one schedule, or of one of its targets alone, with time and efficiency.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared<'a> {
    /// The measurement.
    pub record: &'a Sharing,
    /// Milliseconds of a pass.
    pub time: MedianInterval,
    /// The rate over the sum of the rates of all targets alone, round by round; over the first target's alone for
    /// [`AA_CONTROL`]; nothing for a target alone.
    pub efficiency: Option<MedianInterval>,
}

/// The shared renders of a study whose rounds are complete.
pub fn shared(study: &Study) -> Vec<Shared<'_>> {
    let of = |record| {
        Some(Shared {
            record,
            time: MedianInterval::of(&record.times_ms)?,
            efficiency: efficiency(study, record),
        })
    };
    study.sharings.iter().filter_map(of).collect()
}

fn efficiency(study: &Study, record: &Sharing) -> Option<MedianInterval> {
    let alone: Vec<&Sharing> = study
        .sharings
        .iter()
        .filter(|s| s.scene == record.scene && s.group == record.group && s.schedule == ALONE)
        .collect();
    let against: Vec<&Sharing> = match record.schedule.as_str() {
        ALONE => return None,
        AA_CONTROL => alone.into_iter().filter(|s| s.targets == record.targets).collect(),
        _ => alone,
    };
    let per_round = |(round, &ms): (usize, &f64)| {
        let rates: Option<Vec<f64>> =
            against.iter().map(|s| s.times_ms.get(round).map(|ms| 1.0 / ms)).collect();
        Some(1.0 / ms / rates?.iter().sum::<f64>())
    };
    let rounds: Option<Vec<f64>> = record.times_ms.iter().enumerate().map(per_round).collect();
    MedianInterval::of(&rounds?)
}

/// Rate, efficiency, idle and wasted time by schedule.
pub fn sharing_table(study: &Study) -> Table {
    let numbers =
        ["Samples per pixel", "Median ms", "Million samples/s", "Efficiency", "From", "To", "Idle", "Wasted"];
    let mut table = Table::new("sharing", "Several targets together", &["Scene", "Targets", "Schedule"], &numbers)
        .noted(
            "Passes of the same samples into an empty film, in rounds in which all rows of a scene take turns. Efficiency: the \
             rate over the sum of the rates of the group's targets alone, round by round, its median and interval; of the \
             row “alone again” it is the first target over itself, which is noise (A/A). Idle: share of all targets' time \
             in which they rendered nothing, transfers of films included. Wasted: samples rendered for nothing, as a share \
             of the pass. Films: “=” where the films of all passes equal that of the first target alone, integer by integer.",
        );
    table.columns.push(films_column());
    for Shared { record, time, efficiency } in shared(study) {
        let mut row = vec![Cell::text(&record.scene), Cell::text(joined(&record.targets, " + "))];
        row.push(Cell::text(&record.schedule));
        row.push(Cell { text: record.spp.to_string(), value: record.spp.into() });
        row.push(Cell::number(time.median, number(time.median)));
        let rate = record.samples as f64 / time.median / 1e3;
        row.push(Cell::number(rate, number(rate)));
        let interval = efficiency.map_or([f64::NAN; 3], |e| [e.median, e.low, e.high]);
        row.extend(interval.map(|e| if e.is_nan() { Cell::text("") } else { Cell::number(e, fixed(e, 3)) }));
        let idle = MedianInterval::of(&record.idle).map_or(0.0, |idle| idle.median);
        row.push(Cell::number(idle, percent(idle)));
        let wasted: Vec<f64> =
            record.wasted_spp.iter().map(|&w| w as f64 / f64::from(record.spp.max(1))).collect();
        let wasted = MedianInterval::of(&wasted).map_or(0.0, |wasted| wasted.median);
        row.push(Cell::number(wasted, percent(wasted)));
        row.push(films_cell(record.identical));
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Environment;

    #[test]
    fn efficiency_is_the_rate_over_the_sum_of_rates_alone() {
        let record = |targets: &[&str], schedule: &str, ms: f64| Sharing {
            scene: "s".into(),
            group: "together(a,b)".into(),
            targets: targets.iter().map(|&t| t.into()).collect(),
            schedule: schedule.into(),
            times_ms: vec![ms; 3],
            spp: 8,
            identical: true,
            ..Default::default()
        };
        let records = vec![
            record(&["a"], ALONE, 10.0).into(),
            record(&["b"], ALONE, 30.0).into(),
            record(&["a"], AA_CONTROL, 10.0).into(),
            record(&["a", "b"], "guided", 8.0).into(),
        ];
        let study = Study::from_records(records, Environment::default());
        let found = shared(&study);
        assert_eq!(found[0].efficiency, None);
        assert!((found[2].efficiency.unwrap().median - 1.0).abs() < 1e-12);
        // 1/8 over 1/10 + 1/30
        assert!((found[3].efficiency.unwrap().median - 0.9375).abs() < 1e-12);
        assert_eq!(sharing_table(&study).rows.len(), 4);
    }
}
