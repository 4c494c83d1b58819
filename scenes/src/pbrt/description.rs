//! The contents of a scene file, parsed but not yet turned into a scene.

use super::matrix::Matrix;
use super::params::Params;
use std::collections::HashMap;

/// The dialect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// pbrt version 3 (Pharr, Jakob and Humphreys 2016).
    Three,
    /// pbrt version 4 (Pharr, Jakob and Humphreys 2023).
    Four,
}

/// A texture.
#[derive(Debug)]
pub(super) struct TextureDefinition {
    /// Whether its values are colours.
    pub(super) colors: bool,
    pub(super) class: String,
    pub(super) params: Params,
}

/// A material.
#[derive(Debug)]
pub(super) struct MaterialDefinition {
    /// Empty for one without a name.
    pub(super) name: String,
    pub(super) class: String,
    pub(super) params: Params,
}

/// The material of a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum MaterialUse {
    /// The grey of files without any.
    Default,
    Index(usize),
    /// One that is not defined where it is used.
    Named(String),
}

/// A shape where it is placed.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) class: String,
    pub(super) params: Params,
    /// To the world, or to the object of which it is a part.
    pub(super) to_world: Matrix,
    pub(super) material: MaterialUse,
    /// Index into [`Description::area_lights`].
    pub(super) area_light: Option<usize>,
    pub(super) reverse: bool,
}

/// A light without a shape.
#[derive(Debug)]
pub(super) struct LightDefinition {
    pub(super) class: String,
    pub(super) params: Params,
    pub(super) to_world: Matrix,
}

/// The camera.
#[derive(Debug)]
pub(super) struct CameraDefinition {
    pub(super) class: String,
    pub(super) params: Params,
    pub(super) from_world: Matrix,
}

/// A placement of an object.
#[derive(Debug)]
pub(super) struct Placement {
    /// Index into [`Description::objects`].
    pub(super) object: usize,
    pub(super) to_world: Matrix,
    pub(super) place: String,
}

/// Everything that a file and those that it includes say.
#[derive(Debug, Default)]
pub(super) struct Description {
    pub(super) textures: Vec<TextureDefinition>,
    pub(super) materials: Vec<MaterialDefinition>,
    pub(super) named_materials: HashMap<String, usize>,
    pub(super) area_lights: Vec<Params>,
    pub(super) lights: Vec<LightDefinition>,
    pub(super) shapes: Vec<Shape>,
    /// The shapes of each object.
    pub(super) objects: Vec<Vec<Shape>>,
    pub(super) placements: Vec<Placement>,
    pub(super) camera: Option<CameraDefinition>,
    /// Width and height of the film.
    pub(super) film: Option<[f64; 2]>,
    /// The directive `WorldEnd`, which version 4 has not.
    pub(super) has_end: bool,
    /// Bytes of all files of text.
    pub(super) bytes: u64,
}

/// Materials that only one version has.
const OF_VERSION_4: &[&str] = &[
    "diffuse",
    "coateddiffuse",
    "conductor",
    "coatedconductor",
    "dielectric",
    "thindielectric",
    "diffusetransmission",
    "interface",
    "measured",
];
const OF_VERSION_3: &[&str] = &[
    "matte",
    "plastic",
    "metal",
    "glass",
    "mirror",
    "uber",
    "substrate",
    "translucent",
    "disney",
    "fourier",
    "kdsubsurface",
];

impl Description {
    /// The version, from the materials' names, or from the end of the world where these tell nothing.
    pub(super) fn version(&self) -> Version {
        let has = |names: &[&str]| self.materials.iter().any(|m| names.contains(&m.class.as_str()));
        if has(OF_VERSION_4) {
            Version::Four
        } else if has(OF_VERSION_3) || self.has_end {
            Version::Three
        } else {
            Version::Four
        }
    }
}
