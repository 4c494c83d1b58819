//! The error that a target reaches in a given time.

use super::Errors;
use lockstep_core::{Mode, TargetId};
use lockstep_metrics::float;
use lockstep_metrics::metrics::{FloatMetrics, Metrics};
use serde::{Deserialize, Serialize};

/// One target's image after a given time, against the scene's reference. Time is what [`super::Timing`]
/// counts as `total_ms`; loading, compiling, reading films and comparing are not counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EqualTime {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Random seed.
    pub seed: u64,
    /// The time given, in seconds.
    #[serde(with = "float")]
    pub seconds: f64,
    /// The time taken, in milliseconds: as many whole samples of every pixel as fit, and at least one.
    #[serde(with = "float")]
    pub render_ms: f64,
    /// Samples of every pixel.
    pub spp: u32,
    /// Samples in all: pixels times `spp`.
    pub samples: u64,
    /// Samples a millisecond of every pass but the first, which wakes threads and clocks; of the only one where there is
    /// no other. None in older records, and of programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples_per_ms: Vec<f64>,
    /// Whether the film was full before the time was up.
    pub full: bool,
    /// How far the image is from the reference.
    #[serde(flatten)]
    pub errors: Errors,
    /// The reference: a file, or target, samples per pixel and seed.
    pub against: String,
    /// Samples per pixel of the reference, whose own noise adds to the error; nothing for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_spp: Option<u32>,
    /// How the target was compiled.
    pub mode: Mode,
    /// Errors that see more than 8 bits, as in [`super::Difference`].
    #[serde(flatten)]
    pub float: Option<FloatMetrics>,
    /// The 95 % interval of the linear RMSE, as [`lockstep_metrics::error_interval`] tells it; none in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse_linear_interval: Option<[f64; 2]>,
}

impl EqualTime {
    /// Sets the errors of a comparison with the reference.
    pub fn with_errors(self, m: &Metrics) -> Self {
        Self { errors: Errors::from(m), float: Some(m.float), ..self }
    }
}
