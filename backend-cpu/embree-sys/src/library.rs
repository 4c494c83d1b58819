//! Opens Embree at run time, once for the whole process.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;

use crate::functions::Functions;
use crate::layout_check;
use crate::load_error::{Attempt, LoadError, Version};
use crate::symbols::Symbols;

static LOADED: OnceLock<Loaded> = OnceLock::new();

/// Serialises [`load`], which must not open two libraries.
static LOADING: Mutex<()> = Mutex::new(());

/// The library that this process uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The path of the library, or the bare name that opened it where the system tells no path.
    pub path: PathBuf,
    /// The release of Embree.
    pub version: Version,
}

/// The names under which Embree 4 is installed on this system, the most specific first.
pub const fn file_names() -> &'static [&'static str] {
    if cfg!(target_os = "windows") {
        &["embree4.dll"]
    } else if cfg!(target_os = "macos") {
        &["libembree4.4.dylib", "libembree4.dylib"]
    } else {
        &["libembree4.so.4", "libembree4.so"]
    }
}

/// The library in use, if [`load`] has succeeded.
pub fn loaded() -> Option<&'static Loaded> {
    LOADED.get()
}

/// Opens Embree and checks that it can be used: every function is there, a device can be made, the
/// release is 4, and a trial ray's hit is where it should be.
///
/// `path` is the library's file, or a folder that holds it under one of [`file_names`] or a name that
/// begins like one (`libembree4-1a2b3c.so.4`); `None` asks the system's loader. A TBB library in the
/// same folder is found. The first success holds for the whole process: later calls return it,
/// whatever their `path`.
///
/// # Errors
///
/// [`LoadError`] says what was tried and what was wrong; another call may try elsewhere.
pub fn load(path: Option<&Path>) -> Result<&'static Loaded, LoadError> {
    let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = loaded() {
        return Ok(loaded);
    }
    let (library, place) = open_first(&candidates(path))?;
    let symbols = Symbols { library: &library, path: &place };
    let functions = Functions::resolve(&symbols)?;
    let path = mapped_file(functions.device.rtcNewDevice as usize).unwrap_or(place);
    // A device starts threads that run the library's code, so it must stay mapped from here on.
    std::mem::forget(library);
    let version = layout_check::check(&functions, &path)?;
    functions.install();
    Ok(LOADED.get_or_init(|| Loaded { path, version }))
}

/// The files or names to try for a path.
fn candidates(path: Option<&Path>) -> Vec<PathBuf> {
    match path {
        None => file_names().iter().map(PathBuf::from).collect(),
        Some(folder) if folder.is_dir() => {
            let found = libraries_in(folder, "embree4");
            if found.is_empty() { vec![folder.join(file_names()[0])] } else { found }
        }
        Some(file) => vec![file.into()],
    }
}

/// The shared libraries in a folder that are called `name`, with or without a version or a hash
/// behind it; exact names of Embree first, then in alphabetical order.
fn libraries_in(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut files: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|file| is_library_called(file, name))
        .collect();
    files.sort_by_key(|file| {
        let rank = file_names().iter().position(|exact| exact == file).unwrap_or(usize::MAX);
        (rank, file.clone())
    });
    files.into_iter().map(|file| folder.join(file)).collect()
}

/// Whether a file's name is that of the shared library `name` rather than of a relative
/// (`libtbbmalloc_proxy.so` would replace the process's allocator).
fn is_library_called(file: &str, name: &str) -> bool {
    let rest = file.strip_prefix("lib").unwrap_or(file).strip_prefix(name);
    rest.is_some_and(|rest| {
        !rest.starts_with(|next: char| next.is_alphabetic())
            && [".so", ".dylib", ".dll"].iter().any(|ending| rest.contains(ending))
    })
}

/// Opens the first candidate that opens.
fn open_first(candidates: &[PathBuf]) -> Result<(Library, PathBuf), LoadError> {
    let mut attempts = Vec::new();
    for place in candidates {
        match open_with_neighbours(place) {
            Ok(library) => return Ok((library, place.clone())),
            Err(reason) => attempts.push(Attempt { path: place.clone(), reason }),
        }
    }
    Err(LoadError::NotFound { attempts })
}

/// Opens a library; if that fails, opens the TBB beside it first and tries again, since a copied
/// library need not know its own folder.
fn open_with_neighbours(place: &Path) -> Result<Library, String> {
    let first = match open(place) {
        Ok(library) => return Ok(library),
        Err(error) => error,
    };
    let Some(folder) = place.parent().filter(|_| place.is_file()) else { return Err(first) };
    let helpers: Vec<Library> =
        libraries_in(folder, "tbb").iter().filter_map(|helper| open(helper).ok()).collect();
    let library = open(place).map_err(|_| first)?;
    // Embree holds its own reference to the one it needs.
    drop(helpers);
    Ok(library)
}

/// Opens one library, resolving everything at once so that a missing symbol shows here.
fn open(place: &Path) -> Result<Library, String> {
    #[cfg(unix)]
    let result = {
        use libloading::os::unix;
        // SAFETY: runs the library's initialisers, as the caller of `load` wishes.
        unsafe { unix::Library::open(Some(place), unix::RTLD_NOW | unix::RTLD_LOCAL) }.map(Library::from)
    };
    #[cfg(not(unix))]
    // SAFETY: runs the library's initialisers, as the caller of `load` wishes.
    let result = unsafe { Library::new(place) };
    result.map_err(|error| error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

/// The file that is mapped at an address, where the system tells.
fn mapped_file(address: usize) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (start, rest) = line.split_once('-')?;
        let (end, rest) = rest.split_once(' ')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        let file = &rest[rest.find('/')?..];
        range.contains(&address).then(|| file.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hashed_library_is_recognised_and_its_relatives_are_not() {
        assert!(is_library_called("libembree4-4aef3270.so.4", "embree4"));
        assert!(is_library_called("libtbb.so.12", "tbb"));
        assert!(is_library_called("tbb12.dll", "tbb"));
        assert!(!is_library_called("libtbbmalloc_proxy.so.2", "tbb"));
        assert!(!is_library_called("libembree4.txt", "embree4"));
    }

    #[test]
    fn a_folder_offers_the_exact_name_before_a_hashed_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["libembree4-1a.so.4", "libembree4.so.4", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").expect("a file in it");
        }
        let found = candidates(Some(folder.path()));
        assert_eq!(found, ["libembree4.so.4", "libembree4-1a.so.4"].map(|name| folder.path().join(name)));
    }

    #[test]
    fn an_empty_folder_is_tried_under_the_first_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(candidates(Some(folder.path())), [folder.path().join(file_names()[0])]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_function_of_this_program_lies_in_this_programs_file() {
        let here = mapped_file(candidates as *const () as usize);
        assert_eq!(here, std::env::current_exe().ok());
    }
}
