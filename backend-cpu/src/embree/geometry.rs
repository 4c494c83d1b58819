//! Embree geometries, and the primitives of the scene that they stand for.
//!
//! A mesh becomes up to three geometries: its opaque triangles, which need no callback; its triangles with
//! alpha, which are filtered; and its spheres, which are user geometry, because Embree's spheres return the
//! wrong one of two near hits for rays that start on a surface.

use super::build_options::CallbackKind;
use super::handles::GeometryHandle;
use super::overlap::cell;
use lockstep_bvh::LeafPrimitive;
use lockstep_core::geometry::{ClipBox, Hit, Slabs};
use lockstep_core::math::max;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::prefetch;
use lockstep_core::scene::{Mesh, SPHERE_BIT, Scene};
use lockstep_embree_sys::RTCGeometry;
use std::ops::Range;

/// One Embree geometry of a mesh.
pub(super) struct EmbreeGeometry {
    pub(super) shape: Shape,
    /// The callback that Embree makes for its primitives.
    pub(super) callback: CallbackKind,
    /// The scene, for callbacks.
    pub(super) scene: Scene,
    /// The mesh that it belongs to.
    pub(super) mesh: u32,
    /// The instance, if the mesh has a single one with the identity transform and so belongs to the top-level
    /// scene; else [`lockstep_core::scene::NONE`].
    pub(super) instance: u32,
    /// Every triangle by its `primID`. Empty for spheres.
    pub(super) triangles: Vec<TriangleRecord>,
    /// Bounding boxes of the triangles' pre-split references: padded, lowest and highest corner. References
    /// of one triangle are neighbours, the largest first, since it takes most hits.
    pub(super) reference_bounds: Vec<[Vec3; 2]>,
    /// The clip boxes that make those references.
    pub(super) clip_boxes: Vec<ClipBox>,
}

/// The handle of a geometry.
pub(super) enum Shape {
    Triangles(GeometryHandle),
    Spheres(GeometryHandle),
}

/// A triangle as the intersection predicate reads it: one cache line in place of the five that hold its
/// indices, vertices and material.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct TriangleRecord {
    /// The unclipped triangle.
    pub(super) leaf: LeafPrimitive,
    /// The cells on which other triangles lie, see [`super::coincident`].
    pub(super) coincident_cells: u32,
    /// Index of its first pre-split reference.
    pub(super) first_reference: u32,
    /// Number of its pre-split references; zero if it is not split.
    pub(super) reference_count: u32,
}

// SAFETY: Embree's geometries may be used and released by any thread, and the rest is plain data.
unsafe impl Send for EmbreeGeometry {}
// SAFETY: shared references only read the data and hand out the geometry's handle.
unsafe impl Sync for EmbreeGeometry {}

impl TriangleRecord {
    /// Whether another triangle of the mesh may lie where this one is hit.
    #[inline(always)]
    pub(super) fn is_coincident(&self, hit: &Hit) -> bool {
        self.coincident_cells & cell(hit.u, hit.v) != 0
    }

    /// Whether the geometry needs an alpha test.
    #[inline(always)]
    pub(super) fn has_alpha(&self) -> bool {
        self.leaf.flags & LeafPrimitive::ALPHA != 0
    }

    /// Whether the geometry has pre-split references.
    #[inline(always)]
    pub(super) fn is_split(&self) -> bool {
        self.reference_count != 0
    }

    /// Indices of its pre-split references within the geometry.
    #[inline(always)]
    fn references(&self) -> Range<usize> {
        let first = self.first_reference as usize;
        first..first + self.reference_count as usize
    }

    /// Whether the ray-triangle test alone decides: no coincident triangles, no references, no alpha.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.coincident_cells | self.reference_count == 0 && !self.has_alpha()
    }
}

impl EmbreeGeometry {
    /// The scene's primitive number, within the mesh, of a primitive of the geometry.
    #[inline(always)]
    pub(super) fn primitive(&self, prim_id: u32) -> u32 {
        match self.shape {
            Shape::Triangles(_) => self.triangles[prim_id as usize].leaf.primitive,
            Shape::Spheres(_) => SPHERE_BIT | prim_id,
        }
    }

    /// A triangle of the geometry; `None` for spheres.
    #[inline(always)]
    pub(super) fn triangle(&self, prim_id: u32) -> Option<&TriangleRecord> {
        self.triangles.get(prim_id as usize)
    }

    /// A primitive of the geometry as the intersection predicate takes it; if it is split, each of its
    /// references.
    #[inline(always)]
    pub(super) fn leaf_primitives(&self, prim_id: u32) -> impl Iterator<Item = LeafPrimitive> {
        let (whole, references) = match self.triangle(prim_id) {
            Some(triangle) => (triangle.leaf, &self.clip_boxes[triangle.references()]),
            None => (LeafPrimitive::of(&self.scene, self.mesh(), SPHERE_BIT | prim_id), [].as_slice()),
        };
        let unclipped = references.is_empty().then_some(&ClipBox::NONE);
        unclipped.into_iter().chain(references).map(move |clip| whole.clipped(*clip))
    }

    /// Whether a hit on the unclipped triangle is a hit on one of its references: whether the ray has entered
    /// the bounds of one at the hit's distance. Their bounds lie within the triangle's, so the distance stays
    /// the same.
    #[inline(always)]
    pub(super) fn is_in_reference(
        &self,
        triangle: &TriangleRecord,
        slabs: &Slabs,
        t_min: f32,
        hit: &Hit,
    ) -> bool {
        self.reference_bounds[triangle.references()].iter().any(|[lo, hi]| {
            let (entry, exit) = slabs.interval(*lo, *hi);
            max(entry, t_min) <= exit && entry <= hit.t
        })
    }

    /// Prefetches the cache line where [`Self::is_in_reference`] will begin to read.
    #[inline(always)]
    pub(super) fn prefetch_references(&self, triangle: &TriangleRecord) {
        prefetch(&self.reference_bounds, triangle.first_reference as usize);
    }

    /// Prefetches the cache line that [`Self::triangle`] will read.
    #[inline(always)]
    pub(super) fn prefetch(&self, prim_id: u32) {
        prefetch(&self.triangles, prim_id as usize);
    }

    /// The mesh's record.
    #[inline(always)]
    pub(super) fn mesh(&self) -> &Mesh {
        &self.scene.meshes[self.mesh as usize]
    }

    /// The raw handle, valid while `self` lives.
    pub(super) fn raw(&self) -> RTCGeometry {
        match &self.shape {
            Shape::Triangles(geometry) | Shape::Spheres(geometry) => geometry.raw(),
        }
    }
}
