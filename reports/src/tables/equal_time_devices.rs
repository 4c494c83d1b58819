//! Speeds of targets and sets of targets after equal time, over that of one of them by the same integrator.

use super::{Cell, Table, integrators};
use crate::format::{fixed, number, percent};
use crate::records::{EqualTime, TargetId, mega_per_second};
use crate::statistics::timing::MedianInterval;
use crate::study::{Study, push_new};

/// The speed of one target over that of the baseline by the same integrator.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSpeed<'a> {
    /// The measurement after the longest time.
    pub record: &'a EqualTime,
    /// The target with its integrator.
    pub target: TargetId,
    /// The baseline, without its integrator.
    pub baseline: String,
    /// The rate over the baseline's: that of the median pass where passes are recorded, else that of the whole time.
    pub speed_up: f64,
    /// The least and the greatest that the intervals of both medians allow, where passes are recorded; nothing for the
    /// baseline.
    pub range: Option<[f64; 2]>,
    /// The rate over the sum of the rates of a set's members alone, where all of them were measured.
    pub efficiency: Option<f64>,
}

/// The target that speeds are compared with: the one that the study names, or its first.
pub(crate) fn baseline(study: &Study) -> Option<String> {
    let first = || study.targets().first().map(|target| TargetId::from(*target).renderer().to_string());
    study.environment.settings.against.clone().or_else(first)
}

/// The speeds of every scene and integrator that two targets or more were measured by, the baseline among them; by scenes,
/// then integrators.
pub fn device_speeds(study: &Study) -> Vec<DeviceSpeed<'_>> {
    let Some(baseline) = baseline(study) else { return Vec::new() };
    let longest = longest(study);
    let found = longest.iter().filter_map(|record| speed(&longest, &baseline, record));
    let mut found: Vec<DeviceSpeed<'_>> = found.collect();
    let order = integrators(study);
    let place = |speed: &DeviceSpeed<'_>| {
        let scene = study.scenes().iter().position(|scene| *scene == speed.record.scene);
        (scene, order.iter().position(|integrator| Some(*integrator) == speed.target.integrator))
    };
    found.sort_by_key(place);
    found
}

/// The speed of one of these measurements; nothing where it is alone, or the baseline is not among them.
fn speed<'a>(all: &[&'a EqualTime], baseline: &str, record: &'a EqualTime) -> Option<DeviceSpeed<'a>> {
    let target = TargetId::from(record.target.as_str());
    let of = |renderer: &str| {
        let wanted = TargetId { integrator: target.integrator, ..renderer.into() }.to_string();
        all.iter().copied().find(|e| e.scene == record.scene && e.target == wanted)
    };
    let is_alike = |e: &&&EqualTime| {
        e.scene == record.scene && TargetId::from(e.target.as_str()).integrator == target.integrator
    };
    let base = of(baseline).filter(|_| all.iter().filter(is_alike).count() > 1)?;
    let (speed_up, range) = match (passes(record), passes(base)) {
        _ if record == base => (1.0, None),
        (Some(own), Some(base)) => {
            (own.median / base.median, Some([own.low / base.high, own.high / base.low]))
        }
        _ => (rate(record) / rate(base), None),
    };
    let names = members(&target);
    let sum = names.and_then(|names| names.iter().map(|name| of(name).map(rate)).sum::<Option<f64>>());
    let efficiency = sum.map(|sum| rate(record) / sum);
    Some(DeviceSpeed { record, baseline: baseline.to_owned(), speed_up, range, efficiency, target })
}

/// The measurements after the longest time of every scene and target.
fn longest(study: &Study) -> Vec<&EqualTime> {
    let mut points: Vec<(&str, &str)> = Vec::new();
    study.equal_times.iter().for_each(|e| push_new(&mut points, (e.scene.as_str(), e.target.as_str())));
    let of_point = |(scene, target)| {
        let own = study
            .equal_times
            .iter()
            .filter(move |e| (e.scene.as_str(), e.target.as_str()) == (scene, target));
        own.max_by(|a, b| a.seconds.total_cmp(&b.seconds))
    };
    points.into_iter().filter_map(of_point).collect()
}

/// The median rate of a measurement's passes, where there are rounds enough for an interval.
fn passes(record: &EqualTime) -> Option<MedianInterval> {
    let enough = record.samples_per_ms.len() >= crate::statistics::timing::LEAST_ROUNDS;
    MedianInterval::of(&record.samples_per_ms).filter(|rates| enough && rates.low > 0.0)
}

/// Samples a millisecond over the whole time.
fn rate(record: &EqualTime) -> f64 {
    record.samples as f64 / record.render_ms
}

/// The names of a set's members; nothing for a single target.
fn members(target: &TargetId) -> Option<Vec<&str>> {
    let list = target.backend.split_once('(')?.1.strip_suffix(')')?;
    Some(list.split(',').collect())
}

/// Rates and speed-ups by scene, target and integrator.
pub fn equal_time_devices_table(study: &Study) -> Table {
    let numbers = ["Msamples/s", "Speed-up", "From", "To", "Efficiency"];
    let over = baseline(study).unwrap_or_default();
    let texts = ["Scene", "Integrator", "Target"];
    let mut table = Table::new("equal-time-devices", &format!("Speed-up by device over {over}"), &texts, &numbers)
        .noted(
            "Of the longest time that was given to every target. Speed-up: samples a second of the median pass over that of \
             the baseline by the same integrator; from and to are what the intervals of both medians allow. Efficiency: a \
             set's rate over the sum of the rates of its members, each alone with all of the machine.",
        );
    for DeviceSpeed { record, target, speed_up, range, efficiency, .. } in device_speeds(study) {
        let integrator = target.integrator.map_or_else(String::new, |integrator| integrator.to_string());
        let mut row = vec![Cell::text(&record.scene), Cell::text(integrator)];
        row.push(Cell::text(target.renderer().to_string()));
        let million = mega_per_second(record.samples, record.render_ms);
        row.push(Cell::number(million, number(million)));
        row.push(Cell::number(speed_up, fixed(speed_up, 2)));
        let ends = range.map_or([None; 2], |range| range.map(Some));
        row.extend(ends.map(|end| end.map_or_else(Cell::empty, |end| Cell::number(end, fixed(end, 2)))));
        row.push(efficiency.map_or_else(Cell::empty, |share| Cell::number(share, percent(share))));
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Environment;

    fn point(target: &str, seconds: f64, rates: &[f64]) -> crate::records::Record {
        let samples = (rates.iter().sum::<f64>() / rates.len() as f64 * seconds * 1e3) as u64;
        let (scene, target, samples_per_ms) = ("s".into(), target.into(), rates.to_vec());
        EqualTime {
            scene,
            target,
            seconds,
            render_ms: seconds * 1e3,
            samples,
            samples_per_ms,
            ..Default::default()
        }
        .into()
    }

    #[test]
    fn speed_ups_are_over_the_baseline_by_the_same_integrator() {
        let records = vec![
            point("a+path", 1.0, &[1.0]),
            point("a+path", 10.0, &[8.0, 10.0, 12.0]),
            point("a+vcm", 10.0, &[2.0, 2.0, 2.0]),
            point("b+path", 10.0, &[30.0, 30.0, 30.0]),
            point("together(a,b)+path", 10.0, &[38.0, 38.0, 38.0]),
        ];
        let study = Study::from_records(records.clone(), Environment::default());
        let found = device_speeds(&study);
        let names: Vec<String> = found.iter().map(|s| s.target.to_string()).collect();
        assert_eq!(
            names,
            ["a+path", "b+path", "together(a,b)+path"],
            "alone with its integrator, a+vcm has none"
        );
        assert!((found[1].speed_up - 3.0).abs() < 1e-12 && found[1].range == Some([2.5, 3.75]));
        assert!((found[2].efficiency.unwrap() - 0.95).abs() < 1e-12 && found[1].efficiency.is_none());
        let mut environment = Environment::default();
        environment.settings.against = Some("b".into());
        let table = equal_time_devices_table(&Study::from_records(records, environment));
        assert_eq!(table.title, "Speed-up by device over b");
        let speed_ups: Vec<&str> = table.rows.iter().map(|row| row[4].text.as_str()).collect();
        assert_eq!(speed_ups, ["0.33", "1.00", "1.27"]);
    }
}
