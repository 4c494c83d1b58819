//! Speeds of targets and sets of targets after equal time, over that of one of them by the same integrator.

use super::{Cell, Table, integrators};
use crate::format::fixed;
use crate::records::{EqualTime, TargetId};
use crate::statistics::timing::MedianInterval;
use crate::study::{Study, push_new};
use lockstep_core::Integrator;

/// The speed of one target over that of the baseline by the same integrator.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSpeed<'a> {
    /// The measurement after the longest time.
    pub record: &'a EqualTime,
    /// The baseline, without its integrator.
    pub baseline: TargetId,
    /// The rate over the baseline's: that of the median pass where passes are recorded, else that of the whole time.
    pub speed_up: f64,
    /// Lowest and highest speed-up within the intervals of both medians, where passes are recorded; nothing for the
    /// baseline.
    pub range: Option<[f64; 2]>,
}

/// The target that speeds are compared with: the one that the study names, or its first.
pub(crate) fn baseline(study: &Study) -> Option<TargetId> {
    let first = || study.targets().first().map(|target| target.renderer());
    study.environment.settings.against.clone().or_else(first)
}

/// The speeds of every scene and integrator that two targets or more were measured by, the baseline among them; by scenes,
/// then integrators. None unless the study names a baseline or compares integrators.
pub fn device_speeds(study: &Study) -> Vec<DeviceSpeed<'_>> {
    let Some(baseline) = baseline(study) else { return Vec::new() };
    let order = integrators(study);
    if order.len() < 2 && study.environment.settings.against.is_none() {
        return Vec::new();
    }
    let longest = longest(study);
    let found = longest.iter().filter_map(|record| speed(&longest, &baseline, record));
    let mut found: Vec<DeviceSpeed<'_>> = found.collect();
    let place = |speed: &DeviceSpeed<'_>| {
        let scene = study.scenes().iter().position(|scene| *scene == speed.record.scene);
        (scene, order.iter().position(|integrator| Some(*integrator) == speed.record.target.integrator))
    };
    found.sort_by_key(place);
    found
}

/// The speed of one of these measurements; nothing where it is alone, or the baseline is not among them.
fn speed<'a>(all: &[&'a EqualTime], baseline: &TargetId, record: &'a EqualTime) -> Option<DeviceSpeed<'a>> {
    let TargetId { integrator, layers, .. } = record.target;
    let wanted = TargetId { integrator, layers, ..baseline.clone() };
    let base = all.iter().copied().find(|e| e.scene == record.scene && e.target == wanted);
    let is_alike = |e: &&&EqualTime| e.scene == record.scene && e.target.is_alike(&record.target);
    let base = base.filter(|_| all.iter().filter(is_alike).count() > 1)?;
    let (speed_up, range) = match (passes(record), passes(base)) {
        _ if record == base => (1.0, None),
        (Some(own), Some(base)) => {
            (own.median / base.median, Some([own.low / base.high, own.high / base.low]))
        }
        _ => (rate(record) / rate(base), None),
    };
    Some(DeviceSpeed { record, baseline: baseline.clone(), speed_up, range })
}

/// The measurements after the longest time of every scene and target.
fn longest(study: &Study) -> Vec<&EqualTime> {
    let mut points: Vec<(&str, &TargetId)> = Vec::new();
    study.equal_times.iter().for_each(|e| push_new(&mut points, (e.scene.as_str(), &e.target)));
    let of_point = |(scene, target)| {
        let own = study.equal_times.iter().filter(move |e| (e.scene.as_str(), &e.target) == (scene, target));
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

/// Speed-ups of every scene and target, a column for each integrator.
pub fn equal_time_devices_table(study: &Study) -> Table {
    let found = device_speeds(study);
    let mut by = Vec::new();
    found.iter().for_each(|speed| push_new(&mut by, speed.record.target.integrator));
    let names: Vec<String> =
        by.iter().map(|name| name.unwrap_or(study.environment.settings.integrator).to_string()).collect();
    let numbers: Vec<&str> = names.iter().map(String::as_str).collect();
    let over = baseline(study).unwrap_or_default();
    let title = format!("Speed-up by device over {over}");
    let mut table = Table::new("equal-time-devices", &title, &["Scene", "Target"], &numbers).noted(
        "Samples a second of the median pass over that of the baseline by the same integrator, within the longest time that was \
         given; in parentheses what the intervals of both medians allow.",
    );
    let mut rows = Vec::new();
    found.iter().for_each(|s| push_new(&mut rows, (s.record.scene.as_str(), s.record.target.renderer())));
    rows.sort_by_key(|(scene, _)| study.scenes().iter().position(|known| known == scene));
    for (scene, renderer) in rows {
        let cell = |name: &Option<Integrator>| {
            let is_own = |s: &&DeviceSpeed<'_>| {
                (s.record.scene.as_str(), s.record.target.renderer()) == (scene, renderer.clone())
                    && s.record.target.integrator == *name
            };
            found.iter().find(is_own).map_or_else(Cell::empty, |s| ratio(s.speed_up, s.range))
        };
        let cells = [Cell::text(scene), Cell::text(renderer.to_string())];
        table.rows.push(cells.into_iter().chain(by.iter().map(cell)).collect());
    }
    table
}

/// A ratio with its interval, if it has one.
pub(super) fn ratio(value: f64, range: Option<[f64; 2]>) -> Cell {
    let range = range.map(|[low, high]| format!(" ({} to {})", fixed(low, 2), fixed(high, 2)));
    Cell::number(value, format!("{}{}", fixed(value, 2), range.unwrap_or_default()))
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
        let names: Vec<String> = found.iter().map(|s| s.record.target.to_string()).collect();
        assert_eq!(
            names,
            ["a+path", "b+path", "together(a,b)+path"],
            "alone with its integrator, a+vcm has none"
        );
        assert!((found[1].speed_up - 3.0).abs() < 1e-12 && found[1].range == Some([2.5, 3.75]));
        let mut environment = Environment::default();
        environment.settings.against = Some("b".into());
        let table = equal_time_devices_table(&Study::from_records(records, environment));
        assert_eq!(table.title, "Speed-up by device over b");
        let speed_ups: Vec<&str> = table.rows.iter().map(|row| row[2].text.as_str()).collect();
        assert_eq!(speed_ups, ["0.33 (0.27 to 0.40)", "1.00", "1.27 (1.27 to 1.27)"]);
    }
}
