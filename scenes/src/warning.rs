//! Warnings of loaders: everything ignored, replaced or guessed.

use lockstep_core::Error;
use std::collections::HashMap;
use std::fmt;

/// Number of distinct warnings beyond which further ones are only counted.
const MAX_WARNINGS: usize = 200;

/// Places of one warning beyond which further ones are only counted.
const MAX_OTHERS: usize = 31;

/// Something in a scene that was ignored, replaced or guessed; the scene is renderable all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, or the name of a built-in scene.
    pub path: String,
    /// JSON pointer, `byte N`, `line N`, or the guessed part (`camera`, `sky`).
    pub place: String,
    /// The fault, and its treatment.
    pub message: String,
    /// Further places with the same message, at most the first 31 of them.
    pub others: Vec<String>,
    /// Number of places with this message.
    pub count: usize,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.path, self.place, self.message)?;
        match self.count {
            0 | 1 => Ok(()),
            2 => write!(f, " (and in one more place)"),
            n => write!(f, " (and in {} more places)", n - 1),
        }
    }
}

/// Collects the warnings of one file; equal messages are counted instead of repeated.
#[derive(Debug)]
pub(crate) struct Warnings {
    path: String,
    list: Vec<Warning>,
    by_message: HashMap<String, usize>,
    omitted: usize,
}

impl Warnings {
    /// No warnings yet, about the file of this name.
    pub(crate) fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), list: Vec::new(), by_message: HashMap::new(), omitted: 0 }
    }

    /// The file that the warnings are about.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Adds one.
    pub(crate) fn add(&mut self, place: impl Into<String>, message: impl Into<String>) {
        let message = message.into();
        if let Some(&index) = self.by_message.get(&message) {
            let warning = &mut self.list[index];
            warning.count += 1;
            if warning.others.len() < MAX_OTHERS {
                warning.others.push(place.into());
            }
        } else if self.list.len() < MAX_WARNINGS {
            self.by_message.insert(message.clone(), self.list.len());
            self.list.push(self.one(place.into(), message));
        } else {
            self.omitted += 1;
        }
    }

    fn one(&self, place: String, message: String) -> Warning {
        Warning { path: self.path.clone(), place, message, others: Vec::new(), count: 1 }
    }

    /// Turns an error in an unused part into a warning.
    pub(crate) fn add_error(&mut self, error: Error) {
        match error {
            Error::Scene { place, message, .. } => self.add(place, message),
            other => self.add("file", other.to_string()),
        }
    }

    /// An error about this file.
    pub(crate) fn error(&self, place: impl Into<String>, message: impl Into<String>) -> Error {
        Error::scene(&self.path, place, message)
    }

    /// All of them, in the order of discovery.
    pub(crate) fn finish(mut self) -> Vec<Warning> {
        if self.omitted > 0 {
            let message = format!("{} further warnings were left out", self.omitted);
            self.list.push(self.one("file".into(), message));
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_messages_are_counted() {
        let mut warnings = Warnings::new("a.gltf");
        warnings.add("/nodes/0", "skins are ignored");
        warnings.add("/nodes/7", "skins are ignored");
        let list = warnings.finish();
        assert_eq!(
            (list.len(), list[0].count, list[0].others.as_slice()),
            (1, 2, &["/nodes/7".to_string()][..])
        );
        assert_eq!(list[0].to_string(), "a.gltf: /nodes/0: skins are ignored (and in one more place)");
    }

    #[test]
    fn a_flood_of_warnings_is_cut_off() {
        let mut warnings = Warnings::new("a.gltf");
        for i in 0..1000 {
            warnings.add("x", format!("message {i}"));
        }
        let list = warnings.finish();
        assert_eq!(list.len(), MAX_WARNINGS + 1);
        assert_eq!(list[MAX_WARNINGS].message, "800 further warnings were left out");
    }
}
