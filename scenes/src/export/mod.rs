//! Scenes as files of other renderers.

mod cycles;
mod geometry;
mod gltf;
mod images;
mod luxcore;
mod mitsuba;
mod notes;
mod pbrt;
mod pfm;
mod ply;

pub use cycles::to_cycles;
pub use gltf::to_gltf;
pub use luxcore::to_luxcore;
pub use mitsuba::to_mitsuba;
pub use notes::{Difference, Feature};
pub use pbrt::to_pbrt;

use std::path::{Path, PathBuf};

use lockstep_core::Error;

/// A scene as files of another renderer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The file to open.
    pub file: PathBuf,
    /// The features that the other renderer cannot express, and their substitutes, each of which makes another image.
    pub differences: Vec<Difference>,
}

fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action: "writing", path, source }
}
