//! Validates a document against the schema: types, ranges, references, extensions, unknown properties.
//!
//! Unreadable content is an error. Faults that do not affect a still image (unknown properties, empty arrays,
//! anything in animations and skins) are warnings. Readers that run afterwards may rely on the types.

use super::json::{push_key, whole};
use super::schema::{IGNORABLE, Kind, Object, Property, ROOT, SUPPORTED};
use crate::warning::Warnings;
use lockstep_core::Result;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Checks the whole document.
pub(super) fn check(root: &Value, warnings: &mut Warnings) -> Result<()> {
    let used = declared_extensions(root);
    let mut checker = Checker { root, used, warnings, at: String::new(), ignored: false };
    let Some(object) = root.as_object() else {
        return Err(checker.warnings.error("/", "the document is not a JSON object"));
    };
    // First: of another version nothing else need fit.
    checker.version(object)?;
    checker.object(object, &ROOT)?;
    checker.required_extensions(object)
}

fn declared_extensions(root: &Value) -> HashSet<&str> {
    let list = root.get("extensionsUsed").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

struct Checker<'a> {
    root: &'a Value,
    used: HashSet<&'a str>,
    warnings: &'a mut Warnings,
    /// Pointer of the current value.
    at: String,
    /// Inside a part that is not rendered.
    ignored: bool,
}

impl Checker<'_> {
    /// An error, or a warning in a part that is not rendered.
    fn fault(&mut self, message: impl Into<String>) -> Result<()> {
        let place = if self.at.is_empty() { "/" } else { &self.at };
        if self.ignored {
            self.warnings.add(place, message);
            Ok(())
        } else {
            Err(self.warnings.error(place, message))
        }
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.warnings.add(if self.at.is_empty() { "/" } else { &self.at }, message);
    }

    /// Runs `f` one step further down.
    fn within<T>(&mut self, key: &str, f: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        push_key(&mut self.at, key);
        let out = f(self);
        self.at.truncate(length);
        out
    }

    fn object(&mut self, object: &Map<String, Value>, shape: &Object) -> Result<()> {
        for (key, value) in object {
            if key == "extras" {
                continue;
            }
            if key == "extensions" {
                self.within(key, |c| c.extensions(value, shape))?;
                continue;
            }
            match shape.properties.iter().find(|p| p.name == key) {
                Some(property) => self.within(key, |c| c.property(value, property))?,
                None => {
                    self.within(key, |c| c.warn(format!("there is no property `{key}` here; it is ignored")))
                }
            }
        }
        for property in shape.properties.iter().filter(|p| p.required) {
            if !object.contains_key(property.name) {
                self.fault(format!("the property `{}` is missing", property.name))?;
            }
        }
        let present = shape.one_of.iter().filter(|name| object.contains_key(**name)).count();
        if !shape.one_of.is_empty() && present != 1 {
            self.fault(format!(
                "exactly one of `{}` must be there, not {present}",
                shape.one_of.join("`, `")
            ))?;
        }
        for (property, needed) in shape.needs {
            if object.contains_key(*property) && !object.contains_key(*needed) {
                self.within(property, |c| c.warn(format!("it means nothing without `{needed}`")));
            }
        }
        Ok(())
    }

    fn property(&mut self, value: &Value, property: &Property) -> Result<()> {
        let outer = self.ignored;
        self.ignored |= property.ignored;
        let out = self.value(value, &property.kind);
        self.ignored = outer;
        out
    }

    fn value(&mut self, value: &Value, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Flag if value.is_boolean() => Ok(()),
            Kind::Flag => self.mismatch(value, "true or false"),
            Kind::Text if value.is_string() => Ok(()),
            Kind::Text => self.mismatch(value, "a string"),
            Kind::Choice(choices) => self.choice(value, choices),
            Kind::Code(codes) => self.code(value, codes),
            Kind::Whole(min, max) => self.whole(value, *min, *max),
            Kind::Real(min, max) => self.real(value, *min, *max, false),
            Kind::Above(min) => self.real(value, *min, f64::INFINITY, true),
            Kind::Index(collection) => self.index(value, collection),
            Kind::LightIndex => self.light_index(value),
            Kind::List(of, min, max) => self.list(value, of, *min, *max),
            Kind::Set(of) => self.set(value, of),
            Kind::Map(of) => self.map(value, of),
            Kind::Object(shape) => match value.as_object() {
                Some(object) => self.object(object, shape),
                None => self.mismatch(value, "an object"),
            },
        }
    }

    fn mismatch(&mut self, value: &Value, wanted: &str) -> Result<()> {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        self.fault(format!("{wanted} is expected here, not {found}"))
    }

    fn choice(&mut self, value: &Value, choices: &[&str]) -> Result<()> {
        let Some(text) = value.as_str() else {
            return self.mismatch(value, "a string");
        };
        if !choices.contains(&text) {
            self.warn(format!("`{}` is not one of `{}`", shorten(text), choices.join("`, `")));
        }
        Ok(())
    }

    fn code(&mut self, value: &Value, codes: &[u64]) -> Result<()> {
        let Some(code) = whole(value) else {
            return self.mismatch(value, "a whole number");
        };
        if !codes.contains(&code) {
            let list: Vec<String> = codes.iter().map(u64::to_string).collect();
            self.warn(format!("{code} is not one of {}", list.join(", ")));
        }
        Ok(())
    }

    fn whole(&mut self, value: &Value, min: u64, max: u64) -> Result<()> {
        match whole(value) {
            None if value.is_number() => {
                self.fault(format!("{value} is not a whole number of {min} or more"))
            }
            None => self.mismatch(value, "a whole number"),
            Some(number) if number < min || number > max => {
                let range =
                    if max == u64::MAX { format!("{min} or more") } else { format!("{min} to {max}") };
                self.fault(format!("{number} is out of range; it must be {range}"))
            }
            Some(_) => Ok(()),
        }
    }

    fn real(&mut self, value: &Value, min: f64, max: f64, exclusive: bool) -> Result<()> {
        match value.as_f64() {
            None => self.mismatch(value, "a number"),
            Some(number) if !(number as f32).is_finite() => self.fault(format!("{number:e} is out of range")),
            Some(number) if number < min || number > max || (exclusive && number <= min) => {
                let range = match (exclusive, max == f64::INFINITY) {
                    (true, _) => format!("above {min}"),
                    (false, true) => format!("{min} or more"),
                    (false, false) => format!("from {min} to {max}"),
                };
                self.fault(format!("{number} is out of range; it must be {range}"))
            }
            Some(_) => Ok(()),
        }
    }

    fn index(&mut self, value: &Value, collection: &str) -> Result<()> {
        let count = self.root.get(collection).and_then(Value::as_array).map_or(0, Vec::len);
        self.index_below(value, count, collection)
    }

    fn light_index(&mut self, value: &Value) -> Result<()> {
        let lights = self.root.pointer("/extensions/KHR_lights_punctual/lights");
        let count = lights.and_then(Value::as_array).map_or(0, Vec::len);
        self.index_below(value, count, "lights")
    }

    fn index_below(&mut self, value: &Value, count: usize, collection: &str) -> Result<()> {
        match whole(value) {
            None => self.mismatch(value, "an index"),
            Some(index) if index >= count as u64 => {
                self.fault(format!("it refers to element {index} of `{collection}`, which has {count}"))
            }
            Some(_) => Ok(()),
        }
    }

    fn list(&mut self, value: &Value, of: &Kind, min: usize, max: usize) -> Result<()> {
        let Some(list) = value.as_array() else {
            return self.mismatch(value, "an array");
        };
        if list.is_empty() && min == 1 {
            self.warn("the array is empty; it should be left out");
        } else if list.len() < min || list.len() > max {
            self.fault(format!("the array has {} elements; it should have {min}", list.len()))?;
        }
        for (i, element) in list.iter().enumerate() {
            self.within(&i.to_string(), |c| c.value(element, of))?;
        }
        Ok(())
    }

    fn set(&mut self, value: &Value, of: &Kind) -> Result<()> {
        self.list(value, of, 1, usize::MAX)?;
        let mut seen = HashSet::new();
        for (i, element) in value.as_array().into_iter().flatten().enumerate() {
            if !seen.insert(element.to_string()) {
                self.within(&i.to_string(), |c| c.warn("it is listed twice"));
            }
        }
        Ok(())
    }

    fn map(&mut self, value: &Value, of: &Kind) -> Result<()> {
        let Some(object) = value.as_object() else {
            return self.mismatch(value, "an object");
        };
        if object.is_empty() {
            self.warn("the object is empty");
        }
        for (key, element) in object {
            self.within(key, |c| c.value(element, of))?;
        }
        Ok(())
    }

    fn extensions(&mut self, value: &Value, shape: &Object) -> Result<()> {
        let Some(object) = value.as_object() else {
            return self.mismatch(value, "an object");
        };
        for (name, content) in object {
            self.within(name, |c| c.extension(name, content, shape))?;
        }
        Ok(())
    }

    fn extension(&mut self, name: &str, content: &Value, shape: &Object) -> Result<()> {
        let Some(object) = content.as_object() else {
            return self.mismatch(content, "an object");
        };
        if !self.used.contains(name) {
            self.warn(format!("the extension {} is not listed in `extensionsUsed`", shorten(name)));
        }
        match shape.extensions.iter().find(|(known, _)| *known == name) {
            Some((_, shape)) => self.object(object, shape),
            None if SUPPORTED.contains(&name) => {
                self.warn(format!("the extension {name} has no place here; it is ignored"));
                Ok(())
            }
            None => {
                self.warn(format!("the extension {} is not supported; it is ignored", shorten(name)));
                Ok(())
            }
        }
    }

    /// glTF 2.x is read; additions of later minor versions are ignored, unless the file requires them.
    fn version(&mut self, root: &Map<String, Value>) -> Result<()> {
        let text = |key: &str| root.get("asset").and_then(|a| a.get(key)).and_then(Value::as_str);
        let needed = text("minVersion").map(|v| ("minVersion", v));
        let number = |version: &str| {
            version.split_once('.').and_then(|(a, b)| Some((plain_number(a)?, plain_number(b)?)))
        };
        if text("minVersion").and_then(number) > text("version").and_then(number) {
            self.at = "/asset/minVersion".into();
            return self.fault("the version needed is higher than the file's own");
        }
        for (key, version) in needed.into_iter().chain(text("version").map(|v| ("version", v))) {
            self.at = format!("/asset/{key}");
            match number(version) {
                None => return self.fault(format!("`{}` is not a version such as `2.0`", shorten(version))),
                Some((2, 0)) => {}
                Some((2, _)) => {
                    self.warn(format!(
                        "glTF {version} is newer than this reader; what it adds to 2.0 is ignored"
                    ));
                }
                Some(_) => {
                    return self
                        .fault(format!("glTF {version} is not supported; convert the file to glTF 2.0"));
                }
            }
        }
        self.at.clear();
        Ok(())
    }

    fn required_extensions(&mut self, root: &Map<String, Value>) -> Result<()> {
        let list = |key: &str| root.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
        for (i, value) in list("extensionsUsed") {
            let name = value.as_str().unwrap_or_default();
            let prefix = name.split_once('_').map_or("", |(prefix, _)| prefix);
            if prefix.is_empty() || !prefix.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) {
                self.at = format!("/extensionsUsed/{i}");
                self.warn(format!("`{}` is not an extension's name", shorten(name)));
            }
            let required = list("extensionsRequired").any(|(_, r)| r == value);
            if name == "KHR_mesh_quantization" && !required {
                self.at = format!("/extensionsUsed/{i}");
                self.warn(
                    "KHR_mesh_quantization cannot be optional; it should be in `extensionsRequired` too",
                );
            }
        }
        for (i, value) in list("extensionsRequired") {
            let name = value.as_str().unwrap_or_default();
            self.at = format!("/extensionsRequired/{i}");
            if !self.used.contains(name) {
                self.warn("it is not listed in `extensionsUsed`");
            }
            if IGNORABLE.contains(&name) {
                self.warn(format!(
                    "the extension {name} is not supported; it is ignored although the file requires it"
                ));
            } else if !SUPPORTED.contains(&name) {
                return self.fault(format!(
                    "the file requires the extension {}, which is not supported; {}",
                    shorten(name),
                    remedy(name)
                ));
            }
        }
        self.at.clear();
        Ok(())
    }
}

/// Remedy for a file that requires this extension.
fn remedy(extension: &str) -> &'static str {
    match extension {
        "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
            "decompress its meshes, as `gltf-transform copy IN OUT` does"
        }
        "KHR_texture_basisu" => {
            "turn its KTX2 images into PNG, as `gltf-transform ktxdecompress IN OUT` does"
        }
        _ => "export the file without it",
    }
}

fn plain_number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The beginning of a string from a file, fit for a message.
pub(super) fn shorten(text: &str) -> String {
    let mut out: String =
        text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}
