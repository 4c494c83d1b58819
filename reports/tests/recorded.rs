//! Studies recorded by earlier versions: their tables are remade with the same numbers.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

use lockstep_reports::study::{Study, files};
use lockstep_reports::tables::{all_tables, summary_markdown};
use std::collections::HashSet;
use std::path::Path;

/// Rows of a summary's tables, without headings.
fn rows(summary: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = summary.lines().collect();
    let is_heading = move |i: usize| lines.get(i + 1).is_some_and(|next| next.starts_with("| :---"));
    summary
        .lines()
        .enumerate()
        .filter(move |(i, line)| line.starts_with("| ") && !line.starts_with("| :---") && !is_heading(*i))
        .map(|(_, line)| line)
}

/// Whether a row has the cells of an older one in their order. A later version may have added columns.
fn holds(row: &str, older: &str) -> bool {
    let mut cells = row.split('|').map(str::trim);
    older.split('|').map(str::trim).all(|old| cells.any(|cell| cell == old))
}

#[test]
fn every_row_of_a_recorded_summary_is_remade_from_its_records() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded");
    let folders = std::fs::read_dir(recorded).unwrap().map(|entry| entry.unwrap().path());
    let mut compared = 0;
    for folder in folders.filter(|folder| folder.join(files::RECORDS).is_file()) {
        let old = std::fs::read_to_string(folder.join(files::SUMMARY)).unwrap();
        let study = Study::load(&folder).unwrap();
        let tables: String = all_tables(&study).iter().map(|table| table.to_markdown() + "\n").collect();
        let new = summary_markdown(&study) + "\n" + &tables;
        let remade: HashSet<&str> = rows(&new).collect();
        let is_remade = |old: &str| remade.contains(old) || remade.iter().any(|new| holds(new, old));
        let missing: Vec<&str> = rows(&old).filter(|row| !is_remade(row)).collect();
        assert!(missing.is_empty(), "{}: {missing:#?}", folder.display());
        compared += rows(&old).count();
    }
    assert!(compared > 1000, "{compared} rows");
}

#[test]
fn the_summary_of_a_large_study_is_short_and_names_the_tables_that_it_lacks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded/h200-cuda-opencl");
    let study = Study::load(&folder).unwrap();
    let summary = summary_markdown(&study);
    assert!(summary.lines().count() <= 120, "{} lines", summary.lines().count());
    for table in all_tables(&study).iter().filter(|table| table.id != "skipped") {
        let heading = format!("\n## {}\n", table.title);
        let link = format!("](tables/{}.csv)", table.id);
        assert!(
            summary.contains(&heading) != summary.contains(&link),
            "{}: there, or named, not both",
            table.id
        );
    }
    let verdicts = summary.split("\n## Verdicts\n").nth(1).unwrap();
    let rows =
        verdicts.lines().take_while(|line| !line.starts_with("##")).filter(|line| line.starts_with("| "));
    assert_eq!(
        rows.count(),
        2 + study.scenes().len(),
        "one row for the group of identical targets on each scene"
    );
}
