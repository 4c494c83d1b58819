//! Offsetting the ends of rays off surfaces.

use crate::geometry::FAR;
use crate::math::vec3::{Vec3, dot, max_abs_component};
use crate::math::{max, min};

/// Fraction of a hit's coordinate scale by which rays start off the surface: 32 units in the last place.
pub const ORIGIN_OFFSET: f32 = 1.0 / 262_144.0;

/// Moves `p` off a surface of unit normal `n`, to the side that `direction` points to.
///
/// The distance is large enough that rounding cannot put the origin behind the surface. `scale` bounds the
/// coordinates that `p` was computed from.
#[inline(always)]
pub fn offset_origin(p: Vec3, n: Vec3, direction: Vec3, scale: f32) -> Vec3 {
    let distance = scale * ORIGIN_OFFSET;
    if dot(n, direction) < 0.0 { p - n * distance } else { p + n * distance }
}

/// Distance from the far end of a shadow ray to the surface there, as a fraction of the coordinate scale: that
/// of the near end's [`ORIGIN_OFFSET`] and three times as much for rounding.
pub const SHADOW_CLEARANCE: f32 = 4.0 * ORIGIN_OFFSET;

/// The `t_max` of a shadow ray to a surface at `distance`, so that rounding cannot make that surface occlude.
///
/// The ray leaves an origin of [`offset_origin`], which moves its line sideways, and so ends where it is
/// [`SHADOW_CLEARANCE`] above the surface. `scale` bounds the coordinates of both ends, `cosine` is that
/// between the surface's normal and the ray.
#[inline(always)]
pub fn shadow_end(distance: f32, scale: f32, cosine: f32) -> f32 {
    min(max(distance - scale * SHADOW_CLEARANCE / cosine, 0.0), FAR)
}

/// The coordinate scale of two points, for [`offset_origin`].
#[inline(always)]
pub fn coordinate_scale(a: Vec3, b: Vec3) -> f32 {
    max(max_abs_component(a), max_abs_component(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::vec3;

    #[test]
    fn origins_are_moved_to_the_side_that_is_left_to() {
        let n = vec3(0.0, 1.0, 0.0);
        let p = vec3(3.0, 2.0, 1.0);
        assert!(offset_origin(p, n, vec3(0.5, 0.5, 0.0), 3.0).y > 2.0);
        assert!(offset_origin(p, n, vec3(0.5, -0.5, 0.0), 3.0).y < 2.0);
    }

    #[test]
    fn shadow_rays_end_a_few_units_in_the_last_place_before_their_light() {
        let gap = 6.0 - shadow_end(6.0, 6.0, 0.5);
        assert!(gap > 6.0 * ORIGIN_OFFSET && gap < 3e-4, "{gap}");
        assert_eq!(shadow_end(1.0, 1.0, 1e-30), 0.0);
        assert_eq!(shadow_end(f32::INFINITY, 1.0, 1.0), FAR);
    }
}
