//! Paths of two targets, compared quantity by quantity, as older records have them: one for each quantity.

use crate::{Divergence, DivergenceScope, FieldCount, QuantityDivergence, WorstPath};
use lockstep_core::{Mode, TargetId};
use serde::{Deserialize, Serialize};

/// One quantity of single paths, compared between two targets. Quantities are compared in the order in which
/// a path computes them, so the first that differs is where to look. Read from older files only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstDivergence {
    /// Scene name.
    pub scene: String,
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// Random seed.
    pub seed: u64,
    /// Position in the order of comparison, from 0.
    pub place: u32,
    /// The quantity, such as `depth`; older files call the field as they call the record's kind.
    #[serde(alias = "rung")]
    pub quantity: String,
    /// Samples of every pixel whose paths were compared.
    pub samples: u32,
    /// Paths compared.
    pub paths: u64,
    /// Paths in which this quantity differs.
    pub differing: u64,
    /// Paths that part here: all quantities before are equal to the bit.
    pub parting: u64,
    /// Pixels with a path that parts here.
    pub pixels_parting: u64,
    /// The largest distance at which a number parts here, in steps of binary32.
    pub largest_ulps: u64,
    /// Details in which paths part here, each with its count, the most frequent first.
    pub quantities: Vec<String>,
    /// The worst of the paths that part here, each of another pixel.
    pub worst: Vec<WorstPath>,
    /// How both targets were compiled; `fast` when either was.
    pub mode: Mode,
}

impl FirstDivergence {
    /// Adds the row to the record of its pair, which is made where there is none.
    pub(crate) fn add_to(self, all: &mut Vec<Divergence>) {
        let is_same = |d: &&mut Divergence| {
            (&d.scene, &d.a, &d.b, d.seed) == (&self.scene, &self.a, &self.b, self.seed)
                && d.scope == DivergenceScope::AllPixels
        };
        let row = QuantityDivergence {
            quantity: self.quantity,
            differing: self.differing,
            diverging: self.parting,
            pixels_diverging: self.pixels_parting,
            largest_ulps: self.largest_ulps,
            fields: self.quantities.iter().map(|text| FieldCount::parse(text)).collect(),
            worst: self.worst,
        };
        if let Some(divergence) = all.iter_mut().find(is_same) {
            divergence.diverging += row.diverging;
            divergence.quantities.push(row);
            return;
        }
        all.push(Divergence {
            scene: self.scene,
            a: self.a,
            b: self.b,
            seed: self.seed,
            samples: self.samples,
            paths: self.paths,
            diverging: row.diverging,
            quantities: vec![row],
            mode: self.mode,
            ..Divergence::default()
        });
    }
}
