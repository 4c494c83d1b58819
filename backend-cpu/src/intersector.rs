//! The interface between the tile renderer and an acceleration structure.

use lockstep_bvh::BvhCache;
use lockstep_core::BvhReport;
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;
use std::time::{Duration, Instant};

/// An intersector, fresh from [`Intersector::build`].
pub(crate) struct Built<I> {
    pub(crate) intersector: I,
    /// BVH statistics; `None` unless queries go through a built-in BVH.
    pub(crate) bvh_report: Option<BvhReport>,
    /// Time spent building the structure or reading it from the cache.
    pub(crate) elapsed: Duration,
}

impl<I> Built<I> {
    /// Runs `build` and times it, for structures without BVH statistics.
    pub(crate) fn timed(build: impl FnOnce() -> Result<I>) -> Result<Self> {
        let start = Instant::now();
        let intersector = build()?;
        Ok(Self { intersector, bvh_report: None, elapsed: start.elapsed() })
    }
}

/// An acceleration structure over one scene.
pub(crate) trait Intersector: Sized + Sync {
    /// Working memory of one thread.
    type Scratch: Default + Send;

    /// Whether images may be rendered with it; otherwise it answers ray queries only.
    const RENDERS: bool = true;

    /// Builds the structure with the threads of the current rayon pool. A built-in BVH may come from `cache`.
    fn build(scene: &Scene, cache: &BvhCache) -> Result<Built<Self>>;

    /// Whether [`Intersector::closest_hits`] or [`Intersector::any_hits`] traces ray packets.
    fn has_packets(&self) -> bool {
        false
    }

    /// Name of the structure in benchmarks.
    fn layout(&self) -> String;

    /// Bytes of the structure, without the scene's.
    fn bytes(&self) -> u64;

    /// Reports errors of queries; called after each pass.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] with the library's reason.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The closest hit along a ray.
    fn closest_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Self::Scratch) -> Hit;

    /// The closest hits of rays `0..count`. `ray` returns a ray by its index; `found` receives each hit once,
    /// in any order.
    #[inline(always)]
    fn closest_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        found: impl FnMut(usize, Hit),
    ) {
        self.closest_hits_singly(count, ray, scratch, found);
    }

    /// [`Intersector::closest_hits`] one ray at a time, in order.
    #[inline(always)]
    fn closest_hits_singly<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        mut found: impl FnMut(usize, Hit),
    ) {
        for index in 0..count {
            let (ray, key) = ray(index);
            found(index, self.closest_hit(ray, key, scratch));
        }
    }

    /// Whether a ray is occluded.
    fn any_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Self::Scratch) -> bool;

    /// Whether rays `0..count` are occluded. `ray` returns a ray by its index; `found` receives each answer
    /// once, in any order.
    #[inline(always)]
    fn any_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        found: impl FnMut(usize, bool),
    ) {
        self.any_hits_singly(count, ray, scratch, found);
    }

    /// [`Intersector::any_hits`] one ray at a time, in order.
    #[inline(always)]
    fn any_hits_singly<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        mut found: impl FnMut(usize, bool),
    ) {
        for index in 0..count {
            let (ray, key) = ray(index);
            found(index, self.any_hit(ray, key, scratch));
        }
    }
}
