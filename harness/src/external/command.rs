//! A command line with placeholders, and the program that it starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lockstep_reports::records::shell_line;

use super::template::{Placeholder, Template};

/// The shell of commands that ask for one.
const SHELL: &str = "sh";

/// The words of a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Words {
    /// The program and its arguments.
    Plain(Vec<Template>),
    /// A line for a shell, in which values are quoted.
    Shell(Template),
}

/// A command with its circumstances.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Command {
    /// The program and its arguments.
    pub(crate) words: Words,
    /// Variables that are set besides those of this process.
    pub(crate) env: BTreeMap<String, Template>,
    /// The working folder, absolute.
    pub(crate) dir: PathBuf,
}

impl Command {
    /// The words with their values, program first.
    pub(crate) fn filled(&self, value: &dyn Fn(Placeholder) -> String) -> Vec<String> {
        match &self.words {
            Words::Plain(words) => words.iter().map(|word| word.fill(value)).collect(),
            Words::Shell(line) => {
                let quoted = |hole| shell_line(&[value(hole)]);
                vec![SHELL.to_owned(), "-c".to_owned(), line.fill(&quoted)]
            }
        }
    }

    /// The words as the file has them.
    pub(crate) fn declared(&self) -> Vec<String> {
        match &self.words {
            Words::Plain(words) => words.iter().map(Template::to_string).collect(),
            Words::Shell(line) => vec![line.to_string()],
        }
    }

    /// The words as the file has them, as a person would type them in a POSIX shell.
    pub(crate) fn in_line(&self) -> String {
        match &self.words {
            Words::Plain(_) => shell_line(&self.declared()),
            Words::Shell(line) => line.to_string(),
        }
    }

    /// Whether words or variables have a placeholder.
    pub(crate) fn has(&self, hole: Placeholder) -> bool {
        let in_words = match &self.words {
            Words::Plain(words) => words.iter().any(|word| word.has(hole)),
            Words::Shell(line) => line.has(hole),
        };
        in_words || self.env.values().any(|value| value.has(hole))
    }

    /// The executable: a path with a folder is taken from the working folder, another name is looked for in `PATH`.
    ///
    /// # Errors
    /// What is missing, a sentence without its full stop.
    pub(crate) fn find(&self) -> Result<PathBuf, String> {
        let nothing = |_| String::new();
        let program = self.filled(&nothing).into_iter().next().unwrap_or_default();
        if !self.dir.is_dir() {
            return Err(format!("the working folder {} does not exist", self.dir.display()));
        }
        if program.contains('/') {
            let path = self.dir.join(&program);
            return if is_executable(&path) {
                Ok(path)
            } else {
                Err(format!("{} is no program that can be run", path.display()))
            };
        }
        let set = self.env.get("PATH").map(|path| OsString::from(path.fill(&nothing)));
        let folders = set.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        let mut found = std::env::split_paths(&folders).map(|folder| self.dir.join(folder).join(&program));
        let path = found.find(|path| !program.is_empty() && is_executable(path));
        path.ok_or_else(|| format!("there is no program `{program}` in PATH"))
    }

    /// The process of these words.
    pub(crate) fn process(
        &self,
        executable: &Path,
        words: &[String],
        value: &dyn Fn(Placeholder) -> String,
    ) -> std::process::Command {
        let mut process = std::process::Command::new(executable);
        process.args(words.iter().skip(1)).current_dir(&self.dir);
        process.envs(self.env.iter().map(|(name, text)| (name, text.fill(value))));
        process
    }
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}
