//! Drawing of horizontal bars.

use super::PlotError;
use super::data::{Bar, BarPlot, Segment, spans_decades};
use super::style::rows::{Area, Axis, BOTTOM, Drawn, LABEL, LEGEND_TOP, TOP, WIDTH};
use super::style::{
    INK, MUTED, Mark, PALETTE, UNITS, colour, draw_svg, one_line, text, text_width, with_marks,
};
use crate::format;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const THICK: i32 = 16;
const THIN: i32 = 14;
const GAP: i32 = 8;
const GROUP_HEAD: i32 = 24;
/// From one row of the legend to the next.
const LEGEND_ROW: i32 = 18;
/// Colours of stacked parts beyond those of the palette, dark and light enough for either page.
const MORE: [RGBColor; 2] = [RGBColor(0x82, 0x50, 0xdf), RGBColor(0x9a, 0x63, 0x24)];
/// Room for the number at the end of a bar.
const NUMBER: i32 = 58;

/// Left, upper, right and lower edge, in drawing units.
type Edges = (i32, i32, i32, i32);

/// Where bars lie, in pixels.
struct Layout {
    left: i32,
    right: i32,
    bottom: i32,
    /// The value at the left edge of a logarithmic axis.
    least: Option<f64>,
    longest: f64,
    /// For each bar its upper edge, and the heading above it if it starts a group.
    places: Vec<(i32, Option<i32>)>,
}

impl Layout {
    fn new(plot: &BarPlot) -> Self {
        let widest = plot.bars.iter().map(|b| text_width(&b.label, LABEL)).max().unwrap_or(0);
        let left = (widest + 12).clamp(40, WIDTH / 2);
        let height = if plot.stacked { THICK } else { THIN * plot.parts.len() as i32 };
        let mut y = TOP + legend(plot).last().map_or(0, |(_, top)| top - LEGEND_TOP);
        let mut places = Vec::new();
        for (i, bar) in plot.bars.iter().enumerate() {
            let starts = i == 0 || plot.bars[i - 1].group != bar.group;
            let heading = starts.then_some(y);
            y += if starts { GROUP_HEAD } else { 0 };
            places.push((y, heading));
            y += height + GAP;
        }
        let longest = plot.bars.iter().map(|bar| length(plot, bar)).fold(f64::MIN_POSITIVE, f64::max);
        let least = least_decade(plot);
        let widest = plot.ends.iter().map(|end| text_width(end, LABEL) + 5).max().unwrap_or(0);
        Self { left, right: WIDTH - widest.max(NUMBER), bottom: y, least, longest, places }
    }

    fn axis<'a>(&self, label: &'a str) -> Axis<'a> {
        let Self { left, right, bottom, least, longest, .. } = *self;
        Axis { label, least, longest, left, right, bottom }
    }

    fn x_of(&self, value: f64) -> i32 {
        self.axis("").x_of(value)
    }
}

/// The decade below the least bar of a plot that is too uneven for a linear axis. Stacked parts have none, since their
/// lengths would not add up.
fn least_decade(plot: &BarPlot) -> Option<f64> {
    let values = plot.bars.iter().flat_map(|bar| &bar.segments).map(|segment| segment.value);
    let positive = values.filter(|value| *value > 0.0);
    let least = positive.clone().reduce(f64::min).filter(|_| !plot.stacked && spans_decades(positive))?;
    // Half a decade, at least, is left for the least bar
    Some(10f64.powf((least.log10() - 0.3).floor()))
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
                let mut bars = plot.bars.iter().zip(&layout.places).enumerate();
                let end = |i: usize| plot.ends.get(i).map(String::as_str);
                bars.try_for_each(|(i, (b, p))| draw_bar(area, plot, (b, end(i)), *p, &layout))
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

/// Left and upper edge of each part's square in the legend, in pixels. Parts that the width has no room for go on below.
fn legend(plot: &BarPlot) -> Vec<(i32, i32)> {
    let (mut x, mut top) = (0, LEGEND_TOP);
    let place = |part: &String| {
        let width = 16 + text_width(part, LABEL);
        if x > 0 && x + width > WIDTH {
            (x, top) = (0, top + LEGEND_ROW);
        }
        let place = (x, top);
        x += width + 18;
        place
    };
    plot.parts.iter().map(place).collect()
}

fn draw_legend(area: &Area, plot: &BarPlot) -> Drawn {
    for (i, (part, (x, top))) in plot.parts.iter().zip(legend(plot)).enumerate() {
        let square = [(x * UNITS, top * UNITS), ((x + 11) * UNITS, (top + 11) * UNITS)];
        area.draw(&Rectangle::new(square, part_colour(plot, i).filled()))?;
        let style = text(LABEL, INK, HPos::Left, VPos::Center);
        area.draw(&Text::new(part.clone(), ((x + 16) * UNITS, top * UNITS + 22), style))?;
    }
    Ok(())
}

/// Stages have a colour each, the last, what is left over, a grey one.
fn part_colour(plot: &BarPlot, part: usize) -> RGBColor {
    if !plot.stacked {
        return colour(part);
    }
    if part + 1 == plot.parts.len() {
        return MUTED;
    }
    part.checked_sub(PALETTE.len()).and_then(|more| MORE.get(more)).copied().unwrap_or_else(|| colour(part))
}

fn draw_bar(
    area: &Area,
    plot: &BarPlot,
    (bar, end): (&Bar, Option<&str>),
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
            let number = format::number(segment.value);
            draw_end(area, number, layout.x_of(segment.value), (upper / UNITS, THIN - 1))?;
        }
    }
    if !plot.stacked {
        return Ok(());
    }
    let total = bar.segments.iter().map(|s| s.value).sum();
    let end = end.map_or_else(|| format::number(total), str::to_owned);
    draw_end(area, end, layout.x_of(total), (top, THICK))
}

/// Writes a text behind the end of a bar.
fn draw_end(area: &Area, end: String, x: i32, (top, height): (i32, i32)) -> Drawn {
    let style = text(LABEL.min(height), INK, HPos::Left, VPos::Center);
    area.draw(&Text::new(end, (x + 5 * UNITS, (top * 2 + height) * UNITS / 2), style))
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
            ends: Vec::new(),
        };
        let layout = Layout::new(&plot);
        assert_eq!(layout.x_of(8.0), layout.right * UNITS);
        let headings: Vec<bool> = layout.places.iter().map(|p| p.1.is_some()).collect();
        assert_eq!(headings, [true, false, true]);
        assert!(draw(&plot).unwrap().contains("</svg>"));
    }

    #[test]
    fn bars_of_a_processor_and_a_device_are_on_a_logarithmic_axis_and_stacked_ones_never() {
        let bar = |value: f64| {
            let segments = vec![Segment { part: 0, value }];
            Bar { group: "s".into(), label: "t".into(), segments }
        };
        let layout = |stacked: bool, values: [f64; 2]| {
            let (title, x_label, parts) = ("t".into(), "rays".into(), vec!["a".into()]);
            let bars = values.map(bar).to_vec();
            Layout::new(&BarPlot { title, x_label, parts, stacked, bars, ends: Vec::new() })
        };
        let uneven = layout(false, [7.75, 6071.0]);
        let [low, middle, high] = [7.75, 217.0, 6071.0].map(|value| uneven.x_of(value));
        assert_eq!((uneven.least, high), (Some(1.0), uneven.right * UNITS));
        assert!(
            low > uneven.left * UNITS + 100 && (2 * middle - low - high).abs() < 8,
            "{low} {middle} {high}"
        );
        assert_eq!(layout(false, [7.75, 100.0]).least, None);
        assert_eq!(layout(true, [7.75, 6071.0]).least, None);
        assert_eq!(layout(false, [0.0, 5.0]).x_of(0.0), layout(false, [0.0, 5.0]).left * UNITS);
    }

    #[test]
    fn a_legend_that_is_too_wide_goes_on_below_and_no_two_stages_share_a_colour() {
        let parts = [
            "generate",
            "extend",
            "shade",
            "connect",
            "light paths",
            "photon map",
            "camera paths",
            "merge",
            "other",
        ];
        let (title, x_label) = ("t".to_owned(), "ms".to_owned());
        let bars = vec![Bar { group: "s".into(), label: "t".into(), segments: Vec::new() }];
        let parts = parts.map(str::to_owned).to_vec();
        let plot = BarPlot { title, x_label, parts, stacked: true, bars, ends: Vec::new() };
        let places = legend(&plot);
        let ends = places.iter().zip(&plot.parts).map(|((x, _), part)| x + 16 + text_width(part, LABEL));
        assert!(ends.max() <= Some(WIDTH));
        let (_, top) = places[8];
        assert_eq!((top, Layout::new(&plot).places[0].1), (LEGEND_TOP + LEGEND_ROW, Some(TOP + LEGEND_ROW)));
        let colours: std::collections::HashSet<_> =
            (0..9).map(|part| part_colour(&plot, part).rgb()).collect();
        assert_eq!(colours.len(), 9);
    }
}
