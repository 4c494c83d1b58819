//! The parity ladder: what single paths of two targets part at.

use super::{Cell, Column, Table};
use crate::format::count;
use crate::records::Rung;
use crate::study::{Study, push_new};

/// One pair on one scene: its rungs in order.
type Pair<'a> = (&'a str, &'a str, &'a str, Vec<&'a Rung>);

/// The first rung that differs for every pair, then each rung that does, then the worst paths.
pub fn path_tables(study: &Study) -> Vec<Table> {
    vec![first_table(study), rung_table(study), worst_table(study)]
}

/// A sentence for every pair on every scene whose single paths were compared.
pub fn said_of_paths(study: &Study) -> Vec<String> {
    pairs(study)
        .iter()
        .map(|(scene, a, b, rungs)| format!("{a} and {b} on {scene}: {}", sentence(rungs)))
        .collect()
}

fn sentence(rungs: &[&Rung]) -> String {
    let paths = rungs.first().map_or(0, |rung| rung.paths);
    let Some(first) = rungs.iter().find(|rung| rung.differing > 0) else {
        return format!("all {} paths are equal to the bit, rung by rung", count(paths));
    };
    let mut text = format!(
        "the first rung that differs is {} ({} of {} paths: {})",
        first.rung,
        count(first.differing),
        count(paths),
        most(first)
    );
    if let Some(main) = rungs.iter().max_by_key(|rung| rung.parting).filter(|rung| rung.rung != first.rung) {
        text.push_str(&format!(
            "; most paths part at {} ({}: {})",
            main.rung,
            count(main.parting),
            most(main)
        ));
    }
    text
}

/// What most paths of a rung part at.
fn most(rung: &Rung) -> &str {
    rung.quantities.first().map_or("as a consequence", String::as_str)
}

fn pairs(study: &Study) -> Vec<Pair<'_>> {
    let mut keys = Vec::new();
    for r in &study.rungs_of_paths {
        push_new(&mut keys, (r.scene.as_str(), r.a.as_str(), r.b.as_str()));
    }
    let of = |(scene, a, b): (&str, &str, &str)| {
        let own = |r: &&Rung| (r.scene.as_str(), r.a.as_str(), r.b.as_str()) == (scene, a, b);
        let mut rungs: Vec<&Rung> = study.rungs_of_paths.iter().filter(own).collect();
        rungs.sort_by_key(|r| r.place);
        rungs
    };
    keys.into_iter().map(|key| (key.0, key.1, key.2, of(key))).collect()
}

fn first_table(study: &Study) -> Table {
    let mut table =
        Table::new("ladder", "Parity ladder", &["Scene", "Pair"], &["Paths", "Paths that part"]).noted(
            "Single paths of both targets, compared quantity by quantity in the order in which a path computes them; \
             the first that differs is the place to look.",
        );
    table.columns.push(Column { title: "First rung that differs".to_owned(), numeric: false });
    table.columns.push(Column { title: "Found".to_owned(), numeric: false });
    for (scene, a, b, rungs) in pairs(study) {
        let first = rungs.iter().find(|rung| rung.differing > 0);
        table.rows.push(vec![
            Cell::text(scene),
            Cell::text(format!("{a} : {b}")),
            Cell::count(rungs.first().map_or(0, |rung| rung.paths)),
            Cell::count(rungs.iter().map(|rung| rung.parting).sum()),
            first.map_or_else(|| Cell::flag(true, "="), |rung| Cell::flag(false, &rung.rung)),
            Cell::text(sentence(&rungs)),
        ]);
    }
    table
}

fn rung_table(study: &Study) -> Table {
    let numbers = ["Paths", "Differ", "Part here", "Pixels", "Largest ULP distance"];
    let mut table = Table::new("ladder-rungs", "Rungs that differ", &["Scene", "Pair", "Rung"], &numbers)
        .noted("A path parts at the first rung in which it differs; it differs later as a consequence.");
    table.columns.push(Column { title: "What parts".to_owned(), numeric: false });
    for (scene, a, b, rungs) in pairs(study) {
        for rung in rungs.iter().filter(|rung| rung.differing > 0) {
            let most: Vec<&str> = rung.quantities.iter().take(3).map(String::as_str).collect();
            table.rows.push(vec![
                Cell::text(scene),
                Cell::text(format!("{a} : {b}")),
                Cell::text(&rung.rung),
                Cell::count(rung.paths),
                Cell::count(rung.differing),
                Cell::count(rung.parting),
                Cell::count(rung.pixels_parting),
                if rung.parting > 0 { Cell::count(rung.largest_ulps) } else { Cell::empty() },
                Cell::text(most.join(", ")),
            ]);
        }
    }
    table
}

fn worst_table(study: &Study) -> Table {
    let texts = ["Scene", "Pair", "Rung", "Pixel"];
    let mut table = Table::new("ladder-worst", "Paths worth looking into", &texts, &["Sample", "ULP"])
        .noted("The command prints both paths vertex by vertex.");
    for title in ["Parts at", "First target", "Second target", "Command"] {
        table.columns.push(Column { title: title.to_owned(), numeric: false });
    }
    for (scene, a, b, rungs) in pairs(study) {
        for (rung, worst) in rungs.iter().flat_map(|rung| rung.worst.iter().map(move |worst| (rung, worst))) {
            table.rows.push(vec![
                Cell::text(scene),
                Cell::text(format!("{a} : {b}")),
                Cell::text(&rung.rung),
                Cell::text(format!("{},{}", worst.x, worst.y)),
                Cell::count(u64::from(worst.sample)),
                worst.ulps.map_or_else(Cell::empty, Cell::count),
                Cell::text(format!("bounce {}: {}", worst.bounce, worst.quantity)),
                Cell::text(&worst.a),
                Cell::text(&worst.b),
                Cell::text(&worst.command),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, WorstPath};

    fn rung(place: u32, name: &str, differing: u64, parting: u64) -> crate::records::Record {
        let quantities = if parting > 0 { vec![format!("bounce 0: {name} ({parting})")] } else { Vec::new() };
        let worst = WorstPath { x: 3, y: 4, command: "lockstep trace s".into(), ..WorstPath::default() };
        let (scene, a, b) = ("s".into(), "x".into(), "y".into());
        let worst = if parting > 0 { vec![worst] } else { Vec::new() };
        let rung = name.into();
        Rung {
            scene,
            a,
            b,
            place,
            rung,
            paths: 1000,
            differing,
            parting,
            quantities,
            worst,
            ..Rung::default()
        }
        .into()
    }

    #[test]
    fn the_first_rung_that_differs_is_named_and_the_rung_of_most_paths_beside_it() {
        let records = vec![rung(0, "depth", 0, 0), rung(1, "alpha", 3, 3), rung(2, "albedo", 500, 498)];
        let study = Study::from_records(records, Environment::default());
        assert_eq!(
            said_of_paths(&study),
            [
                "x and y on s: the first rung that differs is alpha (3 of 1,000 paths: bounce 0: alpha (3)); most paths \
              part at albedo (498: bounce 0: albedo (498))"
            ]
        );
        let tables = path_tables(&study);
        assert_eq!(tables.iter().map(|t| t.rows.len()).collect::<Vec<_>>(), [1, 2, 2]);
        assert_eq!(tables[0].rows[0][4].text, "alpha");
        assert_eq!(tables[2].rows[0].last().unwrap().text, "lockstep trace s");
    }

    #[test]
    fn equal_paths_are_said_to_be() {
        let study = Study::from_records(vec![rung(0, "depth", 0, 0)], Environment::default());
        assert!(said_of_paths(&study)[0].contains("all 1,000 paths are equal to the bit"));
        assert_eq!(path_tables(&study)[1].rows.len(), 0);
    }
}
