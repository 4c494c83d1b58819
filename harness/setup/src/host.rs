//! The machine that is set up: its programs, its user, its data folder.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_core::folders::data_folder;

use crate::error::SetupError;

/// How much of a failed program's output an error repeats, in lines.
const OUTPUT_LINES: usize = 4;
/// The most that an error repeats of each line of a failed program's output, in characters.
const LINE_LENGTH: usize = 160;

/// A machine and a user on it.
#[derive(Clone, Debug)]
pub struct Host {
    /// Where things are put.
    pub(crate) data: PathBuf,
    /// Where programs are looked for, as in `PATH`.
    pub(crate) programs: OsString,
    /// Whether the user may install packages.
    pub(crate) is_root: bool,
    /// Whether the user agreed that packages of the system are installed.
    pub(crate) installs_packages: bool,
}

impl Host {
    /// The machine and the user that run this process.
    ///
    /// # Errors
    /// [`SetupError::NoDataFolder`] where neither the environment nor a home folder gives one.
    pub fn here() -> Result<Self, SetupError> {
        Ok(Self {
            data: data_folder().ok_or(SetupError::NoDataFolder)?,
            programs: env::var_os("PATH").unwrap_or_default(),
            is_root: is_root(),
            installs_packages: false,
        })
    }

    /// Lets apt-get install packages of the system if `agreed` and the user is root. Otherwise nothing outside the data
    /// folder changes.
    #[must_use]
    pub fn installing_packages(self, agreed: bool) -> Self {
        Self { installs_packages: agreed, ..self }
    }

    /// Operating system and architecture, as Rust names them.
    pub(crate) fn system(&self) -> (&'static str, &'static str) {
        (env::consts::OS, env::consts::ARCH)
    }

    /// The first program of this name on the search path.
    pub(super) fn find(&self, program: &str) -> Option<PathBuf> {
        env::split_paths(&self.programs).map(|folder| folder.join(program)).find(|file| is_program(file))
    }

    /// Runs a program to its end, with environment variables of ours; an error has the end of its
    /// output and the `remedy`.
    pub(super) fn run<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: &[A],
        settings: &[(&str, &str)],
        remedy: &'static str,
    ) -> Result<(), SetupError> {
        let output = Command::new(program)
            .args(arguments)
            .env("PATH", &self.programs)
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .output()
            .map_err(|source| SetupError::Start { program: program.into(), source })?;
        if output.status.success() {
            return Ok(());
        }
        let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
        let line: Vec<_> = std::iter::once(program.to_string_lossy()).chain(words).collect();
        let complaint = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
        Err(SetupError::Command {
            command: line.join(" "),
            status: output.status.to_string(),
            output: last_lines(&String::from_utf8_lossy(complaint)),
            remedy,
        })
    }
}

/// The last lines of a text, each cut to a readable length, joined by slashes.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(OUTPUT_LINES)..];
    last.iter().map(|line| cut(line)).collect::<Vec<_>>().join(" / ")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into(),
    }
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Whether the running process runs as root: then its own entry under `/proc` belongs to user 0.
#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|data| data.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_repeats_the_end_of_the_output_only() {
        let text = (0..20).map(|line| format!("  {line}\n\n")).collect::<String>();
        assert_eq!(last_lines(&text), "16 / 17 / 18 / 19");
        assert_eq!(last_lines(""), "");
        assert_eq!(last_lines(&"é".repeat(500)).chars().count(), LINE_LENGTH + 1);
    }
}
