//! World-space bounding boxes of instances.

use crate::aabb::Aabb;
use crate::leaf::LeafPrimitive;
use lockstep_core::geometry::{coordinate_scale, pad_box};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{Instance, Mesh, SPHERE_BIT, SceneData, transform_point};
use rayon::prelude::*;

/// World boxes of instances grow by this fraction of their largest coordinate.
const INSTANCE_PADDING: f32 = 1.0 / 131_072.0;

/// The world box of every instance, as lowest and highest corner.
///
/// It encloses the transformed corners of the mesh's box, padded for the rounding of transforms.
pub fn instance_boxes(scene: &SceneData) -> Vec<[Vec3; 2]> {
    let meshes: Vec<Aabb> = scene.meshes.par_iter().map(|mesh| mesh_box(scene, mesh)).collect();
    scene.instances.iter().map(|instance| world_box(instance, &meshes[instance.mesh as usize])).collect()
}

/// Every primitive of a mesh, in order.
fn primitives(mesh: &Mesh) -> impl Iterator<Item = u32> + use<> {
    (0..mesh.triangle_count).chain((0..mesh.sphere_count).map(|i| i | SPHERE_BIT))
}

fn mesh_box(scene: &SceneData, mesh: &Mesh) -> Aabb {
    let mut bounds = Aabb::EMPTY;
    for primitive in primitives(mesh) {
        let (lo, hi) = LeafPrimitive::of(scene, mesh, primitive).bounds();
        bounds.include(&Aabb { lo, hi });
    }
    bounds
}

fn world_box(instance: &Instance, b: &Aabb) -> [Vec3; 2] {
    if instance.flags & Instance::IDENTITY != 0 {
        return [b.lo, b.hi];
    }
    let mut bounds = Aabb::EMPTY;
    for corner in 0..8u32 {
        let pick = |bit: u32, lo: f32, hi: f32| if corner >> bit & 1 == 0 { lo } else { hi };
        let p = vec3(pick(0, b.lo.x, b.hi.x), pick(1, b.lo.y, b.hi.y), pick(2, b.lo.z, b.hi.z));
        let world = transform_point(&instance.object_to_world, p);
        bounds.include(&Aabb { lo: world, hi: world });
    }
    let pad = Vec3::splat(coordinate_scale(bounds.lo, bounds.hi) * INSTANCE_PADDING);
    let (lo, hi) = pad_box(bounds.lo - pad, bounds.hi + pad);
    [lo, hi]
}
