//! Embree as the intersector of the CPU renderer.

use super::callbacks;
use super::packet;
use super::query::{Query, to_embree};
use super::world::{ROBUST, World};
use crate::intersector::{Intersector, Made};
use embree4_sys::{
    RTC_INVALID_GEOMETRY_ID, RTCFilterFunctionN, RTCIntersectArguments, RTCOccludedArguments, RTCRayHit,
    RTCRayQueryFlags, rtcIntersect1, rtcOccluded1,
};
use lockstep_core::Result;
use lockstep_core::bvh::BvhCache;
use lockstep_core::intersect::{Hit, Ray};
use lockstep_core::rng::RayKey;
use lockstep_core::scene::Scene;
use std::ptr;

/// Embree's trees over one scene.
pub(crate) struct Embree {
    world: World,
}

impl Intersector for Embree {
    type Scratch = ();

    const HAS_PACKETS: bool = true;

    fn build(scene: &Scene, _: &BvhCache) -> Result<Made<Self>> {
        Made::timed(|| Ok(Self { world: World::build(scene, rayon::current_num_threads(), ROBUST)? }))
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
        let mut query = Query::new(&self.world, ray, key);
        let Some(found) = self.propose(&mut query, RTCRayQueryFlags::INCOHERENT, None) else {
            return Hit::none(ray.t_max);
        };
        if query.has_passed(&found) {
            return query.passed;
        }
        match query.accept(&found) {
            Some(hit) => hit,
            None => self.ask_about_all(&mut query),
        }
    }

    #[inline(always)]
    fn closest_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut (),
        mut found: impl FnMut(usize, Hit),
    ) {
        let packed = if self.world.has_callbacks { 0 } else { count - count % packet::WIDTH };
        for first in (0..packed).step_by(packet::WIDTH) {
            let proposals = packet::propose(&self.world, |lane| ray(first + lane).0);
            for (lane, proposal) in proposals.iter().enumerate() {
                let (ray, key) = ray(first + lane);
                found(first + lane, self.decide(ray, key, proposal));
            }
        }
        for index in packed..count {
            let (ray, key) = ray(index);
            found(index, self.closest_hit(ray, key, scratch));
        }
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, _: &mut ()) -> bool {
        let mut query = Query::new(&self.world, ray, key);
        let mut traced = to_embree(ray);
        let mut args =
            RTCOccludedArguments { context: (&raw mut query).cast(), ..RTCOccludedArguments::default() };
        let args = if self.world.has_callbacks { &raw mut args } else { ptr::null_mut() };
        // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
        unsafe { rtcOccluded1(self.world.top.raw(), &raw mut traced, args) };
        traced.tfar == f32::NEG_INFINITY
    }
}

impl Embree {
    /// What a proposal that no callback has seen counts as.
    #[inline(always)]
    fn decide(&self, ray: &Ray, key: RayKey, proposal: &Hit) -> Hit {
        if !proposal.is_some() {
            return Hit::none(ray.t_max);
        }
        let mut query = Query::new(&self.world, ray, key);
        query.accept(proposal).unwrap_or_else(|| self.ask_about_all(&mut query))
    }

    /// The hit that Embree finds nearest, with Embree's numbers.
    #[inline(always)]
    fn propose(
        &self,
        query: &mut Query<'_>,
        flags: RTCRayQueryFlags,
        filter: RTCFilterFunctionN,
    ) -> Option<Hit> {
        let mut found = RTCRayHit { ray: to_embree(query.ray()), ..RTCRayHit::default() };
        let context = ptr::from_mut(query).cast();
        let mut args = RTCIntersectArguments { flags, context, filter, ..RTCIntersectArguments::default() };
        let needed = self.world.has_callbacks || filter.is_some();
        let args = if needed { &raw mut args } else { ptr::null_mut() };
        // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
        unsafe { rtcIntersect1(self.world.top.raw(), &raw mut found, args) };
        let RTCRayHit { ray, hit } = found;
        if hit.geomID == RTC_INVALID_GEOMETRY_ID {
            return None;
        }
        let (instance, primitive) = self.world.resolve(&hit);
        Some(Hit { t: ray.tfar, u: hit.u, v: hit.v, instance, primitive })
    }

    /// Traces a ray again whose proposal does not count, such as one at the very start of the ray, now with a say in
    /// every candidate, so that what lies behind is found.
    #[cold]
    fn ask_about_all(&self, query: &mut Query<'_>) -> Hit {
        query.passed = Hit::none(query.t_max());
        let found = self.propose(query, RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER, Some(callbacks::filter));
        found.map_or(Hit::none(query.t_max()), |_| query.passed)
    }
}
