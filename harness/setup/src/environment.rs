//! Python packages, in an environment of their own (PEP 405).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::SetupError;
use crate::host::Host;
use crate::install::Staging;
use crate::pip::Pip;

const REMEDY: &str = "install Python 3 with its module venv";

/// An environment with exact releases of packages.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// The folder's name in the data folder. It names the release, so that another release is another folder.
    pub(crate) folder: &'static str,
    /// The packages, in pip's notation.
    pub(crate) requirements: &'static [&'static str],
}

/// The environment's Python in its folder.
pub(crate) fn python_in(folder: &Path) -> PathBuf {
    folder.join("bin").join("python")
}

/// Makes the environment with this machine's Python 3 and installs the packages with its pip, and what they depend on.
pub(super) fn install(host: &Host, environment: &Environment) -> Result<(), SetupError> {
    let python = host
        .find("python3")
        .ok_or_else(|| SetupError::ProgramMissing { what: "python3".into(), remedy: REMEDY.into() })?;
    let pip = Pip::find_or_install(host)?;
    let staging = Staging::new(&host.data)?;
    let folder = staging.folder("environment")?;
    let words = ["-m", "venv", "--without-pip"].map(OsStr::new);
    let all: Vec<&OsStr> = words.into_iter().chain([folder.as_os_str()]).collect();
    host.run(&python, &all, &[], REMEDY)?;
    pip.install(host, &python_in(&folder), environment.requirements)?;
    // Its Python finds the environment by the folder that it lies in, so the folder can be renamed.
    staging.put_in_place(&folder, &host.data.join(environment.folder))
}
