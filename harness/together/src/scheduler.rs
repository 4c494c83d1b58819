//! Which worker renders which samples next.
//!
//! The scheduler neither waits nor measures: its caller tells it what happened and when, in seconds since the start.
//! So a thousand schedules with delays, losses and repeats are a test of milliseconds.

use crate::samples::SampleSet;
use crate::schedule::Schedule;
use std::collections::BTreeMap;
use std::ops::Range;

/// A worker's number; a process that is started again has a new one.
pub type WorkerId = u32;

/// The longest lease in seconds: how much a lost worker costs at most.
const LONGEST: f64 = 2.0;
/// The lease in seconds by which a worker's rate is measured.
const PROBE: f64 = 0.25;
/// The most of a worker's equal part that its rate is measured on.
const PROBE_SHARE: f64 = 0.125;
/// The shortest lease in seconds that is worth the transfer of its film.
const SHORTEST: f64 = 0.04;
/// Share of its part of the rest that a worker gets at once in a guided schedule; what the rates' errors leave is
/// shared again.
const SHARE: f64 = 0.85;
/// Leases of [`Schedule::Demand`] in a whole image.
const DEMAND_LEASES: u32 = 256;
/// Weight of a new rate in the running mean of a worker's rates.
const RATE_WEIGHT: f64 = 0.5;
/// A lease that takes this many times its expected time may be repeated by another worker.
const LATE: f64 = 1.5;

/// A lease as its worker gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The lease's number.
    pub lease: u64,
    /// The samples. Fewer may be rendered, from the start on, if `seconds` is set.
    pub samples: Range<u32>,
    /// The time after which the worker stops; `None` for all samples.
    pub seconds: Option<f64>,
    /// True when another worker has the same samples.
    pub backup: bool,
}

/// The fate of a lease whose film has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Its samples are now in the image.
    Accepted,
    /// Some or all of its samples were there already: the film must be dropped.
    Duplicate,
    /// There is no such lease of this worker.
    Unknown,
}

#[derive(Clone, Debug)]
struct Lease {
    worker: WorkerId,
    samples: Range<u32>,
    granted: f64,
    backup: bool,
    /// All its samples are rendered, and its film is on its way.
    rendered: bool,
}

#[derive(Clone, Debug, Default)]
struct Worker {
    /// Samples per pixel and second.
    rate: Option<f64>,
    /// Leases so far.
    leases: u32,
    /// The round of [`Schedule::Proportional`] that it has its part of.
    round: u32,
}

/// The ledger of an image: samples that are wanted, leased, and there.
#[derive(Clone, Debug)]
pub struct Scheduler {
    schedule: Schedule,
    wanted: SampleSet,
    committed: SampleSet,
    workers: BTreeMap<WorkerId, Worker>,
    leases: BTreeMap<u64, Lease>,
    next_lease: u64,
    /// Equal shares and rounds: samples of a part, and workers that share.
    part: Option<u64>,
    round: u32,
    round_left: BTreeMap<WorkerId, u64>,
}

impl Scheduler {
    /// A ledger of samples to be rendered by workers that are still to come. Leases are numbered from `first_lease`
    /// on, so that what is left of an earlier pass is not taken for this one's.
    pub fn new(schedule: Schedule, wanted: SampleSet, first_lease: u64) -> Self {
        Self {
            schedule,
            wanted,
            committed: SampleSet::default(),
            workers: BTreeMap::new(),
            leases: BTreeMap::new(),
            next_lease: first_lease,
            part: None,
            round: 0,
            round_left: BTreeMap::new(),
        }
    }

    /// A worker is ready. A rate in samples per pixel and second may be known from earlier work.
    pub fn join(&mut self, worker: WorkerId, rate: Option<f64>) {
        self.workers.insert(worker, Worker { rate, ..Worker::default() });
    }

    /// A worker is lost or goes. Its leases are free for others.
    pub fn leave(&mut self, worker: WorkerId) {
        self.workers.remove(&worker);
        self.round_left.remove(&worker);
        self.leases.retain(|_, lease| lease.worker != worker);
    }

    /// The rate of a worker in samples per pixel and second, once it is known.
    pub fn rate(&self, worker: WorkerId) -> Option<f64> {
        self.workers.get(&worker)?.rate
    }

    /// The samples that are there.
    pub fn committed(&self) -> &SampleSet {
        &self.committed
    }

    /// Whether all that is wanted is there.
    pub fn is_complete(&self) -> bool {
        self.wanted.without(&self.committed).is_empty()
    }

    /// The samples that nobody has and that are not there.
    fn free(&self) -> SampleSet {
        let mut free = self.wanted.without(&self.committed);
        self.leases.values().for_each(|lease| free.remove(lease.samples.clone()));
        free
    }

    /// The next lease of a worker that renders none; `None` while there is nothing for it to do.
    pub fn grant(&mut self, worker: WorkerId, now: f64) -> Option<Grant> {
        if self.leases.values().any(|lease| lease.worker == worker && !lease.rendered) {
            return None;
        }
        let known = self.workers.get(&worker)?.clone();
        let free = self.free();
        if free.is_empty() {
            return if self.schedule == Schedule::GuidedBackup { self.back_up(worker, now) } else { None };
        }
        let (count, seconds) = match self.schedule {
            Schedule::Equal => (self.equal_part(), None),
            Schedule::Demand => (self.wanted.len().div_ceil(u64::from(DEMAND_LEASES)), None),
            Schedule::Proportional => (self.round_part(worker, &known)?, None),
            Schedule::Guided | Schedule::GuidedBackup => self.guided(worker, &known, free.len(), now)?,
        };
        let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        // The first gap that has room for all, else the longest
        let room = |range: &&Range<u32>| range.end - range.start >= count;
        let longest = || free.ranges().iter().max_by_key(|range| range.end - range.start);
        let gap = free.ranges().iter().find(room).or_else(longest)?;
        let samples = gap.start..gap.end.min(gap.start.saturating_add(count));
        Some(self.lease(worker, samples, seconds, false, now))
    }

    fn lease(
        &mut self,
        worker: WorkerId,
        samples: Range<u32>,
        seconds: Option<f64>,
        backup: bool,
        now: f64,
    ) -> Grant {
        let lease = self.next_lease;
        self.next_lease += 1;
        let entry = Lease { worker, samples: samples.clone(), granted: now, backup, rendered: false };
        self.leases.insert(lease, entry);
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.leases += 1;
        }
        Grant { lease, samples, seconds, backup }
    }

    /// One share of as many as there are workers at the first lease.
    fn equal_part(&mut self) -> u64 {
        let workers = self.workers.len().max(1) as u64;
        let wanted = self.wanted.len();
        *self.part.get_or_insert(wanted.div_ceil(workers))
    }

    /// A worker's part of the present round; `None` while others still work on theirs.
    fn round_part(&mut self, id: WorkerId, known: &Worker) -> Option<u64> {
        let round_is_over = self.leases.is_empty();
        if round_is_over && (self.round == 0 || known.round == self.round || known.leases == 0) {
            self.begin_round();
        }
        let part = self.round_left.remove(&id)?;
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.round = self.round;
        }
        Some(part)
    }

    /// Splits the next round among all workers by their rates: first as little as there can be, then parts of the
    /// longest lease.
    fn begin_round(&mut self) {
        self.round += 1;
        let known: f64 = self.workers.values().filter_map(|w| w.rate).sum();
        let all_known = self.workers.values().all(|w| w.rate.is_some());
        let left = self.free().len() as f64;
        let part = |rate: f64| {
            let in_round = (known * LONGEST).min(left);
            (in_round * rate / known).round().max(1.0) as u64
        };
        self.round_left = self
            .workers
            .iter()
            .map(|(&id, worker)| (id, if all_known { worker.rate.map_or(1, part) } else { 1 }))
            .collect();
    }

    /// Samples and time limit of a guided lease; `None` when the others would end sooner without this worker.
    fn guided(&self, worker: WorkerId, known: &Worker, free: u64, now: f64) -> Option<(u64, Option<f64>)> {
        let free = free as f64;
        let Some(rate) = known.rate else {
            // An unknown rate is measured on a small part, so that others that come meanwhile find theirs
            let part = (free / self.workers.len().max(1) as f64 * PROBE_SHARE).ceil();
            return Some((part as u64, Some(PROBE)));
        };
        // Workers of unknown rate count as equal to this one
        let others = self.workers.iter().filter(|(id, _)| **id != worker);
        let others: f64 = others.map(|(_, other)| other.rate.unwrap_or(rate)).sum();
        // All workers end at about the same time, if the rest is shared by rates
        let in_work: f64 = self.leases.values().map(|lease| self.left_of(lease, now)).sum();
        let seconds_left = (free + in_work) / (rate + others);
        // Another worker would have done all of the rest before this one has rendered one sample
        let sooner = |(id, other): (&WorkerId, &Worker)| {
            let in_work = self.leases.values().filter(|lease| lease.worker == *id);
            let left: f64 = in_work.map(|lease| self.left_of(lease, now)).sum();
            *id != worker && other.rate.is_some_and(|other| (left + free) / other < 1.0 / rate)
        };
        if self.workers.iter().any(sooner) {
            return None;
        }
        if others == 0.0 && free / rate < LONGEST + SHORTEST {
            return Some((free as u64, None));
        }
        let seconds = (seconds_left * SHARE).clamp(SHORTEST, LONGEST);
        Some(((rate * seconds).floor().max(1.0) as u64, None))
    }

    /// Samples of a lease that are still to be rendered, as far as its worker's rate tells.
    fn left_of(&self, lease: &Lease, now: f64) -> f64 {
        let length = f64::from(lease.samples.end - lease.samples.start);
        match self.workers.get(&lease.worker).and_then(|worker| worker.rate) {
            _ if lease.rendered || lease.backup => 0.0,
            Some(rate) => (length - rate * (now - lease.granted)).max(0.0),
            None => length,
        }
    }

    /// The lease that an idle worker repeats: the one whose end is furthest off, if this worker would be sooner.
    fn back_up(&mut self, worker: WorkerId, now: f64) -> Option<Grant> {
        let rate = self.workers.get(&worker)?.rate?;
        let ends_in = |lease: &Lease| {
            let length = f64::from(lease.samples.end - lease.samples.start);
            let elapsed = now - lease.granted;
            match self.workers.get(&lease.worker).and_then(|w| w.rate) {
                Some(owners) if elapsed < LATE * length / owners => (length / owners - elapsed).max(0.0),
                // Late or of unknown rate: it may take as long again as it took
                _ => elapsed.max(SHORTEST),
            }
        };
        let copies = |lease: &Lease| self.leases.values().filter(|l| l.samples == lease.samples).count();
        let open = self.leases.values().filter(|l| l.worker != worker && !l.rendered && copies(l) == 1);
        let last = open.max_by(|a, b| ends_in(a).total_cmp(&ends_in(b)))?;
        let own_time = f64::from(last.samples.end - last.samples.start) / rate;
        if own_time > 0.8 * ends_in(last) {
            return None;
        }
        let samples = last.samples.clone();
        Some(self.lease(worker, samples, None, true, now))
    }

    /// A worker has rendered a lease up to `end` in `seconds` of work; its film follows. False if there is no such
    /// lease, or `end` is not within it.
    pub fn rendered(&mut self, worker: WorkerId, lease: u64, end: u32, seconds: f64) -> bool {
        let Some(entry) = self.leases.get_mut(&lease).filter(|l| l.worker == worker && !l.rendered) else {
            return false;
        };
        if end <= entry.samples.start || end > entry.samples.end {
            return false;
        }
        entry.samples.end = end;
        entry.rendered = true;
        let rate = f64::from(end - entry.samples.start) / seconds.max(1e-6);
        if let Some(worker) = self.workers.get_mut(&worker) {
            let before = worker.rate.unwrap_or(rate);
            worker.rate = Some(before + (rate - before) * RATE_WEIGHT);
        }
        true
    }

    /// The film of a rendered lease has arrived.
    pub fn commit(&mut self, worker: WorkerId, lease: u64) -> (Commit, Range<u32>) {
        let Some(entry) = self.leases.get(&lease).filter(|l| l.worker == worker && l.rendered).cloned()
        else {
            return (Commit::Unknown, 0..0);
        };
        self.leases.remove(&lease);
        let missing = self.wanted.without(&self.committed);
        if !missing.contains(&entry.samples) {
            return (Commit::Duplicate, entry.samples);
        }
        self.committed.insert(entry.samples.clone());
        (Commit::Accepted, entry.samples)
    }

    /// The number of the next lease.
    pub fn next_lease(&self) -> u64 {
        self.next_lease
    }

    /// Whether a lease repeats another one.
    pub fn is_backup(&self, lease: u64) -> bool {
        self.leases.get(&lease).is_some_and(|lease| lease.backup)
    }

    /// The lease that a worker renders, and the time at which it was granted.
    pub fn in_work(&self, worker: WorkerId) -> Option<(Range<u32>, f64)> {
        let lease = self.leases.values().find(|lease| lease.worker == worker && !lease.rendered)?;
        Some((lease.samples.clone(), lease.granted))
    }
}

#[cfg(test)]
mod tests;
