//! Features of a scene that another renderer cannot express.

use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Material, MaterialKind, NONE};
use std::fmt;

/// The part of a scene that a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Metals.
    Conductor,
    /// Glass.
    Dielectric,
    /// Metallic-roughness surfaces of glTF.
    Principled,
    /// Masks and blending.
    Alpha,
    /// Back-face culling.
    Culling,
    /// Normal maps.
    NormalMap,
    /// Colours of vertices.
    VertexColor,
    /// Images on surfaces and their coordinates.
    Texture,
    /// Spheres as a primitive.
    Sphere,
    /// Surfaces that emit.
    AreaLight,
    /// Surfaces of a constant colour, neither lit nor lighting.
    Unlit,
    /// Spot lights.
    SpotLight,
    /// The environment.
    Environment,
    /// Spectra.
    Color,
}

/// A feature that another renderer cannot express, and its substitute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The feature.
    pub feature: Feature,
    /// The substitute, a clause without a full stop.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The differences of a scene, each once.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Difference>);

impl Notes {
    /// Names a difference.
    pub(super) fn add(&mut self, feature: Feature, what: impl Into<String>) {
        let difference = Difference { feature, what: what.into() };
        if !self.0.contains(&difference) {
            self.0.push(difference);
        }
    }

    /// Names the parts of a material that are not written for renderers with surfaces of another kind.
    pub(super) fn add_omissions(&mut self, material: &Material) {
        self.add_unlit(material);
        self.add_layers(material);
        self.add_multiscatter(material);
        self.add_priority(material);
        if material.kind == MaterialKind::Principled as u32 {
            if material.transmission > 0.0 || material.transmission_texture != NONE {
                self.add(Feature::Principled, "thin walls that transmit are left out");
            }
            if material.metallic_roughness_texture != NONE {
                self.add(Feature::Principled, "textures of metalness and roughness are left out");
            }
        }
        if material.normal_texture != NONE {
            self.add(Feature::NormalMap, "normal maps are left out");
        }
        if material.flags & Material::SINGLE_SIDED != 0 {
            self.add(
                Feature::Culling,
                "surfaces that are culled from behind are seen from there (--both-sides shows them here too)",
            );
        }
    }

    /// Names surfaces whose colour camera rays alone see.
    pub(super) fn add_unlit(&mut self, material: &Material) {
        if material.flags & Material::UNLIT != 0 {
            self.add(
                Feature::Unlit,
                "unlit surfaces are lamps there: mirrors show them, and they light others",
            );
        }
    }

    /// Names rough surfaces that keep all light, for renderers whose surfaces scatter once.
    fn add_multiscatter(&mut self, material: &Material) {
        if material.flags & Material::MULTISCATTER != 0 {
            let feature = match material.kind {
                kind if kind == MaterialKind::Conductor as u32 => Feature::Conductor,
                kind if kind == MaterialKind::Dielectric as u32 => Feature::Dielectric,
                _ => Feature::Principled,
            };
            self.add(
                feature,
                "light that scatters more than once between microfacets is lost there, kept here",
            );
        }
    }

    /// Names priorities of dielectrics, for renderers that have none.
    pub(super) fn add_priority(&mut self, material: &Material) {
        if material.priority != 0 {
            self.add(
                Feature::Dielectric,
                "priorities of dielectrics are left out: where they overlap, light refracts otherwise there",
            );
        }
    }

    /// Names layers, which no export writes.
    pub(super) fn add_layers(&mut self, material: &Material) {
        if material.layers != 0 {
            let what = "layers (clearcoat, sheen, anisotropy, thin film, weight and colour of specular) are left out";
            self.add(Feature::Principled, what);
        }
    }

    /// Names lamps of both sides, for renderers whose lamps have one.
    pub(super) fn add_front_alone(&mut self, material: &Material) {
        if material.emission != Vec3::ZERO && material.flags & Material::TWO_SIDED_EMISSION != 0 {
            self.add(Feature::AreaLight, "lamps that shine from both sides shine from the front alone");
        }
    }

    /// The differences in the order in which they were named.
    pub(super) fn into_list(self) -> Vec<Difference> {
        self.0
    }
}
