//! How the program ends: exit codes, and the errors that lead to them.

use lockstep_core::{TargetId, Unavailable};
use lockstep_reports::ReportError;
use lockstep_reports::image_io::{ReadError, WriteError};
use lockstep_reports::metrics::MetricError;
use lockstep_reports::port::sources::SourceError;
use lockstep_reports::records::MapError;
use lockstep_reports::records::{RecordError, RunFailure};
use lockstep_reports::statistics::ComparisonError;
use lockstep_reports::study::StudyError;
use lockstep_setup::SetupError;
use lockstep_together::{FilmFileError, MergeError};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::bench::RatesError;
use crate::external::TargetsError;

/// The exit codes. The numbers are part of the command line's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Everything asked for was done, and nothing is wrong.
    Fine = 0,
    /// Images differ that should not, or a check failed.
    Differs = 1,
    /// The command line asks for something impossible.
    Usage = 2,
    /// A golden is missing, or sizes differ.
    Missing = 3,
    /// Input is unusable, or a file could not be read or written.
    Input = 4,
    /// A required target is absent.
    TargetAbsent = 5,
    /// Images that are compared cannot tell noise from bias.
    Inconclusive = 6,
    /// All workers of a render were lost; its checkpoint, if any, holds what they had rendered.
    WorkersLost = 7,
    /// Stopped by Ctrl-C or SIGTERM; what was done is recorded (128 + SIGINT).
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line asks for something impossible. The message names the remedy.
    #[error("{0}")]
    Usage(String),
    /// A golden, a reference or a comparison's other side is missing or has another size.
    #[error("{0}")]
    Missing(String),
    /// Input is unusable. The message names place and remedy.
    #[error("{0}")]
    Input(String),
    /// A target that cannot be done without is absent.
    #[error("target {target} is absent: {reason}. {remedy}")]
    TargetAbsent {
        /// The target.
        target: String,
        /// The missing part.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The attempt, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// All workers of a render were lost.
    #[error("{0}")]
    WorkersLost(String),
    /// A partial film that cannot be read.
    #[error(transparent)]
    FilmFile(#[from] FilmFileError),
    /// Partial films that cannot be added.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A scene or a renderer failed.
    #[error(transparent)]
    Core(#[from] lockstep_core::Error),
    /// Records or an environment could not be read or written.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// A study folder could not be read.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// An image that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Two images that cannot be compared.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Stacks of images that cannot be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    /// Sources that cannot be read.
    #[error(transparent)]
    Sources(#[from] SourceError),
    /// A library or a renderer could not be fetched.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A file of external targets cannot be used.
    #[error(transparent)]
    Targets(#[from] TargetsError),
    /// A file of other tracers' rates cannot be used.
    #[error(transparent)]
    Rates(#[from] RatesError),
    /// A run of an external program left no image.
    #[error("{}", .0.sentence())]
    Program(Box<RunFailure>),
}

impl From<MapError> for Failure {
    fn from(error: MapError) -> Self {
        match error {
            MapError::Metric(error) => error.into(),
            MapError::Write(error) => error.into(),
        }
    }
}

impl Failure {
    /// The error of a target that is needed and absent.
    pub(crate) fn absent(target: &TargetId, unavailable: &Unavailable) -> Self {
        let Unavailable { reason, remedy } = unavailable.clone();
        Self::TargetAbsent { target: target.to_string(), reason, remedy }
    }

    /// Attaches an act and a path to an error of the file system.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// The exit code that this failure has.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Setup(SetupError::UnknownItem { .. }) => Exit::Usage,
            Self::Missing(_) | Self::Metric(MetricError::SizesDiffer { .. }) => Exit::Missing,
            Self::TargetAbsent { .. } => Exit::TargetAbsent,
            Self::WorkersLost(_) => Exit::WorkersLost,
            _ => Exit::Input,
        }
    }
}

fn remedy(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; free some space, or choose another folder",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "; choose a folder you may write to",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_the_documented_exit_codes() {
        let absent = Failure::TargetAbsent { target: "t".into(), reason: "r".into(), remedy: "m.".into() };
        assert_eq!(absent.exit() as u8, 5);
        assert_eq!(absent.to_string(), "target t is absent: r. m.");
        assert_eq!(Failure::Usage(String::new()).exit() as u8, 2);
        assert_eq!(Failure::Missing(String::new()).exit() as u8, 3);
        let sizes = MetricError::SizesDiffer { a: (1, 1), b: (2, 2) };
        assert_eq!(Failure::from(sizes).exit() as u8, 3);
        assert_eq!(Failure::Input(String::new()).exit() as u8, 4);
    }

    #[test]
    fn a_refused_file_is_named_with_a_remedy() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let message = Failure::io("write", "some/file")(full).to_string();
        assert!(message.contains("some/file") && message.contains("free some space"), "{message}");
    }
}
