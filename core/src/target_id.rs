//! Names of targets.

use crate::mode::Mode;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Separates the backend from the device.
const DEVICE: char = '@';
/// Ends the label of the fast build.
const FAST: &str = "+fast";

/// A target: a backend on a device in a mode. Written as `cpu-bvh`, `opencl@pocl` or `cuda@0+fast`, on the command line
/// and in records.
///
/// Every text is the name of some target, so parsing cannot fail. The device is what follows the first `@`; a text with
/// parentheses, such as `together(cuda@0,cpu-bvh)`, names a composite and has no device of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TargetId {
    /// The application that renders: `cpu-bvh`, `opencl`, `cuda`, or the name of another renderer.
    pub backend: String,
    /// The device's index or short name; `None` where the backend has one device only.
    pub device: Option<String>,
    /// The arithmetic.
    pub mode: Mode,
}

impl TargetId {
    /// The same target in another mode.
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Backend and device without the mode: `opencl@pocl`.
    pub fn device_label(&self) -> String {
        self.in_mode(Mode::Exact).to_string()
    }

    /// Backend and mode without the device, which is one application on all its devices: `opencl+fast`.
    pub fn application(&self) -> String {
        Self { device: None, ..self.clone() }.to_string()
    }
}

impl From<&str> for TargetId {
    fn from(label: &str) -> Self {
        let (name, mode) = match label.strip_suffix(FAST) {
            Some(name) => (name, Mode::Fast),
            None => (label, Mode::Exact),
        };
        let (backend, device) = match name.split_once(DEVICE) {
            Some((backend, device)) if !backend.contains('(') => (backend, Some(device.to_owned())),
            _ => (name, None),
        };
        Self { backend: backend.to_owned(), device, mode }
    }
}

impl From<String> for TargetId {
    fn from(label: String) -> Self {
        label.as_str().into()
    }
}

impl From<TargetId> for String {
    fn from(id: TargetId) -> Self {
        id.to_string()
    }
}

impl FromStr for TargetId {
    type Err = Infallible;

    fn from_str(label: &str) -> Result<Self, Infallible> {
        Ok(label.into())
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.backend)?;
        if let Some(device) = &self.device {
            write!(f, "{DEVICE}{device}")?;
        }
        match self.mode {
            Mode::Exact => Ok(()),
            Mode::Fast => f.write_str(FAST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_as_backend_device_and_mode_and_written_as_it_was() {
        let cases = [
            ("cpu-bvh", "cpu-bvh", None, Mode::Exact),
            ("opencl@pocl", "opencl", Some("pocl"), Mode::Exact),
            ("cuda@0+fast", "cuda", Some("0"), Mode::Fast),
            ("a@b@c", "a", Some("b@c"), Mode::Exact),
            ("together(cuda@0,cpu-bvh)", "together(cuda@0,cpu-bvh)", None, Mode::Exact),
            ("x@", "x", Some(""), Mode::Exact),
            ("", "", None, Mode::Exact),
        ];
        for (label, backend, device, mode) in cases {
            let id = TargetId::from(label);
            assert_eq!((id.backend.as_str(), id.device.as_deref(), id.mode), (backend, device, mode));
            assert_eq!(id.to_string(), label);
        }
    }

    #[test]
    fn a_target_in_another_mode_is_the_same_application_on_the_same_device() {
        let id = TargetId::from("opencl@pocl").in_mode(Mode::Fast);
        assert_eq!(id.to_string(), "opencl@pocl+fast");
        assert_eq!(id.device_label(), "opencl@pocl");
        assert_eq!(id.application(), "opencl+fast");
    }
}
