//! Embree called from a plain loop, as a program would that has no hit rule: the yardstick of benchmarks.

use super::PLAIN_TARGET;
use super::geometry::Asks;
use super::query::{Query, to_embree};
use super::world::{Making, World};
use crate::intersector::{Intersector, Made};
use embree4_sys::{
    RTCIntersectArguments, RTCOccludedArguments, RTCRayHit, RTCSceneFlags, rtcIntersect1, rtcOccluded1,
};
use lockstep_bvh::BvhCache;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;
use lockstep_core::{Error, Result};
use std::ptr;

const MAKING: Making =
    Making { flags: RTCSceneFlags::NONE, partial_asks: Asks::Always, growth: 0.0, marks_coincident: false };

/// Embree's trees over one scene, with Embree's default flags.
pub(crate) struct PortableF32x8 {
    world: World,
}

impl Intersector for PortableF32x8 {
    type Scratch = ();

    const RENDERS: bool = false;

    fn build(scene: &Scene, _: &BvhCache) -> Result<Made<Self>> {
        if !scene.spheres.is_empty() {
            return Err(Error::Unsupported {
                actor: PLAIN_TARGET.into(),
                what: "a scene with spheres".into(),
            });
        }
        let threads = rayon::current_num_threads();
        Made::timed(|| Ok(Self { world: World::build(scene, threads, MAKING)? }))
    }

    fn layout(&self) -> String {
        "Embree".into()
    }

    fn bytes(&self) -> u64 {
        self.world.device.bytes()
    }

    fn check(&self) -> Result<()> {
        self.world.device.check("tracing rays")
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, _: &mut ()) -> Hit {
        let mut found = RTCRayHit { ray: to_embree(ray), ..RTCRayHit::default() };
        let scene = self.world.top.raw();
        if self.world.has_partial {
            let mut query = Query::new(&self.world, ray, key);
            let context = (&raw mut query).cast();
            let mut args = RTCIntersectArguments { context, ..RTCIntersectArguments::default() };
            // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
            unsafe { rtcIntersect1(scene, &raw mut found, &raw mut args) };
        } else {
            // SAFETY: the scene is committed and lives.
            unsafe { rtcIntersect1(scene, &raw mut found, ptr::null_mut()) };
        }
        let found = self.world.name(found.ray.tfar, &found.hit);
        found.map_or(Hit::none(ray.t_max), |candidate| candidate.hit())
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, _: &mut ()) -> bool {
        let mut traced = to_embree(ray);
        let scene = self.world.top.raw();
        if self.world.has_partial {
            let mut query = Query::new(&self.world, ray, key);
            let context = (&raw mut query).cast();
            let mut args = RTCOccludedArguments { context, ..RTCOccludedArguments::default() };
            // SAFETY: as in `closest_hit`.
            unsafe { rtcOccluded1(scene, &raw mut traced, &raw mut args) };
        } else {
            // SAFETY: the scene is committed and lives.
            unsafe { rtcOccluded1(scene, &raw mut traced, ptr::null_mut()) };
        }
        traced.tfar == f32::NEG_INFINITY
    }
}
