//! The machine's pip.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::apt;
use crate::error::SetupError;
use crate::host::Host;

/// Keeps pip from asking questions, and from refusing to download outside a virtual environment:
/// nothing is installed, so no environment is touched.
const SETTINGS: &[(&str, &str)] =
    &[("PIP_NO_INPUT", "1"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1"), ("PIP_REQUIRE_VIRTUALENV", "0")];

const REMEDY: &str = "check the network and pip's settings (`pip config list`)";

/// The Debian package that brings it.
const PACKAGES: &[&str] = &["python3-pip"];

/// A pip that runs: a program and its first arguments.
pub(super) struct Pip {
    program: PathBuf,
    first: &'static [&'static str],
}

impl Pip {
    /// The machine's pip; on a Debian or Ubuntu machine without one, root who agreed to it gets it installed.
    pub(super) fn find_or_install(host: &Host) -> Result<Self, SetupError> {
        if let Some(pip) = Self::find(host) {
            return Ok(pip);
        }
        if apt::may_install(host) {
            apt::install(host, PACKAGES)?;
        }
        let remedy = match host.find("apt-get") {
            Some(_) => apt::remedy(host, PACKAGES),
            None => "install Python 3 with pip, then run `lockstep setup` again".into(),
        };
        Self::find(host).ok_or(SetupError::ProgramMissing { what: "pip".into(), remedy })
    }

    fn find(host: &Host) -> Option<Self> {
        const MODULE: &[&str] = &["-m", "pip"];
        [("python3", MODULE), ("python", MODULE), ("pip3", &[]), ("pip", &[])].into_iter().find_map(
            |(name, first)| {
                let pip = Self { program: host.find(name)?, first };
                pip.run(host, &["--version"]).is_ok().then_some(pip)
            },
        )
    }

    /// Downloads one requirement's wheel, and nothing that it depends on, into a folder.
    ///
    /// `tags` are pip's options that say for which Python and platform; with them, any Python
    /// that has pip will do. Downloading installs nothing, so Pythons that are managed by the
    /// system's packages (PEP 668) allow it.
    pub(super) fn download(
        &self,
        host: &Host,
        requirement: &str,
        tags: &[String],
        folder: &Path,
    ) -> Result<(), SetupError> {
        let mut arguments: Vec<&OsStr> =
            ["download", "--quiet", "--no-deps", "--only-binary=:all:"].map(OsStr::new).into();
        arguments.extend(tags.iter().map(OsStr::new));
        arguments.extend([OsStr::new("--dest"), folder.as_os_str(), OsStr::new(requirement)]);
        self.run(host, &arguments)
    }

    /// Installs requirements, and what they depend on, for another Python.
    pub(super) fn install(
        &self,
        host: &Host,
        python: &Path,
        requirements: &[&str],
    ) -> Result<(), SetupError> {
        let mut arguments: Vec<&OsStr> = vec![OsStr::new("--python"), python.as_os_str()];
        arguments.extend(["install", "--quiet", "--only-binary=:all:"].map(OsStr::new));
        arguments.extend(requirements.iter().map(OsStr::new));
        self.run(host, &arguments)
    }

    fn run<A: AsRef<OsStr>>(&self, host: &Host, arguments: &[A]) -> Result<(), SetupError> {
        let first = self.first.iter().map(OsStr::new);
        let words: Vec<&OsStr> = first.chain(arguments.iter().map(AsRef::as_ref)).collect();
        host.run(&self.program, &words, SETTINGS, REMEDY)
    }
}
