//! The measures and the axis of charts of horizontal rows: bars, Gantt charts.

use super::{GRID, MUTED, UNITS, text};
use crate::format;
use crate::plots::lines::nice_step;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// Width of a chart in pixels.
pub(crate) const WIDTH: i32 = 640;
/// Upper edge of the legend.
pub(crate) const LEGEND_TOP: i32 = 30;
/// Upper edge of the rows.
pub(crate) const TOP: i32 = 56;
/// Room for the axis below the rows.
pub(crate) const BOTTOM: i32 = 42;
/// Size of labels.
pub(crate) const LABEL: i32 = 12;

/// Most lines of a logarithmic axis.
const DECADES: i32 = 40;

/// An area to draw on.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The result of drawing.
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A horizontal axis below rows, from 0 or logarithmic, with a line for every tick. Edges are in pixels.
pub(crate) struct Axis<'a> {
    /// The text below.
    pub(crate) label: &'a str,
    /// The value at the left edge of a logarithmic axis; 0 is there on a linear one.
    pub(crate) least: Option<f64>,
    /// The value at the right edge.
    pub(crate) longest: f64,
    /// The left edge.
    pub(crate) left: i32,
    /// The right edge.
    pub(crate) right: i32,
    /// The lower edge of the rows.
    pub(crate) bottom: i32,
}

impl Axis<'_> {
    /// The place of a value in drawing units; values beyond the edges are at them.
    pub(crate) fn x_of(&self, value: f64) -> i32 {
        let width = f64::from((self.right - self.left) * UNITS);
        let share = match self.least {
            Some(least) => (value / least).ln() / (self.longest / least).ln(),
            None => value / self.longest,
        };
        self.left * UNITS + (share.clamp(0.0, 1.0) * width).round() as i32
    }

    /// The values that have a line.
    fn ticks(&self) -> Vec<f64> {
        let step = nice_step(self.longest, 5.0);
        let Some(least) = self.least else {
            return (0..=5)
                .map(|i| f64::from(i) * step)
                .take_while(|v| *v <= self.longest * 1.0001)
                .collect();
        };
        let decades = (0..DECADES).map(|i| least * 10f64.powi(i));
        decades.take_while(|v| *v <= self.longest * 1.0001).collect()
    }

    /// Decimals of a tick's number: those of its decade on a logarithmic axis, those of all steps on a linear one.
    fn decimals(&self, tick: f64) -> usize {
        let step = if self.least.is_some() { tick } else { nice_step(self.longest, 5.0) };
        // A decade's logarithm may be rounded down
        (-(step.log10() + 1e-9).floor()).max(0.0) as usize
    }

    /// Draws lines, numbers and the label.
    pub(crate) fn draw(&self, area: &Area<'_>) -> Drawn {
        for value in self.ticks() {
            let x = self.x_of(value);
            let line = [(x, TOP * UNITS), (x, self.bottom * UNITS)];
            area.draw(&PathElement::new(line, GRID.stroke_width(UNITS as u32)))?;
            let style = text(LABEL, MUTED, HPos::Center, VPos::Top);
            let at = (x, (self.bottom + 5) * UNITS);
            let number = format::fixed(value, self.decimals(value));
            area.draw(&Text::new(number, at, style))?;
        }
        let style = text(LABEL, MUTED, HPos::Center, VPos::Bottom);
        let middle = (self.left + self.right) / 2 * UNITS;
        let label = match self.least {
            Some(_) => format!("{}, logarithmic", self.label),
            None => self.label.to_owned(),
        };
        area.draw(&Text::new(label, (middle, (self.bottom + BOTTOM - 3) * UNITS), style))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_a_tick_for_every_decade_with_as_many_decimals_as_it_needs() {
        let axis = Axis { label: "", least: Some(0.01), longest: 30.0, left: 0, right: 100, bottom: 0 };
        let numbers = axis.ticks().into_iter().map(|tick| format::fixed(tick, axis.decimals(tick)));
        assert_eq!(numbers.collect::<Vec<_>>(), ["0.01", "0.1", "1", "10"]);
        let linear = Axis { least: None, longest: 1.0, ..axis };
        assert_eq!((linear.ticks().len(), linear.decimals(0.0)), (6, 1));
        assert_eq!(
            [-1.0, 0.0, 1.0, 1e300].map(|value| linear.x_of(value)),
            [0, 0, 100, 100].map(|x| x * UNITS)
        );
    }
}
