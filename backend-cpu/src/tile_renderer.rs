//! The tile renderer: the stages of wavefront path tracing, run by one thread on one tile.

use crate::intersector::Intersector;
use crate::tally::Tally;
use crate::tiling::Tile;
use lockstep_core::film::{InvalidSamples, is_narrow, narrow_units, quantize};
use lockstep_core::geometry::Hit;
use lockstep_core::math::rng::{RayKey, SampleKey, dither};
use lockstep_core::scene::Scene;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::{Order, Rays, Sampler, Settings};
use lockstep_transport::integrators::PathState;
use lockstep_transport::simd::{Batch, Batching, ShadeJob, ShadeOutput, ShadowRay};
use std::ops::Range;
use std::time::Instant;

/// The work of a pass, the same for all tiles.
pub(crate) struct PassJob<'a, I> {
    pub(crate) scene: &'a Scene,
    pub(crate) intersector: &'a I,
    pub(crate) camera: CameraFrame,
    pub(crate) settings: Settings,
    /// Sample indices to add to each pixel.
    pub(crate) samples: Range<u32>,
    /// Single rays, or packets where the intersector has them.
    pub(crate) rays: Rays,
    /// The surfaces that are shaded in SIMD batches.
    pub(crate) batching: &'a Batching,
    /// The order of a tile's extension rays.
    pub(crate) order: Order,
}

/// The queues of one thread, reused from tile to tile.
pub(crate) struct TileRenderer<S> {
    /// Path state by pixel of the tile.
    paths: Vec<PathState>,
    /// Closest hits of the active paths.
    hits: Vec<Hit>,
    /// Indices of the paths that are still traced.
    active: Vec<u32>,
    /// Target of sorting `active`.
    sorted: Vec<u32>,
    /// Working memory of SIMD shading.
    batch: Batch,
    /// Surviving paths and shadow rays of a bounce.
    output: ShadeOutput,
    /// Answers to the shadow rays.
    occluded: Vec<bool>,
    /// Working memory of the intersector.
    scratch: S,
}

impl<S: Default> Default for TileRenderer<S> {
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

/// The first `count` entries of a queue, with stale contents; grows the queue with `filling` where it is
/// shorter.
#[inline(always)]
pub(crate) fn prefix_mut<T: Clone>(queue: &mut Vec<T>, count: usize, filling: T) -> &mut [T] {
    if queue.len() < count {
        queue.resize(count, filling);
    }
    &mut queue[..count]
}

/// Pixels whose random words are drawn together, by SIMD.
const LANES: usize = 16;

/// Random words for rounding a sample's red, green and blue in up to [`LANES`] pixels.
#[inline(always)]
fn film_words(pixels: &[u32], sample: u32, seed: u32) -> [[u32; LANES]; 3] {
    let mut of_lanes = [0; LANES];
    of_lanes[..pixels.len()].copy_from_slice(pixels);
    let mut words = [[0; LANES]; 3];
    for (lane, &pixel) in of_lanes.iter().enumerate() {
        let drawn = dither(SampleKey { pixel, sample, seed, sampler: Sampler::Pcg }, 0);
        for (word, channel) in drawn.into_iter().zip(&mut words) {
            channel[lane] = word;
        }
    }
    words
}

/// Adds a sample of up to [`LANES`] pixels to their sums.
#[inline(always)]
fn add_samples(
    sums: &mut [[i64; 3]],
    paths: &[PathState],
    words: &[[u32; LANES]; 3],
    invalid: &mut InvalidSamples,
) {
    let mut radiance = [[0.0; LANES]; 3];
    for (lane, path) in paths.iter().enumerate() {
        for (channel, v) in radiance.iter_mut().zip(path.radiance.to_array()) {
            channel[lane] = v;
        }
    }
    // Round all lanes together where none is out of the ordinary
    if radiance.as_flattened().iter().fold(true, |all, &v| all & is_narrow(v)) {
        let mut units = [[0; LANES]; 3];
        for (units, (radiance, words)) in units.iter_mut().zip(radiance.iter().zip(words)) {
            for lane in 0..LANES {
                units[lane] = narrow_units(radiance[lane], words[lane]);
            }
        }
        for (lane, sum) in sums.iter_mut().enumerate() {
            for (total, units) in sum.iter_mut().zip(&units) {
                *total += i64::from(units[lane]);
            }
        }
        return;
    }
    for (lane, (sum, path)) in sums.iter_mut().zip(paths).enumerate() {
        let words = [words[0][lane], words[1][lane], words[2][lane], 0];
        for (total, v) in sum.iter_mut().zip(quantize(path.radiance, words, invalid)) {
            *total += v;
        }
    }
}

/// Whether the portable build traces packets. Beside that for AVX2 it serves processors from before 2013 alone, for which
/// packets are not compiled.
const PORTABLE_PACKETS: bool = cfg!(not(target_arch = "x86_64"));

/// Whether this processor's build traces packets.
pub(crate) fn traces_packets() -> bool {
    #[cfg(target_arch = "x86_64")]
    if lockstep_core::has_avx2() {
        return true;
    }
    PORTABLE_PACKETS
}

impl<S: Default> TileRenderer<S> {
    /// Adds the pass's samples to a tile, compiled for AVX2 where the processor has it. Both builds round
    /// alike.
    pub(crate) fn render<I: Intersector<Scratch = S>>(
        &mut self,
        job: &PassJob<'_, I>,
        tile: &mut Tile,
    ) -> Tally {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.render_avx2(job, tile) };
        }
        self.render_portable::<I, PORTABLE_PACKETS>(job, tile)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn render_avx2<I: Intersector<Scratch = S>>(&mut self, job: &PassJob<'_, I>, tile: &mut Tile) -> Tally {
        self.render_portable::<I, true>(job, tile)
    }

    /// Adds the pass's samples to a tile. Without `PACKETS`, it traces rays one at a time whatever the configuration.
    #[inline(always)]
    fn render_portable<I: Intersector<Scratch = S>, const PACKETS: bool>(
        &mut self,
        job: &PassJob<'_, I>,
        tile: &mut Tile,
    ) -> Tally {
        let mut tally = Tally::default();
        for sample in job.samples.clone() {
            // Generate camera rays
            self.generate(job, tile, sample, &mut tally);

            // Trace the wavefront, bounce by bounce, until no path survives
            for bounce in 0..job.settings.integrator.rounds(job.settings.bounces) {
                if self.active.is_empty() {
                    break;
                }
                self.extend::<I, PACKETS>(job, bounce, &mut tally);
                self.shade(job, bounce, &mut tally);
                self.connect::<I, PACKETS>(job, bounce, &mut tally);
            }

            // Resolve: add each path's radiance to its pixel
            let chunks = tile.sums.chunks_mut(LANES).zip(tile.pixels.chunks(LANES));
            for ((sums, pixels), paths) in chunks.zip(self.paths.chunks(LANES)) {
                let dither = film_words(pixels, sample, job.settings.seed);
                add_samples(sums, paths, &dither, &mut tally.invalid);
            }
        }
        tally
    }

    /// Starts a path in every pixel of the tile, with its camera ray.
    #[inline(always)]
    fn generate<I>(&mut self, job: &PassJob<'_, I>, tile: &Tile, sample: u32, tally: &mut Tally) {
        let start = Instant::now();
        let key = job.settings.key(0, sample);
        self.paths.clear();
        self.batch.generate(&job.camera, &tile.pixels, key, &mut self.paths);
        self.active.clear();
        self.active.extend(0..self.paths.len() as u32);
        tally.generate += start.elapsed();
    }

    /// Finds the closest hit of every active path's extension ray.
    #[inline(always)]
    fn extend<I: Intersector<Scratch = S>, const PACKETS: bool>(
        &mut self,
        job: &PassJob<'_, I>,
        bounce: u32,
        tally: &mut Tally,
    ) {
        let start = Instant::now();
        let Self { paths, hits, active, scratch, .. } = self;
        let hits = prefix_mut(hits, active.len(), Hit::none(0.0));
        let ray = |i: usize| {
            let path = &paths[active[i] as usize];
            (&path.ray, RayKey::extension(path.key, bounce))
        };
        if !PACKETS || job.rays == Rays::Single {
            job.intersector.closest_hits_singly(active.len(), ray, scratch, |i, hit| hits[i] = hit);
        } else {
            job.intersector.closest_hits(active.len(), ray, scratch, |i, hit| hits[i] = hit);
        }
        tally.extend += start.elapsed();
    }

    /// Shades the hits: adds emission, queues shadow rays, samples BSDFs, and keeps the surviving paths
    /// active.
    #[inline(always)]
    fn shade<I>(&mut self, job: &PassJob<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        // Count rays and hits
        let counts = tally.bounce(bounce);
        counts.extension_rays += self.active.len() as u64;
        let Self { paths, hits, active, output, batch, .. } = self;
        let hits = &hits[..active.len()];
        counts.hits += hits.iter().filter(|hit| hit.is_some()).count() as u64;

        // Shade, in batches where the scene allows it
        let (scene, settings) = (job.scene, &job.settings);
        batch.shade(
            &ShadeJob { scene, settings, bounce, batching: job.batching },
            paths,
            active,
            hits,
            output,
        );
        counts.shadow_rays += output.shadow_rays().len() as u64;

        // Compact: keep the surviving paths, in order or sorted by octant
        active.clear();
        active.extend_from_slice(output.surviving_paths());
        if job.order == Order::Octants {
            self.sort_by_octant();
        }
        tally.shade += start.elapsed();
    }

    /// Sorts the active paths by the octants of their directions; a stable counting sort.
    fn sort_by_octant(&mut self) {
        let Self { paths, active, sorted, .. } = self;
        let octant = |&index: &u32| {
            let signs = paths[index as usize].ray.direction.to_array().map(|v| usize::from(v < 0.0));
            signs[0] + 2 * signs[1] + 4 * signs[2]
        };
        // Count the paths of each octant, and turn counts into start offsets
        let mut counts = [0; 8];
        active.iter().for_each(|index| counts[octant(index)] += 1);
        let mut end = 0;
        let mut offsets = counts.map(|count| {
            end += count;
            end - count
        });

        // Scatter path indices to their octant's range
        sorted.clear();
        sorted.resize(active.len(), 0);
        for index in active.iter() {
            let offset = &mut offsets[octant(index)];
            sorted[*offset] = *index;
            *offset += 1;
        }
        std::mem::swap(active, sorted);
    }

    /// Traces the shadow rays and adds the radiance of the unoccluded ones.
    #[inline(always)]
    fn connect<I: Intersector<Scratch = S>, const PACKETS: bool>(
        &mut self,
        job: &PassJob<'_, I>,
        bounce: u32,
        tally: &mut Tally,
    ) {
        let start = Instant::now();
        let mut unoccluded = 0;
        let Self { paths, output, occluded, scratch, .. } = self;

        // Trace shadow rays
        let shadow_rays = output.shadow_rays();
        let occluded = prefix_mut(occluded, shadow_rays.len(), false);
        let ray = |i: usize| {
            let ShadowRay { connection, path } = &shadow_rays[i];
            (&connection.ray, RayKey::shadow(paths[*path as usize].key, bounce))
        };
        if !PACKETS || job.rays == Rays::Single {
            job.intersector.any_hits_singly(shadow_rays.len(), ray, scratch, |i, found| occluded[i] = found);
        } else {
            job.intersector.any_hits(shadow_rays.len(), ray, scratch, |i, found| occluded[i] = found);
        }

        // Accumulate direct lighting
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
    fn surviving_paths_are_sorted_by_octant_and_stay_in_order_within_it() {
        let scene = lockstep_core::scene::SceneBuilder::new("nothing").build().unwrap();
        let camera = scene.camera.frame(1, 1);
        let path_towards = |x: f32, y: f32, z: f32| {
            let mut path = generate(&camera, SampleKey::default());
            path.ray.direction = vec3(x, y, z);
            path
        };
        let paths = vec![
            path_towards(-1.0, -1.0, -1.0),
            path_towards(1.0, 1.0, 1.0),
            path_towards(0.5, -0.0, 2.0),
            path_towards(-1.0, 1.0, 1.0),
            path_towards(1.0, 1.0, -1.0),
            path_towards(2.0, 1.0, 1.0),
        ];
        let active = vec![4, 0, 5, 1, 3, 2];
        let mut renderer = TileRenderer::<()> { paths, active, ..TileRenderer::default() };
        renderer.sort_by_octant();
        assert_eq!(renderer.active, [5, 1, 2, 3, 4, 0]);
    }
}
