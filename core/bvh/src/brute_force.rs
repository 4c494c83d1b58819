//! Intersection without a BVH.

use crate::build::presplit::MeshReferences;
use crate::instance_boxes::instance_boxes;
use crate::leaf::LeafPrimitive;
use crate::object_ray::ObjectRay;
use lockstep_core::geometry::{Hit, Ray, Slabs};
use lockstep_core::math::rng::RayKey;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Mesh, SceneData};

/// The intersection predicate applied to every primitive of every instance: the definition that traversals
/// reproduce.
pub struct BruteForce<'a> {
    scene: &'a SceneData,
    boxes: Vec<[Vec3; 2]>,
    /// The primitives and split references of each mesh.
    meshes: Vec<Vec<LeafPrimitive>>,
}

impl<'a> BruteForce<'a> {
    /// Prepares a scene.
    pub fn new(scene: &'a SceneData) -> Self {
        let records = |mesh: &Mesh| {
            let references = MeshReferences::of(scene, mesh);
            references.records(scene, mesh, &references.numbers())
        };
        Self { scene, boxes: instance_boxes(scene), meshes: scene.meshes.iter().map(records).collect() }
    }

    /// Finds the closest hit of a ray. `key` identifies the ray for stochastic transparency.
    pub fn closest_hit(&self, ray: &Ray, key: RayKey) -> Hit {
        let Self { scene, boxes, meshes } = self;
        let mut best = Hit::none(ray.t_max);
        let slabs = Slabs::new(ray.origin, ray.direction);
        for (index, instance) in scene.instances.iter().enumerate() {
            let Some(object_ray) = ObjectRay::enter(scene, boxes, ray, &slabs, index as u32, key, best.t)
            else {
                continue;
            };
            for candidate in &meshes[instance.mesh as usize] {
                if let Some(hit) = object_ray.test(scene, candidate, best.t)
                    && best.yields_to(&hit)
                {
                    best = hit;
                }
            }
        }
        best
    }
}
