//! The built-in BVH as an intersector: the reference that every exact target equals.

use crate::intersector::{Built, Intersector};
use lockstep_bvh::{Bvh8, BvhCache, Fetched, RAYS, Scratch8, SmallSceneIntersector, SmallSceneScratch};
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;

/// A scene with its 8-wide BVH, and an 8-ray SIMD brute-force intersector where the scene is tiny.
pub(crate) struct BuiltIn {
    scene: Scene,
    bvh: Bvh8,
    small_scene: Option<SmallSceneIntersector>,
}

impl Intersector for BuiltIn {
    type Scratch = (Scratch8, SmallSceneScratch);

    fn build(scene: &Scene, cache: &BvhCache) -> Result<Built<Self>> {
        let Fetched { bvh, report, elapsed } = cache.bvh8(scene);
        let small_scene = SmallSceneIntersector::of(scene);
        // The brute-force intersector answers all queries, so statistics of the BVH would mislead.
        let bvh_report = small_scene.is_none().then_some(report);
        let intersector = Self { scene: scene.clone(), bvh, small_scene };
        Ok(Built { intersector, bvh_report, elapsed })
    }

    fn has_packets(&self) -> bool {
        self.small_scene.is_some()
    }

    fn layout(&self) -> String {
        if self.small_scene.is_some() { "flat".into() } else { "BVH8".into() }
    }

    fn bytes(&self) -> u64 {
        self.bvh.bytes() + self.small_scene.as_ref().map_or(0, SmallSceneIntersector::bytes)
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Self::Scratch) -> Hit {
        self.bvh.closest_hit(&self.scene, ray, key, &mut scratch.0)
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Self::Scratch) -> bool {
        self.bvh.any_hit(&self.scene, ray, key, &mut scratch.0)
    }

    #[inline(always)]
    fn closest_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        mut found: impl FnMut(usize, Hit),
    ) {
        let Some(small_scene) = &self.small_scene else {
            return self.closest_hits_singly(count, ray, scratch, found);
        };
        for first in (0..count).step_by(RAYS) {
            let hits = small_scene.closest_hits(&self.scene, packet(first, count, &ray), &mut scratch.1);
            hits[..RAYS.min(count - first)].iter().zip(first..).for_each(|(hit, i)| found(i, *hit));
        }
    }

    #[inline(always)]
    fn any_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        mut found: impl FnMut(usize, bool),
    ) {
        let Some(small_scene) = &self.small_scene else {
            return self.any_hits_singly(count, ray, scratch, found);
        };
        for first in (0..count).step_by(RAYS) {
            let hit_mask = small_scene.any_hits(&self.scene, packet(first, count, &ray), &mut scratch.1);
            (first..count.min(first + RAYS)).for_each(|i| found(i, hit_mask >> (i - first) & 1 != 0));
        }
    }
}

/// The packet of [`RAYS`] rays that begins with ray `first`; the last ray fills the lanes behind `count`.
#[inline(always)]
fn packet<'r>(first: usize, count: usize, ray: impl Fn(usize) -> (&'r Ray, RayKey)) -> [&'r Ray; RAYS] {
    std::array::from_fn(|lane| ray((first + lane).min(count - 1)).0)
}
