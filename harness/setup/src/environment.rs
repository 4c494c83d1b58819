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
    /// The versions of Python that there are wheels for.
    pub(crate) pythons: &'static [&'static str],
}

/// The environment's Python in its folder.
pub(crate) fn python_in(folder: &Path) -> PathBuf {
    folder.join("bin").join("python")
}

/// Makes the environment with a Python of this machine and installs the packages with the machine's pip, and what they
/// depend on.
pub(super) fn install(host: &Host, environment: &Environment) -> Result<(), SetupError> {
    let python = find_python(host, environment)?;
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

/// A Python that the packages have wheels for: the machine's `python3` where it is one, else one that its name tells.
fn find_python(host: &Host, environment: &Environment) -> Result<PathBuf, SetupError> {
    let versioned = environment.pythons.iter().rev().map(|version| format!("python{version}"));
    let found: Vec<PathBuf> =
        std::iter::once("python3".to_owned()).chain(versioned).filter_map(|name| host.find(&name)).collect();
    let fits = |python: &&PathBuf| {
        let list = environment.pythons.join(" ");
        let ask = format!("import sys; sys.exit('%d.%d' % sys.version_info[:2] not in '{list}'.split())");
        host.run(python, &["-c", &ask].map(OsStr::new), &[], REMEDY).is_ok()
    };
    found.iter().find(fits).cloned().ok_or_else(|| SetupError::ProgramMissing {
        what: format!(
            "a Python {}, for which {} has wheels,",
            alternatives(environment.pythons),
            environment.requirements[0]
        ),
        remedy: "install one with its module venv, so that it is in PATH, then run `lockstep setup` again"
            .into(),
    })
}

/// "3.9, 3.10 or 3.11".
fn alternatives(versions: &[&str]) -> String {
    match versions {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::fixtures::Machine;

    const THING: Environment =
        Environment { folder: "thing-1", requirements: &["thing==1"], pythons: &["3.11", "3.13"] };

    /// A Python that says that it is of this version: the version question is a Python line that this shell reads.
    fn script(version: &str) -> String {
        format!(
            "case \"$*\" in *\"'%d.%d' % sys\"*) case \"$*\" in *{version}*) exit 0;; *) exit 1;; esac;; esac"
        )
    }

    #[test]
    fn a_python_is_taken_that_the_packages_have_wheels_for() {
        let machine = Machine::bare();
        machine.add_program("python3", &script("3.12"));
        let missing = find_python(&machine.host, &THING).expect_err("no such Python").to_string();
        assert!(
            missing.contains("a Python 3.11 or 3.13, for which thing==1 has wheels, is missing"),
            "{missing}"
        );
        assert!(missing.contains("install one"), "{missing}");
        machine.add_program("python3.11", &script("3.11"));
        let found = find_python(&machine.host, &THING).expect("a Python");
        assert!(found.ends_with("python3.11"), "{}", found.display());
    }
}
