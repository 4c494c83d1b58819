//! The divergence of paths: the first quantity in which the paths of two targets differ.

use super::{Cell, Column, Table, once_a_group};
use crate::records::{Divergence, DivergenceScope};
use crate::study::Study;
use crate::verdict::StudyVerdict;

/// Tables of diverging paths: for every comparison the first quantity that differs, then all that do, then the worst paths.
pub fn divergence_tables(study: &Study) -> Vec<Table> {
    vec![first_table(study), quantity_table(study), worst_table(study)]
}

/// A sentence for every comparison of paths, once for identical targets of which it says the same.
pub fn path_sentences(study: &Study, verdict: &StudyVerdict) -> Vec<String> {
    let found = |d: &Divergence| format!("on {}: {}", d.scene, d.sentence());
    let said = once_a_group(verdict, &study.divergences, |d| [&d.a, &d.b], found);
    said.into_iter().map(|(d, found)| format!("{} and {} {found}", d.a, d.b)).collect()
}

/// The scope of comparisons has a column of its own where not all are of the whole image.
fn scoped(study: &Study, texts: &[&str]) -> (Vec<String>, bool) {
    let scoped = study.divergences.iter().any(|d| d.scope != DivergenceScope::AllPixels);
    let mut titles: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    if scoped {
        titles.insert(2, "Pixels compared".to_owned());
    }
    (titles, scoped)
}

fn leading_cells(d: &Divergence, scoped: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::text(&d.scene), Cell::text(format!("{} : {}", d.a, d.b))];
    if scoped {
        cells.push(Cell::text(match d.scope {
            DivergenceScope::AllPixels => "all".to_owned(),
            DivergenceScope::DifferingPixels => {
                format!("{} of {} that differ at {} spp", d.pixels_compared, d.pixels_differing, d.spp)
            }
        }));
    }
    cells
}

fn table(
    id: &'static str,
    title: &'static str,
    texts: &[String],
    numbers: &[&str],
    note: &'static str,
) -> Table {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Table::new(id, title, &texts, numbers).noted(note)
}

fn first_table(study: &Study) -> Table {
    let (texts, scoped) = scoped(study, &["Scene", "Pair"]);
    let note = "Paths of both targets, compared quantity by quantity in the order in which a path computes them; the first \
                that differs is the place to look.";
    let mut table =
        table("divergence", "Divergence of paths", &texts, &["Paths", "Paths that diverge"], note);
    table.columns.push(Column { title: "First quantity that differs".to_owned(), numeric: false });
    table.columns.push(Column { title: "Found".to_owned(), numeric: false });
    for d in &study.divergences {
        let first = match d.first() {
            Some(first) => Cell::flag(false, &first.quantity),
            None if d.reason.is_empty() => Cell::flag(true, "="),
            None => Cell::empty(),
        };
        let mut row = leading_cells(d, scoped);
        row.extend([Cell::count(d.paths), Cell::count(d.diverging), first, Cell::text(d.sentence())]);
        table.rows.push(row);
    }
    table
}

fn quantity_table(study: &Study) -> Table {
    let numbers = ["Paths", "Differ", "Diverge here", "Pixels", "Largest ULP distance"];
    let (texts, scoped) = scoped(study, &["Scene", "Pair", "Quantity"]);
    let note =
        "A path diverges at the first quantity in which it differs; it differs later as a consequence.";
    let mut table = table("divergence-quantities", "Quantities that differ", &texts, &numbers, note);
    table.columns.push(Column { title: "Fields".to_owned(), numeric: false });
    for d in &study.divergences {
        for row in d.quantities.iter().filter(|row| row.differing > 0) {
            let fields: Vec<String> = row.fields.iter().take(3).map(ToString::to_string).collect();
            let mut cells = leading_cells(d, scoped);
            cells.extend([
                Cell::text(&row.quantity),
                Cell::count(d.paths),
                Cell::count(row.differing),
                Cell::count(row.diverging),
                Cell::count(row.pixels_diverging),
                if row.diverging > 0 { Cell::count(row.largest_ulps) } else { Cell::empty() },
                Cell::text(fields.join(", ")),
            ]);
            table.rows.push(cells);
        }
    }
    table
}

fn worst_table(study: &Study) -> Table {
    let (texts, scoped) = scoped(study, &["Scene", "Pair", "Quantity", "Pixel"]);
    let note = "The command prints both paths vertex by vertex.";
    let mut table = table("divergence-worst", "Paths worth looking into", &texts, &["Sample", "ULP"], note);
    for title in ["Diverges at", "First target", "Second target", "Command"] {
        table.columns.push(Column { title: title.to_owned(), numeric: false });
    }
    for d in &study.divergences {
        for (row, worst) in
            d.quantities.iter().flat_map(|row| row.worst.iter().map(move |worst| (row, worst)))
        {
            let mut cells = leading_cells(d, scoped);
            cells.extend([
                Cell::text(&row.quantity),
                Cell::text(format!("{},{}", worst.x, worst.y)),
                Cell::count(u64::from(worst.sample)),
                worst.ulps.map_or_else(Cell::empty, Cell::count),
                Cell::text(format!("bounce {}: {}", worst.bounce, worst.quantity)),
                Cell::text(&worst.a),
                Cell::text(&worst.b),
                Cell::text(&worst.command),
            ]);
            table.rows.push(cells);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, FirstDivergence, Record, WorstPath};
    use crate::verdict::verdict;

    /// A row as older records have it.
    fn row(place: u32, name: &str, differing: u64, parting: u64) -> Record {
        let quantities = if parting > 0 { vec![format!("bounce 0: {name} ({parting})")] } else { Vec::new() };
        let worst = WorstPath { x: 3, y: 4, command: "lockstep trace s".into(), ..WorstPath::default() };
        let worst = if parting > 0 { vec![worst] } else { Vec::new() };
        let (scene, a, b, quantity) = ("s".into(), "x".into(), "y".into(), name.into());
        let paths = 1000;
        FirstDivergence {
            scene,
            a,
            b,
            place,
            quantity,
            paths,
            differing,
            parting,
            quantities,
            worst,
            ..FirstDivergence::default()
        }
        .into()
    }

    #[test]
    fn the_first_quantity_that_differs_is_named_and_that_of_most_paths_beside_it() {
        let records = vec![row(0, "depth", 0, 0), row(1, "alpha", 3, 3), row(2, "albedo", 500, 498)];
        let study = Study::from_records(records, Environment::default());
        assert_eq!(
            path_sentences(&study, &verdict(&study)),
            [
                "x and y on s: the first quantity that differs is alpha (3 of 1,000 paths: bounce 0: alpha (3)); most paths \
              diverge at albedo (498: bounce 0: albedo (498))"
            ]
        );
        let tables = divergence_tables(&study);
        assert_eq!(tables.iter().map(|t| t.rows.len()).collect::<Vec<_>>(), [1, 2, 2]);
        assert_eq!(
            (tables[0].rows[0][3].text.as_str(), tables[0].rows[0][4].text.as_str()),
            ("501", "alpha")
        );
        assert_eq!(tables[2].rows[0].last().unwrap().text, "lockstep trace s");
    }

    #[test]
    fn equal_paths_are_said_to_be() {
        let study = Study::from_records(vec![row(0, "depth", 0, 0)], Environment::default());
        assert!(path_sentences(&study, &verdict(&study))[0].contains("all 1,000 paths are equal to the bit"));
        assert_eq!(divergence_tables(&study)[1].rows.len(), 0);
    }
}
