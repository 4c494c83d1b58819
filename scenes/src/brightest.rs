//! The brightest light that surfaces of a scene emit.

use lockstep_core::math::vec3::{Vec3, max_component};
use lockstep_core::scene::texture::texel_rgb;
use lockstep_core::scene::{Material, NONE, SceneBuilder};
use std::collections::HashMap;

/// The largest component of the radiance that a placed surface emits; 0 where none does. A texture counts with its
/// largest texel in each channel. Unlit surfaces, which light nothing, do not count.
pub(crate) fn brightest(builder: &SceneBuilder) -> f32 {
    let placed = placed_materials(builder);
    let emitters = builder.materials().iter().zip(placed).filter(|(material, placed)| {
        *placed && material.flags & Material::UNLIT == 0 && max_component(material.emission) > 0.0
    });
    let mut known = HashMap::new();
    let mut emission = |material: &Material| {
        let texture = material.emission_texture;
        let texel = *known.entry(texture).or_insert_with(|| largest_texel(builder, texture));
        max_component(material.emission * texel)
    };
    emitters.map(|(material, _)| emission(material)).fold(0.0, f32::max)
}

/// Which materials a placed triangle or sphere has.
fn placed_materials(builder: &SceneBuilder) -> Vec<bool> {
    let mut meshes = vec![false; builder.meshes().len()];
    for (mesh, _) in builder.instances() {
        if let Some(is_placed) = meshes.get_mut(*mesh as usize) {
            *is_placed = true;
        }
    }
    let mut out = vec![false; builder.material_count()];
    for (mesh, _) in builder.meshes().iter().zip(meshes).filter(|(_, is_placed)| *is_placed) {
        for material in mesh.materials.iter().copied().chain(mesh.spheres.iter().map(|s| s.material)) {
            if let Some(is_placed) = out.get_mut(material as usize) {
                *is_placed = true;
            }
        }
    }
    out
}

/// The largest value of each channel of a texture; white without one.
fn largest_texel(builder: &SceneBuilder, texture: u32) -> Vec3 {
    let Some((texels, texture)) = builder.texels(texture).filter(|_| texture != NONE) else {
        return Vec3::ONE;
    };
    let largest = texels.iter().fold([0u8; 4], |largest, texel| {
        let own = texel.to_le_bytes();
        std::array::from_fn(|channel| largest[channel].max(own[channel]))
    });
    texel_rgb(u32::from_le_bytes(largest), texture.flags)
}
