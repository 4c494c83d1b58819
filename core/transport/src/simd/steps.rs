//! The steps of shading, each a loop over lanes.

use crate::bsdf::MIN_COSINE;
use crate::simd::gather::GatheredHits;
use crate::simd::surfaces::{DiffuseSurfaces, Interactions};
use crate::simd::{EIGHT, F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::geometry::{coordinate_scale, offset_origin, shadow_end, triangle_normal};
use lockstep_core::math::rng::uniform;
use lockstep_core::math::sampling::{cosine_hemisphere, frame, pick, power_heuristic, uniform_triangle};
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::{cross, dot, max_abs_component, max_component, normalize};
use lockstep_core::math::{INV_PI, max, min};
use lockstep_core::scene::{Material, SceneData};
use lockstep_core::{Settings, Strategy};

/// Sampled lights.
#[derive(Clone, Debug, Default)]
pub(crate) struct LightSamples {
    pub(crate) words: [U32xN; 4],
    pub(crate) position: Vec3xN,
    pub(crate) edge1: Vec3xN,
    pub(crate) edge2: Vec3xN,
    pub(crate) facing: F32xN,
    pub(crate) scale: F32xN,
    pub(crate) pdf_area: F32xN,
    pub(crate) two_sided: U32xN,
    pub(crate) radiance: Vec3xN,
}

/// Shadow rays of next-event estimation.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShadowRays {
    /// Not zero where the ray must be traced.
    pub(crate) active: U32xN,
    pub(crate) origin: Vec3xN,
    pub(crate) direction: Vec3xN,
    pub(crate) t_max: F32xN,
    pub(crate) radiance: Vec3xN,
}

/// Extension rays, sampled from the BSDF.
#[derive(Clone, Debug, Default)]
pub(crate) struct Continuations {
    pub(crate) words: [U32xN; 4],
    pub(crate) continues: U32xN,
    pub(crate) throughput: Vec3xN,
    pub(crate) pdf: F32xN,
    pub(crate) origin: Vec3xN,
    pub(crate) direction: Vec3xN,
}

impl Interactions {
    /// Computes interactions on triangles of untransformed instances, and shading frames on the side of the
    /// incoming ray.
    #[inline(always)]
    pub(crate) fn compute(&mut self, gathered: &GatheredHits) {
        let ([p0, p1, p2], [n0, n1, n2]) = (&gathered.corners, &gathered.normals);
        // Interpolate positions and normals
        for i in 0..LANES {
            let (u, v) = (gathered.u.0[i], gathered.v.0[i]);
            let b = [1.0 - u - v, u, v];
            let p = [p0.at(i), p1.at(i), p2.at(i)];
            self.position.put(i, p[0] * b[0] + p[1] * b[1] + p[2] * b[2]);
            self.scale.0[i] = max(coordinate_scale(p[0], p[1]), max_abs_component(p[2]));
            self.geometric.put(i, normalize(triangle_normal(p)));
            self.normal.put(i, normalize(n0.at(i) * b[0] + n1.at(i) * b[1] + n2.at(i) * b[2]));
        }
        // Orient normals and build shading frames
        for i in 0..LANES {
            let (geometric, shading, back) =
                (self.geometric.at(i), self.normal.at(i), -gathered.direction.at(i));
            let shading = if dot(shading, shading) > 0.0 { shading } else { geometric };
            let side = if dot(geometric, back) > 0.0 { 1.0 } else { -1.0 };
            let geometric = geometric * side;
            let oriented = shading * side;
            let normal = if dot(oriented, back) > MIN_COSINE { oriented } else { geometric };
            let (s, t) = frame(normal);
            self.geometric.put(i, geometric);
            self.normal.put(i, normal);
            self.s.put(i, s);
            self.t.put(i, t);
        }
    }
}

impl LightSamples {
    /// Picks a light for each of the first `count` lanes, padded to a multiple of eight.
    #[inline(always)]
    pub(crate) fn pick<L: F32x8>(&mut self, scene: &SceneData, count: usize) {
        let Self { words, position, edge1, edge2, facing, scale, pdf_area, two_sided, radiance } = self;
        for first in (0..count.min(LANES)).step_by(EIGHT) {
            let mut lights = [&scene.lights[0]; EIGHT];
            let mut materials = [&scene.materials[0]; EIGHT];
            for (i, (light, material)) in lights.iter_mut().zip(&mut materials).enumerate() {
                let lane = first + i;
                *light = &scene.lights[pick(&scene.light_alias, words[0].0[lane], words[1].0[lane]) as usize];
                *material = &scene.materials[light.material as usize];
                (facing.0[lane], scale.0[lane]) = (light.intensity.x, light.intensity.y);
                pdf_area.0[lane] = material.light_pdf_area;
                two_sided.0[lane] = material.flags & Material::TWO_SIDED_EMISSION;
            }
            position.put_eight::<L>(first, |lane| &lights[lane - first].position);
            edge1.put_eight::<L>(first, |lane| &lights[lane - first].edge1);
            edge2.put_eight::<L>(first, |lane| &lights[lane - first].edge2);
            radiance.put_eight::<L>(first, |lane| &materials[lane - first].emission);
        }
    }
}

impl ShadowRays {
    /// Connects to points on triangle lights, as next-event estimation of the scalar path tracer does.
    #[inline(always)]
    pub(crate) fn connect(&mut self, settings: &Settings, surfaces: &DiffuseSurfaces, light: &LightSamples) {
        let DiffuseSurfaces { at: surface, throughput, base_color } = surfaces;
        let with_bsdf = settings.strategy == Strategy::Mis;
        let samples_lights = settings.strategy != Strategy::BsdfOnly;
        for i in 0..LANES {
            // Sample a point on the light
            let b = uniform_triangle(uniform(light.words[2].0[i]), uniform(light.words[3].0[i]));
            let (edge1, edge2) = (light.edge1.at(i), light.edge2.at(i));
            let to_light = light.position.at(i) + edge1 * b[0] + edge2 * b[1] - surface.position.at(i);
            let distance2 = dot(to_light, to_light);
            let distance = distance2.sqrt();
            let direction = to_light * (1.0 / distance);
            // Density of the direction by light sampling
            let facing = normalize(cross(edge1, edge2)) * light.facing.0[i];
            let cosine = -dot(facing, direction);
            let cosine = if light.two_sided.0[i] != 0 { cosine.abs() } else { cosine };
            let pdf = light.pdf_area.0[i] * (distance2 / cosine);
            // Evaluate the diffuse BSDF and the MIS weight
            let z = dot(direction, surface.normal.at(i));
            let bsdf_pdf = if z <= 0.0 { 0.0 } else { z * INV_PI };
            let weight = if with_bsdf { power_heuristic(pdf, bsdf_pdf) } else { 1.0 };
            let value = base_color.at(i) * bsdf_pdf;
            let radiance = throughput.at(i) * value * light.radiance.at(i) * (weight / pdf);
            // Store the shadow ray; a lane without contribution is inactive
            let dark = (distance2 == 0.0) | (cosine <= 0.0) | (pdf <= 0.0) | (max_component(radiance) <= 0.0);
            let agrees = dot(surface.geometric.at(i), direction) * z > 0.0;
            self.active.0[i] = u32::from(samples_lights & agrees & !dark);
            self.direction.put(i, direction);
            let scale = max(surface.scale.0[i], light.scale.0[i]);
            self.t_max.0[i] = shadow_end(distance, scale, cosine);
            self.radiance.put(i, radiance);
            let at = surface.position.at(i);
            self.origin.put(i, offset_origin(at, surface.geometric.at(i), direction, surface.scale.0[i]));
        }
    }
}

impl Continuations {
    /// Samples the diffuse BSDF and applies Russian roulette.
    #[inline(always)]
    pub(crate) fn scatter(&mut self, settings: &Settings, bounce: u32, surfaces: &DiffuseSurfaces) {
        let DiffuseSurfaces { at: surface, throughput, base_color } = surfaces;
        let roulette = settings.roulette_from.is_some_and(|first| bounce >= first);
        for i in 0..LANES {
            // Sample the cosine-weighted hemisphere
            let wi = cosine_hemisphere(uniform(self.words[1].0[i]), uniform(self.words[2].0[i]));
            let along = surface.s.at(i) * wi.x + surface.t.at(i) * wi.y + surface.normal.at(i) * wi.z;
            let direction = normalize(along);
            // Russian roulette
            let throughput = throughput.at(i) * base_color.at(i);
            let brightest = max_component(throughput);
            let survival = if roulette { min(brightest, 0.95) } else { 1.0 };
            // Store the extension ray
            let agrees = dot(surface.geometric.at(i), direction) * wi.z > 0.0;
            let ends = (brightest <= 0.0) | (roulette & (uniform(self.words[3].0[i]) >= survival));
            self.continues.0[i] = u32::from(agrees & !ends);
            self.throughput.put(i, if roulette { throughput * (1.0 / survival) } else { throughput });
            self.pdf.0[i] = wi.z * INV_PI;
            self.direction.put(i, direction);
            let at = surface.position.at(i);
            self.origin.put(i, offset_origin(at, surface.geometric.at(i), direction, surface.scale.0[i]));
        }
    }
}
