//! Candidates: primitives that Embree finds and the intersection predicate has yet to confirm.

use super::geometry::EmbreeGeometry;
use lockstep_core::geometry::Hit;

/// A primitive that Embree finds along a ray, with the distance and barycentrics that Embree computed.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// Distance, in units of the ray's direction.
    pub(super) t: f32,
    /// Barycentric coordinates.
    pub(super) u: f32,
    pub(super) v: f32,
    /// Instance of the scene.
    pub(super) instance: u32,
    pub(super) geometry: &'a EmbreeGeometry,
    /// Index of the primitive within the geometry, Embree's `primID`.
    pub(super) prim_id: u32,
}

impl Candidate<'_> {
    /// Prefetches the record that confirming will read.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        self.geometry.prefetch(self.prim_id);
    }

    /// The candidate as a hit, with Embree's distance and barycentrics.
    #[inline(always)]
    pub(super) fn hit(&self) -> Hit {
        let Self { t, u, v, instance, geometry, prim_id } = *self;
        Hit { t, u, v, instance, primitive: geometry.primitive(prim_id) }
    }
}
