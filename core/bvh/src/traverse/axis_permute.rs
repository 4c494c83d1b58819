//! Axis permutation of eight rays, each with its own longest axis.

use lockstep_core::math::simd::F32x8;

/// The cyclic permutation of each ray's axes that puts the longest axis of its direction last.
pub(crate) struct AxisPermutation<L> {
    along_x: L,
    along_y: L,
}

impl<L: F32x8> AxisPermutation<L> {
    /// Chooses axes as [`lockstep_core::geometry::longest_axis`] does.
    #[inline(always)]
    pub(crate) fn new(x: L, y: L, z: L) -> Self {
        let (x, y, z) = (x.abs(), y.abs(), z.abs());
        let beyond_y = y.mask_lt(x);
        Self { along_x: beyond_y.and(z.mask_lt(x)), along_y: z.mask_lt(y).and_not(beyond_y) }
    }

    /// Permutes vectors as [`lockstep_core::geometry::rotate_to`] does.
    #[inline(always)]
    pub(crate) fn rotate(&self, x: L, y: L, z: L) -> [L; 3] {
        let Self { along_x, along_y } = *self;
        [
            along_x.select(y, along_y.select(z, x)),
            along_x.select(z, along_y.select(x, y)),
            along_x.select(x, along_y.select(y, z)),
        ]
    }

    /// Translates vertices to the rays' origins, permutes their axes, and shears them so that rays run along
    /// the last axis.
    #[inline(always)]
    pub(crate) fn shear(&self, [x, y, z]: [L; 3], [ox, oy, oz]: [L; 3], [sx, sy]: [L; 2]) -> [L; 3] {
        let [x, y, z] = self.rotate(x.sub(ox), y.sub(oy), z.sub(oz));
        [x.sub(sx.mul(z)), y.sub(sy.mul(z)), z]
    }
}
