//! Maps from uniforms to directions, and alias tables. The counterpart is `kernels/math/sampling.h`.

use crate::math::rng::index_below;
use crate::math::vec3::{Vec3, vec3};
use crate::math::{safe_sqrt, sin_cos_turns, with_sign_of};
use crate::scene::AliasEntry;

/// A point in the unit disk, uniform by area.
#[inline(always)]
pub fn uniform_disk(u: f32, v: f32) -> [f32; 2] {
    let r = u.sqrt();
    let (sin, cos) = sin_cos_turns(v);
    [r * cos, r * sin]
}

/// A direction about +z with density cos / pi (Malley's method).
#[inline(always)]
pub fn cosine_hemisphere(u: f32, v: f32) -> Vec3 {
    let d = uniform_disk(u, v);
    vec3(d[0], d[1], safe_sqrt(1.0 - u))
}

/// A direction within the cone about +z whose half-angle has `1 - cos` equal to `one_minus_cos`, uniform by
/// solid angle.
#[inline(always)]
pub fn uniform_cone(u: f32, v: f32, one_minus_cos: f32) -> Vec3 {
    let below = u * one_minus_cos;
    let r = safe_sqrt(below * (2.0 - below));
    let (sin, cos) = sin_cos_turns(v);
    vec3(r * cos, r * sin, 1.0 - below)
}

/// Barycentric coordinates (of the second and third vertex), uniform by area.
#[inline(always)]
pub fn uniform_triangle(u: f32, v: f32) -> [f32; 2] {
    let r = u.sqrt();
    [r * (1.0 - v), r * v]
}

/// A right-handed frame whose third axis is the unit vector `n` (Duff et al., JCGT 6(1), 2017).
#[inline(always)]
pub fn frame(n: Vec3) -> (Vec3, Vec3) {
    let sign = with_sign_of(1.0, n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (vec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), vec3(b, sign + n.y * n.y * a, -n.y))
}

/// The index that an alias table gives for two independent words.
#[inline(always)]
pub fn pick(table: &[AliasEntry], index_word: u32, choice_word: u32) -> u32 {
    let column = index_below(index_word, table.len() as u32);
    let entry = table[column as usize];
    if choice_word < entry.threshold { column } else { entry.alias }
}

/// MIS weight of a sample of density `a` where the other technique has density `b`: Veach's power heuristic
/// with exponent two, in a form in which large densities do not overflow.
#[inline(always)]
pub fn power_heuristic(a: f32, b: f32) -> f32 {
    if a >= b {
        let r = b / a;
        1.0 / (1.0 + r * r)
    } else {
        let r = a / b;
        r * r / (1.0 + r * r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::{cross, dot, length, normalize};

    fn grid(n: u32) -> impl Iterator<Item = (f32, f32)> {
        (0..n * n).map(move |i| (((i % n) as f32 + 0.5) / n as f32, ((i / n) as f32 + 0.5) / n as f32))
    }

    #[test]
    fn frames_are_orthonormal_and_right_handed() {
        for (u, v) in grid(64) {
            for flip in [1.0, -1.0] {
                let d = cosine_hemisphere(u, v);
                let n = normalize(vec3(d.x, d.y, flip * d.z));
                let (s, t) = frame(n);
                assert!(dot(s, t).abs() < 1e-6 && dot(s, n).abs() < 1e-6 && dot(t, n).abs() < 1e-6);
                assert!(length(cross(s, t) - n) < 1e-5);
            }
        }
    }

    #[test]
    fn hemisphere_moments_match_the_cosine_density() {
        let n = 256;
        let mean_z: f64 =
            grid(n).map(|(u, v)| f64::from(cosine_hemisphere(u, v).z)).sum::<f64>() / f64::from(n * n);
        // E[cos] under cos / pi is 2/3.
        assert!((mean_z - 2.0 / 3.0).abs() < 1e-4);
    }

    #[test]
    fn cone_samples_stay_inside_and_are_uniform_in_height() {
        let one_minus_cos = 0.25;
        let n = 256;
        let mut mean = 0.0f64;
        for (u, v) in grid(n) {
            let d = uniform_cone(u, v, one_minus_cos);
            assert!(d.z >= 1.0 - one_minus_cos - 1e-6 && (length(d) - 1.0).abs() < 1e-6);
            mean += f64::from(d.z);
        }
        assert!((mean / f64::from(n * n) - 0.875).abs() < 1e-5);
    }

    #[test]
    fn heuristic_weights_sum_to_one() {
        for (a, b) in [(1.0, 3.0), (0.0, 2.0), (5.0, 0.0), (1e30, 1e29), (1e-30, 1e-31), (4.0, 4.0)] {
            assert!((power_heuristic(a, b) + power_heuristic(b, a) - 1.0).abs() < 1e-6, "{a} {b}");
        }
    }
}
