//! The built-in BVH as an intersector: the reference that every exact target equals.

use crate::intersector::Intersector;
use lockstep_core::Result;
use lockstep_core::bvh::{BuildSettings, Bvh2, Scratch};
use lockstep_core::intersect::{Hit, Ray};
use lockstep_core::rng::RayKey;
use lockstep_core::scene::Scene;

/// A binary BVH and its scene.
pub(crate) struct BuiltIn {
    scene: Scene,
    bvh: Bvh2,
}

impl Intersector for BuiltIn {
    type Scratch = Scratch;

    fn build(scene: &Scene) -> Result<Self> {
        Ok(Self { scene: scene.clone(), bvh: Bvh2::build(scene, &BuildSettings::default()) })
    }

    fn bytes(&self) -> u64 {
        self.bvh.bytes()
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Scratch) -> Hit {
        self.bvh.closest_hit(&self.scene, ray, key, scratch)
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Scratch) -> bool {
        self.bvh.any_hit(&self.scene, ray, key, scratch)
    }
}
