//! Scattering models as the nearest surfaces of the core.

use super::object::{Class, Object, shorten};
use super::plastic::Base;
use super::surface::{Relief, Surface, grey};
use super::textures::{Color, Role, Source, Textures};
use crate::spectrum::{Metal, conductor_reflectance, index_names, index_of, metal, metal_names};
use crate::suggest;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::scene::{Material, MaterialKind};

/// Deepest nesting of scattering models.
const MOST_LEVELS: usize = 16;

/// The index of refraction outside where a file names none: that of air.
const AIR: f32 = 1.000_277;

/// The index of glass where a file names none: that of BK7.
const GLASS: f32 = 1.5046;

/// The index of plastic where a file names none: that of polypropylene.
const PLASTIC: f32 = 1.49;

/// GGX alpha where a file names none.
const ALPHA: f64 = 0.1;

/// Highest index of refraction that the core knows.
const HIGHEST_INDEX: f32 = 4.0;

/// A scattering model as a surface. `depth` is how many others it is nested in.
pub(super) fn surface(
    source: &Source<'_>,
    textures: &mut Textures,
    object: &Object,
    depth: usize,
    warnings: &mut Warnings,
) -> Result<Surface> {
    if depth >= MOST_LEVELS {
        return Err(object.error(warnings, "surfaces are nested too deep; does one refer to itself?"));
    }
    let mut reader = Reader { source, textures, object, depth, warnings };
    let out = reader.read()?;
    object.warn_of_unread(reader.warnings);
    Ok(out)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    textures: &'a mut Textures,
    object: &'a Object,
    depth: usize,
    warnings: &'a mut Warnings,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<Surface> {
        let rough = self.object.plugin.starts_with("rough");
        match self.object.plugin.as_str() {
            "diffuse" | "roughdiffuse" | "" => self.diffuse(rough),
            "dielectric" | "roughdielectric" => self.dielectric(rough),
            "thindielectric" => self.thin_dielectric(),
            "conductor" | "roughconductor" => self.conductor(rough),
            "plastic" | "roughplastic" => self.plastic(rough),
            "principled" => self.principled(false),
            "principledthin" => self.principled(true),
            "mask" => self.mask(),
            "twosided" => self.twosided(),
            "bumpmap" | "bump" => self.bump_map(),
            "normalmap" => self.normal_map(),
            "blendbsdf" => self.blend(),
            "mixturebsdf" => self.mixture(),
            "coating" | "roughcoating" => {
                self.object.skip_all();
                self.warn("the coating is left out");
                self.only_nested()
            }
            "phong" => self.phong(),
            "null" => Ok(Surface { hidden: true, ..self.grey(0.0) }),
            "difftrans" => {
                let color = self.color(&["transmittance"], 0.5)?;
                self.warn("a surface that transmits diffusely reflects here in place of that");
                Ok(Surface::new(Material::diffuse([0.0; 3]), color))
            }
            "ward" | "hk" | "irawan" | "hair" | "measured" | "measured_polarized" | "polarizer"
            | "retarder" | "circular" | "pplastic" => {
                self.object.skip_all();
                let plugin = shorten(&self.object.plugin);
                self.warn(&format!("surfaces of the type `{plugin}` are not supported; grey is used"));
                Ok(self.grey(0.5))
            }
            other => {
                let near = suggest::nearest(other, KNOWN.iter().copied());
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                Err(self.error(format!("surfaces of the type `{}` are not known{hint}", shorten(other))))
            }
        }
    }

    fn error(&self, message: impl Into<String>) -> lockstep_core::Error {
        self.object.error(self.warnings, message)
    }

    fn warn(&mut self, message: &str) {
        self.warnings.add(self.object.place(), message);
    }

    /// Warns that a surface without `twosided` is black from behind in Mitsuba.
    fn warn_of_back(&mut self) {
        if self.depth == 0 {
            let message = "the back of the surface reflects too; in Mitsuba it is black without `twosided`";
            self.warnings.add(self.object.place(), message);
        }
    }

    fn grey(&self, value: f32) -> Surface {
        Surface::new(Material::diffuse([0.0; 3]), Color::Constant([value; 3]))
    }

    fn number(&self, names: &[&str], default: f64) -> Result<f64> {
        Ok(self.object.number(names, self.warnings)?.unwrap_or(default))
    }

    fn color(&mut self, names: &[&str], default: f32) -> Result<Color> {
        let color = self.source.color(self.textures, self.object, names, Role::Reflectance, self.warnings)?;
        let color = color.unwrap_or(Color::Constant([default; 3]));
        if let Color::Constant(c) = &color
            && c.iter().any(|v| *v > 1.0)
        {
            self.warn("a surface cannot reflect more than arrives; its colour is limited to 1");
            return Ok(Color::Constant(c.map(|v| v.min(1.0))));
        }
        Ok(color)
    }

    /// The tint of a lobe, which is white in a physical scene.
    fn tint(&mut self, name: &str) -> Result<Color> {
        self.color(&[name], 1.0)
    }

    /// An index of refraction by name or number.
    fn index(&mut self, names: &[&str], default: f32) -> Result<f32> {
        let Some(property) = self.object.property(names) else { return Ok(default) };
        let super::object::Value::Text(name) = &property.value else {
            let number = self.number(names, 1.0)? as f32;
            return if number > 0.0 {
                Ok(number)
            } else {
                Err(self.error("an index of refraction is positive"))
            };
        };
        index_of(name).ok_or_else(|| {
            let near = suggest::nearest(name, index_names());
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            self.error(format!("there is no material `{}` with an index of refraction{hint}", shorten(name)))
        })
    }

    /// The index inside over that outside, at least 1 and whether it had to be inverted for that.
    fn relative_index(&mut self, default: f32) -> Result<(f32, bool)> {
        let inside = self.index(&["int_ior", "ior"], default)?;
        let relative = inside / self.index(&["ext_ior"], AIR)?;
        let (index, turned) = if relative < 1.0 { (1.0 / relative, true) } else { (relative, false) };
        if index > HIGHEST_INDEX {
            self.warn("the index of refraction is limited to 4");
        }
        Ok((index.min(HIGHEST_INDEX), turned))
    }

    /// Perceptual roughness, whose square is alpha; zero for smooth surfaces.
    fn roughness(&mut self, rough: bool) -> Result<f32> {
        self.object.skip(&["sample_visible", "sampling"]);
        if !rough {
            return Ok(0.0);
        }
        match self.object.text(&["distribution"], self.warnings)? {
            Some("ggx") => {}
            Some("as" | "phong") => self.warn("the microfacets are distributed as by GGX of the same alpha"),
            // Beckmann is the default.
            _ => self.warn("the microfacets are distributed as by GGX of the same alpha, which has longer tails than Beckmann's distribution"),
        }
        if matches!(self.object.plugin.as_str(), "roughconductor" | "roughdielectric") {
            self.warn(
                "microfacets mask by Smith's height-correlated term here, by the separable one in Mitsuba",
            );
        }
        let mut alpha = |names: &[&str]| -> Result<Option<f32>> {
            let color =
                self.source.color(self.textures, self.object, names, Role::Reflectance, self.warnings)?;
            if matches!(color, Some(Color::Map(_))) {
                let message = "the texture of roughness is replaced by its mean";
                self.warnings.add(self.object.place(), message);
            }
            Ok(color.map(|color| color.mean_value()))
        };
        let both = alpha(&["alpha"])?;
        let (u, v) = (alpha(&["alpha_u"])?, alpha(&["alpha_v"])?);
        let alpha = match (u, v) {
            (None, None) => both.unwrap_or(ALPHA as f32),
            (u, v) => {
                let (u, v) = (u.or(both).unwrap_or(ALPHA as f32), v.or(both).unwrap_or(ALPHA as f32));
                if u != v {
                    self.warn("roughness is the same in all directions; its geometric mean is taken");
                }
                (u * v).sqrt()
            }
        };
        Ok(alpha.clamp(0.0, 1.0).sqrt().max(SMOOTHEST))
    }

    fn diffuse(&mut self, rough: bool) -> Result<Surface> {
        if rough {
            self.object.skip(&["alpha", "use_fast_approx"]);
            self.warn("a rough diffuse surface is taken as a perfectly diffuse one");
        }
        self.warn_of_back();
        let color = self.color(&["reflectance", "diffuse_reflectance"], 0.5)?;
        Ok(Surface::new(Material::diffuse([0.0; 3]), color))
    }

    fn dielectric(&mut self, rough: bool) -> Result<Surface> {
        let (index, turned) = self.relative_index(GLASS)?;
        let roughness = self.roughness(rough)?;
        let reflected = self.tint("specular_reflectance")?;
        let transmitted = self.tint("specular_transmittance")?;
        if reflected.mean() != transmitted.mean() {
            self.warn("glass has one colour for what it reflects and lets through: the latter is taken");
        }
        Ok(Surface { turned, ..Surface::new(Material::dielectric(index, roughness), transmitted) })
    }

    /// A thin pane: light bounces between its sides without being displaced.
    fn thin_dielectric(&mut self) -> Result<Surface> {
        let (index, _) = self.relative_index(GLASS)?;
        let color = self.tint("specular_transmittance")?;
        self.object.skip(&["specular_reflectance"]);
        let once = ((index - 1.0) / (index + 1.0)).powi(2);
        // The sum over all bounces, and the index of a single surface that reflects as much.
        let root = (2.0 * once / (1.0 + once)).sqrt();
        let material = Material {
            ior: ((1.0 + root) / (1.0 - root)).min(HIGHEST_INDEX),
            transmission: 1.0,
            ..Material::principled([0.0; 3], 0.0, 0.0)
        };
        self.warn("a thin pane is as rough here as at an alpha of 0.0009, and has Schlick's Fresnel term");
        Ok(Surface::new(material, color))
    }

    fn conductor(&mut self, rough: bool) -> Result<Surface> {
        self.warn_of_back();
        let roughness = self.roughness(rough)?;
        let tint = self.tint("specular_reflectance")?;
        let optics = self.metal()?;
        if let Some(optics) = optics {
            self.warn(
                "metal has Schlick's Fresnel term here, which is that of its index at normal incidence",
            );
            let color = tint.scaled(optics);
            return Ok(Surface::new(Material::conductor([0.0; 3], roughness), color));
        }
        if tint.mean() != [1.0; 3] {
            self.warn("metal has Schlick's Fresnel term here, which is white at grazing incidence");
        }
        Ok(Surface::new(Material::conductor([0.0; 3], roughness), tint))
    }

    /// Reflectance at normal incidence; `None` for a perfect mirror.
    fn metal(&mut self) -> Result<Option<[f32; 3]>> {
        let outside = self.index(&["ext_eta", "ext_ior"], 1.0)?;
        let own = (self.optics("eta")?, self.optics("k")?);
        let name = self.object.text(&["material", "material_name"], self.warnings)?;
        let constants = match (own, name) {
            ((Some(eta), Some(k)), _) => Metal { eta, k },
            ((None, None), Some("none")) => return Ok(None),
            ((None, None), Some(name)) => metal(name).ok_or_else(|| {
                let near = suggest::nearest(name, metal_names());
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                self.error(format!("there is no metal `{}`{hint}", shorten(name)))
            })?,
            // Before version 2 the default was copper; the defaults since then are a perfect mirror.
            ((None, None), None) => return Ok(None),
            _ => return Err(self.error("a metal needs both `eta` and `k`")),
        };
        Ok(Some(conductor_reflectance(&constants, outside)))
    }

    /// A component of a metal's index of refraction: spectra are taken as light is.
    fn optics(&mut self, name: &str) -> Result<Option<[f32; 3]>> {
        if let Some(property) = self.object.property(&[name])
            && let super::object::Value::Spectrum(spectrum) = &property.value
        {
            return Ok(Some(spectrum.unbounded().map(|v| v.max(0.0))));
        }
        let color = self.source.color(self.textures, self.object, &[name], Role::Emission, self.warnings)?;
        if matches!(color, Some(Color::Map(_))) {
            self.warn("the texture of a metal's index of refraction is replaced by its mean");
        }
        Ok(color.map(|color| color.mean()))
    }

    fn plastic(&mut self, rough: bool) -> Result<Surface> {
        self.warn_of_back();
        let (index, _) = self.relative_index(PLASTIC)?;
        let roughness = self.roughness(rough)?;
        let nonlinear = self.object.boolean("nonlinear", self.warnings)?.unwrap_or(false);
        let color = self.color(&["diffuse_reflectance"], 0.5)?;
        if self.tint("specular_reflectance")?.mean() != [1.0; 3] {
            self.warn("the colour of a plastic's gloss is left out");
        }
        self.warn(
            "plastic is glTF's metallic-roughness surface, whose diffuse base depends otherwise on direction",
        );
        let base = if rough { Base::rough(roughness * roughness, index) } else { Base::smooth(index) };
        let color = color.mapped(|c| base.color(c, nonlinear));
        Ok(Surface::new(Material { ior: index, ..Material::principled([0.0; 3], 0.0, roughness) }, color))
    }

    fn principled(&mut self, thin: bool) -> Result<Surface> {
        if !thin {
            self.warn_of_back();
        }
        let color = self.color(&["base_color"], 0.5)?;
        let mut value = |name: &str, default: f32| -> Result<f32> {
            let names = [name];
            let color =
                self.source.color(self.textures, self.object, &names, Role::Reflectance, self.warnings)?;
            if matches!(color, Some(Color::Map(_))) {
                let message = format!("the texture of `{name}` is replaced by its mean");
                self.warnings.add(self.object.place(), message);
            }
            Ok(color.map_or(default, |color| color.mean_value().clamp(0.0, 1.0)))
        };
        let (roughness, metallic) = (value("roughness", 0.5)?, value("metallic", 0.0)?);
        let transmission = value("spec_trans", 0.0)?;
        let specular = value("specular", 0.5)?;
        let eta = self.number(&["eta"], 0.0)? as f32;
        // Disney's specular of 0.5 is an index of 1.5.
        let root = (0.08 * specular).sqrt();
        let index = if eta >= 1.0 { eta } else { (1.0 + root) / (1.0 - root) };
        let index = index.min(HIGHEST_INDEX);
        self.object.skip(&[
            "main_specular_sampling_rate",
            "clearcoat_sampling_rate",
            "diffuse_reflectance_sampling_rate",
        ]);
        if transmission > 0.5 && metallic < 0.5 && !thin {
            if transmission < 1.0 {
                self.warn("a surface that transmits most light is taken as glass");
            }
            let tint = color.mapped(f32::sqrt);
            return Ok(Surface::new(Material::dielectric(index, roughness), tint));
        }
        if transmission > 0.0 && !thin {
            self.warn("the share of transmission is left out");
        }
        self.warn("`principled` is glTF's metallic-roughness surface, whose diffuse base differs");
        let material = Material {
            ior: index,
            transmission: if thin { transmission } else { 0.0 },
            ..Material::principled([0.0; 3], metallic, roughness)
        };
        Ok(Surface::new(material, color))
    }

    fn phong(&mut self) -> Result<Surface> {
        self.warn_of_back();
        let exponent = self.number(&["exponent"], 30.0)?.max(0.0) as f32;
        let color = self.color(&["diffuse_reflectance"], 0.5)?;
        self.object.skip(&["specular_reflectance"]);
        self.warn("Phong's model is taken as plastic of about the same width of gloss");
        // Walter et al. 2007
        let roughness = (2.0 / (exponent + 2.0)).sqrt().sqrt();
        Ok(Surface::new(Material::principled([0.0; 3], 0.0, roughness), color))
    }

    /// The surfaces that are nested in this one.
    fn nested(&mut self) -> Result<Vec<Surface>> {
        let children = self.source.document.children(self.object, Class::Bsdf, self.warnings)?;
        let objects = &self.source.document.objects;
        let mut out = Vec::new();
        for (_, index) in children.into_iter().take(2) {
            out.push(surface(self.source, self.textures, &objects[index], self.depth + 1, self.warnings)?);
        }
        Ok(out)
    }

    fn only_nested(&mut self) -> Result<Surface> {
        let first = self.nested()?.into_iter().next();
        first.ok_or_else(|| self.error(format!("`{}` needs a surface in it", shorten(&self.object.plugin))))
    }

    fn twosided(&mut self) -> Result<Surface> {
        let mut both = self.nested()?.into_iter();
        if both.len() > 1 {
            self.warn("both sides have the surface of the front");
        }
        both.next().ok_or_else(|| self.error("`twosided` needs a surface in it"))
    }

    fn mask(&mut self) -> Result<Surface> {
        let opacity =
            self.source.color(self.textures, self.object, &["opacity"], Role::Reflectance, self.warnings)?;
        let opacity = match opacity.unwrap_or(Color::Constant([0.5; 3])) {
            Color::Constant(color) => Color::Constant([grey(color).clamp(0.0, 1.0); 3]),
            map => map,
        };
        // The surface inside has its own back.
        let mut inner = self.only_nested()?;
        if inner.opacity.is_some() {
            self.warn("of a mask within a mask the outer one is taken");
        }
        if let (Color::Map(color), Color::Map(alpha)) = (&inner.color, &opacity)
            && (color.transform != alpha.transform || color.sampler != alpha.sampler)
        {
            return Err(self
                .error("colour and opacity of a mask need the same place and wrap mode of their textures"));
        }
        self.warn("rays pass a mask without a bounce here; it counts as one in Mitsuba");
        inner.opacity = Some(opacity);
        Ok(inner)
    }

    /// The first texture, under whatever name.
    fn relief(&mut self) -> Result<Option<super::textures::Map>> {
        let textures = self.source.document.children(self.object, Class::Texture, self.warnings)?;
        let Some((_, index)) = textures.into_iter().next() else { return Ok(None) };
        match self.source.texture(self.textures, index, Role::Reflectance, self.warnings)? {
            Color::Map(map) => Ok(Some(map)),
            Color::Constant(_) => Ok(None),
        }
    }

    fn bump_map(&mut self) -> Result<Surface> {
        let scale = self.number(&["scale"], 1.0)? as f32;
        let map = self.relief()?;
        let mut inner = self.only_nested()?;
        if let Some(map) = map {
            self.warn(
                "the bump map is a normal map, for the mean stretch of its texture coordinates on each shape",
            );
            inner.relief = Relief::Heights(map, scale);
        }
        Ok(inner)
    }

    fn normal_map(&mut self) -> Result<Surface> {
        let map = self.relief()?;
        let mut inner = self.only_nested()?;
        match map {
            Some(map) => {
                if map.srgb {
                    self.warn("the normal map has no `raw`: its values are decoded from sRGB all the same in Mitsuba, and are taken as they are here");
                }
                inner.relief = Relief::Normals(super::textures::Map { srgb: false, ..map });
            }
            None => self.warn("the normal map has no image; it is left out"),
        }
        Ok(inner)
    }

    fn blend(&mut self) -> Result<Surface> {
        let weight =
            self.source.color(self.textures, self.object, &["weight"], Role::Reflectance, self.warnings)?;
        let weight = weight.unwrap_or(Color::Constant([0.5; 3]));
        if matches!(weight, Color::Map(_)) {
            self.warn("the texture of a blend's weight is replaced by its mean");
        }
        let share = weight.mean_value().clamp(0.0, 1.0);
        self.blended(share)
    }

    fn mixture(&mut self) -> Result<Surface> {
        let text = self.object.text(&["weights"], self.warnings)?.unwrap_or_default();
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let weights: Vec<f32> = words.filter_map(|word| word.parse().ok()).collect();
        if weights.len() != 2 {
            self.warn("of a mixture the first two surfaces are taken");
        }
        let &[first, second, ..] = weights.as_slice() else {
            return Err(self.error("a mixture needs `weights`, two or more"));
        };
        let total = first + second;
        self.blended(if total > 0.0 { (second / total).clamp(0.0, 1.0) } else { 0.5 })
    }

    /// A share of the second surface and the rest of the first: exact for two diffuse ones.
    fn blended(&mut self, share: f32) -> Result<Surface> {
        let mut both = self.nested()?.into_iter();
        let (Some(first), Some(second)) = (both.next(), both.next()) else {
            return Err(self.error("a blend needs two surfaces in it"));
        };
        let is_diffuse =
            |s: &Surface| s.material.kind == MaterialKind::Diffuse as u32 && s.opacity.is_none() && !s.hidden;
        if let (Color::Constant(a), Color::Constant(b)) = (&first.color, &second.color)
            && is_diffuse(&first)
            && is_diffuse(&second)
        {
            let mixed = std::array::from_fn(|i| a[i] * (1.0 - share) + b[i] * share);
            return Ok(Surface { color: Color::Constant(mixed), ..first });
        }
        if share != 0.0 && share != 1.0 {
            self.warn("of two surfaces that are blended the one of more weight is taken");
        }
        Ok(if share > 0.5 { second } else { first })
    }
}

/// Roughness of the least rough surface that is not perfectly smooth.
const SMOOTHEST: f32 = 0.03;

/// Types that are read, for suggestions.
const KNOWN: [&str; 17] = [
    "diffuse",
    "dielectric",
    "roughdielectric",
    "thindielectric",
    "conductor",
    "roughconductor",
    "plastic",
    "roughplastic",
    "principled",
    "principledthin",
    "mask",
    "twosided",
    "bumpmap",
    "normalmap",
    "blendbsdf",
    "mixturebsdf",
    "null",
];
