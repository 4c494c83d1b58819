//! `--dump-kernels`: the device code of every backend, as compilers get it.

use std::path::Path;

use lockstep_reports::image_io::atomic_write_text;

use crate::backends;
use crate::exit::Failure;
use crate::output::say;

/// The program that writes the files.
const PROGRAM: &str = concat!("Lockstep ", env!("CARGO_PKG_VERSION"));

/// Writes the assembled source of every dialect and build into a folder, each file in one step, and says
/// where.
///
/// # Errors
/// [`Failure::Io`] and [`Failure::Write`], naming the path that cannot be written.
pub(crate) fn dump(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(Failure::io("make the folder", folder))?;
    for unit in backends::kernels() {
        let path = folder.join(unit.file_name());
        atomic_write_text(&path, &unit.text(PROGRAM))?;
        say(&format!("lockstep: {}", path.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_and_build_is_written_under_its_hash() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made/here");
        dump(Some(&folder)).unwrap();
        dump(Some(&folder)).unwrap();
        let names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let translation_units = backends::kernels();
        for unit in &translation_units {
            assert!(names.contains(&unit.file_name()), "{} in {names:?}", unit.file_name());
        }
        assert_eq!(
            names.len(),
            translation_units.len(),
            "each dialect and build has a name of its own: {names:?}"
        );
        let builds = backends::names().into_iter().filter(|name| *name != "cpu");
        for build in builds.flat_map(|name| ["exact", "fast"].map(|mode| format!("{name}-{mode}"))) {
            assert!(names.iter().any(|name| name.starts_with(&build)), "{build} in {names:?}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = dump(Some(&file.join("below"))).unwrap_err().to_string();
        assert!(error.contains("below"), "{error}");
    }
}
