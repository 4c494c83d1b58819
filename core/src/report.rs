//! Reports of the calls of a [`crate::Renderer`]: times, ray counts and sizes.

use crate::film::InvalidSamples;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Cost of [`crate::Renderer::load`], times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Building the acceleration structure, or reading it from the cache.
    pub build_ms: f64,
    /// BVH statistics; `None` if the target does not use a built-in BVH.
    #[serde(default)]
    pub bvh: Option<BvhReport>,
    /// Compiling device code; zero when ahead of time or cached.
    pub compile_ms: f64,
    /// Copying the scene to the device.
    pub upload_ms: f64,
    /// Bytes the scene and its acceleration structure take on the device.
    pub device_bytes: u64,
    /// Bytes of the photon maps of the passes in flight, which are not among `device_bytes`: [`crate::Renderer::photon_map_bytes`].
    #[serde(default)]
    pub photon_map_bytes: u64,
    /// Samples of every pixel that the device renders at once: passes of a multiple of it are the fastest. `None` where
    /// the number makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_at_once: Option<u32>,
}

/// Cost and outcome of [`crate::Renderer::configure`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfigureReport {
    /// Compiling device code and launching it for the first time, in milliseconds; zero when it was ready.
    pub compile_ms: f64,
    /// Work-items of a work-group; `None` on targets without work-groups.
    pub group: Option<u32>,
}

/// Names of the stages of a path (Laine, Karras and Aila 2013).
pub mod stage {
    /// Camera rays.
    pub const GENERATE: &str = "generate";
    /// Closest hits of extension rays.
    pub const EXTEND: &str = "extend";
    /// Emission, light and BSDF sampling, queue compaction.
    pub const SHADE: &str = "shade";
    /// Occlusion of shadow rays, and adding unoccluded light.
    pub const CONNECT: &str = "connect";
    /// Whole light sub-paths with their connections to the camera.
    pub const LIGHT_PATHS: &str = "light paths";
    /// Whole camera sub-paths with their connections to lights and light sub-paths.
    pub const CAMERA_PATHS: &str = "camera paths";
    /// Sorting the photons of a pass into a grid.
    pub const PHOTON_MAP: &str = "photon map";
    /// Merges of photons with vertices of camera sub-paths.
    pub const MERGE: &str = "merge";
}

/// Device time of one stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTime {
    /// The name, such as [`stage::EXTEND`].
    pub name: Cow<'static, str>,
    /// Milliseconds.
    pub ms: f64,
}

/// Device time of one pass by stage, in milliseconds.
///
/// On a device with several workers that run different stages at once, a stage's time is its share of all
/// workers' time, so stages add up to the pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTimes {
    /// The integrator's stages in the order of their first launch.
    pub stages: Vec<StageTime>,
    /// The whole pass on the device. The difference to the stages' sum is queue handling, gaps, and kernels
    /// that run several stages.
    pub total_ms: f64,
}

impl StageTimes {
    /// Milliseconds of a stage; 0 if the integrator has no such stage.
    pub fn ms(&self, name: &str) -> f64 {
        self.stages.iter().find(|stage| stage.name == name).map_or(0.0, |stage| stage.ms)
    }

    /// Milliseconds of extension and shadow rays.
    pub fn trace_ms(&self) -> f64 {
        self.ms(stage::EXTEND) + self.ms(stage::CONNECT)
    }

    /// Milliseconds of shading. Merges with photons are part of it on targets that have shading as a stage of its own.
    pub fn shade_ms(&self) -> f64 {
        match self.ms(stage::SHADE) {
            shade if shade > 0.0 => shade + self.ms(stage::MERGE),
            _ => 0.0,
        }
    }

    /// Milliseconds of all stages.
    pub fn sum_ms(&self) -> f64 {
        self.stages.iter().map(|stage| stage.ms).sum()
    }

    /// Adds time to a stage, which is appended if new.
    pub fn add(&mut self, name: impl Into<Cow<'static, str>>, ms: f64) {
        let name = name.into();
        match self.stages.iter_mut().find(|stage| stage.name == name) {
            Some(stage) => stage.ms += ms,
            None => self.stages.push(StageTime { name, ms }),
        }
    }

    /// Adds the times of another pass.
    pub fn merge(&mut self, other: &Self) {
        other.stages.iter().for_each(|stage| self.add(stage.name.clone(), stage.ms));
        self.total_ms += other.total_ms;
    }
}

/// Rays of one bounce, summed over the pass. Equal seeds give equal counts on every exact target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BounceCounts {
    /// Extension rays traced.
    pub extension_rays: u64,
    /// Extension rays that hit a surface.
    pub hits: u64,
    /// Shadow rays traced.
    pub shadow_rays: u64,
    /// Shadow rays that reached their light.
    pub unoccluded: u64,
}

impl BounceCounts {
    /// Adds the counts of another pass, as far as numbers go: reports of workers may hold any.
    fn merge(&mut self, other: Self) {
        self.extension_rays = self.extension_rays.saturating_add(other.extension_rays);
        self.hits = self.hits.saturating_add(other.hits);
        self.shadow_rays = self.shadow_rays.saturating_add(other.shadow_rays);
        self.unoccluded = self.unoccluded.saturating_add(other.unoccluded);
    }
}

/// Work and device time of one [`crate::Renderer::accumulate`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassReport {
    /// Device time.
    pub stages: StageTimes,
    /// Ray counts, one entry for each bounce reached.
    pub bounces: Vec<BounceCounts>,
    /// Samples of this pass that were not finite, negative or clamped.
    pub invalid: InvalidSamples,
}

impl PassReport {
    /// Adds the report of another pass over the same scene.
    pub fn merge(&mut self, other: Self) {
        self.stages.merge(&other.stages);
        self.invalid.merge(&other.invalid);
        if self.bounces.len() < other.bounces.len() {
            self.bounces.resize(other.bounces.len(), BounceCounts::default());
        }
        for (total, bounce) in self.bounces.iter_mut().zip(other.bounces) {
            total.merge(bounce);
        }
    }

    /// Extension rays over all bounces.
    pub fn extension_rays(&self) -> u64 {
        self.bounces.iter().fold(0, |sum, bounce| sum.saturating_add(bounce.extension_rays))
    }

    /// Shadow rays over all bounces.
    pub fn shadow_rays(&self) -> u64 {
        self.bounces.iter().fold(0, |sum, bounce| sum.saturating_add(bounce.shadow_rays))
    }
}

/// Times of [`crate::Renderer::trace_rays`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRaysReport {
    /// Device time of each pass over all rays, in milliseconds.
    pub ms: Vec<f64>,
    /// CPU time of each pass over all threads in milliseconds, which a busy machine does not change; empty
    /// where the device is not a CPU or cannot measure it.
    pub busy_ms: Vec<f64>,
    /// The traversed acceleration structure, such as `BVH2`.
    pub layout: String,
}

/// Origin of a BVH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BvhOrigin {
    /// Built.
    #[default]
    Built,
    /// Read from the cache.
    Cached,
    /// Built and cached again, since the cached copy was damaged.
    Rebuilt,
}

/// BVH statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BvhReport {
    /// Whether the BVH was built or read from the cache.
    pub origin: BvhOrigin,
    /// Bytes of nodes, leaves, roots and instance boxes.
    pub bytes: u64,
    /// Expected cost of a ray by the surface area heuristic (MacDonald and Booth 1990), in primitive tests.
    pub sah: f64,
}

/// Resources of one compiled kernel; `None` where neither driver nor compiler reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelResources {
    /// The kernel's name.
    pub kernel: String,
    /// Registers per work-item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<u64>,
    /// Bytes of registers spilled to memory per work-item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill_bytes: Option<u64>,
    /// Bytes of private memory per work-item: its stack, spills included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u64>,
    /// Bytes of shared (local) memory per work-group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u64>,
    /// Warp or sub-group size; a work-group is best a multiple of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_are_part_of_shading_where_that_is_a_stage_of_its_own() {
        let of = |stages: &[(&'static str, f64)]| {
            let mut times = StageTimes::default();
            stages.iter().for_each(|&(name, ms)| times.add(name, ms));
            times.shade_ms()
        };
        assert_eq!(of(&[(stage::SHADE, 2.0), (stage::CONNECT, 1.0)]), 2.0);
        assert_eq!(of(&[(stage::SHADE, 2.0), (stage::MERGE, 4.0)]), 6.0);
        assert_eq!(of(&[(stage::CAMERA_PATHS, 2.0), (stage::MERGE, 4.0)]), 0.0);
    }
}
