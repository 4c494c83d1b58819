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
/// The time after which a worker of unknown rate ends its lease, unless it was made longer meanwhile.
const PROBE: f64 = 0.25;
/// The most samples that a worker of unknown rate begins with.
const PROBE_SAMPLES: f64 = 16.0;
/// Work in seconds that a guided worker has before it: enough to hide a message.
const AHEAD: f64 = 0.15;
/// Work in seconds that a guided worker has before it when little is left, so that all end together: hardly more than the
/// work between two reports.
const AHEAD_AT_THE_END: f64 = 0.07;
/// The share of the rest that a guided worker has before it when little is left.
const AHEAD_SHARE: f64 = 0.25;
/// The least time in seconds that a second worker in a gap must save: another transfer of a film costs as much.
const LEAST_SPLIT: f64 = 0.06;
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
    /// Seconds after which the worker stops; `None` for all samples.
    pub seconds: Option<f64>,
    /// True when another worker has the same samples.
    pub backup: bool,
}

/// A lease that was made longer while its worker is at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The lease's number.
    pub lease: u64,
    /// The new end of its samples.
    pub end: u32,
}

/// A lease that is being rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct InWork {
    /// The samples.
    pub samples: Range<u32>,
    /// Number of the lease's samples that are rendered, by its worker's last report.
    pub done: u32,
    /// Time at which the lease was granted, in seconds.
    pub granted: f64,
    /// Whether the lease repeats another.
    pub backup: bool,
}

/// The fate of a lease whose film has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// The samples are now in the image.
    Accepted,
    /// Some or all of its samples were there already: the film must be dropped.
    Duplicate,
    /// No such lease of this worker exists.
    Unknown,
}

#[derive(Clone, Debug)]
struct Lease {
    worker: WorkerId,
    samples: Range<u32>,
    granted: f64,
    backup: bool,
    /// Samples that its worker has reported.
    done: u32,
    /// All its samples are rendered, and its film is on its way.
    rendered: bool,
}

#[derive(Clone, Debug, Default)]
struct Worker {
    /// Samples per pixel and second.
    rate: Option<f64>,
    /// Whether the worker is the host's processor, which has a small part of a GPU's rate.
    on_host: bool,
    /// Whether the rate comes from whole leases, and not from the beginning of the first.
    is_measured: bool,
    /// Leases so far.
    leases: u32,
    /// The end of its last lease.
    last_end: Option<u32>,
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
    /// Whether GPUs may still join.
    expects_gpus: bool,
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
            expects_gpus: false,
        }
    }

    /// Says whether workers that are no processors of the host are still to join.
    pub fn expect_gpus(&mut self, expected: bool) {
        self.expects_gpus = expected;
    }

    /// Adds a worker that is ready. A rate in samples per pixel and second may be known from earlier work; `on_host` says
    /// that it is the host's processor.
    pub fn join(&mut self, worker: WorkerId, rate: Option<f64>, on_host: bool) {
        let is_measured = rate.is_some();
        self.workers.insert(worker, Worker { rate, on_host, is_measured, ..Worker::default() });
    }

    /// Removes a worker that is lost or goes. Its leases are free for others.
    pub fn leave(&mut self, worker: WorkerId) {
        self.workers.remove(&worker);
        self.round_left.remove(&worker);
        self.leases.retain(|_, lease| lease.worker != worker);
    }

    /// The rate of a worker in samples per pixel and second, once it is known.
    pub fn rate(&self, worker: WorkerId) -> Option<f64> {
        self.workers.get(&worker)?.rate
    }

    /// Samples whose films have arrived.
    pub fn committed(&self) -> &SampleSet {
        &self.committed
    }

    /// Whether the films of all wanted samples have arrived.
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
        let count = match self.schedule {
            Schedule::Equal => self.equal_part(),
            Schedule::Demand => self.wanted.len().div_ceil(u64::from(DEMAND_LEASES)),
            Schedule::Proportional => self.round_part(worker, &known)?,
            Schedule::Guided | Schedule::GuidedBackup => return self.guided(worker, &known, &free, now),
        };
        let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        // The first gap that has room for all, else the longest
        let room = |range: &&Range<u32>| range.end - range.start >= count;
        let longest = || free.ranges().iter().max_by_key(|range| range.end - range.start);
        let gap = free.ranges().iter().find(room).or_else(longest)?;
        let samples = gap.start..gap.end.min(gap.start.saturating_add(count));
        Some(self.lease(worker, samples, None, false, now))
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
        let grant = Grant { lease, samples: samples.clone(), seconds, backup };
        let entry = Lease { worker, samples, granted: now, backup, done: 0, rendered: false };
        self.leases.insert(lease, entry);
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.leases += 1;
        }
        grant
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

    /// A guided lease: the beginning of a gap that is this worker's to go on in. `None` when the others would end
    /// sooner without this worker.
    fn guided(&mut self, worker: WorkerId, known: &Worker, free: &SampleSet, now: f64) -> Option<Grant> {
        let gap = self.gap_for(worker, known, free, now)?;
        let room = f64::from(gap.end - gap.start);
        let (count, seconds) = match known.rate {
            None => (room.min(PROBE_SAMPLES), Some(PROBE)),
            Some(rate) if self.others_end_sooner(worker, rate, free.len() as f64, now) => return None,
            Some(rate) => ((rate * self.ahead(free)).min(room), None),
        };
        let samples = gap.start..gap.start + (count as u32).clamp(1, gap.end - gap.start);
        Some(self.lease(worker, samples, seconds, false, now))
    }

    /// The free samples that a worker begins in: where its last lease ended; for its first lease the place of its own
    /// among all workers'; else a part of the longest gap, of which whoever works up to it keeps the rest.
    fn gap_for(&self, id: WorkerId, known: &Worker, free: &SampleSet, now: f64) -> Option<Range<u32>> {
        let from =
            |start: u32| free.ranges().iter().find(|gap| gap.contains(&start)).map(|gap| start..gap.end);
        if let Some(gap) = known.last_end.and_then(from) {
            return Some(gap);
        }
        let longest = free.ranges().iter().max_by_key(|gap| gap.end - gap.start)?.clone();
        let owner = self.leases.values().find(|lease| lease.samples.end == longest.start && !lease.rendered);
        let taken = owner.map_or(0, |lease| lease.samples.end - lease.samples.start);
        let owner = owner.map(|lease| self.rate_now(lease.worker, now));
        // A processor beside GPUs begins with the last sample, so that it parts no GPU's samples
        let beside_gpus = self.expects_gpus || self.workers.values().any(|worker| !worker.on_host);
        if known.on_host && known.leases == 0 && beside_gpus {
            return Some(longest.end - 1..longest.end);
        }
        let length = f64::from(longest.end - longest.start);
        let kept = match (owner, owner.flatten(), known.rate) {
            (None, ..) => 0.0,
            // Nothing is known yet: all begin at even distances
            (Some(_), ..) if known.leases == 0 => {
                let after = self.workers.range(id..).count().max(1) as f64;
                ((length + f64::from(taken)) / (after + 1.0) - f64::from(taken)).max(0.0)
            }
            (Some(_), Some(owners), Some(own)) if length / owners - length / (owners + own) < LEAST_SPLIT => {
                return None;
            }
            (Some(_), Some(owners), Some(own)) => length * owners / (owners + own),
            (Some(_), ..) => length / 2.0,
        };
        let start = longest.start + (kept.ceil() as u32).min(longest.end - longest.start - 1);
        Some(start..longest.end)
    }

    /// The rate of a worker as it is now: that of the lease in work where it is far behind.
    fn rate_now(&self, id: WorkerId, now: f64) -> Option<f64> {
        let rate = self.workers.get(&id)?.rate?;
        let in_work = self.leases.values().find(|lease| lease.worker == id && !lease.rendered);
        let behind = in_work.map(|lease| f64::from(lease.done + 1) / (now - lease.granted).max(1e-6));
        Some(behind.filter(|&behind| behind * LATE < rate).unwrap_or(rate))
    }

    /// Work in seconds that a worker should have before it.
    fn ahead(&self, free: &SampleSet) -> f64 {
        let rates: f64 = self.workers.values().filter_map(|worker| worker.rate).sum();
        let seconds_left = free.len() as f64 / rates.max(f64::MIN_POSITIVE);
        (seconds_left * AHEAD_SHARE).clamp(AHEAD_AT_THE_END, AHEAD)
    }

    /// Whether another worker would have done all of the rest before this one has rendered one sample.
    fn others_end_sooner(&self, worker: WorkerId, rate: f64, free: f64, now: f64) -> bool {
        self.workers.keys().any(|id| {
            let in_work = self.leases.values().filter(|lease| lease.worker == *id);
            let left: f64 = in_work.map(|lease| self.left_of(lease, now)).sum();
            *id != worker && self.rate_now(*id, now).is_some_and(|other| (left + free) / other < 1.0 / rate)
        })
    }

    /// Notes that a worker has rendered more samples of a lease. A guided lease is made longer if its worker would soon be
    /// done and the samples behind it are free.
    pub fn progress(&mut self, worker: WorkerId, lease: u64, samples: u32, now: f64) -> Option<Extension> {
        let entry = self.leases.get_mut(&lease).filter(|l| l.worker == worker && !l.rendered)?;
        // A worker that says more has not rendered more than its lease
        entry.done = entry.done.saturating_add(samples).min(entry.samples.end - entry.samples.start);
        let (entry, known) = (entry.clone(), self.workers.get_mut(&worker)?);
        let elapsed = now - entry.granted;
        if !known.is_measured && elapsed > 0.0 {
            known.rate = Some(f64::from(entry.done) / elapsed);
        }
        let rate = self.rate_now(worker, now)?;
        let guided = matches!(self.schedule, Schedule::Guided | Schedule::GuidedBackup);
        if !guided || entry.backup {
            return None;
        }
        let length = entry.samples.end - entry.samples.start;
        let left = f64::from(length.saturating_sub(entry.done));
        let free = self.free();
        let whole = (rate * self.ahead(&free)).max(1.0);
        if left > whole * 0.7 {
            return None;
        }
        let gap = free.ranges().iter().find(|gap| gap.start == entry.samples.end)?;
        let longest = (rate * LONGEST).max(1.0) - f64::from(length);
        let more = (whole - left).min(longest).min(f64::from(gap.end - gap.start)) as u32;
        // A rest that would be a lease of its own goes with this one
        let rest = gap.end - gap.start - more.min(gap.end - gap.start);
        let more = if f64::from(rest) < rate * LEAST_SPLIT { more + rest } else { more };
        let end = entry.samples.end + more;
        self.leases.get_mut(&lease)?.samples.end = end;
        (more > 0).then_some(Extension { lease, end })
    }

    /// Samples of a lease that are still to be rendered, as far as its worker's rate tells.
    fn left_of(&self, lease: &Lease, now: f64) -> f64 {
        let length = f64::from(lease.samples.end - lease.samples.start);
        match self.rate_now(lease.worker, now) {
            _ if lease.rendered || lease.backup => 0.0,
            Some(rate) => (length - rate * (now - lease.granted)).max(0.0),
            None => length,
        }
    }

    /// The lease that an idle worker repeats: the one whose end is furthest off, if this worker would be sooner.
    fn back_up(&mut self, worker: WorkerId, now: f64) -> Option<Grant> {
        let rate = self.workers.get(&worker)?.rate?;
        let ends_in = |lease: &Lease| {
            let elapsed = now - lease.granted;
            match self.rate_now(lease.worker, now) {
                Some(rate) => self.left_of(lease, now) / rate,
                // Of an unknown rate: it may take as long again as it took
                None => elapsed.max(LEAST_SPLIT),
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

    /// Notes that a worker has rendered a lease up to `end` in `seconds` of work; its film follows. False if there is no
    /// such lease, or `end` is not within it.
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
            let before = worker.rate.filter(|_| worker.is_measured).unwrap_or(rate);
            (worker.is_measured, worker.last_end) = (true, Some(end));
            worker.rate = Some(before + (rate - before) * RATE_WEIGHT);
        }
        true
    }

    /// Notes that the film of a rendered lease has arrived; returns the lease's fate and samples.
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

    /// The lease that a worker renders.
    pub fn in_work(&self, worker: WorkerId) -> Option<InWork> {
        let lease = self.leases.values().find(|lease| lease.worker == worker && !lease.rendered)?;
        let Lease { samples, done, granted, backup, .. } = lease.clone();
        Some(InWork { samples, done, granted, backup })
    }
}

#[cfg(test)]
mod tests;
