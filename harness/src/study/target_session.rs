//! An open target: its renderer, the film that it is at, and the time that it has rendered.

use lockstep_core::KernelResources;
use lockstep_core::{DeviceInfo, Film, LoadReport, Renderer, Scene, Settings, TargetId};
use lockstep_reports::records::TargetInfo;

use crate::bvh_cache;
use crate::chunking::{Chunking, Pass};
use crate::exit::Failure;
use crate::render::read_film;

/// An open target.
pub(crate) struct TargetSession {
    /// The target.
    pub(crate) id: TargetId,
    /// The device.
    pub(crate) info: DeviceInfo,
    renderer: Box<dyn Renderer>,
    chunking: Chunking,
    /// The scene and settings of its film.
    loaded: Option<Loaded>,
    /// Samples of every pixel in its film.
    spp: u32,
    clock: RenderClock,
    /// The film at the end of the last level.
    pub(crate) last: Option<Film>,
}

/// The purpose of a film. Measurements of one purpose continue each other's film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The levels of samples per pixel.
    Levels {
        /// The repeat of the same samples, from 0.
        repeat: u32,
    },
    /// The same under another seed, for the noise floor.
    NoiseFloor,
    /// Errors after given times.
    EqualTime,
    /// Times by numbers of threads.
    ThreadScaling,
    /// Times of kernel configurations.
    Tuning,
    /// A reference.
    Reference,
}

#[derive(Clone, Debug, PartialEq)]
struct Loaded {
    scene: String,
    settings: Settings,
    purpose: Purpose,
}

/// The time of a target's passes since it took its scene.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RenderClock {
    /// Milliseconds, as timing records count them.
    pub(crate) ms: f64,
    /// Milliseconds that a sample of every pixel took in the last pass.
    pub(crate) ms_per_spp: f64,
}

impl TargetSession {
    /// An opened target.
    pub(crate) fn new(id: TargetId, renderer: Box<dyn Renderer>) -> Self {
        let info = renderer.device().clone();
        Self {
            chunking: Chunking::of(&id),
            id,
            info,
            renderer,
            loaded: None,
            spp: 0,
            clock: RenderClock::default(),
            last: None,
        }
    }

    /// Whether its film is of this scene under these settings, for the same purpose.
    pub(crate) fn holds(&self, scene: &Scene, settings: &Settings, purpose: Purpose) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| {
            (&loaded.scene, &loaded.settings, loaded.purpose) == (&scene.name, settings, purpose)
        })
    }

    /// Takes a scene to the target, in its own mode whatever the settings have; its film is empty afterwards.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer.
    pub(crate) fn load(
        &mut self,
        scene: &Scene,
        settings: &Settings,
        purpose: Purpose,
    ) -> Result<LoadReport, Failure> {
        (self.loaded, self.spp, self.last) = (None, 0, None);
        (self.chunking, self.clock) = (Chunking::of(&self.id), RenderClock::default());
        let report = self.renderer.load(scene, &Settings { mode: self.id.mode, ..*settings })?;
        bvh_cache::warn_if_rebuilt(&scene.name, &report);
        self.loaded = Some(Loaded { scene: scene.name.clone(), settings: *settings, purpose });
        Ok(report)
    }

    /// Takes a scene to the target again, as it holds it, which empties its film.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer.
    pub(crate) fn reload(&mut self, scene: &Scene) -> Result<(), Failure> {
        if let Some(Loaded { settings, purpose, .. }) = self.loaded.clone() {
            self.load(scene, &settings, purpose)?;
        }
        Ok(())
    }

    /// Fills the film up to `to` samples of every pixel, from where it is.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer.
    pub(crate) fn advance(&mut self, to: u32, progress: &mut dyn FnMut(u64)) -> Result<Pass, Failure> {
        let pass = self.chunking.accumulate(self.renderer.as_mut(), self.spp..to, progress)?;
        if let Pass::Done(report) = &pass {
            let ms = report.stages.total_ms;
            self.clock = RenderClock {
                ms: self.clock.ms + ms,
                ms_per_spp: ms / f64::from(to.saturating_sub(self.spp).max(1)),
            };
            self.spp = to;
        }
        Ok(pass)
    }

    /// Seconds that `spp` samples of every pixel will take, by the last pass.
    pub(crate) fn predict(&self, spp: u32) -> Option<f64> {
        self.chunking.predict(spp)
    }

    /// Samples of every pixel in the film.
    pub(crate) fn spp(&self) -> u32 {
        self.spp
    }

    /// The time rendered since the scene was loaded.
    pub(crate) fn clock(&self) -> RenderClock {
        self.clock
    }

    /// The film.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer.
    pub(crate) fn film(&mut self) -> Result<Film, Failure> {
        read_film(self.renderer.as_mut())
    }

    /// The renderer, for its optional powers. Whoever changes its film through this loads the scene for a
    /// purpose of its own.
    pub(crate) fn renderer(&mut self) -> &mut dyn Renderer {
        self.renderer.as_mut()
    }

    /// Registers, stack and shared memory of its kernels; empty before the first scene.
    pub(crate) fn kernels(&self) -> Vec<KernelResources> {
        self.renderer.kernel_resources()
    }

    /// Host threads that render; zero for a device.
    pub(crate) fn threads(&self) -> u32 {
        self.info.host_threads()
    }

    /// The target as `environment.json` has it.
    pub(crate) fn describe(&self) -> TargetInfo {
        let info = DeviceInfo { target: self.id.to_string(), ..self.info.clone() };
        TargetInfo { info, kernels: self.kernels() }
    }
}
