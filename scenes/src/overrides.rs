//! Changes that a scene.toml makes to a file's materials.

use lockstep_core::math::vec3::Vec3;
use lockstep_core::math::{clamp, min, sqr};
use lockstep_core::scene::{Layers, Material, MaterialKind, NONE, SceneBuilder};
use serde::Deserialize;
use toml::Spanned;

/// Changes of the material of this name; absent fields keep the file's values.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaterialOverride {
    /// The material's name in the file; empty for a material of the document's own.
    #[serde(default)]
    pub(crate) name: String,
    kind: Option<Kind>,
    base_color: Option<[f32; 3]>,
    emission: Option<[f32; 3]>,
    #[serde(alias = "specular_roughness")]
    roughness: Option<f32>,
    #[serde(alias = "base_metalness")]
    metallic: Option<f32>,
    #[serde(alias = "specular_ior")]
    ior: Option<f32>,
    #[serde(alias = "transmission_weight")]
    transmission: Option<f32>,
    specular_weight: Option<f32>,
    specular_color: Option<[f32; 3]>,
    specular_roughness_anisotropy: Option<f32>,
    coat_weight: Option<f32>,
    coat_roughness: Option<f32>,
    coat_ior: Option<f32>,
    fuzz_weight: Option<f32>,
    fuzz_color: Option<[f32; 3]>,
    fuzz_roughness: Option<f32>,
    thin_film_weight: Option<f32>,
    /// In micrometres.
    thin_film_thickness: Option<f32>,
    thin_film_ior: Option<f32>,
    /// Whether the surface keeps the light that scatters more than once.
    multiscatter: Option<bool>,
    /// The priority of a dielectric, 0 to 255.
    priority: Option<u32>,
    /// False removes the normal map.
    normal_map: Option<bool>,
    pub(crate) displacement: Option<Spanned<DisplacementTable>>,
}

/// Displacement of the triangles of a material.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DisplacementTable {
    pub(crate) texture: Spanned<String>,
    pub(crate) scale: f32,
    pub(crate) midlevel: Option<f32>,
    /// Absent for heights.
    pub(crate) vector: Option<VectorSpace>,
    pub(crate) wrap: Option<WrapKind>,
    pub(crate) tiles: Option<[f32; 2]>,
    /// In units of the mesh.
    pub(crate) error: Option<f32>,
    pub(crate) error_pixels: Option<f32>,
    pub(crate) image_height: Option<u32>,
    pub(crate) max_triangles: Option<u64>,
}

/// The axes of vectors in a map.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VectorSpace {
    Tangent,
    Object,
}

/// The map beyond its edges.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WrapKind {
    Repeat,
    Clamp,
    Mirror,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Diffuse,
    Conductor,
    Dielectric,
    Principled,
}

/// All overrides, with the scene's materials that they were applied to.
#[derive(Debug, Default)]
pub(crate) struct MaterialOverrides {
    list: Vec<(MaterialOverride, Vec<u32>)>,
    seen: Vec<String>,
}

impl MaterialOverrides {
    pub(crate) fn new(list: Vec<MaterialOverride>) -> Self {
        Self { list: list.into_iter().map(|o| (o, Vec::new())).collect(), seen: Vec::new() }
    }

    /// Changes a material that the file calls `name` and that is the next to be added to the builder, and its layers,
    /// which the builder keeps.
    pub(crate) fn apply(&mut self, name: Option<&str>, material: &mut Material, builder: &mut SceneBuilder) {
        let Some(name) = name else {
            return;
        };
        if !self.list.is_empty() {
            self.seen.push(name.to_string());
        }
        for (change, found) in self.list.iter_mut().filter(|(o, _)| o.name == name) {
            found.push(builder.material_count() as u32);
            change.apply(material, builder);
        }
    }

    /// The scene's materials that each override was applied to, in the order of the overrides.
    pub(crate) fn materials(&self) -> impl Iterator<Item = &[u32]> {
        self.list.iter().map(|(_, found)| found.as_slice())
    }

    /// Names of overrides without a material, each with the most similar name in the file.
    pub(crate) fn unused(&self) -> Vec<(&str, Option<&str>)> {
        let unused = self.list.iter().filter(|(_, found)| found.is_empty());
        unused
            .map(|(o, _)| {
                (o.name.as_str(), crate::suggest::nearest(&o.name, self.seen.iter().map(String::as_str)))
            })
            .collect()
    }
}

impl MaterialOverride {
    /// True when a clearcoat or a thin film is asked for, which principled surfaces and dielectrics have.
    fn has_cover(&self) -> bool {
        let coat = [self.coat_weight, self.coat_roughness, self.coat_ior];
        let film = [self.thin_film_weight, self.thin_film_thickness, self.thin_film_ior];
        coat.iter().chain(&film).any(Option::is_some)
    }

    /// True when a lobe is asked for that only a principled surface with layers has.
    fn has_principled_layers(&self) -> bool {
        let numbers =
            [self.specular_weight, self.specular_roughness_anisotropy, self.fuzz_weight, self.fuzz_roughness];
        let colors = [self.specular_color, self.fuzz_color];
        numbers.iter().any(Option::is_some) || colors.iter().any(Option::is_some)
    }

    /// The mistake of keys that contradict each other.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self.kind {
            None | Some(Kind::Principled) => None,
            Some(_) if self.has_principled_layers() => {
                Some("fuzz and the weight, colour and anisotropy of specular need the kind `principled`")
            }
            Some(Kind::Diffuse | Kind::Conductor) if self.has_cover() => {
                Some("coat and thin film need the kind `principled` or `dielectric`")
            }
            Some(_) => None,
        }
    }

    /// Changes the layers of a material of this perceptual roughness by the parameters of OpenPBR; returns the
    /// roughness across the direction of anisotropy.
    fn change_layers(&self, layers: &mut Layers, roughness: f32) -> f32 {
        layers.specular = self.specular_weight.unwrap_or(layers.specular);
        layers.specular_color = self.specular_color.map_or(layers.specular_color, Vec3::from);
        layers.clearcoat = self.coat_weight.unwrap_or(layers.clearcoat);
        layers.clearcoat_roughness = self.coat_roughness.unwrap_or(layers.clearcoat_roughness);
        if let Some(ior) = self.coat_ior {
            layers.clearcoat_f0 = sqr((ior - 1.0) / (ior + 1.0));
        }
        if self.fuzz_weight.is_some() || self.fuzz_color.is_some() {
            let color = self.fuzz_color.map_or(Vec3::ONE, Vec3::from);
            layers.sheen_color = color * self.fuzz_weight.unwrap_or(1.0);
            layers.sheen_roughness = 0.5;
        }
        layers.sheen_roughness = self.fuzz_roughness.unwrap_or(layers.sheen_roughness);
        layers.iridescence = self.thin_film_weight.unwrap_or(layers.iridescence);
        layers.iridescence_ior = self.thin_film_ior.unwrap_or(layers.iridescence_ior);
        if let Some(micrometres) = self.thin_film_thickness {
            layers.iridescence_thickness = [1000.0 * micrometres; 2];
        }
        let Some(anisotropy) = self.specular_roughness_anisotropy else {
            return roughness;
        };
        if anisotropy == 0.0 {
            layers.anisotropy = 0.0;
            return roughness;
        }
        // OpenPBR 1.1, section "Microfacet model": the alphas along and across
        let across = 1.0 - clamp(anisotropy, 0.0, 1.0);
        let along = min(sqr(roughness) * (2.0 / (1.0 + sqr(across))).sqrt(), 1.0);
        let across = along * across;
        layers.anisotropy = if across < 1.0 { ((along - across) / (1.0 - across)).sqrt() } else { 0.0 };
        across.sqrt()
    }

    /// Changes a material, and its layers, which the builder keeps. A material without a kind of its own becomes
    /// principled, unless it is a dielectric that only gets a cover. Layers that change nothing are none: a surface with
    /// layers is sampled otherwise, and has the albedo that their bounds leave.
    pub(crate) fn apply(&self, m: &mut Material, builder: &mut SceneBuilder) {
        self.apply_base(m);
        let (is_cover, is_principled) = (self.has_cover(), self.has_principled_layers());
        if !(is_cover || is_principled) {
            return;
        }
        if self.kind.is_none() && (is_principled || m.kind != MaterialKind::Dielectric as u32) {
            m.kind = MaterialKind::Principled as u32;
        }
        let mut layers = builder.layers_of(m).copied().unwrap_or(Layers::NONE);
        m.roughness = self.change_layers(&mut layers, m.roughness);
        m.layers = if layers.changes_nothing() { 0 } else { builder.layers(layers) };
    }

    fn apply_base(&self, m: &mut Material) {
        if let Some(kind) = self.kind {
            m.kind = match kind {
                Kind::Diffuse => MaterialKind::Diffuse,
                Kind::Conductor => MaterialKind::Conductor,
                Kind::Dielectric => MaterialKind::Dielectric,
                Kind::Principled => MaterialKind::Principled,
            } as u32;
            // A surface that is no dielectric any more has not the priority that the file gave it
            m.priority = if m.kind == MaterialKind::Dielectric as u32 { m.priority } else { 0 };
        }
        *m = self.priority.map_or(*m, |priority| m.with_priority(priority));
        m.base_color = self.base_color.map_or(m.base_color, Vec3::from);
        m.emission = self.emission.map_or(m.emission, Vec3::from);
        m.roughness = self.roughness.unwrap_or(m.roughness);
        m.metallic = self.metallic.unwrap_or(m.metallic);
        m.ior = self.ior.unwrap_or(m.ior);
        m.transmission = self.transmission.unwrap_or(m.transmission);
        match self.multiscatter {
            Some(true) => m.flags |= Material::MULTISCATTER,
            Some(false) => m.flags &= !Material::MULTISCATTER,
            None => {}
        }
        if self.normal_map == Some(false) {
            m.normal_texture = NONE;
        }
    }
}
