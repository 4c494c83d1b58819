//! Stage times over a whole spp schedule.

use super::{Cell, Table};
use crate::format::{count, number, percent};
use crate::labels::capitalised;
use crate::records::mega_per_second;
use crate::stages::{stage_names, stage_times};
use crate::study::Study;

/// Stage times, rates and the share of traversal by scene and target.
pub fn timing_table(study: &Study) -> Table {
    let times = stage_times(study);
    let stages = stage_names(&times);
    let titles: Vec<String> = stages.iter().map(|name| format!("{} ms", capitalised(name))).collect();
    let rates = ["Total ms", "Trace share", "Rays", "Mrays/s incl.", "Mrays/s excl.", "Msamples/s"];
    let numbers: Vec<&str> =
        ["spp"].into_iter().chain(titles.iter().map(String::as_str)).chain(rates).collect();
    let mut table = Table::new("timing", "Times and rates", &["Scene", "Target"], &numbers);
    table.notes.push("Summed over the spp schedule; a repeated step counts with its median.".to_owned());
    table.notes.push(
        "Inclusive: all rays over the total time. Exclusive: all rays over the time of traversal, whose share of \
         the total is the trace share."
            .to_owned(),
    );
    for t in &times {
        let ms = |value: f64| Cell::number(value, number(value));
        // Targets that count no rays, such as external programs, tell of their stages nothing either.
        let told = |cell: Cell| if t.rays > 0 { cell } else { Cell::empty() };
        let share = t.trace_ms / t.total_ms;
        let msamples = mega_per_second(t.samples, t.total_ms);
        let mut row = vec![Cell::text(&t.scene), Cell::text(&t.label), Cell::count(u64::from(t.spp))];
        row.extend(stages.iter().map(|name| t.ms(name).map_or_else(Cell::empty, |value| told(ms(value)))));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Record, StageTime, Timing};

    fn step(target: &str, stages: &[(&str, f64)]) -> Record {
        let stages = stages.iter().map(|&(name, ms)| StageTime { name: name.to_owned().into(), ms });
        let timing =
            Timing { target: target.into(), spp_to: 1, shade_ms: 2.0, total_ms: 8.0, ..Default::default() };
        Timing { stages: stages.collect(), extension_rays: 9, ..timing }.with_derived().into()
    }

    /// Titles of the columns of stages, and the texts of the first row below them.
    fn stages_of(records: Vec<Record>) -> Vec<(String, String)> {
        let table = timing_table(&Study::from_records(records, Environment::default()));
        let titles = table.columns.into_iter().map(|column| column.title);
        let cells = titles.zip(table.rows[0].clone()).map(|(title, cell)| (title, cell.text));
        cells.filter(|(title, _)| title.ends_with(" ms") && title != "Total ms").collect()
    }

    #[test]
    fn every_stage_has_a_column_and_a_target_without_it_an_empty_cell() {
        let merging = step("a+vcm", &[("shade", 2.0), ("photon map", 1.0), ("merge", 4.0)]);
        let found = stages_of(vec![merging.clone()]);
        let expected =
            [("Shade ms", "2.000"), ("Photon map ms", "1.000"), ("Merge ms", "4.000"), ("Other ms", "1.000")];
        assert_eq!(found, expected.map(|(title, text)| (title.to_owned(), text.to_owned())));
        let beside = stages_of(vec![step("a+path", &[("shade", 2.0)]), merging]);
        assert_eq!(beside[2], ("Merge ms".to_owned(), String::new()));
    }

    #[test]
    fn a_record_without_a_list_of_stages_has_the_columns_of_path_tracing() {
        let titles: Vec<String> =
            stages_of(vec![step("a", &[])]).into_iter().map(|(title, _)| title).collect();
        assert_eq!(titles, ["Generate ms", "Extend ms", "Shade ms", "Connect ms", "Other ms"]);
    }
}
