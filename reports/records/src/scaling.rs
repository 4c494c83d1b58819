//! The time of a CPU target by number of threads.

use lockstep_core::{Mode, TargetId};
use serde::{Deserialize, Serialize};

/// The passes of one CPU target with one number of threads, timed in rounds with its other numbers of
/// threads: pass `i` takes the same samples with each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scaling {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Random seed.
    pub seed: u64,
    /// Worker threads.
    pub threads: u32,
    /// Samples of every pixel in a pass.
    pub spp: u32,
    /// Samples in a pass: pixels times `spp`.
    pub samples: u64,
    /// Milliseconds of each pass, in the order of the rounds.
    pub times_ms: Vec<f64>,
    /// Whether the film of all passes is that of the target's fewest threads, integer by integer.
    pub identical: bool,
    /// How the target was compiled.
    pub mode: Mode,
}
