//! Mitsuba 3, for the target `mitsuba`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lockstep_core::folders::data_folder;

use crate::environment::{Environment, python_in};
use crate::error::SetupError;
use crate::host::Host;
use crate::item::{Item, Method, Presence};

const ENVIRONMENT: Environment = Environment { folder: "mitsuba-3.9.1", requirements: &["mitsuba==3.9.1"] };

/// The row for Mitsuba.
pub(super) fn item() -> Item {
    Item {
        name: "mitsuba",
        target: "mitsuba".into(),
        licence: None,
        on_request: true,
        presence,
        methods,
        by_hand: "declare a Mitsuba of your own in a targets.toml, with a script that renders scenes exported to it.",
    }
}

/// The Python that can import Mitsuba, where it was fetched.
pub fn python() -> Option<PathBuf> {
    Some(python_of(&data_folder()?)).filter(|python| python.exists())
}

fn python_of(data: &Path) -> PathBuf {
    python_in(&data.join(ENVIRONMENT.folder))
}

/// Imports it: the only proof that it can be used.
fn presence(host: &Host) -> Result<Presence, SetupError> {
    let python = python_of(&host.data);
    let words = ["-c", "import mitsuba; mitsuba.set_variant('scalar_rgb')"].map(OsStr::new);
    match host.run(&python, &words, &[], "fetch it again") {
        Ok(()) => Ok(Presence::There(format!("Mitsuba at {}", host.data.join(ENVIRONMENT.folder).display()))),
        Err(error) => Ok(Presence::Missing(error.to_string())),
    }
}

/// Wheels for Linux, macOS and Windows; the environment's layout is that of the first two.
fn methods(host: &Host) -> Vec<Method> {
    match host.system() {
        ("linux" | "macos", "x86_64" | "aarch64") => vec![Method::Environment(ENVIRONMENT)],
        _ => Vec::new(),
    }
}
