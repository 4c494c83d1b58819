//! The cache of compiled programs is filled, used, and never trusted.
//!
//! One test in a process of its own, since it moves the cache folder.

mod support;

use lockstep_conformance::{self as conformance, scenes};
use lockstep_core::{Integrator, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use support::{open, present};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("lockstep/opencl")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// An entry whose checksum is right and whose binary is not.
fn forged(entry: &[u8]) -> Vec<u8> {
    let start = entry.iter().take_while(|&&b| b != b'\n').count() + 1;
    let binary = b"no program";
    [&entry[..start], blake3::hash(binary).as_bytes(), binary].concat()
}

#[test]
fn a_broken_entry_is_rebuilt_and_renders_the_same() {
    let cache = tempfile::tempdir().unwrap();
    // SAFETY: this test has the process to itself.
    unsafe {
        std::env::remove_var("LOCKSTEP_HOME");
        std::env::remove_var("LOCKSTEP_CACHE");
        std::env::set_var("XDG_CACHE_HOME", cache.path());
    }
    let scene = scenes::everything().unwrap();
    // The integrator whose program is compiled soonest
    let settings = Settings { width: 32, height: 24, integrator: Integrator::Ao, ..Settings::default() };
    // PoCL keeps what it compiles itself, and leaves no entry here.
    let all = present();
    let Some(target) = all.iter().find(|target| !target.contains("pocl")) else {
        return lockstep_conformance::require::skip(
            &"PoCL keeps its own cache. Run `lockstep setup opencl-intel` for another runtime.",
        );
    };
    let film = || conformance::render(open(target).unwrap().as_mut(), &scene, &settings, 2).unwrap().0;

    let first = film();
    let files = entries(cache.path());
    assert_eq!(
        files.len(),
        2,
        "the first run leaves an entry of the canary, and one of the program, which is larger"
    );
    let size = |file: &&PathBuf| file.metadata().unwrap().len();
    let program = files.iter().max_by_key(size).unwrap();
    let whole = fs::read(program).unwrap();
    assert_eq!(film(), first, "the cached program renders the same");
    assert_eq!(fs::read(program).unwrap(), whole, "a sound entry is left alone");

    for broken in [whole[..whole.len() / 2].to_vec(), Vec::new(), forged(&whole)] {
        fs::write(program, &broken).unwrap();
        assert_eq!(film(), first, "a broken entry does not matter");
        assert_ne!(fs::read(program).unwrap(), broken, "a broken entry is replaced");
        assert_eq!(entries(cache.path()), files, "no temporary file is left");
    }
}
