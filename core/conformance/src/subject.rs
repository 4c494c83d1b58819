//! The target under test, with its reference, probes and scenes.

use crate::{Checked, During};
use lockstep_core::error::{Error, Result};
use lockstep_core::scene::Scene;
use lockstep_core::{Integrator, Mode, Renderer};
use lockstep_gpu::probe::ProbeDevice;

/// Extent of the suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Quick: small films, some inputs of every function. For tests.
    #[default]
    Quick,
    /// Full: larger films of many sizes, all work-group sizes, 2^20 inputs of every function. For `lockstep
    /// selftest`.
    Full,
}

/// Opens a fresh renderer.
pub type Open<'a> = dyn Fn() -> Result<Box<dyn Renderer>> + 'a;

/// Opens a device with the kernels of [`lockstep_gpu::assemble_probes`].
pub type OpenProbes<'a> = dyn Fn() -> Result<Box<dyn ProbeDevice>> + 'a;

/// Loads a built-in scene by its name, as `lockstep_scenes::load` does.
pub type LoadScene = fn(&str) -> Result<Scene>;

/// The target under test. Checks whose prerequisites are missing do not apply to it.
pub struct Subject<'a> {
    open: Box<Open<'a>>,
    reference: Option<Box<Open<'a>>>,
    probes: Option<Box<OpenProbes<'a>>>,
    scenes: Option<LoadScene>,
    modes: Vec<Mode>,
    integrators: Option<&'static [Integrator]>,
    exact: bool,
    extent: Extent,
    parity_inputs: Option<u32>,
}

impl<'a> Subject<'a> {
    /// A target that this closure opens, in [`Mode::Exact`] only and without a promise of identity.
    pub fn new(open: impl Fn() -> Result<Box<dyn Renderer>> + 'a) -> Self {
        Self {
            open: Box::new(open),
            reference: None,
            probes: None,
            scenes: None,
            modes: vec![Mode::Exact],
            integrators: None,
            exact: false,
            extent: Extent::Quick,
            parity_inputs: None,
        }
    }

    /// Sets the renderer with whose films an exact target's must be identical.
    #[must_use]
    pub fn with_reference(self, open: impl Fn() -> Result<Box<dyn Renderer>> + 'a) -> Self {
        Self { reference: Some(Box::new(open)), ..self }
    }

    /// Opens the device for parity by function.
    #[must_use]
    pub fn with_probes(self, open: impl Fn() -> Result<Box<dyn ProbeDevice>> + 'a) -> Self {
        Self { probes: Some(Box::new(open)), ..self }
    }

    /// Sets the loader of built-in scenes, for comparing films.
    #[must_use]
    pub fn with_scenes(self, load: LoadScene) -> Self {
        Self { scenes: Some(load), ..self }
    }

    /// Sets the modes that the target supports, [`Mode::Exact`] among them.
    #[must_use]
    pub fn with_modes(self, modes: &[Mode]) -> Self {
        Self { modes: modes.to_vec(), ..self }
    }

    /// Sets the integrators that the target supports.
    #[must_use]
    pub fn with_integrators(self, integrators: &'static [Integrator]) -> Self {
        Self { integrators: Some(integrators), ..self }
    }

    /// Sets whether the target promises films identical to the reference's.
    #[must_use]
    pub fn promising_identity(self, exact: bool) -> Self {
        Self { exact, ..self }
    }

    /// Sets the extent of the suite.
    #[must_use]
    pub fn to_extent(self, extent: Extent) -> Self {
        Self { extent, ..self }
    }

    /// Sets the number of inputs per function of the parity check.
    #[must_use]
    pub fn with_parity_inputs(self, inputs: Option<u32>) -> Self {
        Self { parity_inputs: inputs, ..self }
    }

    /// The extent of the suite.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    /// Whether the target supports this mode.
    pub(crate) fn has_mode(&self, mode: Mode) -> bool {
        self.modes.contains(&mode)
    }

    /// Whether the target is said to support this integrator; `None` where nothing is said.
    pub(crate) fn lists_integrator(&self, integrator: Integrator) -> Option<bool> {
        self.integrators.map(|listed| listed.contains(&integrator))
    }

    /// Whether the target promises identity.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether the target promises the films of a reference renderer that was given.
    pub(crate) fn has_films_of_reference(&self) -> bool {
        self.exact && self.reference.is_some()
    }

    /// Whether the subject has a reference, probes and scenes.
    pub(crate) fn has(&self) -> Supplied {
        Supplied {
            reference: self.reference.is_some(),
            probes: self.probes.is_some(),
            scenes: self.scenes.is_some(),
        }
    }

    /// Number of inputs per function of the parity check.
    pub(crate) fn parity_inputs(&self) -> u32 {
        self.parity_inputs.unwrap_or(match self.extent {
            Extent::Quick => 1 << 14,
            Extent::Full => 1 << 20,
        })
    }

    /// A fresh renderer of the target.
    pub(crate) fn open(&self) -> Checked<Box<dyn Renderer>> {
        (self.open)().during(|| "opening the renderer".into())
    }

    /// A fresh reference renderer.
    pub(crate) fn reference(&self) -> Checked<Box<dyn Renderer>> {
        let open = self.reference.as_ref().ok_or_else(|| not_given("reference renderer"));
        open.and_then(|open| open()).during(|| "opening the reference renderer".into())
    }

    /// A device for parity by function.
    pub(crate) fn probes(&self) -> Checked<Box<dyn ProbeDevice>> {
        let open = self.probes.as_ref().ok_or_else(|| not_given("device for probes"));
        open.and_then(|open| open()).during(|| "building the probes".into())
    }

    /// A built-in scene.
    pub(crate) fn built_in(&self, name: &str) -> Checked<Scene> {
        let load = self.scenes.ok_or_else(|| not_given("loader of scenes"));
        load.and_then(|load| load(name)).during(|| format!("loading {name}"))
    }
}

/// The parts of a [`Subject`] besides its renderer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Supplied {
    pub(crate) reference: bool,
    pub(crate) probes: bool,
    pub(crate) scenes: bool,
}

fn not_given(what: &str) -> Error {
    Error::Contract { actor: "conformance suite".into(), message: format!("it was given no {what}") }
}
