//! The data of the plots of performance portability.

use super::data::{LinePlot, Series, SeriesKind, XAxis, YScale, add_merged};
use crate::portability::navigation::choices;
use crate::portability::{Portability, cascade};
use crate::study::Study;

/// Every application's efficiencies from the best platform to the worst, and the harmonic mean so far;
/// nothing for one application or one platform.
pub(super) fn cascade_plot(study: &Study) -> Option<LinePlot> {
    let portability = Portability::of(study);
    if portability.applications.len() < 2 || portability.platforms.len() < 2 {
        return None;
    }
    let mut series = Vec::new();
    for (index, application) in portability.applications.iter().enumerate() {
        let steps = cascade(&application.efficiencies);
        let mut line = |label: String, kind, value: fn(&(f64, f64)) -> f64| {
            let points = steps.iter().zip(1u32..).map(|(step, rank)| (f64::from(rank), value(step)));
            series.push(Series { label, kind, points: points.collect() });
        };
        line(application.name.clone(), SeriesKind::Target(index), |step| step.0);
        line(format!("{}, mean", application.name), SeriesKind::Mean(index), |step| step.1);
    }
    let last = portability.platforms.len();
    let every = last.div_ceil(12);
    let ticks = (1..=last).filter(|rank| (rank - 1) % every == 0).map(|rank| rank as f64).collect();
    let label = "devices with a scene, from the best".to_owned();
    let x = XAxis { label, unit: "platforms".to_owned(), log: false, ticks, names: Vec::new() };
    let title = "Efficiency, and its harmonic mean so far".to_owned();
    Some(LinePlot { title, x, y_label: "application efficiency".to_owned(), y: YScale::Share, series })
}

/// Portability over convergence of the code (1 − divergence), a point for every set of backends that runs on
/// all devices; nothing without divergences.
pub(super) fn navigation_plot(study: &Study) -> Option<LinePlot> {
    let mut series = Vec::new();
    for (index, choice) in choices(study).into_iter().enumerate() {
        if let Some(divergence) = choice.divergence {
            let points = vec![(1.0 - divergence, choice.portability)];
            add_merged(&mut series, choice.backends.join(" + "), SeriesKind::Target(index), points);
        }
    }
    let label = "convergence of the code: 1 − divergence".to_owned();
    let x = XAxis {
        label,
        unit: "convergence".to_owned(),
        log: false,
        ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0],
        names: Vec::new(),
    };
    let title = "Portability and convergence of the code".to_owned();
    let plot = LinePlot { title, x, y_label: "performance portability".to_owned(), y: YScale::Share, series };
    (plot.series.len() > 1).then_some(plot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::cost::{Cost, Lines, PortCost};
    use crate::portability::tests::{BOTH, study};

    #[test]
    fn a_cascade_has_a_line_and_its_mean_for_every_application() {
        let plot = cascade_plot(&study(&BOTH)).unwrap();
        let labels: Vec<_> = plot.series.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["cpu-bvh", "cpu-bvh, mean", "opencl", "opencl, mean", "cuda", "cuda, mean"]);
        assert_eq!(plot.series[2].points, [(1.0, 0.5), (2.0, 0.5)]);
        assert_eq!(plot.series[5].points, [(1.0, 1.0), (2.0, 0.0)]);
        assert_eq!(cascade_plot(&study(&BOTH[..3])), None, "one platform");
    }

    #[test]
    fn only_what_runs_everywhere_is_a_point() {
        let mut study = study(&BOTH);
        assert_eq!(navigation_plot(&study), None, "no lines were counted");
        let port = |backend: &str, device| PortCost {
            backend: backend.into(),
            own: Lines { host: 50, device },
            ..Default::default()
        };
        let ports = vec![port("cpu", 0), port("cuda", 10), port("opencl", 10)];
        study.cost = Some(Cost { shared: Lines { host: 100, device: 50 }, ports, ..Default::default() });
        let plot = navigation_plot(&study).unwrap();
        let labels: Vec<_> = plot.series.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["opencl", "cpu + opencl", "cpu + cuda", "opencl + cuda"]);
        assert_eq!(plot.series[0].points, [(1.0, 0.5)]);
    }
}
