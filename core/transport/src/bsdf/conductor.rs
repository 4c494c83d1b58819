//! Conductors: a specular or GGX reflection lobe with Schlick's Fresnel term.

use crate::bsdf::fresnel::schlick;
use crate::bsdf::microfacet::{ReflectionTerms, ggx_d, ggx_masking, ggx_sample, reflect};
use crate::bsdf::surface::{ABSORBED, Evaluation, Scatter, Surface};
use lockstep_core::math::vec3::{Vec3, dot, vec3};

/// BSDF times cosine of a rough conductor, and its density, for these terms of a reflection.
#[inline(always)]
pub(super) fn evaluate(s: &Surface, terms: ReflectionTerms) -> Evaluation {
    let ReflectionTerms { d_over_4, g1, g2, cosine } = terms;
    Evaluation { value: schlick(s.base_color, cosine) * (d_over_4 * g2), pdf: d_over_4 * g1 }
}

/// Samples the mirror direction, or a reflection off a visible microfacet.
#[inline(always)]
pub(super) fn sample(s: &Surface, wo: Vec3, u: f32, v: f32) -> Scatter {
    // Specular: mirror direction
    if s.is_specular() {
        return Scatter { wi: vec3(-wo.x, -wo.y, wo.z), weight: schlick(s.base_color, wo.z), pdf: 0.0 };
    }
    // Rough: reflect off a visible microfacet
    let alpha = s.alpha();
    let h = ggx_sample(wo, alpha, u, v);
    let wi = reflect(wo, h);
    if wi.z <= 0.0 {
        return ABSORBED;
    }
    let (g1, g2) = ggx_masking(wo, wi, alpha);
    let pdf = g1 * ggx_d(h, alpha) / (4.0 * wo.z);
    Scatter { wi, weight: schlick(s.base_color, dot(wo, h)) * (g2 / g1), pdf }
}
