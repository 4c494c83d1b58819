//! The first divergence: the quantity at which single paths of two targets part.

use super::{Cell, Column, Table};
use crate::format::count;
use crate::records::FirstDivergence;
use crate::study::{Study, push_new};

/// One pair on one scene: its quantities in the order in which a path computes them.
type Pair<'a> = (&'a str, &'a str, &'a str, Vec<&'a FirstDivergence>);

/// The first quantity that differs for every pair, then each quantity that does, then the worst paths.
pub fn divergence_tables(study: &Study) -> Vec<Table> {
    vec![first_table(study), quantity_table(study), worst_table(study)]
}

/// A sentence for every pair on every scene whose single paths were compared.
pub fn path_sentences(study: &Study) -> Vec<String> {
    pairs(study)
        .iter()
        .map(|(scene, a, b, quantities)| format!("{a} and {b} on {scene}: {}", sentence(quantities)))
        .collect()
}

fn sentence(quantities: &[&FirstDivergence]) -> String {
    let paths = quantities.first().map_or(0, |q| q.paths);
    let Some(first) = quantities.iter().find(|q| q.differing > 0) else {
        return format!("all {} paths are equal to the bit in every quantity", count(paths));
    };
    let mut text = format!(
        "the first quantity that differs is {} ({} of {} paths: {})",
        first.quantity,
        count(first.differing),
        count(paths),
        most(first)
    );
    if let Some(main) = quantities.iter().max_by_key(|q| q.parting).filter(|q| q.quantity != first.quantity) {
        text.push_str(&format!(
            "; most paths part at {} ({}: {})",
            main.quantity,
            count(main.parting),
            most(main)
        ));
    }
    text
}

/// The detail in which most paths part at a quantity.
fn most(q: &FirstDivergence) -> &str {
    q.quantities.first().map_or("as a consequence", String::as_str)
}

fn pairs(study: &Study) -> Vec<Pair<'_>> {
    let mut keys = Vec::new();
    for r in &study.divergences {
        push_new(&mut keys, (r.scene.as_str(), r.a.as_str(), r.b.as_str()));
    }
    let of = |(scene, a, b): (&str, &str, &str)| {
        let own = |r: &&FirstDivergence| (r.scene.as_str(), r.a.as_str(), r.b.as_str()) == (scene, a, b);
        let mut quantities: Vec<&FirstDivergence> = study.divergences.iter().filter(own).collect();
        quantities.sort_by_key(|r| r.place);
        quantities
    };
    keys.into_iter().map(|key| (key.0, key.1, key.2, of(key))).collect()
}

fn first_table(study: &Study) -> Table {
    let mut table =
        Table::new("divergence", "First divergence of paths", &["Scene", "Pair"], &["Paths", "Paths that part"]).noted(
            "Single paths of both targets, compared quantity by quantity in the order in which a path computes them; \
             the first that differs is where to look.",
        );
    table.columns.push(Column { title: "First quantity that differs".to_owned(), numeric: false });
    table.columns.push(Column { title: "Finding".to_owned(), numeric: false });
    for (scene, a, b, quantities) in pairs(study) {
        let first = quantities.iter().find(|q| q.differing > 0);
        table.rows.push(vec![
            Cell::text(scene),
            Cell::text(format!("{a} : {b}")),
            Cell::count(quantities.first().map_or(0, |q| q.paths)),
            Cell::count(quantities.iter().map(|q| q.parting).sum()),
            first.map_or_else(|| Cell::flag(true, "="), |q| Cell::flag(false, &q.quantity)),
            Cell::text(sentence(&quantities)),
        ]);
    }
    table
}

fn quantity_table(study: &Study) -> Table {
    let numbers = ["Paths", "Differ", "Part here", "Pixels", "Largest ULP distance"];
    let mut table = Table::new(
        "divergence-quantities",
        "Quantities that differ",
        &["Scene", "Pair", "Quantity"],
        &numbers,
    )
    .noted("A path parts at the first quantity in which it differs; it differs later as a consequence.");
    table.columns.push(Column { title: "Details".to_owned(), numeric: false });
    for (scene, a, b, quantities) in pairs(study) {
        for q in quantities.iter().filter(|q| q.differing > 0) {
            let most: Vec<&str> = q.quantities.iter().take(3).map(String::as_str).collect();
            table.rows.push(vec![
                Cell::text(scene),
                Cell::text(format!("{a} : {b}")),
                Cell::text(&q.quantity),
                Cell::count(q.paths),
                Cell::count(q.differing),
                Cell::count(q.parting),
                Cell::count(q.pixels_parting),
                if q.parting > 0 { Cell::count(q.largest_ulps) } else { Cell::empty() },
                Cell::text(most.join(", ")),
            ]);
        }
    }
    table
}

fn worst_table(study: &Study) -> Table {
    let texts = ["Scene", "Pair", "Quantity", "Pixel"];
    let mut table = Table::new("divergence-worst", "Paths worth looking into", &texts, &["Sample", "ULP"])
        .noted("The command prints both paths vertex by vertex.");
    for title in ["Parts at", "First target", "Second target", "Command"] {
        table.columns.push(Column { title: title.to_owned(), numeric: false });
    }
    for (scene, a, b, quantities) in pairs(study) {
        for (q, worst) in quantities.iter().flat_map(|q| q.worst.iter().map(move |worst| (q, worst))) {
            table.rows.push(vec![
                Cell::text(scene),
                Cell::text(format!("{a} : {b}")),
                Cell::text(&q.quantity),
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

    fn compared(place: u32, name: &str, differing: u64, parting: u64) -> crate::records::Record {
        let quantities = if parting > 0 { vec![format!("bounce 0: {name} ({parting})")] } else { Vec::new() };
        let worst = WorstPath { x: 3, y: 4, command: "lockstep trace s".into(), ..WorstPath::default() };
        let (scene, a, b) = ("s".into(), "x".into(), "y".into());
        let worst = if parting > 0 { vec![worst] } else { Vec::new() };
        let quantity = name.into();
        FirstDivergence {
            scene,
            a,
            b,
            place,
            quantity,
            paths: 1000,
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
        let records =
            vec![compared(0, "depth", 0, 0), compared(1, "alpha", 3, 3), compared(2, "albedo", 500, 498)];
        let study = Study::from_records(records, Environment::default());
        assert_eq!(
            path_sentences(&study),
            [
                "x and y on s: the first quantity that differs is alpha (3 of 1,000 paths: bounce 0: alpha (3)); most paths \
              part at albedo (498: bounce 0: albedo (498))"
            ]
        );
        let tables = divergence_tables(&study);
        assert_eq!(tables.iter().map(|t| t.rows.len()).collect::<Vec<_>>(), [1, 2, 2]);
        assert_eq!(tables[0].rows[0][4].text, "alpha");
        assert_eq!(tables[2].rows[0].last().unwrap().text, "lockstep trace s");
    }

    #[test]
    fn equal_paths_are_said_to_be() {
        let study = Study::from_records(vec![compared(0, "depth", 0, 0)], Environment::default());
        assert!(path_sentences(&study)[0].contains("all 1,000 paths are equal to the bit"));
        assert_eq!(divergence_tables(&study)[1].rows.len(), 0);
    }
}
