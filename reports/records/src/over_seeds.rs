//! Verdicts over several seeds.

use crate::{Difference, Tests};
use lockstep_core::{Mode, TargetId};
use serde::{Deserialize, Serialize};

/// The verdict on two targets at a level by their images of all seeds together. It counts instead of the verdicts on
/// single seeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OverSeeds {
    /// Scene name.
    pub scene: String,
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// Samples per pixel of every image.
    pub spp: u32,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How both targets were compiled; `fast` when either was.
    pub mode: Mode,
    /// The verdict, as in [`Difference`].
    pub verdict: String,
    /// Reason for the verdict, in a sentence.
    pub reason: String,
    /// The tests behind the verdict; nothing where images are identical or broken.
    #[serde(flatten)]
    pub tests: Option<Tests>,
}

impl OverSeeds {
    /// Gives its verdict to the comparison of one of its seeds.
    pub(crate) fn apply_to(&self, difference: &mut Difference) {
        let Difference { scene, a, b, spp, seed, .. } = &*difference;
        if (scene, a, b, spp) == (&self.scene, &self.a, &self.b, &self.spp) && self.seeds.contains(seed) {
            difference.verdict.clone_from(&self.verdict);
            difference.reason.clone_from(&self.reason);
            difference.tests.clone_from(&self.tests);
        }
    }
}
