//! Options of loading and its results.

use crate::limits::Limits;
use crate::view::View;
use crate::warning::Warning;
use lockstep_core::scene::Camera;
use lockstep_core::{Error, Result, Scene};
use std::path::PathBuf;

/// Receives sentences about work that takes long, before and after it.
pub type Notice = fn(&str);

/// Options of [`load`](crate::load).
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Folder with the data of bundled scenes; `None` reads the environment variable `LOCKSTEP_SCENES`.
    pub data_folder: Option<PathBuf>,
    /// Camera of a glTF file, by name or index; the first when absent.
    pub camera: Option<String>,
    /// The variant and the pose of a glTF file.
    pub choices: Choices,
    /// Camera and environment light in place of the scene's own.
    pub view: View,
    /// Whether single-sided surfaces are seen from both sides.
    pub both_sides: bool,
    /// Whether all rough surfaces keep the light that scatters more than once between microfacets.
    pub multiscatter: bool,
    /// Whether scenes may read files outside their folder and that of scene data, through `..`, links or
    /// absolute names.
    pub allow_outside: bool,
    /// Upper bounds on file, image and geometry sizes.
    pub limits: Limits,
    /// Receiver of the numbers of triangles that displacement is going to make and has made; none when absent.
    pub notice: Option<Notice>,
}

/// Choices that a glTF file leaves open: material variant, animation and time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The variant of `KHR_materials_variants`, by name; the file's own materials when absent.
    pub variant: Option<String>,
    /// The animation, by name or index; when absent, all that can play together.
    pub animation: Option<String>,
    /// The time of the animations in seconds; 0 when absent.
    pub at: Option<f32>,
}

impl Choices {
    /// Refuses choices that a scene does not offer.
    ///
    /// # Errors
    /// [`Error::Scene`] where any is made.
    pub(crate) fn refuse(&self, scene: &str) -> Result<()> {
        if *self == Self::default() {
            return Ok(());
        }
        let message =
            "only glTF files have variants and animations; leave out --variant, --animation and --at";
        Err(Error::scene(scene, "variant", message))
    }
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
    /// The scene, ready to be rendered.
    pub scene: Scene,
    /// Everything ignored, replaced or guessed, in the order of discovery.
    pub warnings: Vec<Warning>,
}

/// Content of a file besides its geometry.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Cameras with their names, which may be empty.
    pub(crate) cameras: Vec<(String, Camera)>,
    /// Whether the file has surfaces that it calls lamps, which light the scene however dim they are.
    pub(crate) has_lamps: bool,
}
