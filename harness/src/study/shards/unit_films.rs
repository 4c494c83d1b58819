//! A target whose films shards rendered: it adds units in place of rendering samples.

use std::ops::Range;
use std::rc::Rc;

use lockstep_core::path_record::{PathRequest, PathVertex};
use lockstep_core::{
    DeviceInfo, Error, Film, KernelResources, LoadReport, PassReport, Renderer, Scene, Settings, TargetId,
};

use super::gather::Units;
use super::tracer;
use super::unit::Work;
use crate::chunking::Pass;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::say;
use crate::study::target_session::Purpose;

/// A target of a merge. As a [`Renderer`] it reads its film, and records paths where the target is here.
pub(crate) struct UnitFilms {
    units: Rc<Units>,
    target: TargetId,
    info: DeviceInfo,
    kernels: Vec<KernelResources>,
    /// Whether its times are those of the A/A control.
    is_control: bool,
    film: Film,
    /// The scene and settings, and which films of it.
    at: Option<At>,
    /// The target itself with scene and settings, once paths were asked for.
    tracer: Option<(String, Settings, Box<dyn Renderer>)>,
}

/// Which films of which scene.
#[derive(Clone)]
struct At {
    scene: String,
    settings: Settings,
    films: (Work, u32, u32),
}

impl UnitFilms {
    /// A target of the units.
    ///
    /// # Errors
    /// [`Failure::Input`] where no unit describes it.
    pub(crate) fn new(units: &Rc<Units>, target: &TargetId) -> Result<Self, Failure> {
        let device = units.device(target);
        let device = device.ok_or_else(|| Failure::Input(format!("no unit has a film of {target}")))?;
        let (width, height) = (units.plan.settings.width, units.plan.settings.height);
        Ok(Self {
            units: units.clone(),
            target: target.clone(),
            info: device.info.clone(),
            kernels: device.kernels.clone(),
            is_control: false,
            film: Film::new(width, height)?,
            at: None,
            tracer: None,
        })
    }

    /// The films of the A/A control of a target.
    pub(crate) fn control(&self) -> Self {
        Self {
            units: self.units.clone(),
            target: self.target.clone(),
            info: self.info.clone(),
            kernels: self.kernels.clone(),
            is_control: true,
            film: self.film.clone(),
            at: None,
            tracer: None,
        }
    }

    /// The target.
    pub(crate) fn target(&self) -> &TargetId {
        &self.target
    }

    /// Device of the target.
    pub(crate) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The film.
    pub(crate) fn film(&self) -> &Film {
        &self.film
    }

    /// Empties the film for a scene, and returns what taking the scene to the target took where it was taken first.
    ///
    /// # Errors
    /// [`Failure::Core`] for films of another purpose, which no unit has.
    pub(crate) fn load(
        &mut self,
        scene: &str,
        settings: &Settings,
        purpose: Purpose,
    ) -> Result<LoadReport, Failure> {
        let work = match purpose {
            Purpose::Levels { repeat } => (Work::Level, settings.seed, repeat),
            Purpose::NoiseFloor => (Work::NoiseFloor, settings.seed, 0),
            Purpose::Reference => (Work::Reference, settings.seed, 0),
            Purpose::EqualTime | Purpose::ThreadScaling | Purpose::Tuning => {
                return Err(self.unsupported("more than films of units").into());
            }
        };
        self.film = Film::new(self.film.width(), self.film.height())?;
        let films = self.units.manifests().filter(|manifest| manifest.unit.scene == scene);
        let films = films.flat_map(|manifest| &manifest.films);
        let loads = films.filter(|film| film.device.info.target == self.target).filter_map(|film| film.load);
        let report = loads.into_iter().next().unwrap_or_default();
        self.at = Some(At { scene: scene.to_owned(), settings: *settings, films: work });
        Ok(report)
    }

    /// Adds the units of these samples, which must be whole ones, and returns the sum of their times.
    ///
    /// # Errors
    /// [`Failure::Input`] for a film that cannot be read, or samples that no units have.
    pub(crate) fn advance(&mut self, samples: Range<u32>) -> Result<Pass, Failure> {
        let At { scene, films: work, .. } = self.at.clone().ok_or_else(lockstep_core::nothing_loaded)?;
        let units = self.units.clone();
        let mut sum = PassReport::default();
        let mut next = samples.start;
        for found in units.of_film(&scene, work) {
            let unit = &found.manifest.unit;
            let Some(target) = unit.targets.iter().position(|target| *target == self.target) else {
                continue;
            };
            if unit.from != next || unit.to > samples.end {
                continue;
            }
            if interrupt::requested() {
                return Ok(Pass::Stopped);
            }
            self.film.merge(units.read(found, target)?.film())?;
            let film = &found.manifest.films[target];
            let aa_control = film.aa_control.as_ref().filter(|_| self.is_control);
            sum.merge(aa_control.unwrap_or(&film.pass).clone());
            next = unit.to;
        }
        if next != samples.end {
            return Err(Failure::Input(format!(
                "no unit has the samples {next}..{} of {scene} on {}, seed {}; another target that promises the same \
                 films made others",
                samples.end, self.target, work.1
            )));
        }
        Ok(Pass::Done(sum))
    }
}

impl Renderer for UnitFilms {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, _: &Scene, _: &Settings) -> Result<LoadReport, Error> {
        Err(self.unsupported("rendering in a merge"))
    }

    fn accumulate(&mut self, _: Range<u32>) -> Result<PassReport, Error> {
        Err(self.unsupported("rendering in a merge"))
    }

    fn read(&mut self, film: &mut Film) -> Result<(), Error> {
        film.clone_from(&self.film);
        Ok(())
    }

    fn record_paths(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PathVertex>>, Error> {
        let At { scene, settings, .. } = self.at.clone().ok_or_else(lockstep_core::nothing_loaded)?;
        let is_there =
            |known: &(String, Settings, Box<dyn Renderer>)| known.0 == scene && known.1 == settings;
        if !self.tracer.as_ref().is_some_and(is_there) {
            let opened = tracer::open(&self.units, &self.target, &scene, &settings);
            let renderer = opened.map_err(|failure| match failure {
                Failure::Core(error) => error,
                other => {
                    say(&format!("lockstep: {} records no paths of {scene}: {other}", self.target));
                    self.unsupported("recording paths")
                }
            })?;
            self.tracer = Some((scene, settings, renderer));
        }
        match &mut self.tracer {
            Some((_, _, renderer)) => renderer.record_paths(requests),
            None => Err(self.unsupported("recording paths")),
        }
    }

    fn kernel_resources(&self) -> Vec<KernelResources> {
        self.kernels.clone()
    }
}
