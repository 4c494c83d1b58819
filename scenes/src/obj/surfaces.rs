//! From library entries to materials and textures.

use super::geometry::Parsed;
use super::mtl::{Entry, Map};
use crate::access::FileAccess;
use crate::overrides::MaterialOverrides;
use crate::pixels::{Pixels, decode};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::clamp;
use lockstep_core::math::vec3::{Vec3, luminance, max_component};
use lockstep_core::scene::{AlphaMode, Material, NONE, Sampler, SceneBuilder, TextureTransform, Wrap};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Properties of a material that the mesh depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    /// The index in the scene.
    pub(super) material: u32,
    /// Whether the material has a normal map, which needs tangents.
    pub(super) normal_map: bool,
    /// The largest component of what it emits.
    pub(super) emission: f32,
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
    let images = read_images(entries.iter().flatten(), access, warnings)?;
    let mut out = Vec::new();
    for (entry, (_, name)) in entries.into_iter().zip(&parsed.materials) {
        let mut material = match entry {
            Some(entry) => material(entry, &images, builder)?,
            None => Material::diffuse([0.5; 3]),
        };
        overrides.apply(Some(name), &mut material);
        let normal_map = material.normal_texture != NONE;
        let emission = max_component(material.emission);
        out.push(Surface { material: builder.material(material), normal_map, emission });
    }
    Ok(out)
}

type Images = BTreeMap<String, Pixels>;

/// Decodes every image once, several at a time. A missing or damaged one is left out with a warning, as is
/// customary.
fn read_images<'a>(
    entries: impl Iterator<Item = &'a &'a Entry>,
    access: &FileAccess<'_>,
    warnings: &mut Warnings,
) -> Result<Images> {
    let maps =
        entries.flat_map(|e| [&e.diffuse_map, &e.opacity_map, &e.emission_map, &e.bump_map, &e.normal_map]);
    let files: std::collections::BTreeSet<&str> = maps.flatten().map(|m| m.file.as_str()).collect();
    let files: Vec<&str> = files.into_iter().collect();
    let decoded: Vec<Result<Pixels, String>> = files
        .par_iter()
        .map(|file| {
            let bytes = access.read(&access.folder.join(file)).map_err(|e| e.to_string())?;
            decode(&bytes, access.limits)
        })
        .collect();
    let mut out = Images::new();
    let mut texels = 0u64;
    for (file, pixels) in files.into_iter().zip(decoded) {
        match pixels {
            Ok(pixels) => {
                texels += u64::from(pixels.width) * u64::from(pixels.height);
                if texels > access.limits.scene_texels {
                    return Err(warnings.error(
                        file,
                        format!("all images together exceed {} texels", access.limits.scene_texels),
                    ));
                }
                out.insert(file.to_string(), pixels);
            }
            Err(message) => warnings.add(file, format!("the texture is left out: {message}")),
        }
    }
    Ok(out)
}

fn material(entry: &Entry, images: &Images, builder: &mut SceneBuilder) -> Result<Material> {
    let unit = |c: [f32; 3]| c.map(|v| clamp(v, 0.0, 1.0));
    let diffuse_map = entry.diffuse_map.as_ref().and_then(|map| Some((map, images.get(&map.file)?)));
    let opacity_map = entry.opacity_map.as_ref().and_then(|map| Some((map, images.get(&map.file)?)));
    // A textured material without Kd shows its texture as it is.
    let diffuse = unit(entry.diffuse.unwrap_or(if diffuse_map.is_some() { [1.0; 3] } else { [0.5; 3] }));
    let mut out = surface_model(entry, diffuse);
    out.emission = Vec3::from(entry.emission.unwrap_or([0.0; 3]).map(|v| v.max(0.0)));
    if let Some((map, _)) = diffuse_map.or(opacity_map) {
        let pixels = with_opacity(diffuse_map.map(|(_, p)| p), opacity_map.map(|(_, p)| p));
        out.base_color_texture = texture(builder, &pixels, map, true)?;
    }
    if opacity_map.is_some() {
        out.alpha_mode = AlphaMode::Mask as u32;
    }
    if let Some((map, pixels)) =
        entry.emission_map.as_ref().and_then(|map| Some((map, images.get(&map.file)?)))
    {
        if out.emission == Vec3::ZERO {
            out.emission = Vec3::ONE;
        }
        out.emission_texture = texture(builder, pixels, map, true)?;
    }
    let normal = entry.normal_map.as_ref().or(entry.bump_map.as_ref());
    if let Some((map, pixels)) = normal.and_then(|map| Some((map, images.get(&map.file)?))) {
        let pixels =
            if looks_like_normals(pixels) { pixels.clone() } else { normals_from_heights(pixels, map.bump) };
        out.normal_texture = texture(builder, &pixels, map, false)?;
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

fn texture(builder: &mut SceneBuilder, pixels: &Pixels, map: &Map, srgb: bool) -> Result<u32> {
    let image = builder.image(pixels.width, pixels.height, &pixels.rgba)?;
    let wrap = if map.clamp { Wrap::Clamp } else { Wrap::Repeat };
    // With v counted downwards, 1 - (s (1 - v) + o) = s v + (1 - s - o).
    let offset = [map.offset[0], 1.0 - map.scale[1] - map.offset[1]];
    let transform = TextureTransform { offset, rotation: 0.0, scale: map.scale };
    Ok(builder.texture(image, srgb, Sampler { wrap_u: wrap, wrap_v: wrap, nearest: false }, 0, transform))
}

/// Colour from one image, opacity from another: from its alpha where it has any, else from its brightness.
fn with_opacity(color: Option<&Pixels>, opacity: Option<&Pixels>) -> Pixels {
    let Some(base) = color.or(opacity) else {
        return Pixels { width: 1, height: 1, rgba: vec![255; 4] };
    };
    let mut out = base.clone();
    let uses_alpha = opacity.is_some_and(|o| o.rgba.chunks_exact(4).any(|t| t[3] < 255));
    for (i, texel) in out.rgba.chunks_exact_mut(4).enumerate() {
        if color.is_none() {
            texel[..3].fill(255);
        }
        texel[3] = match opacity {
            None => 255,
            Some(o) => {
                let (x, y) = (i as u64 % u64::from(base.width), i as u64 / u64::from(base.width));
                let column = x * u64::from(o.width) / u64::from(base.width);
                let row = y * u64::from(o.height) / u64::from(base.height);
                let at = ((row * u64::from(o.width) + column) * 4) as usize;
                if uses_alpha { o.rgba[at + 3] } else { o.rgba[at] }
            }
        };
    }
    out
}

/// Exporters write normal maps under `map_Bump` too; those are blue on average.
fn looks_like_normals(pixels: &Pixels) -> bool {
    let mut sum = [0u64; 3];
    for texel in pixels.rgba.chunks_exact(4) {
        for (total, &channel) in sum.iter_mut().zip(texel) {
            *total += u64::from(channel);
        }
    }
    let count = pixels.rgba.len() as u64 / 4;
    sum[2] > 180 * count && sum[0] < 170 * count && sum[1] < 170 * count
}

/// A normal map from heights by central differences. `bump` is the height of white in texels.
fn normals_from_heights(heights: &Pixels, bump: f32) -> Pixels {
    let (w, h) = (heights.width as usize, heights.height as usize);
    let height = |x: usize, y: usize| f32::from(heights.rgba[(y % h * w + x % w) * 4]) / 255.0;
    let mut out = heights.clone();
    for y in 0..h {
        for x in 0..w {
            let dx = (height(x + w - 1, y) - height(x + 1, y)) * 0.5 * bump;
            let dy = (height(x, y + 1) - height(x, y + h - 1)) * 0.5 * bump;
            let length = (dx * dx + dy * dy + 1.0).sqrt();
            let encode = |v: f32| ((v / length * 0.5 + 0.5) * 255.0 + 0.5) as u8;
            let at = (y * w + x) * 4;
            out.rgba[at..at + 4].copy_from_slice(&[encode(dx), encode(dy), encode(1.0), 255]);
        }
    }
    out
}
