//! Records that only devices and their drivers exchange. The twin is `kernels/abi.h`.

use bytemuck::{Pod, Zeroable};
use lockstep_core::math::vec3::Vec3;
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

/// What the samples in flight have in common; passed by value.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Pass {
    /// The camera, fitted to the film.
    pub camera: CameraFrame,
    /// Pixels that the samples in flight belong to: positions `first_pixel .. first_pixel + pixels` of the film's tiles
    /// ([`lockstep_core::film::tiled`]).
    pub pixels: u32,
    /// Samples of each pixel in flight. `pixels * samples` paths, below 2^31.
    pub samples: u32,
    /// Index of the first of them.
    pub first_sample: u32,
    /// Selects the random numbers.
    pub seed: u32,
    /// Scattering events along a path.
    pub bounces: u32,
    /// A [`lockstep_core::Strategy`].
    pub strategy: u32,
    /// First bounce of Russian roulette, or [`NONE`].
    pub roulette_from: u32,
    /// Film index of the first of them. A film that does not fit the path state is rendered in ranges of pixels.
    pub first_pixel: u32,
}

impl Pass {
    /// The samples `first_sample .. first_sample + samples` of every pixel.
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
        }
    }
}

/// What of a scene is not an array; passed by value.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SceneConstants {
    /// The sky.
    pub environment: Environment,
    /// The sphere around all geometry.
    pub bounds: BoundingSphere,
    /// Entries of the light list and of its alias table.
    pub light_count: u32,
    /// Entries of the sky's alias table.
    pub environment_cells: u32,
    /// Root of the tree over instances, or [`lockstep_bvh::EMPTY`].
    pub root: u32,
    /// Zero.
    pub reserved: u32,
}

/// Rays of one bounce of the samples in flight. `extension_rays` and `shadow_rays` are also the lengths of that
/// bounce's queues.
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

/// Words of [`crate::signatures::TALLY`]'s totals before the first bounce's: invalid that are not finite, negative, clamped; zero.
pub const TOTALS_HEADER: usize = 4;

/// How many 64-bit totals a run with this many bounces keeps: the header, then four for each bounce in the order of
/// [`BounceCounters`].
pub const fn totals_len(bounces: u32) -> usize {
    TOTALS_HEADER + 4 * (bounces as usize + 1)
}

/// How many [`BounceCounters`] a run with this many bounces needs: one for each bounce, and one that stays zero; then as
/// many again, from which work-items that fetch their rays are given them.
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

/// The invalid in `totals`.
pub fn invalid_of_totals(totals: &[u64]) -> lockstep_core::film::InvalidSamples {
    let word = |i: usize| totals.get(i).copied().unwrap_or(0);
    lockstep_core::film::InvalidSamples { non_finite: word(0), negative: word(1), clamped: word(2) }
}
