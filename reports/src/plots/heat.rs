//! Drawing of heat maps: ratios as colours, with the number in every cell.

use super::PlotError;
use super::style::{INK, MUTED, Mark, UNITS, draw_svg, one_line, text, text_width, with_marks};
use crate::format;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HeatCell {
    /// How many times the least it is; 1 or more.
    Ratio(f64),
    /// The device refused it.
    Refused,
    /// Not measured.
    Nothing,
}

/// One grid.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeatPanel {
    /// The target.
    pub(super) heading: String,
    /// Names of the rows.
    pub(super) rows: Vec<String>,
    /// Names of the columns.
    pub(super) columns: Vec<String>,
    /// The cells, row by row.
    pub(super) cells: Vec<Vec<HeatCell>>,
}

/// Several grids, one below another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeatMap {
    /// Heading.
    pub(super) title: String,
    /// The title of the columns.
    pub(super) columns_mean: String,
    /// The grids.
    pub(super) panels: Vec<HeatPanel>,
}

const WIDTH: i32 = 640;
const TOP: i32 = 30;
const HEAD: i32 = 26;
const ROW: i32 = 24;
const FOOT: i32 = 22;
const GAP: i32 = 14;
const LABEL: i32 = 12;

/// A ratio from here on has the last colour: three times the least.
const DARKEST: f64 = 3.0;

/// The colour of the least, and of [`DARKEST`]: of one hue, so that the order is seen with any colour vision.
const ENDS: [[f64; 3]; 2] = [[222.0, 235.0, 247.0], [8.0, 69.0, 148.0]];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Where the cells of a panel lie, in pixels.
struct Layout {
    left: i32,
    top: i32,
    cell: i32,
}

impl Layout {
    /// The layouts of all panels, and the height of the drawing.
    fn all(map: &HeatMap) -> (Vec<Self>, i32) {
        let labels = map.panels.iter().flat_map(|panel| &panel.rows);
        let widest = labels.map(|row| text_width(row, LABEL)).max().unwrap_or(0);
        let left = (widest + 12).clamp(40, WIDTH / 2);
        let mut top = TOP;
        let mut layouts = Vec::new();
        for panel in &map.panels {
            let cell = (WIDTH - left) / panel.columns.len().max(1) as i32;
            layouts.push(Self { left, top: top + HEAD, cell });
            top += HEAD + ROW * panel.rows.len() as i32 + FOOT + GAP;
        }
        (layouts, top + FOOT)
    }

    /// Left, upper, right and lower edge of a cell, in drawing units.
    fn edges(&self, row: usize, column: usize) -> (i32, i32, i32, i32) {
        let (x, y) = (self.left + self.cell * column as i32, self.top + ROW * row as i32);
        (x * UNITS, y * UNITS, (x + self.cell - 2) * UNITS, (y + ROW - 2) * UNITS)
    }
}

pub(super) fn draw(map: &HeatMap) -> Result<String, PlotError> {
    let (layouts, height) = Layout::all(map);
    let svg = draw_svg(&map.title, (WIDTH, height), |area| {
        let panels = map.panels.iter().zip(&layouts);
        let painted = panels.into_iter().try_for_each(|(panel, layout)| draw_panel(area, panel, layout));
        let left = layouts.first().map_or(0, |layout| layout.left);
        let style = text(LABEL, MUTED, HPos::Center, VPos::Bottom);
        let at = ((left + WIDTH) / 2 * UNITS, (height - 3) * UNITS);
        let painted = painted.and_then(|()| area.draw(&Text::new(map.columns_mean.clone(), at, style)));
        painted.map_err(|e| e.to_string())
    })?;
    Ok(with_marks(&svg, &marks(map, &layouts)))
}

fn marks(map: &HeatMap, layouts: &[Layout]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (panel, layout) in map.panels.iter().zip(layouts) {
        for (i, row) in panel.cells.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let said = match cell {
                    HeatCell::Ratio(ratio) => format!("{} times the least", format::fixed(*ratio, 2)),
                    HeatCell::Refused => "refused".to_owned(),
                    HeatCell::Nothing => continue,
                };
                let says = format!("{}, {}, {}: {said}", panel.heading, panel.rows[i], panel.columns[j]);
                marks.push(Mark { place: layout.edges(i, j), round: false, says });
            }
        }
    }
    marks
}

fn draw_panel(area: &Area, panel: &HeatPanel, layout: &Layout) -> Drawn {
    let heading = text(13, INK, HPos::Left, VPos::Center);
    area.draw(&Text::new(one_line(&panel.heading), (0, (layout.top - HEAD / 2) * UNITS), heading))?;
    for (i, (name, cells)) in panel.rows.iter().zip(&panel.cells).enumerate() {
        let style = text(LABEL, MUTED, HPos::Right, VPos::Center);
        let (_, upper, _, lower) = layout.edges(i, 0);
        area.draw(&Text::new(one_line(name), ((layout.left - 8) * UNITS, (upper + lower) / 2), style))?;
        cells.iter().enumerate().try_for_each(|(j, cell)| draw_cell(area, *cell, layout.edges(i, j)))?;
    }
    for (j, name) in panel.columns.iter().enumerate() {
        let (left, _, right, lower) = layout.edges(panel.rows.len().saturating_sub(1), j);
        let style = text(LABEL, MUTED, HPos::Center, VPos::Top);
        area.draw(&Text::new(name.clone(), ((left + right) / 2, lower + 5 * UNITS), style))?;
    }
    Ok(())
}

fn draw_cell(area: &Area, cell: HeatCell, (left, upper, right, lower): (i32, i32, i32, i32)) -> Drawn {
    let middle = ((left + right) / 2, (upper + lower) / 2);
    let words = |colour| text(LABEL, colour, HPos::Center, VPos::Center);
    match cell {
        HeatCell::Nothing => Ok(()),
        HeatCell::Refused => area.draw(&Text::new("refused", middle, words(MUTED))),
        HeatCell::Ratio(ratio) => {
            area.draw(&Rectangle::new([(left, upper), (right, lower)], colour(ratio).filled()))?;
            area.draw(&Text::new(format::fixed(ratio, 2), middle, words(ink(ratio))))
        }
    }
}

/// How far a ratio lies between the least and [`DARKEST`], by its logarithm; 0 to 1.
fn share(ratio: f64) -> f64 {
    (ratio.max(1.0).ln() / DARKEST.ln()).min(1.0)
}

fn colour(ratio: f64) -> RGBColor {
    let mix = |i: usize| (ENDS[0][i] + (ENDS[1][i] - ENDS[0][i]) * share(ratio)).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}

/// The colour of text on a ratio's colour, for light and dark pages alike.
fn ink(ratio: f64) -> RGBColor {
    if share(ratio) < 0.5 { RGBColor(0x10, 0x14, 0x18) } else { RGBColor(0xff, 0xff, 0xff) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_colour_of_their_ratio_and_tell_it() {
        assert_eq!(colour(1.0), RGBColor(222, 235, 247));
        assert_eq!((colour(3.0), colour(9.0)), (RGBColor(8, 69, 148), RGBColor(8, 69, 148)));
        let panel = HeatPanel {
            heading: "gpu".into(),
            rows: vec!["wavefront".into()],
            columns: vec!["32".into(), "64".into(), "128".into()],
            cells: vec![vec![HeatCell::Ratio(1.5), HeatCell::Refused, HeatCell::Nothing]],
        };
        let map = HeatMap { title: "t".into(), columns_mean: "items".into(), panels: vec![panel] };
        let svg = draw(&map).unwrap();
        assert!(svg.contains("gpu, wavefront, 32: 1.50 times the least") && svg.contains("refused"));
        assert!(!svg.contains("128: "));
    }
}
