//! Textures: colours that vary over a surface.

use super::document::Document;
use super::matrix::Matrix;
use super::object::{Class, Object, Value, shorten};
use super::values::blackbody_of;
use crate::access::FileAccess;
use crate::limits::Budget;
use crate::pixels::{Image, Pixels};
use crate::spectrum::Sampled;
use crate::textures::{Coding, decode_files};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::luminance;
use lockstep_core::scene::texture::SRGB_TO_LINEAR;
use lockstep_core::scene::{ImageId, NONE, Sampler, SceneBuilder, TextureTransform, Wrap};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Deepest nesting of textures in textures.
const MOST_LEVELS: usize = 8;

/// Whether a value is light or a share of it: spectra become colours by other rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reflectance,
    Emission,
}

/// A colour, constant or from an image.
#[derive(Clone, Debug)]
pub(super) enum Color {
    Constant([f32; 3]),
    Map(Map),
}

/// An image with its place on a surface.
#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) pixels: Arc<Pixels>,
    /// RGB is sRGB-encoded.
    pub(super) srgb: bool,
    /// Factor on the decoded colour.
    pub(super) factor: [f32; 3],
    pub(super) sampler: Sampler,
    pub(super) transform: TextureTransform,
}

impl Map {
    /// The linear colour of a texel without the factor.
    fn decoded(&self, texel: &[u8]) -> [f32; 3] {
        let table = &SRGB_TO_LINEAR;
        [texel[0], texel[1], texel[2]]
            .map(|c| if self.srgb { table[usize::from(c)] } else { f32::from(c) / 255.0 })
    }

    fn colors(&self) -> impl Iterator<Item = [f32; 3]> {
        let factor = self.factor;
        self.pixels.rgba.chunks_exact(4).map(move |texel| {
            let c = self.decoded(texel);
            [c[0] * factor[0], c[1] * factor[1], c[2] * factor[2]]
        })
    }

    /// The luminance of each texel.
    pub(super) fn values(&self) -> Vec<f32> {
        self.colors().map(|c| luminance(c.into())).collect()
    }

    /// Replaces the pixels by others of the same size, keeping the place.
    pub(super) fn with_pixels(&self, rgba: Vec<u8>, srgb: bool) -> Self {
        let pixels = Arc::new(Pixels { rgba, width: self.pixels.width, height: self.pixels.height });
        Self { pixels, srgb, factor: [1.0; 3], ..self.clone() }
    }
}

impl Color {
    /// The mean colour.
    pub(super) fn mean(&self) -> [f32; 3] {
        match self {
            Self::Constant(color) => *color,
            Self::Map(map) => {
                let mut sum = [0.0f64; 3];
                for color in map.colors() {
                    sum.iter_mut().zip(color).for_each(|(total, c)| *total += f64::from(c));
                }
                sum.map(|total| (total / (map.pixels.rgba.len() as f64 / 4.0)) as f32)
            }
        }
    }

    /// The mean luminance.
    pub(super) fn mean_value(&self) -> f32 {
        match self {
            // A grey's luminance may differ from it in the last bit.
            Self::Constant([r, g, b]) if r == g && g == b => *r,
            color => luminance(color.mean().into()),
        }
    }

    /// The colour with a function on each component, whose values lie within 0 and 1.
    pub(super) fn mapped(&self, f: impl Fn(f32) -> f32) -> Self {
        match self {
            Self::Constant(color) => Self::Constant(color.map(f)),
            Self::Map(map) => {
                let encode = |color: [f32; 3]| color.map(|c| encoded(f(c)));
                let alpha = map.pixels.rgba.iter().skip(3).step_by(4);
                let texels = map.colors().zip(alpha).flat_map(|(color, &a)| {
                    let [r, g, b] = encode(color);
                    [r, g, b, a]
                });
                Self::Map(map.with_pixels(texels.collect(), true))
            }
        }
    }

    /// The colour times a factor.
    pub(super) fn scaled(self, by: [f32; 3]) -> Self {
        let times = |a: [f32; 3]| [a[0] * by[0], a[1] * by[1], a[2] * by[2]];
        match self {
            Self::Constant(color) => Self::Constant(times(color)),
            Self::Map(map) => Self::Map(Map { factor: times(map.factor), ..map }),
        }
    }
}

/// A linear component, limited to 0 to 1, as a byte of sRGB.
fn encoded(linear: f32) -> u8 {
    let c = f64::from(linear.clamp(0.0, 1.0));
    let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0 + 0.5) as u8
}

/// The images of a scene, decoded once.
pub(super) struct Textures {
    decoded: HashMap<PathBuf, std::result::Result<Arc<Image>, String>>,
    /// 8-bit versions of decoded images, with the factor on them.
    flattened: HashMap<PathBuf, (Arc<Pixels>, [f32; 3], bool)>,
    /// Images in the builder by the address of their pixels, which are kept.
    placed: HashMap<usize, (ImageId, Arc<Pixels>)>,
    texels: Budget,
    /// Longest side of an image in the builder.
    side: u32,
}

impl Textures {
    /// Decodes every image that a texture of the document names, several at a time.
    pub(super) fn read(document: &Document, access: &FileAccess<'_>, warnings: &Warnings) -> Result<Self> {
        let mut files: Vec<PathBuf> = Vec::new();
        for object in &document.objects {
            if object.class == Class::Texture && object.plugin == "bitmap" {
                let name = object.properties.iter().find(|property| property.name == "filename");
                if let Some(Value::Text(name)) = name.map(|property| &property.value) {
                    files.push(document.file(access, name));
                }
            }
        }
        files.sort();
        files.dedup();
        let mut texels = Budget::of_texels(access.limits);
        let images = decode_files(&files, access, |file, count| {
            texels.take(count, &files[file].to_string_lossy(), warnings)
        })?;
        let images = images.into_iter().map(|image| image.map(Arc::new));
        let decoded = files.iter().cloned().zip(images).collect();
        let side = access.limits.texture_side;
        Ok(Self { decoded, flattened: HashMap::new(), placed: HashMap::new(), texels, side })
    }

    /// A decoded image.
    fn image(&self, path: &PathBuf, object: &Object, warnings: &Warnings) -> Result<Arc<Image>> {
        match self.decoded.get(path) {
            Some(Ok(image)) => Ok(image.clone()),
            Some(Err(message)) => Err(object.error(warnings, format!("{}: {message}", path.display()))),
            None => Err(object.error(warnings, format!("{} was not read", path.display()))),
        }
    }

    /// The index of a texture in the scene, with the factor on it; none for a constant colour.
    pub(super) fn place(
        &mut self,
        color: &Color,
        builder: &mut SceneBuilder,
        warnings: &Warnings,
    ) -> Result<([f32; 3], u32)> {
        let map = match color {
            Color::Constant(color) => return Ok((*color, NONE)),
            Color::Map(map) => map,
        };
        let pixels = &map.pixels;
        let key = Arc::as_ptr(pixels) as usize;
        let image = match self.placed.get(&key) {
            Some((image, _)) => *image,
            None => {
                self.texels.take(pixels.rgba.len() / 4, "textures", warnings)?;
                let image = pixels.add_to(builder, self.side, Coding::of(map.srgb))?;
                self.placed.insert(key, (image, pixels.clone()));
                image
            }
        };
        Ok((map.factor, builder.texture(image, map.srgb, map.sampler, 0, map.transform)))
    }
}

/// The parts of a scene that textures are read from.
pub(super) struct Source<'a> {
    pub(super) document: &'a Document,
    pub(super) access: &'a FileAccess<'a>,
}

impl Source<'_> {
    /// A colour that is given as a property or as a nested texture; `None` where it is given as neither.
    pub(super) fn color(
        &self,
        textures: &mut Textures,
        owner: &Object,
        names: &[&str],
        role: Role,
        warnings: &mut Warnings,
    ) -> Result<Option<Color>> {
        self.color_at(textures, owner, names, role, 0, warnings)
    }

    fn color_at(
        &self,
        textures: &mut Textures,
        owner: &Object,
        names: &[&str],
        role: Role,
        depth: usize,
        warnings: &mut Warnings,
    ) -> Result<Option<Color>> {
        if let Some(property) = owner.property(names) {
            let at = super::xml::place(&owner.file, property.line);
            let color = constant(&property.value, role)
                .ok_or_else(|| warnings.error(&at, format!("`{}` is to be a colour", property.name)))?;
            if color.iter().any(|c| !c.is_finite() || *c < 0.0) {
                return Err(warnings.error(at, "a colour must be finite and not negative"));
            }
            return Ok(Some(Color::Constant(color)));
        }
        let Some(nested) = owner.nested.iter().find(|nested| names.contains(&nested.name.as_str())) else {
            return Ok(None);
        };
        let index = self.document.target(owner, nested, warnings)?;
        let object = &self.document.objects[index];
        if object.class != Class::Texture {
            return Err(object.error(warnings, format!("`{}` is to be a texture", nested.name)));
        }
        if depth >= MOST_LEVELS {
            return Err(object.error(warnings, "textures are nested too deep"));
        }
        self.texture_at(textures, object, role, depth, warnings).map(Some)
    }

    /// The colour of a texture's object.
    pub(super) fn texture(
        &self,
        textures: &mut Textures,
        index: usize,
        role: Role,
        warnings: &mut Warnings,
    ) -> Result<Color> {
        self.texture_at(textures, &self.document.objects[index], role, 0, warnings)
    }

    fn texture_at(
        &self,
        textures: &mut Textures,
        object: &Object,
        role: Role,
        depth: usize,
        warnings: &mut Warnings,
    ) -> Result<Color> {
        let out = match object.plugin.as_str() {
            "bitmap" => self.bitmap(textures, object, role, warnings)?,
            "checkerboard" => self.checkerboard(textures, object, role, depth, warnings)?,
            "scale" => {
                let factor = object.number(&["scale", "value"], warnings)?.unwrap_or(1.0) as f32;
                let inner = object.nested.iter().find(|nested| nested.name != "scale");
                let names = [inner.map_or("", |nested| nested.name.as_str())];
                let inner = self.color_at(textures, object, &names, role, depth + 1, warnings)?;
                inner.unwrap_or(Color::Constant([1.0; 3])).scaled([factor.max(0.0); 3])
            }
            "uniform" | "srgb" | "rgb" | "regular" | "irregular" | "d65" | "blackbody" | "spectrum" => {
                plain(object, role, warnings)?
            }
            other => {
                let color = if role == Role::Emission { [1.0; 3] } else { [0.5; 3] };
                object.skip_all();
                let message =
                    format!("textures of the type `{}` are not supported; grey is used", shorten(other));
                warnings.add(object.place(), message);
                Color::Constant(color)
            }
        };
        object.warn_of_unread(warnings);
        Ok(out)
    }

    fn checkerboard(
        &self,
        textures: &mut Textures,
        object: &Object,
        role: Role,
        depth: usize,
        warnings: &mut Warnings,
    ) -> Result<Color> {
        let mut of = |name: &str, default: f32, warnings: &mut Warnings| -> Result<[f32; 3]> {
            let color = self.color_at(textures, object, &[name], role, depth + 1, warnings)?;
            if matches!(color, Some(Color::Map(_))) {
                warnings.add(object.place(), "a texture in a checkerboard is replaced by its mean");
            }
            Ok(color.map_or([default; 3], |color| color.mean()))
        };
        let (even, odd) = (of("color0", 0.4, warnings)?, of("color1", 0.2, warnings)?);
        let factor: [f32; 3] = std::array::from_fn(|i| even[i].max(odd[i]));
        let texel = |color: [f32; 3]| {
            let share = |i: usize| if factor[i] > 0.0 { encoded(color[i] / factor[i]) } else { 0 };
            [share(0), share(1), share(2), 255]
        };
        let rgba = [even, odd, odd, even].map(texel).concat();
        Ok(Color::Map(Map {
            pixels: Arc::new(Pixels { width: 2, height: 2, rgba }),
            srgb: true,
            factor,
            sampler: Sampler { nearest: true, ..Sampler::default() },
            transform: uv_transform(object, warnings)?,
        }))
    }

    fn bitmap(
        &self,
        textures: &mut Textures,
        object: &Object,
        role: Role,
        warnings: &mut Warnings,
    ) -> Result<Color> {
        let name = object.text(&["filename"], warnings)?;
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(object.error(warnings, "the texture needs `filename`"));
        };
        let path = self.document.file(self.access, name);
        let raw = object.boolean("raw", warnings)?;
        let gamma = object.number(&["gamma"], warnings)?;
        let raw = raw.unwrap_or(gamma == Some(1.0));
        if gamma.is_some_and(|gamma| gamma > 0.0 && gamma != 1.0 && (gamma - 2.2).abs() > 0.05) {
            warnings.add(object.place(), "the gamma of the texture is taken as that of sRGB");
        }
        let (pixels, factor, encoded) = self.flattened(textures, &path, object, role, warnings)?;
        object.skip(&["cache", "format", "id", "max_anisotropy"]);
        Ok(Color::Map(Map {
            pixels,
            srgb: encoded || !raw,
            factor,
            sampler: sampler(object, warnings)?,
            transform: uv_transform(object, warnings)?,
        }))
    }

    /// An image in 8 bits with the factor on it, and whether it had to be encoded as sRGB.
    fn flattened(
        &self,
        textures: &mut Textures,
        path: &PathBuf,
        object: &Object,
        role: Role,
        warnings: &mut Warnings,
    ) -> Result<(Arc<Pixels>, [f32; 3], bool)> {
        if let Some(found) =
            textures.flattened.get(path).filter(|found| role == Role::Emission || found.1 == [1.0; 3])
        {
            return Ok(found.clone());
        }
        let image = textures.image(path, object, warnings)?;
        let out = match image.as_ref() {
            Image::Encoded(pixels) => (Arc::new(pixels.clone()), [1.0; 3], false),
            Image::Linear { width, height, rgba } => {
                let brightest = rgba
                    .iter()
                    .flat_map(|t| [t[0], t[1], t[2]])
                    .filter(|v| v.is_finite())
                    .fold(1.0, f32::max);
                if role == Role::Reflectance && brightest > 1.0 {
                    warnings.add(object.place(), "values above 1 of the texture are taken as 1");
                }
                let factor = if role == Role::Emission { brightest } else { 1.0 };
                let bytes = rgba.iter().flat_map(|&[r, g, b, a]| {
                    let [r, g, b] = [r, g, b].map(|v| encoded(if v.is_nan() { 0.0 } else { v / factor }));
                    [r, g, b, (a.clamp(0.0, 1.0) * 255.0 + 0.5) as u8]
                });
                let pixels = Pixels { width: *width, height: *height, rgba: bytes.collect() };
                (Arc::new(pixels), [factor; 3], true)
            }
        };
        textures.flattened.insert(path.clone(), out.clone());
        Ok(out)
    }
}

/// The colour of a value.
fn constant(value: &Value, role: Role) -> Option<[f32; 3]> {
    match value {
        Value::Number(number) => Some([*number as f32; 3]),
        Value::Rgb(color) => Some(*color),
        Value::Spectrum(spectrum) if role == Role::Emission => Some(spectrum.emission()),
        Value::Spectrum(spectrum) => Some(spectrum.reflectance()),
        _ => None,
    }
}

/// A spectrum that is written as a plugin.
fn plain(object: &Object, role: Role, warnings: &Warnings) -> Result<Color> {
    let number = |names: &[&str]| object.number(names, warnings);
    let value = match object.plugin.as_str() {
        "blackbody" => {
            let kelvin = number(&["temperature"])?.unwrap_or(5000.0);
            blackbody_of(kelvin, number(&["scale"])?.unwrap_or(1.0))
                .map_err(|message| object.error(warnings, message))?
        }
        "uniform" => Value::Number(number(&["value"])?.unwrap_or(1.0)),
        "d65" => Value::Number(number(&["scale", "value"])?.unwrap_or(1.0)),
        "regular" | "irregular" => samples(object, warnings)?,
        _ => match object.property(&["color", "value"]) {
            Some(property) => property.value.clone(),
            None => return Err(object.error(warnings, "the colour has no value")),
        },
    };
    object.skip(&["lambda_min", "lambda_max"]);
    match constant(&value, role) {
        Some(color) if color.iter().all(|c| c.is_finite() && *c >= 0.0) => Ok(Color::Constant(color)),
        _ => Err(object.error(warnings, "a colour must be finite and not negative")),
    }
}

/// A spectrum of values at wavelengths that are evenly spaced or listed.
fn samples(object: &Object, warnings: &Warnings) -> Result<Value> {
    let list = |names: &[&str]| -> Result<Vec<f64>> {
        let text = object.text(names, warnings)?.unwrap_or_default();
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let numbers: std::result::Result<_, String> = words.map(super::values::number).collect();
        numbers.map_err(|message| object.error(warnings, message))
    };
    let values = list(&["values"])?;
    let mut wavelengths = list(&["wavelengths"])?;
    if wavelengths.is_empty() {
        let first = object.number(&["wavelength_min", "lambda_min"], warnings)?.unwrap_or(360.0);
        let last = object.number(&["wavelength_max", "lambda_max"], warnings)?.unwrap_or(830.0);
        let steps = values.len().saturating_sub(1).max(1) as f64;
        wavelengths = (0..values.len()).map(|i| first + (last - first) * (i as f64 / steps)).collect();
    }
    if wavelengths.len() != values.len() {
        return Err(object.error(warnings, "a spectrum has as many values as wavelengths"));
    }
    let pairs = wavelengths.into_iter().zip(values).map(|(nm, value)| [nm, value]).collect();
    Sampled::new(pairs).map(Value::Spectrum).map_err(|message| object.error(warnings, message))
}

fn sampler(object: &Object, warnings: &mut Warnings) -> Result<Sampler> {
    let wrap = |names: &[&str], default: Wrap, warnings: &mut Warnings| -> Result<Wrap> {
        Ok(match object.text(names, warnings)? {
            None => default,
            Some("repeat") => Wrap::Repeat,
            Some("mirror") => Wrap::Mirror,
            Some("clamp") => Wrap::Clamp,
            Some(other) => {
                let message =
                    format!("the wrap mode `{}` is not supported; the texture repeats", shorten(other));
                warnings.add(object.place(), message);
                Wrap::Repeat
            }
        })
    };
    let both = wrap(&["wrap_mode"], Wrap::Repeat, warnings)?;
    let wrap_u = wrap(&["wrap_mode_u"], both, warnings)?;
    let wrap_v = wrap(&["wrap_mode_v"], both, warnings)?;
    // Versions below 2 had filters over several texels, which their successors lack as well.
    let nearest = object.text(&["filter_type"], warnings)? == Some("nearest");
    Ok(Sampler { wrap_u, wrap_v, nearest })
}

/// The map of texture coordinates: `to_uv`, or the offsets and factors of versions below 2.
fn uv_transform(object: &Object, warnings: &mut Warnings) -> Result<TextureTransform> {
    let number = |names: &[&str], default: f64| {
        Ok::<_, lockstep_core::Error>(object.number(names, warnings)?.unwrap_or(default))
    };
    let offset = [number(&["uoffset"], 0.0)?, number(&["voffset"], 0.0)?];
    let both = number(&["uvscale"], 1.0)?;
    let scale = [number(&["uscale"], both)?, number(&["vscale"], both)?];
    let old = Matrix::scale([scale[0], scale[1], 1.0]).after(&Matrix::translate([offset[0], offset[1], 0.0]));
    let matrix = object.transform("to_uv", warnings)?.unwrap_or(old);
    let [[a, b, _, u], [c, d, _, v], _] = matrix.0;
    let offset = [u as f32, v as f32];
    if b == 0.0 && c == 0.0 {
        return Ok(TextureTransform { offset, rotation: 0.0, scale: [a as f32, d as f32] });
    }
    // Columns are (cos, -sin) times the first factor and (sin, cos) times the second.
    let first = (a * a + c * c).sqrt();
    if first == 0.0 {
        return Err(object.error(warnings, "the transform of texture coordinates is singular"));
    }
    let (cos, sin) = (a / first, -c / first);
    let second = b * sin + d * cos;
    if (b * cos - d * sin).abs() > 1e-4 * (second.abs() + first) {
        warnings.add(object.place(), "the shear of texture coordinates is left out");
    }
    Ok(TextureTransform { offset, rotation: sin.atan2(cos) as f32, scale: [first as f32, second as f32] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_is_undone_by_decoding() {
        for byte in 0..=255 {
            assert_eq!(encoded(SRGB_TO_LINEAR[usize::from(byte)]), byte);
        }
        assert_eq!((encoded(-1.0), encoded(2.0)), (0, 255));
    }
}
