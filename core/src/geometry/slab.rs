//! The slab test of a ray against an axis-aligned box.

use crate::math::vec3::{Vec3, vec3};
use crate::math::{max, min, with_sign_of};

/// Factor on the exit distance of a slab test (Ize, JCGT 2(2), 2013). It covers the rounding of both
/// distances and of the triangle test.
pub const FAR_WIDENING: f32 = 1.0 + 1.0 / 1_048_576.0;
/// Direction components smaller than this count as this in the slab test, which keeps it free of infinities.
pub const SMALLEST_DIRECTION: f32 = 5.421_011e-20;
/// The entry distance of a box that a ray misses: beyond every distance, and finite, since a compiler that
/// assumes finite math takes `x < infinity` for true.
pub const MISSED: f32 = f32::MAX;

/// A ray prepared for slab tests.
#[derive(Clone, Copy, Debug)]
pub struct Slabs {
    /// The ray's origin.
    pub origin: Vec3,
    /// The reciprocal direction, finite.
    pub inverse: Vec3,
}

impl Slabs {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        let inverse =
            |d: f32| 1.0 / if d.abs() < SMALLEST_DIRECTION { with_sign_of(SMALLEST_DIRECTION, d) } else { d };
        Self { origin, inverse: vec3(inverse(direction.x), inverse(direction.y), inverse(direction.z)) }
    }

    /// Entry and widened exit distance of a box.
    ///
    /// The ray intersects the box within `[a, b]` when `max(entry, a) <= min(exit, b)`.
    #[inline(always)]
    pub fn interval(&self, lo: Vec3, hi: Vec3) -> (f32, f32) {
        let x0 = (lo.x - self.origin.x) * self.inverse.x;
        let x1 = (hi.x - self.origin.x) * self.inverse.x;
        let y0 = (lo.y - self.origin.y) * self.inverse.y;
        let y1 = (hi.y - self.origin.y) * self.inverse.y;
        let z0 = (lo.z - self.origin.z) * self.inverse.z;
        let z1 = (hi.z - self.origin.z) * self.inverse.z;
        let entry = max(max(min(x0, x1), min(y0, y1)), min(z0, z1));
        let exit = min(min(max(x0, x1), max(y0, y1)), max(z0, z1));
        (entry, exit * FAR_WIDENING)
    }
}

/// The distance at which a candidate at `t` counts: raised to the entry of its own box. `None` when the
/// distance is not above `t_min` or the ray misses that box.
#[inline(always)]
pub fn accept(slabs: &Slabs, boxed: (Vec3, Vec3), t: f32, t_min: f32) -> Option<f32> {
    let (entry, exit) = slabs.interval(boxed.0, boxed.1);
    (t > t_min && max(entry, t_min) <= exit).then_some(max(t, entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::testing::{random, random_point};
    use crate::geometry::{Shear, triangle, triangle_box};

    #[test]
    fn degenerate_triangles_and_directions_are_misses() {
        let p = vec3(1.0, 1.0, 1.0);
        let hits =
            |origin, direction, p| crate::geometry::triangle(origin, &Shear::new(direction), p).is_some();
        assert!(!hits(Vec3::ZERO, p, [p, p, p]));
        assert!(!hits(Vec3::ZERO, p, [p, p, p + vec3(1.0, 0.0, 0.0)]));
        let triangle = [vec3(-1.0, -1.0, 1.0), vec3(1.0, -1.0, 1.0), vec3(0.0, 1.0, 1.0)];
        let zero = Slabs::new(Vec3::ZERO, Vec3::ZERO);
        let accepted = crate::geometry::triangle(Vec3::ZERO, &Shear::new(Vec3::ZERO), triangle)
            .and_then(|(t, ..)| accept(&zero, triangle_box(triangle), t, 0.0));
        assert!(accepted.is_none());
    }

    #[test]
    fn a_box_that_encloses_another_is_entered_no_later_and_left_no_earlier() {
        for i in 0..200_000 {
            let (a, b) = (random_point(i, 0, 2.0), random_point(i, 1, 2.0));
            let lo = vec3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
            let hi = vec3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
            let grow = random(i, 2);
            let (outer_lo, outer_hi) = (lo - vec3(grow[0], grow[1], 0.0), hi + vec3(0.0, grow[2], grow[3]));
            let mut direction = random_point(i, 3, 1.0);
            match i % 5 {
                0 => direction.x = 0.0,
                1 => direction.y = -0.0,
                2 => direction = vec3(0.0, 0.0, -1.0),
                3 => direction.z *= 1e-30,
                _ => {}
            }
            let mut origin = random_point(i, 4, 4.0);
            if i % 7 == 0 {
                origin.x = lo.x;
            }
            let slabs = Slabs::new(origin, direction);
            let (inner, outer) = (slabs.interval(lo, hi), slabs.interval(outer_lo, outer_hi));
            assert!(outer.0 <= inner.0 && outer.1 >= inner.1, "{i}: {inner:?} {outer:?}");
            assert!(!inner.0.is_nan() && !inner.1.is_nan());
        }
    }

    #[test]
    fn every_triangle_hit_passes_its_own_box() {
        // Axis-aligned rays in planes of the box are the hard case.
        let mut rejected = 0;
        for i in 0..200_000 {
            let p = [random_point(i, 0, 10.0), random_point(i, 1, 10.0), random_point(i, 2, 10.0)];
            let r = random(i, 3);
            let (u, v) = (r[0] * 0.5, r[1] * 0.5);
            let target =
                if i % 3 == 0 { p[(i / 3 % 3) as usize] } else { p[0] * (1.0 - u - v) + p[1] * u + p[2] * v };
            let mut direction = random_point(i, 4, 1.0);
            match i % 4 {
                0 => direction = vec3(0.0, direction.y, direction.z),
                1 => direction = vec3(0.0, 0.0, direction.z),
                _ => {}
            }
            let origin = target - direction * (1.0 + 100.0 * r[2]);
            if let Some((t, ..)) = triangle(origin, &Shear::new(direction), p)
                && t > 0.0
                && accept(&Slabs::new(origin, direction), triangle_box(p), t, 0.0).is_none()
            {
                rejected += 1;
            }
        }
        assert_eq!(rejected, 0);
    }
}
