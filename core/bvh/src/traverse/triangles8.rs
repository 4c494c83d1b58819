//! Eight triangle and box tests at a time, with the operations of the scalar predicate in each lane.

use lockstep_core::geometry::BOX_PADDING;
use lockstep_core::math::simd::{Array8, F32x8};

/// Results of eight ray-triangle tests.
pub(crate) struct Tested<L> {
    pub(crate) t: L,
    /// Barycentric coordinates.
    pub(crate) u: L,
    pub(crate) v: L,
    /// Bit mask of triangles hit within range; their boxes are not tested yet.
    pub(crate) hit: u32,
    /// Bit mask of triangles that only the scalar test can decide.
    pub(crate) undecided: u32,
}

impl<L: F32x8> Tested<L> {
    /// Tests the triangles `lanes` by their sheared vertices relative to the ray's origin. `sz` scales the
    /// longest axis.
    ///
    /// The operations are those of [`lockstep_core::geometry::triangle`], which decides triangles with an
    /// edge function of zero.
    #[inline(always)]
    pub(crate) fn new(corners: [[L; 3]; 3], sz: L, lanes: u32, t_min: L, t_last: L) -> Self {
        // Edge functions
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = corners;
        let u = cx.mul(by).sub(cy.mul(bx));
        let v = ax.mul(cy).sub(ay.mul(cx));
        let w = bx.mul(ay).sub(by.mul(ax));
        let zero = L::splat(0.0);
        let (least, most) = (u.min(v).min(w), u.max(v).max(w));
        let passed_by = least.simd_lt(zero) & zero.simd_lt(most);
        let possible = lanes & !passed_by;
        if possible == 0 {
            return Self::none();
        }
        // Of three values without opposite signs, one is zero where the least or the greatest is
        let undecided = possible & (least.simd_eq(zero) | most.simd_eq(zero));
        let decided = possible & !undecided;
        Self { undecided, ..Self::passed::<false>([u, v, w], [az, bz, cz], sz, decided, t_min, t_last) }
    }

    #[inline(always)]
    pub(crate) fn none() -> Self {
        let zero = L::splat(0.0);
        Self { t: zero, u: zero, v: zero, hit: 0, undecided: 0 }
    }

    /// Distances and barycentrics of the triangles `lanes`, whose edge functions have no opposite signs.
    ///
    /// With `EARLY`, triangles behind the ray are rejected before the division, which pays where they are
    /// frequent.
    #[inline(always)]
    pub(crate) fn passed<const EARLY: bool>(
        [u, v, w]: [L; 3],
        [az, bz, cz]: [L; 3],
        sz: L,
        mut lanes: u32,
        t_min: L,
        t_last: L,
    ) -> Self {
        let determinant = u.add(v).add(w);
        let depth = u.mul(az).add(v.mul(bz)).add(w.mul(cz)).mul(sz);
        if EARLY {
            lanes &= !depth.xor(determinant).sign_bitmask();
            if lanes == 0 {
                return Self::none();
            }
        }
        let inverse = L::splat(1.0).div(determinant);
        let t = depth.mul(inverse);
        let in_range = t_min.simd_lt(t) & t.simd_le(t_last);
        // A hit stores the barycentrics of the second and third vertex
        Self { t, u: v.mul(inverse), v: w.mul(inverse), hit: lanes & in_range, undecided: 0 }
    }
}

/// Loads one vertex of eight triangles.
#[inline(always)]
pub(crate) fn corner<L: F32x8>([x, y, z]: &[Array8; 3]) -> [L; 3] {
    [L::load(x), L::load(y), L::load(z)]
}

/// The padded boxes of eight triangles, lowest, then highest corners, as
/// [`lockstep_core::geometry::triangle_box`].
#[inline(always)]
pub(crate) fn boxes<L: F32x8>([a, b, c]: [[L; 3]; 3]) -> [L; 6] {
    let (lx, hx) = extent(a[0], b[0], c[0]);
    let (ly, hy) = extent(a[1], b[1], c[1]);
    let (lz, hz) = extent(a[2], b[2], c[2]);
    let lo = lx.abs().max(ly.abs().max(lz.abs()));
    let hi = hx.abs().max(hy.abs().max(hz.abs()));
    let pad = lo.max(hi).mul(L::splat(BOX_PADDING));
    [lx.sub(pad), ly.sub(pad), lz.sub(pad), hx.add(pad), hy.add(pad), hz.add(pad)]
}

/// Minimum and maximum of three.
#[inline(always)]
fn extent<L: F32x8>(a: L, b: L, c: L) -> (L, L) {
    (a.min(b).min(c), a.max(b).max(c))
}
