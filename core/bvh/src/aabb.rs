//! Axis-aligned bounding boxes, and references to primitives for builders.

use bytemuck::Zeroable;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::math::{max, min};

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub(crate) struct Aabb {
    pub(crate) lo: Vec3,
    pub(crate) hi: Vec3,
}

impl Aabb {
    pub(crate) const EMPTY: Self =
        Self { lo: Vec3::splat(f32::INFINITY), hi: Vec3::splat(f32::NEG_INFINITY) };

    #[inline(always)]
    pub(crate) fn include(&mut self, o: &Self) {
        self.lo = Vec3 { x: min(self.lo.x, o.lo.x), y: min(self.lo.y, o.lo.y), z: min(self.lo.z, o.lo.z) };
        self.hi = Vec3 { x: max(self.hi.x, o.hi.x), y: max(self.hi.y, o.hi.y), z: max(self.hi.z, o.hi.z) };
    }

    /// Half the surface area; zero for the empty box.
    #[inline(always)]
    pub(crate) fn half_area(&self) -> f32 {
        let d = self.hi - self.lo;
        if d.x < 0.0 { 0.0 } else { d.x * d.y + d.y * d.z + d.z * d.x }
    }

    /// Twice the centre.
    #[inline(always)]
    pub(crate) fn center2(&self) -> Vec3 {
        self.lo + self.hi
    }

    /// The intersection of two boxes.
    pub(crate) fn overlap(&self, o: &Self) -> Option<Self> {
        let lo = vec3(max(self.lo.x, o.lo.x), max(self.lo.y, o.lo.y), max(self.lo.z, o.lo.z));
        let hi = vec3(min(self.hi.x, o.hi.x), min(self.hi.y, o.hi.y), min(self.hi.z, o.hi.z));
        (lo.x <= hi.x && lo.y <= hi.y && lo.z <= hi.z).then_some(Self { lo, hi })
    }
}

impl From<[Vec3; 2]> for Aabb {
    #[inline(always)]
    fn from([lo, hi]: [Vec3; 2]) -> Self {
        Self { lo, hi }
    }
}

/// The union of two boxes.
#[inline(always)]
pub(crate) fn joined(mut a: Aabb, b: Aabb) -> Aabb {
    a.include(&b);
    a
}

/// A reference to a primitive: its box, possibly clipped, and its number.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Reference {
    pub(crate) bounds: Aabb,
    pub(crate) index: u32,
}

impl Reference {
    /// Fills slots before references are written.
    pub(crate) const NONE: Self = Self { bounds: Aabb::EMPTY, index: 0 };
}

/// A box as two four-lane vectors. The last lane of each is arbitrary.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Aabb4 {
    pub(crate) lo: [f32; 4],
    pub(crate) hi: [f32; 4],
}

impl Aabb4 {
    pub(crate) const EMPTY: Self = Self { lo: [f32::INFINITY; 4], hi: [f32::NEG_INFINITY; 4] };

    /// Loads a reference's box. The last lanes are the words that follow in memory, so that each corner is
    /// one load.
    #[inline(always)]
    pub(crate) fn of(reference: &Reference) -> Self {
        let Reference { bounds: Aabb { lo, hi }, index } = *reference;
        Self { lo: [lo.x, lo.y, lo.z, hi.x], hi: [hi.x, hi.y, hi.z, f32::from_bits(index)] }
    }

    #[inline(always)]
    pub(crate) fn include(&mut self, o: &Self) {
        for k in 0..4 {
            self.lo[k] = min(self.lo[k], o.lo[k]);
            self.hi[k] = max(self.hi[k], o.hi[k]);
        }
    }

    /// The union of both boxes.
    #[inline(always)]
    pub(crate) fn joined(mut self, o: Self) -> Self {
        self.include(&o);
        self
    }

    /// Twice the centre.
    #[inline(always)]
    pub(crate) fn center2(&self) -> [f32; 4] {
        [0, 1, 2, 3].map(|k| self.lo[k] + self.hi[k])
    }

    /// Half the surface area; zero for the empty box.
    #[inline(always)]
    pub(crate) fn half_area(&self) -> f32 {
        Aabb::from(*self).half_area()
    }
}

impl From<Aabb4> for Aabb {
    #[inline(always)]
    fn from(Aabb4 { lo, hi }: Aabb4) -> Self {
        Self { lo: vec3(lo[0], lo[1], lo[2]), hi: vec3(hi[0], hi[1], hi[2]) }
    }
}

pub(crate) fn bounds_of(references: &[Reference]) -> Aabb {
    let mut bounds = Aabb4::EMPTY;
    for reference in references {
        bounds.include(&Aabb4::of(reference));
    }
    bounds.into()
}

pub(crate) fn axis(v: Vec3, axis: usize) -> f32 {
    match axis {
        0 => v.x,
        1 => v.y,
        _ => v.z,
    }
}
