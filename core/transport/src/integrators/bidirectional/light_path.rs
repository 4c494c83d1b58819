//! Light sub-paths. The counterpart is `kernels/integrators/bidirectional/light_path.h`.

use super::vertex::{Scattered, Vertex};
use super::weights::PartialWeights;
use crate::interaction::Interaction;
use crate::{emission, lights};
use lockstep_core::Settings;
use lockstep_core::geometry::{FAR, Hit, Ray, offset_origin};
use lockstep_core::math::rng::{Block, SampleKey, draw};
use lockstep_core::math::vec3::{Vec3, max_component};
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::{LightKind, SceneData};

/// A light sub-path between two vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightPath {
    /// The extension ray.
    pub ray: Ray,
    /// Emission over its density, times scattering factors so far.
    pub throughput: Vec3,
    /// The sub-path's partial weights of multiple importance sampling.
    pub partial: PartialWeights,
    /// The light's index.
    pub light: u32,
    /// Cosine at the light; one for lights without a surface.
    pub cosine: f32,
    /// Density of the first direction at the light.
    pub pdf_direction: f32,
    /// Density of the first ray: of its position and direction.
    pub pdf: f32,
    /// The key of all draws.
    pub key: SampleKey,
}

impl LightPath {
    /// Starts the light sub-path of a sample; `None` where no light leaves.
    #[inline(never)]
    pub fn start(scene: &SceneData, key: SampleKey) -> Option<Self> {
        if scene.lights.is_empty() {
            return None;
        }
        let position = draw(key, Block::EmissionPosition, 0);
        let direction = draw(key, Block::EmissionDirection, 0);
        let sample = emission::sample(scene, position, direction);
        let pdf = sample.pdf_position * sample.pdf_direction;
        if pdf <= 0.0 {
            return None;
        }
        let throughput = sample.radiance * (sample.cosine / pdf);
        if max_component(throughput) <= 0.0 {
            return None;
        }
        let mut origin = sample.origin;
        let light = &scene.lights[sample.light as usize];
        if light.kind == LightKind::Triangle as u32 || light.kind == LightKind::Sphere as u32 {
            origin = offset_origin(origin, sample.normal, sample.direction, light.intensity.y);
        }
        Some(Self {
            ray: Ray { origin, t_min: 0.0, direction: sample.direction, t_max: FAR },
            throughput,
            partial: PartialWeights { vcm: 0.0, vc: 0.0, vm: 0.0 },
            light: sample.light,
            cosine: sample.cosine,
            pdf_direction: sample.pdf_direction,
            pdf,
            key,
        })
    }

    /// Adds the vertex at the hit of the extension ray of a bounce to `vertices`, where bounce 0 leaves the light; false where
    /// the sub-path ends.
    #[inline(never)]
    pub fn arrive(
        &self,
        scene: &SceneData,
        bounce: u32,
        hit: &Hit,
        ratios: MergeRatios,
        vertices: &mut Vec<Vertex>,
    ) -> bool {
        if !hit.is_some() {
            return false;
        }
        let at = Interaction::new(scene, &self.ray, hit);
        let from = -self.ray.direction;
        let cosine = lockstep_core::math::vec3::dot(at.geometric, from).abs();
        if cosine <= 0.0 {
            return false;
        }
        let distance2 = hit.t * hit.t;
        let partial = if bounce == 0 {
            let (direct_pdf, delta) = self.direct_pdf(scene, at.position, distance2);
            PartialWeights::of_light(direct_pdf, self.pdf, self.cosine, cosine, delta, ratios)
        } else {
            self.partial.arrive(distance2, cosine)
        };
        vertices.push(Vertex::new(scene, &at, hit, from, self.throughput, partial));
        true
    }

    /// The density with which light sampling from the first vertex `p` chooses the point on the light: per
    /// solid angle, for lights without area times the squared distance. True for lights that no ray can hit.
    #[inline(always)]
    fn direct_pdf(&self, scene: &SceneData, p: Vec3, distance2: f32) -> (f32, bool) {
        let light = &scene.lights[self.light as usize];
        if light.kind == LightKind::Triangle as u32 {
            let material = &scene.materials[light.material as usize];
            return (lights::area_to_solid_angle(material, distance2, self.cosine), false);
        }
        if light.kind == LightKind::Sphere as u32 {
            let material = &scene.materials[light.material as usize];
            let radius = light.edge2.x;
            return (lights::sphere_pdf(material, light.position, radius, p, distance2, self.cosine), false);
        }
        if light.kind == LightKind::Environment as u32 {
            return (self.pdf_direction, false);
        }
        if light.kind == LightKind::Directional as u32 {
            return (light.pmf, true);
        }
        (light.pmf * distance2, true)
    }

    /// Continues the sub-path from a vertex; false where it ends.
    #[inline(never)]
    pub fn extend(&mut self, settings: &Settings, bounce: u32, vertex: &Vertex, ratios: MergeRatios) -> bool {
        let words = draw(self.key, Block::LightBsdf, bounce);
        let Some(next) = vertex.extend(settings, bounce, words, true, ratios) else { return false };
        self.go_on(next);
        true
    }

    /// Goes on along the continuation from a vertex.
    #[inline(always)]
    pub fn go_on(&mut self, next: Scattered) {
        (self.ray, self.throughput, self.partial) = (next.ray, next.throughput, next.partial);
    }
}
