//! Options of loading and its results.

use crate::limits::Limits;
use crate::view::View;
use crate::warning::Warning;
use lockstep_core::Scene;
use lockstep_core::scene::Camera;
use std::path::PathBuf;

/// Options of [`load`](crate::load).
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Folder with the data of bundled scenes; `None` reads the environment variable `LOCKSTEP_SCENES`.
    pub data_folder: Option<PathBuf>,
    /// Camera of a glTF file, by name or index; the first when absent.
    pub camera: Option<String>,
    /// Camera and sky in place of the scene's own.
    pub view: View,
    /// Whether single-sided surfaces are seen from both sides.
    pub both_sides: bool,
    /// Whether scenes may read files outside their folder and that of scene data, through `..`, links or
    /// absolute names.
    pub allow_outside: bool,
    /// Upper bounds on file, image and geometry sizes.
    pub limits: Limits,
}

impl LoadOptions {
    /// The folder with the data of bundled scenes, if any is known.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        self.data_folder.clone().or_else(|| std::env::var_os("LOCKSTEP_SCENES").map(PathBuf::from))
    }
}

/// A loaded scene with the warnings of its loader.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// Ready to be rendered.
    pub scene: Scene,
    /// Everything ignored, replaced or guessed, in the order of discovery.
    pub warnings: Vec<Warning>,
}

/// Content of a file besides its geometry.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Cameras with their names, which may be empty.
    pub(crate) cameras: Vec<(String, Camera)>,
    /// The largest component of what materials emit; zero without emission.
    pub(crate) brightest: f32,
}
