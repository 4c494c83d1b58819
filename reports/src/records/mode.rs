//! Exact and fast builds, and the labels that tell them apart.

use serde::{Deserialize, Serialize};

/// What the label of a fast build ends with.
const FAST: &str = "+fast";

/// How the arithmetic of a target was compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Contraction off, every operation correctly rounded: images are promised to be bit-identical.
    #[default]
    Exact,
    /// Contraction and fast maths allowed: images are judged statistically.
    Fast,
    /// A mode that this version does not know.
    #[serde(untagged)]
    Other(String),
}

impl Mode {
    /// The name that records use.
    pub fn as_str(&self) -> &str {
        match self {
            Mode::Exact => "exact",
            Mode::Fast => "fast",
            Mode::Other(name) => name,
        }
    }

    /// A target's label in this mode: its name, with `+fast` behind it for the fast build.
    pub fn label(&self, target: &str) -> String {
        match self {
            Mode::Exact => target.to_owned(),
            other => format!("{target}+{}", other.as_str()),
        }
    }

    /// The target and the mode that a label names.
    pub fn split(label: &str) -> (&str, Mode) {
        match label.strip_suffix(FAST) {
            Some(target) => (target, Mode::Fast),
            None => (label, Mode::Exact),
        }
    }

    /// The mode of a comparison of two labels: fast when either is.
    pub fn of_pair(a: &str, b: &str) -> Mode {
        match (Self::split(a).1, Self::split(b).1) {
            (Mode::Exact, Mode::Exact) => Mode::Exact,
            _ => Mode::Fast,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_read_back_as_target_and_mode() {
        for mode in [Mode::Exact, Mode::Fast] {
            assert_eq!(Mode::split(&mode.label("opencl@pocl")), ("opencl@pocl", mode));
        }
        assert_eq!(Mode::Fast.label("cuda@0"), "cuda@0+fast");
    }

    #[test]
    fn a_pair_is_fast_when_either_is() {
        assert_eq!(Mode::of_pair("a", "b"), Mode::Exact);
        assert_eq!(Mode::of_pair("a", "b+fast"), Mode::Fast);
        assert_eq!(Mode::of_pair("a+fast", "b+fast"), Mode::Fast);
    }
}
