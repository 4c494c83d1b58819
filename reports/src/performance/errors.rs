//! Errors of two studies against the same reference.

use super::common::Common;
use crate::records::{Convergence, TargetId};
use crate::study::Study;
use serde::Serialize;

/// The error of one target on one scene at the highest level that both studies reach, in the earlier and in the later
/// study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorDiff {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Samples per pixel.
    pub spp: u32,
    /// Mean squared error over linear radiance in the earlier study.
    #[serde(with = "crate::float")]
    pub before: f64,
    /// Mean squared error over linear radiance in the later study.
    #[serde(with = "crate::float")]
    pub after: f64,
}

/// The errors that both studies measured against the same reference.
pub(super) fn errors(before: &Study, after: &Study, common: &Common) -> Vec<ErrorDiff> {
    let mut found: Vec<ErrorDiff> = Vec::new();
    for new in after.convergences.iter().filter(|c| common.has_scene(&c.scene)) {
        let same = |old: &&Convergence| {
            let point = |c: &Convergence| (c.spp, c.seed);
            old.scene == new.scene
                && old.target == new.target
                && point(old) == point(new)
                && old.against == new.against
        };
        let Some(old) = before.convergences.iter().find(same) else { continue };
        let row = ErrorDiff {
            scene: new.scene.clone(),
            target: new.target.clone(),
            spp: new.spp,
            before: old.errors.mse_linear,
            after: new.errors.mse_linear,
        };
        match found.iter_mut().find(|row| row.scene == new.scene && row.target == new.target) {
            Some(known) if known.spp < row.spp => *known = row,
            Some(_) => {}
            None => found.push(row),
        }
    }
    found
}
