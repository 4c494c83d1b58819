//! `scene.toml`: a scene file with the camera, light and environment that it lacks.

mod bundled;
mod displaced;
mod document;
mod light;
mod spheres;

pub(crate) use bundled::BUNDLED;

use crate::access::FileAccess;
use crate::displacement::{self, Displacement};
use crate::files::{name_of, read_file};
use crate::finish::{add_missing_light, choose, in_file};
use crate::loaded::{Contents, LoadOptions, LoadedScene};
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use document::CameraTable;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Camera, Material, SceneBuilder};
use lockstep_core::{Error, Result};
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Makes a scene's displaced surfaces from its base surfaces.
pub(crate) type Displace<'a> =
    &'a mut dyn FnMut(&[Displacement], &mut SceneBuilder, &mut Warnings) -> Result<()>;

/// Loads a `scene.toml` from disk.
pub(crate) fn load_file(path: &Path, options: &LoadOptions) -> Result<LoadedScene> {
    load_file_with(path, options, &mut |list, builder, warnings| tessellate(list, builder, options, warnings))
}

/// Displaces by triangles.
fn tessellate(
    list: &[Displacement],
    builder: &mut SceneBuilder,
    options: &LoadOptions,
    warnings: &mut Warnings,
) -> Result<()> {
    displacement::apply(list, builder, &options.limits, options.notice, warnings)
}

/// Loads a `scene.toml` from disk, whose surfaces `displace` displaces.
pub(crate) fn load_file_with(
    path: &Path,
    options: &LoadOptions,
    displace: Displace<'_>,
) -> Result<LoadedScene> {
    let bytes = options.limits.read(path)?;
    let name = path.to_string_lossy().into_owned();
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::scene(&name, format!("byte {}", error.utf8_error().valid_up_to()), "the file is not UTF-8")
    })?;
    let source = Text { name: &name, text: &text };
    load_with(&source, &name_of(path), path.parent(), options, displace)
}

/// The text of a document with its name for messages.
struct Text<'a> {
    name: &'a str,
    text: &'a str,
}

impl Text<'_> {
    /// An error at a byte of the text.
    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        Error::scene(self.name, format!("line {line}, column {column}"), message)
    }

    /// The fault that a builder finds in what a table describes, at the table's place. `what` is its subject.
    fn at<T>(&self, table: &Spanned<T>, what: &str, error: Error) -> Error {
        match error {
            Error::Scene { message, .. } => self.error(table.span().start, format!("{what}: {message}")),
            other => other,
        }
    }
}

/// Loads a document, see [`load_with`].
fn load(
    source: &Text<'_>,
    default_name: &str,
    folder: Option<&Path>,
    options: &LoadOptions,
) -> Result<LoadedScene> {
    load_with(source, default_name, folder, options, &mut |list, builder, warnings| {
        tessellate(list, builder, options, warnings)
    })
}

/// Loads a document, whose surfaces `displace` displaces. Relative paths are resolved against `folder` first, then against
/// the folder with scene data.
fn load_with(
    source: &Text<'_>,
    default_name: &str,
    folder: Option<&Path>,
    options: &LoadOptions,
    displace: Displace<'_>,
) -> Result<LoadedScene> {
    let document = document::parse(source)?;
    let files = Files { folder, data: options.data_folder(), access: FileAccess::new(folder, options) };
    let mut warnings = Warnings::new(source.name);
    let mut builder = SceneBuilder::new(document.name.clone().unwrap_or_else(|| default_name.to_string()));
    if let Some(unnamed) = document.materials.iter().find(|m| m.get_ref().name.is_empty()) {
        return Err(source.error(unnamed.span().start, "it needs `name`, that of a material of the file"));
    }
    for table in &document.materials {
        if let Some(fault) = table.get_ref().fault() {
            return Err(source.error(table.span().start, fault));
        }
    }
    let changes = document.materials.iter().map(|m| m.get_ref().clone()).collect();
    let mut overrides = MaterialOverrides::new(changes);
    let mut file_warnings = Warnings::new(source.name);
    let mut contents = Contents::default();
    if let Some(file) = &document.file {
        let path = files.find(source, file)?;
        file_warnings = Warnings::new(path.to_string_lossy());
        let (access, choices) = (&files.access, &options.choices);
        contents = read_file(&path, access, choices, &mut builder, &mut overrides, &mut file_warnings)?;
    } else if document.spheres.is_empty() {
        return Err(source.error(0, "give `file`, a scene, or `[[spheres]]`"));
    }
    contents.has_lamps |= spheres::place(&document.spheres, source, &mut builder)?;
    if let Some((name, near)) = overrides.unused().first() {
        let hint = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        let table = document.materials.iter().find(|material| material.get_ref().name == *name);
        let offset = table.map_or(0, |material| material.span().start);
        return Err(source.error(offset, format!("the file has no material `{name}`{hint}")));
    }
    for (table, materials) in document.materials.iter().zip(overrides.materials()) {
        let what = format!("material `{}`", table.get_ref().name);
        let check = |&material| builder.check_surface(material).map_err(|e| source.at(table, &what, e));
        materials.iter().try_for_each(check)?;
    }
    if document.both_sides || options.both_sides {
        builder.show_both_sides();
    }
    if document.multiscatter {
        builder.scatter_many_times();
    }
    if let Some(color) = &document.clay {
        builder.paint(Material::diffuse(*color.get_ref()));
        builder.check_surface(0).map_err(|error| source.at(color, "`clay`", error))?;
        contents.has_lamps = false;
    }
    light::apply(&document, source, &files, &mut builder)?;
    builder.camera = match &document.camera {
        Some(table) => camera(table, source, &contents.cameras, &file_warnings)?,
        None => match choose(&contents.cameras, options.camera.as_deref(), &file_warnings)? {
            Some(camera) => camera,
            None if options.view.is_placed() => Camera::default(),
            None => {
                return Err(Error::scene(
                    source.name,
                    "camera",
                    "neither this file nor the scene has a camera",
                ));
            }
        },
    };
    let middle = builder.bounds().filter(|_| document.camera.is_none() && contents.cameras.is_empty());
    builder.camera = options.view.camera(builder.camera, middle.map(|[low, high]| (low + high) * 0.5));
    builder.camera.validate(source.name)?;
    let list = displaced::displacements(&document, &overrides, source, &files, &mut warnings)?;
    displace(&list, &mut builder, &mut warnings)?;
    let environment = options.view.environment(&options.limits)?;
    // A document that names a sky has the one that it names, black as well.
    if let Some(environment) = environment {
        builder.environment = environment;
    } else if document.sky.is_none() {
        add_missing_light(&mut builder, contents.has_lamps, &mut warnings);
    }
    let scene = builder.build().map_err(|error| in_file(file_warnings.path(), error))?;
    let mut all = file_warnings.finish();
    all.extend(warnings.finish());
    Ok(LoadedScene { scene, warnings: all })
}

/// The files that a document may refer to.
struct Files<'a> {
    /// The document's folder; `None` for a bundled one.
    folder: Option<&'a Path>,
    /// The folder with scene data.
    data: Option<PathBuf>,
    access: FileAccess<'a>,
}

impl Files<'_> {
    /// A file beside the document or in the folder with scene data.
    fn find(&self, source: &Text<'_>, file: &Spanned<String>) -> Result<PathBuf> {
        let name = file.get_ref();
        let folders = self.folder.into_iter().chain(self.data.as_deref());
        let places: Vec<PathBuf> = folders.map(|folder| folder.join(name)).collect();
        if let Some(found) = places.iter().find(|place| place.is_file()) {
            return Ok(found.clone());
        }
        if self.folder.is_some() && self.data.is_none() {
            let message =
                format!("there is no file `{name}` beside this one, and LOCKSTEP_SCENES is not set");
            return Err(source.error(file.span().start, message));
        }
        let listed: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        Err(source.error(file.span().start, format!("none of these files is there: {}", listed.join(", "))))
    }
}

/// The camera of a document, or the one it picks from its file.
fn camera(
    table: &Spanned<CameraTable>,
    source: &Text<'_>,
    of_file: &[(String, Camera)],
    file_warnings: &Warnings,
) -> Result<Camera> {
    let wrong = |message: &str| Err(source.error(table.span().start, message));
    let t = table.get_ref();
    let mut out = match (&t.from_file, t.eye) {
        (Some(name), None) => match choose(of_file, Some(name), file_warnings) {
            Ok(Some(camera)) => camera,
            _ => return wrong(&format!("the file has no camera `{name}`")),
        },
        (None, Some(eye)) => Camera { eye: eye.into(), ..Camera::default() },
        (Some(_), Some(_)) => return wrong("give either `from_file` or `eye`"),
        (None, None) => return wrong("the camera needs `eye`, or `from_file` to pick one of the file's"),
    };
    match (t.direction, t.target) {
        (Some(_), Some(_)) => return wrong("give either `direction` or `target`"),
        (Some(direction), None) => out.direction = direction.into(),
        (None, Some(target)) => out.direction = Vec3::from(target) - out.eye,
        (None, None) if t.from_file.is_some() => {}
        (None, None) => return wrong("the camera needs `direction` or `target`"),
    }
    out.up = t.up.map_or(out.up, Vec3::from);
    out.vertical_fov = t.fov.map_or(out.vertical_fov, |degrees| degrees * (std::f32::consts::PI / 180.0));
    out.lens_radius = t.lens_radius.unwrap_or(out.lens_radius);
    out.focus_distance = t.focus_distance.unwrap_or(out.focus_distance);
    match out.validate(source.name) {
        Err(Error::Scene { message, .. }) => wrong(&message),
        Err(other) => Err(other),
        Ok(()) => Ok(out),
    }
}
