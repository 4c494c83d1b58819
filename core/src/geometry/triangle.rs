//! The watertight ray-triangle test of Woop, Benthin and Wald (JCGT 2(1), 2013).

use crate::math::vec3::{Vec3, cross, vec3};

/// The axis of the largest absolute component, 0 to 2; the last of equal ones.
#[inline(always)]
pub fn longest_axis(direction: Vec3) -> u32 {
    let (x, y, z) = (direction.x.abs(), direction.y.abs(), direction.z.abs());
    if x > y {
        if x > z { 0 } else { 2 }
    } else if y > z {
        1
    } else {
        2
    }
}

/// The shear that aligns a ray with the z axis.
#[derive(Clone, Copy, Debug)]
pub struct Shear {
    /// The axis of the largest component, 0 to 2.
    axis: u32,
    /// Shear of the next axis in cyclic order.
    sx: f32,
    /// Shear of the axis after that.
    sy: f32,
    /// Scale of the longest axis.
    sz: f32,
}

/// Permutes the axes of `v` cyclically, so that component `axis`, 0 to 2, comes last.
#[inline(always)]
pub fn rotate_to(v: Vec3, axis: u32) -> Vec3 {
    match axis {
        0 => vec3(v.y, v.z, v.x),
        1 => vec3(v.z, v.x, v.y),
        _ => v,
    }
}

impl Shear {
    /// Prepares a ray direction.
    #[inline(always)]
    pub fn new(direction: Vec3) -> Self {
        let axis = longest_axis(direction);
        let d = rotate_to(direction, axis);
        Self { axis, sx: d.x / d.z, sy: d.y / d.z, sz: 1.0 / d.z }
    }

    /// The axis that becomes z, and the shears and the scale, for SIMD tests.
    #[inline(always)]
    pub fn parts(&self) -> (usize, [f32; 3]) {
        (self.axis as usize, [self.sx, self.sy, self.sz])
    }
}

/// `a * b - c * d` with its exact sign: where the rounded products are equal, the rounding errors decide.
#[inline(always)]
fn edge_function(a: f32, b: f32, c: f32, d: f32) -> f32 {
    let p = a * b;
    let q = c * d;
    let difference = p - q;
    if difference == 0.0 { exact_difference(a, b, c, d, p, q) } else { difference }
}

#[cold]
#[inline(never)]
fn exact_difference(a: f32, b: f32, c: f32, d: f32, p: f32, q: f32) -> f32 {
    a.mul_add(b, -p) - c.mul_add(d, -q)
}

/// Distance and barycentrics at which the ray's line intersects the triangle, before any box or range test.
///
/// `None` for a miss or an edge-on triangle.
#[inline(always)]
pub fn triangle(origin: Vec3, shear: &Shear, p: [Vec3; 3]) -> Option<(f32, f32, f32)> {
    // Vertices relative to the origin, axes permuted, sheared and projected
    let a = rotate_to(p[0] - origin, shear.axis);
    let b = rotate_to(p[1] - origin, shear.axis);
    let c = rotate_to(p[2] - origin, shear.axis);
    let ax = a.x - shear.sx * a.z;
    let ay = a.y - shear.sy * a.z;
    let bx = b.x - shear.sx * b.z;
    let by = b.y - shear.sy * b.z;
    let cx = c.x - shear.sx * c.z;
    let cy = c.y - shear.sy * c.z;
    // Edge functions: a hit has no two of opposite sign
    let u = edge_function(cx, by, cy, bx);
    let v = edge_function(ax, cy, ay, cx);
    let w = edge_function(bx, ay, by, ax);
    if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
        return None;
    }
    let determinant = u + v + w;
    if determinant == 0.0 {
        return None;
    }
    // Distance and barycentrics
    let inverse = 1.0 / determinant;
    let depth = u * a.z + v * b.z + w * c.z;
    Some((depth * shear.sz * inverse, v * inverse, w * inverse))
}

/// Unnormalised geometric normal of a triangle, towards its front.
#[inline(always)]
pub fn triangle_normal(p: [Vec3; 3]) -> Vec3 {
    cross(p[1] - p[0], p[2] - p[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::testing::{random, random_point};
    use crate::math::vec3::{dot, max_abs_component, normalize};

    fn hits(origin: Vec3, direction: Vec3, p: [Vec3; 3]) -> bool {
        triangle(origin, &Shear::new(direction), p).is_some()
    }

    #[test]
    fn barycentrics_and_distance_reproduce_the_hit_point() {
        for i in 0..20_000 {
            let p = [random_point(i, 0, 1.0), random_point(i, 1, 1.0), random_point(i, 2, 1.0)];
            let r = random(i, 3);
            let (u, v) = (r[0] * 0.5, r[1] * 0.5);
            let target = p[0] * (1.0 - u - v) + p[1] * u + p[2] * v;
            let origin = random_point(i, 4, 3.0);
            let direction = target - origin;
            let n = triangle_normal(p);
            let flatness = dot(normalize(n), normalize(direction)).abs();
            if flatness < 0.05 || max_abs_component(n) < 0.05 {
                continue;
            }
            let (t, hit_u, hit_v) = triangle(origin, &Shear::new(direction), p).unwrap();
            assert!(
                (t - 1.0).abs() < 1e-4 && (hit_u - u).abs() < 1e-4 && (hit_v - v).abs() < 1e-4,
                "{i}: {t} {hit_u} {hit_v}"
            );
        }
    }

    #[test]
    fn rays_through_a_shared_edge_hit_at_least_one_neighbour() {
        // Two triangles on the edge a-b, one on each side; the target lies on the edge up to rounding.
        for i in 0..200_000 {
            let (a, b) = (random_point(i, 0, 1.0), random_point(i, 1, 1.0));
            let edge = b - a;
            let side = cross(edge, random_point(i, 2, 1.0));
            let (c, d) = (a + edge * 0.5 + side, a + edge * 0.5 - side);
            let target = a + edge * random(i, 3)[0];
            let origin = target + random_point(i, 4, 10.0);
            let direction = target - origin;
            if dot(normalize(direction), normalize(cross(edge, side))).abs() < 1e-3 {
                continue;
            }
            assert!(
                hits(origin, direction, [a, b, c]) || hits(origin, direction, [b, a, d]),
                "ray {i} slipped through"
            );
        }
    }

    #[test]
    fn rays_through_a_vertex_hit_a_triangle_of_its_fan() {
        for i in 0..50_000 {
            let center = random_point(i, 0, 1.0);
            let n = normalize(random_point(i, 1, 1.0));
            let (s, t) = crate::math::sampling::frame(n);
            let rim: Vec<Vec3> = (0..5u32)
                .map(|k| {
                    let (sin, cos) = crate::math::sin_cos_turns(k as f32 / 5.0);
                    center + s * cos + t * sin + n * (random(i, 5 + k)[0] * 0.2)
                })
                .collect();
            let origin = center + n * 3.0 + random_point(i, 2, 1.0);
            let direction = center - origin;
            let found = (0..5).any(|k| hits(origin, direction, [center, rim[k], rim[(k + 1) % 5]]));
            assert!(found, "ray {i} slipped through a vertex");
        }
    }

    #[test]
    fn the_edge_function_has_its_exact_sign() {
        // Products that round to the same float but differ exactly.
        let (a, b) = (1.0 + f32::EPSILON, 1.0 + f32::EPSILON);
        let (c, d) = (1.0 + 2.0 * f32::EPSILON, 1.0);
        assert_eq!(a * b, c * d);
        assert!(edge_function(a, b, c, d) > 0.0);
        assert!(edge_function(c, d, a, b) < 0.0);
        for i in 0..100_000 {
            let r = random(i, 9);
            let exact = f64::from(r[0]) * f64::from(r[1]) - f64::from(r[2]) * f64::from(r[3]);
            let ours = f64::from(edge_function(r[0], r[1], r[2], r[3]));
            assert!((exact > 0.0) == (ours > 0.0) && (exact < 0.0) == (ours < 0.0), "{r:?}");
        }
    }
}
