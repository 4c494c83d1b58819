//! Scenes by the name or path that a user gives.

use std::path::Path;

use lockstep_core::{Scene, SceneBuilder};
use lockstep_scenes::LoadOptions;

use crate::exit::Failure;
use crate::output::say;

/// Loads a scene, and warns of parts of its file that were skipped.
///
/// # Errors
/// [`Failure::Core`]; of kind `Unavailable` for a built-in scene whose data is not here.
pub(crate) fn load(spec: &str, options: &LoadOptions) -> Result<Scene, Failure> {
    let loaded = lockstep_scenes::load(spec, options)?;
    for warning in &loaded.warnings {
        say(&format!("lockstep: {warning}"));
    }
    Ok(loaded.scene)
}

/// The file or folder that a scene is in; `None` for a built-in one, and for what is not there.
pub(crate) fn file_of(spec: &str) -> Option<&Path> {
    let name = spec.split(':').next().unwrap_or(spec);
    let is_built_in =
        lockstep_scenes::builtins(&LoadOptions::default()).iter().any(|scene| scene.name == name);
    Some(Path::new(spec)).filter(|path| !is_built_in && path.exists())
}

/// A scene of the command line as programs get it: the absolute path of what is there, else the name.
pub(crate) fn word_of(spec: &str) -> String {
    let absolute = file_of(spec).and_then(|path| std::path::absolute(path).ok());
    absolute.map_or_else(|| spec.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// An empty scene with the name of a file or folder that only other programs read, and the BLAKE3 hash of the file, in
/// hexadecimal; empty for a folder.
///
/// # Errors
/// [`Failure::Io`] for a file that cannot be read.
pub(crate) fn stand_in(path: &Path) -> Result<(Scene, String), Failure> {
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    let scene = SceneBuilder::new(&*name).build()?;
    if path.is_dir() {
        return Ok((scene, String::new()));
    }
    let mut hasher = blake3::Hasher::new();
    let file = std::fs::File::open(path).map_err(Failure::io("open", path))?;
    hasher.update_reader(file).map_err(Failure::io("read", path))?;
    Ok((scene, hasher.finalize().to_hex().to_string()))
}

/// Names of the built-in scenes that need no data, whether or not the data of others is here.
pub(crate) fn built_in() -> Vec<&'static str> {
    // No folder lies under a device file, so scenes that need one are missing theirs.
    let nowhere = LoadOptions { data_folder: Some("/dev/null".into()), ..LoadOptions::default() };
    let all = lockstep_scenes::builtins(&nowhere);
    all.into_iter().filter(|scene| scene.missing.is_none()).map(|scene| scene.name).collect()
}
