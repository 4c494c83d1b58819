//! Scenes as files of other renderers.

mod mitsuba;
mod pfm;
mod ply;

pub use mitsuba::to_mitsuba;

use std::path::{Path, PathBuf};

use lockstep_core::Error;

/// A scene as files of another renderer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The file to open.
    pub file: PathBuf,
    /// The features that the other renderer cannot express, and their substitutes, a sentence each; each makes another image.
    pub differences: Vec<String>,
}

fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action: "writing", path, source }
}
