//! Finds Embree for the tests that need it.

use lockstep_core::folders::data_folder;
use std::path::PathBuf;

/// The folder, in the user's data folder, into which `lockstep setup` puts Embree; as in
/// `lockstep_cpu::embree::library`.
const INSTALLED_AS: &str = "embree-4.4.0";

/// Loads the library that `LOCKSTEP_EMBREE` names, or else the one that `lockstep setup` fetched, or else the system's.
/// Skips the test where there is none; a library that is named but unusable fails it.
#[allow(clippy::panic, reason = "a named library that is unusable fails the test")]
pub(crate) fn embree_is_here() -> bool {
    let named = std::env::var_os("LOCKSTEP_EMBREE").filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = named {
        match lockstep_embree_sys::load(Some(&named)) {
            Ok(_) => return true,
            Err(error) => panic!("LOCKSTEP_EMBREE: {error}"),
        }
    }
    let fetched = data_folder().map(|folder| folder.join(INSTALLED_AS)).filter(|folder| folder.is_dir());
    let found = lockstep_embree_sys::load(fetched.as_deref()).map_err(|error| {
        format!("{error}. Run `lockstep setup embree`, or set LOCKSTEP_EMBREE to the library or its folder.")
    });
    lockstep_require::present("cpu-embree", found).is_some()
}

/// To the nearest multiple of 2^-16. Embree divides by a refined estimate, whose last bits differ from one maker's
/// processors to another's.
pub(crate) fn rounded(value: f32) -> f32 {
    (value * 65_536.0).round() / 65_536.0
}
