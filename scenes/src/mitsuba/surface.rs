//! A surface between its description as plugins and the material of a scene.

use super::textures::{Color, Map, Textures};
use crate::pixels::Pixels;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::luminance;
use lockstep_core::scene::{AlphaMode, Material, NONE, SceneBuilder};

/// A surface with its textures, which are not in the scene yet.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// All that is no texture.
    pub(super) material: Material,
    pub(super) color: Color,
    /// The share of rays that see the surface.
    pub(super) opacity: Option<Color>,
    pub(super) relief: Relief,
    /// The inside is where the front would be: the index of refraction is that of the outside over the inside.
    pub(super) turned: bool,
    /// Rays pass as if it were not there.
    pub(super) hidden: bool,
}

/// Changes of the shading normal.
#[derive(Clone, Debug)]
pub(super) enum Relief {
    None,
    /// A tangent-space normal map.
    Normals(Map),
    /// Heights in units of the scene, with a factor.
    Heights(Map, f32),
}

impl Surface {
    /// A surface of a material that is only tinted.
    pub(super) fn new(material: Material, color: Color) -> Self {
        Self { material, color, opacity: None, relief: Relief::None, turned: false, hidden: false }
    }

    /// Whether meshes need texture coordinates for it.
    pub(super) fn is_textured(&self) -> bool {
        let is_map = |color: &Color| matches!(color, Color::Map(_));
        is_map(&self.color)
            || self.opacity.as_ref().is_some_and(is_map)
            || !matches!(self.relief, Relief::None)
    }

    /// The material with its textures in the builder. `stretch` is how far a unit of u and of v reaches on the
    /// surface, for heights.
    pub(super) fn place(
        &self,
        stretch: [f32; 2],
        textures: &mut Textures,
        builder: &mut SceneBuilder,
        warnings: &Warnings,
    ) -> Result<Material> {
        let mut material = self.material;
        let color = match &self.opacity {
            None => self.color.clone(),
            Some(Color::Constant([opacity, ..])) => {
                material.alpha = opacity.clamp(0.0, 1.0);
                material.alpha_mode = AlphaMode::Blend as u32;
                self.color.clone()
            }
            Some(Color::Map(opacity)) => {
                material.alpha_mode = AlphaMode::Blend as u32;
                with_opacity(&self.color, opacity)
            }
        };
        let (factor, texture) = textures.place(&color, builder, warnings)?;
        let tint =
            if let (Color::Constant(tint), true) = (&self.color, texture != NONE) { *tint } else { factor };
        material.base_color = tint.map(|v| v.clamp(0.0, 1.0)).into();
        material.base_color_texture = texture;
        let normals = match &self.relief {
            Relief::None => return Ok(material),
            Relief::Normals(map) => map.clone(),
            Relief::Heights(map, scale) => normals_from_heights(map, *scale, stretch),
        };
        material.normal_texture = textures.place(&Color::Map(normals), builder, warnings)?.1;
        Ok(material)
    }
}

/// An image of the colour, white where it is constant, with the luminance of another as its alpha.
fn with_opacity(color: &Color, opacity: &Map) -> Color {
    let values = opacity.values();
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let Color::Map(base) = color else {
        let texels = values.iter().flat_map(|&value| [255, 255, 255, byte(value)]);
        return Color::Map(opacity.with_pixels(texels.collect(), true));
    };
    let (from, to) = (&opacity.pixels, &base.pixels);
    let mut rgba = to.rgba.clone();
    for (index, texel) in rgba.chunks_exact_mut(4).enumerate() {
        let (x, y) = (index as u64 % u64::from(to.width), index as u64 / u64::from(to.width));
        let column = x * u64::from(from.width) / u64::from(to.width);
        let row = y * u64::from(from.height) / u64::from(to.height);
        texel[3] = byte(values[(row * u64::from(from.width) + column) as usize]);
    }
    Color::Map(Map { factor: base.factor, ..base.with_pixels(rgba, base.srgb) })
}

/// A normal map of heights, by central differences.
fn normals_from_heights(heights: &Map, scale: f32, stretch: [f32; 2]) -> Map {
    let Pixels { width, height, .. } = *heights.pixels;
    let (w, h) = (width as usize, height as usize);
    let values = heights.values();
    let at = |x: usize, y: usize| values[y % h * w + x % w];
    // Texels per unit of length on the surface
    let [across, down] = heights.transform.scale;
    let per_u = scale * across.abs() * w as f32 / stretch[0];
    let per_v = scale * down.abs() * h as f32 / stretch[1];
    let encode = |v: f32| ((v * 0.5 + 0.5) * 255.0 + 0.5) as u8;
    let texels = (0..w * h).flat_map(|i| {
        let (x, y) = (i % w, i / w);
        let slope_u = 0.5 * (at(x + 1, y) - at(x + w - 1, y)) * per_u * across.signum();
        let slope_v = 0.5 * (at(x, y + 1) - at(x, y + h - 1)) * per_v * down.signum();
        // Green points up in the image, v down.
        let length = (slope_u * slope_u + slope_v * slope_v + 1.0).sqrt();
        [encode(-slope_u / length), encode(slope_v / length), encode(1.0 / length), 255]
    });
    heights.with_pixels(texels.collect(), false)
}

/// The luminance of a colour.
pub(super) fn grey(color: [f32; 3]) -> f32 {
    luminance(color.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::scene::{Sampler, TextureTransform};
    use std::sync::Arc;

    fn map(width: u32, height: u32, rgba: Vec<u8>) -> Map {
        Map {
            pixels: Arc::new(Pixels { width, height, rgba }),
            srgb: false,
            factor: [1.0; 3],
            sampler: Sampler::default(),
            transform: TextureTransform::default(),
        }
    }

    #[test]
    fn opacity_is_the_luminance_of_its_image_at_the_place_of_each_texel() {
        let opacity = map(2, 1, vec![255, 255, 255, 255, 0, 0, 0, 255]);
        let Color::Map(white) = with_opacity(&Color::Constant([0.2; 3]), &opacity) else { panic!() };
        assert_eq!(white.pixels.rgba, [255, 255, 255, 255, 255, 255, 255, 0]);
        let color = map(4, 1, (0..16).collect());
        let Color::Map(both) = with_opacity(&Color::Map(color), &opacity) else { panic!() };
        assert_eq!(both.pixels.rgba, [0, 1, 2, 255, 4, 5, 6, 255, 8, 9, 10, 0, 12, 13, 14, 0]);
    }

    #[test]
    fn a_ramp_of_heights_tilts_the_normal_against_it() {
        // Grey rises by 51 of 255, a fifth, with each of 4 texels along u: by 0.8 for each unit of u.
        let row: Vec<u8> = (0..4).flat_map(|i| [51 * i as u8; 3].into_iter().chain([255])).collect();
        let normals = normals_from_heights(&map(4, 2, [row.clone(), row].concat()), 1.0, [2.0, 1.0]);
        let [x, y, z] = [0, 1, 2].map(|i| f32::from(normals.pixels.rgba[4 + i]) / 127.5 - 1.0);
        // A unit of u is 2 long, so the slope is 0.4.
        assert!((x / z + 0.4).abs() < 0.02 && y.abs() < 0.01, "{x} {y} {z}");
    }
}
