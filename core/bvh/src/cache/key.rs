//! The name of a cache entry: a hash of everything that decides a BVH.

use crate::validate::Stored;
use blake3::{Hash, Hasher};
use bytemuck::cast_slice;
use lockstep_core::scene::{Material, SceneData};
use rayon::prelude::*;

/// The source files that decide a BVH. A changed builder makes other entries, not other BVHs under the same
/// name.
const SOURCES: [&[u8]; 22] = [
    include_bytes!("../../../src/geometry/clip_box.rs"),
    include_bytes!("../../../src/geometry/offset.rs"),
    include_bytes!("../../../src/math/mod.rs"),
    include_bytes!("../../../src/math/transform.rs"),
    include_bytes!("../../../src/math/vec3.rs"),
    include_bytes!("../../../src/scene/mod.rs"),
    include_bytes!("../aabb.rs"),
    include_bytes!("../build/binning.rs"),
    include_bytes!("../build/build_node.rs"),
    include_bytes!("../build/collapse.rs"),
    include_bytes!("../build/collapse_leaves.rs"),
    include_bytes!("../build/mod.rs"),
    include_bytes!("../build/occlusion_order.rs"),
    include_bytes!("../build/polygon.rs"),
    include_bytes!("../build/presplit.rs"),
    include_bytes!("../build/reinsertion.rs"),
    include_bytes!("../build/sbvh.rs"),
    include_bytes!("../build/wide.rs"),
    include_bytes!("../instance_boxes.rs"),
    include_bytes!("../layout/bvh2.rs"),
    include_bytes!("../layout/bvh8.rs"),
    include_bytes!("../leaf.rs"),
];

/// Hashes everything that decides the BVH of a scene.
pub(super) fn key<T: Stored>(scene: &SceneData) -> Hash {
    let alpha: Vec<u8> = scene.materials.iter().map(|m: &Material| u8::from(m.has_alpha())).collect();
    let built_as = format!("{:?} {:?} {:?}", T::LAYOUT, T::LAYOUT.sizes(), T::SETTINGS);
    let of_scene: [&[u8]; 7] = [
        built_as.as_bytes(),
        cast_slice(&scene.positions),
        cast_slice(&scene.triangles),
        cast_slice(&scene.spheres),
        cast_slice(&scene.meshes),
        cast_slice(&scene.instances),
        &alpha,
    ];
    digest(SOURCES.into_iter().chain(of_scene))
}

/// Bytes that one task hashes.
const CHUNK: usize = 1 << 20;

/// BLAKE3 of the lengths and the chunks' hashes of several arrays, by all threads.
pub(super) fn digest<'a>(arrays: impl IntoIterator<Item = &'a [u8]>) -> Hash {
    let mut hasher = Hasher::new();
    for bytes in arrays {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        let chunks: Vec<Hash> = bytes.par_chunks(CHUNK).map(blake3::hash).collect();
        chunks.iter().for_each(|chunk| {
            hasher.update(chunk.as_bytes());
        });
    }
    hasher.finalize()
}
