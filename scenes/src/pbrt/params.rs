//! Lists of parameters: `"type name" values`.

use super::Context;
use super::named_spectra::named_spectrum;
use crate::spectrum::{Sampled, xyz_to_rgb};
use lockstep_core::Result;
use std::cell::Cell;

/// The values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    Numbers(Vec<f64>),
    Strings(Vec<String>),
    Flags(Vec<bool>),
}

/// How the values of a parameter are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Float,
    /// Points, vectors and normals of this many components.
    Vector(usize),
    Flag,
    String,
    Texture,
    Rgb,
    Xyz,
    Blackbody,
    Spectrum,
}

impl Kind {
    /// The kind of a type's name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "integer" => Self::Integer,
            "float" => Self::Float,
            "point" | "point3" | "vector" | "vector3" | "normal" | "normal3" => Self::Vector(3),
            "point2" | "vector2" => Self::Vector(2),
            "bool" => Self::Flag,
            "string" => Self::String,
            "texture" => Self::Texture,
            "rgb" | "color" => Self::Rgb,
            "xyz" => Self::Xyz,
            "blackbody" => Self::Blackbody,
            "spectrum" => Self::Spectrum,
            _ => return None,
        })
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) values: Values,
    /// For [`Kind::Texture`]: the textures that have this name where the parameter stands, for numbers and for
    /// colours.
    pub(super) textures: [Option<usize>; 2],
    used: Cell<bool>,
}

impl Param {
    pub(super) fn new(kind: Kind, name: String, values: Values) -> Self {
        Self { kind, name, values, textures: [None; 2], used: Cell::new(false) }
    }
}

/// The parameters of a directive, with its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    pub(super) list: Vec<Param>,
    /// `line N`, with the file's name where that is included.
    pub(super) place: String,
}

/// Whether a spectrum is light or a reflectance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Light,
    Reflectance,
    /// An index of refraction, or another quantity without bounds.
    Plain,
}

/// A spectrum parameter's value as linear RGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Color {
    pub(super) rgb: [f32; 3],
    /// Luminance of the spectrum by which version 4 divides light that is not given as RGB; else 1.
    pub(super) luminance: f32,
}

/// The value that a parameter has: a number or colour, or textures of its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source<T> {
    Value(T),
    Texture(usize),
}

impl Params {
    /// The parameter of this name, which counts as used.
    pub(super) fn get(&self, name: &str) -> Option<&Param> {
        let found = self.list.iter().rev().find(|p| p.name == name);
        if let Some(param) = found {
            param.used.set(true);
        }
        found
    }

    /// Counts every parameter as used.
    pub(super) fn use_all(&self) {
        self.list.iter().for_each(|param| param.used.set(true));
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.list.iter().any(|p| p.name == name)
    }

    /// Names of parameters that nothing has asked for.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|p| !p.used.get()).map(|p| p.name.as_str())
    }

    fn wrong(&self, name: &str, wanted: &str, context: &Context<'_, '_>) -> lockstep_core::Error {
        context.warnings.error(&self.place, format!("the parameter `{name}` must be {wanted}"))
    }

    /// All numbers of a parameter.
    pub(super) fn numbers(&self, name: &str, context: &Context<'_, '_>) -> Result<Option<&[f64]>> {
        match self.get(name).map(|p| &p.values) {
            None => Ok(None),
            Some(Values::Numbers(numbers)) => Ok(Some(numbers)),
            Some(_) => Err(self.wrong(name, "a list of numbers", context)),
        }
    }

    /// A single number.
    pub(super) fn number(&self, name: &str, context: &Context<'_, '_>) -> Result<Option<f64>> {
        match self.numbers(name, context)? {
            None => Ok(None),
            Some(&[number]) => Ok(Some(number)),
            Some(_) => Err(self.wrong(name, "one number", context)),
        }
    }

    /// A single number, or `default`.
    pub(super) fn float(&self, name: &str, default: f64, context: &Context<'_, '_>) -> Result<f64> {
        Ok(self.number(name, context)?.unwrap_or(default))
    }

    /// `N` numbers for each item.
    pub(super) fn tuples<const N: usize>(
        &self,
        name: &str,
        context: &Context<'_, '_>,
    ) -> Result<Option<Vec<[f32; N]>>> {
        let Some(numbers) = self.numbers(name, context)? else {
            return Ok(None);
        };
        if !numbers.len().is_multiple_of(N) {
            return Err(self.wrong(name, &format!("{N} numbers for each item"), context));
        }
        Ok(Some(numbers.chunks_exact(N).map(|c| std::array::from_fn(|i| c[i] as f32)).collect()))
    }

    /// Three numbers.
    pub(super) fn triple(&self, name: &str, context: &Context<'_, '_>) -> Result<Option<[f64; 3]>> {
        match self.numbers(name, context)? {
            None => Ok(None),
            Some(&[x, y, z]) => Ok(Some([x, y, z])),
            Some(_) => Err(self.wrong(name, "three numbers", context)),
        }
    }

    /// Whole numbers from zero, such as indices.
    pub(super) fn indices(&self, name: &str, context: &Context<'_, '_>) -> Result<Option<Vec<u32>>> {
        let Some(numbers) = self.numbers(name, context)? else {
            return Ok(None);
        };
        let whole =
            |&v: &f64| (v.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&v)).then_some(v as u32);
        let indices: Option<Vec<u32>> = numbers.iter().map(whole).collect();
        indices.map(Some).ok_or_else(|| self.wrong(name, "whole numbers from zero", context))
    }

    /// A truth value, also as a string.
    pub(super) fn flag(&self, name: &str, default: bool, context: &Context<'_, '_>) -> Result<bool> {
        match self.get(name).map(|p| &p.values) {
            None => Ok(default),
            Some(Values::Flags(flags)) if flags.len() == 1 => Ok(flags[0]),
            Some(Values::Strings(words))
                if words.len() == 1 && matches!(words[0].as_str(), "true" | "false") =>
            {
                Ok(words[0] == "true")
            }
            Some(_) => Err(self.wrong(name, "true or false", context)),
        }
    }

    /// A single string.
    pub(super) fn string(&self, name: &str, context: &Context<'_, '_>) -> Result<Option<&str>> {
        match self.get(name).map(|p| &p.values) {
            None => Ok(None),
            Some(Values::Strings(words)) if words.len() == 1 => Ok(Some(&words[0])),
            Some(_) => Err(self.wrong(name, "one string", context)),
        }
    }

    /// All strings of a parameter.
    pub(super) fn strings(&self, name: &str) -> &[String] {
        match self.get(name).map(|p| &p.values) {
            Some(Values::Strings(words)) => words,
            _ => &[],
        }
    }

    /// The texture that a parameter names, if it names one; an error where there is none of that name.
    fn texture(&self, param: &Param, colors: bool, context: &Context<'_, '_>) -> Result<usize> {
        let [of_numbers, of_colors] = param.textures;
        let found = if colors { of_colors.or(of_numbers) } else { of_numbers.or(of_colors) };
        found.ok_or_else(|| {
            let name = self.strings(&param.name).first().map(String::as_str).unwrap_or_default();
            let message =
                format!("there is no texture `{}` for the parameter `{}`", shorten(name), param.name);
            context.warnings.error(&self.place, message)
        })
    }

    /// A number or a texture.
    pub(super) fn float_or_texture(
        &self,
        name: &str,
        context: &Context<'_, '_>,
    ) -> Result<Option<Source<f64>>> {
        match self.get(name) {
            None => Ok(None),
            Some(param) if param.kind == Kind::Texture => {
                Ok(Some(Source::Texture(self.texture(param, false, context)?)))
            }
            Some(_) => Ok(self.number(name, context)?.map(Source::Value)),
        }
    }

    /// A colour or a texture.
    pub(super) fn color_or_texture(
        &self,
        name: &str,
        role: Role,
        context: &Context<'_, '_>,
    ) -> Result<Option<Source<Color>>> {
        match self.get(name) {
            None => Ok(None),
            Some(param) if param.kind == Kind::Texture => {
                Ok(Some(Source::Texture(self.texture(param, true, context)?)))
            }
            Some(_) => Ok(self.color(name, role, context)?.map(Source::Value)),
        }
    }

    /// A spectrum as linear RGB. Spectra of files are read.
    pub(super) fn color(&self, name: &str, role: Role, context: &Context<'_, '_>) -> Result<Option<Color>> {
        let Some(param) = self.get(name) else {
            return Ok(None);
        };
        let plain = |rgb: [f32; 3]| Ok(Some(Color { rgb, luminance: 1.0 }));
        match (param.kind, &param.values) {
            (Kind::Rgb, Values::Numbers(v)) if v.len() == 3 => plain([v[0], v[1], v[2]].map(|c| c as f32)),
            (Kind::Xyz, Values::Numbers(v)) if v.len() == 3 => {
                plain(xyz_to_rgb([v[0], v[1], v[2]]).map(|c| c.max(0.0) as f32))
            }
            (Kind::Float, Values::Numbers(v)) if v.len() == 1 => plain([v[0] as f32; 3]),
            (Kind::Blackbody, Values::Numbers(v)) if !v.is_empty() && v[0] > 0.0 => {
                let factor = v.get(1).copied().unwrap_or(1.0);
                let failed =
                    |message: String| context.warnings.error(&self.place, format!("`{name}`: {message}"));
                blackbody(v[0], factor).map(Some).map_err(failed)
            }
            (Kind::Spectrum, values) => {
                if let Values::Strings(words) = values
                    && let [word] = words.as_slice()
                    && let Some(color) = named_spectrum(word)
                {
                    return Ok(Some(color));
                }
                let sampled = self.sampled(name, values, context)?;
                Ok(Some(of_spectrum(&sampled, role)))
            }
            _ => Err(self.wrong(name, "a spectrum", context)),
        }
    }

    fn sampled(&self, name: &str, values: &Values, context: &Context<'_, '_>) -> Result<Sampled> {
        let failed = |message: String| context.warnings.error(&self.place, format!("`{name}`: {message}"));
        match values {
            Values::Numbers(numbers) if numbers.len().is_multiple_of(2) => {
                Sampled::new(numbers.chunks_exact(2).map(|c| [c[0], c[1]]).collect()).map_err(failed)
            }
            Values::Strings(words) if words.len() == 1 => {
                let path = context.access.folder.join(&words[0]);
                let bytes = context.access.read(&path).map_err(|error| {
                    let word = shorten(&words[0]);
                    failed(format!("the spectrum `{word}` is neither known by its name nor read: {error}"))
                })?;
                Sampled::parse_file(&bytes).map_err(failed)
            }
            _ => Err(failed("pairs of wavelength and value, a name or a file are expected".into())),
        }
    }
}

/// A black body whose spectrum is 1 at its peak, times a factor.
fn blackbody(kelvin: f64, factor: f64) -> Result<Color, String> {
    // Planck's law with h c / k in nm K, without its constant factor, and Wien's displacement law.
    let planck = |nm: f64| nm.powi(-5) / ((1.438_776_877e7 / (nm * kelvin)).exp() - 1.0);
    let peak = planck(2.897_771_955e6 / kelvin);
    let nm = (360..=830).step_by(5).map(f64::from);
    let spectrum = Sampled::new(nm.map(|nm| [nm, factor * planck(nm) / peak]).collect())?;
    Ok(of_spectrum(&spectrum, Role::Light))
}

fn of_spectrum(sampled: &Sampled, role: Role) -> Color {
    let luminance = if role == Role::Light { sampled.xyz()[1] as f32 } else { 1.0 };
    let rgb = match role {
        Role::Light => sampled.emission(),
        Role::Reflectance => sampled.reflectance(),
        Role::Plain => sampled.unbounded(),
    };
    Color { rgb, luminance }
}

/// A word of a file for a message.
pub(super) fn shorten(word: &str) -> String {
    word.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_black_body_has_its_luminance_and_hot_ones_are_blue() {
        let (warm, hot) = (blackbody(2856.0, 2.0).unwrap(), blackbody(12_000.0, 1.0).unwrap());
        assert!(warm.rgb[0] > 2.0 * warm.rgb[2] && hot.rgb[2] > hot.rgb[0], "{warm:?} {hot:?}");
        let luminance = |c: Color| 0.2126 * c.rgb[0] + 0.7152 * c.rgb[1] + 0.0722 * c.rgb[2];
        assert!((luminance(warm) / warm.luminance - 1.0).abs() < 0.02, "{warm:?}");
        assert!(blackbody(f64::NAN, 1.0).is_err());
    }
}
