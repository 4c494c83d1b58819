//! The data of the plots of equal time and of thread scaling.

use super::data::{LinePlot, Series, SeriesKind, XAxis, YScale, add_merged, drawable};
use crate::study::{Study, push_new};
use crate::tables::{Speed, speeds};

/// Linear RMSE over the time taken of one scene, a line for every target.
pub(super) fn equal_time_plot(study: &Study, scene: &str) -> Option<LinePlot> {
    let of_scene = || study.equal_times.iter().filter(|e| e.scene == scene);
    let mut series = Vec::new();
    for (index, target) in study.targets().into_iter().enumerate() {
        let own = of_scene().filter(|e| e.target == target);
        let points = own.filter_map(|e| Some((e.render_ms / 1e3, e.float?.rmse_linear)));
        let points = points.filter(|p| p.0 > 0.0 && p.1 > 0.0 && p.1.is_finite()).collect();
        add_merged(&mut series, target.to_owned(), SeriesKind::Target(index), points);
    }
    let mut ticks: Vec<f64> = of_scene().map(|e| e.seconds).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let x = XAxis {
        label: "seconds of rendering".to_owned(),
        unit: "s".to_owned(),
        log: true,
        ticks,
        names: Vec::new(),
    };
    let (title, y_label) = (format!("{scene}: error over time"), "RMSE, linear radiance".to_owned());
    drawable(LinePlot { title, x, y_label, y: YScale::Log, series })
}

/// Speed-up over threads of one scene, a line for every target, and what every thread would give at its best.
pub(super) fn scaling_plot(study: &Study, scene: &str) -> Option<LinePlot> {
    let speeds: Vec<Speed<'_>> = speeds(study).into_iter().filter(|s| s.record.scene == scene).collect();
    let mut ticks: Vec<f64> = speeds.iter().map(|s| f64::from(s.record.threads)).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let mut targets = Vec::new();
    speeds.iter().for_each(|s| push_new(&mut targets, s.record.target.as_str()));
    let mut series = Vec::new();
    for (index, target) in targets.into_iter().enumerate() {
        let own = speeds.iter().filter(|s| s.record.target == target);
        let points = own.map(|s| (f64::from(s.record.threads), s.speed_up.median)).collect();
        add_merged(&mut series, target.to_owned(), SeriesKind::Target(index), points);
    }
    if let (Some(&first), Some(&last)) = (ticks.first(), ticks.last()) {
        let points = vec![(first, 1.0), (last, last / first)];
        series.push(Series { label: "ideal".to_owned(), kind: SeriesKind::Guide, points });
    }
    let x = XAxis {
        label: "threads".to_owned(),
        unit: "threads".to_owned(),
        log: true,
        ticks,
        names: Vec::new(),
    };
    let (title, y_label) = (format!("{scene}: speed-up by threads"), "speed-up".to_owned());
    drawable(LinePlot { title, x, y_label, y: YScale::Log, series }).filter(|plot| plot.x.ticks.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{FloatMetrics, Metrics};
    use crate::records::{DeviceInfo, Environment, EqualTime, Scaling};

    #[test]
    fn errors_stand_over_the_time_taken_and_ticks_at_the_time_given() {
        let at = |seconds: f64, rmse_linear: f64| EqualTime {
            scene: "s".into(),
            target: "t".into(),
            seconds,
            render_ms: seconds * 990.0,
            float: Some(FloatMetrics { rmse_linear, ..Metrics::EQUAL.float }),
            ..Default::default()
        };
        let targets = vec![DeviceInfo { target: "t".into(), ..Default::default() }.into()];
        let environment = Environment { targets, ..Default::default() };
        let study = Study::from_records(vec![at(1.0, 0.5).into(), at(4.0, 0.25).into()], environment);
        let plot = equal_time_plot(&study, "s").unwrap();
        assert_eq!(
            (plot.series[0].points.as_slice(), plot.x.ticks.as_slice()),
            (&[(0.99, 0.5), (3.96, 0.25)][..], &[1.0, 4.0][..])
        );
        assert_eq!(equal_time_plot(&study, "other"), None);
    }

    #[test]
    fn speed_up_has_its_ideal_beside_it_and_needs_two_counts() {
        let record = |threads, ms: f64| Scaling {
            scene: "s".into(),
            target: "t".into(),
            threads,
            times_ms: vec![ms; 3],
            ..Default::default()
        };
        let study = |records: Vec<Scaling>| {
            Study::from_records(records.into_iter().map(Into::into).collect(), Environment::default())
        };
        let plot = scaling_plot(&study(vec![record(1, 8.0), record(2, 4.0)]), "s").unwrap();
        assert_eq!(plot.series[1].points, [(1.0, 1.0), (2.0, 2.0)]);
        assert!((plot.series[0].points[1].1 - 2.0).abs() < 1e-12);
        assert_eq!(scaling_plot(&study(vec![record(1, 8.0)]), "s"), None);
    }
}
