//! Batches of paths in flight.

use crate::driver::device::{DeviceType, Limits};
use crate::integrators::Plan;
use crate::records::MERGED_PASSES;
use lockstep_core::{Settings, Structure};
use std::ops::Range;

/// Paths in flight on a GPU. The last rays of a launch leave most of the device idle, so launches should be
/// long: on an H200, 16 million give 7 % more samples a second than 4 million.
const GPU_PATHS: u64 = 16 << 20;
/// Paths in flight for each core of a CPU: its share of the path state fits the second-level cache.
const CPU_PATHS_PER_CORE: u64 = 8 << 10;
/// Smallest number of paths in flight, so that launches cost little beside their work.
const CPU_PATHS: u64 = 32 << 10;
/// The share of memory that path state may take, as a divisor.
const MEMORY_SHARE: u64 = 4;

/// The samples `samples` of the film pixels `pixels`, traced together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Positions in the order of [`lockstep_core::film::tiled`].
    pub pixels: Range<u32>,
    /// Sample indices.
    pub samples: Range<u32>,
}

impl Batch {
    /// Paths in flight.
    pub fn paths(&self) -> u32 {
        self.pixels.len() as u32 * self.samples.len() as u32
    }
}

/// The number of paths of up to `bounces` bounces that a device should have in flight.
pub fn paths_in_flight(limits: &Limits, plan: &Plan, structure: Structure, bounces: u32) -> u32 {
    let wanted = match limits.kind {
        DeviceType::Gpu => GPU_PATHS,
        DeviceType::Cpu => (CPU_PATHS_PER_CORE * u64::from(limits.compute_units)).max(CPU_PATHS),
    };
    wanted.min(most_paths(limits, plan, structure, bounces)).max(1) as u32
}

/// The number of paths of a render that a device should have in flight. Merges need all paths of a sample index, so there it
/// is that of one sample of the film, or on a GPU of the power of two of samples that comes nearest to as many paths as
/// elsewhere: buckets of their photon maps are then a power of two together.
pub fn default_paths(limits: &Limits, plan: &Plan, structure: Structure, settings: &Settings) -> u32 {
    let wanted = paths_in_flight(limits, plan, structure, settings.bounces);
    if !settings.integrator.merges() {
        return wanted;
    }
    let pixels = settings.width.saturating_mul(settings.height).max(1);
    let samples = match limits.kind {
        DeviceType::Gpu => (wanted / pixels).clamp(1, MERGED_PASSES),
        DeviceType::Cpu => 1,
    };
    pixels << samples.ilog2()
}

/// The number of paths that a device has room for.
pub fn most_paths(limits: &Limits, plan: &Plan, structure: Structure, bounces: u32) -> u64 {
    let fits = limits.memory / MEMORY_SHARE / plan.bytes_per_path(structure, bounces);
    let fits_one = limits.largest_allocation / plan.largest_bytes_per_path(structure, bounces);
    fits.min(fits_one).min(1 << 30)
}

/// Samples of every pixel of a film of `film` pixels in one batch, with at most `capacity` paths in flight.
pub fn samples_at_once(film: u32, capacity: u32) -> u32 {
    (capacity / film.max(1)).max(1)
}

/// Covers every sample of `samples` of every pixel of a film of `film` pixels, with at most `capacity` paths
/// in flight. Batches of one pass are of nearly equal size.
pub fn batches(film: u32, samples: Range<u32>, capacity: u32) -> impl Iterator<Item = Batch> {
    let ranges = film.div_ceil(capacity.max(1)).max(1);
    let turns = (samples.len() as u32).div_ceil(samples_at_once(film, capacity));
    let part =
        |whole: u32, index: u32, parts: u32| (u64::from(whole) * u64::from(index) / u64::from(parts)) as u32;
    let (first, count) = (samples.start, samples.len() as u32);
    (0..turns).flat_map(move |turn| {
        let samples = first + part(count, turn, turns)..first + part(count, turn + 1, turns);
        (0..ranges).map(move |range| Batch {
            pixels: part(film, range, ranges)..part(film, range + 1, ranges),
            samples: samples.clone(),
        })
    })
}
