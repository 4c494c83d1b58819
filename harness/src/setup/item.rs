//! What can be fetched, and by which ways.

use std::fmt;

use super::error::SetupError;
use super::host::Host;
use super::wheel::Bundle;
use super::{apt, wheel};

/// A run-time library that `lockstep setup` can fetch.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Its name on the command line and in messages.
    pub(crate) name: &'static str,
    /// What needs it.
    pub(crate) purpose: &'static str,
    /// Whether it is fetched only when named: it is large, or its licence asks for agreement.
    pub(crate) on_request: bool,
    /// Asks whether it can be used as things are.
    ///
    /// An error means that fetching would not help, and says what would.
    pub(crate) presence: fn(&Host) -> Result<Presence, SetupError>,
    /// The ways to get it on this machine, best first; none where there is no known one.
    pub(crate) ways: fn(&Host) -> Vec<Way>,
    /// What to do by hand where there is no way, as one sentence.
    pub(crate) by_hand: &'static str,
}

/// Whether an item can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It can; release and place.
    There(String),
    /// It cannot; why.
    Missing(String),
}

/// A way to get an item.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Wheels from the Python package index that the machine's pip is set to, into the data folder.
    Wheels(Bundle),
    /// Packages of the Debian or Ubuntu release that the machine runs.
    Apt(&'static [&'static str]),
}

impl Way {
    /// Goes it.
    pub(super) fn go(&self, host: &Host) -> Result<(), SetupError> {
        match self {
            Self::Wheels(bundle) => wheel::install(host, bundle),
            Self::Apt(packages) => apt::install(host, packages),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wheels(bundle) => {
                let names: Vec<String> = bundle.wheels.iter().map(wheel::Wheel::requirement).collect();
                write!(f, "downloading {} with pip", names.join(", "))
            }
            Self::Apt(packages) => write!(f, "installing {} with apt-get", packages.join(", ")),
        }
    }
}
