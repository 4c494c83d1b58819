//! Renders of one image by several targets together.

use lockstep_core::TargetId;
use serde::{Deserialize, Serialize};

/// The schedule of records about one target of a group alone.
pub const ALONE: &str = "alone";
/// The schedule of the first target alone a second time in each round, which shows the noise (A/A).
pub const AA_CONTROL: &str = "alone again";

/// Passes of the same samples by a group of targets under one schedule, or by one of its targets alone. All take turns
/// in rounds; each pass begins without knowledge of rates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sharing {
    /// Scene name.
    pub scene: String,
    /// The group, as in `together(cuda@0,cpu-bvh)`.
    pub group: TargetId,
    /// The targets that rendered.
    pub targets: Vec<TargetId>,
    /// How samples were shared; [`ALONE`] or [`AA_CONTROL`] for one target.
    pub schedule: String,
    /// Random seed.
    pub seed: u64,
    /// Samples of every pixel in a pass.
    pub spp: u32,
    /// Samples in a pass: pixels times `spp`.
    pub samples: u64,
    /// Milliseconds of each pass from its first lease to its last film, in the order of the rounds.
    pub times_ms: Vec<f64>,
    /// Share of all targets' time in which they rendered nothing, 0 to 1, in the order of the rounds.
    pub idle: Vec<f64>,
    /// Samples of every pixel that were rendered for nothing, in the order of the rounds.
    pub wasted_spp: Vec<u64>,
    /// Whether the films of all passes are those of the first target alone, integer by integer.
    pub identical: bool,
    /// The leases of the last pass.
    pub leases: Vec<Lease>,
}

/// Samples that one target rendered at one time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lease {
    /// The target.
    pub target: TargetId,
    /// Start of the lease, in milliseconds since the pass began.
    pub start_ms: f64,
    /// End of the lease, when its samples were rendered, in milliseconds since the pass began.
    pub end_ms: f64,
    /// Samples of every pixel.
    pub spp: u32,
    /// `committed`; `duplicate` where another copy was first; `lost` with its worker.
    pub outcome: String,
    /// Whether the lease repeated another target's.
    pub backup: bool,
}
