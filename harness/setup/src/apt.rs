//! Packages of Debian and Ubuntu.

use std::path::Path;

use crate::error::SetupError;
use crate::host::Host;

const SETTINGS: &[(&str, &str)] = &[("DEBIAN_FRONTEND", "noninteractive")];
const REMEDY: &str = "check the network and apt's sources";

/// The option of commands by which the user agrees.
const CONSENT: &str = "--install-packages";

/// Whether packages can be installed: by root who agreed to it, with apt-get.
pub(super) fn may_install(host: &Host) -> bool {
    host.is_root && host.installs_packages && host.find("apt-get").is_some()
}

/// Installs packages, after fetching the package lists where they lack one.
pub(super) fn install(host: &Host, packages: &[&'static str]) -> Result<(), SetupError> {
    let missing = |remedy| SetupError::ProgramMissing { what: packages.join(" or "), remedy };
    let Some(apt) = host.find("apt-get") else {
        return Err(missing("install it with this system's package manager".into()));
    };
    if !may_install(host) {
        return Err(missing(remedy(host, packages)));
    }
    let arguments = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    // A fresh machine has no package lists, and old lists name packages that are gone.
    host.run(&apt, &arguments, SETTINGS, REMEDY).or_else(|_| update_and_retry(host, &apt, &arguments))
}

fn update_and_retry(host: &Host, apt: &Path, arguments: &[&str]) -> Result<(), SetupError> {
    host.run(apt, &["update"], SETTINGS, REMEDY)?;
    host.run(apt, arguments, SETTINGS, REMEDY)
}

/// The remedy where packages are missing and not installed: the commands that install them.
pub(super) fn remedy(host: &Host, packages: &[&str]) -> String {
    let packages = packages.join(" ");
    if host.is_root && !host.installs_packages {
        return format!(
            "run `lockstep setup {CONSENT}`, which installs it, or `apt-get install --yes {packages}` and then `lockstep \
             setup`"
        );
    }
    format!("run `sudo apt-get install --yes {packages}`, then `lockstep setup` again")
}
