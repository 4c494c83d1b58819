//! Measurements as tables.

use super::measure::Row;
use crate::terminal;
use lockstep_core::Query;

/// Columns that a narrow terminal does without, the least important first.
const LEAST: [&str; 6] = ["clocks", "quartiles", "per core-second", "layout", "differing", "query"];

/// A Markdown table of rows, which reads as well on a terminal of this width. `against` is the target that others are
/// divided by.
pub(crate) fn table(rows: &[Row], against: &str, width: Option<usize>) -> String {
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
    terminal::table(&cells, &LEAST, width)
}

/// How many times as fast: by processor time where both have it, since that a busy machine does not change.
fn ratio(row: &Row, yardstick: &Row) -> f64 {
    match (row.mrays_per_core, yardstick.mrays_per_core) {
        (Some(a), Some(b)) => a / b,
        _ => row.mrays / yardstick.mrays,
    }
}
