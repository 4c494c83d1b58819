//! The hit rule applied to one primitive of one instance, and to all of them.
//!
//! Intersectors that are not ours (Embree) find_candidates a primitive and ask [`confirm`]; traversals of our own ask
//! [`ObjectRay::test`] in their leaves.

use crate::aabb::Aabb;
use crate::build::polygon::{Polygon, point};
use crate::build::presplit::Parts;
use bytemuck::{Pod, Zeroable};
use lockstep_core::geometry::{
    ClipBox, Hit, Ray, Shear, Slabs, accept, box_of, clip_box, clipped_box, coordinate_scale, pad_box,
    passes_alpha_test, sphere, triangle,
};
use lockstep_core::math::rng::RayKey;
use lockstep_core::math::vec3::{Vec3, cross, dot, vec3};
use lockstep_core::math::{max, min};
use lockstep_core::scene::{Instance, Mesh, SPHERE_BIT, SceneData, transform_point, transform_vector};
use rayon::prelude::*;

/// A primitive as leaves store it, next to its neighbours in the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LeafPrimitive {
    /// First vertex, or a sphere's centre.
    pub p0: Vec3,
    /// Index within the mesh; has [`SPHERE_BIT`] for a sphere.
    pub primitive: u32,
    /// Second vertex; a sphere's radius is its x.
    pub p1: Vec3,
    /// [`LeafPrimitive::ALPHA`], and above it what the [`ClipBox`] of a piece takes away below.
    pub flags: u32,
    /// Third vertex.
    pub p2: Vec3,
    /// What the cut takes away above.
    pub cut_above: u32,
}

impl LeafPrimitive {
    /// Coverage must be looked up before a hit counts.
    pub const ALPHA: u32 = 1;

    /// The lowest bit of what a cut takes away below.
    pub const CUT_SHIFT: u32 = 1;

    /// The record of a primitive of a mesh.
    #[inline]
    pub fn of(scene: &SceneData, mesh: &Mesh, primitive: u32) -> Self {
        let flags =
            |material: u32| if scene.materials[material as usize].has_alpha() { Self::ALPHA } else { 0 };
        if primitive & SPHERE_BIT != 0 {
            let sphere = &scene.spheres[(mesh.first_sphere + (primitive & !SPHERE_BIT)) as usize];
            let radius = vec3(sphere.radius, 0.0, 0.0);
            let flags = flags(sphere.material);
            return Self { p0: sphere.center, primitive, p1: radius, flags, p2: Vec3::ZERO, cut_above: 0 };
        }
        let triangle = &scene.triangles[(mesh.first_triangle + primitive) as usize];
        let point = |corner: usize| Vec3::from(scene.positions[triangle.vertices[corner] as usize]);
        let flags = flags(triangle.material);
        Self { p0: point(0), primitive, p1: point(1), flags, p2: point(2), cut_above: 0 }
    }

    /// Half its surface area.
    pub(crate) fn half_area(&self) -> f32 {
        if self.primitive & SPHERE_BIT != 0 {
            return 2.0 * std::f32::consts::PI * self.p1.x * self.p1.x;
        }
        if self.cut() != ClipBox::NONE {
            return self.polygon().area() as f32;
        }
        let twice = cross(self.p1 - self.p0, self.p2 - self.p0);
        0.5 * dot(twice, twice).sqrt()
    }

    /// The triangle, or the piece of it.
    pub(crate) fn polygon(&self) -> Polygon {
        let corners = [self.p0, self.p1, self.p2];
        let whole = Polygon::of(&corners.map(point));
        if self.cut() == ClipBox::NONE {
            return whole;
        }
        let (lo, hi) = clip_box(box_of(corners), self.cut());
        whole.clipped(&[lo, hi].map(point))
    }

    /// That of a piece of the triangle.
    #[inline]
    pub fn with(self, cut: ClipBox) -> Self {
        let alpha = self.flags & Self::ALPHA;
        Self { flags: alpha | cut.below << Self::CUT_SHIFT, cut_above: cut.above, ..self }
    }

    /// The part of the triangle's box that counts.
    #[inline(always)]
    pub fn cut(&self) -> ClipBox {
        ClipBox { below: self.flags >> Self::CUT_SHIFT, above: self.cut_above }
    }

    /// The padded box that the hit rule tests.
    #[inline(always)]
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let corners = if self.primitive & SPHERE_BIT != 0 {
            // Opposite corners of its box, as of a triangle.
            let radius = Vec3::splat(self.p1.x);
            let highest = self.p0 + radius;
            [self.p0 - radius, highest, highest]
        } else {
            [self.p0, self.p1, self.p2]
        };
        clipped_box(corners, self.cut())
    }
}

/// A ray prepared for one instance's object space.
pub struct ObjectRay {
    pub(crate) origin: Vec3,
    direction: Vec3,
    pub(crate) slabs: Slabs,
    pub(crate) shear: Shear,
    pub(crate) t_min: f32,
    /// Hits count at least with this distance: the entry of the instance's world box.
    pub(crate) t_floor: f32,
    pub(crate) instance: u32,
    key: RayKey,
}

impl ObjectRay {
    #[inline(always)]
    fn new(direction: Vec3, slabs: Slabs, ray: &Ray, instance: u32, t_floor: f32, key: RayKey) -> Self {
        Self {
            origin: slabs.origin,
            direction,
            slabs,
            shear: Shear::new(direction),
            t_min: ray.t_min,
            t_floor,
            instance,
            key,
        }
    }

    /// The ray in the space of an instance; `None` when it misses the instance's world box up to `t_last`. `boxes` are
    /// [`instance_boxes`], `slabs` the world ray's.
    #[inline(always)]
    pub fn enter(
        scene: &SceneData,
        boxes: &[[Vec3; 2]],
        ray: &Ray,
        slabs: &Slabs,
        instance: u32,
        key: RayKey,
        t_last: f32,
    ) -> Option<Self> {
        let record = &scene.instances[instance as usize];
        if record.flags & Instance::IDENTITY != 0 {
            return Some(Self::new(ray.direction, *slabs, ray, instance, ray.t_min, key));
        }
        let [lo, hi] = boxes[instance as usize];
        let (entry, exit) = slabs.interval(lo, hi);
        if max(entry, ray.t_min) > min(exit, t_last) {
            return None;
        }
        let origin = transform_point(&record.world_to_object, ray.origin);
        let direction = transform_vector(&record.world_to_object, ray.direction);
        Some(Self::new(direction, Slabs::new(origin, direction), ray, instance, entry, key))
    }

    /// The hit rule for one primitive, up to and including `t_last`.
    #[inline(always)]
    pub fn test(&self, scene: &SceneData, candidate: &LeafPrimitive, t_last: f32) -> Option<Hit> {
        let (t, u, v) = if candidate.primitive & SPHERE_BIT != 0 {
            let (near, far) = sphere(self.origin, self.direction, candidate.p0, candidate.p1.x)?;
            (if near > self.t_min { near } else { far }, 0.0, 0.0)
        } else {
            triangle(self.origin, &self.shear, [candidate.p0, candidate.p1, candidate.p2])?
        };
        if !(t > self.t_min && t <= t_last) {
            return None;
        }
        let raised = self.accept(candidate, t)?;
        if raised > t_last {
            return None;
        }
        let hit = Hit { t: raised, u, v, instance: self.instance, primitive: candidate.primitive };
        (candidate.flags & LeafPrimitive::ALPHA == 0 || self.sees(scene, &hit)).then_some(hit)
    }

    /// The distance, in range, that a candidate at `t` counts with by its box.
    #[inline(always)]
    pub(crate) fn accept(&self, candidate: &LeafPrimitive, t: f32) -> Option<f32> {
        accept(&self.slabs, candidate.bounds(), t, self.t_min).map(|raised| max(raised, self.t_floor))
    }

    /// The hit rule for a primitive or all pieces of a triangle: the nearest of them.
    #[inline(always)]
    pub fn test_each(
        &self,
        scene: &SceneData,
        candidates: impl Iterator<Item = LeafPrimitive>,
        t_last: f32,
    ) -> Option<Hit> {
        let hits = candidates.filter_map(|candidate| self.test(scene, &candidate, t_last));
        hits.reduce(|a, b| if b.t < a.t { b } else { a })
    }

    /// The ray for slab tests in the space of the instance.
    #[inline(always)]
    pub fn slabs(&self) -> &Slabs {
        &self.slabs
    }

    /// Whether the ray sees the surface of a primitive with partial coverage.
    #[inline(always)]
    pub(crate) fn sees(&self, scene: &SceneData, hit: &Hit) -> bool {
        passes_alpha_test(scene, self.instance, hit.primitive, hit.u, hit.v, self.key)
    }
}

/// World boxes of instances grow by this share of their largest coordinate.
const INSTANCE_PADDING: f32 = 1.0 / 131_072.0;

/// The world box of every instance: the box of its mesh's transformed corners, padded for the rounding of transforms.
/// Lowest, then highest corner.
pub fn instance_boxes(scene: &SceneData) -> Vec<[Vec3; 2]> {
    let meshes: Vec<Aabb> = scene.meshes.par_iter().map(|mesh| mesh_box(scene, mesh)).collect();
    scene.instances.iter().map(|instance| world_box(instance, &meshes[instance.mesh as usize])).collect()
}

/// Every primitive of a mesh, in order.
fn primitives(mesh: &Mesh) -> impl Iterator<Item = u32> + use<> {
    (0..mesh.triangle_count).chain((0..mesh.sphere_count).map(|i| i | SPHERE_BIT))
}

fn mesh_box(scene: &SceneData, mesh: &Mesh) -> Aabb {
    let mut bounds = Aabb::EMPTY;
    for primitive in primitives(mesh) {
        let (lo, hi) = LeafPrimitive::of(scene, mesh, primitive).bounds();
        bounds.include(&Aabb { lo, hi });
    }
    bounds
}

fn world_box(instance: &Instance, b: &Aabb) -> [Vec3; 2] {
    if instance.flags & Instance::IDENTITY != 0 {
        return [b.lo, b.hi];
    }
    let mut bounds = Aabb::EMPTY;
    for corner in 0..8u32 {
        let pick = |bit: u32, lo: f32, hi: f32| if corner >> bit & 1 == 0 { lo } else { hi };
        let p = vec3(pick(0, b.lo.x, b.hi.x), pick(1, b.lo.y, b.hi.y), pick(2, b.lo.z, b.hi.z));
        let world = transform_point(&instance.object_to_world, p);
        bounds.include(&Aabb { lo: world, hi: world });
    }
    let pad = Vec3::splat(coordinate_scale(bounds.lo, bounds.hi) * INSTANCE_PADDING);
    let (lo, hi) = pad_box(bounds.lo - pad, bounds.hi + pad);
    [lo, hi]
}

/// The hit rule applied to every primitive of every instance, without any hierarchy: the definition that traversals must
/// reproduce.
pub struct BruteForce<'a> {
    scene: &'a SceneData,
    boxes: Vec<[Vec3; 2]>,
    /// The primitives and pieces of each mesh.
    meshes: Vec<Vec<LeafPrimitive>>,
}

impl<'a> BruteForce<'a> {
    /// Prepares a scene.
    pub fn new(scene: &'a SceneData) -> Self {
        let records = |mesh: &Mesh| {
            let parts = Parts::of(scene, mesh);
            parts.records(scene, mesh, &parts.numbers())
        };
        Self { scene, boxes: instance_boxes(scene), meshes: scene.meshes.iter().map(records).collect() }
    }

    /// The nearest surface along a ray. `key` identifies the ray for stochastic coverage.
    pub fn closest_hit(&self, ray: &Ray, key: RayKey) -> Hit {
        let Self { scene, boxes, meshes } = self;
        let mut best = Hit::none(ray.t_max);
        let slabs = Slabs::new(ray.origin, ray.direction);
        for (index, instance) in scene.instances.iter().enumerate() {
            let Some(probe) = ObjectRay::enter(scene, boxes, ray, &slabs, index as u32, key, best.t) else {
                continue;
            };
            for candidate in &meshes[instance.mesh as usize] {
                if let Some(hit) = probe.test(scene, candidate, best.t)
                    && best.yields_to(&hit)
                {
                    best = hit;
                }
            }
        }
        best
    }
}

/// The hit rule applied to the primitive of an instance that another intersector proposes, or to the pieces that it is in;
/// `None` where the rule rejects it.
#[inline(always)]
pub fn confirm(
    scene: &SceneData,
    boxes: &[[Vec3; 2]],
    ray: &Ray,
    key: RayKey,
    instance: u32,
    proposed: impl Iterator<Item = LeafPrimitive>,
) -> Option<Hit> {
    let slabs = Slabs::new(ray.origin, ray.direction);
    let probe = ObjectRay::enter(scene, boxes, ray, &slabs, instance, key, ray.t_max)?;
    probe.test_each(scene, proposed, ray.t_max)
}
