//! Requirements of tests: devices, libraries, programs and data sets that a machine may lack.
//!
//! A test that lacks one calls [`present`] and returns. It is then shown as skipped: libtest captures what
//! passing tests print, so the line goes to the process's standard error itself, where `cargo test` shows it
//! and a script can count it:
//!
//! ```text
//! skipped: tests::a_kernel_compiles: NVRTC could not be loaded. Run `lockstep setup nvrtc`.
//! ```
//!
//! Where [`VARIABLE`] names the requirement, the test fails instead:
//!
//! ```sh
//! LOCKSTEP_REQUIRE=cpu-embree,opencl@pocl,opencl@intel,nvrtc,browser,scenes,python,mitsuba,slurm cargo test
//! ```

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The environment variable that lists what must be present, separated by commas.
pub const VARIABLE: &str = "LOCKSTEP_REQUIRE";

/// The names that tests of this repository ask for, other than those of targets.
pub const NAMES: [&str; 15] = [
    "nvrtc",
    "browser",
    "scenes",
    "python",
    "mitsuba",
    "cycles",
    "luxcore",
    "slurm",
    "parallel",
    "reframe",
    "snakemake",
    "kitchen",
    "git",
    "avx2",
    "full-disk",
];

/// The names in [`VARIABLE`].
pub fn required() -> Vec<String> {
    names_in(&std::env::var(VARIABLE).unwrap_or_default())
}

fn names_in(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Whether [`VARIABLE`] names a requirement, or a device of it: `opencl@pocl` requires `opencl`.
pub fn is_required(name: &str) -> bool {
    required().iter().any(|word| asks_for(word, name))
}

fn asks_for(word: &str, name: &str) -> bool {
    word == name || word.split_once('@').is_some_and(|(backend, _)| backend == name)
}

/// The failure message of a test whose requirement, named in [`VARIABLE`], is missing; `reason` includes the
/// remedy.
pub fn failure(name: &str, reason: &dyn Display) -> String {
    format!("{VARIABLE} names {name}, which is missing: {reason}")
}

/// Returns a found requirement, or reports the running test as skipped and returns `None`. The error names the
/// missing part and the remedy.
///
/// # Panics
/// Where [`VARIABLE`] names the requirement.
#[track_caller]
pub fn present<T, E: Display>(name: &str, found: Result<T, E>) -> Option<T> {
    match found {
        Ok(value) => Some(value),
        Err(reason) => {
            assert!(!is_required(name), "{}", failure(name, &reason));
            skip(&reason);
            None
        }
    }
}

/// Reports the running test as skipped, in whole or in part. A test is reported once.
pub fn skip(reason: &dyn Display) {
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let thread = std::thread::current();
    // libtest names a test's thread after the test, unless it runs tests one at a time on the main thread.
    let test = thread.name().filter(|&name| name != "main");
    // A panic elsewhere cannot have left the set half written.
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if test.is_some_and(|test| !reported.insert(test.to_owned())) {
        return;
    }
    // One write, so that lines of tests that run at once do not mix. Nobody can be told if standard error is
    // closed.
    let _ = std::io::stderr().write_all(line(test.unwrap_or("a test"), reason).as_bytes());
}

fn line(test: &str, reason: &dyn Display) -> String {
    format!("skipped: {test}: {}\n", one_line(reason))
}

/// A reason without line breaks, so that a script finds it whole.
pub fn one_line(reason: &dyn Display) -> String {
    let reason = reason.to_string();
    let words: Vec<&str> = reason.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_required_requires_its_backend() {
        let words = names_in(" opencl@pocl, ,nvrtc,cuda");
        assert_eq!(words, ["opencl@pocl", "nvrtc", "cuda"]);
        assert!(asks_for("opencl@pocl", "opencl") && asks_for("opencl@pocl", "opencl@pocl"));
        assert!(asks_for("cuda", "cuda") && !asks_for("cuda", "cuda@0"));
        assert!(!asks_for("opencl@pocl", "opencl@intel") && !asks_for("nvrtc", "n"));
    }

    #[test]
    fn a_skipped_test_is_one_line() {
        assert_eq!(line("a::b", &"no driver.\n  Install one."), "skipped: a::b: no driver. Install one.\n");
    }

    #[test]
    fn a_failure_names_the_requirement_and_the_remedy() {
        let failure = failure("nvrtc", &"no NVRTC. Run `lockstep setup nvrtc`.");
        assert!(failure.contains("LOCKSTEP_REQUIRE names nvrtc") && failure.contains("lockstep setup nvrtc"));
    }

    /// A word that no test asks for would require nothing.
    #[test]
    fn every_word_of_the_variable_is_one_that_tests_ask_for() {
        for word in required() {
            let backend = word.split_once('@').map_or(word.as_str(), |(backend, _)| backend);
            let is_target = ["cpu-bvh", "cpu-embree", "opencl", "cuda"].contains(&backend);
            assert!(is_target || NAMES.contains(&word.as_str()), "{VARIABLE}: no test asks for `{word}`");
        }
    }
}
