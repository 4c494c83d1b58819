//! Similarity and cost of ports.

use super::{Cell, Column, Table};
use crate::format::{count, fixed, percent};
use crate::port::cost::{EXPLANATION as COST, SHARED};
use crate::port::level::Level;
use crate::port::similarity::EXPLANATION as SIMILARITY;
use crate::port::similarity::Part;
use crate::study::Study;

/// Lines of one side found on the other: by folder, then by pair of files.
pub fn similarity_tables(study: &Study) -> [Table; 2] {
    let levels = Level::ALL.map(Level::label);
    let numbers = [&levels[..], &["Lines", "Lines matched"]].concat();
    let mut folders =
        Table::new("port-similarity", "Similarity of sources", &["A : B", "Side", "Part"], &numbers)
            .noted(&one_line(SIMILARITY));
    let of_b: Vec<String> = numbers.iter().map(|title| format!("{title} of B")).collect();
    let of_b: Vec<&str> = of_b.iter().map(String::as_str).collect();
    let mut files = Table::new(
        "port-pairs",
        "Similar files",
        &["A : B", "File of A", "File of B"],
        &[&numbers[..], &of_b].concat(),
    );
    for s in &study.similarities {
        let name = || Cell::text(format!("{} : {}", s.a, s.b));
        for (side, parts) in [("A", &s.a_parts), ("B", &s.b_parts)] {
            for part in parts {
                let mut row = vec![name(), Cell::text(side), Cell::text(&part.name)];
                row.extend(figures(part));
                folders.rows.push(row);
            }
        }
        for pair in &s.pairs {
            let mut row = vec![name(), Cell::text(&pair.a.name), Cell::text(&pair.b.name)];
            row.extend(figures(&pair.a));
            row.extend(figures(&pair.b));
            files.rows.push(row);
        }
        if s.further_pairs > 0 {
            files.notes.push(format!(
                "{} : {}: {} more pairs share less.",
                s.a,
                s.b,
                count(s.further_pairs as u64)
            ));
        }
    }
    [folders, files]
}

/// The share of lines matched at every level, lines as written, and the most that a level matches.
fn figures(part: &Part) -> Vec<Cell> {
    let shares = part.levels.iter().map(|matched| Cell::number(matched.share(), percent(matched.share())));
    let most = part.levels.iter().map(|matched| matched.matched).max().unwrap_or_default();
    shares.chain([part.levels[0].lines, most].map(|lines| Cell::count(lines as u64))).collect()
}

/// Lines by backend and role, and Mooney's degree of portability.
pub fn cost_table(study: &Study) -> Table {
    let numbers = ["Files", "Host", "Device", "C_port", "C_redevelop", "Degree of portability"];
    let mut table = Table::new("port-cost", "Cost of ports", &["Backend"], &numbers).noted(&one_line(COST));
    let Some(cost) = &study.cost else { return table };
    let with_hours = cost.ports.iter().any(|port| port.hours.is_some());
    table.columns.extend(with_hours.then(|| Column { title: "Hours".to_owned(), numeric: true }));
    let lines = |lines: usize| Cell::count(lines as u64);
    for port in &cost.ports {
        let mut row = vec![Cell::text(&port.backend)];
        row.extend([port.files, port.own.host, port.own.device, port.own.total()].map(lines));
        row.push(lines(port.own.total() + cost.shared.total()));
        row.push(port.degree.map_or_else(Cell::empty, |degree| Cell::number(degree, fixed(degree, 3))));
        if with_hours {
            row.push(port.hours.map_or_else(Cell::empty, |hours| Cell::number(hours, hours.to_string())));
        }
        table.rows.push(row);
    }
    let mut shared = vec![Cell::text(SHARED)];
    shared.extend([cost.shared_files, cost.shared.host, cost.shared.device].map(lines));
    shared.resize_with(table.columns.len(), Cell::empty);
    table.rows.push(shared);
    table
}

/// How often changes touched one of two backends alone.
pub fn history_table(study: &Study) -> Table {
    let numbers = ["Both", "A only", "B only", "One without the other"];
    let mut table = Table::new("port-history", "Changes to ports", &["A", "B"], &numbers);
    let Some(history) = &study.history else { return table };
    table.notes.push(format!(
        "{} changes touched the layout's sources, {} of them shared ones alone.",
        count(history.changes as u64),
        count(history.shared_only as u64)
    ));
    for pair in &history.pairs {
        let mut row = vec![Cell::text(&pair.a), Cell::text(&pair.b)];
        row.extend([pair.both, pair.only_a, pair.only_b].map(|changes| Cell::count(changes as u64)));
        let alone = pair.only_a + pair.only_b;
        let share = alone as f64 / (alone + pair.both) as f64;
        row.push(if share.is_nan() { Cell::empty() } else { Cell::number(share, percent(share)) });
        table.rows.push(row);
    }
    table
}

/// A text of several lines as one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::cost::{Cost, Lines, PortCost};
    use crate::port::history::{History, PairHistory};
    use crate::port::similarity::{Matched, Pair};
    use crate::records::{Environment, PortSimilarity, Record};

    fn part(name: &str) -> Part {
        let matched = |matched| Matched { lines: 10, matched };
        Part { name: name.into(), levels: [matched(2), matched(5), matched(4)] }
    }

    fn texts(row: &[Cell]) -> Vec<&str> {
        row.iter().map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn sides_and_pairs_have_the_share_of_every_level_and_the_most_lines_matched() {
        let record = PortSimilarity {
            a: "left".into(),
            b: "right".into(),
            shortest: 20,
            a_parts: vec![part(".")],
            b_parts: vec![part("."), part("sub")],
            pairs: vec![Pair { a: part("x.cu"), b: part("x.cl") }],
            further_pairs: 7,
        };
        let study = Study::from_records(vec![record.into()], Environment::default());
        let [folders, files] = similarity_tables(&study);
        assert_eq!(folders.rows.len(), 3);
        assert_eq!(
            texts(&folders.rows[0]),
            ["left : right", "A", ".", "20.0 %", "50.0 %", "40.0 %", "10", "5"]
        );
        assert_eq!(texts(&files.rows[0])[..3], ["left : right", "x.cu", "x.cl"]);
        assert!(files.notes.concat().contains("7 more pairs"));
    }

    #[test]
    fn backends_have_their_lines_and_degree_and_the_shared_lines_a_row() {
        let own = Lines { host: 20, device: 5 };
        let port = PortCost { backend: "cuda".into(), own, degree: Some(0.75), ..Default::default() };
        let shared = Lines { host: 25, device: 50 };
        let cost = Cost { shared, ports: vec![port], ..Default::default() };
        let pair = PairHistory { a: "a".into(), b: "b".into(), both: 1, only_a: 2, only_b: 1 };
        let history = History { changes: 9, shared_only: 5, pairs: vec![pair] };
        let records = vec![Record::PortCost(cost), Record::PortHistory(history)];
        let study = Study::from_records(records, Environment::default());
        let table = cost_table(&study);
        assert_eq!(texts(&table.rows[0]), ["cuda", "0", "20", "5", "25", "100", "0.750"]);
        assert_eq!(texts(&table.rows[1])[..4], ["shared", "0", "25", "50"]);
        assert_eq!(texts(&history_table(&study).rows[0]), ["a", "b", "1", "2", "1", "75.0 %"]);
        assert!(cost_table(&Study::default()).rows.is_empty());
    }
}
