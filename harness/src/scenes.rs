//! Scenes by the name or path that a user gives.

use std::path::Path;

use lockstep_core::scene::MaterialKind;
use lockstep_core::{Integrator, Scene, SceneBuilder, Settings};
use lockstep_scenes::{LoadOptions, LoadedScene};

use crate::exit::Failure;
use crate::output::say;

/// Loads a scene, and warns of parts of its file that were skipped.
///
/// # Errors
/// [`Failure::Core`]; of kind `Unavailable` for a built-in scene whose data is not here, and of kind `Scene` for one that
/// shows nothing.
pub(crate) fn load(spec: &str, options: &LoadOptions) -> Result<Scene, Failure> {
    let loaded = lockstep_scenes::load(spec, options)?;
    for warning in &loaded.warnings {
        say(&format!("lockstep: {warning}"));
    }
    if shows_nothing(&loaded) {
        let message = "it has no surface, so there is nothing to render; --sky draws a sky";
        return Err(lockstep_core::Error::scene(spec, "geometry", message).into());
    }
    Ok(loaded.scene)
}

/// Whether a scene has no surface, and no sky but one that its loader added.
fn shows_nothing(loaded: &LoadedScene) -> bool {
    let scene = &loaded.scene;
    let has_sky = scene.environment.grid_height > 0 && loaded.warnings.iter().all(|w| w.place != "sky");
    scene.triangles.is_empty() && scene.spheres.is_empty() && !has_sky
}

/// Warns where a scene that the user brought has glass and the settings end paths inside of it. Built-in scenes have the
/// bounces that they are meant to have.
pub(crate) fn warn_of_few_bounces(spec: &str, scene: &Scene, settings: &Settings) {
    let warning = file_of(spec).and_then(|_| few_bounces(scene, settings));
    warning.iter().for_each(|warning| say(&format!("lockstep: {}: {warning}", scene.name)));
}

/// Fewer bounces leave hollow glass dark. Two clear spheres of radius 1 and 0.95, one in the other, under a white sky have a mean
/// of 0.17 at 3 bounces, 0.993 at 8 and 0.999 at 12.
const BOUNCES_OF_GLASS: u32 = 8;

/// Loss of a scene with glass under these settings, as a sentence; `None` where it is little.
fn few_bounces(scene: &Scene, settings: &Settings) -> Option<String> {
    let bounces = settings.bounces;
    if bounces >= BOUNCES_OF_GLASS || settings.integrator == Integrator::Ao {
        return None;
    }
    let is_glass = |material: u32| {
        let material = scene.materials.get(material as usize);
        material.is_some_and(|material| material.kind == MaterialKind::Dielectric as u32)
    };
    let has_glass = scene.triangles.iter().any(|triangle| is_glass(triangle.material))
        || scene.spheres.iter().any(|sphere| is_glass(sphere.material));
    has_glass.then(|| {
        format!("it has glass, and light that scatters more than {bounces} times is left out; --bounces 12 keeps it")
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bounces_are_said_of_files_with_glass_alone() {
        let of = |name: &str, settings: Settings| {
            let scene = lockstep_scenes::load(name, &LoadOptions::default()).unwrap().scene;
            few_bounces(&scene, &settings)
        };
        let bounces = |bounces| Settings { bounces, ..Settings::default() };
        let said = of("furnace:glass", bounces(3)).unwrap();
        assert!(said.contains("more than 3 times") && said.contains("--bounces 12"), "{said}");
        assert!(of("furnace:glass-mesh", bounces(7)).is_some());
        assert_eq!(of("furnace:glass", bounces(8)), None);
        assert_eq!(of("furnace:mirror", bounces(3)), None);
        let occlusion = Settings { integrator: Integrator::Ao, ..bounces(3) };
        assert_eq!(of("furnace:glass", occlusion), None);
        assert_eq!(file_of("furnace:glass"), None, "built-in scenes are not warned of");
    }
}
