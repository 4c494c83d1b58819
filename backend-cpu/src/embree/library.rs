//! Finds Embree's library and loads it.
//!
//! If `LOCKSTEP_EMBREE` names a file or folder, only that is searched. Otherwise the search order is the data
//! folder that `lockstep setup` fills, the program's own folder, and the system's loader path.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

pub use lockstep_core::folders::data_folder;
pub use lockstep_embree_sys::{LoadError, Loaded, Version, loaded};

/// The folder under [`data_folder`] into which `lockstep setup` puts Embree.
pub const INSTALLED_AS: &str = "embree-4.4.0";

/// The environment variable that names the library or the folder that holds it.
pub const VARIABLE: &str = "LOCKSTEP_EMBREE";

/// A path to search for the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchPath {
    /// The file or folder that [`VARIABLE`] names.
    Named(PathBuf),
    /// The folder that `lockstep setup` fetches Embree into.
    Data(PathBuf),
    /// The folder of the running program.
    Program(PathBuf),
    /// The search path of the system's loader.
    System,
}

impl SearchPath {
    /// The file or folder; `None` for the system's loader.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Data(path) | Self::Program(path) => Some(path),
            Self::System => None,
        }
    }
}

impl fmt::Display for SearchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(path) => write!(f, "{} (named by {VARIABLE})", path.display()),
            Self::Data(path) => write!(f, "the data folder {}", path.display()),
            Self::Program(path) => write!(f, "the program's folder {}", path.display()),
            Self::System => f.write_str("the system's loader path"),
        }
    }
}

/// A path without a usable library, with the reason.
#[derive(Debug)]
pub struct Miss {
    /// The path searched.
    pub search_path: SearchPath,
    /// A short reason, as of the time of the search.
    pub reason: String,
    /// The loader's error.
    pub error: LoadError,
}

impl Miss {
    fn new(search_path: SearchPath, error: LoadError) -> Self {
        let reason = match &error {
            LoadError::NotFound { .. } if search_path.path().is_some_and(|path| !path.exists()) => {
                "not there".into()
            }
            LoadError::NotFound { attempts } if !attempts.iter().any(|tried| tried.path.exists()) => {
                "no Embree 4 there".into()
            }
            LoadError::NotFound { attempts } => {
                attempts.iter().map(|tried| tried.reason.as_str()).collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        };
        Self { search_path, reason, error }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.search_path, self.reason)
    }
}

/// Embree could not be loaded from any path.
#[derive(Debug, thiserror::Error)]
#[error("{}. Remedy: {}", reason(misses), remedy(misses))]
pub struct LibraryError {
    /// The paths searched, in order.
    pub misses: Vec<Miss>,
}

impl LibraryError {
    /// The reason: the library's name and each path with its fault, as a sentence without its full stop.
    pub fn reason(&self) -> String {
        reason(&self.misses)
    }

    /// The remedy for the user, as one sentence.
    pub fn remedy(&self) -> String {
        remedy(&self.misses)
    }
}

fn reason(misses: &[Miss]) -> String {
    let search_paths = misses.iter().map(Miss::to_string).collect::<Vec<_>>().join("; ");
    format!(
        "Embree 4 ({}) could not be loaded. Searched: {search_paths}",
        lockstep_embree_sys::file_names()[0]
    )
}

fn remedy(misses: &[Miss]) -> String {
    match misses {
        [Miss { search_path: SearchPath::Named(_), .. }] => {
            format!("set {VARIABLE} to the library or its folder, or unset it and run `lockstep setup`.")
        }
        _ => format!("run `lockstep setup`, or set {VARIABLE} to the library or its folder."),
    }
}

/// Loads Embree from the first of [`search_paths`] that has it. After the first success, later calls return
/// the same library at once.
///
/// # Errors
///
/// [`LibraryError`] names every path with its fault. After an error, the next call searches again.
pub fn load() -> Result<&'static Loaded, LibraryError> {
    load_from(search_paths())
}

/// Loads Embree from the first of `search_paths` that has it, as [`load`] does.
///
/// # Errors
///
/// As for [`load`].
pub fn load_from(search_paths: Vec<SearchPath>) -> Result<&'static Loaded, LibraryError> {
    let mut misses = Vec::new();
    for search_path in search_paths {
        match lockstep_embree_sys::load(search_path.path()) {
            Ok(loaded) => return Ok(loaded),
            Err(error) => misses.push(Miss::new(search_path, error)),
        }
    }
    Err(LibraryError { misses })
}

/// A short phrase for the place that a library was loaded from, such as "fetched by lockstep setup".
pub fn kind_of(file: &Path) -> &'static str {
    let same = |place: &Path| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let (place, file) = (real(place), real(file));
        file == place || file.parent() == Some(&place)
    };
    let from = search_paths().into_iter().find(|place| place.path().is_some_and(same));
    match from {
        Some(SearchPath::Named(_)) => "named by LOCKSTEP_EMBREE",
        Some(SearchPath::Data(_)) => "fetched by lockstep setup",
        Some(SearchPath::Program(_)) => "beside the program",
        Some(SearchPath::System) | None => "the system's",
    }
}

/// The paths that [`load`] searches, in order.
pub fn search_paths() -> Vec<SearchPath> {
    let program = env::current_exe().ok().and_then(|file| Some(file.parent()?.to_path_buf()));
    search_paths_for(non_empty_variable(VARIABLE).map(PathBuf::from), data_folder(), program)
}

fn search_paths_for(
    named: Option<PathBuf>,
    data: Option<PathBuf>,
    program: Option<PathBuf>,
) -> Vec<SearchPath> {
    if let Some(named) = named {
        return vec![SearchPath::Named(named)];
    }
    let data = data.map(|folder| SearchPath::Data(folder.join(INSTALLED_AS)));
    data.into_iter().chain(program.map(SearchPath::Program)).chain([SearchPath::System]).collect()
}

/// The value of an environment variable; `None` if it is unset or empty.
fn non_empty_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_library_is_the_only_place() {
        let search_paths = search_paths_for(Some("/a".into()), Some("/b".into()), Some("/c".into()));
        assert_eq!(search_paths, [SearchPath::Named("/a".into())]);
    }

    #[test]
    fn the_data_folder_comes_before_the_program_and_the_system() {
        let search_paths = search_paths_for(None, Some("/data".into()), Some("/bin".into()));
        let data = SearchPath::Data(PathBuf::from("/data").join(INSTALLED_AS));
        assert_eq!(search_paths, [data, SearchPath::Program("/bin".into()), SearchPath::System]);
        assert_eq!(search_paths_for(None, None, None), [SearchPath::System]);
    }
}
