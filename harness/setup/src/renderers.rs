//! Renderers to compare with, each a Python package in an environment of its own.

use std::ffi::OsStr;
use std::path::PathBuf;

use lockstep_core::folders::data_folder;

use crate::environment::{Environment, python_in};
use crate::error::SetupError;
use crate::host::Host;
use crate::item::{Item, Method, Presence};

/// A renderer that can be fetched.
#[derive(Debug)]
pub struct Renderer {
    /// The name of the item and of the target.
    pub name: &'static str,
    /// The name in messages.
    pub label: &'static str,
    /// The exact releases, the preferred one first. Each needs a Python of its own kind.
    releases: &'static [Environment],
    /// A line of Python that checks that the package can be used.
    check: &'static str,
}

/// Mitsuba 3.
pub static MITSUBA: Renderer = Renderer {
    name: "mitsuba",
    label: "Mitsuba 3",
    releases: &[Environment {
        folder: "mitsuba-3.9.1",
        requirements: &["mitsuba==3.9.1"],
        pythons: &["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"],
    }],
    check: "import mitsuba; mitsuba.set_variant('scalar_rgb')",
};

/// Cycles, in Blender as a Python module. Every release of Blender is built for one Python.
pub static CYCLES: Renderer = Renderer {
    name: "cycles",
    label: "Cycles",
    releases: &[
        Environment { folder: "bpy-5.2.3", requirements: &["bpy==5.2.3"], pythons: &["3.13"] },
        Environment {
            folder: "bpy-5.0.1",
            requirements: &["bpy==5.0.1", "numpy==1.26.4"],
            pythons: &["3.11"],
        },
    ],
    check: "import bpy; bpy.context.scene.render.engine = 'CYCLES'",
};

/// LuxCore. Release 2.11.2 aborts when it renders.
pub static LUXCORE: Renderer = Renderer {
    name: "luxcore",
    label: "LuxCore",
    releases: &[Environment {
        folder: "pyluxcore-2.10.1",
        requirements: &["pyluxcore==2.10.1"],
        pythons: &["3.9", "3.10", "3.11", "3.12", "3.13"],
    }],
    check: "import pyluxcore; pyluxcore.Init()",
};

/// The rows for renderers.
pub(super) fn items() -> [Item; 3] {
    [
        item(&MITSUBA, |host| presence(&MITSUBA, host), |host| methods(&MITSUBA, host)),
        item(&CYCLES, |host| presence(&CYCLES, host), |host| methods(&CYCLES, host)),
        item(&LUXCORE, |host| presence(&LUXCORE, host), |host| methods(&LUXCORE, host)),
    ]
}

fn item(
    renderer: &'static Renderer,
    presence: fn(&Host) -> Result<Presence, SetupError>,
    methods: fn(&Host) -> Vec<Method>,
) -> Item {
    Item {
        name: renderer.name,
        target: renderer.name.into(),
        licence: None,
        on_request: true,
        presence,
        methods,
        by_hand: "declare one of your own in a targets.toml, with a script that renders scenes exported to it.",
    }
}

impl Renderer {
    /// The Python interpreter that can import the renderer, where it was fetched.
    pub fn python(&self) -> Option<PathBuf> {
        let data = data_folder()?;
        self.pythons(&data).find(|python| python.exists())
    }

    fn pythons(&self, data: &std::path::Path) -> impl Iterator<Item = PathBuf> {
        self.releases.iter().map(move |release| python_in(&data.join(release.folder)))
    }
}

/// Imports it: the only check that tells whether it can be used.
fn presence(renderer: &Renderer, host: &Host) -> Result<Presence, SetupError> {
    let Some(python) = renderer.pythons(&host.data).find(|python| python.exists()) else {
        return Ok(Presence::Missing(format!("there is no {} in {}", renderer.label, host.data.display())));
    };
    match host.run(&python, &["-c", renderer.check].map(OsStr::new), &[], "fetch it again") {
        Ok(()) => Ok(Presence::There(format!("{} by {}", renderer.label, python.display()))),
        Err(error) => Ok(Presence::Missing(error.to_string())),
    }
}

/// Wheels for Linux, macOS and Windows; the environment's layout is that of the first two.
fn methods(renderer: &Renderer, host: &Host) -> Vec<Method> {
    match host.system() {
        ("linux" | "macos", "x86_64" | "aarch64") => {
            renderer.releases.iter().cloned().map(Method::Environment).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_release_is_exact_and_its_folder_names_it() {
        for renderer in [&MITSUBA, &CYCLES, &LUXCORE] {
            for release in renderer.releases {
                let folder = release.folder.replacen('-', "==", 1);
                assert_eq!(release.requirements.first(), Some(&folder.as_str()));
                assert!(!release.pythons.is_empty(), "{}", renderer.name);
            }
        }
    }
}
