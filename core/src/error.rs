//! The error type shared by harness and backends.
//!
//! A backend maps its own errors to these at its edge, so the harness can tell a skip from a failure without
//! knowing any backend.

use std::path::PathBuf;

/// A failure of a scene, a renderer or a file, in terms a user can act on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target is absent on this machine. A skip, unless the user required it.
    #[error("{what}. {remedy}")]
    Unavailable {
        /// The missing part, as a sentence without its full stop.
        what: String,
        /// Remedy for the user, as a sentence.
        remedy: String,
    },
    /// The target is present but does not support the request.
    #[error("{actor}: {what} is not supported")]
    Unsupported {
        /// The target or component that refuses.
        actor: String,
        /// The request.
        what: String,
    },
    /// Device code did not compile.
    #[error("{actor}: building `{kernel}` failed:\n{log}")]
    Compile {
        /// The target whose compiler failed.
        actor: String,
        /// The kernel or program that was built.
        kernel: String,
        /// The compiler's log; `#line` directives make it name our files.
        log: String,
    },
    /// The device or its driver refused an action.
    #[error("{actor}: {action} failed: {reason}")]
    Device {
        /// The target.
        actor: String,
        /// The action, in the progressive form ("uploading 1.2 GB of triangles").
        action: String,
        /// The driver's message, and the remedy where one is known.
        reason: String,
    },
    /// A scene is not renderable.
    #[error("scene {path}: {place}: {message}")]
    Scene {
        /// The file, or the name of a built-in scene.
        path: String,
        /// Line, byte offset or JSON pointer of the offending item.
        place: String,
        /// The fault, and the expected value.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The action ("reading", "writing").
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A request needs more memory than the process can have.
    #[error("{what} needs {needed} of memory and may take {usable}. Choose a smaller one")]
    Memory {
        /// The request.
        what: String,
        /// The memory that it needs, with its unit.
        needed: String,
        /// Memory that one request may take and memory present, with units.
        usable: String,
    },
    /// A caller broke the contract of [`crate::Renderer`].
    #[error("{actor}: {message}")]
    Contract {
        /// The component that noticed.
        actor: String,
        /// The call, and the contract's requirement.
        message: String,
    },
}

/// Shorthand used across the workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An [`Error::Scene`] from anything printable.
    pub fn scene(path: impl Into<String>, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Scene { path: path.into(), place: place.into(), message: message.into() }
    }
}
