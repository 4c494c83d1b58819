//! The libraries that can be fetched, and the methods of fetching them.

use crate::environment::Environment;
use crate::error::SetupError;
use crate::host::Host;
use crate::wheel::Bundle;
use crate::{apt, environment, wheel};
use lockstep_core::TargetId;
use std::fmt;

/// A run-time library that can be fetched.
#[derive(Clone, Debug)]
pub struct Item {
    /// The name on the command line and in messages.
    pub(crate) name: &'static str,
    /// The target that needs it; without a device, every device of the backend.
    pub(crate) target: TargetId,
    /// The licence to be agreed to, where it is not a free one.
    pub(crate) licence: Option<&'static str>,
    /// Whether the item is fetched only when named: it is large, or its licence asks for agreement.
    pub(crate) on_request: bool,
    /// Checks whether it can be used now. An error means that fetching would not help, and names the remedy.
    pub(crate) presence: fn(&Host) -> Result<Presence, SetupError>,
    /// The methods of fetching it on this machine, best first; empty where none is known.
    pub(crate) methods: fn(&Host) -> Vec<Method>,
    /// The remedy where no method works, as one sentence.
    pub(crate) by_hand: &'static str,
}

impl Item {
    /// Whether a target needs the item. A target without a device stands for any device of its backend.
    pub fn serves(&self, target: &TargetId) -> bool {
        let (own, other) = (&self.target.device, &target.device);
        self.target.backend == target.backend && (own.is_none() || other.is_none() || own == other)
    }

    /// The target that needs it, and its licence, for messages.
    pub(crate) fn purpose(&self) -> String {
        let licence = self.licence.map(|licence| format!("; under {licence}"));
        format!("for the target {}{}", self.target, licence.unwrap_or_default())
    }
}

/// Whether an item can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Usable: release and place.
    There(String),
    /// Not usable: the reason.
    Missing(String),
}

/// A method of fetching an item.
#[derive(Clone, Debug)]
pub(crate) enum Method {
    /// Wheels from the Python package index that the machine's pip is set to, into the data folder.
    Wheels(Bundle),
    /// Python packages and what they depend on, in an environment of their own in the data folder.
    Environment(Environment),
    /// Packages of the Debian or Ubuntu release that the machine runs.
    Apt(&'static [&'static str]),
}

impl Method {
    /// Fetches the item.
    pub(crate) fn run(&self, host: &Host) -> Result<(), SetupError> {
        match self {
            Self::Wheels(bundle) => wheel::install(host, bundle),
            Self::Environment(environment) => environment::install(host, environment),
            Self::Apt(packages) => apt::install(host, packages),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wheels(bundle) => {
                let names: Vec<String> = bundle.wheels.iter().map(wheel::Wheel::requirement).collect();
                write!(f, "downloading {} with pip", names.join(", "))
            }
            Self::Environment(environment) => {
                write!(
                    f,
                    "installing {} with pip into an environment of its own",
                    environment.requirements.join(", ")
                )
            }
            Self::Apt(packages) => write!(f, "installing {} with apt-get", packages.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{embree, nvrtc, opencl};

    #[test]
    fn an_item_serves_the_targets_of_its_backend_and_device() {
        let serves = |item: crate::Item, target: &str| item.serves(&target.into());
        assert!(serves(embree::item(), "cpu-embree"));
        assert!(!serves(embree::item(), "cpu-bvh"));
        assert!(serves(nvrtc::item(), "cuda") && serves(nvrtc::item(), "cuda@1"));
        assert!(serves(opencl::pocl(), "opencl") && serves(opencl::pocl(), "opencl@pocl"));
        assert!(!serves(opencl::pocl(), "opencl@intel"));
    }

    #[test]
    fn the_purpose_names_the_target_and_a_licence_to_agree_to() {
        assert_eq!(embree::item().purpose(), "for the target cpu-embree");
        assert!(nvrtc::item().purpose().starts_with("for the target cuda; under NVIDIA's"));
    }
}
