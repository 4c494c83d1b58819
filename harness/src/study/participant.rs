//! A target that takes part in a study.

use std::ops::Range;

use lockstep_core::KernelResources;
use lockstep_core::{DeviceInfo, Film, LoadReport, Renderer, Scene, Settings};
use lockstep_reports::records::{Mode, TargetId, TargetInfo, host_threads};

use crate::exit::Failure;
use crate::hierarchies;
use crate::pace::{Pace, Pass};
use crate::render::read_film;

/// An open target.
pub(crate) struct Participant {
    /// Its label on the command line and in records, which tells its mode.
    pub(crate) name: String,
    /// What it runs on.
    pub(crate) info: DeviceInfo,
    /// Whether it renders the present scene.
    pub(crate) active: bool,
    renderer: Box<dyn Renderer>,
    pace: Pace,
    /// Samples of every pixel that its film holds.
    spp: u32,
    /// The film as it was last read for the ladder.
    pub(crate) last: Option<Film>,
}

impl Participant {
    /// An opened target under its name.
    pub(crate) fn new(name: &str, renderer: Box<dyn Renderer>) -> Self {
        let info = renderer.device().clone();
        Self {
            name: name.to_owned(),
            info,
            active: true,
            renderer,
            pace: Pace::default(),
            spp: 0,
            last: None,
        }
    }

    /// Takes a scene to the target, in its own mode whatever the settings have; its film is empty afterwards.
    ///
    /// # Errors
    /// What the renderer says.
    pub(crate) fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport, Failure> {
        self.spp = 0;
        self.last = None;
        self.pace = Pace::default();
        let mode = TargetId::from(self.name.as_str()).mode;
        let report = self.renderer.load(scene, &Settings { mode, ..*settings })?;
        hierarchies::tell_of_damage(&scene.name, &report);
        Ok(report)
    }

    /// Fills the film up to so many samples of every pixel, from where it is.
    ///
    /// # Errors
    /// What the renderer says.
    pub(crate) fn advance(&mut self, to: u32, progress: &mut dyn FnMut(u64)) -> Result<Pass, Failure> {
        let samples: Range<u32> = self.spp..to;
        let pass = self.pace.accumulate(self.renderer.as_mut(), samples, progress)?;
        if matches!(pass, Pass::Done(_)) {
            self.spp = to;
        }
        Ok(pass)
    }

    /// Seconds that so many samples of every pixel will take, by the last pass.
    pub(crate) fn predict(&self, spp: u32) -> Option<f64> {
        self.pace.predict(spp)
    }

    /// Samples of every pixel in the film.
    pub(crate) fn spp(&self) -> u32 {
        self.spp
    }

    /// The film.
    ///
    /// # Errors
    /// What the renderer says.
    pub(crate) fn film(&mut self) -> Result<Film, Failure> {
        read_film(self.renderer.as_mut())
    }

    /// The renderer, for powers that studies seldom need.
    pub(crate) fn renderer(&mut self) -> &mut dyn Renderer {
        self.renderer.as_mut()
    }

    /// How it is compiled.
    pub(crate) fn mode(&self) -> Mode {
        TargetId::from(self.name.as_str()).mode
    }

    /// What its kernels take of the device; empty before the first scene.
    pub(crate) fn kernels(&self) -> Vec<KernelResources> {
        self.renderer.kernel_resources()
    }

    /// Host threads that render; zero for a device.
    pub(crate) fn threads(&self) -> u32 {
        host_threads(&self.info)
    }

    /// The target as `environment.json` has it.
    pub(crate) fn describe(&self) -> TargetInfo {
        TargetInfo {
            target: self.name.clone(),
            mode: self.mode(),
            kernels: self.kernels(),
            ..TargetInfo::from(&self.info)
        }
    }
}
