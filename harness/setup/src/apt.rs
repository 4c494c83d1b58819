//! Packages of Debian and Ubuntu.

use std::path::Path;

use crate::error::SetupError;
use crate::host::Host;

const SETTINGS: &[(&str, &str)] = &[("DEBIAN_FRONTEND", "noninteractive")];
const REMEDY: &str = "check the network and apt's sources";

/// Installs packages, after fetching the package lists where they lack one.
pub(super) fn install(host: &Host, packages: &[&'static str]) -> Result<(), SetupError> {
    let missing = |remedy| SetupError::ProgramMissing { what: packages.join(" or "), remedy };
    let Some(apt) = host.find("apt-get") else {
        return Err(missing("install it with this system's package manager".into()));
    };
    if !host.is_root {
        return Err(missing(format!("run `{}`, then `lockstep setup` again", command(packages))));
    }
    let arguments = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    // A fresh machine has no package lists, and old lists name packages that are gone.
    host.run(&apt, &arguments, SETTINGS, REMEDY).or_else(|_| update_and_retry(host, &apt, &arguments))
}

fn update_and_retry(host: &Host, apt: &Path, arguments: &[&str]) -> Result<(), SetupError> {
    host.run(apt, &["update"], SETTINGS, REMEDY)?;
    host.run(apt, arguments, SETTINGS, REMEDY)
}

/// The command that installs packages, for people.
pub(super) fn command(packages: &[&str]) -> String {
    format!("sudo apt-get install --yes {}", packages.join(" "))
}
