//! One pass: leases go out, films come in.

use super::events::Event;
use super::workers::{State, Worker};
use super::{Progress, Together, Watch};
use crate::merger::{Contribution, Sums};
use crate::samples::SampleSet;
use crate::scheduler::{Commit, Scheduler, WorkerId};
use crate::timeline::{Interval, Outcome, Timeline};
use crate::wire::{Order, Report};
use lockstep_core::film::InvalidSamples;
use lockstep_core::{PassReport, Result};
use std::collections::BTreeMap;
use std::time::Instant;

/// The state of one pass.
pub(super) struct Pass {
    pub(super) scheduler: Scheduler,
    pub(super) begin: Instant,
    pub(super) timeline: Timeline,
    pub(super) report: PassReport,
    /// Leases that are rendered and whose films are on their way: their workers, ends, and what they cost.
    rendered: BTreeMap<u64, (WorkerId, Interval, PassReport)>,
    /// Milliseconds of all devices.
    pub(super) device_ms: f64,
}

impl Pass {
    /// A worker is lost, and with it the lease that it renders and those whose films have not arrived.
    pub(super) fn lose(&mut self, id: WorkerId, target: &str) {
        let in_work = self.scheduler.in_work(id).map(|lease| Interval {
            target: target.to_owned(),
            start: lease.granted,
            end: self.begin.elapsed().as_secs_f64(),
            samples: lease.samples.start..lease.samples.start + lease.done,
            outcome: Outcome::Lost,
            backup: lease.backup,
        });
        let rendered = std::mem::take(&mut self.rendered);
        let (on_their_way, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            rendered.into_iter().partition(|(_, (worker, ..))| *worker == id);
        self.rendered = others;
        let on_their_way = on_their_way
            .into_values()
            .map(|(_, interval, _)| Interval { outcome: Outcome::Lost, ..interval });
        self.timeline.intervals.extend(on_their_way.chain(in_work));
        self.scheduler.leave(id);
    }
}

impl Together {
    pub(super) fn begin_pass(&mut self, samples: SampleSet) {
        if let Some(loaded) = &self.loaded {
            loaded.merger.warm();
        }
        let mut scheduler = Scheduler::new(self.options.schedule, samples, self.first_lease);
        let ready = |worker: &Worker| worker.state == State::Ready && self.is_active(worker);
        for (&id, worker) in self.workers.iter().filter(|(_, worker)| ready(worker)) {
            scheduler.join(id, worker.rate, worker.on_host);
        }
        let may_be_gpu = |worker: &Worker| match worker.state {
            State::Starting => true,
            State::Loading => !worker.on_host,
            State::Ready => false,
        };
        scheduler.expect_gpus(self.workers.values().any(|w| self.is_active(w) && may_be_gpu(w)));
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
    pub(super) fn run_pass(&mut self, watch: Watch<'_>) -> Result<bool> {
        loop {
            self.grant_leases();
            if self.pass.as_ref().is_none_or(|pass| pass.scheduler.is_complete()) {
                return Ok(true);
            }
            self.check_alive()?;
            self.wait_for_event(watch);
            if !watch(None) {
                return Ok(false);
            }
        }
    }

    pub(super) fn keep_rates(&mut self, pass: &Pass) {
        for (&id, worker) in &mut self.workers {
            worker.rate = pass.scheduler.rate(id).or(worker.rate);
        }
    }

    pub(super) fn grant_leases(&mut self) {
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
            worker.order(&order);
        }
    }

    pub(super) fn handle(&mut self, event: Event, watch: Watch<'_>) {
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
            Event::FilmTaken { worker } => {
                if let Some(worker) = self.workers.get_mut(&worker) {
                    worker.order(&Order::FilmTaken);
                }
            }
        }
    }

    fn take_report(&mut self, id: WorkerId, report: Report, watch: Watch<'_>) {
        match report {
            Report::Hello { protocol, semantics, device, films } => {
                self.greet(id, protocol, &semantics, &device, films.is_some())
            }
            Report::Loaded { load, report } => {
                let Some(loaded) = self.loaded.as_mut().filter(|loaded| loaded.number == load) else {
                    return;
                };
                loaded.report.get_or_insert(report);
                if let Some(worker) = self.workers.get_mut(&id) {
                    worker.state = State::Ready;
                }
                let active = self.workers.get(&id).filter(|worker| self.is_active(worker));
                let on_host = active.map(|worker| worker.on_host);
                if let Some((pass, on_host)) = self.pass.as_mut().zip(on_host) {
                    pass.scheduler.join(id, None, on_host);
                }
            }
            Report::Progress { lease, samples } => self.progress(id, lease, samples, watch),
            Report::Rendered { lease, end, seconds, report } => {
                self.rendered(id, lease, end, seconds, report)
            }
            Report::Failed { reason, lasting } => self.lose(id, &reason, !lasting),
            Report::Leave => self.lose(id, "it left", false),
            // The thread that reads takes what concerns films
            Report::Film { .. } | Report::Reserved { .. } => {}
        }
    }

    fn progress(&mut self, id: WorkerId, lease: u64, samples: u32, watch: Watch<'_>) {
        let (Some(pass), Some(worker)) = (&mut self.pass, self.workers.get_mut(&id)) else { return };
        watch(Some(Progress { target: &worker.target, samples }));
        let now = pass.begin.elapsed().as_secs_f64();
        let Some(extension) = pass.scheduler.progress(id, lease, samples, now) else { return };
        let order = Order::Extend { lease: extension.lease, end: extension.end };
        worker.order(&order);
    }

    fn rendered(&mut self, id: WorkerId, lease: u64, end: u32, seconds: f64, report: PassReport) {
        // A worker may still be at a copy that an earlier pass did not wait for
        let Some(pass) = self.pass.as_mut().filter(|_| lease >= self.first_lease) else { return };
        let Some(in_work) = pass.scheduler.in_work(id) else { return };
        if !pass.scheduler.rendered(id, lease, end, seconds) {
            let text = format!("it reports samples up to {end} of a lease of {:?}", in_work.samples);
            self.lose(id, &text, false);
            return;
        }
        let Some(worker) = self.workers.get(&id) else { return };
        let interval = Interval {
            target: worker.target.clone(),
            start: in_work.granted,
            end: pass.begin.elapsed().as_secs_f64(),
            samples: in_work.samples.start..end,
            outcome: Outcome::Committed,
            backup: in_work.backup,
        };
        pass.rendered.insert(lease, (id, interval, report));
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
        // A late report of an earlier pass may be of another scene
        if lease < self.first_lease {
            return;
        }
        let settings = &loaded.settings;
        if size != [settings.width, settings.height]
            || sums.pixels() as u64 != u64::from(size[0]) * u64::from(size[1])
        {
            let text = format!("it sent a film of {}x{} pixels, which nobody asked for", size[0], size[1]);
            self.lose(id, &text, false);
            return;
        }
        let expected = pass.rendered.get(&lease).map(|(_, interval, _)| interval.samples.clone());
        if expected.is_some_and(|samples| samples.end - samples.start != spp) {
            self.lose(
                id,
                &format!("it sent {spp} samples per pixel, which are not those of its lease"),
                false,
            );
            return;
        }
        let (commit, samples) = pass.scheduler.commit(id, lease);
        let Some((_, mut interval, report)) = pass.rendered.remove(&lease) else { return };
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
}

/// The report of a pass whose stages ran on several devices at once: a stage's time is its share of all devices'
/// time, so that stages add up to the pass.
pub(super) fn shared_time(mut report: PassReport, wall_ms: f64, device_ms: f64) -> PassReport {
    let scale = if device_ms > 0.0 { wall_ms / device_ms } else { 0.0 };
    report.stages.stages.iter_mut().for_each(|stage| stage.ms *= scale);
    report.stages.total_ms = wall_ms;
    report
}
