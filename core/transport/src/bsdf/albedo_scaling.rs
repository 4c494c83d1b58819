//! Albedo scaling: what a layer reflects of the light that leaves towards the camera is missing below it. Surfaces that keep
//! all light ([`super::multiscatter`]) have their layers' albedos from here. The counterpart is
//! `kernels/bsdf/albedo_scaling.h`.
//!
//! Everything below a layer is multiplied by one minus the layer's directional albedo for `wo`, the direction towards the
//! camera, whatever the direction of the light (as in OpenPBR, and in Autodesk's Standard Surface). So a stack of white
//! lobes is exactly white: the sum of its albedos telescopes. The price is reciprocity: the factor is not that of both
//! directions exchanged. Paths from lights evaluate the same function, since `wo` is the camera's side for them too.
//!
//! Albedos are those of tables. Schlick's Fresnel term is linear in its limits, so two numbers give the albedo of GGX
//! microfacets for all reflectances: the share that white ones keep, and [`rising_albedo`]. Under anisotropy and thin films
//! there are too many parameters for a table: [`mean_fresnel`] integrates over visible normals instead.

use crate::bsdf::anisotropic::{ggx_lambda_anisotropic, ggx_sample_anisotropic};
use crate::bsdf::microfacet::reflect;
use crate::bsdf::multiscatter::{mean_missing_in_plane, missing_in_plane, missing_row, missing_step};
use lockstep_core::math::vec3::{Vec3, dot};
use lockstep_core::math::{max, min, safe_sqrt, saturate};
use lockstep_core::scene::layer_albedo::{
    CHARLIE_ALBEDO, CHARLIE_COSINES, CHARLIE_ROUGHNESSES, LAYER_SCALE, RISING_ALBEDO, RISING_COSINES,
    RISING_ROUGHNESSES, RISING_ROW, STRETCHED_ALBEDO, STRETCHED_AZIMUTHS, STRETCHED_BLOCK, STRETCHED_COSINES,
    STRETCHED_ROUGHNESSES, STRETCHED_STRENGTHS,
};
use lockstep_core::scene::missing_albedo::{MISSING_METAL, SMOOTHEST_ROUGH};
use lockstep_core::scene::sheen_albedo::SMOOTHEST_SHEEN;

/// A place in a table: the entry before it and the distance from that, by row and by column.
type Place = [(f32, f32); 2];

/// A table's value at a place, bilinear between its entries.
#[inline(always)]
fn bilinear(table: &[u32], width: u32, [(row, fy), (column, fx)]: Place) -> f32 {
    let first = row as u32 * width + column as u32;
    let entry = |i: u32| table[i as usize] as f32;
    let near = entry(first) * (1.0 - fx) + entry(first + 1) * fx;
    let far = entry(first + width) * (1.0 - fx) + entry(first + width + 1) * fx;
    (near * (1.0 - fy) + far * fy) * LAYER_SCALE
}

/// The place among columns that are even in the square root of the cosine.
#[inline(always)]
fn root_column(cosine: f32, count: u32) -> (f32, f32) {
    missing_step(safe_sqrt(saturate(cosine)) * (count - 1) as f32, count)
}

/// The place of a roughness among the rows of [`RISING_ALBEDO`].
#[inline(always)]
fn rising_row(roughness: f32) -> (f32, f32) {
    let place = safe_sqrt(saturate((roughness - SMOOTHEST_ROUGH) * 1.030_927_8));
    missing_step(place * (RISING_ROUGHNESSES - 1) as f32, RISING_ROUGHNESSES)
}

/// The albedo of GGX microfacets whose reflectance is the fifth power of one minus the cosine.
#[inline(always)]
pub fn rising_albedo(roughness: f32, cosine: f32) -> f32 {
    bilinear(&RISING_ALBEDO, RISING_ROW, [rising_row(roughness), root_column(cosine, RISING_COSINES)])
}

/// The cosine-weighted mean of [`rising_albedo`] over the hemisphere.
#[inline(always)]
pub fn mean_rising_albedo(roughness: f32) -> f32 {
    let (row, f) = rising_row(roughness);
    let entry = |i: u32| RISING_ALBEDO[((row as u32 + i) * RISING_ROW + RISING_COSINES) as usize] as f32;
    (entry(0) * (1.0 - f) + entry(1) * f) * LAYER_SCALE
}

/// The albedo of GGX microfacets with Schlick's Fresnel term from `f0` to one, of which single scattering loses a share.
#[inline(always)]
pub(super) fn schlick_albedo(f0: f32, roughness: f32, cosine: f32) -> f32 {
    let kept = 1.0 - missing_in_plane(MISSING_METAL, roughness, cosine);
    f0 * kept + (1.0 - f0) * rising_albedo(roughness, cosine)
}

/// The cosine-weighted mean of [`schlick_albedo`] over the hemisphere.
#[inline(always)]
pub(super) fn mean_schlick_albedo(f0: f32, roughness: f32) -> f32 {
    let kept = 1.0 - mean_missing_in_plane(MISSING_METAL, roughness);
    f0 * kept + (1.0 - f0) * mean_rising_albedo(roughness)
}

/// The share that a clearcoat of this weight, reflectance and roughness lets through.
#[inline(always)]
pub(super) fn coat_scaling(clearcoat: f32, f0: f32, roughness: f32, cosine: f32) -> f32 {
    if clearcoat > 0.0 {
        return max(1.0 - clearcoat * schlick_albedo(f0, roughness, cosine), 0.0);
    }
    1.0
}

/// The directional albedo of the sheen lobe before it is scaled down. Above one towards the horizon of smooth sheen.
#[inline(always)]
pub fn charlie_albedo(roughness: f32, cosine: f32) -> f32 {
    let row = safe_sqrt(saturate((roughness - SMOOTHEST_SHEEN) * 1.075_268_8));
    let row = missing_step(row * (CHARLIE_ROUGHNESSES - 1) as f32, CHARLIE_ROUGHNESSES);
    bilinear(&CHARLIE_ALBEDO, CHARLIE_COSINES, [row, root_column(cosine, CHARLIE_COSINES)])
}

/// The share that sheen of this weight lets through.
#[inline(always)]
pub(super) fn sheen_scaling(sheen: f32, roughness: f32, cosine: f32) -> f32 {
    if sheen > 0.0 {
        return 1.0 - sheen * min(charlie_albedo(roughness, cosine), 1.0);
    }
    1.0
}

/// The share of light that anisotropic microfacets lose in a direction of the frame whose x axis is that of anisotropy:
/// linear in each of its four parameters between the entries of a table. Columns are the closer to the horizon the smoother
/// the microfacets are.
#[inline(always)]
pub fn stretched_missing(roughness: f32, anisotropy: f32, alpha: [f32; 2], w: Vec3) -> f32 {
    // Block by roughness and strength
    let place = missing_row(roughness, STRETCHED_ROUGHNESSES);
    let (row, by_roughness) = missing_step(place, STRETCHED_ROUGHNESSES);
    let place = saturate(anisotropy) * (STRETCHED_STRENGTHS - 1) as f32;
    let (column, by_strength) = missing_step(place, STRETCHED_STRENGTHS);
    let first = (row as u32 * STRETCHED_STRENGTHS + column as u32) * STRETCHED_BLOCK;
    // Place in a block by azimuth and cosine
    let ring2 = w.x * w.x + w.y * w.y;
    let azimuth = if ring2 > 0.0 { saturate(safe_sqrt(w.x * w.x / ring2)) } else { 0.0 };
    let width = 0.7 * safe_sqrt(0.5 * (alpha[0] * alpha[0] + alpha[1] * alpha[1]));
    let x = (1.0 + width) * w.z / (w.z + width);
    let place = [
        missing_step(azimuth * (STRETCHED_AZIMUTHS - 1) as f32, STRETCHED_AZIMUTHS),
        missing_step(
            saturate(safe_sqrt(x * safe_sqrt(x))) * (STRETCHED_COSINES - 1) as f32,
            STRETCHED_COSINES,
        ),
    ];
    let block = |i: u32| {
        bilinear(&STRETCHED_ALBEDO[(first + i * STRETCHED_BLOCK) as usize..], STRETCHED_COSINES, place)
    };
    let near = block(0) * (1.0 - by_strength) + block(1) * by_strength;
    let far = block(STRETCHED_STRENGTHS) * (1.0 - by_strength) + block(STRETCHED_STRENGTHS + 1) * by_strength;
    near * (1.0 - by_roughness) + far * by_roughness
}

/// Nodes and weights of Gauss and Legendre's quadrature over the unit interval.
const GAUSS: [[f32; 2]; 4] = [
    [0.069_431_84, 0.173_927_42],
    [0.330_009_5, 0.326_072_58],
    [0.669_990_5, 0.326_072_58],
    [0.930_568_16, 0.173_927_42],
];

/// The mean of a function of the cosine to a microfacet, such as Fresnel's term, over the microfacets that are seen from
/// `wo` and reflect to an unmasked direction: by four nodes along the draw that chooses a visible normal's height and steps
/// of a twelfth of a turn. Isotropic microfacets, whose `wo` must have no y, take half a turn.
#[inline(never)]
pub(super) fn mean_fresnel(wo: Vec3, alpha: [f32; 2], fresnel: impl Fn(f32) -> Vec3) -> Vec3 {
    let steps = if alpha[0] == alpha[1] { 6 } else { 12 };
    let masked = 1.0 + ggx_lambda_anisotropic(wo, alpha);
    let (mut sum, mut all) = (Vec3::ZERO, 0.0);
    for step in 0..steps {
        for [node, weight] in GAUSS {
            let h = ggx_sample_anisotropic(wo, alpha, node, (step as f32 + 0.5) * (1.0 / 12.0));
            let wi = reflect(wo, h);
            if wi.z > 0.0 {
                let share = weight * (masked / (masked + ggx_lambda_anisotropic(wi, alpha)));
                sum = sum + fresnel(dot(wo, h)) * share;
                all += share;
            }
        }
    }
    if all > 0.0 { sum * (1.0 / all) } else { Vec3::ZERO }
}

#[cfg(test)]
mod tests;
