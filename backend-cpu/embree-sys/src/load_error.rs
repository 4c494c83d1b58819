//! Releases of Embree, and why one could not be used.

use std::fmt;
use std::path::PathBuf;

use crate::RTCError;

/// A release of Embree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major version: the 4 of 4.3.1.
    pub major: u32,
    /// Minor version: the 3 of 4.3.1.
    pub minor: u32,
    /// Patch version: the 1 of 4.3.1.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// One file or name that was tried, and why it would not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The path, or a bare name that the system's loader looks up.
    pub path: PathBuf,
    /// The loader's words.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.reason)
    }
}

/// Why Embree could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No library could be opened.
    #[error("Embree 4 could not be opened; tried {}", join(attempts))]
    NotFound {
        /// The paths that were tried, in order.
        attempts: Vec<Attempt>,
    },
    /// The file opened, but is not Embree 4 or lacks part of it.
    #[error("{} has no function `{symbol}`: it is not a complete Embree 4; install release 4.0 or later", path.display())]
    MissingFunction {
        /// Path of the library.
        path: PathBuf,
        /// Name of the missing function.
        symbol: String,
    },
    /// The library cannot make a device here.
    #[error("Embree at {} could not make a device: {error}", path.display())]
    NoDevice {
        /// Path of the library.
        path: PathBuf,
        /// Embree's error.
        error: RTCError,
    },
    /// The library is of another major release.
    #[error("{} is Embree {version}; release 4 is needed", path.display())]
    WrongVersion {
        /// Path of the library.
        path: PathBuf,
        /// The release of the library.
        version: Version,
    },
    /// The library's structures are not laid out as the bindings' are.
    #[error(
        "Embree {version} at {} was built with other options ({detail}); use one built with \
         RTC_MAX_INSTANCE_LEVEL_COUNT 1, the default", path.display()
    )]
    WrongLayout {
        /// Path of the library.
        path: PathBuf,
        /// The release of the library.
        version: Version,
        /// Difference between the hit of a trial ray and the expected one.
        detail: String,
    },
}

fn join(attempts: &[Attempt]) -> String {
    attempts.iter().map(Attempt::to_string).collect::<Vec<_>>().join("; ")
}
