//! The coordinator: a renderer made of workers.

mod events;
#[cfg(test)]
mod fuzz;
mod pass;
mod workers;

use crate::checkpoint::Checkpoint;
use crate::identity::Identity;
use crate::merger::{Merger, Spare};
use crate::partial_film::{MergeError, PartialFilm};
use crate::pool::Launcher;
use crate::samples::SampleSet;
use crate::schedule::Schedule;
use crate::scheduler::WorkerId;
use crate::timeline::Timeline;
use events::{Event, listen};
use lockstep_core::{DeviceInfo, Error, Film, LoadReport, PassReport, Renderer, Result, Scene, Settings};
use lockstep_core::{check_range, nothing_loaded};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use pass::{Pass, shared_time};
use workers::{Slot, State, Worker};

/// The time after which faults and the user's wishes are looked at even if nothing happens.
const TICK: Duration = Duration::from_millis(50);

/// When a pass begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// As soon as one worker is ready; others join. The shortest time for an image.
    #[default]
    First,
    /// When every worker is ready or lost, so that rates can be compared.
    All,
}

/// Options of a [`Together`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How samples are shared.
    pub schedule: Schedule,
    /// When a pass begins.
    pub start: Start,
    /// The silence after which a worker counts as hung, unless its samples take longer. Loading a scene, about which
    /// a worker says nothing, may take twenty times as long.
    pub silence: Duration,
    /// The render's state on disk.
    pub checkpoint: Option<Checkpoint>,
    /// [`Identity::semantics`] of this program; workers of another are refused.
    pub semantics: String,
    /// A socket that more workers may join at.
    pub listen: Option<PathBuf>,
}

/// An event of a worker that people should know of, such as its loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerNote {
    /// The worker's target.
    pub target: String,
    /// The event, with its reason.
    pub text: String,
}

struct Loaded {
    scene: Scene,
    settings: Settings,
    /// The scene as workers get it.
    file: tempfile::NamedTempFile,
    number: u64,
    merger: Merger,
    spp: u32,
    report: Option<LoadReport>,
}

/// How a pass ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All samples are in the film.
    Done(PassReport),
    /// The caller stopped it.
    Stopped,
}

/// Samples of every pixel that a target has rendered since it was heard last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The target.
    pub target: &'a str,
    /// Samples per pixel.
    pub samples: u32,
}

/// A caller's view of a pass: called with every progress, and without one at least every 50 ms; false stops the pass.
pub type Watch<'a> = &'a mut dyn FnMut(Option<Progress<'_>>) -> bool;

/// Several targets that render one film, each in a process of its own.
pub struct Together {
    info: DeviceInfo,
    launcher: Box<dyn Launcher>,
    options: Options,
    slots: Vec<Slot>,
    workers: BTreeMap<WorkerId, Worker>,
    next_worker: WorkerId,
    events: Receiver<Event>,
    to_self: Sender<Event>,
    loaded: Option<Loaded>,
    loads: u64,
    notes: Vec<WorkerNote>,
    timeline: Timeline,
    pass: Option<Pass>,
    /// The number of the next pass's first lease.
    first_lease: u64,
    /// The targets that render; all when `None`.
    active: Option<Vec<usize>>,
    spare: Spare,
}

impl Together {
    /// A group of targets. Nothing is started before the first scene is loaded.
    ///
    /// # Errors
    /// [`Error::Io`] when the socket of [`Options::listen`] cannot be made.
    pub fn new(
        info: DeviceInfo,
        targets: &[String],
        launcher: Box<dyn Launcher>,
        options: Options,
    ) -> Result<Self> {
        let (to_self, events) = channel();
        if let Some(path) = &options.listen {
            listen(path, to_self.clone()).map_err(|source| Error::Io {
                action: "listening at",
                path: path.clone(),
                source,
            })?;
        }
        let slot = |target: &String| Slot { target: target.clone(), restarts: 0, useful: true };
        Ok(Self {
            info,
            launcher,
            options,
            slots: targets.iter().map(slot).collect(),
            workers: BTreeMap::new(),
            next_worker: 0,
            events,
            to_self,
            loaded: None,
            loads: 0,
            notes: Vec::new(),
            timeline: Timeline::default(),
            pass: None,
            first_lease: 0,
            active: None,
            spare: Spare::default(),
        })
    }

    /// The leases of the last pass.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Events of workers since the last call.
    pub fn take_notes(&mut self) -> Vec<WorkerNote> {
        let fault = self.loaded.as_ref().and_then(|loaded| loaded.merger.take_fault());
        if let Some(fault) = fault {
            self.note("checkpoint", &fault);
        }
        std::mem::take(&mut self.notes)
    }

    /// Whether a worker is left that renders or may come to.
    pub fn has_workers(&self) -> bool {
        self.workers.values().any(|worker| self.is_active(worker))
    }

    /// Sets how samples are shared from the next pass on.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.options.schedule = schedule;
    }

    /// Lets some of the targets render from the next pass on, by their places in the list of targets; `None` lets
    /// all. The others keep their scene.
    pub fn set_active(&mut self, active: Option<Vec<usize>>) {
        self.active = active;
    }

    /// Empties the film, and forgets the rates of workers, so that the next pass is like the first.
    ///
    /// # Errors
    /// [`Error::Contract`] before the first `load`.
    pub fn clear(&mut self) -> Result<()> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        self.begin_film(self.empty(self.identity(loaded))?);
        self.workers.values_mut().for_each(|worker| worker.rate = None);
        Ok(())
    }

    /// Goes on from a film.
    fn begin_film(&mut self, film: PartialFilm) {
        if let Some(loaded) = &mut self.loaded {
            loaded.spp = film.film().spp;
            loaded.merger = Merger::new(film, self.options.checkpoint.clone(), self.spare.clone());
        }
    }

    fn empty(&self, identity: Identity) -> Result<PartialFilm> {
        PartialFilm::empty(identity).map_err(|e| match e {
            MergeError::Film(error) => error,
            other => Error::Contract { actor: self.info.target.to_string(), message: other.to_string() },
        })
    }

    /// The render that films of the loaded scene belong to.
    fn identity(&self, loaded: &Loaded) -> Identity {
        Identity::of(&loaded.scene, &loaded.settings, &self.options.semantics, &self.info)
    }

    /// Puts the samples of an earlier render into the film of the loaded scene.
    ///
    /// # Errors
    /// [`MergeError`] when it is of another render, or nothing is loaded.
    pub fn restore(&mut self, part: PartialFilm) -> std::result::Result<(), MergeError> {
        let loaded = self.loaded.as_ref().ok_or_else(|| MergeError::Film(nothing_loaded()))?;
        self.identity(loaded).check(part.identity())?;
        self.begin_film(part);
        Ok(())
    }

    /// Renders samples; `watch` is called at least every 50 ms.
    ///
    /// # Errors
    /// [`Error::Contract`] before the first `load`; [`Error::Device`] when no worker is left. The film and the
    /// checkpoint then hold all samples that were committed.
    pub fn render(&mut self, samples: &SampleSet, watch: Watch<'_>) -> Result<Ended> {
        if self.loaded.is_none() {
            return Err(nothing_loaded());
        }
        if self.options.start == Start::All && !self.wait_for_all(watch)? {
            return Ok(Ended::Stopped);
        }
        self.begin_pass(samples.clone());
        let result = self.run_pass(watch);
        let Some(mut pass) = self.pass.take() else { return Ok(Ended::Stopped) };
        if let Some(loaded) = &mut self.loaded {
            loaded.spp += u32::try_from(pass.scheduler.committed().len()).unwrap_or(u32::MAX);
            loaded.merger.settle();
        }
        pass.timeline.seconds = pass.begin.elapsed().as_secs_f64();
        self.keep_rates(&pass);
        self.first_lease = pass.scheduler.next_lease();
        let wall_ms = pass.timeline.seconds * 1e3;
        self.timeline = pass.timeline;
        let stopped = !result?;
        if stopped {
            // Leases in work are not wanted any more, and would come back into the next pass
            self.end_workers("stopped");
            return Ok(Ended::Stopped);
        }
        Ok(Ended::Done(shared_time(pass.report, wall_ms, pass.device_ms)))
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        self.end_workers("done");
        if let Some(path) = &self.options.listen {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Renderer for Together {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    /// Sends the scene to all workers, which are started if they are not there, and waits for the first that has
    /// loaded it, or for all by [`Start::All`]. The report is the first one's.
    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        settings.validate()?;
        let io = |source| Error::Io { action: "writing", path: "the scene for workers".into(), source };
        let mut file = tempfile::Builder::new().prefix("lockstep-scene-").tempfile().map_err(io)?;
        file.write_all(&scene.pack()).map_err(io)?;
        let identity = Identity::of(scene, settings, &self.options.semantics, &self.info);
        let begin = self.empty(identity)?;
        self.loads += 1;
        let merger = Merger::new(begin, self.options.checkpoint.clone(), self.spare.clone());
        let (scene, settings, number) = (scene.clone(), *settings, self.loads);
        self.loaded = Some(Loaded { scene, settings, file, number, merger, spp: 0, report: None });
        // Workers that are there get the scene, and those that are not are started
        let there: Vec<WorkerId> =
            self.workers.iter().filter(|(_, w)| w.state != State::Starting).map(|(&id, _)| id).collect();
        there.into_iter().for_each(|id| self.send_scene(id));
        for slot in 0..self.slots.len() {
            if !self.workers.values().any(|worker| worker.slot == Some(slot)) {
                self.launch(slot);
            }
        }
        let watch: Watch<'_> = &mut |_| true;
        while self.loaded.as_ref().is_some_and(|loaded| loaded.report.is_none()) {
            self.check_alive()?;
            self.wait_for_event(watch);
        }
        if self.options.start == Start::All {
            self.wait_for_all(watch)?;
        }
        Ok(self.loaded.as_ref().and_then(|loaded| loaded.report).unwrap_or_default())
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        let spp = self.loaded.as_ref().ok_or_else(nothing_loaded)?.spp;
        check_range(spp, &samples)?;
        match self.render(&samples.into(), &mut |_| true)? {
            Ended::Done(report) => Ok(report),
            Ended::Stopped => {
                let message = "a pass that nobody stops was stopped".into();
                Err(Error::Contract { actor: self.info.target.to_string(), message })
            }
        }
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        self.loaded.as_ref().ok_or_else(nothing_loaded)?.merger.read(film);
        Ok(())
    }
}
