//! The anisotropic GGX microfacet distribution (Heitz 2014): [`super::microfacet`] with an alpha along the tangent
//! and one across it. Directions are in the frame whose x axis is the tangent.

use crate::bsdf::microfacet::{ReflectionTerms, ggx_sample_stretched};
use lockstep_core::math::PI;
use lockstep_core::math::vec3::{Vec3, dot, normalize, vec3};

/// GGX density of microfacet normals for an alpha along x and one along y.
#[inline(always)]
pub fn ggx_d_anisotropic(h: Vec3, alpha: [f32; 2]) -> f32 {
    let x = h.x / alpha[0];
    let y = h.y / alpha[1];
    let t = x * x + y * y + h.z * h.z;
    1.0 / (PI * (alpha[0] * alpha[1]) * t * t)
}

/// Smith's Lambda for anisotropic GGX (Heitz 2014, equation 86).
#[inline(always)]
pub fn ggx_lambda_anisotropic(v: Vec3, alpha: [f32; 2]) -> f32 {
    let x = alpha[0] * v.x;
    let y = alpha[1] * v.y;
    let slope2 = (x * x + y * y) / (v.z * v.z);
    0.5 * ((1.0 + slope2).sqrt() - 1.0)
}

/// Samples a visible microfacet normal for `wo`.
#[inline(always)]
pub fn ggx_sample_anisotropic(wo: Vec3, alpha: [f32; 2], u: f32, v: f32) -> Vec3 {
    let h = ggx_sample_stretched(vec3(alpha[0] * wo.x, alpha[1] * wo.y, wo.z), u, v);
    normalize(vec3(alpha[0] * h.x, alpha[1] * h.y, h.z))
}

/// The factors of a reflection lobe, as [`super::microfacet::reflection_terms`] gives them.
#[inline(always)]
pub(super) fn reflection_terms_anisotropic(wo: Vec3, wi: Vec3, alpha: [f32; 2]) -> ReflectionTerms {
    let h = normalize(wo + wi);
    let lambda_o = ggx_lambda_anisotropic(wo, alpha);
    let lambda_i = ggx_lambda_anisotropic(wi, alpha);
    let g1 = 1.0 / (1.0 + lambda_o);
    let g2 = 1.0 / (1.0 + lambda_o + lambda_i);
    ReflectionTerms { d_over_4: ggx_d_anisotropic(h, alpha) / (4.0 * wo.z), g1, g2, cosine: dot(wo, h) }
}

/// The perceptual roughness at which isotropic microfacets lose as much light by scattering once as anisotropic ones of
/// these alphas, in the cosine-weighted mean over all directions: that of the root mean square of the alphas, a little less
/// where they differ much. Within 1 % for every pair of alphas; for a direction it is off by a few percent, and near the
/// horizon across an extreme anisotropy by a quarter.
#[inline(always)]
pub fn roughness_of_equal_loss(alpha: [f32; 2]) -> f32 {
    let difference = (alpha[0] - alpha[1]) / (alpha[0] + alpha[1]);
    let mean = (0.5 * (alpha[0] * alpha[0] + alpha[1] * alpha[1])).sqrt();
    (mean * (1.0 - 0.06 * (difference * difference))).sqrt()
}

/// A direction of the shading frame in the frame whose x axis is the unit vector `along`.
#[inline(always)]
pub fn turned(v: Vec3, along: [f32; 2]) -> Vec3 {
    vec3(v.x * along[0] + v.y * along[1], v.y * along[0] - v.x * along[1], v.z)
}

/// The inverse of [`turned`].
#[inline(always)]
pub fn turned_back(v: Vec3, along: [f32; 2]) -> Vec3 {
    vec3(v.x * along[0] - v.y * along[1], v.x * along[1] + v.y * along[0], v.z)
}
