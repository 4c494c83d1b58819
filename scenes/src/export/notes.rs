//! What another renderer cannot express of a scene.

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

    /// The differences in the order in which they were named.
    pub(super) fn into_list(self) -> Vec<Difference> {
        self.0
    }
}
