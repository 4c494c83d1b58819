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
    pub target: String,
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
    /// A film of a target, given by its label.
    pub fn new(scene: &str, target: &str, spp: u32, seed: u64, hash: &str) -> Self {
        Self {
            scene: scene.to_owned(),
            target: target.to_owned(),
            spp,
            seed,
            mode: TargetId::from(target).mode,
            hash: hash.to_owned(),
        }
    }
}
