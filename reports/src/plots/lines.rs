//! Drawing of lines.

use super::PlotError;
use super::data::{LinePlot, Series, SeriesKind, YScale};
use super::style::{
    GRID, GUIDE, INK, MUTED, Mark, PALETTE, UNITS, colour, draw_svg, one_line, text, text_width, with_marks,
};
use crate::format;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const WIDTH: i32 = 640;
const HEIGHT: i32 = 380;
const TOP: i32 = 34;
const BOTTOM: i32 = 48;
const LEFT: i32 = 66;
const TICK: i32 = 12;
const LABEL: i32 = 12;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Where values lie on the surface, in drawing units.
struct Frame {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    x: (f64, f64),
    log_x: bool,
    y: (f64, f64),
    log_y: bool,
}

impl Frame {
    fn new(plot: &LinePlot, right: i32) -> Self {
        let points = || plot.series.iter().flat_map(|s| &s.points);
        let scaled = |x: f64| if plot.x.log { x.log2() } else { x };
        let x = extent(points().map(|p| p.0).chain(plot.x.ticks.iter().copied()).map(scaled));
        let log_y = plot.y == YScale::Log;
        let y = extent(points().map(|p| if log_y { p.1.log10() } else { p.1 }));
        let pad = |(low, high): (f64, f64), share: f64, least: f64| {
            let by = ((high - low) * share).max(least);
            (low - by, high + by)
        };
        let y = match plot.y {
            YScale::Log => pad(y, 0.04, 0.1),
            YScale::UpToOne => (pad(y, 0.06, 0.005).0, pad(y, 0.06, 0.005).1.min(1.0)),
            YScale::Share => (0.0, 1.0),
            YScale::FromZero => (0.0, 1.06 * y.1),
        };
        Self {
            left: LEFT * UNITS,
            right: right * UNITS,
            top: TOP * UNITS,
            bottom: (HEIGHT - BOTTOM) * UNITS,
            x: pad(x, 0.03, 0.2),
            log_x: plot.x.log,
            y,
            log_y,
        }
    }

    fn x_of(&self, value: f64) -> i32 {
        let value = if self.log_x { value.log2() } else { value };
        let share = (value - self.x.0) / (self.x.1 - self.x.0);
        self.left + (share * f64::from(self.right - self.left)).round() as i32
    }

    fn y_of(&self, value: f64) -> i32 {
        let value = if self.log_y { value.log10() } else { value };
        let share = (value - self.y.0) / (self.y.1 - self.y.0);
        self.bottom - (share * f64::from(self.bottom - self.top)).round() as i32
    }

    fn place(&self, point: &(f64, f64)) -> (i32, i32) {
        (self.x_of(point.0), self.y_of(point.1))
    }
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

pub(super) fn draw(plot: &LinePlot) -> Result<String, PlotError> {
    let names = plot.series.iter().flat_map(|s| s.label.lines());
    let widest = names.map(|name| text_width("= ", LABEL) + text_width(name, LABEL)).max().unwrap_or(0);
    let right = WIDTH - (widest + 18).clamp(40, WIDTH / 2);
    let frame = Frame::new(plot, right);
    let svg = draw_svg(&plot.title, (WIDTH, HEIGHT), |area| {
        draw_axes(area, plot, &frame).map_err(|e| e.to_string())?;
        // Guides lie below; a line upon an earlier one is broken, so that both are seen.
        for (i, series) in plot.series.iter().enumerate().rev() {
            let below = plot.series.iter().skip(i + 1);
            let covered = below.filter(|s| coincide(s, series, &frame)).count();
            draw_series(area, series, covered, &frame).map_err(|e| e.to_string())?;
        }
        draw_labels(area, &plot.series, &frame).map_err(|e| e.to_string())
    })?;
    Ok(with_marks(&svg, &marks(plot, &frame)))
}

/// Every point of a target or pair, with a margin that a pointer can hit.
fn marks(plot: &LinePlot, frame: &Frame) -> Vec<Mark> {
    const REACH: i32 = 10 * UNITS;
    let of_series = |series: &Series| -> Vec<Mark> {
        let name = series.label.lines().collect::<Vec<_>>().join(" = ");
        let mark = |point: &(f64, f64)| {
            let (x, y) = frame.place(point);
            let (at, unit) = (place_text(plot, point.0), &plot.x.unit);
            let says = format!("{name} at {at} {unit}: {}", format::number(point.1));
            Mark { place: (x - REACH, y - REACH, x + REACH, y + REACH), round: true, says }
        };
        series.points.iter().map(mark).collect()
    };
    plot.series.iter().filter(|s| s.kind != SeriesKind::Guide).flat_map(of_series).collect()
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_axes(area: &Area, plot: &LinePlot, frame: &Frame) -> Drawn {
    let thin = |c: RGBColor| c.stroke_width(UNITS as u32);
    for value in y_ticks(frame) {
        let y = frame.y_of(value);
        area.draw(&PathElement::new([(frame.left, y), (frame.right, y)], thin(GRID)))?;
        let label = text(TICK, MUTED, HPos::Right, VPos::Center);
        area.draw(&Text::new(tick_label(value, frame), (frame.left - 8 * UNITS, y), label))?;
    }
    let named = mark_every(plot, frame);
    for (i, &value) in plot.x.ticks.iter().enumerate() {
        let x = frame.x_of(value);
        area.draw(&PathElement::new([(x, frame.bottom), (x, frame.bottom + 4 * UNITS)], thin(MUTED)))?;
        let label = text(TICK, MUTED, HPos::Center, VPos::Top);
        if i % named == 0 {
            area.draw(&Text::new(place_text(plot, value), (x, frame.bottom + 7 * UNITS), label))?;
        }
    }
    area.draw(&PathElement::new([(frame.left, frame.bottom), (frame.right, frame.bottom)], thin(MUTED)))?;
    let middle = (frame.left + frame.right) / 2;
    let x_title = text(TICK, MUTED, HPos::Center, VPos::Bottom);
    area.draw(&Text::new(plot.x.label.clone(), (middle, (HEIGHT - 4) * UNITS), x_title))?;
    let y_title = text(TICK, MUTED, HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
    area.draw(&Text::new(plot.y_label.clone(), (UNITS, (frame.top + frame.bottom) / 2), y_title))
}

/// Whether two lines cannot be told apart where both have points.
fn coincide(a: &Series, b: &Series, frame: &Frame) -> bool {
    let is_target = |s: &Series| matches!(s.kind, SeriesKind::Target(_));
    let near = |p: &(f64, f64), q: &(f64, f64)| (frame.y_of(p.1) - frame.y_of(q.1)).abs() <= 3 * UNITS;
    let mut shared =
        a.points.iter().filter_map(|p| b.points.iter().find(|q| q.0 == p.0).map(|q| near(p, q))).peekable();
    is_target(a) && is_target(b) && shared.peek().is_some() && shared.all(|is_near| is_near)
}

/// Draws a line and its points; one that covers others is broken, the more so the more it covers.
fn draw_series(area: &Area, series: &Series, covered: usize, frame: &Frame) -> Drawn {
    let places: Vec<(i32, i32)> = series.points.iter().map(|p| frame.place(p)).collect();
    let tint = tint(series.kind);
    let is_target = matches!(series.kind, SeriesKind::Target(_));
    let style = tint.stroke_width(if is_target { 2 * UNITS as u32 } else { UNITS as u32 });
    if covered == 0 {
        area.draw(&PathElement::new(places.clone(), style))?;
    } else {
        let gap = 9 * UNITS * covered as i32;
        area.draw(&DashedPathElement::new(places.clone(), 9 * UNITS, gap, style))?;
    }
    for place in places {
        match series.kind {
            SeriesKind::Guide => {}
            SeriesKind::Target(_) => {
                let radius = (4 * UNITS - UNITS * covered as i32 * 3 / 2).max(UNITS);
                area.draw(&Circle::new(place, radius, tint.filled()))?;
            }
            SeriesKind::Pair(_) | SeriesKind::Mean(_) => {
                let (x, y) = place;
                let r = 3 * UNITS + 2;
                let diamond = [(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
                area.draw(&Polygon::new(diamond, tint.filled()))?;
            }
        }
    }
    Ok(())
}

fn tint(kind: SeriesKind) -> RGBColor {
    match kind {
        SeriesKind::Target(index) | SeriesKind::Mean(index) => colour(index),
        // The second half of the palette, so that few targets and few pairs share no colour.
        SeriesKind::Pair(index) => colour(PALETTE.len() / 2 + index),
        SeriesKind::Guide => GUIDE,
    }
}

/// Writes each name beside the end of its line, moved apart where they would overlap.
fn draw_labels(area: &Area, series: &[Series], frame: &Frame) -> Drawn {
    let line = (LABEL + 4) * UNITS;
    let named = series.iter().filter(|s| !s.label.is_empty());
    let mut blocks: Vec<(i32, i32, &Series)> = named
        .filter_map(|s| {
            let height = line * s.label.lines().count().max(1) as i32;
            Some((frame.place(s.points.last()?).1 - height / 2, height, s))
        })
        .collect();
    blocks.sort_by_key(|block| block.0);
    let mut free = frame.top - line / 2;
    for block in &mut blocks {
        block.0 = block.0.max(free);
        free = block.0 + block.1;
    }
    let mut limit = frame.bottom + line / 2;
    for block in blocks.iter_mut().rev() {
        block.0 = block.0.min(limit - block.1);
        limit = block.0;
    }
    for (top, _, series) in blocks {
        let tint = if series.kind == SeriesKind::Guide { MUTED } else { tint(series.kind) };
        for (i, name) in series.label.lines().enumerate() {
            let style = text(LABEL, if i == 0 { tint } else { INK }, HPos::Left, VPos::Center);
            let y = top + line / 2 + line * i as i32;
            let name = if i == 0 { one_line(name) } else { format!("= {}", one_line(name)) };
            area.draw(&Text::new(name, (frame.right + 10 * UNITS, y), style))?;
        }
    }
    Ok(())
}

/// The text at a place of the horizontal axis: its mark's name, or its number.
fn place_text(plot: &LinePlot, value: f64) -> String {
    plot.x.text_at(value).map_or_else(|| x_text(value), str::to_owned)
}

/// Every how many marks one has a name, so that names do not overlap. Numbers always fit.
fn mark_every(plot: &LinePlot, frame: &Frame) -> usize {
    let widest = plot.x.names.iter().map(|name| text_width(name, TICK) + 8).max().unwrap_or(0) * UNITS;
    let room = (frame.right - frame.left).max(1);
    (widest * plot.x.names.len() as i32).div_euclid(room) as usize + 1
}

/// A number on the horizontal axis: round ones as they are, whole thousands and millions in short.
fn x_text(value: f64) -> String {
    for (least, unit, name) in [(1e6, 1e6, "M"), (1e4, 1e3, "k")] {
        if value >= least && value % unit == 0.0 {
            return format!("{}{name}", value / unit);
        }
    }
    let plain = format!("{value}");
    if plain.len() <= 6 { plain } else { format::number(value) }
}

fn y_ticks(frame: &Frame) -> Vec<f64> {
    let (low, high) = frame.y;
    if !(low.is_finite() && high.is_finite()) {
        return Vec::new();
    }
    if !frame.log_y {
        let step = nice_step(high - low, 5.0);
        // Values that are all zero leave no span to cut.
        if !(step.is_finite() && low + step > low) {
            return vec![low];
        }
        let first = (low / step).ceil() as i64;
        return (first..).map(|i| i as f64 * step).take_while(|v| *v <= high + step * 1e-9).collect();
    }
    let factors: &[f64] = match high - low {
        span if span < 0.5 => &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        span if span < 1.2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let decades = (low.floor() as i32)..=(high.ceil() as i32);
    let every = ((high - low) / 7.0).ceil().max(1.0) as i32;
    decades
        .filter(|decade| decade % every == 0)
        .flat_map(|decade| factors.iter().map(move |f| f * 10f64.powi(decade)))
        .filter(|v| (low..=high).contains(&v.log10()))
        .collect()
}

/// The step 1, 2 or 5 times a power of ten that cuts `span` into about `parts`.
pub(super) fn nice_step(span: f64, parts: f64) -> f64 {
    let raw = span / parts;
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= raw * 0.999).unwrap_or(10.0);
    factor * power
}

fn tick_label(value: f64, frame: &Frame) -> String {
    if frame.log_y {
        let exponent = value.log10().floor() as i32;
        let is_power = (value.log10() - value.log10().round()).abs() < 1e-9;
        if is_power {
            power_of_ten(value.log10().round() as i32)
        } else if (-2..=3).contains(&exponent) {
            format!("{}", (value * 1e4).round() / 1e4)
        } else {
            format!("{}×{}", (value / 10f64.powi(exponent) * 10.0).round() / 10.0, power_of_ten(exponent))
        }
    } else {
        let decimals = (-nice_step(frame.y.1 - frame.y.0, 5.0).log10().floor()).max(0.0) as usize;
        format::fixed(value, decimals)
    }
}

fn power_of_ten(exponent: i32) -> String {
    if (-2..=3).contains(&exponent) {
        return format!("{}", 10f64.powi(exponent));
    }
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = exponent.unsigned_abs().to_string();
    let raised = raised.chars().filter_map(|c| c.to_digit(10)).map(|d| digits[d as usize]);
    format!("10{}{}", if exponent < 0 { "⁻" } else { "" }, raised.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(ticks: &[f64]) -> super::super::data::XAxis {
        let (label, unit) = ("x".to_owned(), "u".to_owned());
        super::super::data::XAxis { label, unit, log: true, ticks: ticks.to_vec(), names: Vec::new() }
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(nice_step(1.0, 5.0), 0.2);
        assert_eq!(nice_step(0.9, 5.0), 0.2);
        assert_eq!(nice_step(40.0, 5.0), 10.0);
        assert_eq!(
            (power_of_ten(-5), power_of_ten(0), power_of_ten(-1)),
            ("10⁻⁵".into(), "1".into(), "0.1".into())
        );
    }

    #[test]
    fn whole_thousands_and_millions_are_written_in_short() {
        let values = [512.0, 1000.0, 10_000.0, 65_536.0, 300_000.0, 1_000_000.0, 10_000_000.0];
        assert_eq!(values.map(x_text), ["512", "1000", "10k", "65536", "300k", "1M", "10M"]);
    }

    #[test]
    fn a_narrow_logarithmic_axis_is_marked_and_its_marks_are_written_as_they_are() {
        let plot = |values: [f64; 2]| LinePlot {
            title: "t".into(),
            x: axis(&[1.0, 2.0]),
            y_label: "y".into(),
            y: YScale::Log,
            series: vec![Series {
                label: "a".into(),
                kind: SeriesKind::Target(0),
                points: vec![(1.0, values[0]), (2.0, values[1])],
            }],
        };
        let marks = |values| {
            let frame = Frame::new(&plot(values), 500);
            y_ticks(&frame).into_iter().map(|value| tick_label(value, &frame)).collect::<Vec<_>>()
        };
        assert_eq!(marks([0.024, 0.026]), ["0.02", "0.025", "0.03"]);
        assert_eq!(marks([2.4e-5, 2.6e-5]), ["2×10⁻⁵", "2.5×10⁻⁵", "3×10⁻⁵"]);
        assert_eq!(marks([1.0, 4.0]), ["1", "2", "5"]);
    }

    #[test]
    fn names_in_a_drawing_cannot_break_out_of_it() {
        let plot = LinePlot {
            title: "</svg><script>alert(1)</script>".into(),
            x: axis(&[1.0, 2.0]),
            y_label: "y".into(),
            y: YScale::Log,
            series: vec![Series {
                label: "<b>&\"".into(),
                kind: SeriesKind::Target(0),
                points: vec![(1.0, 1.0), (2.0, 0.5)],
            }],
        };
        let svg = draw(&plot).unwrap();
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
        assert_eq!(svg.matches("</svg>").count(), 1);
    }

    #[test]
    fn a_single_point_is_drawn_inside_the_frame() {
        let plot = LinePlot {
            title: "one".into(),
            x: axis(&[16.0]),
            y_label: "y".into(),
            y: YScale::UpToOne,
            series: vec![Series {
                label: "a".into(),
                kind: SeriesKind::Target(0),
                points: vec![(16.0, 0.25)],
            }],
        };
        let frame = Frame::new(&plot, 500);
        let (x, y) = frame.place(&(16.0, 0.25));
        assert!((frame.left..frame.right).contains(&x) && (frame.top..frame.bottom).contains(&y));
        assert!(draw(&plot).is_ok());
    }
}
