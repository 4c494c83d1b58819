//! The GGX microfacet distribution with height-correlated Smith masking-shadowing (Walter et al. 2007; Heitz
//! 2014).

use lockstep_core::math::vec3::{Vec3, dot, normalize, vec3};
use lockstep_core::math::{PI, max, safe_sqrt, sin_cos_turns};

/// GGX density of microfacet normals (Walter et al. 2007, equation 33).
#[inline(always)]
pub fn ggx_d(h: Vec3, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let t = (h.x * h.x + h.y * h.y) / a2 + h.z * h.z;
    1.0 / (PI * a2 * t * t)
}

/// Smith's Lambda for GGX (Heitz 2014, equation 72).
#[inline(always)]
pub fn ggx_lambda(v: Vec3, alpha: f32) -> f32 {
    let slope2 = alpha * alpha * (v.x * v.x + v.y * v.y) / (v.z * v.z);
    0.5 * ((1.0 + slope2).sqrt() - 1.0)
}

/// Samples a visible microfacet normal for `wo` by spherical caps (Heitz 2018; Dupuy and Benyoub 2023).
#[inline(always)]
pub fn ggx_sample(wo: Vec3, alpha: f32, u: f32, v: f32) -> Vec3 {
    let h = ggx_sample_stretched(vec3(alpha * wo.x, alpha * wo.y, wo.z), u, v);
    // Stretched back to the ellipsoid
    normalize(vec3(alpha * h.x, alpha * h.y, h.z))
}

/// Samples a half vector, not of unit length, for `wo` stretched to the hemisphere configuration.
#[inline(always)]
pub(super) fn ggx_sample_stretched(wo: Vec3, u: f32, v: f32) -> Vec3 {
    let stretched = normalize(wo);
    // Sample the spherical cap of reflected directions
    let z = (1.0 - u) * (1.0 + stretched.z) - stretched.z;
    let ring = safe_sqrt((1.0 - z) * (1.0 + z));
    let (sin, cos) = sin_cos_turns(v);
    let h = vec3(ring * cos, ring * sin, z) + stretched;
    vec3(h.x, h.y, max(h.z, 0.0))
}

/// Smith masking of `wo` alone, and masking-shadowing of both directions.
#[inline(always)]
pub(super) fn ggx_masking(wo: Vec3, wi: Vec3, alpha: f32) -> (f32, f32) {
    let lambda_o = ggx_lambda(wo, alpha);
    let lambda_i = ggx_lambda(wi, alpha);
    (1.0 / (1.0 + lambda_o), 1.0 / (1.0 + lambda_o + lambda_i))
}

/// `wo` mirrored about the microfacet normal `h`.
#[inline(always)]
pub(super) fn reflect(wo: Vec3, h: Vec3) -> Vec3 {
    h * (2.0 * dot(wo, h)) - wo
}

/// `wo` refracted at the microfacet normal `h`; the zero vector on total internal reflection.
#[inline(always)]
pub(super) fn refract(wo: Vec3, h: Vec3, eta: f32) -> Vec3 {
    let c = dot(wo, h);
    let sin2_beyond = (1.0 - c * c) / (eta * eta);
    if sin2_beyond >= 1.0 {
        return Vec3::ZERO;
    }
    h * (c / eta - safe_sqrt(1.0 - sin2_beyond)) - wo * (1.0 / eta)
}

/// The factors of a microfacet reflection lobe.
#[derive(Clone, Copy)]
pub(super) struct ReflectionTerms {
    /// `D / (4 cos wo)`.
    pub(super) d_over_4: f32,
    /// Smith masking of `wo` alone.
    pub(super) g1: f32,
    /// Masking-shadowing of both directions.
    pub(super) g2: f32,
    /// Cosine at the microfacet.
    pub(super) cosine: f32,
}

/// The masking of one direction, `wo`, by microfacets.
pub(super) struct OutgoingMasking {
    alpha: f32,
    lambda: f32,
    g1: f32,
}

impl OutgoingMasking {
    #[inline(always)]
    pub(super) fn new(wo: Vec3, alpha: f32) -> Self {
        let lambda = ggx_lambda(wo, alpha);
        Self { alpha, lambda, g1: 1.0 / (1.0 + lambda) }
    }

    /// The factors of reflection from `wo`, the direction of this masking, to `wi`.
    #[inline(always)]
    pub(super) fn reflection_terms(&self, wo: Vec3, wi: Vec3) -> ReflectionTerms {
        let h = normalize(wo + wi);
        let g2 = 1.0 / (1.0 + self.lambda + ggx_lambda(wi, self.alpha));
        ReflectionTerms { d_over_4: ggx_d(h, self.alpha) / (4.0 * wo.z), g1: self.g1, g2, cosine: dot(wo, h) }
    }
}

/// The factors of reflection from `wo` to `wi`.
#[inline(always)]
pub(super) fn reflection_terms(wo: Vec3, wi: Vec3, alpha: f32) -> ReflectionTerms {
    OutgoingMasking::new(wo, alpha).reflection_terms(wo, wi)
}
