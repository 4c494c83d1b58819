//! Renderers that Lockstep knows how to run, and the scenes that it writes for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_core::{Scene, Unavailable};
use lockstep_scenes::export::{self, Exported};
use lockstep_setup::mitsuba;
use regex_lite::Regex;

use super::command::{Command, Words};
use super::document::{Format, TIMEOUT_S};
use super::template::{Placeholder, Template};
use super::times::{Times, Unit};
use super::{Declared, External};
use crate::exit::Failure;

/// Mitsuba's variant where the target names none: it needs no compiler of kernels at run time.
const MITSUBA_VARIANT: &str = "scalar_rgb";

/// Variants of Mitsuba that render RGB.
const MITSUBA_VARIANTS: [&str; 3] = [MITSUBA_VARIANT, "llvm_ad_rgb", "cuda_ad_rgb"];

/// The program that renders a scene written for Mitsuba; it lies beside the scene.
const MITSUBA_RENDER: &str = include_str!("mitsuba_render.py");

/// The name of its file.
const MITSUBA_FILE: &str = "render.py";

/// How a program gets its scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SceneInput {
    /// By the path or name on the command line.
    Named,
    /// As files that Lockstep writes for Mitsuba.
    Mitsuba,
}

impl SceneInput {
    /// The file that the program is given of a scene that was written into a folder; `None` where scenes are named.
    pub(crate) fn file(self, folder: &Path) -> Option<PathBuf> {
        match self {
            Self::Named => None,
            Self::Mitsuba => Some(folder.join(MITSUBA_FILE)),
        }
    }

    /// Writes a scene into a folder where the program needs that: what the program is given, and what it cannot express.
    ///
    /// # Errors
    /// [`Failure::Core`] for files that cannot be written.
    pub(crate) fn write(self, scene: &Scene, folder: &Path) -> Result<Option<Exported>, Failure> {
        match self {
            Self::Named => Ok(None),
            Self::Mitsuba => Ok(Some(write_for_mitsuba(scene, folder)?)),
        }
    }
}

/// Writes a scene for Mitsuba, with the program that renders it.
///
/// # Errors
/// [`Failure::Core`] and [`Failure::Io`] for files that cannot be written.
pub(crate) fn write_for_mitsuba(scene: &Scene, folder: &Path) -> Result<Exported, Failure> {
    let exported = export::to_mitsuba(scene, folder)?;
    let program = folder.join(MITSUBA_FILE);
    std::fs::write(&program, MITSUBA_RENDER).map_err(Failure::io("write", &program))?;
    Ok(Exported { file: program, ..exported })
}

/// Whether a target's name before the `@` is that of a known renderer.
pub(super) fn is_known(name: &str) -> bool {
    name.eq_ignore_ascii_case("mitsuba")
}

/// Every known renderer in every variant, present or not. The first of each has no variant in its name.
pub(super) fn all() -> Vec<External> {
    let state = match mitsuba::python() {
        Some(python) => Ok(python),
        None => Err(Unavailable {
            reason: "Mitsuba 3 is not set up".to_owned(),
            remedy: "Run `lockstep setup mitsuba`.".to_owned(),
        }),
    };
    let of = |name: String, variant: &str| External {
        id: name.as_str().into(),
        declared: mitsuba_declared(state.as_ref().map_or(Path::new("python3"), PathBuf::as_path), variant),
        state: state.clone(),
        listed: name == "mitsuba",
    };
    let variants = MITSUBA_VARIANTS.into_iter().map(|variant| of(format!("mitsuba@{variant}"), variant));
    std::iter::once(of("mitsuba".to_owned(), MITSUBA_VARIANT)).chain(variants).collect()
}

fn mitsuba_declared(python: &Path, variant: &str) -> Declared {
    let plain = |text: &str| Template::plain(text);
    let option = |name: &str, hole| Template::option(name, hole);
    let python = plain(&python.to_string_lossy());
    let words = vec![
        python.clone(),
        Template::hole(Placeholder::Scene),
        plain(&format!("--variant={variant}")),
        option("--spp=", Placeholder::Spp),
        option("--seed=", Placeholder::Seed),
        option("--width=", Placeholder::Width),
        option("--height=", Placeholder::Height),
        option("--bounces=", Placeholder::Bounces),
        option("--out=", Placeholder::Out),
    ];
    let print = "import mitsuba; print('Mitsuba', mitsuba.__version__)";
    let version = vec![python, plain("-c"), plain(print)];
    let command =
        |words| Command { words: Words::Plain(words), env: BTreeMap::new(), dir: std::env::temp_dir() };
    // The expression is a constant.
    let times = Regex::new(r"(?m)^render (\S+) s$")
        .map_or(Times::Wall, |regex| Times::Printed { regex, unit: Unit::S });
    Declared {
        command: command(words),
        version: Some(command(version)),
        format: Format::Exr,
        times,
        continues: false,
        timeout_s: TIMEOUT_S,
        scene: SceneInput::Mitsuba,
        place: None,
    }
}
