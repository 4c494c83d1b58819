//! The techniques of bidirectional integrators.

use super::{Cell, Table, films_cell, films_column};
use crate::format::{number, percent};
use crate::study::Study;

/// The share of every technique in the image of its integrator.
pub fn technique_table(study: &Study) -> Table {
    let texts = ["Scene", "Integrator"];
    let numbers = ["spp", "Edges", "s", "t", "Share of the image", "Mean alone"];
    let mut table = Table::new("techniques", "Techniques", &texts, &numbers).noted(
        "s and t: vertices of the light and of the camera sub-path (Veach 1997). Share: of the image's mean, by the weights \
         of multiple importance sampling. Alone: the mean of the technique without weight; techniques of one path length \
         that can find all of its light have equal means. Films: “=” where the weighted films of all techniques add up to \
         the film of the reference renderer, integer by integer.",
    );
    table.columns.push(films_column());
    for pyramid in &study.pyramids {
        for t in &pyramid.techniques {
            table.rows.push(vec![
                Cell::text(&pyramid.scene),
                Cell::text(&pyramid.integrator),
                Cell::count(u64::from(pyramid.spp)),
                Cell::count((u64::from(t.light) + u64::from(t.camera)).saturating_sub(1)),
                Cell::count(u64::from(t.light)),
                Cell::count(u64::from(t.camera)),
                Cell::number(t.share, percent(t.share)),
                Cell::number(t.alone, number(t.alone)),
                films_cell(pyramid.adds_up),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Pyramid, TechniqueShare};

    #[test]
    fn every_technique_has_a_row_with_its_path_length() {
        let technique = TechniqueShare { light: 2, camera: 3, share: 0.25, alone: 0.5 };
        let pyramid = Pyramid { scene: "s".into(), techniques: vec![technique], ..Pyramid::default() };
        let table = technique_table(&Study::from_records(vec![pyramid.into()], Environment::default()));
        let texts: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts[3..], ["4", "2", "3", "25.0 %", "0.5000", "differ"]);
    }
}
