//! Workers come, load, and go.

use super::events::read_reports;
use super::{TICK, Together, Watch, WorkerNote};
use crate::pool::WorkerProcess;
use crate::scheduler::WorkerId;
use crate::wire::{Order, PROTOCOL, send};
use lockstep_core::{DeviceInfo, Error, Result};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Times that a worker is started again after a loss.
const RESTARTS: u32 = 3;
/// A worker is lost if it is silent for this many times as long as one sample of every pixel takes it.
const SILENT_SAMPLES: f64 = 20.0;
/// A worker is lost if it has not loaded its scene after this many times the silence that it may keep.
const LOADING_SILENCES: u32 = 20;

/// One target of the group.
pub(super) struct Slot {
    pub(super) target: String,
    pub(super) restarts: u32,
    /// Committed a lease since it was started, so that another start may help.
    pub(super) useful: bool,
}

/// A worker that is there.
pub(super) struct Worker {
    pub(super) target: String,
    /// The place in the list of targets; `None` for one that joined by itself.
    pub(super) slot: Option<usize>,
    stream: UnixStream,
    process: Option<WorkerProcess>,
    pub(super) state: State,
    pub(super) heard: Instant,
    /// Samples per pixel and second, from the last pass.
    pub(super) rate: Option<f64>,
    /// Whether the worker is the host's processor, as its greeting says.
    pub(super) on_host: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not known yet: no greeting has come.
    Starting,
    /// Loading the scene.
    Loading,
    /// Ready to render.
    Ready,
}

impl Worker {
    /// Sends an order. A stream that is gone ends with an event of its own, behind all that it still holds.
    pub(super) fn order(&mut self, order: &Order) {
        let _ = send(&mut self.stream, order, &[]);
    }
}

impl Together {
    /// Whether a worker is one of those that render, now or once it is ready.
    pub(super) fn is_active(&self, worker: &Worker) -> bool {
        let slot = |active: &Vec<usize>| worker.slot.is_some_and(|slot| active.contains(&slot));
        self.active.as_ref().is_none_or(slot)
    }

    pub(super) fn launch(&mut self, slot: usize) {
        let target = self.slots[slot].target.clone();
        match self.launcher.launch(slot) {
            Ok(launch) => self.add_worker(target, Some(slot), launch.stream, launch.process),
            Err(reason) => self.note(&target, &format!("it could not be started: {reason}")),
        }
    }

    pub(super) fn add_worker(
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
        let (state, heard, rate, on_host) = (State::Starting, Instant::now(), None, false);
        self.workers.insert(id, Worker { target, slot, stream, process, state, heard, rate, on_host });
    }

    /// Sends the loaded scene to a worker.
    pub(super) fn send_scene(&mut self, id: WorkerId) {
        let (Some(loaded), Some(worker)) = (&self.loaded, self.workers.get_mut(&id)) else { return };
        (worker.state, worker.heard) = (State::Loading, Instant::now());
        worker.rate = None;
        let order = Order::Load {
            scene: loaded.file.path().to_owned(),
            hash: loaded.scene.hash.clone(),
            settings: loaded.settings,
            load: loaded.number,
        };
        worker.order(&order);
    }

    pub(super) fn greet(
        &mut self,
        id: WorkerId,
        protocol: u32,
        semantics: &str,
        device: &DeviceInfo,
        shares_films: bool,
    ) {
        let reason = if protocol != PROTOCOL || semantics != self.options.semantics {
            Some("it is of another version of Lockstep; start workers of the same build".to_owned())
        } else if device.exact != self.info.exact || !(device.exact || device.target == self.info.target) {
            Some(format!(
                "films of {} are not those of {}, so shares do not add up",
                device.target, self.info.target
            ))
        } else {
            None
        };
        if let Some(reason) = reason {
            self.lose(id, &reason, false);
            return;
        }
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.on_host = device.on_host;
            if shares_films {
                worker.order(&Order::ShareFilms);
            }
            if worker.slot.is_none() {
                let target = device.target.to_string();
                worker.target.clone_from(&target);
                self.note(&target, "it joined");
            }
        }
        self.send_scene(id);
    }

    pub(super) fn wait_for_all(&mut self, watch: Watch<'_>) -> Result<bool> {
        while self.workers.values().any(|worker| worker.state != State::Ready) {
            self.wait_for_event(watch);
            self.check_alive()?;
            if !watch(None) {
                return Ok(false);
            }
        }
        self.check_alive().map(|()| true)
    }

    /// Waits for the next event, though not long, and handles it.
    pub(super) fn wait_for_event(&mut self, watch: Watch<'_>) {
        if let Ok(event) = self.events.recv_timeout(TICK) {
            self.handle(event, watch);
        }
        self.drop_silent_workers();
    }

    pub(super) fn check_alive(&self) -> Result<()> {
        if self.has_workers() {
            return Ok(());
        }
        let reasons: Vec<String> = self.notes.iter().map(|n| format!("{}: {}", n.target, n.text)).collect();
        Err(Error::Device {
            actor: self.info.target.to_string(),
            action: "rendering".into(),
            reason: format!("no worker is left ({})", reasons.join("; ")),
        })
    }

    /// Drops a worker. Its leases go to others; it is started again if that may help.
    pub(super) fn lose(&mut self, id: WorkerId, reason: &str, again: bool) {
        let Some(mut worker) = self.workers.remove(&id) else { return };
        worker.order(&Order::Stop);
        let _ = worker.stream.shutdown(std::net::Shutdown::Both);
        if let Some(pass) = &mut self.pass {
            pass.lose(id, &worker.target);
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
    pub(super) fn drop_silent_workers(&mut self) {
        let silent = |(&id, worker): (&WorkerId, &Worker)| {
            self.longest_silence(id, worker).is_some_and(|limit| worker.heard.elapsed() > limit).then_some(id)
        };
        let hung: Vec<WorkerId> = self.workers.iter().filter_map(silent).collect();
        for id in hung {
            let silence = self.workers.get(&id).map_or(0.0, |worker| worker.heard.elapsed().as_secs_f64());
            self.lose(id, &format!("it has not been heard for {silence:.0} s"), true);
        }
    }

    /// The longest silence that a worker may keep; `None` while it has nothing to do.
    fn longest_silence(&self, id: WorkerId, worker: &Worker) -> Option<Duration> {
        if worker.state != State::Ready {
            return Some(self.options.silence * LOADING_SILENCES);
        }
        let pass = self.pass.as_ref().filter(|pass| pass.scheduler.in_work(id).is_some())?;
        let samples = |rate: f64| Duration::from_secs_f64(SILENT_SAMPLES / rate.max(1e-6));
        let by_rate = pass.scheduler.rate(id).or(worker.rate).map_or(Duration::ZERO, samples);
        Some(by_rate.max(self.options.silence))
    }

    pub(super) fn end_workers(&mut self, reason: &str) {
        let ids: Vec<WorkerId> = self.workers.keys().copied().collect();
        let notes = self.notes.len();
        // All end at the same time
        for worker in self.workers.values_mut() {
            worker.order(&Order::Stop);
        }
        ids.into_iter().for_each(|id| self.lose(id, reason, false));
        self.notes.truncate(notes);
    }

    pub(super) fn note(&mut self, target: &str, text: &str) {
        self.notes.push(WorkerNote { target: target.to_owned(), text: text.to_owned() });
    }
}
