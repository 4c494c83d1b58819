//! Measurements as tables.

use super::comparison::{Best, Comparison};
use super::measure::Row;
use crate::terminal;
use lockstep_core::Query;

/// Columns that a narrow terminal does without, the least important first.
const LEAST: [&str; 6] = ["clocks", "quartiles", "per core-second", "layout", "differing", "query"];

/// The rates that the targets' rates are divided by.
pub(crate) enum Yardstick<'a> {
    /// The rate of one target.
    Target(&'a str),
    /// The rate of each other tracer, which has rows of its own.
    Tracers(&'a Comparison),
}

/// A Markdown table of rows, which reads as well on a terminal of this width.
pub(crate) fn table(rows: &[Row], yardstick: &Yardstick, width: Option<usize>) -> String {
    let over = match yardstick {
        Yardstick::Target(target) => vec![*target],
        Yardstick::Tracers(comparison) => comparison.tracers(),
    };
    let mut header: Vec<String> =
        ["scene", "rays", "query", "target", "layout", "Mrays/s", "quartiles", "per core-second"]
            .map(str::to_owned)
            .into();
    header.extend(over.iter().map(|name| format!("of {name}")));
    header.extend(["differing", "clocks"].map(str::to_owned));
    let mut cells = vec![header];
    for (i, row) in rows.iter().enumerate() {
        let mut line = work(row);
        line.extend([
            row.target.clone(),
            row.layout.clone(),
            format!("{:.1}", row.mrays),
            format!("{:.1}-{:.1}", row.quartiles[0], row.quartiles[1]),
            row.mrays_per_core.map_or_else(String::new, |mrays| format!("{mrays:.2}")),
        ]);
        line.extend(over.iter().map(|name| {
            let ratio = match yardstick {
                Yardstick::Target(target) => {
                    let same = rows.iter().find(|other| other.target == *target && other.is_same_work(row));
                    same.map(|other| row.over(other.mrays, other.mrays_per_core))
                }
                Yardstick::Tracers(comparison) => comparison.ratio(row, name),
            };
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"))
        }));
        line.push(row.differing.map_or_else(String::new, |n| n.to_string()));
        line.push(row.clocks.clone());
        cells.push(line);
        let is_last = rows.get(i + 1).is_none_or(|next| !row.is_same_work(next));
        if let (true, Yardstick::Tracers(comparison)) = (is_last, yardstick) {
            let of_work = comparison.best.iter().filter(|best| {
                (&best.rate.scene, best.rate.query, &best.rate.rays_hash)
                    == (&row.scene, row.query, &row.rays_hash)
            });
            cells.extend(of_work.map(|best| tracer(row, best, over.len())));
        }
    }
    terminal::table(&cells, &LEAST, width)
}

/// The first cells of a row: the work.
fn work(row: &Row) -> Vec<String> {
    let query = if row.query == Query::Any { "any hit" } else { "closest hit" };
    vec![row.scene.clone(), format!("{} {}", row.rays, row.kind.name()), query.to_owned()]
}

/// The cells of a tracer's best variant.
fn tracer(row: &Row, best: &Best, ratios: usize) -> Vec<String> {
    let rate = &best.rate;
    let mut line = work(row);
    line.extend([
        rate.tracer.clone(),
        rate.variant.clone(),
        format!("{:.1}", rate.mrays),
        rate.quartiles.map_or_else(String::new, |[first, third]| format!("{first:.1}-{third:.1}")),
        rate.mrays_per_core.map_or_else(String::new, |mrays| format!("{mrays:.2}")),
    ]);
    line.extend(std::iter::repeat_n(String::new(), ratios));
    line.push(best.hits_differing.map_or_else(String::new, |by| format!("{by:+} hits")));
    line.push(String::new());
    line
}
