//! From looks, masks and emission to the scene's materials.

use super::Context;
use super::description::Version;
use super::looks::Look;
use super::raster::Raster;
use super::textures::texels;
use super::values::{ImageValue, Mapping, Value, combine};
use crate::pixels::Pixels;
use crate::textures::Coding;
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{
    AlphaMode, ImageId, Material, MaterialKind, NONE, Sampler, SceneBuilder, TextureTransform,
};
use std::collections::HashMap;
use std::rc::Rc;

/// The most that a sample holds of a material's emission.
const MAX_EMISSION: f32 = 16_777_215.0;

/// Opacity of the least opaque texel that version 3 renders: any above zero, within half a byte.
const MASK_CUTOFF: f32 = 0.5 / 255.0;

/// Parts of a surface that the shape adds to its material's look.
#[derive(Clone, Debug)]
pub(super) struct Finish {
    /// The mask of the shape's `alpha`.
    pub(super) alpha: Value,
    /// Radiance, black for a shape that is no light.
    pub(super) emission: Value,
    pub(super) two_sided: bool,
    /// Length on the surface of a unit of each texture coordinate, for bumps.
    pub(super) stretch: [f32; 2],
}

/// Textures registered with the scene.
pub(super) struct Surfaces {
    /// Longest side of an image in the scene.
    side: u32,
    images: HashMap<(*const Raster, bool), (Rc<Raster>, ImageId)>,
    textures: HashMap<TextureKey, u32>,
}

type TextureKey = (*const Raster, bool, [u64; 4], u32, bool);

impl Surfaces {
    /// None yet, for images of at most this side.
    pub(super) fn new(side: u32) -> Self {
        Self { side, images: HashMap::new(), textures: HashMap::new() }
    }

    /// The material of a look with a finish.
    pub(super) fn material(
        &mut self,
        look: &Look,
        finish: &Finish,
        builder: &mut SceneBuilder,
        context: &mut Context<'_, '_>,
        place: &str,
    ) -> Result<Material> {
        let mut out = Material {
            kind: look.kind as u32,
            metallic: look.metallic.clamp(0.0, 1.0),
            transmission: look.transmission.clamp(0.0, 1.0),
            ior: look.ior,
            ..Material::BLACK
        };
        self.color_and_alpha(look, finish, &mut out, builder, context, place)?;
        self.roughness(look, &mut out, builder, context, place)?;
        self.emission(finish, &mut out, builder, context, place)?;
        let normals = match (&look.normals, &look.bump) {
            (Some(normals), _) => Some(normals.clone()),
            (None, Some(Value::Image(heights))) => {
                context.take_texels(texels(&Value::Image(heights.clone())) as u64, place)?;
                let message = "bumps are rendered as a normal map, by the mean size of texture coordinates on the shape";
                context.warnings.add(place, message);
                Some(normals_from_heights(heights, finish.stretch))
            }
            _ => None,
        };
        if let Some(Value::Image(normals)) = normals {
            out.normal_texture = self.texture(&normals, false, builder)?;
        }
        Ok(out)
    }

    fn color_and_alpha(
        &mut self,
        look: &Look,
        finish: &Finish,
        out: &mut Material,
        builder: &mut SceneBuilder,
        context: &mut Context<'_, '_>,
        place: &str,
    ) -> Result<()> {
        let color = limited(&look.color, context, place)?;
        let is_masked = !finish.alpha.is_constant(1.0);
        let is_blended = !look.opacity.is_constant(1.0) || (is_masked && context.version == Version::Four);
        let alpha = if look.opacity.is_constant(1.0) {
            finish.alpha.clone()
        } else if finish.alpha.is_constant(1.0) {
            look.opacity.clone()
        } else {
            context.take_texels(texels(&finish.alpha).max(texels(&look.opacity)) as u64, place)?;
            combine([&finish.alpha, &look.opacity], |[a, b]| std::array::from_fn(|i| a[i] * b[i])).value
        };
        if is_blended {
            out.alpha_mode = AlphaMode::Blend as u32;
        } else if is_masked {
            out.alpha_mode = AlphaMode::Mask as u32;
            out.alpha_cutoff = MASK_CUTOFF;
        }
        match (&color, &alpha) {
            (Value::Constant(c), Value::Constant([a, ..])) => {
                out.base_color = (*c).into();
                out.alpha = a.clamp(0.0, 1.0);
            }
            (Value::Image(image), Value::Constant([a, ..])) => {
                out.base_color = image.factor.into();
                out.alpha = a.clamp(0.0, 1.0);
                let raster = if image.raster.has_alpha() {
                    context.take_texels(texels(&color) as u64, place)?;
                    Rc::new(image.raster.map(|[r, g, b, _]| [r, g, b, 1.0]))
                } else {
                    Rc::clone(&image.raster)
                };
                out.base_color_texture =
                    self.texture(&ImageValue { raster, ..image.clone() }, true, builder)?;
            }
            (_, Value::Image(_)) => {
                context.take_texels(2 * texels(&color).max(texels(&alpha)) as u64, place)?;
                if let Value::Constant(c) = &color {
                    out.base_color = (*c).into();
                } else {
                    out.base_color = Vec3::ONE;
                }
                let white = Value::grey(1.0);
                let shown = if texels(&color) == 0 { &white } else { &color };
                let colors = combine([shown, &alpha], |[c, _]| c);
                let alphas = combine([shown, &alpha], |[_, a]| a);
                if colors.is_cut {
                    let message =
                        "a mask that repeats otherwise than the colour is cut off with the colour's period";
                    context.warnings.add(place, message);
                }
                if let (Value::Image(colors), Value::Image(alphas)) = (colors.value, alphas.value) {
                    let texel = |i: usize| {
                        let [r, g, b, _] = colors.raster.texel(i);
                        [r, g, b, alphas.raster.texel(i)[0]]
                    };
                    let (width, height) = (colors.raster.width, colors.raster.height);
                    let raster =
                        Rc::new(Raster::new(width, height, (0..width * height).map(texel).collect()));
                    out.base_color_texture = self.texture(&ImageValue { raster, ..colors }, true, builder)?;
                }
            }
        }
        Ok(())
    }

    /// The roughness, by an image where the model takes one, else by its mean.
    fn roughness(
        &mut self,
        look: &Look,
        out: &mut Material,
        builder: &mut SceneBuilder,
        context: &mut Context<'_, '_>,
        place: &str,
    ) -> Result<()> {
        match &look.roughness {
            Value::Image(image) if look.kind == MaterialKind::Principled => {
                context.take_texels(texels(&look.roughness) as u64, place)?;
                let factor = image.factor[0];
                // Green is roughness and blue metallicity.
                let raster =
                    Rc::new(image.raster.map(|[r, ..]| [0.0, (r * factor).clamp(0.0, 1.0), 1.0, 1.0]));
                let image = ImageValue { raster, factor: [1.0; 3], ..image.clone() };
                out.metallic_roughness_texture = self.texture(&image, false, builder)?;
            }
            value => {
                if matches!(value, Value::Image(_)) && look.kind != MaterialKind::Diffuse {
                    context
                        .warnings
                        .add(place, "the roughness texture of metal or glass is replaced by its mean");
                }
                out.roughness = value.mean_grey().clamp(0.0, 1.0);
            }
        }
        Ok(())
    }

    fn emission(
        &mut self,
        finish: &Finish,
        out: &mut Material,
        builder: &mut SceneBuilder,
        context: &mut Context<'_, '_>,
        place: &str,
    ) -> Result<()> {
        let emission = match &finish.emission {
            Value::Constant(radiance) => *radiance,
            Value::Image(image) => {
                // Texels hold up to 1; the factor holds the rest.
                let largest = image.raster.largest().max(f32::MIN_POSITIVE);
                let scaled = if largest > 1.0 {
                    context.take_texels(texels(&finish.emission) as u64, place)?;
                    Rc::new(image.raster.map(|t| t.map(|v| v / largest)))
                } else {
                    Rc::clone(&image.raster)
                };
                let image = ImageValue { raster: scaled, ..image.clone() };
                out.emission_texture = self.texture(&image, true, builder)?;
                image.factor.map(|f| f * largest.max(1.0))
            }
        };
        if !emission.iter().all(|v| (0.0..=MAX_EMISSION).contains(v)) {
            let message = format!("emission must lie between 0 and {MAX_EMISSION}");
            return Err(context.warnings.error(place, message));
        }
        out.emission = emission.into();
        if finish.two_sided && emission != [0.0; 3] {
            out.flags |= Material::TWO_SIDED_EMISSION;
        }
        Ok(())
    }

    /// Registers an image and its sampler, each once.
    fn texture(&mut self, value: &ImageValue, srgb: bool, builder: &mut SceneBuilder) -> Result<u32> {
        let Mapping { scale, offset } = value.mapping;
        let bits = [scale[0], scale[1], offset[0], offset[1]].map(f64::to_bits);
        let pointer = Rc::as_ptr(&value.raster);
        let key = (pointer, srgb, bits, value.wrap as u32, value.nearest);
        if let Some(texture) = self.textures.get(&key) {
            return Ok(*texture);
        }
        let image = match self.images.get(&(pointer, srgb)) {
            Some((_, image)) => *image,
            None => {
                let raster = &value.raster;
                let (width, height) = (raster.width as u32, raster.height as u32);
                let pixels = Pixels { width, height, rgba: raster.to_bytes(srgb) };
                let image = pixels.add_to(builder, self.side, Coding::of(srgb))?;
                self.images.insert((pointer, srgb), (Rc::clone(raster), image));
                image
            }
        };
        let sampler = Sampler { wrap_u: value.wrap, wrap_v: value.wrap, nearest: value.nearest };
        // With v counted downwards, 1 - (s (1 - v) + o) = s v + (1 - s - o).
        let offset = [offset[0] as f32, (1.0 - scale[1] - offset[1]) as f32];
        let transform = TextureTransform { offset, rotation: 0.0, scale: scale.map(|v| v as f32) };
        let texture = builder.texture(image, srgb, sampler, 0, transform);
        self.textures.insert(key, texture);
        Ok(texture)
    }
}

/// A colour between 0 and 1, with a warning where it was not.
fn limited(color: &Value, context: &mut Context<'_, '_>, place: &str) -> Result<Value> {
    let message = "reflectance beyond 0 to 1 is limited to it";
    let unit = |v: f32| if v.is_finite() { v.clamp(0.0, 1.0) } else { 0.0 };
    Ok(match color {
        Value::Constant(c) => {
            if *c != c.map(unit) {
                context.warnings.add(place, message);
            }
            Value::Constant(c.map(unit))
        }
        Value::Image(image) => {
            let most = image.raster.largest();
            let is_within = image.factor.iter().all(|f| *f >= 0.0 && f * most <= 1.0 + 1e-6);
            if is_within && image.factor.iter().all(|f| *f <= 1.0) {
                return Ok(color.clone());
            }
            context.take_texels(texels(color) as u64, place)?;
            if !is_within {
                context.warnings.add(place, message);
            }
            color.map(|c| c.map(unit))
        }
    })
}

/// A normal map of heights, whose texture coordinates have these lengths on the surface.
fn normals_from_heights(heights: &ImageValue, stretch: [f32; 2]) -> Value {
    let raster = &heights.raster;
    let (width, height) = (raster.width, raster.height);
    let at = |x: usize, y: usize| raster.texel(y % height * width + x % width)[0] * heights.factor[0];
    // Lengths on the surface of two texels.
    let span = |count: usize, scale: f64, stretch: f32| 2.0 * stretch / (count as f32 * scale as f32);
    let across = span(width, heights.mapping.scale[0], stretch[0]);
    let down = span(height, heights.mapping.scale[1], stretch[1]);
    let slope = |difference: f32, span: f32| if span != 0.0 { difference / span } else { 0.0 };
    let texel = |i: usize| {
        let (x, y) = (i % width, i / width);
        let along_u = slope(at(x + 1, y) - at(x + width - 1, y), across);
        // v grows upwards, against the rows.
        let along_v = slope(at(x, y + height - 1) - at(x, y + 1), down);
        let length = (along_u * along_u + along_v * along_v + 1.0).sqrt();
        [-along_u, -along_v, 1.0, length].map(|v| 0.5 * (v / length) + 0.5)
    };
    let raster = Rc::new(Raster::new(width, height, (0..width * height).map(texel).collect()));
    Value::Image(ImageValue { raster, factor: [1.0; 3], ..heights.clone() })
}

/// Whether a material looks at texture coordinates.
pub(super) fn is_textured(material: &Material) -> bool {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.emission_texture,
        material.transmission_texture,
    ]
    .iter()
    .any(|&texture| texture != NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pbrt::values::bake;
    use lockstep_core::scene::Wrap;

    #[test]
    fn a_slope_tilts_the_normals_against_it() {
        // Heights of 0.1 across a unit of u that is 0.5 long: a slope of 0.2.
        let Value::Image(ramp) = bake(Mapping::IDENTITY, 32, Wrap::Clamp, |[s, _]| [0.1 * s as f32; 3])
        else {
            panic!("an image was baked")
        };
        let normals = normals_from_heights(&ramp, [0.5, 1.0]);
        let [x, y, z] = normals.at([0.5, 0.5]).map(|v| 2.0 * v - 1.0);
        assert!((x / z + 0.2).abs() < 1e-4 && y.abs() < 1e-6, "{x} {y} {z}");
    }
}
