//! Thin-film iridescence (Belcour and Barla, *A Practical Extension to Microfacet Theory for the Modeling of Varying
//! Iridescence*, 2017), glTF's `KHR_materials_iridescence`. The counterpart is `kernels/bsdf/iridescence.h`.
//!
//! Interference in the film is summed over two orders of reflections. Its spectrum is integrated against Gaussian
//! fits of the CIE's colour matching functions, in closed form.

use crate::bsdf::fresnel::schlick;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::math::{clamp, exp2, max, min, safe_sqrt, saturate, sin_cos_turns, sqr};

/// A film between air and a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinFilm {
    /// Index of refraction.
    pub ior: f32,
    /// Thickness in nanometres.
    pub thickness: f32,
}

/// A Gaussian of the colour matching functions in the frequency of the optical path difference: amplitude over the
/// integral of Y, position in turns per nanometre, variance for a binary exponent and turns.
type Peak = [f32; 3];

/// The peaks of X, Y and Z (Belcour and Barla 2017, section 4), and the second of X.
const PEAKS: [Peak; 4] = [
    [0.846_59, 1.681e-3, 0.246_491_22],
    [1.000_221_8, 1.795_3e-3, 0.529_946_45],
    [1.001_122_5, 2.208_4e-3, 0.376_594_25],
    [0.153_868_3, 2.239_9e-3, 0.257_905_07],
];

/// One peak's response to an optical path difference in nanometres and a phase shift in turns.
#[inline(always)]
fn response(peak: Peak, difference: f32, shift: f32) -> f32 {
    let (_, cos) = sin_cos_turns(peak[1] * difference + shift);
    let spread = difference * 1e-3;
    peak[0] * cos * exp2(-(peak[2] * (spread * spread)))
}

/// Linear sRGB of the interference at an optical path difference, where each channel has its phase shift.
#[inline(always)]
fn sensitivity(difference: f32, shift: Vec3) -> Vec3 {
    let x = response(PEAKS[0], difference, shift.x) + response(PEAKS[3], difference, shift.x);
    let y = response(PEAKS[1], difference, shift.y);
    let z = response(PEAKS[2], difference, shift.z);
    vec3(
        3.240_454_2 * x - 1.537_138_5 * y - 0.498_531_4 * z,
        -0.969_266 * x + 1.876_010_8 * y + 0.041_556 * z,
        0.055_643_4 * x - 0.204_025_9 * y + 1.057_225_2 * z,
    )
}

/// Reflectance at normal incidence between two indices of refraction.
#[inline(always)]
fn between(a: f32, b: f32) -> f32 {
    sqr((a - b) / (a + b))
}

/// One channel of the film's boundary with the surface: reflectance at normal incidence, and the phase shift in
/// turns.
#[inline(always)]
fn lower_boundary(f0: f32, ior: f32) -> [f32; 2] {
    let root = safe_sqrt(clamp(f0, 0.0, 0.9999));
    let base = (1.0 + root) / (1.0 - root);
    [between(base, ior), if base < ior { 0.5 } else { 0.0 }]
}

/// Reflectance of a surface of reflectance `f0` under a film, by channel, 0 to 1.
#[inline(never)]
pub fn thin_film(film: ThinFilm, f0: Vec3, cosine: f32) -> Vec3 {
    // A film of no thickness has the index of what lies around it
    let t = saturate(film.thickness * (1.0 / 0.03));
    let ior = 1.0 + (film.ior - 1.0) * (t * t * (3.0 - 2.0 * t));
    let cosine = saturate(cosine);
    let cos2 = 1.0 - (1.0 - cosine * cosine) / (ior * ior);
    if cos2 < 0.0 {
        return Vec3::ONE;
    }
    let inside = cos2.sqrt();
    // Upper boundary
    let upper = schlick(Vec3::splat(between(ior, 1.0)), cosine).x;
    let passed = 1.0 - upper;
    let reversal = if ior < 1.0 { 0.0 } else { 0.5 };
    // Lower boundary
    let [r0, shift_r] = lower_boundary(f0.x, ior);
    let [g0, shift_g] = lower_boundary(f0.y, ior);
    let [b0, shift_b] = lower_boundary(f0.z, ior);
    let lower = schlick(vec3(r0, g0, b0), inside);
    let shift = vec3(reversal + shift_r, reversal + shift_g, reversal + shift_b);
    // Reflections without interference, then two orders of it
    let difference = 2.0 * ior * film.thickness * inside;
    let product = vec3(
        clamp(upper * lower.x, 1e-5, 0.9999),
        clamp(upper * lower.y, 1e-5, 0.9999),
        clamp(upper * lower.z, 1e-5, 0.9999),
    );
    let root = vec3(product.x.sqrt(), product.y.sqrt(), product.z.sqrt());
    let twice = passed * passed;
    let between_both = vec3(
        twice * lower.x / (1.0 - product.x),
        twice * lower.y / (1.0 - product.y),
        twice * lower.z / (1.0 - product.z),
    );
    let first = (between_both - Vec3::splat(passed)) * root;
    let second = first * root;
    let sum = Vec3::splat(upper)
        + between_both
        + first * (sensitivity(difference, shift) * 2.0)
        + second * (sensitivity(2.0 * difference, shift * 2.0) * 2.0);
    vec3(saturate(sum.x), saturate(sum.y), saturate(sum.z))
}

/// Cosines at which [`film_envelope`] looks at a film.
const ENVELOPE: [f32; 5] = [0.25, 0.5, 0.7, 0.85, 1.0];

/// The smallest reflectance at normal incidence whose Schlick term is at least the film's reflectance in each of five
/// directions.
#[inline(never)]
pub fn film_envelope(film: ThinFilm, f0: Vec3) -> Vec3 {
    let mut most = Vec3::ZERO;
    for cosine in ENVELOPE {
        let found = thin_film(film, f0, cosine);
        let m = 1.0 - cosine;
        let m2 = m * m;
        let m5 = m2 * m2 * m;
        let scale = 1.0 / (1.0 - m5);
        most = vec3(
            max(most.x, (found.x - m5) * scale),
            max(most.y, (found.y - m5) * scale),
            max(most.z, (found.z - m5) * scale),
        );
    }
    most
}

/// The film's reflectance, nowhere above the Schlick term of its envelope.
#[inline(always)]
pub(super) fn film_fresnel(film: ThinFilm, f0: Vec3, envelope: Vec3, cosine: f32) -> Vec3 {
    let found = thin_film(film, f0, cosine);
    let limit = schlick(envelope, cosine);
    vec3(min(found.x, limit.x), min(found.y, limit.y), min(found.z, limit.z))
}

#[cfg(test)]
mod tests;
