//! Objects of a scene: plugins with their properties and the objects nested in them.

use super::matrix::Matrix;
use super::xml::place;
use crate::spectrum::Sampled;
use crate::warning::Warnings;
use lockstep_core::{Error, Result};
use std::cell::Cell;
use std::rc::Rc;

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Boolean(bool),
    Text(String),
    Vector([f64; 3]),
    /// Linear sRGB.
    Rgb([f32; 3]),
    Spectrum(Sampled),
    Transform(Matrix),
}

/// A property with its name in words joined by underscores, as in version 3.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) line: usize,
    read: Cell<bool>,
}

impl Property {
    pub(super) fn new(name: String, value: Value, line: usize) -> Self {
        Self { name, value, line, read: Cell::new(false) }
    }
}

/// An object nested in another, or the reference to one.
#[derive(Clone, Debug)]
pub(super) struct Nested {
    /// The name of the parameter; empty where it has none.
    pub(super) name: String,
    pub(super) target: Target,
    pub(super) line: usize,
}

/// The object that is nested.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// By its index.
    Own(usize),
    /// By its identifier.
    Reference(String),
}

/// The class of a plugin, which is its element's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Scene,
    Shape,
    Bsdf,
    Texture,
    Emitter,
    Sensor,
    Integrator,
    Film,
    Sampler,
    Filter,
    Medium,
    Other,
}

impl Class {
    pub(super) fn of(tag: &str) -> Option<Self> {
        Some(match tag {
            "scene" => Self::Scene,
            "shape" => Self::Shape,
            "bsdf" => Self::Bsdf,
            "texture" | "spectrum" => Self::Texture,
            // Before version 0.4 emitters and sensors had other names.
            "emitter" | "luminaire" => Self::Emitter,
            "sensor" | "camera" => Self::Sensor,
            "integrator" => Self::Integrator,
            "film" => Self::Film,
            "sampler" => Self::Sampler,
            "rfilter" => Self::Filter,
            "medium" => Self::Medium,
            "phase" | "volume" | "subsurface" | "random" | "integer_array" => Self::Other,
            _ => return None,
        })
    }
}

/// A plugin as the file describes it.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) class: Class,
    /// The plugin's name.
    pub(super) plugin: String,
    pub(super) id: String,
    pub(super) file: Rc<str>,
    pub(super) line: usize,
    pub(super) properties: Vec<Property>,
    pub(super) nested: Vec<Nested>,
}

impl Object {
    /// File and line, for messages.
    pub(super) fn place(&self) -> String {
        place(&self.file, self.line)
    }

    pub(super) fn error(&self, warnings: &Warnings, message: impl Into<String>) -> Error {
        warnings.error(self.place(), message)
    }

    /// A property under one of its names; it counts as read.
    pub(super) fn property(&self, names: &[&str]) -> Option<&Property> {
        let found = self.properties.iter().find(|property| names.contains(&property.name.as_str()))?;
        found.read.set(true);
        Some(found)
    }

    fn typed<T>(
        &self,
        names: &[&str],
        warnings: &Warnings,
        kind: &str,
        value: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(property) = self.property(names) else { return Ok(None) };
        let wrong = || {
            warnings.error(place(&self.file, property.line), format!("`{}` is to be {kind}", property.name))
        };
        value(&property.value).map(Some).ok_or_else(wrong)
    }

    pub(super) fn number(&self, names: &[&str], warnings: &Warnings) -> Result<Option<f64>> {
        self.typed(names, warnings, "a number", |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    pub(super) fn boolean(&self, name: &str, warnings: &Warnings) -> Result<Option<bool>> {
        self.typed(&[name], warnings, "true or false", |value| match value {
            Value::Boolean(on) => Some(*on),
            _ => None,
        })
    }

    pub(super) fn text(&self, names: &[&str], warnings: &Warnings) -> Result<Option<&str>> {
        let Some(property) = self.property(names) else { return Ok(None) };
        match &property.value {
            Value::Text(text) => Ok(Some(text)),
            _ => {
                let message = format!("`{}` is to be a string", property.name);
                Err(warnings.error(place(&self.file, property.line), message))
            }
        }
    }

    pub(super) fn vector(&self, names: &[&str], warnings: &Warnings) -> Result<Option<[f64; 3]>> {
        self.typed(names, warnings, "a point or vector", |value| match value {
            Value::Vector(vector) => Some(*vector),
            _ => None,
        })
    }

    pub(super) fn transform(&self, name: &str, warnings: &Warnings) -> Result<Option<Matrix>> {
        self.typed(&[name], warnings, "a transform", |value| match value {
            Value::Transform(matrix) => Some(*matrix),
            _ => None,
        })
    }

    /// Marks properties as read that make no difference to the image.
    pub(super) fn skip(&self, names: &[&str]) {
        for property in &self.properties {
            if names.contains(&property.name.as_str()) {
                property.read.set(true);
            }
        }
    }

    /// Marks all properties as read.
    pub(super) fn skip_all(&self) {
        self.properties.iter().for_each(|property| property.read.set(true));
    }

    /// Warns of the properties that were not read.
    pub(super) fn warn_of_unread(&self, warnings: &mut Warnings) {
        for property in self.properties.iter().filter(|property| !property.read.replace(true)) {
            let message = format!(
                "the property `{}` of `{}` is left out",
                shorten(&property.name),
                shorten(&self.plugin)
            );
            warnings.add(place(&self.file, property.line), message);
        }
    }
}

/// A name from a file as a message shows it.
pub(super) fn shorten(word: &str) -> String {
    word.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
