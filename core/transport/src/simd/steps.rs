//! Shading itself, each step a loop over lanes.

use crate::integrators::path::SHADOW_SHORTENING;
use crate::interaction::MIN_COSINE;
use crate::simd::gather::Arrived;
use crate::simd::{EIGHT, LANES, Numbers, Vectors, Words};
use lockstep_core::geometry::{FAR, coordinate_scale, offset_origin, triangle_normal};
use lockstep_core::math::rng::uniform;
use lockstep_core::math::sampling::{cosine_hemisphere, frame, pick, power_heuristic, uniform_triangle};
use lockstep_core::math::simd::Lanes;
use lockstep_core::math::vec3::{cross, dot, max_abs_component, max_component, normalize};
use lockstep_core::math::{INV_PI, max, min};
use lockstep_core::scene::{Material, SceneData};
use lockstep_core::{Settings, Strategy};

/// The surfaces there, as in [`crate::integrators::path::Local`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Surfaces {
    pub(crate) position: Vectors,
    pub(crate) scale: Numbers,
    pub(crate) geometric: Vectors,
    pub(crate) normal: Vectors,
    pub(crate) s: Vectors,
    pub(crate) t: Vectors,
}

/// Points on lights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lights {
    pub(crate) words: [Words; 4],
    pub(crate) position: Vectors,
    pub(crate) edge1: Vectors,
    pub(crate) edge2: Vectors,
    pub(crate) facing: Numbers,
    pub(crate) pdf_area: Numbers,
    pub(crate) two_sided: Words,
    pub(crate) radiance: Vectors,
}

/// Shadow rays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadows {
    pub(crate) cast: Words,
    pub(crate) origin: Vectors,
    pub(crate) direction: Vectors,
    pub(crate) t_max: Numbers,
    pub(crate) radiance: Vectors,
}

/// Extension rays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Onward {
    pub(crate) words: [Words; 4],
    pub(crate) continues: Words,
    pub(crate) throughput: Vectors,
    pub(crate) pdf: Numbers,
    pub(crate) origin: Vectors,
    pub(crate) direction: Vectors,
}

impl Surfaces {
    /// [`crate::integrators::path::Interaction::on_triangle`] of an instance in place, and the frame on the side that the path came from.
    #[inline(always)]
    pub(crate) fn place(&mut self, arrived: &Arrived) {
        let ([p0, p1, p2], [n0, n1, n2]) = (&arrived.corners, &arrived.normals);
        for i in 0..LANES {
            let (u, v) = (arrived.u.0[i], arrived.v.0[i]);
            let b = [1.0 - u - v, u, v];
            let p = [p0.at(i), p1.at(i), p2.at(i)];
            self.position.put(i, p[0] * b[0] + p[1] * b[1] + p[2] * b[2]);
            self.scale.0[i] = max(coordinate_scale(p[0], p[1]), max_abs_component(p[2]));
            self.geometric.put(i, normalize(triangle_normal(p)));
            self.normal.put(i, normalize(n0.at(i) * b[0] + n1.at(i) * b[1] + n2.at(i) * b[2]));
        }
        for i in 0..LANES {
            let (geometric, shading, back) =
                (self.geometric.at(i), self.normal.at(i), -arrived.direction.at(i));
            let shading = if dot(shading, shading) > 0.0 { shading } else { geometric };
            let side = if dot(geometric, back) > 0.0 { 1.0 } else { -1.0 };
            let geometric = geometric * side;
            let bent = shading * side;
            let normal = if dot(bent, back) > MIN_COSINE { bent } else { geometric };
            let (s, t) = frame(normal);
            self.geometric.put(i, geometric);
            self.normal.put(i, normal);
            self.s.put(i, s);
            self.t.put(i, t);
        }
    }
}

impl Lights {
    /// Looks the lights of the first `count` paths up, and of those up to the next eight.
    #[inline(always)]
    pub(crate) fn pick<L: Lanes>(&mut self, scene: &SceneData, count: usize) {
        let Self { words, position, edge1, edge2, facing, pdf_area, two_sided, radiance } = self;
        for first in (0..count.min(LANES)).step_by(EIGHT) {
            let mut lights = [&scene.lights[0]; EIGHT];
            let mut materials = [&scene.materials[0]; EIGHT];
            for (i, (light, material)) in lights.iter_mut().zip(&mut materials).enumerate() {
                let lane = first + i;
                *light = &scene.lights[pick(&scene.light_alias, words[0].0[lane], words[1].0[lane]) as usize];
                *material = &scene.materials[light.material as usize];
                facing.0[lane] = light.intensity.x;
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

impl Shadows {
    /// [`crate::integrators::path::connect_to_light`] for points of triangles.
    #[inline(always)]
    pub(crate) fn connect(
        &mut self,
        settings: &Settings,
        arrived: &Arrived,
        surface: &Surfaces,
        light: &Lights,
    ) {
        let with_bsdf = settings.strategy == Strategy::Mis;
        let samples_lights = settings.strategy != Strategy::BsdfOnly;
        for i in 0..LANES {
            let b = uniform_triangle(uniform(light.words[2].0[i]), uniform(light.words[3].0[i]));
            let (edge1, edge2) = (light.edge1.at(i), light.edge2.at(i));
            let to_light = light.position.at(i) + edge1 * b[0] + edge2 * b[1] - surface.position.at(i);
            let distance2 = dot(to_light, to_light);
            let distance = distance2.sqrt();
            let direction = to_light * (1.0 / distance);
            let facing = normalize(cross(edge1, edge2)) * light.facing.0[i];
            let cosine = -dot(facing, direction);
            let cosine = if light.two_sided.0[i] != 0 { cosine.abs() } else { cosine };
            let pdf = light.pdf_area.0[i] * (distance2 / cosine);
            let z = dot(direction, surface.normal.at(i));
            let bsdf_pdf = if z <= 0.0 { 0.0 } else { z * INV_PI };
            let weight = if with_bsdf { power_heuristic(pdf, bsdf_pdf) } else { 1.0 };
            let value = arrived.base_color.at(i) * bsdf_pdf;
            let radiance = arrived.throughput.at(i) * value * light.radiance.at(i) * (weight / pdf);
            let dark = (distance2 == 0.0) | (cosine <= 0.0) | (pdf <= 0.0) | (max_component(radiance) <= 0.0);
            let agrees = dot(surface.geometric.at(i), direction) * z > 0.0;
            self.cast.0[i] = u32::from(samples_lights & agrees & !dark);
            self.direction.put(i, direction);
            self.t_max.0[i] = min(distance * SHADOW_SHORTENING, FAR);
            self.radiance.put(i, radiance);
            let at = surface.position.at(i);
            self.origin.put(i, offset_origin(at, surface.geometric.at(i), direction, surface.scale.0[i]));
        }
    }
}

impl Onward {
    /// [`crate::integrators::path::scatter`] at diffuse surfaces.
    #[inline(always)]
    pub(crate) fn scatter(
        &mut self,
        settings: &Settings,
        bounce: u32,
        arrived: &Arrived,
        surface: &Surfaces,
    ) {
        let roulette = settings.roulette_from.is_some_and(|first| bounce >= first);
        for i in 0..LANES {
            let wi = cosine_hemisphere(uniform(self.words[1].0[i]), uniform(self.words[2].0[i]));
            let along = surface.s.at(i) * wi.x + surface.t.at(i) * wi.y + surface.normal.at(i) * wi.z;
            let direction = normalize(along);
            let throughput = arrived.throughput.at(i) * arrived.base_color.at(i);
            let brightest = max_component(throughput);
            let survival = if roulette { min(brightest, 0.95) } else { 1.0 };
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
