//! Gantt charts: which target rendered when.

use super::PlotError;
use super::style::rows::{Area, Axis, BOTTOM, Drawn, LABEL, LEGEND_TOP, TOP, WIDTH};
use super::style::{INK, MUTED, Mark, UNITS, colour, draw_svg, one_line, text, text_width, with_marks};
use crate::format;
use crate::records::{ALONE, Sharing, TargetId};
use crate::study::Study;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const ROW: i32 = 16;
const GAP: i32 = 6;
const HEAD: i32 = 24;

/// The last pass of every schedule of one scene, on one time axis.
pub(super) struct Gantt<'a> {
    pub(super) title: String,
    passes: Vec<&'a Sharing>,
}

/// A row: its upper edge, and the schedule above it if it is the first of a pass.
struct Row<'a> {
    pass: &'a Sharing,
    target: &'a TargetId,
    index: usize,
    top: i32,
    heading: bool,
}

/// The chart of a scene; nothing without schedules.
pub(super) fn gantt<'a>(study: &'a Study, scene: &str) -> Option<Gantt<'a>> {
    let of_scene = study.sharings.iter().filter(|s| s.scene == scene && !s.schedule.starts_with(ALONE));
    let passes: Vec<&Sharing> = of_scene.filter(|s| !s.leases.is_empty()).collect();
    (!passes.is_empty()).then(|| Gantt { title: format!("{scene}: who rendered when"), passes })
}

impl Gantt<'_> {
    fn rows(&self) -> (Vec<Row<'_>>, i32) {
        let (mut rows, mut top) = (Vec::new(), TOP);
        for &pass in &self.passes {
            top += HEAD;
            for (index, target) in pass.targets.iter().enumerate() {
                rows.push(Row { pass, target, index, top, heading: index == 0 });
                top += ROW + GAP;
            }
        }
        (rows, top)
    }

    /// Milliseconds of the longest pass shown.
    fn longest(&self) -> f64 {
        let ends = self.passes.iter().flat_map(|pass| pass.leases.iter().map(|lease| lease.end_ms));
        ends.fold(1e-3, f64::max)
    }
}

/// Draws a chart. Repeated leases that came too late are hollow.
///
/// # Errors
/// [`PlotError`].
pub(super) fn draw(chart: &Gantt<'_>) -> Result<String, PlotError> {
    let (rows, bottom) = chart.rows();
    let widest = rows.iter().map(|row| text_width(&row.target.to_string(), LABEL)).max().unwrap_or(0);
    let (left, right) = ((widest + 12).clamp(40, WIDTH / 2), WIDTH - 20);
    let label = "seconds since the first lease";
    let axis = Axis { label, least: None, longest: chart.longest() / 1e3, left, right, bottom };
    let x_of = |ms: f64| axis.x_of(ms / 1e3);
    let mut marks = Vec::new();
    let svg = draw_svg(&chart.title, (WIDTH, bottom + BOTTOM), |area| {
        axis.draw(area).map_err(|e| e.to_string())?;
        draw_legend(area).map_err(|e| e.to_string())?;
        rows.iter()
            .try_for_each(|row| draw_row(area, row, left, &x_of, &mut marks))
            .map_err(|e| e.to_string())
    })?;
    Ok(with_marks(&svg, &marks))
}

fn draw_legend(area: &Area<'_>) -> Drawn {
    let style = text(LABEL, MUTED, HPos::Left, VPos::Top);
    let legend = "each bar is a lease; hollow: rendered for nothing".to_owned();
    area.draw(&Text::new(legend, (0, LEGEND_TOP * UNITS), style))
}

fn draw_row(
    area: &Area<'_>,
    row: &Row<'_>,
    left: i32,
    x_of: &dyn Fn(f64) -> i32,
    marks: &mut Vec<Mark>,
) -> Drawn {
    if row.heading {
        let style = text(13, INK, HPos::Left, VPos::Center);
        area.draw(&Text::new(one_line(&row.pass.schedule), (0, (row.top - HEAD / 2) * UNITS), style))?;
    }
    let style = text(LABEL, MUTED, HPos::Right, VPos::Center);
    let at = ((left - 8) * UNITS, (row.top * 2 + ROW) * UNITS / 2);
    area.draw(&Text::new(one_line(&row.target.to_string()), at, style))?;
    for lease in row.pass.leases.iter().filter(|lease| lease.target == *row.target) {
        let (from, to) = (x_of(lease.start_ms), x_of(lease.end_ms));
        // A hair's breadth between leases, so that each can be seen
        let corners = [(from, row.top * UNITS), ((to - UNITS / 2).max(from + 1), (row.top + ROW) * UNITS)];
        let counted = lease.outcome == "committed";
        let fill =
            if counted { colour(row.index).filled() } else { colour(row.index).stroke_width(UNITS as u32) };
        area.draw(&Rectangle::new(corners, fill))?;
        let seconds = |ms: f64| format::fixed(ms / 1e3, 3);
        let says = format!(
            "{}: {} spp, {} to {} s, {}{}",
            row.target,
            lease.spp,
            seconds(lease.start_ms),
            seconds(lease.end_ms),
            lease.outcome,
            if lease.backup { ", a copy" } else { "" }
        );
        marks.push(Mark {
            place: (from, row.top * UNITS, to.max(from + 1), (row.top + ROW) * UNITS),
            round: false,
            says,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Lease};

    #[test]
    fn every_schedule_has_a_row_for_each_target_and_a_mark_for_each_lease() {
        let lease = |target: &str, outcome: &str| Lease {
            target: target.into(),
            start_ms: 0.0,
            end_ms: 900.0,
            outcome: outcome.into(),
            ..Default::default()
        };
        let pass = |schedule: &str| Sharing {
            scene: "s".into(),
            targets: vec!["a".into(), "b".into()],
            schedule: schedule.into(),
            leases: vec![lease("a", "committed"), lease("b", "duplicate")],
            ..Default::default()
        };
        let records = vec![pass("equal").into(), pass("guided").into(), pass(ALONE).into()];
        let study = Study::from_records(records, Environment::default());
        let chart = gantt(&study, "s").unwrap();
        assert_eq!(chart.rows().0.len(), 4);
        let svg = draw(&chart).unwrap();
        assert_eq!(svg.matches("class=\"mark\"").count(), 4);
        assert!(gantt(&study, "other").is_none());
    }
}
