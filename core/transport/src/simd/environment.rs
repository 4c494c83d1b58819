//! Batches of diffuse surfaces that the environment alone lights. Interactions and textures are looked up path by path;
//! lights, BSDFs and rays are sampled for all lanes together.

use crate::integrators::PathState;
use crate::integrators::path::Arrival;
use crate::lights::cell_pdf;
use crate::simd::lane_keys::LaneKeys;
use crate::simd::steps::{Continuations, ShadowRays};
use crate::simd::surfaces::DiffuseSurfaces;
use crate::simd::widest::Step;
use crate::simd::{F32xN, LANES, ShadeOutput, U32xN, Vec3xN};
use lockstep_core::geometry::{FAR, offset_origin};
use lockstep_core::math::rng::{Block, uniform};
use lockstep_core::math::sampling::{pick, power_heuristic};
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::{dot, max_component, vec3};
use lockstep_core::math::{INV_PI, safe_sqrt, sin_cos_turns};
use lockstep_core::scene::{Environment, EnvironmentKind, SceneData, environment_radiance};
use lockstep_core::{Settings, Strategy};

/// Diffuse surfaces, one per lane, and what is sampled at them.
#[derive(Clone, Default)]
pub(crate) struct EnvironmentBatch {
    /// Lanes in use, from the first on.
    count: usize,
    paths: [u32; LANES],
    keys: LaneKeys,
    surfaces: DiffuseSurfaces,
    environment: EnvironmentSamples,
    shadow: ShadowRays,
    continuations: Continuations,
}

/// Sampled directions of the environment, as [`crate::lights::sample_environment`] samples them.
#[derive(Clone, Default)]
struct EnvironmentSamples {
    words: [U32xN; 4],
    row: F32xN,
    column: F32xN,
    direction: Vec3xN,
    radiance: Vec3xN,
    pdf: F32xN,
}

impl EnvironmentBatch {
    /// Assigns a path to a lane; true when all lanes are full.
    #[inline(always)]
    pub(crate) fn put(&mut self, index: u32, path: &PathState, arrival: &Arrival<'_>) -> bool {
        let Arrival { at, local, .. } = arrival;
        let lane = self.count % LANES;
        self.paths[lane] = index;
        self.keys.put(lane, path.key);
        let DiffuseSurfaces { at: interactions, throughput, base_color } = &mut self.surfaces;
        throughput.put(lane, path.throughput);
        base_color.put(lane, local.surface.base_color);
        interactions.position.put(lane, at.position);
        interactions.scale.0[lane] = at.scale;
        interactions.geometric.put(lane, local.geometric);
        interactions.normal.put(lane, local.normal);
        interactions.s.put(lane, local.s);
        interactions.t.put(lane, local.t);
        self.count += 1;
        self.count == LANES
    }

    /// True where no lane is in use.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Shades the surfaces of a batch and empties it.
pub(crate) struct EnvironmentStep<'a> {
    pub(crate) batch: &'a mut EnvironmentBatch,
    pub(crate) scene: &'a SceneData,
    pub(crate) settings: &'a Settings,
    pub(crate) bounce: u32,
    pub(crate) paths: &'a mut [PathState],
    pub(crate) output: &'a mut ShadeOutput,
}

impl Step for EnvironmentStep<'_> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Self { batch, scene, settings, bounce, paths, output } = self;
        let EnvironmentBatch { count, paths: indices, keys, surfaces, environment, shadow, continuations } =
            batch;
        // Draw random numbers
        keys.draw(settings, Block::Environment.at(bounce), &mut environment.words);
        keys.draw(settings, Block::Bsdf.at(bounce), &mut continuations.words);
        // Sample direct lighting
        environment.sample(scene, *count);
        shadow.connect_to_environment(settings, surfaces, environment);
        // Sample the BSDF
        continuations.scatter(settings, bounce, surfaces);
        // Scatter the results, compacted
        output.scatter::<L>(shadow, continuations, indices, *count, paths);
        *count = 0;
    }
}

impl EnvironmentSamples {
    /// Samples a direction of the environment for each of the first `count` lanes.
    #[inline(always)]
    fn sample(&mut self, scene: &SceneData, count: usize) {
        let environment = &scene.environment;
        let Self { words, row, column, direction, pdf, .. } = self;
        // Pick a cell of the importance grid
        for lane in 0..count.min(LANES) {
            let cell = pick(&scene.environment_alias, words[0].0[lane], words[1].0[lane]);
            let at_row = cell / environment.grid_width;
            row.0[lane] = at_row as f32;
            column.0[lane] = (cell - at_row * environment.grid_width) as f32;
            pdf.0[lane] = cell_pdf(scene, cell);
        }
        // Sample a direction in it
        let (rows, columns) = (environment.grid_height as f32, environment.grid_width as f32);
        for i in 0..LANES {
            let height = 1.0 - 2.0 * ((row.0[i] + uniform(words[3].0[i])) / rows);
            let ring = safe_sqrt((1.0 - height) * (1.0 + height));
            let (sin, cos) = sin_cos_turns((column.0[i] + uniform(words[2].0[i])) / columns);
            direction.put(i, vec3(ring * cos, height, ring * sin));
        }
        self.look_up(environment, &scene.environment_texels);
    }

    /// Looks up the radiance of the sampled directions.
    #[inline(always)]
    fn look_up(&mut self, environment: &Environment, texels: &[[f32; 4]]) {
        let Self { direction, radiance, .. } = self;
        // A gradient has a loop of its own, so that it is vectorised
        if environment.kind == EnvironmentKind::Gradient as u32 {
            let gradient = Environment { kind: EnvironmentKind::Gradient as u32, ..*environment };
            for i in 0..LANES {
                radiance.put(i, environment_radiance(&gradient, &[], direction.at(i)));
            }
        } else {
            for i in 0..LANES {
                radiance.put(i, environment_radiance(environment, texels, direction.at(i)));
            }
        }
    }
}

impl ShadowRays {
    /// Connects to sampled directions of the environment, as next-event estimation of the scalar path tracer does.
    #[inline(always)]
    fn connect_to_environment(
        &mut self,
        settings: &Settings,
        surfaces: &DiffuseSurfaces,
        environment: &EnvironmentSamples,
    ) {
        let DiffuseSurfaces { at: surface, throughput, base_color } = surfaces;
        let with_bsdf = settings.strategy == Strategy::Mis;
        let samples_lights = settings.strategy != Strategy::BsdfOnly;
        for i in 0..LANES {
            // Evaluate the diffuse BSDF and the MIS weight
            let (direction, pdf) = (environment.direction.at(i), environment.pdf.0[i]);
            let z = dot(direction, surface.normal.at(i));
            let bsdf_pdf = if z <= 0.0 { 0.0 } else { z * INV_PI };
            let weight = if with_bsdf { power_heuristic(pdf, bsdf_pdf) } else { 1.0 };
            let value = base_color.at(i) * bsdf_pdf;
            let radiance = throughput.at(i) * value * environment.radiance.at(i) * (weight / pdf);
            // Store the shadow ray; a lane without contribution is inactive
            let dark = (pdf <= 0.0) | (max_component(radiance) <= 0.0);
            let agrees = dot(surface.geometric.at(i), direction) * z > 0.0;
            self.active.0[i] = u32::from(samples_lights & agrees & !dark);
            self.direction.put(i, direction);
            self.t_max.0[i] = FAR;
            self.radiance.put(i, radiance);
            let at = surface.position.at(i);
            self.origin.put(i, offset_origin(at, surface.geometric.at(i), direction, surface.scale.0[i]));
        }
    }
}
