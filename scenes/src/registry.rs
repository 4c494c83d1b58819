//! From what a user types to a scene.

use crate::finish::{self, Contents};
use crate::limits::Limits;
use crate::overrides::MaterialOverrides;
use crate::warning::{Warning, Warnings};
use crate::{gltf, obj, procedural, suggest, toml_scene};
use lockstep_core::scene::SceneBuilder;
use lockstep_core::{Error, Result, Scene};
use std::path::{Path, PathBuf};

/// How to load.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Folder with the data of bundled scenes; `None` asks the environment variable `LOCKSTEP_SCENES`.
    pub data_folder: Option<PathBuf>,
    /// Camera of a glTF file, by name or index; the first when absent.
    pub camera: Option<String>,
    /// What a file may ask for.
    pub limits: Limits,
}

/// A scene and what was left out of it.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// Ready to be rendered.
    pub scene: Scene,
    /// What was ignored, replaced or guessed, in the order of discovery.
    pub warnings: Vec<Warning>,
}

/// A scene that can be named without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What to type.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    /// Parameters that may follow a colon, for people; empty when there are none.
    pub parameters: &'static str,
    /// `None` when it can be loaded, else what is missing and what to do.
    pub missing: Option<String>,
}

impl LoadOptions {
    /// The folder with the data of bundled scenes, if any is known.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        self.data_folder.clone().or_else(|| std::env::var_os("LOCKSTEP_SCENES").map(PathBuf::from))
    }
}

/// All built-in scenes: procedural ones first, then bundled `scene.toml` files with whether their data is present.
pub fn builtins(options: &LoadOptions) -> Vec<Builtin> {
    let procedural = procedural::ALL.iter().map(|p| Builtin {
        name: p.name,
        description: p.description,
        parameters: p.parameters,
        missing: None,
    });
    let bundled = toml_scene::BUNDLED.iter().map(|b| Builtin {
        name: b.name,
        description: b.description,
        parameters: "",
        missing: b.missing(options).map(|error| error.to_string()),
    });
    procedural.chain(bundled).collect()
}

/// Loads a built-in scene (`cornell`, `atrium:250k`) or a file (`.gltf`, `.glb`, `.obj`, `.toml`).
///
/// # Errors
/// [`Error::Unavailable`] for a bundled scene without its data; [`Error::Io`] for a file that cannot be read;
/// [`Error::Scene`] for a name nobody knows, a parameter out of range, or a file that is not renderable.
pub fn load(spec: &str, options: &LoadOptions) -> Result<LoadedScene> {
    let (name, parameter) = match spec.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (spec, None),
    };
    if let Some(procedural) = procedural::ALL.iter().find(|p| p.name == name) {
        let scene = (procedural.build)(parameter)?;
        return Ok(LoadedScene { scene, warnings: Vec::new() });
    }
    // Without a view, a bundled scene is its wide one.
    let is_meant = |name: &str| name == spec || name.strip_suffix("-wide") == Some(spec);
    if let Some(bundled) = toml_scene::BUNDLED.iter().find(|b| is_meant(b.name)) {
        return bundled.load(options);
    }
    let path = Path::new(spec);
    match extension(path).as_deref() {
        Some("toml") => toml_scene::load_file(path, options),
        Some("gltf" | "glb" | "obj") => {
            let mut warnings = Warnings::new(spec);
            let mut builder = SceneBuilder::new(stem(path));
            let contents =
                read_file(path, options, &mut builder, &mut MaterialOverrides::default(), &mut warnings)?;
            finish::finish(builder, contents, options, warnings)
        }
        _ => Err(unknown(spec, name)),
    }
}

/// Reads a glTF or OBJ file into a builder.
pub(crate) fn read_file(
    path: &Path,
    options: &LoadOptions,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Contents> {
    let bytes = options.limits.read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    match extension(path).as_deref() {
        Some("gltf" | "glb") => gltf::load(&bytes, folder, &options.limits, builder, overrides, warnings),
        Some("obj") => obj::load(&bytes, folder, &options.limits, builder, overrides, warnings),
        _ => Err(warnings.error("file", "only .gltf, .glb and .obj files hold geometry")),
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// A file's name without folder and extension: what records and pictures are named after.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn unknown(spec: &str, name: &str) -> Error {
    let names: Vec<&str> =
        procedural::ALL.iter().map(|p| p.name).chain(toml_scene::BUNDLED.iter().map(|b| b.name)).collect();
    let hint = suggest::nearest(name, names.iter().copied())
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    let message = format!(
        "it is neither a built-in scene ({}) nor a .gltf, .glb, .obj or .toml file{hint}",
        names.join(", ")
    );
    Error::scene(spec, "name", message)
}
