//! Measurements as tables.

use super::measure::Row;
use lockstep_core::Query;

/// A Markdown table of rows, which reads as well on a terminal. `against` is the target that others are
/// divided by.
pub(crate) fn table(rows: &[Row], against: &str) -> String {
    let ratio_title = format!("of {against}");
    let header = [
        "scene",
        "rays",
        "query",
        "target",
        "layout",
        "Mrays/s",
        "quartiles",
        "per core-second",
        ratio_title.as_str(),
        "differing",
        "clocks",
    ];
    let mut cells = vec![header.map(str::to_owned)];
    for row in rows {
        let same_work = |other: &&Row| {
            (other.scene.as_str(), other.query, &other.rays_hash)
                == (row.scene.as_str(), row.query, &row.rays_hash)
        };
        let yardstick = rows.iter().filter(same_work).find(|other| other.target == against);
        cells.push([
            row.scene.clone(),
            format!("{} {}", row.rays, row.kind.name()),
            if row.query == Query::Any { "any hit".into() } else { "closest hit".into() },
            row.target.clone(),
            row.layout.clone(),
            format!("{:.1}", row.mrays),
            format!("{:.1}-{:.1}", row.quartiles[0], row.quartiles[1]),
            row.mrays_per_core.map_or_else(String::new, |mrays| format!("{mrays:.2}")),
            yardstick.map_or_else(String::new, |y| format!("{:.2}", ratio(row, y))),
            row.differing.map_or_else(String::new, |n| n.to_string()),
            row.clocks.clone(),
        ]);
    }
    markdown(&cells)
}

/// A Markdown table of rows as long as the first, which is its header.
pub(crate) fn markdown<R: AsRef<[String]>>(cells: &[R]) -> String {
    let columns = cells.first().map_or(0, |header| header.as_ref().len());
    let width = |c: usize| cells.iter().map(|r| r.as_ref()[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (i, line) in cells.iter().enumerate() {
        let padded = line.as_ref().iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(&format!("| {} |\n", padded.collect::<Vec<_>>().join(" | ")));
        if i == 0 {
            let rules = widths.iter().map(|width| "-".repeat(*width));
            text.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
        }
    }
    text
}

/// How many times as fast: by processor time where both have it, since that a busy machine does not change.
fn ratio(row: &Row, yardstick: &Row) -> f64 {
    match (row.mrays_per_core, yardstick.mrays_per_core) {
        (Some(a), Some(b)) => a / b,
        _ => row.mrays / yardstick.mrays,
    }
}
