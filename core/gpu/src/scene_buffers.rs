//! The scene as kernel arguments.

use crate::records::SceneConstants;
use crate::signatures::{Argument, SCENE_LEN, scene};
use bytemuck::cast_slice;
use lockstep_bvh::Bvh;
use lockstep_core::scene::SceneData;
use lockstep_core::scene::albedos::{ALBEDOS, MISSING_FIRST};
use lockstep_core::scene::texture::SRGB_TO_LINEAR;

/// One array of the scene, copied to the device as it is.
#[derive(Clone, Copy, Debug)]
pub struct SceneArray<'a> {
    /// The kernel parameter it is bound to.
    pub argument: &'static Argument,
    /// The bytes; may be empty, in which case any buffer can be bound.
    pub bytes: &'a [u8],
}

/// Scene data that kernels take by value.
pub fn scene_constants(scene: &SceneData, bvh: &Bvh) -> SceneConstants {
    SceneConstants {
        environment: scene.environment,
        bounds: scene.bounding_sphere(),
        light_count: scene.lights.len() as u32,
        environment_cells: scene.environment_alias.len() as u32,
        root: bvh.root(),
        reserved: 0,
    }
}

/// The scene's arrays, in the order of [`crate::signatures::scene`] after its first parameter.
pub fn scene_arrays<'a>(data: &'a SceneData, bvh: &'a Bvh) -> [SceneArray<'a>; SCENE_LEN - 1] {
    let [nodes, leaves, mesh_roots, instance_boxes] = bvh.arrays();
    let arrays: [&[u8]; SCENE_LEN - 1] = [
        cast_slice(&data.positions),
        cast_slice(&data.vertices),
        cast_slice(&data.triangles),
        cast_slice(&data.spheres),
        cast_slice(&data.meshes),
        cast_slice(&data.instances),
        cast_slice(&data.materials),
        cast_slice(&data.textures),
        cast_slice(&data.texels),
        cast_slice(&SRGB_TO_LINEAR[..]),
        cast_slice(&data.lights),
        cast_slice(&data.light_alias),
        cast_slice(&data.environment_texels),
        cast_slice(&data.environment_alias),
        nodes,
        leaves,
        mesh_roots,
        instance_boxes,
        cast_slice(&data.layers),
        cast_slice(if data.has_multiscatter() { &ALBEDOS[..] } else { &ALBEDOS[..MISSING_FIRST as usize] }),
    ];
    let arguments = scene(bvh.layout());
    std::array::from_fn(|i| SceneArray { argument: &arguments[i + 1], bytes: arrays[i] })
}
