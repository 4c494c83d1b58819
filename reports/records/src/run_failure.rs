//! Runs of external programs that left no image to compare.

use lockstep_core::TargetId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The fault of a program's run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunFault {
    /// The program could not be started.
    NotStarted,
    /// The program ended with an exit status that is not 0, or by a signal.
    ExitStatus,
    /// The program ran past its time limit and was stopped.
    TimeOut,
    /// The program ended well and wrote no image.
    NoImage,
    /// The file is no image that can be read.
    UnreadableImage,
    /// The image has another size than was asked for.
    WrongSize,
    /// The image has values that are not finite.
    NotFinite,
    /// The time is not where it was to be read.
    NoTime,
    /// A fault that this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl RunFault {
    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not started",
            Self::ExitStatus => "exit status",
            Self::TimeOut => "time-out",
            Self::NoImage => "no image",
            Self::UnreadableImage => "unreadable image",
            Self::WrongSize => "wrong size",
            Self::NotFinite => "not finite",
            Self::NoTime => "no time",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for RunFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A run of a program that left no image to compare. The program is not run again on the scene at as many samples
/// per pixel or more. Any such record fails a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFailure {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Samples per pixel that were asked for.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// The kind of fault.
    pub fault: RunFault,
    /// The fault in words, a sentence without its full stop.
    pub reason: String,
    /// The command line, as a person would type it in a POSIX shell.
    pub command: String,
    /// The log of standard output and standard error, relative to the study's folder, with slashes.
    pub log: String,
    /// The last lines of the log, oldest first.
    pub last_lines: Vec<String>,
}

impl RunFailure {
    /// The finding in a sentence without its full stop.
    pub fn sentence(&self) -> String {
        format!("{} on {} at {} spp: {}", self.target, self.scene, self.spp, self.reason)
    }
}
