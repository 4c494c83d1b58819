//! From materials to the nearest of the scattering models.

use super::Context;
use super::description::{Description, MaterialDefinition, MaterialUse, Version};
use super::params::{Params, Role, shorten};
use super::raster::Encoding;
use super::textures::{Textures, texels};
use super::values::{Value, combine};
use crate::spectrum::{Metal, conductor_reflectance, metal};
use lockstep_core::Result;
use lockstep_core::scene::MaterialKind;
use std::collections::HashMap;

/// Deepest nesting of mixed materials.
const MAX_MIX_DEPTH: usize = 16;

/// A surface's model and its inputs.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) kind: MaterialKind,
    /// Albedo, reflectance at normal incidence or tint.
    pub(super) color: Value,
    /// Perceptual roughness: the root of GGX's alpha.
    pub(super) roughness: Value,
    pub(super) metallic: f32,
    pub(super) transmission: f32,
    pub(super) ior: f32,
    /// The share of rays that see the surface.
    pub(super) opacity: Value,
    /// Heights of bumps in units of the scene.
    pub(super) bump: Option<Value>,
    /// A tangent-space normal map.
    pub(super) normals: Option<Value>,
}

impl Look {
    fn new(kind: MaterialKind, color: Value) -> Self {
        Self {
            kind,
            color,
            roughness: Value::grey(1.0),
            metallic: 0.0,
            transmission: 0.0,
            ior: 1.5,
            opacity: Value::grey(1.0),
            bump: None,
            normals: None,
        }
    }

    fn diffuse(color: Value) -> Self {
        Self::new(MaterialKind::Diffuse, color)
    }

    /// A dielectric layer of this index and roughness over a diffuse base.
    fn layered(color: Value, ior: f32, roughness: Value) -> Self {
        Self { ior, roughness, ..Self::new(MaterialKind::Principled, color) }
    }

    /// As a principled surface, to be mixed with others.
    fn principled(&self) -> Self {
        let look = Self { kind: MaterialKind::Principled, ..self.clone() };
        match self.kind {
            MaterialKind::Diffuse => Self { ior: 1.0, ..look },
            MaterialKind::Conductor => Self { metallic: 1.0, ..look },
            MaterialKind::Dielectric => Self { transmission: 1.0, ..look },
            MaterialKind::Principled => look,
        }
    }
}

/// The looks of all materials that are used.
#[derive(Default)]
pub(super) struct Looks {
    known: HashMap<usize, Look>,
}

/// A material's parameters, with all that they are read with.
struct Reader<'a, 'c, 'd> {
    params: &'a Params,
    textures: &'a mut Textures,
    context: &'a mut Context<'c, 'd>,
    place: String,
}

impl Looks {
    /// The look of a shape's material.
    pub(super) fn of(
        &mut self,
        used: &MaterialUse,
        description: &Description,
        textures: &mut Textures,
        context: &mut Context<'_, '_>,
        place: &str,
    ) -> Result<Look> {
        let index = match used {
            MaterialUse::Default => return Ok(Look::diffuse(Value::grey(0.5))),
            MaterialUse::Index(index) => *index,
            MaterialUse::Named(name) => named(name, description, context, place)?,
        };
        self.at(index, description, textures, context, 0)
    }

    fn at(
        &mut self,
        index: usize,
        description: &Description,
        textures: &mut Textures,
        context: &mut Context<'_, '_>,
        depth: usize,
    ) -> Result<Look> {
        if let Some(look) = self.known.get(&index) {
            return Ok(look.clone());
        }
        let definition = &description.materials[index];
        let place = match definition.name.as_str() {
            "" => definition.params.place.clone(),
            name => format!("{}, material `{}`", definition.params.place, shorten(name)),
        };
        let look = if definition.class == "mix" {
            self.mix(definition, &place, description, textures, context, depth)?
        } else {
            let params = &definition.params;
            let mut reader = Reader { params, textures, context, place };
            reader.look(definition)?
        };
        self.known.insert(index, look.clone());
        Ok(look)
    }

    /// Two materials in one: nearest is a surface of their mean parameters.
    fn mix(
        &mut self,
        definition: &MaterialDefinition,
        place: &str,
        description: &Description,
        textures: &mut Textures,
        context: &mut Context<'_, '_>,
        depth: usize,
    ) -> Result<Look> {
        let params = &definition.params;
        if depth >= MAX_MIX_DEPTH {
            let message = format!("materials are mixed more than {MAX_MIX_DEPTH} deep");
            return Err(context.warnings.error(place, message));
        }
        let names = match params.strings("materials") {
            [first, second] => [first.clone(), second.clone()],
            _ => match (params.string("namedmaterial1", context)?, params.string("namedmaterial2", context)?)
            {
                (Some(first), Some(second)) => [first.to_string(), second.to_string()],
                _ => return Err(context.warnings.error(place, "a `mix` needs the names of two materials")),
            },
        };
        let mut looks = Vec::new();
        for name in &names {
            let index = named(name, description, context, place)?;
            looks.push(self.at(index, description, textures, context, depth + 1)?);
        }
        let amount = if context.version == Version::Three {
            textures.color(params, "amount", Role::Reflectance, context)?
        } else {
            textures.float(params, "amount", context)?
        };
        // The share of the first is the amount in version 3, of the second in version 4.
        let amount = amount.unwrap_or(Value::grey(0.5));
        let second = match context.version {
            Version::Three => amount.map(|c| c.map(|v| 1.0 - v)),
            Version::Four => amount,
        };
        let [a, b] = [&looks[0], &looks[1]];
        if second.is_constant(0.0) || second.is_constant(1.0) {
            return Ok(if second.is_constant(0.0) { a.clone() } else { b.clone() });
        }
        let mut lerp = |x: &Value, y: &Value| -> Result<Value> {
            context.take_texels(texels(x).max(texels(y)).max(texels(&second)) as u64, place)?;
            Ok(combine([x, y, &second], |[x, y, t]| std::array::from_fn(|i| x[i] + (y[i] - x[i]) * t[i]))
                .value)
        };
        let opacity = lerp(&a.opacity, &b.opacity)?;
        // A surface that is not there makes the other one let rays through.
        for (absent, other) in [(a, b), (b, a)] {
            if absent.opacity.is_constant(0.0) {
                return Ok(Look { opacity, ..other.clone() });
            }
        }
        let is_same = a.kind == b.kind;
        let [x, y] = if is_same { [a.clone(), b.clone()] } else { [a.principled(), b.principled()] };
        let t = second.mean_grey();
        let between = |p: f32, q: f32| p + (q - p) * t;
        let look = Look {
            kind: x.kind,
            color: lerp(&x.color, &y.color)?,
            roughness: lerp(&x.roughness, &y.roughness)?,
            metallic: between(x.metallic, y.metallic),
            transmission: between(x.transmission, y.transmission),
            ior: between(x.ior, y.ior),
            opacity,
            bump: x.bump.or(y.bump),
            normals: x.normals.or(y.normals),
        };
        if !(is_same && a.kind == MaterialKind::Diffuse) {
            context.warnings.add(place, "mixed materials become one whose parameters are their mean");
        }
        Ok(look)
    }
}

fn named(name: &str, description: &Description, context: &Context<'_, '_>, place: &str) -> Result<usize> {
    description.named_materials.get(name).copied().ok_or_else(|| {
        let message = format!("there is no material `{}`", shorten(name));
        context.warnings.error(place, message)
    })
}

/// The index of refraction whose reflectance at normal incidence is this.
fn ior_of_reflectance(f0: f32) -> f32 {
    let root = f0.clamp(0.0, 0.36).sqrt();
    ((1.0 + root) / (1.0 - root)).clamp(1.0, 4.0)
}

/// Reflectance at normal incidence of a dielectric.
fn reflectance_of_ior(ior: f32) -> f32 {
    let r = (ior - 1.0) / (ior + 1.0);
    r * r
}

fn luminance([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

impl Reader<'_, '_, '_> {
    fn warn(&mut self, message: impl Into<String>) {
        self.context.warnings.add(self.place.as_str(), message);
    }

    fn color(&mut self, name: &str, default: f32) -> Result<Value> {
        let value = self.textures.color(self.params, name, Role::Reflectance, self.context)?;
        Ok(value.unwrap_or(Value::grey(default)))
    }

    fn float(&mut self, name: &str) -> Result<Option<Value>> {
        self.textures.float(self.params, name, self.context)
    }

    /// A number; a texture's mean with a warning.
    fn number(&mut self, name: &str, default: f32) -> Result<f32> {
        Ok(match self.float(name)? {
            None => default,
            Some(Value::Constant([v, ..])) => v,
            Some(value) => {
                self.warn(format!("the texture of `{name}` is replaced by its mean"));
                value.mean_grey()
            }
        })
    }

    /// An index of refraction by either of two names, as a number or a spectrum.
    fn ior(&mut self, names: &[&str], default: f32) -> Result<f32> {
        for name in names {
            if let Some(value) = self.textures.color(self.params, name, Role::Plain, self.context)? {
                let [low, mid, high] = value.mean();
                if (low - high).abs() > 1e-3 {
                    self.warn("dispersion is not rendered: the index of refraction is that of green");
                }
                let ior = if (low - high).abs() > 1e-3 { mid } else { (low + mid + high) / 3.0 };
                return Ok(self.limited_ior(ior));
            }
        }
        Ok(default)
    }

    fn limited_ior(&mut self, ior: f32) -> f32 {
        if (1.0..=4.0).contains(&ior) {
            return ior;
        }
        self.warn(format!("the index of refraction {ior} is limited to between 1 and 4"));
        if ior.is_finite() { ior.clamp(1.0, 4.0) } else { 1.5 }
    }

    /// [`Self::roughness`] of version 3's glass, which is smooth at zero whatever the remapping.
    fn glass_roughness(&mut self) -> Result<Value> {
        let mut all_zero = true;
        for name in ["roughness", "uroughness", "vroughness"] {
            all_zero &= self.float(name)?.is_none_or(|value| value.is_constant(0.0));
        }
        let roughness = self.roughness("", 0.0)?;
        Ok(if all_zero { Value::grey(0.0) } else { roughness })
    }

    /// Perceptual roughness, the root of GGX's alpha, from the parameters `u…` and `v…` or the one of both.
    fn roughness(&mut self, prefix: &str, default: f32) -> Result<Value> {
        let both = self.float(&format!("{prefix}roughness"))?;
        let (u, v) =
            (self.float(&format!("{prefix}uroughness"))?, self.float(&format!("{prefix}vroughness"))?);
        let remap = self.params.flag("remaproughness", true, self.context)?;
        let alpha = |r: f32| -> f32 {
            match (remap, self.context.version) {
                (false, _) => r,
                (true, Version::Four) => r.max(0.0).sqrt(),
                (true, Version::Three) => {
                    // The polynomial in the logarithm that version 3 has.
                    let x = r.max(1e-3).ln();
                    1.621_42 + x * (0.819_955 + x * (0.1734 + x * (0.017_120_1 + x * 0.000_640_711)))
                }
            }
        };
        let perceptual = |r: f32| alpha(r).clamp(0.0, 1.0).sqrt();
        let default = both.unwrap_or(Value::grey(default));
        let [u, v] = [u, v].map(|part| part.unwrap_or_else(|| default.clone()));
        if u == v {
            return Ok(u.map(|c| c.map(perceptual)));
        }
        let message = "roughness that differs by direction is replaced by its geometric mean";
        self.context.warnings.add(self.place.as_str(), message);
        let mean =
            combine([&u, &v], |[u, v]| std::array::from_fn(|i| (perceptual(u[i]) * perceptual(v[i])).sqrt()));
        Ok(mean.value)
    }

    /// Reflectance at normal incidence of a conductor by its index and absorption, each with this prefix.
    fn conductor(&mut self, prefix: &str, outside: f32) -> Result<Value> {
        let (eta, k) = (format!("{prefix}eta"), format!("{prefix}k"));
        let copper = metal("Cu").unwrap_or(Metal { eta: [0.2, 0.92, 1.1], k: [3.9, 2.45, 2.14] });
        let eta = self.textures.color(self.params, &eta, Role::Plain, self.context)?;
        let k = self.textures.color(self.params, &k, Role::Plain, self.context)?;
        let eta = eta.unwrap_or(Value::Constant(copper.eta));
        let k = k.unwrap_or(Value::Constant(copper.k));
        Ok(combine([&eta, &k], |[eta, k]| conductor_reflectance(&Metal { eta, k }, outside)).value)
    }

    fn look(&mut self, definition: &MaterialDefinition) -> Result<Look> {
        self.params.get("type");
        let mut look = match definition.class.as_str() {
            "matte" => self.matte()?,
            "plastic" => self.plastic()?,
            "substrate" => {
                let (base, specular) = (self.color("Kd", 0.5)?, self.color("Ks", 0.5)?);
                self.warn("the model of Ashikhmin and Shirley is rendered as a dielectric layer over a diffuse base");
                let ior = ior_of_reflectance(luminance(specular.mean()));
                Look::layered(base, ior, self.roughness("", 0.1)?)
            }
            "metal" => Look {
                roughness: self.roughness("", 0.01)?,
                ..Look::new(MaterialKind::Conductor, self.conductor("", 1.0)?)
            },
            "mirror" => {
                self.warn("a mirror reflects more towards grazing angles, as a metal does");
                let color = self.color("Kr", 0.9)?;
                Look { roughness: Value::grey(0.0), ..Look::new(MaterialKind::Conductor, color) }
            }
            "glass" => self.glass()?,
            "uber" => self.uber()?,
            "translucent" => {
                let base = self.color("Kd", 0.25)?;
                let (reflect, transmit) = (self.color("reflect", 0.5)?, self.color("transmit", 0.5)?);
                if !self.color("Ks", 0.25)?.is_constant(0.0) {
                    self.params.get("roughness");
                    self.params.get("remaproughness");
                    self.warn("the glossy part of `translucent` is left out");
                }
                self.transmitting(&base, &reflect, &transmit)
            }
            "diffusetransmission" => {
                let scale = self.number("scale", 1.0)?;
                let reflect = self.color("reflectance", 0.25)?.times([scale; 3]);
                let transmit = self.color("transmittance", 0.25)?.times([scale; 3]);
                self.transmitting(&Value::grey(1.0), &reflect, &transmit)
            }
            "disney" => self.disney()?,
            "diffuse" => Look::diffuse(self.color("reflectance", 0.5)?),
            "coateddiffuse" => {
                let base = self.color("reflectance", 0.5)?;
                self.coat("the coat of `coateddiffuse` scatters once, without a medium inside")?;
                let ior = self.ior(&["eta"], 1.5)?;
                Look::layered(base, ior, self.roughness("", 0.0)?)
            }
            "conductor" => {
                let color =
                    match self.textures.color(self.params, "reflectance", Role::Reflectance, self.context)? {
                        Some(color) => color,
                        None => self.conductor("", 1.0)?,
                    };
                Look { roughness: self.roughness("", 0.0)?, ..Look::new(MaterialKind::Conductor, color) }
            }
            "coatedconductor" => self.coated_conductor()?,
            "dielectric" => {
                let ior = self.ior(&["eta"], 1.5)?;
                let roughness = self.roughness("", 0.0)?;
                Look { ior, roughness, ..Look::new(MaterialKind::Dielectric, Value::grey(1.0)) }
            }
            "thindielectric" => {
                self.warn("a thin wall is rendered as principled and never perfectly smooth");
                let ior = self.ior(&["eta"], 1.5)?;
                Look { transmission: 1.0, ..Look::layered(Value::grey(1.0), ior, Value::grey(0.0)) }
            }
            "interface" | "none" | "" => {
                Look { opacity: Value::grey(0.0), ..Look::diffuse(Value::grey(0.0)) }
            }
            "subsurface" | "kdsubsurface" => {
                let name = if definition.class == "kdsubsurface" { "Kd" } else { "reflectance" };
                for other in ["mfp", "name", "sigma_a", "sigma_s", "sigma_s_prime", "scale", "g", "Kr", "Kt"]
                {
                    self.params.get(other);
                }
                self.warn("light does not scatter below surfaces: a dielectric layer over a diffuse base is rendered");
                let base = self.color(name, 0.5)?;
                let ior = self.ior(&["eta"], 1.33)?;
                Look::layered(base, ior, self.roughness("", 0.0)?)
            }
            "hair" => {
                for other in ["sigma_a", "eumelanin", "pheomelanin", "eta", "beta_m", "beta_n", "alpha"] {
                    self.params.get(other);
                }
                self.warn("hair is rendered as a diffuse surface");
                let color = match self.params.has("reflectance") {
                    true => self.color("reflectance", 0.3)?,
                    false => self.color("color", 0.3)?,
                };
                Look::diffuse(color)
            }
            class @ ("measured" | "fourier") => {
                self.params.get("filename");
                self.params.get("bsdffile");
                self.warn(format!(
                    "the material `{class}` is measured data that is not read; grey plastic is rendered"
                ));
                Look::layered(Value::grey(0.5), 1.5, Value::grey(0.5))
            }
            other => {
                let message = format!("there is no material `{}`", shorten(other));
                return Err(self.context.warnings.error(self.place.as_str(), message));
            }
        };
        self.relief(&mut look)?;
        let unused: Vec<String> = self.params.unused().map(shorten).collect();
        for name in unused {
            self.warn(format!("the parameter `{name}` of the material `{}` is not used", definition.class));
        }
        Ok(look)
    }

    /// Bumps and normal maps.
    fn relief(&mut self, look: &mut Look) -> Result<()> {
        for name in ["bumpmap", "displacement"] {
            if let Some(heights @ Value::Image(_)) = self.float(name)? {
                look.bump = Some(heights);
            }
        }
        if let Some(name) = self.params.string("normalmap", self.context)?.map(str::to_string) {
            let place = self.place.clone();
            look.normals = self.textures.file(&name, Encoding::Linear, &place, self.context)?;
        }
        Ok(())
    }

    fn matte(&mut self) -> Result<Look> {
        let color = self.color("Kd", 0.5)?;
        if self.float("sigma")?.is_some_and(|sigma| !sigma.is_constant(0.0)) {
            self.warn(
                "the roughness `sigma` of matte surfaces (Oren and Nayar) is left out: they are Lambertian",
            );
        }
        Ok(Look::diffuse(color))
    }

    fn plastic(&mut self) -> Result<Look> {
        let (base, specular) = (self.color("Kd", 0.25)?, self.color("Ks", 0.25)?);
        if specular.is_constant(0.0) {
            self.roughness("", 0.1)?;
            return Ok(Look::diffuse(base));
        }
        self.warn("plastic is rendered as a dielectric layer over a diffuse base, which gets what the layer lets through");
        let ior = ior_of_reflectance(reflectance_of_ior(1.5) * luminance(specular.mean()));
        Ok(Look::layered(base, ior, self.roughness("", 0.1)?))
    }

    fn glass(&mut self) -> Result<Look> {
        let (reflect, transmit) = (self.color("Kr", 1.0)?, self.color("Kt", 1.0)?);
        let ior = self.ior(&["eta", "index"], 1.5)?;
        let roughness = self.glass_roughness()?;
        // A surface that transmits nothing is a dielectric layer over black.
        if transmit.is_constant(0.0) {
            let f0 = reflectance_of_ior(ior) * luminance(reflect.mean());
            return Ok(Look::layered(Value::grey(0.0), ior_of_reflectance(f0), roughness));
        }
        if reflect != transmit {
            self.warn("glass reflects with the tint `Kt` of what it transmits");
        }
        Ok(Look { ior, roughness, ..Look::new(MaterialKind::Dielectric, transmit) })
    }

    fn uber(&mut self) -> Result<Look> {
        let (base, specular) = (self.color("Kd", 0.25)?, self.color("Ks", 0.25)?);
        let (mirror, transmit) = (self.color("Kr", 0.0)?, self.color("Kt", 0.0)?);
        let ior = self.ior(&["eta", "index"], 1.5)?;
        let roughness = self.roughness("", 0.1)?;
        let opacity = self.color("opacity", 1.0)?;
        if let Value::Constant([r, g, b]) = opacity
            && (r != g || g != b)
        {
            self.warn("a coloured opacity lets all colours through by their mean");
        }
        let opacity = opacity.map(|c| [(c[0] + c[1] + c[2]) / 3.0; 3]);
        let [specular, mirror, transmit] = [specular, mirror, transmit].map(|v| luminance(v.mean()));
        if specular == 0.0 && mirror == 0.0 && transmit == 0.0 {
            return Ok(Look { opacity, ..Look::diffuse(base) });
        }
        self.warn(
            "the material `uber` is rendered as a dielectric layer over a diffuse or transmitting base",
        );
        let f0 = reflectance_of_ior(ior) * (specular + mirror);
        let roughness = if mirror > specular { Value::grey(0.0) } else { roughness };
        let body = luminance(base.mean());
        let transmission = if transmit > 0.0 { transmit / (transmit + body) } else { 0.0 };
        let color = if transmission > 0.5 { Value::grey(transmit.min(1.0)) } else { base };
        Ok(Look { transmission, opacity, ..Look::layered(color, ior_of_reflectance(f0), roughness) })
    }

    /// A thin surface that reflects and transmits diffusely.
    fn transmitting(&mut self, base: &Value, reflect: &Value, transmit: &Value) -> Look {
        let (r, t) = (luminance(reflect.mean()), luminance(transmit.mean()));
        if t == 0.0 {
            let color = combine([base, reflect], |[b, r]| std::array::from_fn(|i| b[i] * r[i])).value;
            return Look::diffuse(color);
        }
        self.warn("diffuse transmission is rendered as that of a thin wall of roughness 1");
        let color =
            combine([base, reflect, transmit], |[b, r, t]| std::array::from_fn(|i| b[i] * (r[i] + t[i])))
                .value;
        Look { transmission: t / (r + t), ..Look::layered(color, 1.0, Value::grey(1.0)) }
    }

    fn disney(&mut self) -> Result<Look> {
        let color = self.color("color", 0.5)?;
        let ior = self.ior(&["eta"], 1.5)?;
        let roughness = self.float("roughness")?.unwrap_or(Value::grey(0.5));
        let (metallic, transmission) = (self.number("metallic", 0.0)?, self.number("spectrans", 0.0)?);
        for name in ["anisotropic", "clearcoat", "sheen", "speculartint", "flatness", "difftrans"] {
            if self.number(name, 0.0)? != 0.0 {
                self.warn(format!("the part `{name}` of the material `disney` is left out"));
            }
        }
        for name in ["clearcoatgloss", "sheentint", "thin", "scatterdistance"] {
            self.params.get(name);
        }
        let (metallic, transmission) = (metallic.clamp(0.0, 1.0), transmission.clamp(0.0, 1.0));
        Ok(Look { metallic, transmission, ..Look::layered(color, ior, roughness) })
    }

    /// Parameters of the medium within a coat, which is left out.
    fn coat(&mut self, message: &str) -> Result<()> {
        for name in ["thickness", "g", "maxdepth", "nsamples"] {
            self.params.get(name);
        }
        if !self.color("albedo", 0.0)?.is_constant(0.0) {
            self.warn(message);
        }
        Ok(())
    }

    fn coated_conductor(&mut self) -> Result<Look> {
        self.coat("the medium within the coat of `coatedconductor` is left out")?;
        for name in ["interface.roughness", "interface.uroughness", "interface.vroughness"] {
            self.params.get(name);
        }
        let outside = self.ior(&["interface.eta"], 1.5)?;
        self.params.get("thickness");
        self.warn("the coat of `coatedconductor` is left out; the metal reflects as it does below it");
        let color = match self.textures.color(self.params, "reflectance", Role::Reflectance, self.context)? {
            Some(color) => color,
            None => self.conductor("conductor.", outside)?,
        };
        Ok(Look {
            roughness: self.roughness("conductor.", 0.0)?,
            ..Look::new(MaterialKind::Conductor, color)
        })
    }
}
