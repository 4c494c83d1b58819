//! Scene files by their extension.

use crate::access::FileAccess;
use crate::loaded::{Choices, Contents};
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use crate::{gltf, mitsuba, obj, pbrt, ply};
use lockstep_core::Result;
use lockstep_core::scene::SceneBuilder;
use std::path::Path;

/// Reads a glTF, Mitsuba, OBJ, pbrt or PLY file into a builder.
pub(crate) fn read_file(
    path: &Path,
    access: &FileAccess<'_>,
    choices: &Choices,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Contents> {
    let bytes = access.read(path)?;
    let access = access.of_part(path);
    if !matches!(extension(path).as_deref(), Some("gltf" | "glb")) {
        choices.refuse(&path.to_string_lossy())?;
    }
    match extension(path).as_deref() {
        Some("gltf" | "glb") => gltf::load(&bytes, &access, choices, builder, overrides, warnings),
        Some("obj") => obj::load(&bytes, &access, builder, overrides, warnings),
        Some("pbrt") => pbrt::load(&bytes, &access, builder, overrides, warnings),
        Some("ply") => ply::load(&bytes, &access, builder, overrides, warnings),
        Some("xml") => mitsuba::load(&bytes, &access, builder, overrides, warnings),
        _ => Err(warnings.error("file", "only .gltf, .glb, .obj, .ply, .pbrt and .xml files hold geometry")),
    }
}

/// A path's extension in lower case; `pbrt` for a packed `.pbrt.gz`.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let inner = Path::new(path.file_stem()?).extension();
    let is_packed = extension == "gz" && inner.is_some_and(|e| e.eq_ignore_ascii_case("pbrt"));
    Some(if is_packed { "pbrt".into() } else { extension })
}

/// A file's name without folder and extension; records and images are named after it.
fn stem(path: &Path) -> String {
    let is_packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let path = if is_packed { path.file_stem().map(Path::new) } else { Some(path) };
    path.and_then(Path::file_stem).map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A scene's name: its file's without folder and extension. Files named scene.toml, scene.pbrt and scene.xml
/// are named after their folders.
pub(crate) fn name_of(path: &Path) -> String {
    let own = stem(path);
    let is_generic = own == "scene" && matches!(extension(path).as_deref(), Some("toml" | "pbrt" | "xml"));
    let folder_name = path.parent().map(stem).filter(|folder| is_generic && !folder.is_empty());
    folder_name.unwrap_or(own)
}
