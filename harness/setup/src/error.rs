//! Errors of a set-up.

use std::io;
use std::path::PathBuf;

use lockstep_core::suggest;

/// The reason that an item could not be fetched: actor, act, place and remedy.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A name that is no item's.
    #[error("there is nothing called {name} to fetch; there are {}{}", known.join(", "), meant(name, known))]
    UnknownItem {
        /// The name.
        name: String,
        /// The items' names.
        known: Vec<&'static str>,
    },
    /// No folder to put things into.
    #[error(
        "no data folder: neither LOCKSTEP_HOME nor XDG_DATA_HOME nor a home folder is set; set LOCKSTEP_HOME \
         to a folder"
    )]
    NoDataFolder,
    /// The file system refused.
    #[error(
        "could not {act} {}: {source}; check its permissions and free space, or set LOCKSTEP_HOME to another \
         folder", path.display()
    )]
    Io {
        /// The act, as in "could not create".
        act: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A setting of the user's prevents fetching the item.
    #[error("fetching {item} would not help: {reason}")]
    Blocked {
        /// The item.
        item: &'static str,
        /// The setting, and the remedy.
        reason: String,
    },
    /// No way to get the item is known for this system.
    #[error("there is no ready-made {item} for {} on {}; {remedy}", system.0, system.1)]
    NoMethod {
        /// The item.
        item: &'static str,
        /// Operating system and architecture.
        system: (&'static str, &'static str),
        /// The remedy by hand.
        remedy: &'static str,
    },
    /// A program or package is missing, and this user may not install it.
    #[error("{what} is missing; {remedy}")]
    ProgramMissing {
        /// The missing program or package.
        what: String,
        /// The command that installs it.
        remedy: String,
    },
    /// A program did not start.
    #[error("{} could not be started: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A program failed.
    #[error("`{command}` failed ({status}): {output}; {remedy}")]
    Command {
        /// The command line.
        command: String,
        /// The exit status or signal in words.
        status: String,
        /// The last lines that it printed.
        output: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// pip ended well without the file that was asked for.
    #[error(
        "pip left no single wheel in {} for {requirement}; update pip, then run `lockstep setup` again",
        folder.display()
    )]
    NoWheel {
        /// The requirement, in pip's notation.
        requirement: String,
        /// The folder that should hold it.
        folder: PathBuf,
    },
    /// A file is not the one that was tested.
    #[error(
        "{} does not have the recorded SHA-256: expected {expected}, found {found}; the package \
         index or a proxy delivered another file, which was thrown away", file.display()
    )]
    Digest {
        /// The file.
        file: PathBuf,
        /// The recorded digest.
        expected: String,
        /// The digest of the file at hand.
        found: String,
    },
    /// An archive could not be unpacked.
    #[error("could not unpack {}: {source}", archive.display())]
    Archive {
        /// The archive.
        archive: PathBuf,
        /// The reason.
        source: zip::result::ZipError,
    },
    /// An archive has none of the files it was fetched for.
    #[error("{} has none of the wanted files", archive.display())]
    EmptyArchive {
        /// The archive.
        archive: PathBuf,
    },
    /// A method succeeded, but the item still cannot be used.
    #[error("{method} succeeded, but {item} still cannot be used: {reason}")]
    StillMissing {
        /// The item.
        item: &'static str,
        /// The method.
        method: String,
        /// The item's complaint.
        reason: String,
    },
    /// Every method failed.
    #[error(
        "{}; if neither can be put right, {by_hand}",
        failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; or else: ")
    )]
    EveryMethodFailed {
        /// The reason, for each method.
        failures: Vec<SetupError>,
        /// The remedy by hand.
        by_hand: &'static str,
    },
}

/// The item that was probably meant, as the end of a message.
fn meant(name: &str, known: &[&str]) -> String {
    let near = suggest::nearest(name, known.iter().copied());
    near.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

impl SetupError {
    /// Attaches an act and a path to an error of the file system.
    pub(super) fn io(act: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { act, path, source }
    }
}
