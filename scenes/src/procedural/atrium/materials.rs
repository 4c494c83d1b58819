//! The atrium's materials.

use super::patch::Finish;
use super::textures::{self, Image};
use lockstep_core::Result;
use lockstep_core::scene::{AlphaMode, Material, SceneBuilder, TextureTransform};

/// Materials by use.
pub(super) struct Finishes {
    pub(super) stone: Finish,
    pub(super) marble: Finish,
    pub(super) column: Finish,
    pub(super) plaster: Finish,
    pub(super) floor: Finish,
    pub(super) wood: Finish,
    pub(super) brass: Finish,
    pub(super) bronze: Finish,
    pub(super) terracotta: Finish,
    pub(super) soil: Finish,
    pub(super) water: Finish,
    pub(super) banners: [Finish; 3],
    pub(super) leaves: [u32; 2],
}

/// Makes all materials with their textures.
pub(super) fn build(b: &mut SceneBuilder) -> Result<Finishes> {
    let marble_color = texture(b, &textures::marble_color(), true)?;
    let marble = Material { base_color_texture: marble_color, ..Material::principled([1.0; 3], 0.0, 0.35) };
    let stone = Material {
        base_color_texture: texture(b, &textures::stone_color(), true)?,
        normal_texture: texture(b, &textures::stone_normals(), false)?,
        ..Material::principled([1.0; 3], 0.0, 0.85)
    };
    let floor = Material {
        base_color_texture: texture(b, &textures::floor_color(), true)?,
        metallic_roughness_texture: texture(b, &textures::floor_roughness(), false)?,
        normal_texture: texture(b, &textures::floor_normals(), false)?,
        ..Material::principled([1.0; 3], 0.0, 1.0)
    };
    let cut_out = |b: &mut SceneBuilder, image: Image, roughness: f32| -> Result<u32> {
        let color = texture(b, &image, true)?;
        let mode = AlphaMode::Mask as u32;
        Ok(b.material(Material {
            base_color_texture: color,
            alpha_mode: mode,
            ..Material::principled([1.0; 3], 0.0, roughness)
        }))
    };
    let banners = [[0.58, 0.10, 0.09], [0.10, 0.22, 0.45], [0.12, 0.36, 0.20]];
    let banners = [
        cut_out(b, textures::banner_color(banners[0]), 0.9)?,
        cut_out(b, textures::banner_color(banners[1]), 0.9)?,
        cut_out(b, textures::banner_color(banners[2]), 0.9)?,
    ];
    let leaves = [
        cut_out(b, textures::leaf_color([0.26, 0.45, 0.14]), 0.45)?,
        cut_out(b, textures::leaf_color([0.40, 0.55, 0.20]), 0.45)?,
    ];
    let mut plain = |material: Material, scale: f32, around: f32| finish(b, material, scale, around);
    Ok(Finishes {
        stone: plain(stone, 0.5, 2.0),
        marble: plain(marble, 0.8, 2.0),
        column: plain(marble, 1.0, 1.0),
        plaster: plain(Material::diffuse([0.72, 0.66, 0.56]), 1.0, 1.0),
        floor: plain(floor, 0.5, 1.0),
        wood: plain(Material::principled([0.24, 0.13, 0.06], 0.0, 0.55), 1.0, 1.0),
        brass: plain(Material::principled([0.91, 0.71, 0.35], 1.0, 0.22), 1.0, 1.0),
        bronze: plain(Material::principled([0.75, 0.48, 0.28], 1.0, 0.08), 1.0, 1.0),
        terracotta: plain(Material::principled([0.56, 0.24, 0.13], 0.0, 0.7), 1.0, 1.0),
        soil: plain(Material::diffuse([0.09, 0.06, 0.04]), 1.0, 1.0),
        water: plain(Material::principled([0.03, 0.07, 0.07], 0.0, 0.04), 1.0, 1.0),
        banners: banners.map(|index| Finish { index, scale: 1.0, around: 1.0, tangents: false }),
        leaves,
    })
}

fn finish(b: &mut SceneBuilder, material: Material, scale: f32, around: f32) -> Finish {
    let tangents = material.normal_texture != lockstep_core::scene::NONE;
    Finish { index: b.material(material), scale, around, tangents }
}

fn texture(b: &mut SceneBuilder, image: &Image, srgb: bool) -> Result<u32> {
    let id = b.image(image.size, image.size, &image.rgba)?;
    Ok(b.texture(id, srgb, Default::default(), 0, TextureTransform::default()))
}
