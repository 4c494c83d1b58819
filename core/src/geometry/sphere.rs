//! The ray-sphere test.

use crate::math::vec3::{Vec3, dot};
use crate::math::{max, min, with_sign_of};

/// Distances at which the ray's line enters and leaves a sphere; `None` for a miss.
///
/// The discriminant from the distance vector keeps precision for far spheres (Haines et al., Ray Tracing
/// Gems, chapter 7).
#[inline(always)]
pub fn sphere(origin: Vec3, direction: Vec3, center: Vec3, radius: f32) -> Option<(f32, f32)> {
    // Discriminant
    let to_center = center - origin;
    let a = dot(direction, direction);
    let half_b = dot(to_center, direction);
    let closest = to_center - direction * (half_b / a);
    let discriminant = radius * radius - dot(closest, closest);
    if discriminant < 0.0 {
        return None;
    }
    // Both roots, without cancellation
    let c = dot(to_center, to_center) - radius * radius;
    let q = half_b + with_sign_of((a * discriminant).sqrt(), half_b);
    if q == 0.0 {
        return None;
    }
    let t0 = c / q;
    let t1 = q / a;
    Some((min(t0, t1), max(t0, t1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::testing::{random, random_point};
    use crate::math::vec3::normalize;

    #[test]
    fn sphere_distances_match_double_precision() {
        for i in 0..50_000 {
            let center = random_point(i, 0, 5.0);
            let radius = 0.1 + random(i, 1)[0];
            let origin = random_point(i, 2, 20.0);
            let direction = normalize(center + random_point(i, 3, 0.55 * radius) - origin);
            let (near, far) = sphere(origin, direction, center, radius).unwrap();
            let d = |a: Vec3, b: Vec3| {
                f64::from(a.x) * f64::from(b.x)
                    + f64::from(a.y) * f64::from(b.y)
                    + f64::from(a.z) * f64::from(b.z)
            };
            let oc = origin - center;
            let (qa, qb, qc) =
                (d(direction, direction), d(oc, direction), d(oc, oc) - f64::from(radius).powi(2));
            let root = (qb * qb - qa * qc).sqrt();
            let expected = ((-qb - root) / qa, (-qb + root) / qa);
            assert!((f64::from(near) - expected.0).abs() < 2e-4, "{i}: {near} {expected:?}");
            assert!((f64::from(far) - expected.1).abs() < 2e-4, "{i}: {far} {expected:?}");
        }
    }
}
