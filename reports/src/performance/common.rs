//! The parts that two studies share.

use super::changed::Machine;
use crate::records::TargetId;

/// The parts that two studies share.
pub(super) struct Common {
    /// Scenes that are the same in both.
    pub(super) scenes: Vec<String>,
    /// The target of each name whose device is the same, in both.
    pub(super) machine: Machine,
}

impl Common {
    /// Whether both have the scene, and it is the same.
    pub(super) fn has_scene(&self, scene: &str) -> bool {
        self.scenes.iter().any(|known| known == scene)
    }

    /// Whether times of a target can be compared: machine and device are the same.
    pub(super) fn is_timed_alike(&self, target: &TargetId) -> bool {
        self.machine.is_same_for(target)
    }
}
