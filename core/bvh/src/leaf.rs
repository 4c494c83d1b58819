//! The leaf record of a primitive.

use crate::build::polygon::{Polygon, point};
use bytemuck::{Pod, Zeroable};
use lockstep_core::geometry::{ClipBox, box_of, clip_box, clipped_box};
use lockstep_core::math::vec3::{Vec3, cross, dot, vec3};
use lockstep_core::scene::{Mesh, SPHERE_BIT, SceneData};

/// A primitive as leaves store it, next to its neighbours in the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LeafPrimitive {
    /// First vertex, or a sphere's centre.
    pub p0: Vec3,
    /// Index within the mesh; has [`SPHERE_BIT`] for a sphere.
    pub primitive: u32,
    /// Second vertex; for a sphere, x is the radius.
    pub p1: Vec3,
    /// [`LeafPrimitive::ALPHA`] in the lowest bit, [`ClipBox::below`] of a split reference above it.
    pub flags: u32,
    /// Third vertex.
    pub p2: Vec3,
    /// [`ClipBox::above`] of a split reference.
    pub clip_above: u32,
}

impl LeafPrimitive {
    /// Flag of a primitive whose hits need an alpha test.
    pub const ALPHA: u32 = 1;

    /// Lowest bit of [`ClipBox::below`] in the flags.
    pub const CLIP_SHIFT: u32 = 1;

    /// The record of a whole primitive of a mesh.
    #[inline]
    pub fn of(scene: &SceneData, mesh: &Mesh, primitive: u32) -> Self {
        let flags =
            |material: u32| if scene.materials[material as usize].has_alpha() { Self::ALPHA } else { 0 };
        if primitive & SPHERE_BIT != 0 {
            let sphere = &scene.spheres[(mesh.first_sphere + (primitive & !SPHERE_BIT)) as usize];
            let radius = vec3(sphere.radius, 0.0, 0.0);
            let flags = flags(sphere.material);
            return Self { p0: sphere.center, primitive, p1: radius, flags, p2: Vec3::ZERO, clip_above: 0 };
        }
        let triangle = &scene.triangles[(mesh.first_triangle + primitive) as usize];
        let point = |corner: usize| Vec3::from(scene.positions[triangle.vertices[corner] as usize]);
        let flags = flags(triangle.material);
        Self { p0: point(0), primitive, p1: point(1), flags, p2: point(2), clip_above: 0 }
    }

    /// Half the surface area of the primitive, or of the part that the clip box leaves.
    pub(crate) fn half_area(&self) -> f32 {
        if self.primitive & SPHERE_BIT != 0 {
            return 2.0 * std::f32::consts::PI * self.p1.x * self.p1.x;
        }
        if self.clip_box() != ClipBox::NONE {
            return self.polygon().area() as f32;
        }
        let twice = cross(self.p1 - self.p0, self.p2 - self.p0);
        0.5 * dot(twice, twice).sqrt()
    }

    /// The triangle, clipped to the clip box.
    pub(crate) fn polygon(&self) -> Polygon {
        let corners = [self.p0, self.p1, self.p2];
        let whole = Polygon::of(&corners.map(point));
        if self.clip_box() == ClipBox::NONE {
            return whole;
        }
        let (lo, hi) = clip_box(box_of(corners), self.clip_box());
        whole.clipped(&[lo, hi].map(point))
    }

    /// The record of a split reference to the triangle of this record.
    #[inline]
    pub fn clipped(self, clip: ClipBox) -> Self {
        let alpha = self.flags & Self::ALPHA;
        Self { flags: alpha | clip.below << Self::CLIP_SHIFT, clip_above: clip.above, ..self }
    }

    /// The clip box of a split reference, [`ClipBox::NONE`] for a whole primitive.
    #[inline(always)]
    pub fn clip_box(&self) -> ClipBox {
        ClipBox { below: self.flags >> Self::CLIP_SHIFT, above: self.clip_above }
    }

    /// The padded box that the intersection predicate tests, as lowest and highest corner.
    #[inline(always)]
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let corners = if self.primitive & SPHERE_BIT != 0 {
            // Opposite corners of the sphere's box, as if of a triangle
            let radius = Vec3::splat(self.p1.x);
            let highest = self.p0 + radius;
            [self.p0 - radius, highest, highest]
        } else {
            [self.p0, self.p1, self.p2]
        };
        clipped_box(corners, self.clip_box())
    }
}
