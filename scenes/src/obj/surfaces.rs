//! From library entries to materials and textures.

use super::geometry::Parsed;
use super::images::{self, Images};
use super::mtl::{Entry, Map};
use crate::access::FileAccess;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::clamp;
use lockstep_core::math::vec3::{Vec3, luminance};
use lockstep_core::scene::{
    AlphaMode, ImageId, Material, NONE, Sampler, SceneBuilder, TextureTransform, Wrap,
};

/// Properties of a material that the mesh depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    /// The index in the scene.
    pub(super) material: u32,
    /// Whether the material has a normal map, which needs tangents.
    pub(super) normal_map: bool,
}

/// One surface for each material name that the file uses.
pub(super) fn build(
    parsed: &Parsed,
    library: &[Entry],
    access: &FileAccess<'_>,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Vec<Surface>> {
    let mut entries = Vec::new();
    for (line, name) in &parsed.materials {
        // A later definition replaces an earlier one.
        let found = library.iter().rev().find(|entry| entry.name == *name);
        if found.is_none() && !name.is_empty() {
            let message = format!("the material `{}` is not defined; grey is used", super::shorten(name));
            warnings.add(format!("line {line}"), message);
        }
        entries.push(found);
    }
    let files = images::read(entries.iter().flatten().copied(), access, warnings)?;
    let mut images = Images::new(&files, access.limits);
    let mut out = Vec::new();
    for (entry, (_, name)) in entries.into_iter().zip(&parsed.materials) {
        let mut material = match entry {
            Some(entry) => material(entry, &mut images, builder, warnings)?,
            None => Material::diffuse([0.5; 3]),
        };
        overrides.apply(Some(name), &mut material, builder);
        let normal_map = material.normal_texture != NONE;
        out.push(Surface { material: builder.material(material), normal_map });
    }
    Ok(out)
}

fn material<'a>(
    entry: &'a Entry,
    images: &mut Images<'a>,
    builder: &mut SceneBuilder,
    warnings: &Warnings,
) -> Result<Material> {
    let unit = |c: [f32; 3]| c.map(|v| clamp(v, 0.0, 1.0));
    let diffuse_map = images.present(entry.diffuse_map.as_ref());
    let opacity_map = images.present(entry.opacity_map.as_ref());
    // A textured material without Kd shows its texture as it is.
    let diffuse = unit(entry.diffuse.unwrap_or(if diffuse_map.is_some() { [1.0; 3] } else { [0.5; 3] }));
    let mut out = surface_model(entry, diffuse);
    out.emission = Vec3::from(entry.emission.unwrap_or([0.0; 3]).map(|v| v.max(0.0)));
    if let Some((map, _)) = diffuse_map.or(opacity_map) {
        let image = images.color(diffuse_map, opacity_map, builder, warnings)?;
        out.base_color_texture = texture(builder, image, map, true);
    }
    if opacity_map.is_some() {
        out.alpha_mode = AlphaMode::Mask as u32;
    }
    if let Some(present) = images.present(entry.emission_map.as_ref()) {
        if out.emission == Vec3::ZERO {
            out.emission = Vec3::ONE;
        }
        let image = images.emission(present, builder, warnings)?;
        out.emission_texture = texture(builder, image, present.0, true);
    }
    if let Some(present) = images.present(entry.normal_map.as_ref().or(entry.bump_map.as_ref())) {
        let image = images.normals(present, builder, warnings)?;
        out.normal_texture = texture(builder, image, present.0, false);
    }
    Ok(out)
}

/// The scattering model: glass and metal where the entry says so, else plastic, else a matt surface.
fn surface_model(entry: &Entry, diffuse: [f32; 3]) -> Material {
    let specular = entry.specular.unwrap_or([0.0; 3]).map(|v| clamp(v, 0.0, 1.0));
    // A Phong exponent n has about the width of a microfacet distribution of alpha = sqrt(2 / (n + 2))
    // (Walter et al. 2007), and perceptual roughness is the root of alpha.
    let from_shininess = |n: f32| (2.0 / (n.max(0.0) + 2.0)).sqrt().sqrt();
    let roughness = entry.roughness.unwrap_or_else(|| entry.shininess.map_or(1.0, from_shininess));
    let roughness = clamp(roughness, 0.0, 1.0);
    let ior = entry.ior.map_or(1.5, |ior| clamp(ior, 1.0, 4.0));
    let opacity = clamp(entry.opacity.unwrap_or(1.0), 0.0, 1.0);
    let illum = entry.illum.unwrap_or(2);
    if matches!(illum, 4 | 6 | 7 | 9) {
        let smooth = entry.roughness.unwrap_or(0.0);
        return Material {
            base_color: Vec3::ONE,
            ..Material::dielectric(ior.max(1.01), clamp(smooth, 0.0, 1.0))
        };
    }
    let physically_based = entry.roughness.is_some() || entry.metallic.is_some();
    let mut out = if illum == 3 && luminance(diffuse.into()) < 0.01 && luminance(specular.into()) > 0.1 {
        Material::conductor(specular, if entry.shininess.is_some() { roughness } else { 0.0 })
    } else if physically_based || luminance(specular.into()) > 0.0 {
        Material {
            ior,
            ..Material::principled(diffuse, clamp(entry.metallic.unwrap_or(0.0), 0.0, 1.0), roughness)
        }
    } else {
        Material::diffuse(diffuse)
    };
    if opacity < 1.0 {
        out.alpha = opacity;
        out.alpha_mode = AlphaMode::Blend as u32;
    }
    out
}

fn texture(builder: &mut SceneBuilder, image: ImageId, map: &Map, srgb: bool) -> u32 {
    let wrap = if map.clamp { Wrap::Clamp } else { Wrap::Repeat };
    // With v counted downwards, 1 - (s (1 - v) + o) = s v + (1 - s - o).
    let offset = [map.offset[0], 1.0 - map.scale[1] - map.offset[1]];
    let transform = TextureTransform { offset, rotation: 0.0, scale: map.scale };
    builder.texture(image, srgb, Sampler { wrap_u: wrap, wrap_v: wrap, nearest: false }, 0, transform)
}
