//! The coordinator: a renderer made of workers.

mod events;

use crate::checkpoint::Checkpoint;
use crate::identity::Identity;
use crate::merger::{Contribution, Merger, Spare, Sums};
use crate::partial_film::{MergeError, PartialFilm};
use crate::pool::{Launcher, WorkerProcess};
use crate::samples::SampleSet;
use crate::schedule::Schedule;
use crate::scheduler::{Commit, Scheduler, WorkerId};
use crate::timeline::{Interval, Outcome, Timeline};
use crate::wire::{Order, PROTOCOL, Report, send};
use events::{Event, listen, read_reports};
use lockstep_core::film::InvalidSamples;
use lockstep_core::{DeviceInfo, Error, Film, LoadReport, PassReport, Renderer, Result, Scene, Settings};
use lockstep_core::{check_range, nothing_loaded};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The time after which faults and the user's wishes are looked at even if nothing happens.
const TICK: Duration = Duration::from_millis(50);
/// Times that a worker is started again after a loss.
const RESTARTS: u32 = 3;
/// A worker is lost if it is silent for this many times as long as one sample of every pixel takes it.
const SILENT_SAMPLES: f64 = 20.0;

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
    /// The silence after which a worker counts as hung, unless a sample of its takes longer.
    pub silence: Duration,
    /// The render's state on disk.
    pub checkpoint: Option<Checkpoint>,
    /// [`Identity::semantics`] of this program; workers of another are refused.
    pub semantics: String,
    /// A socket that more workers may join at.
    pub listen: Option<PathBuf>,
}

/// Something about a worker that people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerNote {
    /// The worker's target.
    pub target: String,
    /// The event, with its reason.
    pub text: String,
}

/// One target of the group.
struct Slot {
    target: String,
    restarts: u32,
    /// Committed a lease since it was started, so that another start may help.
    useful: bool,
}

/// A worker that is there.
struct Worker {
    target: String,
    /// The place in the list of targets; `None` for one that joined by itself.
    slot: Option<usize>,
    stream: UnixStream,
    process: Option<WorkerProcess>,
    state: State,
    heard: Instant,
    /// Samples per pixel and second, from the last pass.
    rate: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not known yet: no greeting has come.
    Starting,
    /// Loading the scene.
    Loading,
    /// Ready to render.
    Ready,
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

/// The state of one pass.
struct Pass {
    scheduler: Scheduler,
    begin: Instant,
    timeline: Timeline,
    report: PassReport,
    /// Leases that are rendered and whose films are on their way: their end, and what they cost.
    rendered: BTreeMap<u64, (Interval, PassReport)>,
    device_ms: f64,
}

/// How a pass ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All samples are in the film.
    Done(PassReport),
    /// The caller stopped it.
    Stopped,
}

/// A caller's view of a pass: told how many samples each target has rendered; false stops it.
pub type Watch<'a> = &'a mut dyn FnMut(Option<(&str, u32)>) -> bool;

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

    /// Events of workers since this was asked last.
    pub fn take_notes(&mut self) -> Vec<WorkerNote> {
        let fault = self.loaded.as_ref().and_then(|loaded| loaded.merger.take_fault());
        if let Some(fault) = fault {
            self.note("checkpoint", &fault);
        }
        std::mem::take(&mut self.notes)
    }

    /// The processes of the workers that are there, by target.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let of = |worker: &Worker| Some((worker.target.clone(), worker.process.as_ref()?.pid()));
        self.workers.values().filter_map(of).collect()
    }

    /// Number of workers that are there or may come back.
    pub fn alive(&self) -> usize {
        self.workers.len()
    }

    /// How samples are shared from the next pass on.
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
        let identity = Identity::of(&loaded.scene, &loaded.settings, &self.options.semantics, &self.info);
        let begin = self.empty(identity)?;
        if let Some(loaded) = &mut self.loaded {
            loaded.merger = Merger::new(begin, self.options.checkpoint.clone(), self.spare.clone());
            loaded.spp = 0;
        }
        self.workers.values_mut().for_each(|worker| worker.rate = None);
        Ok(())
    }

    fn empty(&self, identity: Identity) -> Result<PartialFilm> {
        PartialFilm::empty(identity).map_err(|e| match e {
            MergeError::Film(error) => error,
            other => Error::Contract { actor: self.info.target.clone(), message: other.to_string() },
        })
    }

    fn takes_part(&self, worker: &Worker) -> bool {
        let slot = |active: &Vec<usize>| worker.slot.is_some_and(|slot| active.contains(&slot));
        worker.state == State::Ready && self.active.as_ref().is_none_or(slot)
    }

    /// Puts the samples of an earlier render into the film of the loaded scene.
    ///
    /// # Errors
    /// [`MergeError`] when it is of another render, or nothing is loaded.
    pub fn restore(&mut self, part: PartialFilm) -> std::result::Result<(), MergeError> {
        let loaded = self.loaded.as_mut().ok_or_else(|| MergeError::Film(nothing_loaded()))?;
        let identity = Identity::of(&loaded.scene, &loaded.settings, &self.options.semantics, &self.info);
        identity.check(part.identity())?;
        loaded.spp = part.film().spp;
        loaded.merger = Merger::new(part, self.options.checkpoint.clone(), self.spare.clone());
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

    fn begin_pass(&mut self, samples: SampleSet) {
        let mut scheduler = Scheduler::new(self.options.schedule, samples, self.first_lease);
        for (&id, worker) in self.workers.iter().filter(|(_, worker)| self.takes_part(worker)) {
            scheduler.join(id, worker.rate);
        }
        self.pass = Some(Pass {
            scheduler,
            begin: Instant::now(),
            timeline: Timeline::default(),
            report: PassReport::default(),
            rendered: BTreeMap::new(),
            device_ms: 0.0,
        });
    }

    /// Grants leases and takes films until the pass is complete; false if the caller stopped it.
    fn run_pass(&mut self, watch: Watch<'_>) -> Result<bool> {
        loop {
            self.grant_leases();
            if self.pass.as_ref().is_none_or(|pass| pass.scheduler.is_complete()) {
                return Ok(true);
            }
            self.check_alive()?;
            match self.events.recv_timeout(TICK) {
                Ok(event) => self.handle(event, watch),
                Err(RecvTimeoutError::Timeout) => self.drop_silent_workers(),
                Err(RecvTimeoutError::Disconnected) => {}
            }
            if !watch(None) {
                return Ok(false);
            }
        }
    }

    fn keep_rates(&mut self, pass: &Pass) {
        for (&id, worker) in &mut self.workers {
            worker.rate = pass.scheduler.rate(id).or(worker.rate);
        }
    }

    fn wait_for_all(&mut self, watch: Watch<'_>) -> Result<bool> {
        while self.workers.values().any(|worker| worker.state != State::Ready) {
            if let Ok(event) = self.events.recv_timeout(TICK) {
                self.handle(event, watch);
            }
            self.check_alive()?;
            if !watch(None) {
                return Ok(false);
            }
        }
        self.check_alive().map(|()| true)
    }

    fn check_alive(&self) -> Result<()> {
        if !self.workers.is_empty() {
            return Ok(());
        }
        let reasons: Vec<String> = self.notes.iter().map(|n| format!("{}: {}", n.target, n.text)).collect();
        Err(Error::Device {
            actor: self.info.target.clone(),
            action: "rendering".into(),
            reason: format!("no worker is left ({})", reasons.join("; ")),
        })
    }

    // Workers come

    fn launch(&mut self, slot: usize) {
        let target = self.slots[slot].target.clone();
        match self.launcher.launch(slot) {
            Ok(launch) => self.add_worker(target, Some(slot), launch.stream, launch.process),
            Err(reason) => self.note(&target, &format!("it could not be started: {reason}")),
        }
    }

    fn add_worker(
        &mut self,
        target: String,
        slot: Option<usize>,
        stream: UnixStream,
        process: Option<WorkerProcess>,
    ) {
        let id = self.next_worker;
        self.next_worker += 1;
        let Ok(reading) = stream.try_clone() else {
            self.note(&target, "its stream cannot be used");
            return;
        };
        let (to, spare) = (self.to_self.clone(), self.spare.clone());
        std::thread::spawn(move || read_reports(id, reading, &spare, &to));
        let (state, heard) = (State::Starting, Instant::now());
        self.workers.insert(id, Worker { target, slot, stream, process, state, heard, rate: None });
    }

    /// Sends the loaded scene to a worker.
    fn send_scene(&mut self, id: WorkerId) {
        let (Some(loaded), Some(worker)) = (&self.loaded, self.workers.get_mut(&id)) else { return };
        worker.state = State::Loading;
        worker.rate = None;
        let order = Order::Load {
            scene: loaded.file.path().to_owned(),
            hash: loaded.scene.hash.clone(),
            settings: loaded.settings,
            load: loaded.number,
        };
        if send(&mut worker.stream, &order, &[]).is_err() {
            self.lose(id, "it does not take orders", false);
        }
    }

    // Workers work

    fn grant_leases(&mut self) {
        let ready: Vec<WorkerId> =
            self.workers.iter().filter(|(_, w)| w.state == State::Ready).map(|(&id, _)| id).collect();
        for id in ready {
            let Some(pass) = &mut self.pass else { return };
            let now = pass.begin.elapsed().as_secs_f64();
            let Some(grant) = pass.scheduler.grant(id, now) else { continue };
            let order = Order::Lease {
                lease: grant.lease,
                start: grant.samples.start,
                end: grant.samples.end,
                seconds: grant.seconds,
            };
            let Some(worker) = self.workers.get_mut(&id) else { continue };
            worker.heard = Instant::now();
            if send(&mut worker.stream, &order, &[]).is_err() {
                self.lose(id, "it does not take orders", true);
            }
        }
    }

    fn handle(&mut self, event: Event, watch: Watch<'_>) {
        match event {
            Event::Joined(stream) => self.add_worker("joined".into(), None, stream, None),
            Event::Closed { worker, reason } => self.lose(worker, &reason, true),
            Event::Report { worker, report } => {
                if let Some(known) = self.workers.get_mut(&worker) {
                    known.heard = Instant::now();
                    self.take_report(worker, report, watch);
                }
            }
            Event::Film { worker, lease, spp, size, invalid, sums } => {
                self.take_film(worker, lease, spp, size, invalid, sums);
            }
        }
    }

    fn take_report(&mut self, id: WorkerId, report: Report, watch: Watch<'_>) {
        match report {
            Report::Hello { protocol, semantics, device, .. } => {
                self.greet(id, protocol, &semantics, &device)
            }
            Report::Loaded { load, report } => {
                let Some(loaded) = self.loaded.as_mut().filter(|loaded| loaded.number == load) else {
                    return;
                };
                loaded.report.get_or_insert(report);
                if let Some(worker) = self.workers.get_mut(&id) {
                    worker.state = State::Ready;
                }
                let takes_part = self.workers.get(&id).is_some_and(|worker| self.takes_part(worker));
                if let Some(pass) = self.pass.as_mut().filter(|_| takes_part) {
                    pass.scheduler.join(id, None);
                }
            }
            Report::Progress { lease, samples } => self.progress(id, lease, samples, watch),
            Report::Rendered { lease, end, seconds, report } => {
                self.rendered(id, lease, end, seconds, report)
            }
            Report::Failed { reason, lasting } => self.lose(id, &reason, !lasting),
            Report::Leave => self.lose(id, "it left", false),
            // The thread that reads makes an event of its own of films
            Report::Film { .. } => {}
        }
    }

    fn greet(&mut self, id: WorkerId, protocol: u32, semantics: &str, device: &DeviceInfo) {
        let reason = if protocol != PROTOCOL || semantics != self.options.semantics {
            Some("it is of another version of Lockstep; start workers of the same build".to_owned())
        } else if !device.exact {
            Some(format!("films of {} are not identical to those of exact targets", device.target))
        } else {
            None
        };
        if let Some(reason) = reason {
            self.lose(id, &reason, false);
            return;
        }
        if let Some(worker) = self.workers.get_mut(&id)
            && worker.slot.is_none()
        {
            worker.target.clone_from(&device.target);
            self.note(&device.target, "it joined");
        }
        self.send_scene(id);
    }

    fn progress(&mut self, id: WorkerId, lease: u64, samples: u32, watch: Watch<'_>) {
        let (Some(pass), Some(worker)) = (&mut self.pass, self.workers.get_mut(&id)) else { return };
        watch(Some((&worker.target, samples)));
        let now = pass.begin.elapsed().as_secs_f64();
        let Some(extension) = pass.scheduler.progress(id, lease, samples, now) else { return };
        let order = Order::Extend { lease: extension.lease, end: extension.end };
        if send(&mut worker.stream, &order, &[]).is_err() {
            self.lose(id, "it does not take orders", true);
        }
    }

    fn rendered(&mut self, id: WorkerId, lease: u64, end: u32, seconds: f64, report: PassReport) {
        // A worker may still be at a copy that an earlier pass did not wait for
        let Some(pass) = self.pass.as_mut().filter(|_| lease >= self.first_lease) else { return };
        let Some((samples, start)) = pass.scheduler.in_work(id) else { return };
        let backup = pass.scheduler.is_backup(lease);
        if !pass.scheduler.rendered(id, lease, end, seconds) {
            self.lose(id, &format!("it reports samples up to {end} of a lease of {samples:?}"), false);
            return;
        }
        let Some(worker) = self.workers.get(&id) else { return };
        let interval = Interval {
            target: worker.target.clone(),
            start,
            end: pass.begin.elapsed().as_secs_f64(),
            samples: samples.start..end,
            outcome: Outcome::Committed,
            backup,
        };
        pass.rendered.insert(lease, (interval, report));
    }

    fn take_film(
        &mut self,
        id: WorkerId,
        lease: u64,
        spp: u32,
        size: [u32; 2],
        invalid: InvalidSamples,
        sums: Sums,
    ) {
        let (Some(loaded), Some(pass)) = (&self.loaded, &mut self.pass) else { return };
        let settings = &loaded.settings;
        if size != [settings.width, settings.height]
            || sums.len() as u64 != u64::from(size[0]) * u64::from(size[1])
        {
            let text = format!("it sent a film of {}x{} pixels, which nobody asked for", size[0], size[1]);
            self.lose(id, &text, false);
            return;
        }
        let expected = pass.rendered.get(&lease).map(|(interval, _)| interval.samples.clone());
        if expected.is_some_and(|samples| samples.end - samples.start != spp) {
            self.lose(
                id,
                &format!("it sent {spp} samples per pixel, which are not those of its lease"),
                false,
            );
            return;
        }
        let (commit, samples) = pass.scheduler.commit(id, lease);
        let Some((mut interval, report)) = pass.rendered.remove(&lease) else { return };
        match commit {
            Commit::Unknown => return,
            Commit::Duplicate => interval.outcome = Outcome::Duplicate,
            Commit::Accepted => {
                loaded.merger.add(Contribution { samples, invalid, sums });
                pass.device_ms += report.stages.total_ms;
                pass.report.merge(report);
                if let Some(slot) = self.workers.get(&id).and_then(|worker| worker.slot) {
                    self.slots[slot].useful = true;
                }
            }
        }
        pass.timeline.intervals.push(interval);
    }

    // Workers go

    /// Drops a worker. Its leases go to others; it is started again if that may help.
    fn lose(&mut self, id: WorkerId, reason: &str, again: bool) {
        let Some(mut worker) = self.workers.remove(&id) else { return };
        let _ = send(&mut worker.stream, &Order::Stop, &[]);
        let _ = worker.stream.shutdown(std::net::Shutdown::Both);
        if let Some(pass) = &mut self.pass {
            let now = pass.begin.elapsed().as_secs_f64();
            if let Some((samples, start)) = pass.scheduler.in_work(id) {
                let (target, outcome) = (worker.target.clone(), Outcome::Lost);
                let lost = Interval { target, start, end: now, samples, outcome, backup: false };
                pass.timeline.intervals.push(lost);
            }
            pass.scheduler.leave(id);
        }
        let ending = worker.process.take().map(WorkerProcess::end);
        let text = match ending {
            Some(ending) if again => format!("{reason}; {ending}"),
            _ => reason.to_owned(),
        };
        self.note(&worker.target, &text);
        let Some(slot) = worker.slot.filter(|_| again) else { return };
        let state = &mut self.slots[slot];
        if state.useful && state.restarts < RESTARTS {
            state.restarts += 1;
            state.useful = false;
            self.launch(slot);
        } else if again {
            self.note(&worker.target, "it is not started again");
        }
    }

    /// Drops workers that have been silent for too long.
    fn drop_silent_workers(&mut self) {
        let Some(pass) = &self.pass else { return };
        let limit = |id: WorkerId, worker: &Worker| {
            let rate = pass.scheduler.rate(id).or(worker.rate);
            let by_rate =
                rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(SILENT_SAMPLES / rate.max(1e-6)));
            by_rate.max(self.options.silence)
        };
        let silent = |(&id, worker): (&WorkerId, &Worker)| {
            let working = pass.scheduler.in_work(id).is_some();
            (working && worker.heard.elapsed() > limit(id, worker)).then_some(id)
        };
        let hung: Vec<WorkerId> = self.workers.iter().filter_map(silent).collect();
        for id in hung {
            let silence = self.workers.get(&id).map_or(0.0, |worker| worker.heard.elapsed().as_secs_f64());
            self.lose(id, &format!("it has not been heard for {silence:.0} s"), true);
        }
    }

    fn end_workers(&mut self, reason: &str) {
        let ids: Vec<WorkerId> = self.workers.keys().copied().collect();
        let notes = self.notes.len();
        ids.into_iter().for_each(|id| self.lose(id, reason, false));
        self.notes.truncate(notes);
    }

    fn note(&mut self, target: &str, text: &str) {
        self.notes.push(WorkerNote { target: target.to_owned(), text: text.to_owned() });
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
            if let Ok(event) = self.events.recv_timeout(TICK) {
                self.handle(event, watch);
            }
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
            Ended::Stopped => Err(nothing_loaded()),
        }
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        self.loaded.as_ref().ok_or_else(nothing_loaded)?.merger.read(film);
        Ok(())
    }
}

/// The report of a pass whose stages ran on several devices at once: a stage's time is its share of all devices'
/// time, so that stages add up to the pass.
fn shared_time(mut report: PassReport, wall_ms: f64, device_ms: f64) -> PassReport {
    let scale = if device_ms > 0.0 { wall_ms / device_ms } else { 0.0 };
    report.stages.stages.iter_mut().for_each(|stage| stage.ms *= scale);
    report.stages.total_ms = wall_ms;
    report
}
