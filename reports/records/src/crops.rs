//! Parts of the images of integrators after equal time, side by side.

use lockstep_core::TargetId;
use lockstep_metrics::float;
use serde::{Deserialize, Serialize};

/// A picture of one part of a scene's image: the reference, and every integrator of one target after one time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Crops {
    /// Scene name.
    pub scene: String,
    /// The target without its integrators.
    pub target: TargetId,
    /// The time given, in seconds.
    #[serde(with = "float")]
    pub seconds: f64,
    /// Random seed.
    pub seed: u64,
    /// The picture, relative to the study's folder, with slashes: as many parts of equal width as there are cells, and
    /// the reference before them.
    pub picture: String,
    /// Left edge of the part in the image.
    pub x: u32,
    /// Upper edge of the part in the image.
    pub y: u32,
    /// Width of the part in pixels.
    pub width: u32,
    /// Height of the part in pixels.
    pub height: u32,
    /// The reference: a file, or target, samples per pixel and seed.
    pub against: String,
    /// The integrators, in the order of the picture.
    pub cells: Vec<Crop>,
}

/// An integrator's crop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Crop {
    /// The integrator's name.
    pub integrator: String,
    /// Root of the mean squared error of linear radiance within the part.
    #[serde(with = "float")]
    pub rmse_linear: f64,
}
