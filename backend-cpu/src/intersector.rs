//! What the tiles need of an intersector.

use lockstep_bvh::BvhCache;
use lockstep_core::BvhReport;
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;
use std::time::{Duration, Instant};

/// An intersector, fresh from [`Intersector::build`].
pub(crate) struct Made<I> {
    pub(crate) intersector: I,
    /// What there is to say of its hierarchy, if that is one of the built-in ones.
    pub(crate) report: Option<BvhReport>,
    /// How long building or reading it took.
    pub(crate) took: Duration,
}

impl<I> Made<I> {
    /// What `build` makes without a hierarchy of the built-in ones, timed.
    pub(crate) fn timed(build: impl FnOnce() -> Result<I>) -> Result<Self> {
        let start = Instant::now();
        let intersector = build()?;
        Ok(Self { intersector, report: None, took: start.elapsed() })
    }
}

/// An acceleration structure over one scene.
pub(crate) trait Intersector: Sized + Sync {
    /// Working memory of one thread.
    type Scratch: Default + Send;

    /// Whether paths may be rendered with it; if not, it only casts rays.
    const RENDERS: bool = true;

    /// Builds the structure with the threads of the current rayon pool; a built-in hierarchy may come from `hierarchies`.
    fn build(scene: &Scene, hierarchies: &BvhCache) -> Result<Made<Self>>;

    /// Whether [`Intersector::closest_hits`] or [`Intersector::any_hits`] traces several rays together.
    fn has_packets(&self) -> bool {
        false
    }

    /// What the structure is called in benchmarks.
    fn layout(&self) -> String;

    /// Bytes of the structure, beside the scene's.
    fn bytes(&self) -> u64;

    /// Asked after a pass: whether any of its queries went wrong.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] with the library's reason.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The nearest surface along a ray.
    fn closest_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Self::Scratch) -> Hit;

    /// The nearest surfaces along rays `0..count`, which `ray` gives one by one; `found` takes each once, in any order.
    #[inline(always)]
    fn closest_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        found: impl FnMut(usize, Hit),
    ) {
        self.each_closest_hit(count, ray, scratch, found);
    }

    /// The same, one by one.
    #[inline(always)]
    fn each_closest_hit<'r>(
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

    /// Whether anything lies along a ray.
    fn any_hit(&self, ray: &Ray, key: RayKey, scratch: &mut Self::Scratch) -> bool;

    /// Whether anything lies along rays `0..count`, which `ray` gives one by one; `found` takes it for each once, in any order.
    #[inline(always)]
    fn any_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Self::Scratch,
        found: impl FnMut(usize, bool),
    ) {
        self.each_any_hit(count, ray, scratch, found);
    }

    /// The same, one by one.
    #[inline(always)]
    fn each_any_hit<'r>(
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
