//! Plots of kernel configurations: bars of the best of every kind, and the grid of scheduling and group.

use super::data::{Bar, BarPlot, Segment};
use super::heat::{HeatCell, HeatMap, HeatPanel};
use crate::records::TargetId;
use crate::study::push_new;
use crate::tuning::Tuned;

/// The parts of a bar.
const PARTS: [&str; 4] = ["trace", "shade", "one kernel", "queue"];

/// Times of one scene's configurations: of every scheduling the best group, and all others.
pub(super) fn bars(rows: &[Tuned], scene: &str) -> Option<BarPlot> {
    let mut bars = Vec::new();
    for target in targets(rows, scene) {
        let own: Vec<&Tuned> =
            rows.iter().filter(|r| r.scene == scene && r.target == *target && !r.aa_control).collect();
        bars.extend(shown(&own).into_iter().map(|row| bar(row, target)));
    }
    (!bars.is_empty()).then(|| BarPlot {
        title: format!("Kernel configurations of {scene}: the best of each kind"),
        x_label: "milliseconds a pass, median; passes differ from target to target".into(),
        parts: PARTS.map(str::to_owned).into(),
        stacked: true,
        bars,
        ends: Vec::new(),
    })
}

/// The default first; of every scheduling the group with the least time; all that is in no grid.
fn shown<'a>(own: &[&'a Tuned]) -> Vec<&'a Tuned> {
    let ran = || own.iter().filter(|row| row.total.is_some());
    let mut schedulings = Vec::new();
    ran().filter(|row| row.in_grid).for_each(|row| push_new(&mut schedulings, row.scheduling.as_str()));
    let median = |row: &Tuned| row.total.map_or(f64::INFINITY, |total| total.median);
    let best = schedulings.into_iter().filter_map(|scheduling| {
        ran()
            .filter(|row| row.in_grid && row.scheduling == scheduling)
            .min_by(|a, b| median(a).total_cmp(&median(b)))
    });
    let mut shown: Vec<&Tuned> = ran().filter(|row| row.default).copied().collect();
    for row in best.copied().chain(ran().filter(|row| !row.in_grid).copied()) {
        push_new(&mut shown, row);
    }
    shown
}

fn bar(row: &Tuned, target: &TargetId) -> Bar {
    let [trace, shade, queue] = row.parts;
    let total = row.total.map_or(0.0, |total| total.median);
    let segments = if trace.is_nan() {
        vec![Segment { part: 2, value: total }]
    } else {
        [(0, trace), (1, shade), (3, queue)].map(|(part, value)| Segment { part, value }).into()
    };
    Bar { group: target.to_string(), label: row.configuration.clone(), segments }
}

/// Scheduling by size of a work-group, a panel for each target that has such a grid.
pub(super) fn heat_map(rows: &[Tuned], scene: &str) -> Option<HeatMap> {
    let panels: Vec<HeatPanel> =
        targets(rows, scene).into_iter().filter_map(|target| panel(rows, scene, target)).collect();
    (!panels.is_empty()).then(|| HeatMap {
        title: format!("Kernel configurations of {scene}: time over the least of each target"),
        columns_mean: "work-items of a group".into(),
        panels,
    })
}

fn panel(rows: &[Tuned], scene: &str, target: &TargetId) -> Option<HeatPanel> {
    let own =
        || rows.iter().filter(|r| r.scene == scene && r.target == *target && r.in_grid && !r.aa_control);
    let (mut names, mut groups) = (Vec::new(), Vec::new());
    for row in own().filter(|row| row.group.is_some()) {
        push_new(&mut names, row.scheduling.clone());
        groups.extend(row.group);
    }
    groups.sort_unstable();
    groups.dedup();
    let least = own().filter_map(Tuned::relative).min_by(f64::total_cmp)?;
    let cell = |name: &String, group: u32| {
        let found = own().find(|row| row.scheduling == *name && row.group == Some(group));
        match found {
            None => HeatCell::Nothing,
            Some(row) => row.relative().map_or(HeatCell::Refused, |r| HeatCell::Ratio(r / least)),
        }
    };
    // A scheduling of one size makes no row of a grid.
    names.retain(|name| own().filter(|row| row.scheduling == *name).count() > 1);
    let cells = names.iter().map(|name| groups.iter().map(|&group| cell(name, group)).collect()).collect();
    (groups.len() > 1 && !names.is_empty()).then(|| HeatPanel {
        heading: target.to_string(),
        rows: names,
        columns: groups.iter().map(u32::to_string).collect(),
        cells,
    })
}

fn targets<'a>(rows: &'a [Tuned], scene: &str) -> Vec<&'a TargetId> {
    let mut targets = Vec::new();
    rows.iter().filter(|r| r.scene == scene).for_each(|r| push_new(&mut targets, &r.target));
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::{tests::study, tuned};

    fn rows() -> Vec<Tuned> {
        let mut rows = tuned(&study(
            &[
                ("wavefront", 10.0, true),
                ("wavefront/group=64", 8.0, true),
                ("megakernel", 16.0, true),
                ("megakernel/group=64", 20.0, true),
                ("wavefront/fast", 9.0, false),
            ],
            3,
        ));
        rows.push(Tuned {
            refused: "too large".into(),
            configuration: "megakernel/group=1024".into(),
            group: Some(1024),
            total: None,
            ratio: None,
            ..rows.last().cloned().unwrap()
        });
        if let Some(refused) = rows.last_mut() {
            (refused.in_grid, refused.scheduling) = (true, "megakernel".into());
        }
        rows
    }

    #[test]
    fn bars_show_the_default_and_the_best_of_each_scheduling() {
        let plot = bars(&rows(), "cornell").unwrap();
        let labels: Vec<&str> = plot.bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, ["wavefront", "wavefront/group=64", "megakernel", "wavefront/fast"]);
        assert_eq!(plot.bars[2].segments.len(), 1, "a megakernel has no parts");
    }

    #[test]
    fn the_grid_is_relative_to_the_least_and_marks_what_was_refused() {
        let map = heat_map(&rows(), "cornell").unwrap();
        let panel = &map.panels[0];
        assert_eq!(panel.columns, ["64", "128", "1024"]);
        assert_eq!(panel.rows, ["wavefront", "megakernel"]);
        assert_eq!(panel.cells[0][0], HeatCell::Ratio(1.0));
        assert_eq!(panel.cells[0][2], HeatCell::Nothing);
        assert_eq!(panel.cells[1][2], HeatCell::Refused);
        assert!(matches!(panel.cells[1][1], HeatCell::Ratio(r) if (r - 2.0).abs() < 0.01));
    }
}
