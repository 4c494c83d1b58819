//! The registry's view of a backend: one [`Backend`] per API, each with its targets.

use crate::Listing;
use crate::error::Result;
use crate::{DeviceInfo, Integrator, Mode, Renderer};
use std::path::PathBuf;

/// An API with the devices it reaches on this machine. A new backend implements this and gets one row in the harness's
/// registry.
pub trait Backend: Sync {
    /// The name before the `@` on the command line: `cpu`, `opencl`, `cuda`.
    fn name(&self) -> &'static str;

    /// Every target this backend could offer, present or not. Must not fail or panic on a machine without the
    /// backend's driver, and must not be slow: it is asked at every start.
    fn targets(&self) -> Vec<TargetStatus>;

    /// The arithmetic that its targets can run, the default first.
    fn modes(&self) -> &'static [Mode] {
        &[Mode::Exact]
    }

    /// The integrators that its targets can run, the default first; others answer [`crate::Error::Unsupported`] at `load`.
    fn integrators(&self) -> &'static [Integrator] {
        &[Integrator::Path]
    }

    /// The device code that its targets compile, one for each build; needs no device.
    fn kernels(&self) -> Vec<Listing> {
        Vec::new()
    }

    /// Opens one of [`Backend::targets`] by its exact name.
    ///
    /// # Errors
    /// [`crate::Error::Unavailable`] for an absent target.
    fn open(&self, target: &str, options: &OpenOptions) -> Result<Box<dyn Renderer>>;
}

/// A target as `lockstep devices` lists it.
#[derive(Clone, Debug)]
pub struct TargetStatus {
    /// Name on the command line, such as `cpu-bvh` or `cuda@0`.
    pub name: String,
    /// Its device, or why it is absent.
    pub state: std::result::Result<DeviceInfo, Unavailable>,
}

/// Why a target is absent and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What is missing, as a sentence without its full stop.
    pub reason: String,
    /// What the user can do, as a sentence.
    pub remedy: String,
}

impl From<Unavailable> for crate::Error {
    fn from(absence: Unavailable) -> Self {
        Self::Unavailable { what: absence.reason, remedy: absence.remedy }
    }
}

/// How to open a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Worker threads of CPU targets; all hardware threads when `None`.
    pub threads: Option<usize>,
    /// The mode that [`Renderer::device`] describes until a scene is loaded, which has its own in
    /// [`crate::Settings::mode`].
    pub mode: Mode,
    /// Folder that keeps built BVHs between runs; `None`, the default, builds each anew.
    pub bvh_cache: Option<PathBuf>,
}
