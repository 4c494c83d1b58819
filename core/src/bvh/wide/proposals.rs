//! Triangles that another intersector proposes, one for each of eight rays, judged at once.

#[cfg(target_arch = "x86_64")]
use super::lanes::Avx2;
use super::lanes::{Lanes, Plain};
use super::layout::Eight;
use super::triangles::{Tested, boxes};
use crate::bvh::probe::LeafPrimitive;
use crate::intersect::{FAR_WIDENING, Hit, Ray, SMALLEST_DIRECTION, longest_axis};

/// Eight rays and a triangle for each. The axes of each lane are in the order in which a shear turns its ray's: tests of
/// triangles need them so, and tests of boxes need no order.
#[derive(Clone, Debug, Default)]
#[repr(C, align(32))]
pub struct Proposals8 {
    points: [[Eight; 3]; 3],
    origin: [Eight; 3],
    direction: [Eight; 3],
    t_min: Eight,
    t_max: Eight,
    lanes: u32,
}

/// What eight proposals count as.
#[derive(Clone, Copy, Debug)]
pub struct Judged8 {
    t: Eight,
    u: Eight,
    v: Eight,
    taken: u32,
}

impl Proposals8 {
    /// Forgets all proposals.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.lanes = 0;
    }

    /// Adds a ray and a triangle of an instance that is not transformed, in a lane below 8.
    #[inline(always)]
    pub fn put(&mut self, lane: usize, ray: &Ray, triangle: &LeafPrimitive) {
        let last = longest_axis(ray.direction) as usize;
        let axes = [(last + 1) % 3, (last + 2) % 3, last];
        let (origin, direction) = (ray.origin.to_array(), ray.direction.to_array());
        let points = [triangle.p0.to_array(), triangle.p1.to_array(), triangle.p2.to_array()];
        for (i, axis) in axes.into_iter().enumerate() {
            self.origin[i][lane] = origin[axis];
            self.direction[i][lane] = direction[axis];
            for (to, point) in self.points.iter_mut().zip(&points) {
                to[i][lane] = point[axis];
            }
        }
        self.t_min[lane] = ray.t_min;
        self.t_max[lane] = ray.t_max;
        self.lanes |= 1 << lane;
    }

    /// Judges all of them as [`crate::bvh::judge`] does, but for coverage.
    #[inline(always)]
    pub fn judge(&self) -> Judged8 {
        #[cfg(target_arch = "x86_64")]
        if super::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.judge_by_avx2() };
        }
        self.judge_by::<Plain>()
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn judge_by_avx2(&self) -> Judged8 {
        self.judge_by::<Avx2>()
    }

    #[inline(always)]
    fn judge_by<L: Lanes>(&self) -> Judged8 {
        let [dx, dy, dz] = &self.direction;
        let (dx, dy, dz) = (L::load(dx), L::load(dy), L::load(dz));
        let shear = [dx.div(dz), dy.div(dz)];
        let [a, b, c] = &self.points;
        let corners = [self.corner(a, shear), self.corner(b, shear), self.corner(c, shear)];
        let (t_min, t_max) = (L::load(&self.t_min), L::load(&self.t_max));
        let tested = Tested::new(corners, L::splat(1.0).div(dz), self.lanes, t_min, t_max);
        let [ox, oy, oz] = &self.origin;
        let origin = [L::load(ox), L::load(oy), L::load(oz)];
        let (entry, exit) = interval(&boxes(&self.points), origin, [inverse(dx), inverse(dy), inverse(dz)]);
        let entry = entry.max(t_min);
        let raised = tested.t.max(entry);
        let taken = tested.hit & entry.at_most(exit) & raised.at_most(t_max);
        Judged8 { t: raised.store(), u: tested.u.store(), v: tested.v.store(), taken }
    }

    /// A corner of all triangles, sheared.
    #[inline(always)]
    fn corner<L: Lanes>(&self, corner: &[Eight; 3], [sx, sy]: [L; 2]) -> [L; 3] {
        let [x, y, z]: [L; 3] = [self.seen(corner, 0), self.seen(corner, 1), self.seen(corner, 2)];
        [x.sub(sx.mul(z)), y.sub(sy.mul(z)), z]
    }

    /// One component of a corner of all triangles, as seen from the rays' origins.
    #[inline(always)]
    fn seen<L: Lanes>(&self, corner: &[Eight; 3], i: usize) -> L {
        L::load(&corner[i]).sub(L::load(&self.origin[i]))
    }
}

/// Entries of eight rays into boxes, lowest corners first, and widened exits, as [`crate::intersect::Slabs::interval`]
/// finds them.
#[inline(always)]
pub(super) fn interval<L: Lanes>(boxes: &[L; 6], origin: [L; 3], inverse: [L; 3]) -> (L, L) {
    let (x, y, z) = (
        across(boxes, origin, inverse, 0),
        across(boxes, origin, inverse, 1),
        across(boxes, origin, inverse, 2),
    );
    (x.0.max(y.0).max(z.0), x.1.min(y.1).min(z.1).mul(L::splat(FAR_WIDENING)))
}

/// Where rays enter and leave what lies between the planes of an axis.
#[inline(always)]
fn across<L: Lanes>(boxes: &[L; 6], origin: [L; 3], inverse: [L; 3], axis: usize) -> (L, L) {
    let low = boxes[axis].sub(origin[axis]).mul(inverse[axis]);
    let high = boxes[axis + 3].sub(origin[axis]).mul(inverse[axis]);
    (low.min(high), low.max(high))
}

/// One over components of directions, finite.
#[inline(always)]
pub(super) fn inverse<L: Lanes>(component: L) -> L {
    L::splat(1.0).div(component.abs().max(L::splat(SMALLEST_DIRECTION)).with_sign_of(component))
}

impl Judged8 {
    /// The hit of a lane as that of this primitive; nothing where the rule rejects the proposal, or where the scalar rule
    /// must decide, or where there is none.
    #[inline(always)]
    pub fn hit(&self, lane: usize, instance: u32, primitive: u32) -> Option<Hit> {
        let Self { t, u, v, taken } = self;
        (taken >> lane & 1 != 0).then(|| Hit { t: t[lane], u: u[lane], v: v[lane], instance, primitive })
    }
}
