//! A unit of a study's work.

use lockstep_core::TargetId;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Purpose of the films of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// A level of samples per pixel, or a part of one, compared and timed.
    Level,
    /// A level under another seed, for the noise floor.
    NoiseFloor,
    /// The image that errors are measured against.
    Reference,
}

/// Some samples of a scene under one seed, on some targets in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unit {
    /// The scene's name.
    pub(crate) scene: String,
    /// The purpose of its films.
    pub(crate) work: Work,
    /// The random seed.
    pub(crate) seed: u32,
    /// The repeat of the same samples, from 0.
    pub(crate) repeat: u32,
    /// The first sample index.
    pub(crate) from: u32,
    /// One past the last sample index.
    pub(crate) to: u32,
    /// The targets, in the order in which they render.
    pub(crate) targets: Vec<TargetId>,
    /// The estimated cost, in a unit that is the same for all units of a plan.
    pub(crate) cost: u64,
}

impl Unit {
    /// The sample indices.
    pub(crate) fn samples(&self) -> Range<u32> {
        self.from..self.to
    }

    /// The unit in a few words.
    pub(crate) fn in_words(&self) -> String {
        let work = match self.work {
            Work::Level => "",
            Work::NoiseFloor => ", noise floor",
            Work::Reference => ", reference",
        };
        let repeat = if self.repeat > 0 { format!(", repeat {}", self.repeat) } else { String::new() };
        format!("{} seed {}{repeat}{work}, samples {}..{}", self.scene, self.seed, self.from, self.to)
    }
}

/// The name of a unit's files, without an extension.
pub(crate) fn name(index: usize) -> String {
    format!("u{index:05}")
}

/// The index of the unit that a manifest's name names.
pub(crate) fn index_of(manifest: &str) -> Option<usize> {
    let index = manifest.strip_prefix('u')?.strip_suffix(".json")?.parse().ok()?;
    (format!("{}.json", name(index)) == manifest).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_known_by_its_name_alone() {
        assert_eq!(index_of(&format!("{}.json", name(7))), Some(7));
        assert_eq!(index_of(&format!("{}.json", name(123_456))), Some(123_456));
        for other in ["u7.json", "u00007.film", "v00007.json", "u00007.json.1", "u000007.json", "u-0001.json"]
        {
            assert_eq!(index_of(other), None, "{other}");
        }
    }
}
