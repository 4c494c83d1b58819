//! The data of the plots of equal time, of speed by device and of thread scaling.

use super::data::{
    Bar, BarPlot, LinePlot, Segment, Series, SeriesKind, XAxis, YScale, add_merged, drawable, floor,
};
use crate::reference::SceneReference;
use crate::study::{Study, push_new};
use crate::tables::{Speed, device_speeds, integrator_errors, integrators, speeds};

/// Linear RMSE over the time taken of one scene, a line for every target.
pub(super) fn equal_time_plot(study: &Study, scene: &str) -> Option<LinePlot> {
    let of_scene = || study.equal_times.iter().filter(|e| e.scene == scene);
    let mut series = Vec::new();
    for (index, target) in study.targets().into_iter().enumerate() {
        let own = of_scene().filter(|e| e.target == *target);
        let points = own.filter_map(|e| Some((e.render_ms / 1e3, e.float?.rmse_linear)));
        let points = points.filter(|p| p.0 > 0.0 && p.1 > 0.0 && p.1.is_finite()).collect();
        add_merged(&mut series, target.to_string(), SeriesKind::Target(index), points);
    }
    let mut ticks: Vec<f64> = of_scene().map(|e| e.seconds).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let times: Vec<f64> = of_scene().map(|e| e.render_ms / 1e3).filter(|&seconds| seconds > 0.0).collect();
    series.extend(floor(SceneReference::of_times(study, scene), &times, f64::sqrt));
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

/// Linear RMSE of every integrator of one scene after the longest time, for every target that two were measured on.
pub(super) fn integrators_plot(study: &Study, scene: &str) -> Option<BarPlot> {
    let order = integrators(study);
    let rows: Vec<_> = integrator_errors(study).into_iter().filter(|row| row.scene == scene).collect();
    let longest = rows.iter().map(|row| row.seconds).reduce(f64::max)?;
    let own = rows.iter().filter(|row| row.seconds == longest);
    let bar = |row: &crate::tables::IntegratorErrors<'_>| {
        let errors = order.iter().enumerate();
        let part = |(part, &integrator)| Some(Segment { part, value: row.rmse(integrator)? });
        let segments = errors.filter_map(part).collect();
        Bar { group: String::new(), label: row.renderer.to_string(), segments }
    };
    Some(BarPlot {
        title: format!("{scene}: error after {longest} s"),
        x_label: "RMSE, linear radiance".to_owned(),
        parts: order.iter().map(ToString::to_string).collect(),
        stacked: false,
        bars: own.map(bar).collect(),
        ends: Vec::new(),
    })
}

/// Speed-up of every target by every integrator over the baseline, by scene; nothing for a single target.
pub(super) fn devices_plot(study: &Study) -> Option<BarPlot> {
    let found = device_speeds(study);
    let baseline = found.first()?.baseline.clone();
    let mut parts = Vec::new();
    found.iter().for_each(|speed| push_new(&mut parts, speed.record.target.integrator));
    let mut points = Vec::new();
    for speed in &found {
        push_new(&mut points, (speed.record.scene.as_str(), speed.record.target.renderer()));
    }
    points.sort_by_key(|(scene, _)| study.scenes().iter().position(|known| known == scene));
    let bar = |(scene, renderer): (&str, lockstep_core::TargetId)| {
        let own = found.iter().filter(|s| s.record.scene == scene && s.record.target.renderer() == renderer);
        let part = |s: &crate::tables::DeviceSpeed<'_>| {
            let part = parts.iter().position(|part| *part == s.record.target.integrator)?;
            Some(Segment { part, value: s.speed_up })
        };
        let mut segments: Vec<Segment> = own.filter_map(part).collect();
        segments.sort_by_key(|segment| segment.part);
        Bar { group: scene.to_owned(), label: renderer.to_string(), segments }
    };
    let name = |part: &Option<lockstep_core::Integrator>| {
        part.unwrap_or(study.environment.settings.integrator).to_string()
    };
    Some(BarPlot {
        title: "Speed-up by device".to_owned(),
        x_label: format!("samples a second over {baseline}"),
        parts: parts.iter().map(name).collect(),
        stacked: false,
        bars: points.into_iter().map(bar).collect(),
        ends: Vec::new(),
    })
}

/// Speed-up over threads of one scene, a line for every target, and what every thread would give at its best.
pub(super) fn scaling_plot(study: &Study, scene: &str) -> Option<LinePlot> {
    let speeds: Vec<Speed<'_>> = speeds(study).into_iter().filter(|s| s.record.scene == scene).collect();
    let mut ticks: Vec<f64> = speeds.iter().map(|s| f64::from(s.record.threads)).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let mut targets = Vec::new();
    speeds.iter().for_each(|s| push_new(&mut targets, &s.record.target));
    let mut series = Vec::new();
    for (index, target) in targets.into_iter().enumerate() {
        let own = speeds.iter().filter(|s| s.record.target == *target);
        let points = own.map(|s| (f64::from(s.record.threads), s.speed_up.median)).collect();
        add_merged(&mut series, target.to_string(), SeriesKind::Target(index), points);
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
        let without =
            scaling_plot(&study(vec![record(0, 9.0), record(1, 8.0), record(2, 4.0)]), "s").unwrap();
        assert_eq!(without.x.ticks, [1.0, 2.0], "no logarithmic axis has a place for zero threads");
    }
}
