//! Random points for the tests of this folder.

use crate::math::rng::{pcg4d, uniform};
use crate::math::vec3::{Vec3, vec3};

/// Four uniforms of a counter.
pub(super) fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 17, 4]).map(uniform)
}

/// A point in a cube around the origin whose sides are twice `extent`.
pub(super) fn random_point(i: u32, stream: u32, extent: f32) -> Vec3 {
    let r = random(i, stream);
    (vec3(r[0], r[1], r[2]) - Vec3::splat(0.5)) * (2.0 * extent)
}
