//! One tile of the film: its sums, and the wavefront that adds samples to it.
//!
//! A tile is small enough for its queues to stay in cache and large enough for the clock readings between stages to
//! cost nothing.

use crate::intersector::Intersector;
use lockstep_core::film::{InvalidSamples, quantize};
use lockstep_core::geometry::Hit;
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::scene::Scene;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::{BounceCounts, Settings};
use lockstep_core::{KernelConfig, Order, Rays};
use lockstep_transport::integrators::{PathState, shade};
use lockstep_transport::simd::{Batch, ShadeOutput, ShadowRay};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Pixels along a tile's side where a variant does not say.
const TILE_SIDE: u32 = 32;

/// A rectangle of pixels with its sums.
#[derive(Debug)]
pub(crate) struct Tile {
    /// Film indices (`y * width + x`) of the tile's pixels.
    pub(crate) pixels: Vec<u32>,
    /// Their sums.
    pub(crate) sums: Vec<[i64; 3]>,
}

/// Width and height of a variant's tiles on a film of this width.
pub(crate) fn tile_size(variant: &KernelConfig, width: u32) -> [u32; 2] {
    let side = variant.tile.unwrap_or(TILE_SIDE).max(1);
    match variant.order {
        Order::Tiles | Order::Octants => [side; 2],
        // Whole rows, together about as many pixels as a tile.
        Order::Scanline => [width, (side.saturating_mul(side) / width.max(1)).max(1)],
    }
}

/// The tiles of this size that cover a film.
pub(crate) fn cover(width: u32, height: u32, [tile_width, tile_height]: [u32; 2]) -> Vec<Tile> {
    let starts = |size: u32, step: u32| (0..size).step_by(step as usize);
    let mut tiles = Vec::new();
    for y0 in starts(height, tile_height) {
        for x0 in starts(width, tile_width) {
            let rows = y0..(y0 + tile_height).min(height);
            let columns = x0..(x0 + tile_width).min(width);
            let pixels: Vec<u32> = rows.flat_map(|y| columns.clone().map(move |x| y * width + x)).collect();
            let sums = vec![[0; 3]; pixels.len()];
            tiles.push(Tile { pixels, sums });
        }
    }
    tiles
}

/// What tiles render.
pub(crate) struct Job<'a, I> {
    pub(crate) scene: &'a Scene,
    pub(crate) intersector: &'a I,
    pub(crate) camera: CameraFrame,
    pub(crate) settings: Settings,
    pub(crate) samples: Range<u32>,
    /// Whether rays are traced together where the intersector can.
    pub(crate) rays: Rays,
    /// Whether paths are shaded together.
    pub(crate) batches: bool,
    /// The order of a tile's extension rays.
    pub(crate) order: Order,
}

/// Thread time by stage, ray counts and invalid of some tiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) generate: Duration,
    pub(crate) extend: Duration,
    pub(crate) shade: Duration,
    pub(crate) connect: Duration,
    pub(crate) bounces: Vec<BounceCounts>,
    pub(crate) invalid: InvalidSamples,
}

impl Tally {
    fn bounce(&mut self, bounce: u32) -> &mut BounceCounts {
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

/// The queues of one thread, kept from tile to tile.
pub(crate) struct Wavefront<S> {
    paths: Vec<PathState>,
    hits: Vec<Hit>,
    active: Vec<u32>,
    sorted: Vec<u32>,
    batch: Batch,
    output: ShadeOutput,
    occluded: Vec<bool>,
    scratch: S,
}

impl<S: Default> Default for Wavefront<S> {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            hits: Vec::new(),
            active: Vec::new(),
            sorted: Vec::new(),
            batch: Batch::default(),
            output: ShadeOutput::default(),
            occluded: Vec::new(),
            scratch: S::default(),
        }
    }
}

/// The first `count` places of a queue, which hold whatever they held.
#[inline(always)]
fn room<T: Clone>(queue: &mut Vec<T>, count: usize, filling: T) -> &mut [T] {
    if queue.len() < count {
        queue.resize(count, filling);
    }
    &mut queue[..count]
}

impl<S: Default> Wavefront<S> {
    /// Adds all samples of the job to a tile, by the widest instructions that the processor has. All round alike.
    pub(crate) fn render<I: Intersector<Scratch = S>>(&mut self, job: &Job<'_, I>, tile: &mut Tile) -> Tally {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.render_by_avx2(job, tile) };
        }
        self.render_portably(job, tile)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn render_by_avx2<I: Intersector<Scratch = S>>(&mut self, job: &Job<'_, I>, tile: &mut Tile) -> Tally {
        self.render_portably(job, tile)
    }

    #[inline(always)]
    fn render_portably<I: Intersector<Scratch = S>>(&mut self, job: &Job<'_, I>, tile: &mut Tile) -> Tally {
        let mut tally = Tally::default();
        for sample in job.samples.clone() {
            self.generate(job, tile, sample, &mut tally);
            for bounce in 0..job.settings.integrator.rounds(job.settings.bounces) {
                if self.active.is_empty() {
                    break;
                }
                self.extend(job, bounce, &mut tally);
                self.shade(job, bounce, &mut tally);
                self.connect(job, bounce, &mut tally);
            }
            for (sum, path) in tile.sums.iter_mut().zip(&self.paths) {
                let value = quantize(path.radiance, &mut tally.invalid);
                for (total, v) in sum.iter_mut().zip(value) {
                    *total += v;
                }
            }
        }
        tally
    }

    #[inline(always)]
    fn generate<I>(&mut self, job: &Job<'_, I>, tile: &Tile, sample: u32, tally: &mut Tally) {
        let start = Instant::now();
        let key = SampleKey { pixel: 0, sample, seed: job.settings.seed };
        self.paths.clear();
        self.batch.generate(&job.camera, &tile.pixels, key, &mut self.paths);
        self.active.clear();
        self.active.extend(0..self.paths.len() as u32);
        tally.generate += start.elapsed();
    }

    #[inline(always)]
    fn extend<I: Intersector<Scratch = S>>(&mut self, job: &Job<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        let Self { paths, hits, active, scratch, .. } = self;
        let hits = room(hits, active.len(), Hit::none(0.0));
        let ray = |i: usize| {
            let path = &paths[active[i] as usize];
            (&path.ray, RayKey::extension(path.key, bounce))
        };
        if job.rays == Rays::Single {
            job.intersector.each_closest_hit(active.len(), ray, scratch, |i, hit| hits[i] = hit);
        } else {
            job.intersector.closest_hits(active.len(), ray, scratch, |i, hit| hits[i] = hit);
        }
        tally.extend += start.elapsed();
    }

    #[inline(always)]
    fn shade<I>(&mut self, job: &Job<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        let counts = tally.bounce(bounce);
        counts.extension_rays += self.active.len() as u64;
        let Self { paths, hits, active, output, batch, .. } = self;
        let hits = &hits[..active.len()];
        counts.hits += hits.iter().filter(|hit| hit.is_some()).count() as u64;
        if job.batches {
            batch.shade(job.scene, &job.settings, bounce, paths, active, hits, output);
        } else {
            output.begin(active.len());
            for (index, hit) in active.iter().zip(hits) {
                let path = &mut paths[*index as usize];
                output.push(*index, &shade(job.scene, &job.settings, bounce, path, hit, &mut ()));
            }
        }
        counts.shadow_rays += output.shadow_rays().len() as u64;
        active.clear();
        active.extend_from_slice(output.surviving_paths());
        if job.order == Order::Octants {
            self.sort_by_octant();
        }
        tally.shade += start.elapsed();
    }

    /// Puts the paths that go on in the order of the octants of their directions.
    fn sort_by_octant(&mut self) {
        let Self { paths, active, sorted, .. } = self;
        let octant = |&index: &u32| {
            let signs = paths[index as usize].ray.direction.to_array().map(|v| usize::from(v < 0.0));
            signs[0] + 2 * signs[1] + 4 * signs[2]
        };
        let mut counts = [0; 8];
        active.iter().for_each(|index| counts[octant(index)] += 1);
        let mut end = 0;
        let mut places = counts.map(|count| {
            end += count;
            end - count
        });
        sorted.clear();
        sorted.resize(active.len(), 0);
        for index in active.iter() {
            let place = &mut places[octant(index)];
            sorted[*place] = *index;
            *place += 1;
        }
        std::mem::swap(active, sorted);
    }

    #[inline(always)]
    fn connect<I: Intersector<Scratch = S>>(&mut self, job: &Job<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        let mut unoccluded = 0;
        let Self { paths, output, occluded, scratch, .. } = self;
        let shadow_rays = output.shadow_rays();
        let occluded = room(occluded, shadow_rays.len(), false);
        let ray = |i: usize| {
            let ShadowRay { connection, path } = &shadow_rays[i];
            (&connection.ray, RayKey::shadow(paths[*path as usize].key, bounce))
        };
        if job.rays == Rays::Single {
            job.intersector.each_any_hit(shadow_rays.len(), ray, scratch, |i, found| occluded[i] = found);
        } else {
            job.intersector.any_hits(shadow_rays.len(), ray, scratch, |i, found| occluded[i] = found);
        }
        for (ray, _) in shadow_rays.iter().zip(occluded).filter(|(_, occluded)| !**occluded) {
            let path = &mut paths[ray.path as usize];
            path.radiance = path.radiance + ray.connection.radiance;
            unoccluded += 1;
        }
        tally.bounce(bounce).unoccluded += unoccluded;
        tally.connect += start.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::vec3;
    use lockstep_transport::integrators::generate;

    #[test]
    fn paths_that_go_on_are_grouped_by_octant_and_stay_in_order_within_it() {
        let scene = lockstep_core::scene::SceneBuilder::new("nothing").build().unwrap();
        let camera = scene.camera.frame(1, 1);
        let going = |x: f32, y: f32, z: f32| {
            let mut path = generate(&camera, SampleKey { pixel: 0, sample: 0, seed: 0 });
            path.ray.direction = vec3(x, y, z);
            path
        };
        let paths = vec![
            going(-1.0, -1.0, -1.0),
            going(1.0, 1.0, 1.0),
            going(0.5, -0.0, 2.0),
            going(-1.0, 1.0, 1.0),
            going(1.0, 1.0, -1.0),
            going(2.0, 1.0, 1.0),
        ];
        let active = vec![4, 0, 5, 1, 3, 2];
        let mut wavefront = Wavefront::<()> { paths, active, ..Wavefront::default() };
        wavefront.sort_by_octant();
        assert_eq!(wavefront.active, [5, 1, 2, 3, 4, 0]);
    }
}
