//! The built-in scenes, and loading by name or path.

use crate::access::FileAccess;
use crate::files::{extension, name_of, read_file};
use crate::loaded::{LoadOptions, LoadedScene};
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use crate::{finish, procedural, suggest, toml_scene};
use lockstep_core::scene::SceneBuilder;
use lockstep_core::{Error, Result};
use std::path::Path;

/// A scene that can be named without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The name, as `SCENE` on the command line.
    pub name: &'static str,
    /// One-line description of the scene.
    pub description: &'static str,
    /// Parameters that may follow a colon, for people; empty when there are none.
    pub parameters: &'static str,
    /// `None` if the scene can be loaded, else the missing data and the remedy.
    pub missing: Option<String>,
}

/// All built-in scenes: procedural ones first, then bundled `scene.toml` files with whether their data is
/// present.
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

/// Loads a built-in scene (`cornell`, `atrium:250k`) or a file (`.gltf`, `.glb`, `.obj`, `.ply`, `.pbrt`, `.toml`,
/// `.xml`).
///
/// # Errors
/// [`Error::Unavailable`] for a bundled scene without its data; [`Error::Io`] for a file that cannot be read;
/// [`Error::Scene`] for a name nobody knows, a parameter out of range, or a file that is not renderable.
pub fn load(spec: &str, options: &LoadOptions) -> Result<LoadedScene> {
    let LoadedScene { scene, warnings } = load_as_it_is(spec, options)?;
    let scene = if options.multiscatter { scene.scattering_many_times() } else { scene };
    Ok(LoadedScene { scene, warnings })
}

/// [`load`] with the surfaces that the scene has.
fn load_as_it_is(spec: &str, options: &LoadOptions) -> Result<LoadedScene> {
    let (name, parameter) = match spec.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (spec, None),
    };
    if let Some(procedural) = procedural::ALL.iter().find(|p| p.name == name) {
        if options.camera.is_some() {
            return Err(Error::scene(spec, "camera", "a built-in scene has one camera; leave out --camera"));
        }
        options.choices.refuse(spec)?;
        let scene = options.view.of_built((procedural.build)(parameter)?)?;
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
        Some("gltf" | "glb" | "obj" | "pbrt" | "ply" | "xml") => {
            let mut warnings = Warnings::new(spec);
            let mut builder = SceneBuilder::new(name_of(path));
            // The file that a user names may lie anywhere, also behind a link.
            let access = FileAccess::new(path.parent(), options).of_part(path);
            let mut overrides = MaterialOverrides::default();
            let contents =
                read_file(path, &access, &options.choices, &mut builder, &mut overrides, &mut warnings)?;
            finish::finish(builder, contents, options, warnings)
        }
        _ => Err(unknown(spec, name)),
    }
}

fn unknown(spec: &str, name: &str) -> Error {
    if Path::new(spec).is_dir() {
        return Error::scene(spec, "name", "it is a folder; name a scene file in it, such as its scene.toml");
    }
    let names: Vec<&str> =
        procedural::ALL.iter().map(|p| p.name).chain(toml_scene::BUNDLED.iter().map(|b| b.name)).collect();
    let hint = suggest::nearest(name, names.iter().copied())
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    let message = format!(
        "it is neither a built-in scene ({}) nor a .gltf, .glb, .obj, .ply, .pbrt, .toml or .xml file{hint}",
        names.join(", ")
    );
    Error::scene(spec, "name", message)
}
