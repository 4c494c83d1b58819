//! The cost of exactness: a fast build's speed over the exact one's.

use lockstep_core::{Mode, TargetId};
use lockstep_metrics::float;
use serde::{Deserialize, Serialize};

/// Speed of a target's fast build over that of its exact build on one scene: exact time over fast time, stage
/// by stage, summed over the spp schedule. NaN for a stage in which the fast build spent no time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Speedup {
    /// Scene name.
    pub scene: String,
    /// Label of the fast build.
    pub target: TargetId,
    /// Label of the exact build.
    pub exact: TargetId,
    /// Highest samples per pixel reached by both.
    pub spp: u32,
    /// Random seed of both.
    pub seed: u64,
    /// Repeats of each step, the least of any; of several the median counts.
    pub repeats: u32,
    /// Speed-up of making camera rays.
    #[serde(with = "float")]
    pub generate: f64,
    /// Speed-up of closest-hit traversal.
    #[serde(with = "float")]
    pub extend: f64,
    /// Speed-up of shading and sampling.
    #[serde(with = "float")]
    pub shade: f64,
    /// Speed-up of any-hit traversal and adding the light that arrives.
    #[serde(with = "float")]
    pub connect: f64,
    /// Speed-up of traversal alone.
    #[serde(with = "float")]
    pub trace: f64,
    /// Speed-up of all stages and what lies between them.
    #[serde(with = "float")]
    pub total: f64,
    /// The mode that `target` was compiled in.
    pub mode: Mode,
}
