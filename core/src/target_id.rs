//! Names of targets.

use crate::mode::Mode;
use crate::settings::{Integrator, LayerSampling, Settings};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Separates the backend from the device.
const DEVICE: char = '@';
/// Ends the label of the fast build.
const FAST: &str = "+fast";
/// Separates the integrator and the way of sampling layers, which come last.
const ESTIMATOR: char = '+';

/// A target: a backend on a device in a mode. Written as `cpu-bvh`, `opencl@pocl` or `cuda@0+fast`, on the command line
/// and in records. Where a study compares integrators or ways of sampling layers, each is a target of its own:
/// `cpu-bvh+bpt`, `cpu-bvh+tree`.
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
    /// The integrator, where targets differ in it; `None` for that of the settings.
    pub integrator: Option<Integrator>,
    /// How layers are sampled, where targets differ in it; `None` for that of the settings.
    pub layers: Option<LayerSampling>,
}

impl TargetId {
    /// Sets the mode of a target.
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Gives a target an integrator of its own.
    #[must_use]
    pub fn by(&self, integrator: Integrator) -> Self {
        Self { integrator: Some(integrator), ..self.clone() }
    }

    /// Gives a target a way of its own of sampling layers.
    #[must_use]
    pub fn with_layers(&self, layers: LayerSampling) -> Self {
        Self { layers: Some(layers), ..self.clone() }
    }

    /// The target that renders for this one, without integrator and layers: `cuda@0+fast`.
    #[must_use]
    pub fn renderer(&self) -> Self {
        Self { integrator: None, layers: None, ..self.clone() }
    }

    /// Whether another target has the same integrator and way of sampling layers, so that exact ones leave the same film.
    pub fn is_alike(&self, other: &Self) -> bool {
        (self.integrator, self.layers) == (other.integrator, other.layers)
    }

    /// Settings in the target's mode and, where it has its own, by its integrator and way of sampling layers.
    #[must_use]
    pub fn settings(&self, shared: &Settings) -> Settings {
        let integrator = self.integrator.unwrap_or(shared.integrator);
        Settings { mode: self.mode, integrator, layers: self.layers.unwrap_or(shared.layers), ..*shared }
    }

    /// Backend and device without mode and integrator: `opencl@pocl`.
    pub fn device_label(&self) -> String {
        self.renderer().in_mode(Mode::Exact).to_string()
    }

    /// Backend, mode and integrator without the device, which is one application on all its devices: `opencl+fast`.
    pub fn application(&self) -> String {
        Self { device: None, ..self.clone() }.to_string()
    }
}

impl From<&str> for TargetId {
    fn from(label: &str) -> Self {
        let (name, layers) = without_last(label);
        let (name, integrator) = without_last(name);
        let (name, mode) = match name.strip_suffix(FAST) {
            Some(name) => (name, Mode::Fast),
            None => (name, Mode::Exact),
        };
        let (backend, device) = match name.split_once(DEVICE) {
            Some((backend, device)) if !backend.contains('(') => (backend, Some(device.to_owned())),
            _ => (name, None),
        };
        Self { backend: backend.to_owned(), device, mode, integrator, layers }
    }
}

/// A label without its last part, and that part, where it names one of these.
fn without_last<T: FromStr>(label: &str) -> (&str, Option<T>) {
    let found = label.rsplit_once(ESTIMATOR).and_then(|(name, last)| Some((name, last.parse().ok()?)));
    found.map_or((label, None), |(name, last)| (name, Some(last)))
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

impl From<&TargetId> for String {
    fn from(id: &TargetId) -> Self {
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
        if self.mode == Mode::Fast {
            f.write_str(FAST)?;
        }
        if let Some(integrator) = self.integrator {
            write!(f, "{ESTIMATOR}{integrator}")?;
        }
        match self.layers {
            Some(layers) => write!(f, "{ESTIMATOR}{layers}"),
            None => Ok(()),
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
    fn the_integrator_of_a_label_is_what_follows_the_last_plus_if_there_is_one_of_that_name() {
        let id = TargetId::from("cuda@0+fast+bpt");
        assert_eq!((id.mode, id.integrator), (Mode::Fast, Some(Integrator::Bpt)));
        assert_eq!(id.to_string(), "cuda@0+fast+bpt");
        assert_eq!((id.renderer().to_string(), id.device_label()), ("cuda@0+fast".into(), "cuda@0".into()));
        assert_eq!(TargetId::from("cpu-bvh").by(Integrator::Path).to_string(), "cpu-bvh+path");
        let other = TargetId::from("mine+new");
        assert_eq!((other.backend.as_str(), other.integrator), ("mine+new", None));
    }

    #[test]
    fn the_layers_of_a_label_come_after_its_integrator() {
        let id = TargetId::from("cuda@0+fast+path+tree");
        assert_eq!((id.integrator, id.layers), (Some(Integrator::Path), Some(LayerSampling::Tree)));
        assert_eq!(
            (id.to_string(), id.renderer().to_string()),
            ("cuda@0+fast+path+tree".into(), "cuda@0+fast".into())
        );
        let [together, tree] = LayerSampling::ALL.map(|layers| TargetId::from("cpu-bvh").with_layers(layers));
        assert_eq!(tree.to_string(), "cpu-bvh+tree");
        assert!(!together.is_alike(&tree) && together.is_alike(&TargetId::from("opencl@pocl+together")));
        let shared = Settings { layers: LayerSampling::Tree, ..Settings::default() };
        assert_eq!(together.settings(&shared).layers, LayerSampling::Together);
        assert_eq!(together.renderer().settings(&shared).layers, LayerSampling::Tree);
        assert_eq!(TargetId::from("together(a,b)").layers, None);
    }

    #[test]
    fn a_target_in_another_mode_is_the_same_application_on_the_same_device() {
        let id = TargetId::from("opencl@pocl").in_mode(Mode::Fast);
        assert_eq!(id.to_string(), "opencl@pocl+fast");
        assert_eq!(id.device_label(), "opencl@pocl");
        assert_eq!(id.application(), "opencl+fast");
    }
}
