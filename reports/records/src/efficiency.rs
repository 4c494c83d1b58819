//! The efficiency of two integrators, or two ways of sampling layers, on one target.

use lockstep_core::{Mode, TargetId};
use lockstep_metrics::float;
use serde::{Deserialize, Serialize};

/// Two integrators, or two ways of sampling layers, on one target with equal samples, and which of them wins where at equal
/// time: efficiencies, one over mean squared error times time, in tiles of [`lockstep_metrics::efficiency::TILE`] pixels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Efficiency {
    /// Scene name.
    pub scene: String,
    /// The target by the first integrator.
    pub a: TargetId,
    /// The target by the second integrator.
    pub b: TargetId,
    /// Samples per pixel of both images.
    pub spp: u32,
    /// Random seed of both images.
    pub seed: u64,
    /// The time of A's samples, in milliseconds.
    #[serde(with = "float")]
    pub a_ms: f64,
    /// The time of B's samples, in milliseconds.
    #[serde(with = "float")]
    pub b_ms: f64,
    /// Mean squared error over linear radiance of A's image against the reference.
    #[serde(with = "float")]
    pub a_mse: f64,
    /// Mean squared error over linear radiance of B's image against the reference.
    #[serde(with = "float")]
    pub b_mse: f64,
    /// Tiles of the image.
    pub tiles: u64,
    /// Tiles in which B is the more efficient.
    pub won_by_b: u64,
    /// B's efficiency over A's that a tenth of the tiles does not exceed.
    #[serde(with = "float")]
    pub tenth: f64,
    /// B's efficiency over A's that half of the tiles does not exceed.
    #[serde(with = "float")]
    pub median: f64,
    /// B's efficiency over A's that nine tenths of the tiles do not exceed.
    #[serde(with = "float")]
    pub nine_tenths: f64,
    /// B's efficiency over A's on the whole image by every seed, the first seed's first: each from the errors of the seed's
    /// images and the medians of the times of its repeats. None in older records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_seed: Vec<f64>,
    /// The reference: a file, or target, samples per pixel and seed.
    pub against: String,
    /// How the target was compiled.
    pub mode: Mode,
}

impl Efficiency {
    /// B's efficiency over A's on the whole image.
    pub fn ratio(&self) -> f64 {
        (self.a_mse * self.a_ms) / (self.b_mse * self.b_ms)
    }
}
