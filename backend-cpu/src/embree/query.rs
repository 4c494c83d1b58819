//! The hit rule for one ray, as the queries and their callbacks apply it.

use super::geometry::Part;
use super::world::{Candidate, World};
use embree4_sys::{RTC_INVALID_GEOMETRY_ID, RTCRay, RTCRayQueryContext};
use lockstep_bvh::ObjectRay;
use lockstep_core::geometry::{Hit, Ray, Slabs};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::{NONE, SceneData};

/// A ray on its way through Embree.
#[repr(C)]
pub(super) struct Query<'a> {
    /// What Embree sees of it, and hands to callbacks: first, so that its address is the query's.
    pub(super) context: RTCRayQueryContext,
    world: &'a World,
    ray: &'a Ray,
    slabs: Slabs,
    key: RayKey,
    /// The ray in the space of the instance `entered`; none where it misses that instance's box.
    probe: Option<ObjectRay>,
    entered: u32,
    /// The last hit that a callback let pass.
    pub(super) passed: Hit,
}

impl<'a> Query<'a> {
    /// A ray that has met nothing yet.
    #[inline(always)]
    pub(super) fn new(world: &'a World, ray: &'a Ray, key: RayKey) -> Self {
        Self {
            context: RTCRayQueryContext::default(),
            world,
            ray,
            slabs: Slabs::new(ray.origin, ray.direction),
            key,
            probe: None,
            entered: NONE,
            passed: Hit::none(ray.t_max),
        }
    }

    /// The hit rule for a primitive, up to and including `t_last`.
    #[inline(always)]
    pub(super) fn confirm(&mut self, instance: u32, part: &Part, number: u32, t_last: f32) -> Option<Hit> {
        let Self { world, ray, key, .. } = *self;
        let scene: &SceneData = &world.scene;
        if self.entered != instance {
            self.probe = ObjectRay::enter(scene, &world.boxes, ray, &self.slabs, instance, key, ray.t_max);
            self.entered = instance;
        }
        let probe = self.probe.as_ref()?;
        let Some(triangle) = part.triangle(number) else {
            return probe.test_each(scene, part.candidates(number), t_last);
        };
        let hit = probe.test(scene, &triangle.record, t_last)?;
        if triangle.is_in_pieces() && !part.is_in_piece(triangle, probe.slabs(), ray.t_min, &hit) {
            return probe.test_each(scene, part.candidates(number), t_last);
        }
        Some(hit)
    }

    /// The instance whose part a callback is asked about.
    #[inline(always)]
    pub(super) fn instance_of(&self, part: &Part) -> u32 {
        let placed = self.context.instID[0];
        if placed == RTC_INVALID_GEOMETRY_ID { part.instance } else { placed }
    }

    /// What a triangle counts as that Embree has found, if the hit rule takes it.
    #[inline(always)]
    pub(super) fn accept(&mut self, found: &Candidate<'_>) -> Option<Hit> {
        self.confirm(found.instance, found.part, found.number, self.ray.t_max)
    }

    /// Whether a callback has let this hit of Embree's pass already.
    #[inline(always)]
    pub(super) fn has_passed(&self, found: &Candidate<'_>) -> bool {
        let found = found.hit();
        (found.instance, found.primitive) == (self.passed.instance, self.passed.primitive)
    }

    /// The ray.
    #[inline(always)]
    pub(super) fn ray(&self) -> &'a Ray {
        self.ray
    }

    /// What identifies it for stochastic coverage.
    #[inline(always)]
    pub(super) fn key(&self) -> RayKey {
        self.key
    }

    /// The last distance that counts.
    #[inline(always)]
    pub(super) fn t_max(&self) -> f32 {
        self.ray.t_max
    }
}

/// A ray as Embree takes it.
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
