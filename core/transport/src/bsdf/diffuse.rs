//! Lambertian reflection.

use crate::bsdf::surface::{BLACK, Evaluation, Scatter, Surface};
use lockstep_core::math::INV_PI;
use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::Vec3;

/// BSDF times cosine, and its density.
#[inline(always)]
pub(super) fn evaluate(s: &Surface, wi: Vec3) -> Evaluation {
    if wi.z < 0.0 {
        return BLACK;
    }
    let pdf = wi.z * INV_PI;
    Evaluation { value: s.base_color * pdf, pdf }
}

/// Samples the cosine-weighted hemisphere.
#[inline(always)]
pub(super) fn sample(s: &Surface, u: f32, v: f32) -> Scatter {
    let wi = cosine_hemisphere(u, v);
    Scatter { wi, weight: s.base_color, pdf: wi.z * INV_PI }
}
