//! Search paths of NVRTC.

use lockstep_core::folders;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names NVRTC's library or its folder.
pub const VARIABLE: &str = "LOCKSTEP_NVRTC";

/// The folder under the data folder into which `lockstep setup nvrtc` puts NVRTC.
pub const INSTALLED_AS: &str = "nvrtc-12.9.86";

/// The library's names where the system's loader finds it, the newest first.
const SYSTEM: [&str; 4] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];

/// Libraries to try, in order. If [`VARIABLE`] names a file or folder, only its libraries; otherwise the
/// fetched one, those of CUDA toolkits, the newest first, and the system loader's.
pub(super) fn search_paths() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let named = PathBuf::from(named);
        let inside = in_folder(&named);
        return if inside.is_empty() { vec![named] } else { inside };
    }
    let fetched = folders::data_folder().map(|folder| folder.join(INSTALLED_AS));
    let folders = fetched.into_iter().chain(toolkits());
    folders.flat_map(|folder| in_folder(&folder)).chain(SYSTEM.map(PathBuf::from)).collect()
}

/// The library folders of CUDA toolkits.
fn toolkits() -> Vec<PathBuf> {
    let named =
        ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let installed = toolkits_in(Path::new("/usr/local")).into_iter().chain(["/opt/cuda".into()]);
    named.chain(installed).flat_map(|root| library_folders(&root)).collect()
}

fn library_folders(toolkit: &Path) -> [PathBuf; 3] {
    ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|folder| toolkit.join(folder))
}

/// The folders `cuda` and then `cuda-*`, the newest first.
fn toolkits_in(folder: &Path) -> Vec<PathBuf> {
    let mut versioned = names(folder, |name| name.starts_with("cuda-"));
    versioned.sort_by_key(|name| std::cmp::Reverse(numbers(name)));
    let names = std::iter::once("cuda".to_owned()).chain(versioned);
    names.map(|name| folder.join(name)).collect()
}

/// The NVRTC libraries of a folder, the newest first, each under one of its names: the shortest with a
/// version.
fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let mut found = names(folder, |name| name.starts_with("libnvrtc.so."));
    found.sort_by_key(|name| (std::cmp::Reverse(numbers(name).first().copied()), name.len()));
    found.dedup_by_key(|name| numbers(name).first().copied());
    found.iter().map(|name| folder.join(name)).collect()
}

/// The libraries of built-in functions in a library's folder, where NVRTC itself would not find them.
pub(super) fn builtins_beside(library: &Path) -> Vec<PathBuf> {
    let Some(folder) = library.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Vec::new();
    };
    let found = names(folder, |name| name.starts_with("libnvrtc-builtins.so."));
    found.iter().map(|name| folder.join(name)).collect()
}

fn names(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str().map(str::to_owned));
    names.filter(|name| wanted(name)).collect()
}

/// The numbers in a file's name, in order.
fn numbers(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// Whether a library is a bare name, which the system's loader searches for.
pub(super) fn is_bare(library: &Path) -> bool {
    library.parent().is_none_or(|folder| folder.as_os_str() == OsStr::new(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_each_major_version_once_and_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let all = [
            "libnvrtc.so.12",
            "libnvrtc.so.12.9.86",
            "libnvrtc.so.13",
            "libnvrtc.so",
            "libnvrtc-builtins.so.13.0",
        ];
        for name in all {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(
            in_folder(folder.path()),
            ["libnvrtc.so.13", "libnvrtc.so.12"].map(|n| folder.path().join(n))
        );
        let beside = builtins_beside(&folder.path().join("libnvrtc.so.13"));
        assert_eq!(beside, [folder.path().join("libnvrtc-builtins.so.13.0")]);
        assert!(builtins_beside(Path::new("libnvrtc.so.13")).is_empty());
    }

    #[test]
    fn newer_toolkits_come_first_and_the_chosen_one_before_all() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["cuda-9.2", "cuda-12.4", "cuda-13.0", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let expected = ["cuda", "cuda-13.0", "cuda-12.4", "cuda-9.2"].map(|name| folder.path().join(name));
        assert_eq!(toolkits_in(folder.path()), expected);
    }
}
