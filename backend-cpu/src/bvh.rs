//! The built-in BVH as an intersector: the reference that every exact target equals.

use crate::intersector::{Intersector, Made};
use lockstep_bvh::{Bvh8, BvhCache, Fetched, RAYS, Scratch8, SmallSceneIntersector, SmallSceneScratch};
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;

/// A BVH with eight children a node, and its scene; where that has few triangles, those besides, for eight rays at once.
pub(crate) struct BuiltIn {
    scene: Scene,
    bvh: Bvh8,
    few: Option<SmallSceneIntersector>,
}

impl Intersector for BuiltIn {
    type Scratch = (Scratch8, SmallSceneScratch);

    fn build(scene: &Scene, hierarchies: &BvhCache) -> Result<Made<Self>> {
        let Fetched { bvh, report, elapsed: took } = hierarchies.bvh8(scene);
        let few = SmallSceneIntersector::of(scene);
        let report = few.is_none().then_some(report);
        Ok(Made { intersector: Self { scene: scene.clone(), bvh, few }, report, took })
    }

    fn has_packets(&self) -> bool {
        self.few.is_some()
    }

    fn layout(&self) -> String {
        if self.few.is_some() { "flat".into() } else { "BVH8".into() }
    }

    fn bytes(&self) -> u64 {
        self.bvh.bytes() + self.few.as_ref().map_or(0, SmallSceneIntersector::bytes)
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
        let Some(few) = &self.few else {
            return self.each_closest_hit(count, ray, scratch, found);
        };
        for first in (0..count).step_by(RAYS) {
            let hits = few.closest_hits(&self.scene, eight(first, count, &ray), &mut scratch.1);
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
        let Some(few) = &self.few else {
            return self.each_any_hit(count, ray, scratch, found);
        };
        for first in (0..count).step_by(RAYS) {
            let hit = few.any_hits(&self.scene, eight(first, count, &ray), &mut scratch.1);
            (first..count.min(first + RAYS)).for_each(|i| found(i, hit >> (i - first) & 1 != 0));
        }
    }
}

/// Eight rays from `first` on; of fewer the last is repeated.
#[inline(always)]
fn eight<'r>(first: usize, count: usize, ray: impl Fn(usize) -> (&'r Ray, RayKey)) -> [&'r Ray; RAYS] {
    std::array::from_fn(|lane| ray((first + lane).min(count - 1)).0)
}
