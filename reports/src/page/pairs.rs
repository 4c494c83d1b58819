//! The table of every pair at every level: the one to sort, to filter and to find images from.

use crate::format::{count, number, similarity};
use crate::records::Difference;
use crate::study::Study;
use crate::tables::{Cell, Table, group_name, noise_floor};
use crate::verdict::{StudyVerdict, promises};
use std::collections::HashSet;

const NUMBERS: [&str; 10] = [
    "spp",
    "Pixels differing",
    "MSE 8-bit",
    "MSE linear",
    "relMSE",
    "Over noise floor",
    "p, corrected",
    "SSIM Gaussian",
    "FLIP",
    "HDR-FLIP",
];

/// A row for every comparison, in the order of the study's records, with the index of the comparison; identical targets
/// share a row.
pub(super) fn pairs_table(study: &Study, verdict: &StudyVerdict) -> (Table, Vec<usize>) {
    let mut table =
        Table::new("pairs", "Every pair at every spp level", &["Scene", "Pair", "Verdict"], &NUMBERS).noted(
            "A heading sorts; a pair leads to its images. Over noise floor: linear MSE between the targets over that of a \
             target against itself under another seed. The rule of the verdict, and every formula, stand under Agreement.",
        );
    let mut seen = HashSet::new();
    let mut indices = Vec::new();
    for (index, d) in study.differences.iter().enumerate() {
        let name = group_name(study, verdict, d);
        if seen.insert((d.scene.as_str(), d.spp, name.clone())) {
            table.rows.push(row(study, d, &name));
            indices.push(index);
        }
    }
    (table, indices)
}

fn row(study: &Study, d: &Difference, name: &str) -> Vec<Cell> {
    let shown = |value: Option<f64>| value.map_or_else(Cell::empty, |v| Cell::number(v, number(v)));
    let float = d.float.as_ref();
    vec![
        Cell::text(&d.scene),
        Cell::text(name),
        Cell::flag(d.identical || (d.verdict == "within noise" && !promises(study, d)), verdict(d)),
        Cell::spp(d.spp),
        Cell { text: count(d.pixels_differing), value: d.pixels_differing.into() },
        shown(Some(d.errors.mse)),
        shown(Some(d.errors.mse_linear)),
        shown(float.map(|m| m.rel_mse)),
        shown(noise_floor(study, d).map(|floor| d.errors.mse_linear / floor)),
        shown(d.tests.as_ref().map(|t| t.p)),
        float.map_or_else(Cell::empty, |m| Cell::number(m.ssim_gaussian, similarity(m.ssim_gaussian))),
        shown(float.map(|m| m.flip)),
        shown(float.map(|m| m.flip_hdr)),
    ]
}

fn verdict(d: &Difference) -> &str {
    match d.verdict.as_str() {
        "" if d.identical => "identical",
        "" => "differs",
        verdict => verdict,
    }
}
