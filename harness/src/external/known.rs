//! Renderers that Lockstep knows how to run, and the scenes that it writes for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_core::{Error, Scene, Unavailable};
use lockstep_scenes::export::{self, Exported};
use lockstep_setup::renderers::{self, Renderer};
use regex_lite::Regex;

use super::command::{Command, Words};
use super::document::{Format, TIMEOUT_S};
use super::template::{Placeholder, Template};
use super::times::{Times, Unit};
use super::{Declared, External};
use crate::exit::Failure;

/// The name of the program that renders a scene; it lies beside the scene.
const SCRIPT: &str = "render.py";

/// A renderer that Lockstep knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Mitsuba 3.
    Mitsuba,
    /// Cycles in Blender.
    Cycles,
    /// LuxCore.
    LuxCore,
}

impl Known {
    const ALL: [Self; 3] = [Self::Mitsuba, Self::Cycles, Self::LuxCore];

    /// The package.
    fn renderer(self) -> &'static Renderer {
        match self {
            Self::Mitsuba => &renderers::MITSUBA,
            Self::Cycles => &renderers::CYCLES,
            Self::LuxCore => &renderers::LUXCORE,
        }
    }

    /// The program that renders a scene written for it.
    fn script(self) -> &'static str {
        match self {
            Self::Mitsuba => include_str!("mitsuba_render.py"),
            Self::Cycles => include_str!("cycles_render.py"),
            Self::LuxCore => include_str!("luxcore_render.py"),
        }
    }

    /// A line of Python that prints the version. It asks pip's records: importing a package of this size takes seconds.
    fn version(self) -> String {
        let (name, package) = match self {
            Self::Mitsuba => ("Mitsuba", "mitsuba"),
            Self::Cycles => ("Cycles in Blender", "bpy"),
            Self::LuxCore => ("LuxCore", "pyluxcore"),
        };
        format!("import importlib.metadata as m; print('{name}', m.version('{package}'))")
    }

    /// The option that chooses a variant, and the variants. The first is taken where the target names none: it needs
    /// neither a device nor a compiler of kernels at run time.
    fn variants(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Self::Mitsuba => Some(("variant", &["scalar_rgb", "llvm_ad_rgb", "cuda_ad_rgb"])),
            Self::Cycles => Some(("device", &["CPU", "CUDA", "OPTIX", "HIP", "ONEAPI", "METAL"])),
            Self::LuxCore => None,
        }
    }

    fn format(self) -> Format {
        match self {
            Self::Mitsuba | Self::Cycles => Format::Exr,
            Self::LuxCore => Format::Pfm,
        }
    }

    /// Writes a scene for the renderer, with the program that renders it.
    ///
    /// # Errors
    /// [`Failure::Core`] and [`Failure::Io`] for files that cannot be written.
    pub(crate) fn write(self, scene: &Scene, folder: &Path) -> Result<Exported, Failure> {
        let write: fn(&Scene, &Path) -> Result<Exported, Error> = match self {
            Self::Mitsuba => export::to_mitsuba,
            Self::Cycles => export::to_cycles,
            Self::LuxCore => export::to_luxcore,
        };
        let exported = write(scene, folder)?;
        let program = folder.join(SCRIPT);
        std::fs::write(&program, self.script()).map_err(Failure::io("write", &program))?;
        Ok(Exported { file: program, ..exported })
    }

    /// The renderer in every variant, present or not. The first has no variant in its name.
    fn targets(self) -> Vec<External> {
        let renderer = self.renderer();
        let state = renderer.python().ok_or_else(|| Unavailable {
            reason: format!("{} is not set up", renderer.label),
            remedy: format!("Run `lockstep setup {}`.", renderer.name),
        });
        let python = state.clone().unwrap_or_else(|_| PathBuf::from("python3"));
        let target = |id: String, chosen: Option<String>| External {
            listed: id == renderer.name,
            id: id.as_str().into(),
            declared: self.declared(&python, chosen),
            state: state.clone(),
        };
        let Some((option, variants)) = self.variants() else {
            return vec![target(renderer.name.to_owned(), None)];
        };
        let choice = |variant: &str| Some(format!("--{option}={variant}"));
        let named =
            variants.iter().map(|variant| target(variant_id(renderer.name, variant), choice(variant)));
        let first = variants.first().and_then(|variant| choice(variant));
        std::iter::once(target(renderer.name.to_owned(), first)).chain(named).collect()
    }

    fn declared(self, python: &Path, variant: Option<String>) -> Declared {
        let plain = Template::plain;
        let python = plain(&python.to_string_lossy());
        let mut words = vec![python.clone(), Template::hole(Placeholder::Scene)];
        words.extend(variant.as_deref().map(plain));
        let options = [
            Placeholder::Spp,
            Placeholder::Seed,
            Placeholder::Width,
            Placeholder::Height,
            Placeholder::Bounces,
            Placeholder::Out,
        ];
        words.extend(options.map(|hole| Template::option(&format!("--{}=", hole.name()), hole)));
        let version = vec![python, plain("-c"), plain(&self.version())];
        let command =
            |words| Command { words: Words::Plain(words), env: BTreeMap::new(), dir: std::env::temp_dir() };
        // The expression is a constant.
        let times = Regex::new(r"(?m)^render (\S+) s$")
            .map_or(Times::Wall, |regex| Times::Printed { regex, unit: Unit::S });
        Declared {
            command: command(words),
            version: Some(command(version)),
            format: self.format(),
            times,
            continues: false,
            timeout_s: TIMEOUT_S,
            scene: SceneInput::Written(self),
            place: None,
        }
    }
}

/// The name of a target: variants are written in lower case.
fn variant_id(name: &str, variant: &str) -> String {
    format!("{name}@{}", variant.to_ascii_lowercase())
}

/// How a program gets its scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SceneInput {
    /// By the path or name on the command line.
    Named,
    /// As files that Lockstep writes for a renderer.
    Written(Known),
}

impl SceneInput {
    /// The file that the program is given, from the folder of a written scene; `None` where scenes are named.
    pub(crate) fn file(self, folder: &Path) -> Option<PathBuf> {
        match self {
            Self::Named => None,
            Self::Written(_) => Some(folder.join(SCRIPT)),
        }
    }

    /// Writes a scene into a folder if the program needs one; returns the files for the program and the features that
    /// it lacks.
    ///
    /// # Errors
    /// As [`Known::write`].
    pub(crate) fn write(self, scene: &Scene, folder: &Path) -> Result<Option<Exported>, Failure> {
        match self {
            Self::Named => Ok(None),
            Self::Written(known) => Ok(Some(known.write(scene, folder)?)),
        }
    }
}

/// Whether a target's name before the `@` is that of a known renderer.
pub(super) fn is_known(name: &str) -> bool {
    Known::ALL.iter().any(|known| name.eq_ignore_ascii_case(known.renderer().name))
}

/// Every known renderer in every variant.
pub(super) fn all() -> Vec<External> {
    Known::ALL.into_iter().flat_map(Known::targets).collect()
}
