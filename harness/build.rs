//! Records the commit that the program is built from, since provenance belongs beside every golden and number.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources of the program outside the packages. Where one differs from the commit, the commit says so.
const FILES: [&str; 2] = ["../Cargo.lock", "../Cargo.toml"];

/// Parts of a package that decide the program. Tests, examples and recorded data do not.
const PARTS: [&str; 4] = ["Cargo.toml", "build.rs", "src", "kernels"];

fn main() {
    let sources = sources();
    let places = ["HEAD", "packed-refs", "refs/heads"].into_iter().filter_map(git_path);
    for place in places.chain(sources.iter().cloned()).filter(|place| place.exists()) {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    println!("cargo::rustc-env=LOCKSTEP_COMMIT={}", commit(&sources).unwrap_or_default());
}

/// The files and folders that the program is made of: the parts of every package of the workspace.
fn sources() -> Vec<PathBuf> {
    let parts = packages(Path::new("..")).into_iter().flat_map(|folder| PARTS.map(|part| folder.join(part)));
    FILES.map(PathBuf::from).into_iter().chain(parts.filter(|part| part.exists())).collect()
}

/// The packages in a folder, each before those inside it.
fn packages(root: &Path) -> Vec<PathBuf> {
    let inside = folders(root).into_iter().filter(|folder| folder.join("Cargo.toml").exists());
    inside.flat_map(|folder| std::iter::once(folder.clone()).chain(packages(&folder))).collect()
}

/// The folders in a folder, sorted.
fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter(|entry| entry.path().is_dir()).map(|entry| root.join(entry.file_name())).collect();
    found.sort();
    found
}

/// The full hash of HEAD, with `-dirty` where sources have changed since; nothing outside a git working tree.
fn commit(sources: &[PathBuf]) -> Option<String> {
    let hash = git(&["rev-parse", "--verify", "HEAD"])?;
    let sources = sources.iter().filter_map(|source| source.to_str());
    let status: Vec<&str> =
        ["status", "--porcelain", "--untracked-files=no", "--"].into_iter().chain(sources).collect();
    let dirty = git(&status).is_some();
    Some(if dirty { format!("{hash}-dirty") } else { hash })
}

/// Where git keeps something of this working tree.
fn git_path(name: &str) -> Option<PathBuf> {
    git(&["rev-parse", "--git-path", name]).map(PathBuf::from)
}

/// The answer of git, if it is not empty.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    let answer = answer.trim();
    (output.status.success() && !answer.is_empty()).then(|| answer.to_owned())
}
