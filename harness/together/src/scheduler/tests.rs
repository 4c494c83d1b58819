use super::*;
use crate::worker::chunk;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A simulated worker: its rate, and the faults it has.
#[derive(Clone, Debug)]
struct Machine {
    /// Samples per pixel and second.
    rate: f64,
    /// The time at which it is lost, if ever.
    dies: Option<f64>,
    /// The time at which it comes.
    joins: f64,
    /// Every how many leases one is slow, and by what factor.
    stalls: Option<(u32, f64)>,
    on_host: bool,
}

/// The result of a simulation.
struct Outcome {
    committed: SampleSet,
    /// Times that each sample was committed.
    counts: Vec<u32>,
    seconds: f64,
    /// Samples rendered for nothing.
    wasted: u64,
    busy: f64,
    leases: u32,
    /// Leases that repeated others.
    backups: u32,
}

/// A lease in simulated work.
struct Work {
    grant: Grant,
    end: u32,
    done: u32,
    limit: Option<f64>,
    began: f64,
    seconds_per_spp: f64,
}

impl Work {
    /// The samples of the next chunk.
    fn chunk(&self) -> u32 {
        let seconds_per_spp = if self.done == 0 { 0.0 } else { self.seconds_per_spp };
        chunk(seconds_per_spp, self.end - self.grant.samples.start - self.done, None)
    }

    fn is_done(&self, now: f64) -> bool {
        self.chunk() == 0 || self.limit.is_some_and(|limit| self.done > 0 && now - self.began >= limit)
    }
}

/// Runs a schedule on machines in simulated time; panics when it stops short of the end.
fn simulate(schedule: Schedule, wanted: u32, machines: &[Machine]) -> Outcome {
    let mut scheduler = Scheduler::new(schedule, SampleSet::from(0..wanted), 0);
    scheduler.expect_gpus(machines.iter().any(|machine| machine.joins > 0.0 && !machine.on_host));
    // Events by time in microseconds: a worker joins, ends a chunk, or dies; or time passes
    let mut events: BTreeSet<(u64, u32, u8)> = BTreeSet::new();
    let at = |seconds: f64| (seconds * 1e6) as u64;
    for (id, machine) in machines.iter().enumerate() {
        events.insert((at(machine.joins), id as u32, 0));
        if let Some(dies) = machine.dies {
            events.insert((at(dies), id as u32, 2));
        }
    }
    events.insert((0, u32::MAX, 3));
    let mut work: BTreeMap<u32, Work> = BTreeMap::new();
    let (mut counts, mut alive) = (vec![0; wanted as usize], BTreeSet::new());
    let mut backups = 0;
    let (mut wasted, mut now, mut leases, mut busy) = (0, 0.0, vec![0u32; machines.len()], 0.0);
    while let Some((time, id, kind)) = events.pop_first() {
        now = time as f64 / 1e6;
        match kind {
            0 => {
                alive.insert(id);
                scheduler.join(id, None, machines[id as usize].on_host);
            }
            1 if alive.contains(&id) => {
                let own = work.get_mut(&id).unwrap();
                let chunk = own.chunk();
                own.done += chunk;
                busy += f64::from(chunk) * own.seconds_per_spp;
                if let Some(extension) = scheduler.progress(id, own.grant.lease, chunk, now) {
                    assert!(extension.lease == own.grant.lease && extension.end > own.end);
                    (own.end, own.limit) = (extension.end, None);
                }
                if own.is_done(now) {
                    let own = work.remove(&id).unwrap();
                    let end = own.grant.samples.start + own.done;
                    assert!(scheduler.rendered(id, own.grant.lease, end, now - own.began));
                    match scheduler.commit(id, own.grant.lease) {
                        (Commit::Accepted, range) => {
                            assert_eq!(range, own.grant.samples.start..end);
                            range.for_each(|i| counts[i as usize] += 1);
                        }
                        (Commit::Duplicate, range) => wasted += u64::from(range.end - range.start),
                        (Commit::Unknown, _) => panic!("lease {} is not known", own.grant.lease),
                    }
                } else {
                    events.insert((at(now + f64::from(own.chunk()) * own.seconds_per_spp) + 1, id, 1));
                }
            }
            2 => {
                alive.remove(&id);
                if let Some(lost) = work.remove(&id) {
                    wasted += u64::from(lost.done);
                }
                scheduler.leave(id);
            }
            // The coordinator looks at least this often
            3 => drop(events.insert((time + 50_000, id, 3))),
            _ => {}
        }
        if scheduler.is_complete() {
            break;
        }
        // Events of the same time come before the next grants
        if events.first().is_some_and(|next| next.0 == time) {
            continue;
        }
        for &id in &alive {
            let Some(grant) = scheduler.grant(id, now) else { continue };
            let machine = &machines[id as usize];
            leases[id as usize] += 1;
            backups += u32::from(grant.backup);
            let stall = machine.stalls.filter(|(nth, _)| leases[id as usize] % nth == 0);
            let seconds_per_spp = stall.map_or(1.0, |(_, times)| times) / machine.rate;
            let (end, limit) = (grant.samples.end, grant.seconds);
            let own = Work { grant, end, done: 0, limit, began: now, seconds_per_spp };
            events.insert((at(now + f64::from(own.chunk()) * seconds_per_spp) + 1, id, 1));
            work.insert(id, own);
        }
    }
    wasted += work.values().map(|own| u64::from(own.done)).sum::<u64>();
    assert!(scheduler.is_complete(), "{schedule} stopped with {} of {wanted}", scheduler.committed());
    let leases = leases.iter().sum();
    Outcome { committed: scheduler.committed().clone(), counts, seconds: now, wasted, busy, leases, backups }
}

fn steady(rate: f64) -> Machine {
    Machine { rate, dies: None, joins: 0.0, stalls: None, on_host: false }
}

fn machine() -> impl Strategy<Value = Machine> {
    let rate = (0.0f64..4.0).prop_map(|e| 10f64.powf(e));
    let dies = prop::option::of(0.0f64..3.0);
    (rate, dies, 0.0f64..2.0, prop::option::of((1u32..6, 2.0f64..200.0)), any::<bool>())
        .prop_map(|(rate, dies, joins, stalls, on_host)| Machine { rate, dies, joins, stalls, on_host })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// One worker lives; all others may come late, stall and die.
    #[test]
    fn every_sample_is_committed_once_in_every_schedule(
        machines in prop::collection::vec(machine(), 0..5),
        wanted in 1u32..3000,
        schedule in prop::sample::select(Schedule::ALL.to_vec()),
    ) {
        let mut machines = machines;
        machines.push(steady(500.0));
        let outcome = simulate(schedule, wanted, &machines);
        prop_assert_eq!(outcome.committed, SampleSet::from(0..wanted));
        prop_assert!(outcome.counts.iter().all(|&count| count == 1));
    }

    /// Half of the rate of all together is a lower bound that holds for steady workers of very unlike rates.
    #[test]
    fn guided_schedules_keep_unlike_workers_busy(
        rates in prop::collection::vec((1.0f64..4.0).prop_map(|e| 10f64.powf(e)), 1..6),
    ) {
        let efficiency = efficiency(&rates);
        prop_assert!(efficiency > 0.95, "{} of {:?}", efficiency, rates);
    }
}

/// The efficiency of steady workers by [`Schedule::GuidedBackup`] in a render of ten seconds or 60,000 samples.
fn efficiency(rates: &[f64]) -> f64 {
    let machines: Vec<_> = rates.iter().map(|&rate| steady(rate)).collect();
    let all: f64 = rates.iter().sum();
    let wanted = ((all * 10.0) as u32).clamp(2_000, 60_000);
    f64::from(wanted) / all / simulate(Schedule::GuidedBackup, wanted, &machines).seconds
}

#[test]
fn five_workers_of_unlike_rates_end_together() {
    let found = efficiency(&[2589.0, 4092.7, 8812.9, 1590.3, 6731.8]);
    assert!(found > 0.95, "{found}");
}

#[test]
fn two_equal_workers_take_half_of_the_time_and_an_idle_one_does_not_slow_the_other() {
    let one = simulate(Schedule::GuidedBackup, 4096, &[steady(800.0)]).seconds;
    let two = simulate(Schedule::GuidedBackup, 4096, &[steady(800.0), steady(800.0)]).seconds;
    assert!(one / two > 1.98, "{one} s alone, {two} s together");
    let outcome = simulate(Schedule::GuidedBackup, 4096, &[steady(800.0), steady(800.0)]);
    assert!(
        outcome.leases <= 4,
        "{} films are transferred for two and a half seconds of two workers",
        outcome.leases
    );
    let with_a_slow_one = simulate(Schedule::GuidedBackup, 800, &[steady(800.0), steady(0.5)]).seconds;
    assert!(with_a_slow_one < 1.01, "{with_a_slow_one} s, where one worker alone takes 1 s");
}

/// A sample of the processor takes a third of the render. Each lease of the GPU costs the transfer of a film. The
/// processor may be ready before the GPU.
#[test]
fn a_processor_beside_a_gpu_costs_a_render_of_a_second_nothing() {
    let processor = Machine { on_host: true, ..steady(2.9) };
    let beside = |gpu: Machine| [gpu, processor.clone()];
    let before = |gpu: Machine| [processor.clone(), gpu];
    let (ready, late) = (steady(184.0), Machine { joins: 0.1, ..steady(184.0) });
    for machines in [beside(ready.clone()), before(ready), beside(late.clone()), before(late)] {
        let outcome = simulate(Schedule::GuidedBackup, 184, &machines);
        let seconds = outcome.seconds - machines.iter().map(|machine| machine.joins).sum::<f64>();
        assert!(seconds < 1.01, "{seconds} s, where the GPU alone takes 1 s");
        assert!(outcome.leases <= 3, "{} leases, one of them the processor's", outcome.leases);
    }
}

/// Parts differ by no more than a sample, though each worker begins before the next one is known.
#[test]
fn equal_workers_begin_at_equal_distances() {
    for count in [2, 3, 4, 8] {
        let machines = vec![steady(213.0); count];
        let outcome = simulate(Schedule::GuidedBackup, 1024, &machines);
        let ideal = 1024.0 / 213.0 / count as f64;
        assert!(outcome.seconds < ideal + 0.012, "{} s, ideal are {ideal} s", outcome.seconds);
        let most = count as u32 * (ideal / LONGEST).ceil() as u32;
        assert!(
            outcome.leases <= most,
            "{} leases, each with a film to transfer, of {count}",
            outcome.leases
        );
    }
}

#[test]
fn backups_end_a_render_that_a_stalled_worker_holds_up() {
    let machines = [steady(1000.0), Machine { stalls: Some((3, 2000.0)), ..steady(100.0) }];
    let without = simulate(Schedule::Guided, 8000, &machines);
    let with = simulate(Schedule::GuidedBackup, 8000, &machines);
    assert!(with.seconds < without.seconds * 0.8, "{} s and {} s", with.seconds, without.seconds);
    assert!(with.backups > 0 && without.backups == 0 && without.wasted == 0);
    assert!(with.seconds < 8.0 * 1.01, "{} s, where one worker alone takes 8 s", with.seconds);
}

#[test]
fn a_worker_that_becomes_slow_gives_its_samples_to_others() {
    let machines = [steady(1000.0), Machine { stalls: Some((3, 20.0)), ..steady(100.0) }];
    let outcome = simulate(Schedule::Guided, 8000, &machines);
    assert!(outcome.seconds < 8.0, "{} s, where one worker alone takes 8 s", outcome.seconds);
}

#[test]
fn demand_is_uneven_with_few_samples_and_equal_shares_wait_for_the_slowest() {
    let machines = [steady(1000.0), steady(100.0)];
    let seconds = |schedule| simulate(schedule, 8000, &machines).seconds;
    let ideal = 8000.0 / 1100.0;
    assert!(seconds(Schedule::Equal) > 4.0 * ideal, "{}", seconds(Schedule::Equal) / ideal);
    assert!(seconds(Schedule::GuidedBackup) < 1.02 * ideal, "{}", seconds(Schedule::GuidedBackup) / ideal);
    assert!(seconds(Schedule::Proportional) < 1.2 * ideal, "{}", seconds(Schedule::Proportional) / ideal);
}

#[test]
fn a_lost_lease_costs_no_more_than_the_longest_lease() {
    let dies = Machine { dies: Some(4.0), ..steady(1000.0) };
    let outcome = simulate(Schedule::GuidedBackup, 20_000, &[steady(1000.0), dies]);
    let rendered = outcome.busy * 1000.0;
    assert!(rendered - 20_000.0 <= LONGEST * 1000.0, "{rendered} of 20000 were rendered");
}

#[test]
fn late_or_unknown_leases_are_not_committed() {
    let mut scheduler = Scheduler::new(Schedule::Equal, SampleSet::from(0..10), 0);
    scheduler.join(1, None, false);
    let grant = scheduler.grant(1, 0.0).unwrap();
    assert_eq!(scheduler.commit(1, grant.lease).0, Commit::Unknown, "it is not rendered yet");
    assert!(!scheduler.rendered(1, grant.lease, 11, 1.0), "it would be longer than it is");
    assert!(!scheduler.rendered(2, grant.lease, 10, 1.0), "it is another worker's");
    assert!(scheduler.rendered(1, grant.lease, 10, 1.0));
    scheduler.leave(1);
    assert_eq!(scheduler.commit(1, grant.lease).0, Commit::Unknown, "its worker is lost");
    assert_eq!(scheduler.free(), SampleSet::from(0..10));
}
