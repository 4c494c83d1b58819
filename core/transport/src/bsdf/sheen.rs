//! Sheen: the cloth lobe of Estevez and Kulla, *Production Friendly Microfacet Sheen BRDF* (2017), glTF's
//! `KHR_materials_sheen`. The counterpart is `kernels/bsdf/sheen.h`.
//!
//! The lobe reflects more than arrives towards the horizon where it is smooth. So each direction is scaled down to
//! an albedo of at most one, the smaller scale of both directions for reciprocity.

use lockstep_core::math::vec3::{Vec3, normalize};
use lockstep_core::math::{INV_PI, clamp, exp2, floor_to_i32, log2, max, min, safe_sqrt, saturate};
use lockstep_core::scene::sheen_albedo::{
    SHEEN_ALBEDO, SHEEN_ALBEDO_SCALE, SHEEN_COSINES, SHEEN_ROUGHNESSES, SMOOTHEST_SHEEN,
};

/// `x^y` for `x` in `[0, 1]` and a positive `y`.
#[inline(always)]
fn power(x: f32, y: f32) -> f32 {
    if x < 1e-30 { 0.0 } else { exp2(y * log2(x)) }
}

/// GGX alpha of a sheen's perceptual roughness, whose smallest is [`SMOOTHEST_SHEEN`].
#[inline(always)]
pub fn sheen_alpha(roughness: f32) -> f32 {
    let r = max(roughness, SMOOTHEST_SHEEN);
    r * r
}

/// The Charlie density of microfacet normals with the sine `sin` to the shading normal.
#[inline(always)]
pub(super) fn charlie_d(sin: f32, alpha: f32) -> f32 {
    let inverse = 1.0 / alpha;
    (2.0 + inverse) * power(sin, inverse) * (0.5 * INV_PI)
}

/// The fit to the logarithm of Lambda at a cosine of at most a half; `smooth` is the square of one minus alpha.
#[inline(always)]
fn charlie_curve(x: f32, smooth: f32) -> f32 {
    let rough = 1.0 - smooth;
    let a = rough * 21.5473 + smooth * 25.3245;
    let b = rough * 3.82987 + smooth * 3.32435;
    let c = rough * 0.19823 + smooth * 0.16801;
    let d = rough * -1.9776 + smooth * -1.27393;
    let e = rough * -4.32054 + smooth * -4.85967;
    a / (1.0 + b * power(x, c)) + d * x + e
}

/// Smith's Lambda for the Charlie distribution, fitted.
#[inline(always)]
pub(super) fn charlie_lambda(cosine: f32, alpha: f32) -> f32 {
    let smooth = (1.0 - alpha) * (1.0 - alpha);
    let exponent = if cosine < 0.5 {
        charlie_curve(cosine, smooth)
    } else {
        2.0 * charlie_curve(0.5, smooth) - charlie_curve(saturate(1.0 - cosine), smooth)
    };
    exp2(exponent * std::f32::consts::LOG2_E)
}

/// Upper bound of the directional albedo of the sheen lobe before it is scaled down: bilinear between the entries of
/// [`SHEEN_ALBEDO`].
#[inline(always)]
pub fn sheen_albedo(roughness: f32, cosine: f32) -> f32 {
    // Columns are even in the square root of the cosine, rows in roughness
    let x = safe_sqrt(saturate(cosine)) * (SHEEN_COSINES - 1) as f32;
    let y = saturate((roughness - SMOOTHEST_SHEEN) * 1.075_268_8) * (SHEEN_ROUGHNESSES - 1) as f32;
    let column = min(floor_to_i32(x) as f32, (SHEEN_COSINES - 2) as f32);
    let row = min(floor_to_i32(y) as f32, (SHEEN_ROUGHNESSES - 2) as f32);
    let fx = clamp(x - column, 0.0, 1.0);
    let fy = clamp(y - row, 0.0, 1.0);
    let first = row as u32 * SHEEN_COSINES + column as u32;
    let entry = |i: u32| SHEEN_ALBEDO[i as usize] as f32;
    let near = entry(first) * (1.0 - fx) + entry(first + 1) * fx;
    let far = entry(first + SHEEN_COSINES) * (1.0 - fx) + entry(first + SHEEN_COSINES + 1) * fx;
    (near * (1.0 - fy) + far * fy) * SHEEN_ALBEDO_SCALE
}

/// The factor that scales an albedo down to at most one.
#[inline(always)]
pub(super) fn sheen_limit(albedo: f32) -> f32 {
    1.0 / max(albedo, 1.0)
}

/// BRDF times cosine of a white sheen before it is scaled down.
#[inline(always)]
pub fn sheen_value(roughness: f32, wo: Vec3, wi: Vec3) -> f32 {
    let alpha = sheen_alpha(roughness);
    let h = normalize(wo + wi);
    let d = charlie_d(safe_sqrt(h.x * h.x + h.y * h.y), alpha);
    let masking = 1.0 + charlie_lambda(wo.z, alpha) + charlie_lambda(wi.z, alpha);
    d / (4.0 * wo.z * masking)
}

#[cfg(test)]
pub(super) mod tests;
