//! The built-in BVH as an intersector: the reference that every exact target equals.

use crate::intersector::{Intersector, Made};
use lockstep_core::Result;
use lockstep_core::bvh::{Bvh8, BvhCache, Fetched, Scratch8};
use lockstep_core::intersect::{Hit, Ray};
use lockstep_core::rng::RayKey;
use lockstep_core::scene::Scene;

/// A BVH with eight children a node, and its scene.
pub(crate) struct BuiltIn {
    scene: Scene,
    bvh: Bvh8,
}

impl Intersector for BuiltIn {
    type Scratch = Scratch8;

    fn build(scene: &Scene, hierarchies: &BvhCache) -> Result<Made<Self>> {
        let Fetched { bvh, report, took } = hierarchies.bvh8(scene);
        Ok(Made { intersector: Self { scene: scene.clone(), bvh }, report: Some(report), took })
    }

    fn layout(&self) -> String {
        "BVH8".into()
    }

    fn bytes(&self) -> u64 {
        self.bvh.bytes()
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> Hit {
        self.bvh.closest_hit(&self.scene, ray, key, scratch)
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> bool {
        self.bvh.any_hit(&self.scene, ray, key, scratch)
    }
}
