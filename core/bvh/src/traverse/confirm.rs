//! Confirms candidates of another intersector, one for each of eight rays, with SIMD.

use crate::leaf::LeafPrimitive;
use crate::traverse::axis_permute::AxisPermutation;
use crate::traverse::triangles8::{Tested, boxes};
use lockstep_core::geometry::{FAR_WIDENING, Hit, Ray, SMALLEST_DIRECTION};
#[cfg(target_arch = "x86_64")]
use lockstep_core::math::simd::Avx2F32x8;
use lockstep_core::math::simd::{Array8, F32x8, PortableF32x8};
use lockstep_core::math::vec3::Vec3;

/// Eight rays as a structure of arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rays8 {
    /// Origins.
    pub origin: [Array8; 3],
    /// Starts of their intervals.
    pub t_min: Array8,
    /// Directions.
    pub direction: [Array8; 3],
    /// Ends of their intervals.
    pub t_max: Array8,
}

impl Rays8 {
    /// Transposes the rays `ray(0)` to `ray(7)`.
    #[inline(always)]
    pub fn new<'r>(ray: impl Fn(usize) -> &'r Ray) -> Self {
        let rays = [ray(0), ray(1), ray(2), ray(3), ray(4), ray(5), ray(6), ray(7)];
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { Self::transposed_by_avx2(rays) };
        }
        Self::transposed_by::<PortableF32x8>(rays)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn transposed_by_avx2(rays: [&Ray; 8]) -> Self {
        Self::transposed_by::<Avx2F32x8>(rays)
    }

    #[inline(always)]
    fn transposed_by<L: F32x8>(rays: [&Ray; 8]) -> Self {
        let [x, y, z, t_min, dx, dy, dz, t_max] = L::transpose(rays.map(bytemuck::cast_ref));
        Self {
            origin: [x.store(), y.store(), z.store()],
            t_min: t_min.store(),
            direction: [dx.store(), dy.store(), dz.store()],
            t_max: t_max.store(),
        }
    }
}

/// Eight rays with a candidate triangle for each.
#[derive(Clone, Copy, Debug)]
pub struct Candidates8<'a> {
    rays: &'a Rays8,
    triangles: [&'a LeafPrimitive; 8],
    lanes: u32,
}

/// Fills lanes without a candidate.
static NO_TRIANGLE: LeafPrimitive =
    LeafPrimitive { p0: Vec3::ZERO, primitive: 0, p1: Vec3::ZERO, flags: 0, p2: Vec3::ZERO, clip_above: 0 };

/// The hits that eight candidates commit.
#[derive(Clone, Copy, Debug)]
pub struct Confirmed8 {
    t: Array8,
    u: Array8,
    v: Array8,
    /// Triangle indices, as the bits of floats.
    primitive: Array8,
    /// Bit mask of the committed hits.
    committed: u32,
    /// Bit mask of those away from edges.
    inside: u32,
}

impl<'a> Candidates8<'a> {
    /// Starts with no candidate in any lane.
    #[inline(always)]
    pub fn new(rays: &'a Rays8) -> Self {
        Self { rays, triangles: [&NO_TRIANGLE; 8], lanes: 0 }
    }

    /// Sets the candidate of a lane, below 8, if `counts`. The triangle is of an untransformed instance.
    #[inline(always)]
    pub fn put(&mut self, lane: usize, triangle: &'a LeafPrimitive, counts: bool) {
        self.triangles[lane] = triangle;
        self.lanes |= u32::from(counts) << lane;
    }

    /// Confirms all candidates as [`crate::confirm`] does, without the alpha test.
    ///
    /// Hits count as inside when all barycentric coordinates are at least `edge`.
    #[inline(always)]
    pub fn confirm(&self, edge: f32) -> Confirmed8 {
        if self.lanes == 0 {
            return Confirmed8::none(self.rays);
        }
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.confirm_by_avx2(edge) };
        }
        self.confirm_by::<PortableF32x8>(edge)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn confirm_by_avx2(&self, edge: f32) -> Confirmed8 {
        self.confirm_by::<Avx2F32x8>(edge)
    }

    #[inline(always)]
    fn confirm_by<L: F32x8>(&self, edge: f32) -> Confirmed8 {
        let Rays8 { origin: [ox, oy, oz], t_min, direction: [dx, dy, dz], t_max } = self.rays;
        let (ox, oy, oz, t_min) = (L::load(ox), L::load(oy), L::load(oz), L::load(t_min));
        let (dx, dy, dz, t_max) = (L::load(dx), L::load(dy), L::load(dz), L::load(t_max));
        let (points, primitives) = self.points::<L>();
        // Shear of each ray
        let permutation = AxisPermutation::new(dx, dy, dz);
        let [x, y, z] = permutation.rotate(dx, dy, dz);
        let (sx, sy, sz) = (x.div(z), y.div(z), L::splat(1.0).div(z));
        // Test the triangles
        let origin = [ox, oy, oz];
        let [a, b, c] = points;
        let corners = [
            permutation.shear(a, origin, [sx, sy]),
            permutation.shear(b, origin, [sx, sy]),
            permutation.shear(c, origin, [sx, sy]),
        ];
        let tested = Tested::new(corners, sz, self.lanes, t_min, t_max);
        // Test their boxes and raise distances
        let (entry, exit) = interval(&boxes(points), origin, [inverse(dx), inverse(dy), inverse(dz)]);
        let entry = entry.max(t_min);
        let raised = tested.t.max(entry);
        let committed = tested.hit & entry.simd_le(exit) & raised.simd_le(t_max);
        // Classify hits near edges
        let (u, v) = (tested.u, tested.v);
        let at_edge = u.min(v).min(L::splat(1.0).sub(u).sub(v)).simd_lt(L::splat(edge));
        let hit = L::mask(committed);
        Confirmed8 {
            t: hit.select(raised, t_max).store(),
            u: hit.and(u).store(),
            v: hit.and(v).store(),
            primitive: primitives.store(),
            committed,
            inside: committed & !at_edge,
        }
    }

    /// Transposes the triangles: vertices, and indices as the bits of floats.
    #[inline(always)]
    fn points<L: F32x8>(&self) -> ([[L; 3]; 3], L) {
        // A record is twelve words: three vertices, each followed by an index or flags
        let words = self.triangles.map(bytemuck::cast_ref::<LeafPrimitive, [f32; 12]>);
        let [ax, ay, az, primitives, bx, by, bz, _] = L::transpose(words.map(first_eight));
        let [.., cx, cy, cz, _] = L::transpose(words.map(last_eight));
        ([[ax, ay, az], [bx, by, bz], [cx, cy, cz]], primitives)
    }
}

#[inline(always)]
fn first_eight([first @ .., _, _, _, _]: &[f32; 12]) -> &Array8 {
    first
}

#[inline(always)]
fn last_eight([_, _, _, _, last @ ..]: &[f32; 12]) -> &Array8 {
    last
}

/// Entry and widened exit distances of eight rays, each with its own box, lowest corners first; as
/// [`lockstep_core::geometry::Slabs::interval`].
#[inline(always)]
pub(crate) fn interval<L: F32x8>(boxes: &[L; 6], origin: [L; 3], inverse: [L; 3]) -> (L, L) {
    let (x, y, z) = (
        across(boxes, origin, inverse, 0),
        across(boxes, origin, inverse, 1),
        across(boxes, origin, inverse, 2),
    );
    (x.0.max(y.0).max(z.0), x.1.min(y.1).min(z.1).mul(L::splat(FAR_WIDENING)))
}

/// Entry and exit distances of the slab of one axis.
#[inline(always)]
fn across<L: F32x8>(boxes: &[L; 6], origin: [L; 3], inverse: [L; 3], axis: usize) -> (L, L) {
    let low = boxes[axis].sub(origin[axis]).mul(inverse[axis]);
    let high = boxes[axis + 3].sub(origin[axis]).mul(inverse[axis]);
    (low.min(high), low.max(high))
}

/// Reciprocal direction components, finite.
#[inline(always)]
pub(crate) fn inverse<L: F32x8>(component: L) -> L {
    L::splat(1.0).div(component.abs().max(L::splat(SMALLEST_DIRECTION)).with_sign_of(component))
}

impl Confirmed8 {
    /// No hits.
    #[inline(always)]
    fn none(rays: &Rays8) -> Self {
        let zero = [0.0; 8];
        Self { t: rays.t_max, u: zero, v: zero, primitive: zero, committed: 0, inside: 0 }
    }

    /// True when the candidate of a lane is a hit.
    #[inline(always)]
    pub fn is_hit(&self, lane: usize) -> bool {
        self.committed >> lane & 1 != 0
    }

    /// Bit mask of the hits that are inside.
    #[inline(always)]
    pub fn inside(&self) -> u32 {
        self.inside
    }

    /// The hit of a lane, of the given instance.
    ///
    /// A miss where there is no candidate, where it is rejected, or where the scalar test must decide.
    #[inline(always)]
    pub fn hit(&self, lane: usize, instance: u32) -> Hit {
        let Self { t, u, v, primitive, .. } = self;
        let none = u32::from(!self.is_hit(lane)).wrapping_neg();
        let primitive = primitive[lane].to_bits() | none;
        Hit { t: t[lane], u: u[lane], v: v[lane], instance: instance | none, primitive }
    }
}
