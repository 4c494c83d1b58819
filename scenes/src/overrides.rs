//! Changes that a scene.toml makes to a file's materials.

use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Material, MaterialKind, NONE};
use serde::Deserialize;

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
    roughness: Option<f32>,
    metallic: Option<f32>,
    ior: Option<f32>,
    transmission: Option<f32>,
    /// False removes the normal map.
    normal_map: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Diffuse,
    Conductor,
    Dielectric,
    Principled,
}

/// All overrides, with whether their material was found.
#[derive(Debug, Default)]
pub(crate) struct MaterialOverrides {
    list: Vec<(MaterialOverride, bool)>,
    seen: Vec<String>,
}

impl MaterialOverrides {
    pub(crate) fn new(list: Vec<MaterialOverride>) -> Self {
        Self { list: list.into_iter().map(|o| (o, false)).collect(), seen: Vec::new() }
    }

    /// Changes a material that the file calls `name`.
    pub(crate) fn apply(&mut self, name: Option<&str>, material: &mut Material) {
        let Some(name) = name else {
            return;
        };
        if !self.list.is_empty() {
            self.seen.push(name.to_string());
        }
        for (change, found) in self.list.iter_mut().filter(|(o, _)| o.name == name) {
            *found = true;
            change.apply(material);
        }
    }

    /// Names of overrides without a material, each with the most similar name in the file.
    pub(crate) fn unused(&self) -> Vec<(&str, Option<&str>)> {
        let unused = self.list.iter().filter(|(_, found)| !found);
        unused
            .map(|(o, _)| {
                (o.name.as_str(), crate::suggest::nearest(&o.name, self.seen.iter().map(String::as_str)))
            })
            .collect()
    }
}

impl MaterialOverride {
    /// Changes a material.
    pub(crate) fn apply(&self, m: &mut Material) {
        if let Some(kind) = self.kind {
            m.kind = match kind {
                Kind::Diffuse => MaterialKind::Diffuse,
                Kind::Conductor => MaterialKind::Conductor,
                Kind::Dielectric => MaterialKind::Dielectric,
                Kind::Principled => MaterialKind::Principled,
            } as u32;
        }
        m.base_color = self.base_color.map_or(m.base_color, Vec3::from);
        m.emission = self.emission.map_or(m.emission, Vec3::from);
        m.roughness = self.roughness.unwrap_or(m.roughness);
        m.metallic = self.metallic.unwrap_or(m.metallic);
        m.ior = self.ior.unwrap_or(m.ior);
        m.transmission = self.transmission.unwrap_or(m.transmission);
        if self.normal_map == Some(false) {
            m.normal_texture = NONE;
        }
    }
}
