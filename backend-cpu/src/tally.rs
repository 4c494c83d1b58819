//! Thread time and ray counts that a pass adds up.

use lockstep_core::BounceCounts;
use lockstep_core::film::InvalidSamples;
use std::time::Duration;

/// Thread time by stage, ray counts by bounce, and invalid samples of some tiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) generate: Duration,
    pub(crate) extend: Duration,
    pub(crate) shade: Duration,
    pub(crate) connect: Duration,
    /// Time of all threads together.
    pub(crate) photon_map: Duration,
    pub(crate) merges: Duration,
    pub(crate) bounces: Vec<BounceCounts>,
    pub(crate) invalid: InvalidSamples,
}

impl Tally {
    /// The counts of a bounce.
    pub(crate) fn bounce(&mut self, bounce: u32) -> &mut BounceCounts {
        let index = bounce as usize;
        if self.bounces.len() <= index {
            self.bounces.resize(index + 1, BounceCounts::default());
        }
        &mut self.bounces[index]
    }

    /// Adds another tally.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.generate += other.generate;
        self.extend += other.extend;
        self.shade += other.shade;
        self.connect += other.connect;
        self.photon_map += other.photon_map;
        self.merges += other.merges;
        for (bounce, counts) in other.bounces.iter().enumerate() {
            let sum = self.bounce(bounce as u32);
            sum.extension_rays += counts.extension_rays;
            sum.hits += counts.hits;
            sum.shadow_rays += counts.shadow_rays;
            sum.unoccluded += counts.unoccluded;
        }
        self.invalid.merge(&other.invalid);
        self
    }
}
