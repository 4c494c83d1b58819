//! Runs of fuzz tests, and the outcome of a file in words.

#![allow(clippy::unwrap_used)]

use crate::support::options;
use lockstep_fuzz::Fuzz;
use lockstep_scenes::load;
use std::path::Path;
use tempfile::TempDir;

/// Fuzzes a parser with the corpus of its name.
pub(crate) fn fuzz(name: &str, seeds: &[Vec<u8>], words: &[&str], parse: impl Fn(&[u8]) -> String) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let report = Fuzz { name, seeds, corpus: &corpus, words }.run(parse);
    assert!(report.outcomes > 1, "{report:?}");
}

thread_local! {
    /// A test's folder. Its files are overwritten, which takes less than to make and remove a folder for each input.
    static FOLDER: TempDir = tempfile::tempdir().unwrap();
}

/// Loads a file with others beside it; the outcome is its error, or its warnings.
pub(crate) fn outcome(name: &str, bytes: &[u8], others: &[(&str, Vec<u8>)]) -> String {
    let path = FOLDER.with(|folder| {
        others.iter().for_each(|(name, bytes)| std::fs::write(folder.path().join(name), bytes).unwrap());
        folder.path().join(name)
    });
    std::fs::write(&path, bytes).unwrap();
    match load(path.to_str().unwrap(), &options()).map_err(|error| error.to_string()) {
        Ok(loaded) => {
            let scene = &loaded.scene;
            assert!(scene.bytes() < 64 << 20, "{} bytes of {}", scene.bytes(), bytes.len());
            assert!(scene.positions.iter().flatten().all(|x| x.is_finite()), "a position that is not finite");
            loaded.warnings.iter().map(|w| format!("{}; ", w.message)).collect::<String>() + "loaded"
        }
        // Without the path of the folder, which is another each time.
        Err(error) => error.rsplit_once(name).map_or(error.clone(), |(_, rest)| rest.to_owned()),
    }
}
