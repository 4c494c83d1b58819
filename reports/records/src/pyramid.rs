//! The techniques of a bidirectional integrator on one scene.

use lockstep_metrics::float;
use serde::{Deserialize, Serialize};

/// Films per technique of an integrator that connects light and camera sub-paths, and pictures of all of them: a row for
/// every path length, a column for every number of light vertices (Veach 1997, chapter 10).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pyramid {
    /// Scene name.
    pub scene: String,
    /// The integrator's name.
    pub integrator: String,
    /// Samples of every pixel.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// The picture of contributions times their weights, relative to the study's folder, with slashes.
    pub weighted: String,
    /// The picture of contributions alone.
    pub unweighted: String,
    /// Whether the weighted films add up to the reference renderer's film, integer by integer.
    pub adds_up: bool,
    /// The techniques, by path length and then by light vertices.
    pub techniques: Vec<TechniqueShare>,
}

/// A technique's share of the light.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TechniqueShare {
    /// Vertices of the light sub-path: Veach's s.
    pub light: u32,
    /// Vertices of the camera sub-path, the lens included: Veach's t.
    pub camera: u32,
    /// Share of the image's mean, 0 to 1.
    #[serde(with = "float")]
    pub share: f64,
    /// Mean radiance of the technique without its weight.
    #[serde(with = "float")]
    pub alone: f64,
}
