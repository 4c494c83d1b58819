//! Where Embree is looked for, and how it is loaded.
//!
//! In order: the file or folder that `LOCKSTEP_EMBREE` names, and then nothing else; the data folder
//! that `lockstep setup` fills; the program's own folder; the system's loader path.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

pub use embree4_sys::{LoadError, Loaded, Version, loaded};

/// The folder under [`data_folder`] into which `lockstep setup` puts Embree.
pub const INSTALLED_AS: &str = "embree-4.4.0";

/// The environment variable that names the library or the folder that holds it.
pub const VARIABLE: &str = "LOCKSTEP_EMBREE";

/// One place where the library may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file or folder that [`VARIABLE`] names.
    Named(PathBuf),
    /// What `lockstep setup` fetched.
    Data(PathBuf),
    /// The folder of the running program.
    Program(PathBuf),
    /// Wherever the system's loader looks.
    System,
}

impl Place {
    /// The file or folder; `None` for the system's loader.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Data(path) | Self::Program(path) => Some(path),
            Self::System => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(path) => write!(f, "{} (named by {VARIABLE})", path.display()),
            Self::Data(path) => write!(f, "the data folder {}", path.display()),
            Self::Program(path) => write!(f, "the program's folder {}", path.display()),
            Self::System => f.write_str("the system's loader path"),
        }
    }
}

/// A place where nothing usable was found, and why.
#[derive(Debug)]
pub struct Miss {
    /// The place.
    pub place: Place,
    /// The reason in short, as it was at the time of the search.
    pub reason: String,
    /// What loading from there said.
    pub error: LoadError,
}

impl Miss {
    fn new(place: Place, error: LoadError) -> Self {
        let reason = match &error {
            LoadError::NotFound { .. } if place.path().is_some_and(|path| !path.exists()) => {
                "not there".into()
            }
            LoadError::NotFound { attempts } if !attempts.iter().any(|tried| tried.place.exists()) => {
                "no Embree 4 there".into()
            }
            LoadError::NotFound { attempts } => {
                attempts.iter().map(|tried| tried.reason.as_str()).collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        };
        Self { place, reason, error }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Embree is in none of the places, or in none in a usable form.
#[derive(Debug, thiserror::Error)]
#[error("Embree 4 ({name}) could not be loaded. Searched: {}. Remedy: {}",
    list(misses), remedy(misses), name = embree4_sys::file_names()[0])]
pub struct LibraryError {
    /// The places, in the order they were searched.
    pub misses: Vec<Miss>,
}

impl LibraryError {
    /// What the user can do about it, as one sentence.
    pub fn remedy(&self) -> String {
        remedy(&self.misses)
    }
}

fn list(misses: &[Miss]) -> String {
    misses.iter().map(Miss::to_string).collect::<Vec<_>>().join("; ")
}

fn remedy(misses: &[Miss]) -> String {
    match misses {
        [Miss { place: Place::Named(_), .. }] => {
            format!("set {VARIABLE} to the library or its folder, or unset it and run `lockstep setup`.")
        }
        _ => format!("run `lockstep setup`, or set {VARIABLE} to the library or its folder."),
    }
}

/// Loads Embree from the first place that has it. The first success holds for the process: later
/// calls return it at once.
///
/// # Errors
///
/// [`LibraryError`] names every place and what was wrong there. Another call searches again.
pub fn load() -> Result<&'static Loaded, LibraryError> {
    load_from(places())
}

/// Loads Embree from the first of `places` that has it, as [`load`] does.
///
/// # Errors
///
/// As for [`load`].
pub fn load_from(places: Vec<Place>) -> Result<&'static Loaded, LibraryError> {
    let mut misses = Vec::new();
    for place in places {
        match embree4_sys::load(place.path()) {
            Ok(loaded) => return Ok(loaded),
            Err(error) => misses.push(Miss::new(place, error)),
        }
    }
    Err(LibraryError { misses })
}

/// The places that [`load`] searches, in order.
pub fn places() -> Vec<Place> {
    let program = env::current_exe().ok().and_then(|file| Some(file.parent()?.to_path_buf()));
    places_for(set(VARIABLE).map(PathBuf::from), data_folder(), program)
}

fn places_for(named: Option<PathBuf>, data: Option<PathBuf>, program: Option<PathBuf>) -> Vec<Place> {
    if let Some(named) = named {
        return vec![Place::Named(named)];
    }
    let data = data.map(|folder| Place::Data(folder.join(INSTALLED_AS)));
    data.into_iter().chain(program.map(Place::Program)).chain([Place::System]).collect()
}

/// The per-user folder for what `lockstep setup` fetches: `LOCKSTEP_HOME`, else `lockstep` under
/// `XDG_DATA_HOME`, else `.local/share/lockstep` in the home folder; `None` where there is no home.
pub fn data_folder() -> Option<PathBuf> {
    data_folder_for(set("LOCKSTEP_HOME"), set("XDG_DATA_HOME"), env::home_dir())
}

fn data_folder_for(own: Option<OsString>, data: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    if let Some(own) = own {
        return std::path::absolute(own).ok();
    }
    // The XDG base directory specification has relative paths ignored.
    let data = data.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = home.filter(|folder| folder.is_absolute());
    data.or_else(|| Some(home?.join(".local/share"))).map(|folder| folder.join("lockstep"))
}

/// An environment variable that is set and not empty.
fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_library_is_the_only_place() {
        let places = places_for(Some("/a".into()), Some("/b".into()), Some("/c".into()));
        assert_eq!(places, [Place::Named("/a".into())]);
    }

    #[test]
    fn the_data_folder_comes_before_the_program_and_the_system() {
        let places = places_for(None, Some("/data".into()), Some("/bin".into()));
        let data = Place::Data(PathBuf::from("/data").join(INSTALLED_AS));
        assert_eq!(places, [data, Place::Program("/bin".into()), Place::System]);
        assert_eq!(places_for(None, None, None), [Place::System]);
    }

    #[test]
    fn the_data_folder_follows_its_variables_in_order() {
        let (own, data) = (Some("/own".into()), Some("/data".into()));
        let home = Some(PathBuf::from("/home/me"));
        assert_eq!(data_folder_for(own, data.clone(), home.clone()), Some("/own".into()));
        assert_eq!(data_folder_for(None, data, home.clone()), Some("/data/lockstep".into()));
        let fallback = Some("/home/me/.local/share/lockstep".into());
        assert_eq!(data_folder_for(None, None, home.clone()), fallback);
        assert_eq!(data_folder_for(None, Some("relative".into()), home), fallback);
        assert_eq!(data_folder_for(None, None, None), None);
    }
}
