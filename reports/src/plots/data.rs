//! The data of plots, before any drawing.

use crate::format;
use crate::reference::SceneReference;
use crate::stages::{StageTimes, stage_names, stage_times};
use crate::study::{Study, push_new};

/// The meaning of a line, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesKind {
    /// A target against the reference; its number picks the colour.
    Target(usize),
    /// One target against another; its number picks the colour.
    Pair(usize),
    /// A mean of the target of this number, in its colour.
    Mean(usize),
    /// A line to compare slopes with.
    Guide,
}

/// A line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The text at the end of the line.
    pub label: String,
    /// The meaning of the line, which decides how it looks.
    pub kind: SeriesKind,
    /// Place on the horizontal axis and value, ascending.
    pub points: Vec<(f64, f64)>,
}

/// The horizontal axis of a plot of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct XAxis {
    /// The axis's title.
    pub label: String,
    /// Unit of a point's horizontal value where the point is read out: `spp`.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Values of the tick marks, ascending.
    pub ticks: Vec<f64>,
    /// Texts of the tick marks, in their order; without any, the marks show their numbers.
    pub names: Vec<String>,
}

impl XAxis {
    /// The text of a place: its mark's name, or its number.
    pub(super) fn text_at(&self, value: f64) -> Option<&str> {
        let mark = self.ticks.iter().position(|&tick| tick == value)?;
        self.names.get(mark).map(String::as_str)
    }

    /// Samples per pixel, marked at every level of these lines.
    fn samples(series: &[Series]) -> Self {
        let mut ticks: Vec<f64> = series.iter().flat_map(|s| &s.points).map(|p| p.0).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        Self {
            label: "samples per pixel".to_owned(),
            unit: "spp".to_owned(),
            log: true,
            ticks,
            names: Vec::new(),
        }
    }
}

/// The scale of a vertical axis, with its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YScale {
    /// Logarithmic, over a range that holds all values.
    Log,
    /// Linear, over a range that holds all values, which are at most 1.
    UpToOne,
    /// Linear from 0 to 1.
    Share,
    /// Linear from 0 to the greatest value.
    FromZero,
}

/// A plot of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    /// Heading.
    pub title: String,
    /// The horizontal axis.
    pub x: XAxis,
    /// The title of the vertical axis.
    pub y_label: String,
    /// How the vertical axis runs.
    pub y: YScale,
    /// The lines; at least one has points.
    pub series: Vec<Series>,
}

/// A part of a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Which of the plot's parts, an index into [`BarPlot::parts`].
    pub part: usize,
    /// Length of the segment, in the unit of the horizontal axis.
    pub value: f64,
}

/// The bars of one target in one group: one stacked bar, or one bar for each part.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The group that it stands in, a scene.
    pub group: String,
    /// The target that it stands for.
    pub label: String,
    /// The parts.
    pub segments: Vec<Segment>,
}

/// A plot of horizontal bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPlot {
    /// Heading.
    pub title: String,
    /// The title of the horizontal axis.
    pub x_label: String,
    /// Names of the parts.
    pub parts: Vec<String>,
    /// Whether the parts of a bar lie end to end; otherwise they lie one below another.
    pub stacked: bool,
    /// The bars, those of a group together.
    pub bars: Vec<Bar>,
    /// A text at the end of each bar; without any, the length.
    pub ends: Vec<String>,
}

/// Linear MSE over samples per pixel of one scene: a line per target against the reference, one per pair that
/// differs, and a 1/N line, at half the first target's first error so that it can be seen beside it.
pub(super) fn error_plot(study: &Study, scene: &str) -> Option<LinePlot> {
    let mut series = target_series(study, scene, |c| c.errors.mse_linear, |v| v > 0.0);
    if let Some(guide) = series.first().and_then(|s| guide(&s.points)) {
        series.push(guide);
    }
    let levels: Vec<f64> = series.iter().flat_map(|s| &s.points).map(|point| point.0).collect();
    series.extend(floor(SceneReference::of_levels(study, scene), &levels, |mse| mse));
    series.extend(pair_series(study, scene));
    let title = format!("{scene}: error over samples");
    let x = XAxis::samples(&series);
    drawable(LinePlot { title, x, y_label: "MSE, linear radiance".to_owned(), y: YScale::Log, series })
}

/// SSIM against the reference over samples per pixel of one scene.
pub(super) fn similarity_plot(study: &Study, scene: &str) -> Option<LinePlot> {
    let series = target_series(study, scene, |c| c.errors.ssim, |_| true);
    let title = format!("{scene}: similarity over samples");
    let x = XAxis::samples(&series);
    drawable(LinePlot {
        title,
        x,
        y_label: "SSIM against the reference".to_owned(),
        y: YScale::UpToOne,
        series,
    })
}

/// The plot with the points and marks that its axes can show: finite ones, and above zero where an axis is
/// logarithmic. `None` where no point but a guide's is left.
pub(super) fn drawable(mut plot: LinePlot) -> Option<LinePlot> {
    let shows = |value: f64, is_log: bool| value.is_finite() && (!is_log || value > 0.0);
    let (log_x, log_y) = (plot.x.log, plot.y == YScale::Log);
    for series in &mut plot.series {
        series.points.retain(|&(x, y)| shows(x, log_x) && shows(y, log_y));
    }
    plot.series.retain(|series| !series.points.is_empty());
    if plot.x.names.is_empty() {
        plot.x.ticks.retain(|&tick| shows(tick, log_x));
    }
    plot.series.iter().any(|series| series.kind != SeriesKind::Guide).then_some(plot)
}

/// A line for every target; targets with the same values at the same levels share one.
fn target_series(
    study: &Study,
    scene: &str,
    value: impl Fn(&crate::records::Convergence) -> f64,
    keep: impl Fn(f64) -> bool,
) -> Vec<Series> {
    let mut merged: Vec<Series> = Vec::new();
    for (index, target) in study.targets().into_iter().enumerate() {
        let mut modes = Vec::new();
        let of_target = || study.convergences.iter().filter(|c| c.scene == scene && c.target == *target);
        of_target().for_each(|c| push_new(&mut modes, (c.mode, c.seed)));
        // One line a target: its first mode and seed; the tables have the others.
        let Some(first) = modes.first() else { continue };
        let points = of_target().filter(|c| (&c.mode, c.seed) == (&first.0, first.1));
        let points = points.map(|c| (f64::from(c.spp), value(c))).filter(|p| p.1.is_finite() && keep(p.1));
        add_merged(&mut merged, target.to_string(), SeriesKind::Target(index), points.collect());
    }
    merged
}

fn pair_series(study: &Study, scene: &str) -> Vec<Series> {
    let of_scene = || study.differences.iter().filter(|d| d.scene == scene);
    let mut pairs = Vec::new();
    of_scene().for_each(|d| push_new(&mut pairs, (&d.a, &d.b)));
    let mut merged = Vec::new();
    for (index, pair) in pairs.into_iter().enumerate() {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for d in of_scene().filter(|d| (&d.a, &d.b) == pair) {
            let usable = d.errors.mse_linear > 0.0 && d.errors.mse_linear.is_finite();
            let spp = f64::from(d.spp);
            if usable && points.iter().all(|p| p.0 != spp) {
                points.push((spp, d.errors.mse_linear));
            }
        }
        add_merged(&mut merged, format!("{} : {}", pair.0, pair.1), SeriesKind::Pair(index), points);
    }
    merged
}

/// Adds a line, or its name to that of a line with the same points.
pub(super) fn add_merged(
    merged: &mut Vec<Series>,
    label: String,
    kind: SeriesKind,
    mut points: Vec<(f64, f64)>,
) {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if points.is_empty() {
        return;
    }
    match merged.iter_mut().find(|s| s.points == points) {
        Some(same) => same.label = format!("{}\n{label}", same.label),
        None => merged.push(Series { label, kind, points }),
    }
}

fn guide(points: &[(f64, f64)]) -> Option<Series> {
    let (first, last) = (points.first()?, points.last()?);
    let at = |spp: f64| (spp, 0.5 * first.1 * first.0 / spp);
    (last.0 > first.0).then(|| Series {
        label: "1/N".to_owned(),
        kind: SeriesKind::Guide,
        points: vec![at(first.0), at(last.0)],
    })
}

/// The noise of the reference itself over these places, by which no error falls below it; nothing where it is below all
/// that is shown.
pub(super) fn floor(
    reference: Option<SceneReference>,
    places: &[f64],
    error: impl Fn(f64) -> f64,
) -> Option<Series> {
    let extent = |of: fn(f64, f64) -> f64| places.iter().copied().reduce(of);
    let (low, high) = (extent(f64::min)?, extent(f64::max)?);
    let noise = error(reference?.noise);
    Some(Series {
        label: "reference's noise".to_owned(),
        kind: SeriesKind::Guide,
        points: vec![(low, noise), (high, noise)],
    })
}

/// Time in each stage, end to end, for every scene and target.
pub(super) fn stage_plot(study: &Study) -> Option<BarPlot> {
    let times = stage_times(study);
    let names = stage_names(&times);
    let parts = |t: &StageTimes| -> Vec<Segment> {
        let parts = names.iter().enumerate().filter_map(|(part, name)| Some((part, t.ms(name)?)));
        parts.filter(|(_, ms)| ms.is_finite()).map(|(part, value)| Segment { part, value }).collect()
    };
    let total = |t: &StageTimes| parts(t).iter().map(|segment| segment.value).sum::<f64>();
    let totals: Vec<f64> = times.iter().map(total).collect();
    // A processor's bar beside a device's would leave nothing of the latter
    let in_shares = spans_decades(totals.iter().copied());
    let of_target = |(t, total): (&StageTimes, &f64)| {
        let unit = if in_shares { total.max(f64::MIN_POSITIVE) / 100.0 } else { 1.0 };
        let in_unit = |segment: Segment| Segment { value: segment.value / unit, ..segment };
        bar(t, parts(t).into_iter().map(in_unit).collect())
    };
    let bars: Vec<Bar> = times.iter().zip(&totals).map(of_target).collect();
    let ends = if in_shares { totals.iter().map(|&ms| duration(ms)).collect() } else { Vec::new() };
    has_length(&bars).then(|| BarPlot {
        title: format!(
            "{}{}",
            if in_shares { "Shares of time by stage" } else { "Time by stage" },
            up_to(&times)
        ),
        x_label: if in_shares { "% of the time of each target" } else { "milliseconds" }.to_owned(),
        parts: names,
        stacked: true,
        bars,
        ends,
    })
}

/// Million rays a second, over all time and over traversal alone, for every scene and target.
pub(super) fn rate_plot(study: &Study) -> Option<BarPlot> {
    let times = stage_times(study);
    let bars: Vec<Bar> = times
        .iter()
        .map(|t| {
            let rates = [t.mrays_inclusive(), t.mrays_exclusive()];
            let segments = rates.into_iter().enumerate().filter(|(_, rate)| rate.is_finite());
            bar(t, segments.map(|(part, value)| Segment { part, value }).collect())
        })
        .collect();
    has_length(&bars).then(|| BarPlot {
        title: format!("Ray throughput{}", up_to(&times)),
        x_label: "million rays a second".to_owned(),
        parts: vec!["inclusive, over all time".to_owned(), "exclusive, over traversal".to_owned()],
        stacked: false,
        bars,
        ends: Vec::new(),
    })
}

/// Whether the greatest positive value is more than [`MOST_RATIO`] times the least, whose bar would vanish on a linear axis.
pub(crate) fn spans_decades(values: impl Iterator<Item = f64>) -> bool {
    let (least, most) = values
        .filter(|value| *value > 0.0 && value.is_finite())
        .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| (least.min(value), most.max(value)));
    most > MOST_RATIO * least
}

/// The ratio of bars above which an axis is logarithmic.
const MOST_RATIO: f64 = 20.0;

/// Milliseconds in the unit that suits them.
fn duration(ms: f64) -> String {
    if ms < 1e4 { format!("{} ms", format::number(ms)) } else { format!("{} s", format::number(ms / 1e3)) }
}

fn bar(t: &StageTimes, segments: Vec<Segment>) -> Bar {
    Bar { group: t.scene.clone(), label: t.label.clone(), segments }
}

fn has_length(bars: &[Bar]) -> bool {
    bars.iter().flat_map(|b| &b.segments).any(|s| s.value > 0.0)
}

fn up_to(times: &[StageTimes]) -> String {
    let most = times.iter().map(|t| t.spp).max().unwrap_or(0);
    let least = times.iter().map(|t| t.spp).min().unwrap_or(0);
    if most == least {
        format!(", {} samples per pixel", format::count(u64::from(most)))
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Convergence, Difference, Environment, Errors, Record};

    fn convergence(target: &str, spp: u32, mse_linear: f64) -> Record {
        Convergence {
            scene: "s".into(),
            target: target.into(),
            spp,
            errors: Errors { mse_linear, ssim: 0.5, ..Default::default() },
            ..Default::default()
        }
        .into()
    }

    fn difference(b: &str, spp: u32, mse_linear: f64) -> Record {
        Difference {
            scene: "s".into(),
            a: "x".into(),
            b: b.into(),
            spp,
            errors: Errors { mse_linear, ..Default::default() },
            ..Default::default()
        }
        .into()
    }

    #[test]
    fn equal_lines_are_one_and_identical_pairs_none() {
        let records = vec![
            convergence("x", 4, 0.25),
            convergence("x", 1, 1.0),
            convergence("y", 1, 1.0),
            convergence("y", 4, 0.25),
            convergence("z", 1, 2.0),
            difference("y", 1, 0.0),
            difference("z", 1, 0.5),
        ];
        let plot = error_plot(&Study::from_records(records, Environment::default()), "s").unwrap();
        let labels: Vec<&str> = plot.series.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["x\ny", "z", "1/N", "x : z"]);
        assert_eq!(plot.series[0].points, [(1.0, 1.0), (4.0, 0.25)]);
        assert_eq!(plot.series[2].points, [(1.0, 0.5), (4.0, 0.125)]);
    }

    #[test]
    fn the_reference_s_noise_is_a_line_of_its_own() {
        let against = |spp, mse| match convergence("x", spp, mse) {
            Record::Convergence(c) => Convergence { against: "x, 12 spp, seed 7".into(), ..c }.into(),
            other => other,
        };
        let records = vec![against(1, 1.3), against(4, 0.4)];
        let plot = error_plot(&Study::from_records(records, Environment::default()), "s").unwrap();
        let floor = plot.series.iter().find(|series| series.label == "reference's noise").unwrap();
        assert_eq!((floor.kind, floor.points.len(), floor.points[0].1), (SeriesKind::Guide, 2, 0.1));
    }

    #[test]
    fn nothing_measured_means_no_plot() {
        let study = Study::from_records(vec![convergence("x", 1, 0.0)], Environment::default());
        assert_eq!(error_plot(&study, "s"), None);
        assert!(similarity_plot(&study, "s").is_some());
        assert_eq!((stage_plot(&study), rate_plot(&study)), (None, None));
    }
}
