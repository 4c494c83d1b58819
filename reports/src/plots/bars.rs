//! Drawing of horizontal bars.

use super::PlotError;
use super::data::{Bar, BarPlot, Segment};
use super::style::rows::{Area, Axis, BOTTOM, Drawn, LABEL, LEGEND_TOP, TOP, WIDTH};
use super::style::{INK, MUTED, Mark, UNITS, colour, draw_svg, one_line, text, text_width, with_marks};
use crate::format;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const THICK: i32 = 16;
const THIN: i32 = 14;
const GAP: i32 = 8;
const GROUP_HEAD: i32 = 24;
/// Room for the number at the end of a bar.
const NUMBER: i32 = 58;

/// Left, upper, right and lower edge, in drawing units.
type Edges = (i32, i32, i32, i32);

/// Where bars lie, in pixels.
struct Layout {
    left: i32,
    right: i32,
    bottom: i32,
    longest: f64,
    /// For each bar its upper edge, and the heading above it if it starts a group.
    places: Vec<(i32, Option<i32>)>,
}

impl Layout {
    fn new(plot: &BarPlot) -> Self {
        let widest = plot.bars.iter().map(|b| text_width(&b.label, LABEL)).max().unwrap_or(0);
        let left = (widest + 12).clamp(40, WIDTH / 2);
        let height = if plot.stacked { THICK } else { THIN * plot.parts.len() as i32 };
        let mut y = TOP;
        let mut places = Vec::new();
        for (i, bar) in plot.bars.iter().enumerate() {
            let starts = i == 0 || plot.bars[i - 1].group != bar.group;
            let heading = starts.then_some(y);
            y += if starts { GROUP_HEAD } else { 0 };
            places.push((y, heading));
            y += height + GAP;
        }
        let longest = plot.bars.iter().map(|bar| length(plot, bar)).fold(f64::MIN_POSITIVE, f64::max);
        Self { left, right: WIDTH - NUMBER, bottom: y, longest, places }
    }

    fn axis<'a>(&self, label: &'a str) -> Axis<'a> {
        let Self { left, right, bottom, longest, .. } = *self;
        Axis { label, longest, left, right, bottom }
    }

    fn x_of(&self, value: f64) -> i32 {
        self.axis("").x_of(value)
    }
}

fn length(plot: &BarPlot, bar: &Bar) -> f64 {
    let values = bar.segments.iter().map(|s| s.value);
    if plot.stacked { values.sum() } else { values.fold(0.0, f64::max) }
}

pub(super) fn draw(plot: &BarPlot) -> Result<String, PlotError> {
    let layout = Layout::new(plot);
    let svg = draw_svg(&plot.title, (WIDTH, layout.bottom + BOTTOM), |area| {
        let painted =
            draw_legend(area, plot).and_then(|()| layout.axis(&plot.x_label).draw(area)).and_then(|()| {
                plot.bars
                    .iter()
                    .zip(&layout.places)
                    .try_for_each(|(b, p)| draw_bar(area, plot, b, *p, &layout))
            });
        painted.map_err(|e| e.to_string())
    })?;
    Ok(with_marks(&svg, &marks(plot, &layout)))
}

/// Every part of every bar.
fn marks(plot: &BarPlot, layout: &Layout) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (bar, (top, _)) in plot.bars.iter().zip(&layout.places) {
        for (segment, (left, top, right, bottom)) in rectangles(plot, bar, *top, layout) {
            let part = plot.parts.get(segment.part).map_or("", String::as_str);
            let value = format::number(segment.value);
            let says = format!("{}, {}: {part} {value} ({})", bar.group, bar.label, plot.x_label);
            marks.push(Mark { place: (left, top, right, bottom), round: false, says });
        }
    }
    marks
}

/// The rectangles of a bar's parts.
fn rectangles<'a>(plot: &BarPlot, bar: &'a Bar, top: i32, layout: &Layout) -> Vec<(&'a Segment, Edges)> {
    let mut from = 0.0;
    let place = |segment: &'a Segment| {
        let start = if plot.stacked { from } else { 0.0 };
        let y = if plot.stacked { top } else { top + THIN * segment.part as i32 };
        let thick = if plot.stacked { THICK } else { THIN - 1 };
        from += segment.value;
        let (left, right) = (layout.x_of(start), layout.x_of(start + segment.value));
        (segment, (left, y * UNITS, right, (y + thick) * UNITS))
    };
    bar.segments.iter().map(place).collect()
}

fn draw_legend(area: &Area, plot: &BarPlot) -> Drawn {
    let mut x = 0;
    for (i, part) in plot.parts.iter().enumerate() {
        let square = [(x * UNITS, LEGEND_TOP * UNITS), ((x + 11) * UNITS, (LEGEND_TOP + 11) * UNITS)];
        area.draw(&Rectangle::new(square, part_colour(plot, i).filled()))?;
        let style = text(LABEL, INK, HPos::Left, VPos::Center);
        area.draw(&Text::new(part.clone(), ((x + 16) * UNITS, LEGEND_TOP * UNITS + 22), style))?;
        x += 16 + text_width(part, LABEL) + 18;
    }
    Ok(())
}

/// Stages have a colour each, the last, what is left over, a grey one.
fn part_colour(plot: &BarPlot, part: usize) -> RGBColor {
    if plot.stacked && part + 1 == plot.parts.len() { MUTED } else { colour(part) }
}

fn draw_bar(
    area: &Area,
    plot: &BarPlot,
    bar: &Bar,
    (top, heading): (i32, Option<i32>),
    layout: &Layout,
) -> Drawn {
    if let Some(y) = heading {
        let style = text(13, INK, HPos::Left, VPos::Center);
        area.draw(&Text::new(one_line(&bar.group), (0, (y + 11) * UNITS), style))?;
    }
    let height = if plot.stacked { THICK } else { THIN * plot.parts.len() as i32 };
    let name = text(LABEL, MUTED, HPos::Right, VPos::Center);
    let at = ((layout.left - 8) * UNITS, (top * 2 + height) * UNITS / 2);
    area.draw(&Text::new(one_line(&bar.label), at, name))?;
    for (segment, (left, upper, right, lower)) in rectangles(plot, bar, top, layout) {
        let corners = [(left, upper), (right, lower)];
        area.draw(&Rectangle::new(corners, part_colour(plot, segment.part).filled()))?;
        if !plot.stacked {
            draw_number(area, segment.value, upper / UNITS, THIN - 1, layout)?;
        }
    }
    let total = bar.segments.iter().map(|s| s.value).sum();
    if plot.stacked { draw_number(area, total, top, THICK, layout) } else { Ok(()) }
}

fn draw_number(area: &Area, value: f64, top: i32, height: i32, layout: &Layout) -> Drawn {
    let size = LABEL.min(height);
    let style = text(size, INK, HPos::Left, VPos::Center);
    let at = (layout.x_of(value) + 5 * UNITS, (top * 2 + height) * UNITS / 2);
    area.draw(&Text::new(format::number(value), at, style))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_reaches_the_right_edge_and_groups_have_headings() {
        let bar = |group: &str, a: f64, b: f64| Bar {
            group: group.into(),
            label: "cpu".into(),
            segments: vec![Segment { part: 0, value: a }, Segment { part: 1, value: b }],
        };
        let plot = BarPlot {
            title: "t".into(),
            x_label: "ms".into(),
            parts: vec!["a".into(), "b".into()],
            stacked: true,
            bars: vec![bar("s", 1.0, 2.0), bar("s", 4.0, 4.0), bar("t", 0.0, 1.0)],
        };
        let layout = Layout::new(&plot);
        assert_eq!(layout.x_of(8.0), layout.right * UNITS);
        let headings: Vec<bool> = layout.places.iter().map(|p| p.1.is_some()).collect();
        assert_eq!(headings, [true, false, true]);
        assert!(draw(&plot).unwrap().contains("</svg>"));
    }
}
