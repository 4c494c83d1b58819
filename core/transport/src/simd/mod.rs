//! SIMD camera rays and shading: structure-of-arrays batches of `LANES` paths.
//!
//! Camera paths: [`crate::integrators::generate`], and [`shade_unrecorded`] at untextured diffuse surfaces, at diffuse surfaces
//! under the environment light, and the BSDFs of principled surfaces, bare or under clearcoats. Pairs of sub-paths: extensions
//! from diffuse and principled vertices, and their connections to each other, to lights and to the lens. Each step is one loop
//! over the lanes, which the compiler vectorises. The operations are those of the scalar code, so the bits are the same. All
//! other paths go through [`shade_unrecorded`].

use crate::integrators::path::{arrive, leave};
use crate::integrators::{PathState, shade_unrecorded};
use crate::prefetch::prefetch_hits;
use batching::HitBatch;
use camera::CameraRays;
use environment::{EnvironmentBatch, EnvironmentStep};
use gather::GatheredHits;
use lockstep_core::Settings;
use lockstep_core::geometry::{FAR, Hit, Ray};
use lockstep_core::math::rng::{Block, SampleKey};
use lockstep_core::math::simd::{Array8, F32x8};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::SceneData;
use lockstep_core::scene::camera::CameraFrame;
use principled::PrincipledBatch;
use std::ops::ControlFlow;
use steps::{Continuations, LightSamples, ShadowRays};
use surfaces::DiffuseSurfaces;
use widest::{Step, run_by_avx2_at_most, run_widest};

mod batching;
mod camera;
mod connection_lanes;
mod due;
mod environment;
mod extensions;
mod gather;
mod joins;
mod lane_keys;
mod lens_connections;
mod light_connections;
mod principled;
mod scatter;
mod steps;
mod surfaces;
mod vertex_lanes;
mod widest;

pub use batching::Batching;
pub use extensions::{Extension, ExtensionBatch};
pub use joins::{Join, JoinBatch, JoinVertices};
pub use lens_connections::{LensConnectionBatch, LensConnections};
pub use light_connections::{LightConnectionBatch, LightConnections};
pub use scatter::{ShadeOutput, ShadowRay};
pub use vertex_lanes::VertexBatch;

/// Lanes that are loaded and stored together.
const EIGHT: usize = 8;

/// Lanes of a batch: enough to amortise the overhead of a step, few enough for the L1 cache.
const LANES: usize = 32;

/// One float per lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct F32xN([f32; LANES]);

/// One word per lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct U32xN([u32; LANES]);

/// One vector per lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vec3xN {
    x: F32xN,
    y: F32xN,
    z: F32xN,
}

impl Default for F32xN {
    fn default() -> Self {
        Self([0.0; LANES])
    }
}

impl Default for U32xN {
    fn default() -> Self {
        Self([0; LANES])
    }
}

impl F32xN {
    /// Eight lanes from `first` on, a multiple of eight.
    #[inline(always)]
    fn eight(&self, first: usize) -> &Array8 {
        &self.0.as_chunks().0[first / EIGHT]
    }

    #[inline(always)]
    fn eight_mut(&mut self, first: usize) -> &mut Array8 {
        &mut self.0.as_chunks_mut().0[first / EIGHT]
    }
}

impl Vec3xN {
    #[inline(always)]
    fn at(&self, lane: usize) -> Vec3 {
        vec3(self.x.0[lane], self.y.0[lane], self.z.0[lane])
    }

    #[inline(always)]
    fn put(&mut self, lane: usize, v: Vec3) {
        (self.x.0[lane], self.y.0[lane], self.z.0[lane]) = (v.x, v.y, v.z);
    }

    /// Gathers vectors into eight lanes from `first` on.
    #[inline(always)]
    fn put_eight<'v, L: F32x8>(&mut self, first: usize, vector: impl Fn(usize) -> &'v Vec3) {
        let row = |i: usize| bytemuck::cast_ref::<Vec3, [f32; 3]>(vector(first + i));
        let [x, y, z] = L::transpose3([row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)]);
        *self.x.eight_mut(first) = x.store();
        *self.y.eight_mut(first) = y.store();
        *self.z.eight_mut(first) = z.store();
    }

    /// The components of eight lanes from `first` on.
    #[inline(always)]
    fn eight(&self, first: usize) -> [&Array8; 3] {
        [self.x.eight(first), self.y.eight(first), self.z.eight(first)]
    }
}

/// Scratch memory of one thread for camera rays and shading.
#[derive(Clone, Default)]
pub struct Batch {
    camera_rays: CameraRays,
    gathered: GatheredHits,
    surfaces: DiffuseSurfaces,
    light: LightSamples,
    shadow: ShadowRays,
    continuations: Continuations,
    principled: PrincipledBatch<false>,
    coated: PrincipledBatch<true>,
    environment: EnvironmentBatch,
}

/// The paths of a bounce that are to be shaded.
#[derive(Clone, Copy, Debug)]
pub struct ShadeJob<'a> {
    /// The scene.
    pub scene: &'a SceneData,
    /// Settings of the render.
    pub settings: &'a Settings,
    /// The bounce, from zero at the camera's hits.
    pub bounce: u32,
    /// The surfaces to shade in batches.
    pub batching: &'a Batching,
}

/// Arguments of shading one batch.
struct Round<'a> {
    scene: &'a SceneData,
    settings: &'a Settings,
    bounce: u32,
    /// Lanes in use, from the first on.
    count: usize,
    paths: &'a mut [PathState],
    output: &'a mut ShadeOutput,
}

impl Batch {
    /// Generates the camera rays of one sample of `pixels`, as [`crate::integrators::generate`] does.
    pub fn generate(
        &mut self,
        camera: &CameraFrame,
        pixels: &[u32],
        key: SampleKey,
        paths: &mut Vec<PathState>,
    ) {
        for chunk in pixels.chunks(LANES) {
            // Load the pixels into lanes
            let camera_rays = &mut self.camera_rays;
            for (lane, &pixel) in chunk.iter().enumerate() {
                camera_rays.pixel.0[lane] = pixel;
                [camera_rays.column.0[lane], camera_rays.row.0[lane]] = camera.column_and_row(pixel);
            }
            // Compute their camera rays and start their paths
            camera_rays.aim(camera, key);
            paths.extend(chunk.iter().enumerate().map(|(lane, &pixel)| PathState {
                ray: Ray {
                    origin: camera_rays.origin.at(lane),
                    t_min: 0.0,
                    direction: camera_rays.direction.at(lane),
                    t_max: FAR,
                },
                throughput: Vec3::ONE,
                bsdf_pdf: 0.0,
                radiance: Vec3::ZERO,
                key: SampleKey { pixel, ..key },
                medium: 0,
                interiors: 0,
            }));
        }
    }

    /// Shades the paths `active` at their `hits`, as [`shade_unrecorded`] does, into `output`. Compiled for AVX2 where the
    /// processor has it; both builds round alike.
    pub fn shade(
        &mut self,
        job: &ShadeJob<'_>,
        paths: &mut [PathState],
        active: &[u32],
        hits: &[Hit],
        output: &mut ShadeOutput,
    ) {
        run_by_avx2_at_most(ShadeStep { queues: self, job, paths, active, hits, output });
    }

    /// Shades a batch of diffuse surfaces that triangles light.
    #[inline]
    fn step(&mut self, round: Round<'_>) {
        run_widest(DiffuseStep { batch: self, round });
    }
}

/// Shades the paths of a bounce, in batches where the scene allows it.
struct ShadeStep<'a> {
    queues: &'a mut Batch,
    job: &'a ShadeJob<'a>,
    paths: &'a mut [PathState],
    active: &'a [u32],
    hits: &'a [Hit],
    output: &'a mut ShadeOutput,
}

impl Step for ShadeStep<'_> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Self { queues, job, paths, active, hits, output } = self;
        output.begin(active.len());
        let ShadeJob { scene, settings, bounce, batching } = *job;
        let mut count = 0;
        for (next, (&index, hit)) in active.iter().zip(hits).enumerate() {
            if batching.prefetches {
                prefetch_hits(scene, hits, next);
            }
            let path = &mut paths[index as usize];
            match batching.of(scene, hit) {
                // The last vertex adds no emission here, since batched surfaces do not emit.
                HitBatch::Diffuse(..) if bounce == settings.bounces => {}
                HitBatch::Diffuse(vertices, material) => {
                    queues.gathered.put(count, index, path, hit, (vertices, material));
                    count += 1;
                    if count == LANES {
                        queues.step(Round { scene, settings, bounce, count, paths, output });
                        count = 0;
                    }
                }
                batch if batch != HitBatch::None || batching.is_plain => {
                    match arrive::<true>(scene, settings, bounce, path, hit, &mut ()) {
                        ControlFlow::Break(ended) => output.push(index, &ended),
                        ControlFlow::Continue(arrival) if batch == HitBatch::Principled => {
                            let batch = &mut queues.principled;
                            if batch.put(scene, settings, bounce, index, path, &arrival) {
                                step_principled(batch, settings, bounce, paths, output);
                            }
                        }
                        ControlFlow::Continue(arrival) if batch == HitBatch::Coated => {
                            let batch = &mut queues.coated;
                            if batch.put(scene, settings, bounce, index, path, &arrival) {
                                step_principled(batch, settings, bounce, paths, output);
                            }
                        }
                        ControlFlow::Continue(arrival) if batch == HitBatch::Environment => {
                            if queues.environment.put(index, path, &arrival) {
                                let batch = &mut queues.environment;
                                run_widest(EnvironmentStep { batch, scene, settings, bounce, paths, output });
                            }
                        }
                        ControlFlow::Continue(arrival) => {
                            output
                                .push(index, &leave::<true>(scene, settings, bounce, path, arrival, &mut ()));
                        }
                    }
                }
                _ => output.push(index, &shade_unrecorded(scene, settings, bounce, path, hit)),
            }
        }
        if count > 0 {
            queues.step(Round { scene, settings, bounce, count, paths, output });
        }
        if !queues.principled.is_empty() {
            step_principled(&mut queues.principled, settings, bounce, paths, output);
        }
        if !queues.coated.is_empty() {
            step_principled(&mut queues.coated, settings, bounce, paths, output);
        }
        if !queues.environment.is_empty() {
            let batch = &mut queues.environment;
            run_widest(EnvironmentStep { batch, scene, settings, bounce, paths, output });
        }
    }
}

/// Shades a batch of diffuse surfaces that triangles light.
struct DiffuseStep<'a> {
    batch: &'a mut Batch,
    round: Round<'a>,
}

impl Step for DiffuseStep<'_> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Batch { gathered, surfaces, light, shadow, continuations, .. } = self.batch;
        let Round { scene, settings, bounce, count, paths, output } = self.round;
        // Gather paths, vertices and materials
        gathered.look_up::<L>(scene, paths, count, surfaces);
        // Compute surface interactions
        surfaces.at.compute(gathered);
        // Draw random numbers
        gathered.keys.draw(settings, Block::Light.at(bounce), &mut light.words);
        gathered.keys.draw(settings, Block::Bsdf.at(bounce), &mut continuations.words);
        // Sample direct lighting
        light.pick::<L>(scene, count);
        shadow.connect(settings, surfaces, light);
        // Sample the BSDF
        continuations.scatter(settings, bounce, surfaces);
        // Scatter the results, compacted
        output.scatter::<L>(shadow, continuations, &gathered.pending.paths, count, paths);
    }
}

/// Shades a batch of principled surfaces.
#[inline]
fn step_principled<const COATED: bool>(
    batch: &mut PrincipledBatch<COATED>,
    settings: &Settings,
    bounce: u32,
    paths: &mut [PathState],
    output: &mut ShadeOutput,
) {
    run_widest(EvaluateStep(batch));
    batch.finish(settings, bounce, paths, output);
}

/// Evaluates and samples the BSDFs of a batch of principled surfaces.
struct EvaluateStep<'a, const COATED: bool>(&'a mut PrincipledBatch<COATED>);

impl<const COATED: bool> Step for EvaluateStep<'_, COATED> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        self.0.evaluate();
    }
}

#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod tests;
