//! Textures: from their definitions to constants and images.

use super::Context;
use super::description::{Description, TextureDefinition, Version};
use super::params::{Params, Role, Source, shorten};
use super::raster::{Encoding, Raster};
use super::values::{ImageValue, Mapping, Value, bake, combine};
use crate::pixels::Image;
use crate::textures::decode_files;
use lockstep_core::Result;
use lockstep_core::scene::Wrap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// Side of the images that functions of texture coordinates are baked to.
const BAKED_SIDE: usize = 256;

/// Least and largest side of the image of a checkerboard of images.
const CHECKER_SIDES: [f64; 2] = [128.0, 2048.0];

/// All textures that something uses.
pub(super) struct Textures {
    values: Vec<Option<Value>>,
    files: Files,
}

/// Decoded image files.
#[derive(Default)]
struct Files {
    /// By name; the error is a sentence.
    images: HashMap<String, std::result::Result<Image, String>>,
    rasters: HashMap<(String, u64), Rc<Raster>>,
}

impl Textures {
    /// Evaluates the textures that materials and shapes use. A texture uses those before it.
    pub(super) fn load(description: &Description, context: &mut Context<'_, '_>) -> Result<Self> {
        let needed = needed(description);
        let mut names: Vec<String> = Vec::new();
        for (definition, _) in description.textures.iter().zip(&needed).filter(|(_, needed)| **needed) {
            if definition.class == "imagemap"
                && let Some(name) = definition.params.string("filename", context)?
            {
                names.push(name.to_string());
            }
        }
        for params in &description.area_lights {
            names.extend(params.string("filename", context)?.map(str::to_string));
        }
        for material in &description.materials {
            names.extend(material.params.string("normalmap", context)?.map(str::to_string));
        }
        let files = Files::read(names, context)?;
        let mut textures = Self { values: vec![None; needed.len()], files };
        for (index, definition) in description.textures.iter().enumerate().filter(|(i, _)| needed[*i]) {
            let value = textures.evaluate(definition, context)?;
            textures.values[index] = Some(value);
        }
        Ok(textures)
    }

    /// The value of a texture.
    pub(super) fn value(&self, index: usize) -> Value {
        self.values.get(index).cloned().flatten().unwrap_or(Value::grey(0.5))
    }

    /// A number or texture.
    pub(super) fn float(
        &self,
        params: &Params,
        name: &str,
        context: &Context<'_, '_>,
    ) -> Result<Option<Value>> {
        Ok(params.float_or_texture(name, context)?.map(|source| match source {
            Source::Value(v) => Value::grey(v as f32),
            Source::Texture(index) => self.value(index),
        }))
    }

    /// A colour or texture.
    pub(super) fn color(
        &self,
        params: &Params,
        name: &str,
        role: Role,
        context: &Context<'_, '_>,
    ) -> Result<Option<Value>> {
        Ok(params.color_or_texture(name, role, context)?.map(|source| match source {
            Source::Value(color) => Value::Constant(color.rgb),
            Source::Texture(index) => self.value(index),
        }))
    }

    /// An image file as it is, over texture coordinates as they are; `None` with a warning where it is missing.
    pub(super) fn file(
        &mut self,
        name: &str,
        encoding: Encoding,
        place: &str,
        context: &mut Context<'_, '_>,
    ) -> Result<Option<Value>> {
        Ok(self.files.raster(name, encoding, place, context)?.map(|raster| {
            let (mapping, wrap) = (Mapping::IDENTITY, Wrap::Repeat);
            Value::Image(ImageValue { raster, mapping, wrap, nearest: false, factor: [1.0; 3] })
        }))
    }

    fn evaluate(&mut self, definition: &TextureDefinition, context: &mut Context<'_, '_>) -> Result<Value> {
        let params = &definition.params;
        let value = match definition.class.as_str() {
            "constant" => self.part(definition, "value", 1.0, context)?,
            "imagemap" => self.image_map(definition, context)?,
            "scale" => {
                // Version 3 multiplies two textures, version 4 a texture and a factor.
                let (first, second) = if params.has("tex1") || params.has("tex2") {
                    (
                        self.part(definition, "tex1", 1.0, context)?,
                        self.part(definition, "tex2", 1.0, context)?,
                    )
                } else {
                    (
                        self.part(definition, "tex", 1.0, context)?,
                        self.part(definition, "scale", 1.0, context)?,
                    )
                };
                match (&first, &second) {
                    (value, Value::Constant(factor)) | (Value::Constant(factor), value) => {
                        value.times(*factor)
                    }
                    _ => self.combined([&first, &second], definition, context, |[a, b]| {
                        std::array::from_fn(|i| a[i] * b[i])
                    })?,
                }
            }
            "mix" => {
                let first = self.part(definition, "tex1", 0.0, context)?;
                let second = self.part(definition, "tex2", 1.0, context)?;
                let amount = self.float(params, "amount", context)?.unwrap_or(Value::grey(0.5));
                self.combined([&first, &second, &amount], definition, context, |[a, b, t]| {
                    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t[0])
                })?
            }
            "checkerboard" => self.checkerboard(definition, context)?,
            "bilerp" => {
                let corner = |name, default| self.part(definition, name, default, context);
                let corners =
                    [corner("v00", 0.0)?, corner("v01", 1.0)?, corner("v10", 0.0)?, corner("v11", 1.0)?];
                let [v00, v01, v10, v11] = corners.map(|corner| corner.mean());
                bilerp([v00, v01, v10, v11], mapping(params, context)?)
            }
            "uv" => {
                self.reserve(BAKED_SIDE * BAKED_SIDE, &params.place, context)?;
                bake(mapping(params, context)?, BAKED_SIDE, Wrap::Repeat, |[s, t]| [s as f32, t as f32, 0.0])
            }
            "directionmix" => {
                let message =
                    "the texture `directionmix` does not change with direction; its two are mixed evenly";
                context.warnings.add(&params.place, message);
                let first = self.part(definition, "tex1", 0.0, context)?;
                let second = self.part(definition, "tex2", 1.0, context)?;
                self.combined([&first, &second], definition, context, |[a, b]| {
                    std::array::from_fn(|i| 0.5 * (a[i] + b[i]))
                })?
            }
            class @ ("fbm" | "wrinkled" | "windy" | "marble" | "dots" | "ptex") => {
                let message =
                    format!("the texture `{class}` is not evaluated; a grey of 0.5 is in its place");
                context.warnings.add(&params.place, message);
                Value::grey(0.5)
            }
            other => {
                let message = format!("there is no texture `{}`", shorten(other));
                return Err(context.warnings.error(&params.place, message));
            }
        };
        Ok(if definition.colors { value } else { greyed(value) })
    }

    /// A texture's input, a number or a colour.
    fn part(
        &self,
        definition: &TextureDefinition,
        name: &str,
        default: f32,
        context: &Context<'_, '_>,
    ) -> Result<Value> {
        let params = &definition.params;
        let value = if definition.colors {
            self.color(params, name, Role::Reflectance, context)?
        } else {
            self.float(params, name, context)?
        };
        Ok(value.unwrap_or(Value::grey(default)))
    }

    fn combined<const N: usize>(
        &self,
        values: [&Value; N],
        definition: &TextureDefinition,
        context: &mut Context<'_, '_>,
        f: impl Fn([[f32; 3]; N]) -> [f32; 3],
    ) -> Result<Value> {
        let place = &definition.params.place;
        self.reserve(values.iter().map(|v| texels(v)).max().unwrap_or(0), place, context)?;
        let combined = combine(values, f);
        if combined.is_cut {
            let message = "textures that repeat differently are combined over the period of the largest";
            context.warnings.add(place, message);
        }
        Ok(combined.value)
    }

    /// Takes an image's texels out of the budget.
    fn reserve(&self, texels: usize, place: &str, context: &mut Context<'_, '_>) -> Result<()> {
        context.take_texels(texels as u64, place)
    }

    fn image_map(&mut self, definition: &TextureDefinition, context: &mut Context<'_, '_>) -> Result<Value> {
        let params = &definition.params;
        let place = params.place.as_str();
        let Some(name) = params.string("filename", context)?.map(str::to_string) else {
            return Err(context.warnings.error(place, "an `imagemap` needs a `string filename`"));
        };
        let scale = params.float("scale", 1.0, context)? as f32;
        let invert = params.flag("invert", false, context)?;
        let filter = params.string("filter", context)?.unwrap_or("bilinear");
        let nearest = filter == "point";
        let wrap = match params.string("wrap", context)?.unwrap_or("repeat") {
            "repeat" => Wrap::Repeat,
            "clamp" => Wrap::Clamp,
            other => {
                let message =
                    format!("the wrap mode `{}` is not rendered; the image is clamped", shorten(other));
                context.warnings.add(place, message);
                Wrap::Clamp
            }
        };
        for unused in ["trilinear", "maxanisotropy"] {
            params.get(unused);
        }
        let encoding = encoding(params, context)?;
        let mapping = mapping(params, context)?;
        let Some(raster) = self.files.raster(&name, encoding, place, context)? else {
            return Ok(Value::grey(scale));
        };
        let raster = if definition.colors || is_grey(&raster, context.version) {
            raster
        } else {
            self.reserve(raster.width * raster.height, place, context)?;
            let alpha = context.version == Version::Four && raster.has_alpha();
            Rc::new(raster.map(|[r, g, b, a]| {
                let v = match (alpha, context.version) {
                    (true, _) => a,
                    (false, Version::Four) => (r + g + b) / 3.0,
                    (false, Version::Three) => 0.212_671 * r + 0.715_16 * g + 0.072_169 * b,
                };
                [v, v, v, 1.0]
            }))
        };
        let value = Value::Image(ImageValue { raster, mapping, wrap, nearest, factor: [scale; 3] });
        Ok(if invert { value.map(|c| c.map(|v| (1.0 - v).max(0.0))) } else { value })
    }

    fn checkerboard(&self, definition: &TextureDefinition, context: &mut Context<'_, '_>) -> Result<Value> {
        let params = &definition.params;
        let first = self.part(definition, "tex1", 1.0, context)?;
        let second = self.part(definition, "tex2", 0.0, context)?;
        params.get("aamode");
        if params.float("dimension", 2.0, context)? != 2.0 {
            let message =
                "checkerboards in space are not evaluated; the mean of the two textures is in their place";
            context.warnings.add(&params.place, message);
            let (a, b) = (first.mean(), second.mean());
            return Ok(Value::Constant(std::array::from_fn(|i| 0.5 * (a[i] + b[i]))));
        }
        // A period holds two cells each way.
        let Mapping { scale, offset } = mapping(params, context)?;
        let period = Mapping { scale: scale.map(|v| 0.5 * v), offset: offset.map(|v| 0.5 * v) };
        let is_first = |[s, t]: [f64; 2]| (s < 0.5) == (t < 0.5);
        if let (Value::Constant(a), Value::Constant(b)) = (&first, &second) {
            let Value::Image(image) = bake(period, 2, Wrap::Repeat, |st| if is_first(st) { *a } else { *b })
            else {
                return Ok(first);
            };
            return Ok(Value::Image(ImageValue { nearest: true, ..image }));
        }
        let images = [&first, &second].into_iter().filter_map(|value| match value {
            Value::Constant(_) => None,
            Value::Image(image) => Some(image),
        });
        let ratio = |image: &ImageValue, i: usize| image.mapping.scale[i] / period.scale[i];
        let is_whole = |ratio: f64| (ratio - ratio.round()).abs() <= 1e-6;
        let cut = images.clone().any(|image| (0..2).any(|i| !is_whole(ratio(image, i))));
        if cut {
            let message = "textures that repeat differently are combined over the period of the checkerboard";
            context.warnings.add(&params.place, message);
        }
        // As fine as the finest of the images over a period.
        let finest = images.map(|image| {
            let [width, height] = [image.raster.width, image.raster.height].map(|side| side as f64);
            (width * ratio(image, 0)).abs().max((height * ratio(image, 1)).abs())
        });
        let side = finest.fold(0.0, f64::max).clamp(CHECKER_SIDES[0], CHECKER_SIDES[1]) as usize;
        let side = side.next_multiple_of(2);
        self.reserve(side * side, &params.place, context)?;
        Ok(bake(period, side, Wrap::Repeat, |st| {
            let uv = std::array::from_fn(|i| (st[i] - period.offset[i]) / period.scale[i]);
            if is_first(st) { first.at(uv) } else { second.at(uv) }
        }))
    }
}

impl Files {
    /// Reads and decodes files.
    fn read(mut names: Vec<String>, context: &mut Context<'_, '_>) -> Result<Self> {
        names.sort();
        names.dedup();
        let paths: Vec<PathBuf> = names.iter().map(|name| context.access.folder.join(name)).collect();
        let images = decode_files(&paths, context.access, |file, texels| {
            context.take_texels(texels as u64, &shorten(&names[file]))
        })?;
        Ok(Self { images: names.into_iter().zip(images).collect(), ..Self::default() })
    }

    /// A file's image with its bytes read by an encoding. A missing one is left out with a warning.
    fn raster(
        &mut self,
        name: &str,
        encoding: Encoding,
        place: &str,
        context: &mut Context<'_, '_>,
    ) -> Result<Option<Rc<Raster>>> {
        let code = match encoding {
            Encoding::Srgb => 1 << 32,
            Encoding::Linear => 2 << 32,
            Encoding::Gamma(gamma) => u64::from(gamma.to_bits()),
        };
        let key = (name.to_string(), code);
        if let Some(raster) = self.rasters.get(&key) {
            return Ok(Some(Rc::clone(raster)));
        }
        match self.images.get(name) {
            Some(Ok(image)) => {
                let raster = Rc::new(Raster::of_file(image.clone(), encoding));
                self.rasters.insert(key, Rc::clone(&raster));
                Ok(Some(raster))
            }
            Some(Err(message)) => {
                context.warnings.add(place, format!("the image is left out: {message}"));
                Ok(None)
            }
            None => Ok(None),
        }
    }
}

/// The textures that materials, shapes and other needed textures use.
fn needed(description: &Description) -> Vec<bool> {
    let mut needed = vec![false; description.textures.len()];
    let mark = |needed: &mut Vec<bool>, params: &Params| {
        for index in params.list.iter().flat_map(|p| p.textures).flatten() {
            needed[index] = true;
        }
    };
    description.materials.iter().for_each(|material| mark(&mut needed, &material.params));
    let objects = description.objects.iter().flatten();
    description.shapes.iter().chain(objects).for_each(|shape| mark(&mut needed, &shape.params));
    for (index, definition) in description.textures.iter().enumerate().rev() {
        if needed[index] {
            mark(&mut needed, &definition.params);
        }
    }
    needed
}

/// The number of an image's texels; zero for a constant.
pub(super) fn texels(value: &Value) -> usize {
    match value {
        Value::Constant(_) => 0,
        Value::Image(image) => image.raster.width * image.raster.height,
    }
}

/// Whether an image's colours are numbers already: all channels alike, and no alpha that version 4 would take.
fn is_grey(raster: &Raster, version: Version) -> bool {
    let is_grey = (0..raster.width * raster.height).all(|i| {
        let [r, g, b, _] = raster.texel(i);
        r == g && g == b
    });
    is_grey && !(version == Version::Four && raster.has_alpha())
}

/// The mean of the channels of constants, which parameters for colours may have given.
fn greyed(value: Value) -> Value {
    match value {
        Value::Constant([r, g, b]) if r != g || g != b => Value::grey((r + g + b) / 3.0),
        value => value,
    }
}

fn encoding(params: &Params, context: &mut Context<'_, '_>) -> Result<Encoding> {
    if !params.flag("gamma", true, context)? {
        return Ok(Encoding::Linear);
    }
    let Some(name) = params.string("encoding", context)? else {
        return Ok(Encoding::Srgb);
    };
    let gamma = name.strip_prefix("gamma ").and_then(|number| number.trim().parse::<f32>().ok());
    match (name, gamma) {
        ("sRGB" | "srgb", _) => Ok(Encoding::Srgb),
        ("linear", _) => Ok(Encoding::Linear),
        (_, Some(gamma)) if gamma > 0.0 && gamma.is_finite() => Ok(Encoding::Gamma(gamma)),
        _ => {
            let message = format!("the encoding `{}` is none of sRGB, linear and `gamma N`", shorten(name));
            Err(context.warnings.error(&params.place, message))
        }
    }
}

/// Texture coordinates by a texture's parameters.
fn mapping(params: &Params, context: &mut Context<'_, '_>) -> Result<Mapping> {
    let kind = params.string("mapping", context)?.unwrap_or("uv");
    if kind != "uv" {
        for name in ["v1", "v2"] {
            params.get(name);
        }
        let message = format!(
            "the mapping `{}` of a texture is not rendered: it lies by the surface's own texture coordinates",
            shorten(kind)
        );
        context.warnings.add(&params.place, message);
    }
    let number = |name, default| params.float(name, default, context);
    let scale = [number("uscale", 1.0)?, number("vscale", 1.0)?];
    let offset = [number("udelta", 0.0)?, number("vdelta", 0.0)?];
    if scale.contains(&0.0) {
        return Err(context.warnings.error(&params.place, "`uscale` and `vscale` must not be zero"));
    }
    Ok(Mapping { scale, offset })
}

/// Interpolation between four corners: an image of four texels, seen between their centres.
fn bilerp([v00, v01, v10, v11]: [[f32; 3]; 4], mapping: Mapping) -> Value {
    let half =
        Mapping { scale: mapping.scale.map(|v| 0.5 * v), offset: mapping.offset.map(|v| 0.5 * v + 0.25) };
    bake(half, 2, Wrap::Clamp, |[s, t]| match (s < 0.5, t < 0.5) {
        (true, true) => v00,
        (true, false) => v01,
        (false, true) => v10,
        (false, false) => v11,
    })
}
