//! Camera sub-paths. The counterpart is `kernels/integrators/bidirectional/camera_path.h`.

use super::vertex::{Scattered, Vertex};
use super::weights::{PartialWeights, hit_light};
use crate::interaction::Interaction;
use crate::{camera_importance, emission, lights};
use lockstep_core::Settings;
use lockstep_core::geometry::{FAR, Hit, Ray};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniforms};
use lockstep_core::math::vec3::{Vec3, dot, max_component};
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::{NONE, SceneData, environment_radiance};

/// A camera sub-path between two vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraPath {
    /// The extension ray.
    pub ray: Ray,
    /// Product of scattering weights so far.
    pub throughput: Vec3,
    /// The sub-path's partial weights of multiple importance sampling.
    pub partial: PartialWeights,
    /// True while all surfaces of the sub-path are specular, and at its start from the lens.
    pub specular: bool,
    /// The key of all draws.
    pub key: SampleKey,
}

/// Radiance that a sub-path finds by hitting a light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Emitted {
    /// Radiance of the technique alone; zero where there is none.
    pub value: Vec3,
    /// The weight among all techniques.
    pub weight: f32,
}

const DARK: Emitted = Emitted { value: Vec3::ZERO, weight: 0.0 };

impl CameraPath {
    /// Starts the camera sub-path of a sample: the same ray as the path tracer's.
    #[inline(never)]
    pub fn start(camera: &CameraFrame, key: SampleKey) -> Self {
        let u = uniforms(draw(key, Block::Camera, 0));
        let (origin, direction) = camera.ray(key.pixel, u);
        let importance = camera_importance::direction_pdf(camera, direction);
        Self {
            ray: Ray { origin, t_min: 0.0, direction, t_max: FAR },
            throughput: Vec3::ONE,
            partial: PartialWeights::of_camera(camera_importance::pixels(camera), importance),
            specular: true,
            key,
        }
    }

    /// The environment's radiance along an escaped extension ray.
    #[inline(always)]
    pub fn escaped(&self, scene: &SceneData, bounce: u32) -> Emitted {
        let direction = self.ray.direction;
        let radiance = environment_radiance(&scene.environment, &scene.environment_texels, direction);
        let value = self.throughput * radiance;
        if max_component(value) <= 0.0 {
            return DARK;
        }
        if bounce == 0 {
            return Emitted { value, weight: 1.0 };
        }
        let direct_pdf = lights::environment_pdf(scene, direction);
        let emission_pdf = direct_pdf * emission::disk_pdf(&scene.bounding_sphere());
        Emitted { value, weight: hit_light(self.partial, direct_pdf, emission_pdf, 1.0) }
    }

    /// The radiance that the surface at a hit emits.
    #[inline(always)]
    fn emitted(&self, scene: &SceneData, bounce: u32, at: &Interaction<'_>, t: f32) -> Emitted {
        let material = &scene.materials[at.material as usize];
        if max_component(material.emission) <= 0.0 {
            return DARK;
        }
        let facing = -dot(at.geometric, self.ray.direction);
        let cosine = lights::emission_cosine(material, facing);
        if cosine <= 0.0 {
            return DARK;
        }
        let value = self.throughput * at.emission(scene, material, bounce);
        if bounce == 0 {
            return Emitted { value, weight: 1.0 };
        }
        let distance2 = t * t;
        let direct_pdf = if at.triangle != NONE {
            lights::area_to_solid_angle(material, distance2, cosine)
        } else {
            lights::sphere_pdf(material, at.sphere.0, at.sphere.1, self.ray.origin, distance2, cosine)
        };
        let emission_pdf = material.light_pdf_area * emission::direction_pdf(material, facing);
        Emitted { value, weight: hit_light(self.partial, direct_pdf, emission_pdf, cosine) }
    }

    /// The emission at the hit of the extension ray of a bounce. Adds the vertex there to `vertices` and is true unless the
    /// sub-path ends, as at its `last` bounce.
    #[inline(never)]
    pub fn arrive(
        &self,
        scene: &SceneData,
        bounce: u32,
        last: bool,
        hit: &Hit,
        vertices: &mut Vec<Vertex>,
    ) -> (Emitted, bool) {
        if !hit.is_some() {
            return (self.escaped(scene, bounce), false);
        }
        let at = Interaction::new(scene, &self.ray, hit);
        let emitted = self.emitted(scene, bounce, &at, hit.t);
        let from = -self.ray.direction;
        let cosine = dot(at.geometric, from).abs();
        if last || cosine <= 0.0 {
            return (emitted, false);
        }
        let partial = self.partial.arrive(hit.t * hit.t, cosine);
        vertices.push(Vertex::new(scene, &at, hit, from, self.throughput, partial));
        (emitted, true)
    }

    /// Continues the sub-path from a vertex; false where it ends.
    #[inline(never)]
    pub fn extend(&mut self, settings: &Settings, bounce: u32, vertex: &Vertex, ratios: MergeRatios) -> bool {
        let words = draw(self.key, Block::Bsdf, bounce);
        let Some(next) = vertex.extend(settings, bounce, words, false, ratios) else { return false };
        self.go_on(vertex, next);
        true
    }

    /// Goes on along the continuation from a vertex.
    #[inline(always)]
    pub fn go_on(&mut self, vertex: &Vertex, next: Scattered) {
        (self.ray, self.throughput, self.partial) = (next.ray, next.throughput, next.partial);
        self.specular = self.specular && vertex.is_specular();
    }
}
