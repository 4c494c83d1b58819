//! Hashes of films.

use lockstep_core::{Mode, TargetId};
use serde::{Deserialize, Serialize};

/// The hash of a film's integers. It tells a resumed study, or another machine, whether it renders the same
/// film.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FilmHash {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Samples per pixel.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// How the target was compiled.
    pub mode: Mode,
    /// BLAKE3 of the film's integers, in hexadecimal.
    pub hash: String,
}

impl FilmHash {
    /// A film of a target.
    pub fn new(scene: &str, target: &TargetId, spp: u32, seed: u64, hash: &str) -> Self {
        Self {
            scene: scene.to_owned(),
            target: target.clone(),
            spp,
            seed,
            mode: target.mode,
            hash: hash.to_owned(),
        }
    }
}
