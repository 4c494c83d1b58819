//! A scene as the kernels take it.

use super::launch::{Argument, SCENE};
use super::records::SceneConstants;
use crate::bvh::Bvh2;
use crate::scene::SceneData;
use crate::texture::SRGB_TO_LINEAR;
use bytemuck::cast_slice;

/// One array of the scene, to be copied to the device as it is.
#[derive(Clone, Copy, Debug)]
pub struct SceneArray<'a> {
    /// The parameter that takes it.
    pub argument: &'static Argument,
    /// Its bytes; may be empty, where a device that knows no empty buffers gives any buffer.
    pub bytes: &'a [u8],
}

/// What kernels take of a scene by value.
pub fn scene_constants(scene: &SceneData, bvh: &Bvh2) -> SceneConstants {
    SceneConstants {
        environment: scene.environment,
        light_count: scene.lights.len() as u32,
        environment_cells: scene.environment_alias.len() as u32,
        root: bvh.root,
        reserved: 0,
    }
}

/// What kernels take of a scene as buffers, in the order of [`SCENE`] after its first parameter.
pub fn scene_arrays<'a>(scene: &'a SceneData, bvh: &'a Bvh2) -> [SceneArray<'a>; SCENE.len() - 1] {
    let arrays: [&[u8]; SCENE.len() - 1] = [
        cast_slice(&scene.positions),
        cast_slice(&scene.vertices),
        cast_slice(&scene.triangles),
        cast_slice(&scene.spheres),
        cast_slice(&scene.meshes),
        cast_slice(&scene.instances),
        cast_slice(&scene.materials),
        cast_slice(&scene.textures),
        cast_slice(&scene.texels),
        cast_slice(&SRGB_TO_LINEAR[..]),
        cast_slice(&scene.lights),
        cast_slice(&scene.light_alias),
        cast_slice(&scene.environment_texels),
        cast_slice(&scene.environment_alias),
        cast_slice(&bvh.nodes),
        cast_slice(&bvh.primitives),
        cast_slice(&bvh.mesh_roots),
        cast_slice(&bvh.instance_boxes),
    ];
    static ARGUMENTS: [Argument; SCENE.len()] = SCENE;
    std::array::from_fn(|i| SceneArray { argument: &ARGUMENTS[i + 1], bytes: arrays[i] })
}
