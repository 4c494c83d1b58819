//! A ray in object space, and the intersection predicate for one primitive.
//!
//! Traversals here call [`ObjectRay::test`] in their leaves. Other intersectors (Embree) find candidates,
//! which [`confirm`] commits or rejects.

use crate::leaf::LeafPrimitive;
use lockstep_core::geometry::{Hit, Ray, Shear, Slabs, accept, passes_alpha_test, sphere, triangle};
use lockstep_core::math::rng::RayKey;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::math::{max, min};
use lockstep_core::scene::{Instance, SPHERE_BIT, SceneData, transform_point, transform_vector};

/// A ray prepared for the object space of one instance.
pub struct ObjectRay {
    pub(crate) origin: Vec3,
    direction: Vec3,
    pub(crate) slabs: Slabs,
    pub(crate) shear: Shear,
    pub(crate) t_min: f32,
    /// Lower limit of a hit's distance: the entry of the instance's world box.
    pub(crate) t_floor: f32,
    pub(crate) instance: u32,
    key: RayKey,
}

impl ObjectRay {
    #[inline(always)]
    fn new(direction: Vec3, slabs: Slabs, ray: &Ray, instance: u32, t_floor: f32, key: RayKey) -> Self {
        Self {
            origin: slabs.origin,
            direction,
            slabs,
            shear: Shear::new(direction),
            t_min: ray.t_min,
            t_floor,
            instance,
            key,
        }
    }

    /// Transforms a ray into the space of an instance; `None` when it misses the instance's world box up to
    /// `t_last`.
    ///
    /// `boxes` are the [`instance_boxes`](crate::instance_boxes()), `slabs` the world ray's.
    #[inline(always)]
    pub fn enter(
        scene: &SceneData,
        boxes: &[[Vec3; 2]],
        ray: &Ray,
        slabs: &Slabs,
        instance: u32,
        key: RayKey,
        t_last: f32,
    ) -> Option<Self> {
        // Untransformed instances need no box test.
        let record = &scene.instances[instance as usize];
        if record.flags & Instance::IDENTITY != 0 {
            return Some(Self::new(ray.direction, *slabs, ray, instance, ray.t_min, key));
        }
        // Slab test of the world box
        let [lo, hi] = boxes[instance as usize];
        let (entry, exit) = slabs.interval(lo, hi);
        if max(entry, ray.t_min) > min(exit, t_last) {
            return None;
        }
        // Transform to object space
        let origin = transform_point(&record.world_to_object, ray.origin);
        let direction = transform_vector(&record.world_to_object, ray.direction);
        Some(Self::new(direction, Slabs::new(origin, direction), ray, instance, entry, key))
    }

    /// Tests one primitive, up to and including the distance `t_last`.
    #[inline(always)]
    pub fn test(&self, scene: &SceneData, candidate: &LeafPrimitive, t_last: f32) -> Option<Hit> {
        // Intersect the primitive
        let (t, u, v) = if candidate.primitive & SPHERE_BIT != 0 {
            let (near, far) = sphere(self.origin, self.direction, candidate.p0, candidate.p1.x)?;
            (if near > self.t_min { near } else { far }, 0.0, 0.0)
        } else {
            triangle(self.origin, &self.shear, [candidate.p0, candidate.p1, candidate.p2])?
        };
        if !(t > self.t_min && t <= t_last) {
            return None;
        }
        // Slab test of its own box, which raises the distance
        let raised = self.accept(candidate, t)?;
        if raised > t_last {
            return None;
        }
        // Alpha test
        let hit = Hit { t: raised, u, v, instance: self.instance, primitive: candidate.primitive };
        (candidate.flags & LeafPrimitive::ALPHA == 0 || self.passes_alpha_test(scene, &hit)).then_some(hit)
    }

    /// The distance at which a candidate at `t` counts, raised to the entry of its box.
    #[inline(always)]
    pub(crate) fn accept(&self, candidate: &LeafPrimitive, t: f32) -> Option<f32> {
        accept(&self.slabs, candidate.bounds(), t, self.t_min).map(|raised| max(raised, self.t_floor))
    }

    /// Tests a primitive, or all split references of a triangle, and returns the nearest hit.
    #[inline(always)]
    pub fn test_each(
        &self,
        scene: &SceneData,
        candidates: impl Iterator<Item = LeafPrimitive>,
        t_last: f32,
    ) -> Option<Hit> {
        let hits = candidates.filter_map(|candidate| self.test(scene, &candidate, t_last));
        hits.reduce(|a, b| if b.t < a.t { b } else { a })
    }

    /// The ray prepared for slab tests in object space.
    #[inline(always)]
    pub fn slabs(&self) -> &Slabs {
        &self.slabs
    }

    /// True when the ray hits a primitive that has alpha.
    #[inline(always)]
    pub(crate) fn passes_alpha_test(&self, scene: &SceneData, hit: &Hit) -> bool {
        passes_alpha_test(scene, self.instance, hit.primitive, hit.u, hit.v, self.direction, self.key)
    }
}

/// Confirms a candidate of another intersector: the hit that the predicate commits, or `None` where it
/// rejects.
///
/// `candidates` is the primitive, or all split references of the triangle.
#[inline(always)]
pub fn confirm(
    scene: &SceneData,
    boxes: &[[Vec3; 2]],
    ray: &Ray,
    key: RayKey,
    instance: u32,
    candidates: impl Iterator<Item = LeafPrimitive>,
) -> Option<Hit> {
    let slabs = Slabs::new(ray.origin, ray.direction);
    let object_ray = ObjectRay::enter(scene, boxes, ray, &slabs, instance, key, ray.t_max)?;
    object_ray.test_each(scene, candidates, ray.t_max)
}
