//! Tables in which identical targets share a row.

use super::{Cell, Table, pair_name};
use crate::records::Difference;
use crate::study::Study;
use crate::verdict::StudyVerdict;

/// Tables of values that are equal for targets with identical films, by the beginning of their names.
const FOLDED: [&str; 9] = [
    "verdict",
    "difference-",
    "identical",
    "bias",
    "noise",
    "tile-tests",
    "convergence",
    "divergence",
    "bounces",
];

/// The name of a comparison under its group of identical targets: the subject of its line in the verdict, then the rest of its
/// own name.
pub(crate) fn group_name(study: &Study, verdict: &StudyVerdict, d: &Difference) -> String {
    let own = pair_name(study, d);
    let Some(line) = verdict.lines.iter().find(|line| line.is_about(d)) else { return own };
    let besides = own.strip_prefix(&format!("{} : {}", d.a, d.b)).unwrap_or_default();
    format!("{}{}", line.subject, besides)
}

/// A table with one row for all pairs between two groups of identical targets, that of the first such pair, and with one
/// row for identical targets whose values are equal. Tables of other values, such as times, stay as they are.
pub(crate) fn folded(study: &Study, verdict: &StudyVerdict, table: Table) -> Table {
    if !FOLDED.iter().any(|id| table.id.starts_with(id)) {
        return table;
    }
    let column = |title: &str| table.columns.iter().position(|column| column.title == title);
    match (column("Scene"), column("Pair"), column("Target"), column("spp")) {
        (Some(scene), Some(pair), _, spp) => folded_pairs(study, verdict, table, (scene, pair, spp)),
        (Some(scene), None, Some(target), _) => folded_targets(verdict, table, (scene, target)),
        _ => table,
    }
}

fn folded_pairs(
    study: &Study,
    verdict: &StudyVerdict,
    mut table: Table,
    (scene, pair, spp): (usize, usize, Option<usize>),
) -> Table {
    let command = table.columns.iter().position(|column| column.title == "Command");
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for mut row in table.rows {
        let is_own = |d: &&Difference| d.scene == row[scene].text && pair_name(study, d) == row[pair].text;
        if let Some(d) = study.differences.iter().find(is_own) {
            row[pair] = Cell::text(group_name(study, verdict, d));
        }
        // Of paths a pair has several rows, and the one command of each names its own targets
        let is_known = |known: &Vec<Cell>| match table.id.starts_with("divergence") {
            true => (0..row.len()).all(|at| known[at] == row[at] || at == command.unwrap_or(usize::MAX)),
            false => {
                known[scene] == row[scene]
                    && known[pair] == row[pair]
                    && spp.is_none_or(|at| known[at] == row[at])
            }
        };
        if !rows.iter().any(is_known) {
            rows.push(row);
        }
    }
    table.rows = rows;
    if table.id == "verdict" { folded_seeds(table, (scene, pair)) } else { table }
}

/// Rows of verdicts that differ in nothing but the seed are one, without the seed.
fn folded_seeds(mut table: Table, (scene, pair): (usize, usize)) -> Table {
    let subject = |text: &str| text.split(", seed ").next().unwrap_or_default().to_owned();
    let rest = |row: &[Cell]| [&row[..pair], &row[pair + 1..]].concat();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for row in table.rows {
        let name = subject(&row[pair].text);
        let same_pair =
            |known: &&mut Vec<Cell>| known[scene] == row[scene] && subject(&known[pair].text) == name;
        match rows.iter_mut().filter(same_pair).find(|known| rest(known) == rest(&row)) {
            Some(known) => known[pair] = Cell::text(name),
            None => rows.push(row),
        }
    }
    table.rows = rows;
    table
}

fn folded_targets(verdict: &StudyVerdict, mut table: Table, (scene, target): (usize, usize)) -> Table {
    // A target's name and what tells its rows apart: `cpu-bvh`, `, seed 2`.
    let parts = |text: &str| {
        let end = text.find(", ").unwrap_or(text.len());
        (text[..end].to_owned(), text[end..].to_owned())
    };
    let are_identical = |a: &str, b: &str| {
        let of = |line: &&crate::verdict::VerdictLine, name: &str| {
            line.sides[0].iter().any(|own| own.to_string() == name)
        };
        verdict
            .lines
            .iter()
            .filter(|line| line.identical && line.sides[0] == line.sides[1])
            .any(|line| of(&line, a) && of(&line, b))
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for row in table.rows {
        let (name, besides) = parts(&row[target].text);
        let is_same = |known: &&mut Vec<Cell>| {
            let (names, others) = parts(&known[target].text);
            let first = names.split(" = ").next().unwrap_or_default();
            let equal = (0..row.len()).all(|at| at == target || known[at] == row[at]);
            others == besides && known[scene] == row[scene] && equal && are_identical(first, &name)
        };
        match rows.iter_mut().find(is_same) {
            Some(known) => {
                let (names, _) = parts(&known[target].text);
                known[target] = Cell::text(format!("{names} = {name}{besides}"));
            }
            None => rows.push(row),
        }
    }
    table.rows = rows;
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Convergence, Difference, Environment, Errors, Record};
    use crate::tables::{convergence_tables, difference_tables};
    use crate::verdict::verdict;

    #[test]
    fn seeds_share_a_row_of_verdicts_where_these_are_equal() {
        let pair = |seed: u64, verdict: &str| -> Record {
            let (scene, a, b, verdict) = ("s".into(), "x".into(), "y".into(), verdict.into());
            Difference { scene, a, b, spp: 4, seed, verdict, ..Difference::default() }.into()
        };
        let names = |verdicts: [&str; 3]| -> Vec<String> {
            let records = verdicts.iter().zip(0..).map(|(verdict, seed)| pair(seed, verdict)).collect();
            let study = Study::from_records(records, Environment::default());
            let table = crate::tables::agreement_tables(&study).remove(0);
            let rows = folded(&study, &verdict(&study), table).rows;
            rows.iter().map(|row| row[1].text.clone()).collect()
        };
        assert_eq!(names(["within noise"; 3]), ["x : y"]);
        assert_eq!(names(["within noise", "biased", "within noise"]), ["x : y", "x : y, seed 1"]);
    }

    #[test]
    fn identical_targets_share_a_row_of_values_and_others_keep_theirs() {
        let pair = |a: &str, b: &str, mse: f64| -> Record {
            Difference {
                scene: "s".into(),
                a: a.into(),
                b: b.into(),
                spp: 4,
                identical: mse == 0.0,
                pixels_differing: u64::from(mse > 0.0),
                errors: Errors { mse, ..Errors::default() },
                ..Difference::default()
            }
            .into()
        };
        let error = |target: &str, mse: f64| -> Record {
            let errors = Errors { mse, ..Errors::default() };
            Convergence { scene: "s".into(), target: target.into(), spp: 4, errors, ..Convergence::default() }
                .into()
        };
        let records = vec![
            pair("x", "y", 0.0),
            pair("x", "e", 3.0),
            pair("y", "e", 3.0),
            error("x", 9.0),
            error("e", 9.0),
            error("y", 9.0),
        ];
        let study = Study::from_records(records, Environment::default());
        let said = verdict(&study);
        let rows = |table: Table, at: usize| -> Vec<String> {
            folded(&study, &said, table).rows.iter().map(|row| row[at].text.clone()).collect()
        };
        let table = |tables: Vec<Table>, id: &str| tables.into_iter().find(|table| table.id == id).unwrap();
        assert_eq!(rows(table(difference_tables(&study), "difference-mse"), 1), ["x = y", "x : e"]);
        let errors = table(convergence_tables(&study), "convergence-mse");
        assert_eq!(rows(errors, 1), ["x = y", "e"], "equal values alone do not make targets identical");
    }
}
