//! Scenes by the name or path that a user gives.

use lockstep_core::Scene;
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

/// Names of the built-in scenes that need no data, whether or not the data of others is here.
pub(crate) fn built_in() -> Vec<&'static str> {
    // No folder lies under a device file, so scenes that need one are missing theirs.
    let nowhere = LoadOptions { data_folder: Some("/dev/null".into()), ..LoadOptions::default() };
    let all = lockstep_scenes::builtins(&nowhere);
    all.into_iter().filter(|scene| scene.missing.is_none()).map(|scene| scene.name).collect()
}
