//! Offsetting ray origins off surfaces.

use crate::math::max;
use crate::math::vec3::{Vec3, dot, max_abs_component};

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
}
