//! Confirms candidates of one ray, in queries and in their callbacks.

use super::candidate::Candidate;
use super::geometry::EmbreeGeometry;
use super::scene::EmbreeScene;
use lockstep_bvh::ObjectRay;
use lockstep_core::geometry::{Hit, Ray, Slabs};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::{NONE, SceneData};
use lockstep_embree_sys::{RTC_INVALID_GEOMETRY_ID, RTCRay, RTCRayQueryContext};

/// A ray in Embree's traversal, with the state that its callbacks need.
#[repr(C)]
pub(super) struct Query<'a> {
    /// The context that Embree hands to callbacks. It comes first, so that its address is the query's.
    pub(super) context: RTCRayQueryContext,
    embree: &'a EmbreeScene,
    ray: &'a Ray,
    slabs: Slabs,
    key: RayKey,
    /// The ray in the object space of the instance `entered`; `None` where it misses that instance's bounds.
    object_ray: Option<ObjectRay>,
    entered: u32,
    /// The committed hit: the last one that a callback accepted.
    pub(super) committed: Hit,
}

impl<'a> Query<'a> {
    /// A ray without a committed hit.
    #[inline(always)]
    pub(super) fn new(embree: &'a EmbreeScene, ray: &'a Ray, key: RayKey) -> Self {
        Self {
            context: RTCRayQueryContext::default(),
            embree,
            ray,
            slabs: Slabs::new(ray.origin, ray.direction),
            key,
            object_ray: None,
            entered: NONE,
            committed: Hit::none(ray.t_max),
        }
    }

    /// The hit of a primitive by the intersection predicate, at distances up to and including `t_last`.
    #[inline(always)]
    pub(super) fn confirm(
        &mut self,
        instance: u32,
        geometry: &EmbreeGeometry,
        prim_id: u32,
        t_last: f32,
    ) -> Option<Hit> {
        let Self { embree, ray, key, .. } = *self;
        let scene: &SceneData = &embree.scene;

        // Transform the ray to object space, once per instance
        if self.entered != instance {
            let bounds = &embree.instance_bounds;
            self.object_ray = ObjectRay::enter(scene, bounds, ray, &self.slabs, instance, key, ray.t_max);
            self.entered = instance;
        }
        let object_ray = self.object_ray.as_ref()?;

        // Test a sphere
        let Some(triangle) = geometry.triangle(prim_id) else {
            return object_ray.test_each(scene, geometry.leaf_primitives(prim_id), t_last);
        };

        // Test a triangle; if it is split, the hit must lie in one of its references
        let hit = object_ray.test(scene, &triangle.leaf, t_last)?;
        if triangle.is_split() && !geometry.is_in_reference(triangle, object_ray.slabs(), ray.t_min, &hit) {
            return object_ray.test_each(scene, geometry.leaf_primitives(prim_id), t_last);
        }
        Some(hit)
    }

    /// The instance for which Embree calls back about a geometry.
    #[inline(always)]
    pub(super) fn instance_of(&self, geometry: &EmbreeGeometry) -> u32 {
        let inst_id = self.context.instID[0];
        if inst_id == RTC_INVALID_GEOMETRY_ID { geometry.instance } else { inst_id }
    }

    /// The hit of a candidate by the intersection predicate, at any distance along the ray.
    #[inline(always)]
    pub(super) fn accept(&mut self, candidate: &Candidate<'_>) -> Option<Hit> {
        self.confirm(candidate.instance, candidate.geometry, candidate.prim_id, self.ray.t_max)
    }

    /// Whether the committed hit is on this candidate.
    #[inline(always)]
    pub(super) fn has_committed(&self, candidate: &Candidate<'_>) -> bool {
        let hit = candidate.hit();
        (hit.instance, hit.primitive) == (self.committed.instance, self.committed.primitive)
    }

    /// The ray.
    #[inline(always)]
    pub(super) fn ray(&self) -> &'a Ray {
        self.ray
    }

    /// Key of the ray's random numbers, for stochastic alpha.
    #[inline(always)]
    pub(super) fn key(&self) -> RayKey {
        self.key
    }

    /// The ray's greatest distance.
    #[inline(always)]
    pub(super) fn t_max(&self) -> f32 {
        self.ray.t_max
    }
}

/// Converts a ray to Embree's structure.
#[inline(always)]
pub(super) fn to_embree(ray: &Ray) -> RTCRay {
    let Ray { origin, t_min, direction, t_max } = *ray;
    RTCRay {
        org_x: origin.x,
        org_y: origin.y,
        org_z: origin.z,
        tnear: t_min,
        dir_x: direction.x,
        dir_y: direction.y,
        dir_z: direction.z,
        tfar: t_max,
        ..RTCRay::default()
    }
}
