//! External targets: programs that a `targets.toml` declares, run once for every image.
//!
//! A program gets scene, samples per pixel, seed, size and bounces on its command line and writes one linear image. It
//! shares no random numbers with other targets and promises nothing to the bit, so studies compare it by statistics over
//! seeds, as `lockstep compare` compares folders of images.
//!
//! A file beside a scene may come from anywhere. So a program runs only where the user names its target: `all` means no
//! external one, and a list of targets starts nothing.

mod command;
mod document;
mod image;
mod known;
mod process;
mod program;
pub(crate) mod render;
mod template;
mod times;

use std::path::{Path, PathBuf};

use lockstep_core::{TargetId, Unavailable};

pub(crate) use command::Command;
pub(crate) use document::TargetsError;
pub(crate) use known::{Known, SceneInput};
pub(crate) use process::end_running;
pub(crate) use program::{Ended, Program, Request, RunError};

use crate::exit::Failure;

/// The name under which a file is found by itself.
const FILE: &str = "targets.toml";

/// A declared program, present or not.
#[derive(Clone, Debug)]
pub(crate) struct External {
    /// The target's name.
    pub(crate) id: TargetId,
    /// The declaration of how the program is run.
    pub(crate) declared: Declared,
    /// The executable, or why there is none.
    pub(crate) state: Result<PathBuf, Unavailable>,
    /// Whether `lockstep devices` lists it.
    pub(crate) listed: bool,
}

/// A program as a file declares it.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The command that renders.
    pub(crate) command: Command,
    /// The command that prints the program's version, if there is one.
    pub(crate) version: Option<Command>,
    /// Extension of the file that it writes.
    pub(crate) format: document::Format,
    /// Where its times come from.
    pub(crate) times: times::Times,
    /// Whether an image of more samples goes on from the same image of fewer.
    pub(crate) continues: bool,
    /// Seconds after which a run is stopped.
    pub(crate) timeout_s: f64,
    /// The way in which the program gets its scenes.
    pub(crate) scene: SceneInput,
    /// The file that declares it, and the line on which its table begins; `None` for a renderer that Lockstep knows.
    pub(crate) place: Option<(PathBuf, usize)>,
}

impl Declared {
    /// The place of the declaration, in words.
    pub(crate) fn declared_at(&self) -> String {
        match &self.place {
            Some((file, line)) => format!("{}:{line}", file.display()),
            None => "by Lockstep".to_owned(),
        }
    }
}

/// The programs that files declare.
#[derive(Debug, Default)]
pub(crate) struct Externals {
    /// The programs, in the order of the files and, within a file, in its order.
    pub(crate) all: Vec<External>,
}

impl Externals {
    /// The programs that `file` declares; without one, those of `targets.toml` in the working folder and beside each
    /// of the scenes.
    ///
    /// # Errors
    /// [`Failure::Targets`] for a file that cannot be read or is wrong, and for a name that two files have.
    pub(crate) fn find(file: Option<&Path>, scenes: &[String]) -> Result<Self, Failure> {
        let files = match file {
            Some(file) => vec![file.to_owned()],
            None => found_files(scenes),
        };
        let mut all: Vec<External> = known::all();
        for file in files {
            for (id, declared) in document::read(&file)? {
                if let Some(other) = all.iter().find(|other| other.id == id) {
                    return Err(TargetsError::Malformed {
                        message: format!(
                            "{} declares {id} too; rename one, or name one of the files with --targets-file",
                            other.declared.declared_at()
                        ),
                        line: declared.place.map_or(1, |(_, line)| line),
                        path: file,
                    }
                    .into());
                }
                let state = declared.command.find().map_err(|what| Unavailable {
                    remedy: format!(
                        "Install it, or correct `command` of [{id}] at {}.",
                        declared.declared_at()
                    ),
                    reason: what,
                });
                all.push(External { id, declared, state, listed: true });
            }
        }
        Ok(Self { all })
    }

    /// The programs that a word of the command line means: one by its whole name, else all of that name on any device.
    pub(crate) fn named(&self, word: &str) -> Vec<&External> {
        let exact: Vec<&External> = self.all.iter().filter(|e| e.id.to_string() == word).collect();
        if !exact.is_empty() {
            return exact;
        }
        self.all.iter().filter(|e| e.id.backend == word && e.id.device.is_some()).collect()
    }

    /// The failure of a word that means no target, with the programs that there are beside Lockstep's own.
    pub(crate) fn name_in(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Usage(text) => {
                let listed = self.all.iter().filter(|external| external.listed);
                let names: Vec<String> = listed.map(|external| external.id.to_string()).collect();
                Failure::Usage(format!("{text}; external ones are {}", names.join(", ")))
            }
            other => other,
        }
    }

    /// Fails where one of these words means programs of which none is present, and returns the words that mean none.
    ///
    /// # Errors
    /// [`Failure::TargetAbsent`].
    pub(crate) fn require(&self, words: &[String]) -> Result<Vec<String>, Failure> {
        let mut others = Vec::new();
        for word in words {
            let named = self.named(word);
            match named.first() {
                None => others.push(word.clone()),
                Some(first) if named.iter().all(|external| external.state.is_err()) => {
                    first.executable()?;
                }
                Some(_) => {}
            }
        }
        Ok(others)
    }
}

impl External {
    /// The executable.
    ///
    /// # Errors
    /// [`Failure::TargetAbsent`] where there is none.
    fn executable(&self) -> Result<&Path, Failure> {
        let found = self.state.as_ref().map_err(|unavailable| Failure::absent(&self.id, unavailable));
        found.map(PathBuf::as_path)
    }
}

/// The files in the working folder and beside scenes, each once.
fn found_files(scenes: &[String]) -> Vec<PathBuf> {
    let beside = scenes
        .iter()
        .map(Path::new)
        .filter(|scene| scene.exists())
        .filter_map(|scene| if scene.is_dir() { Some(scene) } else { scene.parent() });
    let mut found: Vec<(PathBuf, PathBuf)> = Vec::new();
    for folder in std::iter::once(Path::new("")).chain(beside) {
        let file = folder.join(FILE);
        if let Ok(real) = file.canonicalize()
            && !found.iter().any(|(known, _)| *known == real)
        {
            found.push((real, file));
        }
    }
    found.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests;
