//! Stage times over a whole spp schedule.

use super::{Cell, Table};
use crate::format::{count, number, percent};
use crate::records::mega_per_second;
use crate::stages::stage_times;
use crate::study::Study;

/// Stage times, rates and the share of traversal by scene and target.
pub fn timing_table(study: &Study) -> Table {
    let numbers = [
        "spp",
        "Generate ms",
        "Extend ms",
        "Shade ms",
        "Connect ms",
        "Other ms",
        "Total ms",
        "Trace share",
        "Rays",
        "Mrays/s incl.",
        "Mrays/s excl.",
        "Msamples/s",
    ];
    let mut table = Table::new("timing", "Times and rates", &["Scene", "Target"], &numbers);
    table.notes.push("Summed over the spp schedule; a repeated step counts with its median.".to_owned());
    table.notes.push(
        "Inclusive: all rays over the total time. Exclusive: all rays over the time of traversal, whose share of \
         the total is the trace share."
            .to_owned(),
    );
    for t in stage_times(study) {
        let ms = |value: f64| Cell::number(value, number(value));
        // Targets that count no rays, such as external programs, tell of their stages nothing either.
        let told = |cell: Cell| if t.rays > 0 { cell } else { Cell::empty() };
        let share = t.trace_ms / t.total_ms;
        let msamples = mega_per_second(t.samples, t.total_ms);
        let mut row = vec![Cell::text(&t.scene), Cell::text(&t.label), Cell::count(u64::from(t.spp))];
        row.extend(t.stages.iter().map(|&stage| told(ms(stage))));
        row.extend([
            ms(t.total_ms),
            told(Cell::number(share, percent(share))),
            told(Cell { text: count(t.rays), value: t.rays.into() }),
            told(ms(t.mrays_inclusive())),
            told(ms(t.mrays_exclusive())),
            if t.samples > 0 { ms(msamples) } else { Cell::empty() },
        ]);
        table.rows.push(row);
    }
    table
}
