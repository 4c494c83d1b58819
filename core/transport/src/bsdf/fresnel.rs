//! Fresnel reflectance.

use lockstep_core::math::vec3::Vec3;
use lockstep_core::math::{clamp, safe_sqrt, saturate};

/// Schlick's approximation to Fresnel reflectance (1994).
#[inline(always)]
pub fn schlick(f0: Vec3, cosine: f32) -> Vec3 {
    let m = saturate(1.0 - cosine);
    let m2 = m * m;
    let m5 = m2 * m2 * m;
    f0 + (Vec3::ONE - f0) * m5
}

/// [`schlick`] that rises to `f90` at the horizon.
#[inline(always)]
pub(super) fn schlick_to(f0: Vec3, f90: f32, cosine: f32) -> Vec3 {
    let m = saturate(1.0 - cosine);
    let m2 = m * m;
    let m5 = m2 * m2 * m;
    f0 + (Vec3::splat(f90) - f0) * m5
}

/// [`schlick`] for one channel.
#[inline(always)]
pub(super) fn schlick_scalar(f0: f32, cosine: f32) -> f32 {
    let m = saturate(1.0 - cosine);
    let m2 = m * m;
    f0 + (1.0 - f0) * (m2 * m2 * m)
}

/// Fresnel reflectance of a dielectric boundary for unpolarised light.
///
/// `eta` is the index of refraction beyond the boundary over the index before it.
#[inline(always)]
pub fn fresnel_dielectric(cosine: f32, eta: f32) -> f32 {
    // Snell's law; no real angle beyond is total internal reflection.
    let c = clamp(cosine, 0.0, 1.0);
    let sin2_beyond = (1.0 - c * c) / (eta * eta);
    if sin2_beyond >= 1.0 {
        return 1.0;
    }
    // Mean of both polarisations.
    let beyond = safe_sqrt(1.0 - sin2_beyond);
    let parallel = (eta * c - beyond) / (eta * c + beyond);
    let perpendicular = (c - eta * beyond) / (c + eta * beyond);
    0.5 * (parallel * parallel + perpendicular * perpendicular)
}
