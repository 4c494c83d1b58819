//! Which folders are of which port.

use std::path::Path;

use lockstep_reports::port::cost::{Layout, Place, Role, SHARED};

use super::args::CostArgs;
use crate::exit::Failure;
use crate::toml_fault::toml_fault;

/// The layout that options ask for: places given one by one, a file, or what this project's folders are
/// called.
///
/// # Errors
/// [`Failure`] for a file that is no layout, and where no place is known.
pub(crate) fn choose(args: &CostArgs) -> Result<Layout, Failure> {
    let mut layout = match &args.layout {
        Some(path) => read(path)?,
        None if args.places.is_empty() => by_name(&args.root)?,
        None => Layout::default(),
    };
    layout.places.extend(args.places.iter().cloned());
    if layout.backends().is_empty() {
        return Err(Failure::Usage(format!(
            "{} has no backend-* folders, so say which folders are whose, as in --place cuda:device=src/cuda, or with \
             --layout FILE",
            args.root.display()
        )));
    }
    Ok(layout)
}

fn read(path: &Path) -> Result<Layout, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::io("read the layout", path))?;
    toml::from_str(&text).map_err(|error| {
        Failure::Input(format!(
            "cannot use the layout {}: {}; it holds [[place]] tables with path, backend and role = \"host\" or \
             \"device\"",
            path.display(),
            toml_fault(&text, &error)
        ))
    })
}

/// Code of `core` is shared; that of `backend-NAME` is the backend's. In both, and in each package inside
/// them, `src` is host code and `kernels` device code.
fn by_name(root: &Path) -> Result<Layout, Failure> {
    let mut places = Vec::new();
    let mut add = |path: String, backend: &str, role| {
        if root.join(&path).is_dir() {
            places.push(Place { path, backend: backend.to_owned(), role });
        }
    };
    for folder in folders(root)? {
        let backend = if folder == "core" { Some(SHARED) } else { folder.strip_prefix("backend-") };
        let Some(backend) = backend else { continue };
        let packages = folders(&root.join(&folder))?.into_iter().map(|package| format!("{folder}/{package}"));
        for package in [folder.clone()].into_iter().chain(packages) {
            add(format!("{package}/src"), backend, Role::Host);
            add(format!("{package}/kernels"), backend, Role::Device);
        }
    }
    Ok(Layout { places })
}

/// Names of the folders in a folder, sorted.
fn folders(root: &Path) -> Result<Vec<String>, Failure> {
    let entries = std::fs::read_dir(root).map_err(Failure::io("list the folder", root))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(root: &Path) -> CostArgs {
        CostArgs { root: root.into(), layout: None, places: vec![], hours: vec![], into: None, json: false }
    }

    #[test]
    fn this_repository_is_described_without_options() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let layout = choose(&args(&root)).unwrap();
        let mut backends = crate::backends::names();
        backends.sort_unstable();
        assert_eq!(layout.backends(), backends);
        let place = |path| layout.place_of(path).map(|p| (p.backend.as_str(), p.role));
        assert_eq!(place("core/src/renderer.rs"), Some((SHARED, Role::Host)));
        assert_eq!(place("core/transport/src/bsdf.rs"), Some((SHARED, Role::Host)));
        assert_eq!(place("core/gpu/kernels/math.h"), Some((SHARED, Role::Device)));
        assert_eq!(place("backend-cuda/kernels/compat.h"), Some(("cuda", Role::Device)));
    }

    #[test]
    fn a_layout_file_says_whose_folders_are_and_a_wrong_one_is_bad_input() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layout.toml");
        std::fs::write(&path, "[[place]]\npath = \"gpu\"\nbackend = \"cuda\"\nrole = \"device\"\n").unwrap();
        let given = CostArgs { layout: Some(path.clone()), ..args(dir.path()) };
        assert_eq!(choose(&given).unwrap().backends(), ["cuda"]);
        std::fs::write(&path, "[[place]]\npath = \"gpu\"\n").unwrap();
        let error = choose(&given).unwrap_err();
        assert_eq!(error.exit() as u8, 4);
        assert!(error.to_string().contains("layout.toml"), "{error}");
    }

    #[test]
    fn a_folder_without_backends_asks_for_places() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(choose(&args(dir.path())).unwrap_err().exit() as u8, 2);
    }
}
