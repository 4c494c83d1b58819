//! Embree called from a plain loop, without confirmation of candidates: a baseline for benchmarks.

use super::PLAIN_TARGET;
use super::build_options::{BuildOptions, CallbackKind};
use super::query::{Query, to_embree};
use super::scene::EmbreeScene;
use crate::intersector::{Built, Intersector};
use lockstep_bvh::BvhCache;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;
use lockstep_core::{Error, Result};
use lockstep_embree_sys::{
    RTCIntersectArguments, RTCOccludedArguments, RTCRayHit, RTCSceneFlags, rtcIntersect1, rtcOccluded1,
};
use std::ptr;

const OPTIONS: BuildOptions = BuildOptions {
    flags: RTCSceneFlags::NONE,
    alpha_callback: CallbackKind::GeometryFilter,
    enlargement: 0.0,
    marks_coincident: false,
};

/// Embree's acceleration structures over one scene, built with Embree's default flags.
pub(crate) struct PlainEmbree {
    scene: EmbreeScene,
}

impl Intersector for PlainEmbree {
    type Scratch = ();

    const RENDERS: bool = false;

    fn build(scene: &Scene, _: &BvhCache) -> Result<Built<Self>> {
        if !scene.spheres.is_empty() {
            return Err(Error::Unsupported {
                actor: PLAIN_TARGET.into(),
                what: "a scene with spheres".into(),
            });
        }
        let threads = rayon::current_num_threads();
        Built::timed(|| Ok(Self { scene: EmbreeScene::build(scene, threads, OPTIONS)? }))
    }

    fn layout(&self) -> String {
        "Embree".into()
    }

    fn bytes(&self) -> u64 {
        self.scene.device.bytes()
    }

    fn check(&self) -> Result<()> {
        self.scene.device.check("tracing rays")
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, _: &mut ()) -> Hit {
        let mut found = RTCRayHit { ray: to_embree(ray), ..RTCRayHit::default() };
        let scene = self.scene.top.raw();
        if self.scene.has_alpha {
            let mut query = Query::new(&self.scene, ray, key);
            let context = (&raw mut query).cast();
            let mut args = RTCIntersectArguments { context, ..RTCIntersectArguments::default() };
            // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
            unsafe { rtcIntersect1(scene, &raw mut found, &raw mut args) };
        } else {
            // SAFETY: the scene is committed and lives.
            unsafe { rtcIntersect1(scene, &raw mut found, ptr::null_mut()) };
        }
        let candidate = self.scene.candidate(found.ray.tfar, &found.hit);
        candidate.map_or(Hit::none(ray.t_max), |candidate| candidate.hit())
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, _: &mut ()) -> bool {
        let mut traced = to_embree(ray);
        let scene = self.scene.top.raw();
        if self.scene.has_alpha {
            let mut query = Query::new(&self.scene, ray, key);
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
