//! Records that only devices and their drivers exchange. The counterpart is `kernels/abi.h`.

use bytemuck::{Pod, Zeroable};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::merging::Merging;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::{BoundingSphere, Environment, NONE, SceneData};
use lockstep_core::{BounceCounts, Settings};

/// A vector and a fourth word, whose meaning depends on the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Packed {
    /// Three floats.
    pub v: Vec3,
    /// An integer, or the bits of a float.
    pub w: u32,
}

/// Samples in flight of an integrator with merges, at most: each is a pass with a photon map of its own.
pub const MERGED_PASSES: u32 = 8;

/// Parameters of a batch of samples in flight; passed by value.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Pass {
    /// The camera, fitted to the film.
    pub camera: CameraFrame,
    /// Number of pixels in flight: positions `first_pixel .. first_pixel + pixels` in tiled order
    /// ([`lockstep_core::film::tiled`]).
    pub pixels: u32,
    /// Samples in flight per pixel. `pixels * samples` paths, below 2^31.
    pub samples: u32,
    /// Index of the first sample in flight.
    pub first_sample: u32,
    /// Selects the random numbers.
    pub seed: u32,
    /// Scattering events along a path.
    pub bounces: u32,
    /// A [`lockstep_core::Strategy`].
    pub strategy: u32,
    /// First bounce of Russian roulette, or [`NONE`].
    pub roulette_from: u32,
    /// Position of the first pixel in flight. A film that does not fit the path state is rendered in ranges
    /// of pixels.
    pub first_pixel: u32,
    /// The merges of each sample in flight; zero without merging.
    pub merging: [Merging; MERGED_PASSES as usize],
}

impl Pass {
    /// Parameters of the samples `first_sample .. first_sample + samples` of every pixel.
    pub fn new(scene: &SceneData, settings: &Settings, first_sample: u32, samples: u32) -> Self {
        Self {
            camera: scene.camera.frame(settings.width, settings.height),
            pixels: settings.width * settings.height,
            samples,
            first_sample,
            seed: settings.seed,
            bounces: settings.bounces,
            strategy: settings.strategy as u32,
            roulette_from: settings.roulette_from.unwrap_or(NONE),
            first_pixel: 0,
            merging: [Merging::NONE; MERGED_PASSES as usize],
        }
    }
}

/// Scene data outside its arrays; passed by value.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SceneConstants {
    /// The environment.
    pub environment: Environment,
    /// Bounding sphere of all geometry.
    pub bounds: BoundingSphere,
    /// Entries of the light list and of its alias table.
    pub light_count: u32,
    /// Entries of the environment's alias table.
    pub environment_cells: u32,
    /// Root of the BVH over instances, or [`lockstep_bvh::EMPTY`].
    pub root: u32,
    /// Zero.
    pub reserved: u32,
}

/// Rays of one bounce of the samples in flight. `extension_rays` and `shadow_rays` are also the lengths of
/// that bounce's queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BounceCounters {
    /// Extension rays.
    pub extension_rays: u32,
    /// Extension rays that hit a surface.
    pub hits: u32,
    /// Shadow rays.
    pub shadow_rays: u32,
    /// Shadow rays that reached their light.
    pub unoccluded: u32,
}

/// Words of [`crate::signatures::TALLY`]'s totals before those of the first bounce: samples that are not
/// finite, negative, clamped; zero.
pub const TOTALS_HEADER: usize = 4;

/// Number of 64-bit totals of a run with this many bounces: the header, then four per bounce in the order of
/// [`BounceCounters`].
pub const fn totals_len(bounces: u32) -> usize {
    TOTALS_HEADER + 4 * (bounces as usize + 1)
}

/// Number of [`BounceCounters`] of a run with this many bounces: one per bounce and one that stays zero, in two sets: the
/// counts, and the counters from which work-items fetch rays.
pub const fn counters_len(bounces: u32) -> usize {
    2 * (bounces as usize + 2)
}

/// The ray counts in `totals`, one entry for each bounce reached.
pub fn bounces_of_totals(totals: &[u64]) -> Vec<BounceCounts> {
    totals
        .get(TOTALS_HEADER..)
        .unwrap_or_default()
        .chunks_exact(4)
        .map(|c| BounceCounts { extension_rays: c[0], hits: c[1], shadow_rays: c[2], unoccluded: c[3] })
        .take_while(|c| c.extension_rays > 0)
        .collect()
}

/// The invalid samples in `totals`.
pub fn invalid_of_totals(totals: &[u64]) -> lockstep_core::film::InvalidSamples {
    let word = |i: usize| totals.get(i).copied().unwrap_or(0);
    lockstep_core::film::InvalidSamples { non_finite: word(0), negative: word(1), clamped: word(2) }
}
