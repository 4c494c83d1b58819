//! Finds Embree for the tests that need it.

use std::path::PathBuf;

/// Loads the library that `LOCKSTEP_EMBREE` names, or else the system's. Prints why and answers
/// `false` where there is none; a library that is named but unusable fails the test.
#[allow(clippy::panic, reason = "a named library that is unusable fails the test")]
pub(crate) fn embree_is_here() -> bool {
    let named = std::env::var_os("LOCKSTEP_EMBREE").filter(|value| !value.is_empty()).map(PathBuf::from);
    match embree4_sys::load(named.as_deref()) {
        Ok(_) => true,
        Err(error) if named.is_none() => {
            eprintln!("skipped: {error}; set LOCKSTEP_EMBREE to the library or its folder");
            false
        }
        Err(error) => panic!("LOCKSTEP_EMBREE: {error}"),
    }
}

/// To the nearest multiple of 2^-16. Embree divides by a refined estimate, whose last bits differ from one maker's
/// processors to another's.
pub(crate) fn rounded(value: f32) -> f32 {
    (value * 65_536.0).round() / 65_536.0
}
