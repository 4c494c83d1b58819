//! An open target: its renderer or program, the film that it is at, and the time that it has rendered.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lockstep_core::KernelResources;
use lockstep_core::film::MAX_SPP;
use lockstep_core::{
    DeviceInfo, Error, Film, LoadReport, PassReport, Renderer, Scene, Settings, StageTimes, TargetId,
};
use lockstep_reports::image_io::encode_name;
use lockstep_reports::records::TargetInfo;
use lockstep_reports::study::files;

use super::plan::Plan;
use super::rendered::{Rendered, take_away};
use super::shards::UnitFilms;
use crate::bvh_cache;
use crate::chunking::{Chunking, Pass};
use crate::exit::Failure;
use crate::external::{Ended, Program, Request, RunError};
use crate::render::read_film;
use crate::scenes;

/// An open target.
pub(crate) struct TargetSession {
    /// The target.
    pub(crate) id: TargetId,
    /// The device.
    pub(crate) info: DeviceInfo,
    engine: Engine,
    /// The scene and settings of its film.
    loaded: Option<Loaded>,
    /// Samples of every pixel in its film.
    spp: u32,
    clock: RenderClock,
    /// The film or image at the end of the last level.
    pub(crate) last: Option<Rendered>,
}

/// The renderer or program of a target.
enum Engine {
    /// A renderer, which adds samples to its film.
    Renderer(Box<dyn Renderer>, Chunking),
    /// A program, which makes every image from nothing.
    Program(Box<ProgramRuns>),
    /// Films that shards rendered.
    Units(Box<UnitFilms>),
}

/// A program with the last image of its loaded scene.
struct ProgramRuns {
    program: Program,
    /// The study's folder, for logs.
    root: PathBuf,
    /// Scenes by name, as the program gets them.
    words: BTreeMap<String, String>,
    /// The features of the scene written last that it cannot express, until they are asked for.
    differences: Vec<String>,
    image: Option<Rendered>,
    /// Seconds that a sample of every pixel took in the last run.
    seconds_per_spp: Option<f64>,
}

/// The film of some samples, and what they took.
pub(crate) struct Part {
    /// The film of these samples alone.
    pub(crate) film: Film,
    /// Time and rays.
    pub(crate) pass: PassReport,
    /// Taking the scene to the target, where that was necessary.
    pub(crate) load: Option<LoadReport>,
}

/// The purpose of a film. Measurements of one purpose continue each other's film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The levels of samples per pixel.
    Levels {
        /// The repeat of the same samples, from 0.
        repeat: u32,
    },
    /// The levels under another seed, for the noise floor.
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
        let engine = Engine::Renderer(renderer, Chunking::of(&id));
        Self::with_engine(id, info, engine)
    }

    /// An external program.
    pub(crate) fn of_program(program: Program) -> Self {
        let (id, info) = (program.id.clone(), program.device());
        let (root, words, differences) = (PathBuf::new(), BTreeMap::new(), Vec::new());
        let runs = ProgramRuns { program, root, words, differences, image: None, seconds_per_spp: None };
        Self::with_engine(id, info, Engine::Program(Box::new(runs)))
    }

    /// A target whose films shards rendered.
    pub(crate) fn of_units(films: UnitFilms) -> Self {
        let (id, info) = (films.target().clone(), films.info().clone());
        Self::with_engine(id, info, Engine::Units(Box::new(films)))
    }

    fn with_engine(id: TargetId, info: DeviceInfo, engine: Engine) -> Self {
        Self { id, info, engine, loaded: None, spp: 0, clock: RenderClock::default(), last: None }
    }

    /// A second session of a target, for the A/A control; `None` for a renderer, which is to be opened again.
    pub(crate) fn aa_control(&self) -> Option<Self> {
        match &self.engine {
            Engine::Renderer(..) => None,
            Engine::Program(runs) => Some(Self::of_program(runs.program.clone())),
            Engine::Units(films) => Some(Self::of_units(films.control())),
        }
    }

    /// Tells a program the study's folder and its scenes.
    pub(crate) fn attach(&mut self, root: &Path, plan: &Plan) {
        if let Engine::Program(runs) = &mut self.engine {
            runs.root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
            let words = plan.scenes.iter().zip(&plan.words);
            runs.words = words.map(|(scene, word)| (scene.name.clone(), scenes::word_of(word))).collect();
        }
    }

    /// The features of the scene written last that a program cannot express, told once.
    pub(crate) fn take_differences(&mut self) -> Vec<String> {
        match &mut self.engine {
            Engine::Renderer(..) | Engine::Units(_) => Vec::new(),
            Engine::Program(runs) => std::mem::take(&mut runs.differences),
        }
    }

    /// Whether the target is an external program.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.engine, Engine::Program(_))
    }

    /// Whether an image of more samples has those of fewer in it.
    pub(crate) fn continues(&self) -> bool {
        match &self.engine {
            Engine::Renderer(..) | Engine::Units(_) => true,
            Engine::Program(runs) => runs.program.continues(),
        }
    }

    /// Whether its film is of this scene under these settings, for the same purpose.
    pub(crate) fn holds(&self, scene: &Scene, settings: &Settings, purpose: Purpose) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| {
            (&loaded.scene, &loaded.settings, loaded.purpose) == (&scene.name, settings, purpose)
        })
    }

    /// The words for taking a scene to the target.
    pub(crate) fn loading(&self, scene: &str) -> String {
        match &self.engine {
            Engine::Renderer(..) if self.info.kernel_hash.is_empty() => {
                format!("{scene}: building the BVH for {}", self.id)
            }
            Engine::Renderer(..) => format!("{scene}: building the BVH, compiling kernels for {}", self.id),
            Engine::Program(_) => format!("{scene}: writing the scene for {}", self.id),
            Engine::Units(_) => format!("{scene}: looking for the films of {}", self.id),
        }
    }

    /// Takes a scene to the target, in its own mode and by its own integrator whatever the settings have; its film is empty afterwards.
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
        self.clock = RenderClock::default();
        let report = match &mut self.engine {
            Engine::Renderer(renderer, chunking) => {
                *chunking = Chunking::of(&self.id);
                let report = renderer.load(scene, &self.id.settings(settings))?;
                bvh_cache::warn_if_rebuilt(&scene.name, &report);
                report
            }
            Engine::Program(runs) => {
                (runs.image, runs.seconds_per_spp) = (None, None);
                runs.write_scene(scene)?;
                LoadReport::default()
            }
            Engine::Units(films) => films.load(&scene.name, settings, purpose)?,
        };
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

    /// Fills the film up to `to` samples of every pixel, from where it is. A program renders all of them, whose time
    /// is then that of all.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer, [`Failure::Program`] of a program.
    pub(crate) fn advance(&mut self, to: u32, progress: &mut dyn FnMut(u64)) -> Result<Pass, Failure> {
        let from = self.spp;
        let (pass, before_ms, samples) = match &mut self.engine {
            Engine::Renderer(renderer, chunking) => {
                let pass = chunking.accumulate(renderer.as_mut(), from..to, progress)?;
                (pass, self.clock.ms, to.saturating_sub(from))
            }
            Engine::Program(runs) => {
                let loaded = self.loaded.as_ref().ok_or_else(lockstep_core::nothing_loaded)?;
                let pass = runs.render(loaded, to)?;
                progress(u64::from(to.saturating_sub(from)));
                (pass, 0.0, to)
            }
            Engine::Units(films) => {
                let pass = films.advance(from..to)?;
                progress(u64::from(to.saturating_sub(from)));
                (pass, self.clock.ms, to.saturating_sub(from))
            }
        };
        if let Pass::Done(report) = &pass {
            let ms = report.stages.total_ms;
            self.clock = RenderClock { ms: before_ms + ms, ms_per_spp: ms / f64::from(samples.max(1)) };
            self.spp = to;
        }
        Ok(pass)
    }

    /// Renders some samples and returns the film of them alone; `None` where the user stops it. The scene is taken to
    /// the target where it does not hold it, which the report tells.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer, also for a program, which renders no parts.
    pub(crate) fn render_alone(
        &mut self,
        scene: &Scene,
        settings: &Settings,
        samples: Range<u32>,
    ) -> Result<Option<Part>, Failure> {
        let count = samples.end.saturating_sub(samples.start);
        let has_room = self.spp.checked_add(count).is_some_and(|spp| spp <= MAX_SPP);
        let purpose = Purpose::Levels { repeat: 0 };
        let holds = has_room && self.holds(scene, settings, purpose);
        let load = if holds { None } else { Some(self.load(scene, settings, purpose)?) };
        let before = if self.spp > 0 { Some(read_film(self.renderer()?)?) } else { None };
        let Engine::Renderer(renderer, chunking) = &mut self.engine else {
            return Err(
                Error::Unsupported { actor: self.id.to_string(), what: "a part of an image".into() }.into()
            );
        };
        let Pass::Done(pass) = chunking.accumulate(renderer.as_mut(), samples, &mut |_| {})? else {
            return Ok(None);
        };
        self.spp += count;
        let mut film = read_film(renderer.as_mut())?;
        if let Some(before) = before {
            take_away(&mut film, &before);
        }
        Ok(Some(Part { film, pass, load }))
    }

    /// Seconds that `spp` samples of every pixel will take, by the last pass.
    pub(crate) fn predict(&self, spp: u32) -> Option<f64> {
        match &self.engine {
            Engine::Renderer(_, chunking) => chunking.predict(spp),
            Engine::Program(runs) => runs.seconds_per_spp.map(|seconds| seconds * f64::from(spp)),
            Engine::Units(_) => None,
        }
    }

    /// Samples of every pixel in the film.
    pub(crate) fn spp(&self) -> u32 {
        self.spp
    }

    /// The time rendered since the scene was loaded.
    pub(crate) fn clock(&self) -> RenderClock {
        self.clock
    }

    /// The film, or the program's image.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer, or of a program that has rendered nothing.
    pub(crate) fn rendered(&mut self) -> Result<Rendered, Failure> {
        match &mut self.engine {
            Engine::Renderer(renderer, _) => Ok(Rendered::Film(read_film(renderer.as_mut())?)),
            Engine::Program(runs) => Ok(runs.image.clone().ok_or_else(lockstep_core::nothing_loaded)?),
            Engine::Units(films) => Ok(Rendered::Film(films.film().clone())),
        }
    }

    /// The renderer, for its optional powers. Whoever changes its film through this loads the scene for a
    /// purpose of its own.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a program.
    pub(crate) fn renderer(&mut self) -> Result<&mut dyn Renderer, Failure> {
        match &mut self.engine {
            Engine::Renderer(renderer, _) => Ok(renderer.as_mut()),
            Engine::Program(_) => Err(Error::Unsupported {
                actor: self.id.to_string(),
                what: "more than rendering images, by an external program,".into(),
            }
            .into()),
            Engine::Units(films) => Ok(films.as_mut()),
        }
    }

    /// Registers, stack and shared memory of its kernels; empty before the first scene.
    pub(crate) fn kernels(&self) -> Vec<KernelResources> {
        match &self.engine {
            Engine::Renderer(renderer, _) => renderer.kernel_resources(),
            Engine::Program(_) => Vec::new(),
            Engine::Units(films) => films.kernel_resources(),
        }
    }

    /// Host threads that render; zero for a device.
    pub(crate) fn threads(&self) -> u32 {
        self.info.host_threads()
    }

    /// The target as the `environment.json` of a plan has it.
    pub(crate) fn describe(&self, plan: &Plan) -> TargetInfo {
        let info = DeviceInfo { target: self.id.clone(), ..self.info.clone() };
        let program = match &self.engine {
            Engine::Renderer(..) | Engine::Units(_) => None,
            Engine::Program(runs) => {
                let spp = plan.schedule.levels.first().copied().unwrap_or(1);
                let word = |(scene, spec): (&Scene, &String)| {
                    let file = runs.program.scene_input().file(&written_to(&self.id, scene));
                    file.map_or_else(|| scenes::word_of(spec), |file| file.to_string_lossy().into_owned())
                };
                let words: Vec<String> = plan.scenes.iter().zip(&plan.words).map(word).collect();
                let request = |(scene, word)| request(scene, word, &plan.settings, spp);
                let names = plan.scenes.iter().map(|scene| scene.name.as_str());
                let first: Vec<Request<'_>> =
                    names.zip(words.iter().map(String::as_str)).map(request).collect();
                Some(runs.program.describe(&first))
            }
        };
        TargetInfo { info, kernels: self.kernels(), program }
    }
}

impl ProgramRuns {
    /// Writes a scene for a program that needs that, once.
    fn write_scene(&mut self, scene: &Scene) -> Result<(), Failure> {
        let folder = self.root.join(written_to(&self.program.id, scene));
        let is_written = self.words.get(&scene.name).is_some_and(|word| Path::new(word).starts_with(&folder));
        if is_written {
            return Ok(());
        }
        if let Some(written) = self.program.scene_input().write(scene, &folder)? {
            let file = std::path::absolute(&written.file).map_err(Failure::io("find", &written.file))?;
            self.words.insert(scene.name.clone(), file.to_string_lossy().into_owned());
            self.differences = written.differences.iter().map(ToString::to_string).collect();
        }
        Ok(())
    }

    /// Renders the image of a scene with `spp` samples per pixel.
    fn render(&mut self, loaded: &Loaded, spp: u32) -> Result<Pass, Failure> {
        let word = self.words.get(&loaded.scene).unwrap_or(&loaded.scene);
        let request = request(&loaded.scene, word, &loaded.settings, spp);
        match self.program.render(&request, &self.root) {
            Ok(Ended::Image(image, ms)) => {
                self.image = Some(Rendered::Means { image, spp });
                self.seconds_per_spp = Some(ms / 1e3 / f64::from(spp.max(1)));
                let stages = StageTimes { total_ms: ms, ..StageTimes::default() };
                Ok(Pass::Done(PassReport { stages, ..PassReport::default() }))
            }
            Ok(Ended::Stopped) => Ok(Pass::Stopped),
            Err(RunError::Program(failure)) => Err(Failure::Program(failure)),
            Err(RunError::Own(failure)) => Err(failure),
        }
    }
}

/// Where in the study's folder the files of a scene for a program lie.
fn written_to(target: &TargetId, scene: &Scene) -> PathBuf {
    Path::new(files::SCENES).join(encode_name(&target.to_string())).join(encode_name(&scene.name))
}

fn request<'a>(scene: &'a str, word: &'a str, settings: &Settings, spp: u32) -> Request<'a> {
    let Settings { width, height, bounces, seed, .. } = *settings;
    Request { scene, word, spp, seed, width, height, bounces }
}
