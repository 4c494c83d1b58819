//! Vertices of sub-paths. The counterpart is `kernels/integrators/bidirectional/vertex.h`.

use super::weights::PartialWeights;
use crate::bsdf::{self, BidirectionalEvaluation, Evaluation, MIN_COSINE, Surface, SurfaceLayers};
use crate::interaction::{Interaction, ShadingFrame};
use lockstep_core::Settings;
use lockstep_core::geometry::{FAR, Hit, Ray, offset_origin};
use lockstep_core::math::max;
use lockstep_core::math::min;
use lockstep_core::math::rng::uniforms;
use lockstep_core::math::sampling::frame;
use lockstep_core::math::vec3::{Vec3, dot, max_component, vec3};
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::{MaterialKind, SceneData};
use lockstep_core::splat::Technique;

/// A surface that a sub-path has reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Vertex {
    /// Position in world space.
    pub position: Vec3,
    /// Bounds the coordinates from which the position was computed.
    pub scale: f32,
    /// Unit geometric normal on the front side.
    pub geometric: Vec3,
    /// Unit shading normal on the front side, normal map included.
    pub shading: Vec3,
    /// Unit direction to the sub-path's previous vertex.
    pub from: Vec3,
    /// Throughput of the sub-path on arrival. On a light sub-path it includes emission, and a connection
    /// still multiplies by the ratio of the cosines of departure and arrival ([`Vertex::evaluate`]).
    pub throughput: Vec3,
    /// The material, seen from `from`.
    pub surface: Surface,
    /// The layers over the surface, boxed, since few materials have them and vertices should be small.
    pub layers: Option<Box<SurfaceLayers>>,
    /// The sub-path's partial weights on arrival.
    pub partial: PartialWeights,
}

/// A ray between two sub-paths, or from one to light or lens, and what it adds where it is unoccluded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection {
    /// The shadow ray.
    pub ray: Ray,
    /// The pixel that it adds to.
    pub pixel: u32,
    /// The technique.
    pub technique: Technique,
    /// Radiance of the technique alone.
    pub value: Vec3,
    /// The weight among all techniques.
    pub weight: f32,
}

/// The continuation of a sub-path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scattered {
    /// The next extension ray.
    pub ray: Ray,
    /// Throughput along the next extension ray.
    pub throughput: Vec3,
    /// Partial weights along the next extension ray.
    pub partial: PartialWeights,
}

/// The sides and normals of a vertex that a path sees.
struct Facing {
    /// Whether the path is outside the material.
    outside: bool,
    /// Unit geometric normal on the path's side.
    geometric: Vec3,
    /// Unit shading normal on the path's side; the geometric one where the path could not see it.
    normal: Vec3,
}

/// The normal in its own frame.
const UP: Vec3 = vec3(0.0, 0.0, 1.0);

impl Vertex {
    /// The vertex at an interaction.
    #[inline(always)]
    pub(crate) fn new(
        scene: &SceneData,
        at: &Interaction<'_>,
        hit: &Hit,
        from: Vec3,
        throughput: Vec3,
        partial: PartialWeights,
    ) -> Self {
        let instance = &scene.instances[hit.instance as usize];
        let material = &scene.materials[at.material as usize];
        Self {
            position: at.position,
            scale: at.scale,
            geometric: at.geometric,
            shading: at.perturbed_normal(scene, instance, material),
            from,
            throughput,
            surface: at.surface(scene, material, dot(at.geometric, from) > 0.0),
            layers: at.layers(scene, instance, material).map(Box::new),
            partial,
        }
    }

    /// The sides and normals that a path sees which arrives from a direction.
    #[inline(always)]
    fn facing(&self, from: Vec3) -> Facing {
        let outside = dot(self.geometric, from) > 0.0;
        let side = if outside { 1.0 } else { -1.0 };
        let geometric = self.geometric * side;
        let shading = self.shading * side;
        let normal = if dot(shading, from) > MIN_COSINE { shading } else { geometric };
        Facing { outside, geometric, normal }
    }

    /// The shading frame of a path that arrives from a direction.
    #[inline(always)]
    pub(crate) fn frame(&self, from: Vec3) -> ShadingFrame<'_> {
        let Facing { outside, geometric, normal } = self.facing(from);
        let (s, t) = frame(normal);
        let wo = vec3(dot(from, s), dot(from, t), max(dot(from, normal), MIN_COSINE));
        let surface = Surface { outside, ..self.surface };
        ShadingFrame { s, t, normal, geometric, wo, surface, layers: self.layers.as_deref(), picked: None }
    }

    /// BSDF times cosine of the shading normal for light from `to` that is scattered to `from`, and the density per solid
    /// angle of `to` for a path that arrives from `from`. Zero for specular surfaces.
    ///
    /// The value of a full path takes `from` towards the camera, as a camera path does.
    #[inline(always)]
    pub fn evaluate(&self, from: Vec3, to: Vec3) -> Evaluation {
        // Diffuse surfaces look the same all around, so that no tangents are needed
        if self.is_diffuse() {
            let Facing { geometric, normal, .. } = self.facing(from);
            let cosine = dot(to, normal);
            let seen = if dot(geometric, to) * cosine > 0.0 { cosine } else { 0.0 };
            return bsdf::evaluate(&self.surface, UP, vec3(0.0, 0.0, seen));
        }
        self.evaluate_in_frame(from, to)
    }

    /// [`Self::evaluate`], with the density of the opposite direction of travel, that of `evaluate(to, from)`.
    #[inline(always)]
    pub fn evaluate_both(&self, from: Vec3, to: Vec3) -> BidirectionalEvaluation {
        if self.is_diffuse() {
            let (forward, reverse) = (self.evaluate(from, to), self.evaluate(to, from));
            return BidirectionalEvaluation {
                value: forward.value,
                pdf: forward.pdf,
                reverse_pdf: reverse.pdf,
            };
        }
        self.evaluate_both_in_frame(from, to)
    }

    /// [`Self::evaluate_both`] of any surface.
    #[inline(never)]
    fn evaluate_both_in_frame(&self, from: Vec3, to: Vec3) -> BidirectionalEvaluation {
        if self.layers.is_none() && !self.surface.multiscatter {
            // Mostly a path sees the frame that it sees in the opposite direction of travel
            let (local, opposite) = (self.frame(from), self.facing(to));
            let wi = local.to_local(to);
            let is_same = local.surface.outside == opposite.outside && local.normal == opposite.normal;
            if is_same
                && wi.z > MIN_COSINE
                && dot(from, local.normal) > MIN_COSINE
                && local.same_side(to, wi.z)
                && local.same_side(from, local.wo.z)
            {
                return bsdf::evaluate_reflection(&local.surface, local.wo, wi);
            }
        }
        let (forward, reverse) = (self.evaluate_in_frame(from, to), self.evaluate_in_frame(to, from));
        BidirectionalEvaluation { value: forward.value, pdf: forward.pdf, reverse_pdf: reverse.pdf }
    }

    /// [`Self::evaluate`] of any surface.
    #[inline(never)]
    fn evaluate_in_frame(&self, from: Vec3, to: Vec3) -> Evaluation {
        let local = self.frame(from);
        let wi = local.to_local(to);
        if !local.same_side(to, wi.z) {
            return Evaluation { value: Vec3::ZERO, pdf: 0.0 };
        }
        local.evaluate(wi)
    }

    /// Cosine between the geometric normal and a direction.
    #[inline(always)]
    pub fn cosine(&self, direction: Vec3) -> f32 {
        dot(self.geometric, direction).abs()
    }

    /// True where no connection can be made.
    #[inline(always)]
    pub fn is_specular(&self) -> bool {
        self.surface.is_specular()
    }

    /// True for diffuse surfaces without layers.
    #[inline(always)]
    pub(crate) fn is_diffuse(&self) -> bool {
        self.surface.kind == MaterialKind::Diffuse as u32 && self.layers.is_none()
    }

    /// Continues the sub-path for the random words of a bounce, with Russian roulette where the settings have
    /// it; `None` where the sub-path ends. `adjoint` holds on light sub-paths.
    #[inline(always)]
    pub fn extend(
        &self,
        settings: &Settings,
        bounce: u32,
        words: [u32; 4],
        adjoint: bool,
        ratios: MergeRatios,
    ) -> Option<Scattered> {
        let roulette = settings.roulette_from.is_some_and(|first| bounce >= first);
        self.scatter(uniforms(words), adjoint, roulette, ratios)
    }

    /// Samples the BSDF for the draws `u` (lobe, direction u, direction v, Russian roulette); `None` where the
    /// sub-path ends. `adjoint` holds on light sub-paths.
    #[inline(never)]
    fn scatter(&self, u: [f32; 4], adjoint: bool, roulette: bool, ratios: MergeRatios) -> Option<Scattered> {
        // Sample a direction
        let local = self.frame(self.from);
        let sampled = local.sample([u[0], u[1], u[2]]);
        let direction = local.to_world(sampled.wi);
        if max_component(sampled.weight) <= 0.0 || !local.same_side(direction, sampled.wi.z) {
            return None;
        }
        let cosine = self.cosine(direction);

        // Factor of the throughput, and the part of weights
        let mut factor = sampled.weight;
        let partial;
        if self.is_specular() {
            if adjoint {
                let correction = bsdf::shading_normal_correction(
                    [local.wo.z, self.cosine(self.from)],
                    [sampled.wi.z, cosine],
                );
                factor = factor * (correction * bsdf::adjoint_factor(&local.surface, sampled.wi));
            }
            partial = self.partial.scatter_specular(cosine);
        } else {
            let reverse = self.evaluate(direction, self.from);
            if sampled.pdf <= 0.0 {
                return None;
            }
            if adjoint {
                factor = reverse.value * (cosine / (self.cosine(self.from) * sampled.pdf));
            }
            partial = self.partial.scatter(cosine, sampled.pdf, reverse.pdf, ratios);
        }
        if max_component(factor) <= 0.0 {
            return None;
        }

        // Russian roulette
        let mut throughput = self.throughput * factor;
        if roulette {
            let survival = min(max_component(factor), 0.95);
            if u[3] >= survival {
                return None;
            }
            throughput = throughput * (1.0 / survival);
        }
        let origin = offset_origin(self.position, self.geometric, direction, self.scale);
        let ray = Ray { origin, t_min: 0.0, direction, t_max: FAR };
        Some(Scattered { ray, throughput, partial })
    }
}

/// Direction, distance and squared distance from one point to another; `None` where they coincide.
#[inline(always)]
pub fn direction_between(from: Vec3, to: Vec3) -> Option<(Vec3, f32, f32)> {
    let between = to - from;
    let distance2 = dot(between, between);
    if distance2 > 0.0 {
        let distance = distance2.sqrt();
        Some((between * (1.0 / distance), distance, distance2))
    } else {
        None
    }
}
