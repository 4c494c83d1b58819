//! Backends and their targets: one [`Backend`] per API.

use crate::TranslationUnit;
use crate::error::Result;
use crate::{DeviceInfo, Integrator, Mode, Renderer};
use std::path::PathBuf;

/// An API with the devices it reaches on this machine. A new backend implements this trait and gets one row
/// in the harness's registry.
pub trait Backend: Sync {
    /// The name before the `@` on the command line: `cpu`, `opencl`, `cuda`.
    fn name(&self) -> &'static str;

    /// Every target of this backend, present or not. Must not fail or panic on a machine without the
    /// backend's driver, and must be fast: it runs at every start.
    fn targets(&self) -> Vec<TargetStatus>;

    /// Arithmetic modes that its targets support, the default first.
    fn modes(&self) -> &'static [Mode] {
        &[Mode::Exact]
    }

    /// Integrators that its targets support, the default first; for others `load` returns
    /// [`crate::Error::Unsupported`].
    fn integrators(&self) -> &'static [Integrator] {
        &[Integrator::Path]
    }

    /// Device code that its targets compile, one source per build; needs no device.
    fn kernels(&self) -> Vec<TranslationUnit> {
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
    /// The device, or the reason why it is unavailable.
    pub state: std::result::Result<DeviceInfo, Unavailable>,
}

/// Reason and remedy of an absent target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The missing part, as a sentence without its full stop.
    pub reason: String,
    /// Remedy for the user, as a sentence.
    pub remedy: String,
}

impl From<Unavailable> for crate::Error {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable { what: unavailable.reason, remedy: unavailable.remedy }
    }
}

/// Options of opening a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Worker threads of CPU targets; all hardware threads when `None`.
    pub threads: Option<usize>,
    /// The mode that [`Renderer::device`] describes until a scene is loaded with a mode of its own,
    /// [`crate::Settings::mode`].
    pub mode: Mode,
    /// Folder that keeps built BVHs between runs; `None`, the default, builds each anew.
    pub bvh_cache: Option<PathBuf>,
}
