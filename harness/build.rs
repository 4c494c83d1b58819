//! Records the commit that the program is built from, since provenance belongs beside every golden and number.

use std::path::PathBuf;
use std::process::Command;

/// What the program is made of, from here. Where it differs from the commit, the commit says so.
const SOURCES: [&str; 12] = [
    "../Cargo.lock",
    "../Cargo.toml",
    "../backend-cpu",
    "../backend-cuda",
    "../backend-opencl",
    "../core",
    "../harness",
    "../reports/metrics/src",
    "../reports/port/src",
    "../reports/records/src",
    "../reports/src",
    "../scenes/src",
];

fn main() {
    let places = ["HEAD", "packed-refs", "refs/heads"].into_iter().filter_map(git_path);
    for place in places.chain(SOURCES.map(PathBuf::from)).filter(|place| place.exists()) {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    println!("cargo::rustc-env=LOCKSTEP_COMMIT={}", commit().unwrap_or_default());
}

/// The full hash of HEAD, with `-dirty` where sources have changed since; nothing outside a git working tree.
fn commit() -> Option<String> {
    let hash = git(&["rev-parse", "--verify", "HEAD"])?;
    let status = [["status", "--porcelain", "--untracked-files=no", "--"].as_slice(), &SOURCES].concat();
    let dirty = git(&status).is_some();
    Some(if dirty { format!("{hash}-dirty") } else { hash })
}

/// Where git keeps something of this working tree.
fn git_path(name: &str) -> Option<PathBuf> {
    git(&["rev-parse", "--git-path", name]).map(PathBuf::from)
}

/// What git answers, if it answers anything.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    let answer = answer.trim();
    (output.status.success() && !answer.is_empty()).then(|| answer.to_owned())
}
