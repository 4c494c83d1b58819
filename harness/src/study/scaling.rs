//! `study --scaling`: each CPU target with 1, 2, 4 … and all of its threads.
//!
//! All numbers of threads of a target hold the scene at once and take turns: pass `i` renders the same samples with each.
//! A film is a sum of integers, so that it may not depend on the number of threads; that is checked.

use std::ops::ControlFlow;

use lockstep_core::film::MAX_SPP;
use lockstep_core::{OpenOptions, Scene};
use lockstep_reports::records::{Record, Scaling, TargetId};
use lockstep_reports::statistics::timing::LEAST_ROUNDS;

use super::folder::Folder;
use super::participant::Participant;
use super::plan::Plan;
use super::step::film_hash;
use crate::backends::Target;
use crate::exit::Failure;
use crate::pace::Pass;
use crate::progress::Bar;

/// A CPU target and the most threads that it may use.
pub(super) struct Pool {
    target: Target,
    threads: u32,
}

/// The CPU targets among the participants.
pub(super) fn pools(targets: &[Target], participants: &[Participant]) -> Vec<Pool> {
    let pool = |p: &Participant| {
        let target = targets.iter().find(|target| target.name == p.name)?.clone();
        Some(Pool { target, threads: p.threads() })
    };
    participants.iter().filter(|p| p.threads() > 0).filter_map(pool).collect()
}

/// 1, 2, 4 … below `most`, and `most`.
fn counts(most: u32) -> Vec<u32> {
    let doubling = std::iter::successors(Some(1u32), |n| n.checked_mul(2)).take_while(|&n| n < most);
    doubling.chain([most.max(1)]).collect()
}

/// What identifies the passes of a target on a scene with so many threads.
fn key(plan: &Plan, scene: &Scene, target: &str, threads: u32) -> Scaling {
    Scaling {
        scene: scene.name.clone(),
        target: target.to_owned(),
        seed: u64::from(plan.settings.seed),
        threads,
        mode: TargetId::from(target).mode,
        ..Scaling::default()
    }
}

/// Times every pool on every scene, but for what is recorded.
///
/// # Errors
/// [`Failure`] of renderers and files.
pub(super) fn all(plan: &Plan, pools: &[Pool], folder: &mut Folder) -> Result<ControlFlow<()>, Failure> {
    let rounds = plan.repeats.max(LEAST_ROUNDS as u32);
    for scene in &plan.scenes {
        for pool in pools {
            let counts = counts(pool.threads);
            let name = &pool.target.name;
            if counts.iter().all(|&threads| folder.has(key(plan, scene, name, threads))) {
                continue;
            }
            let bar = Bar::new(&format!("{} by threads on {name}", scene.name), 0);
            let found = one(plan, scene, pool, &counts, rounds, &bar);
            bar.clear();
            match found? {
                ControlFlow::Continue(records) => folder.append(records)?,
                ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The records of one target on one scene.
fn one(
    plan: &Plan,
    scene: &Scene,
    pool: &Pool,
    counts: &[u32],
    rounds: u32,
    bar: &Bar,
) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
    let name = &pool.target.name;
    let mut runners = Vec::new();
    for &threads in counts {
        let options = OpenOptions { threads: Some(threads as usize), ..plan.options.clone() };
        let mut runner = Participant::new(name, pool.target.open(&options)?);
        runner.load(scene, &plan.settings)?;
        runners.push(runner);
    }
    let spp = plan.ladder.top().min((MAX_SPP - 1) / rounds);
    bar.lengthen(u64::from(1 + rounds * spp) * runners.len() as u64);
    let mut times_ms = vec![Vec::new(); runners.len()];
    // The first sample wakes threads and caches, and is not timed.
    for to in (0..=rounds).map(|round| 1 + round * spp) {
        for (runner, times_ms) in runners.iter_mut().zip(&mut times_ms) {
            let Pass::Done(pass) = runner.advance(to, &mut |n| bar.add(n))? else {
                return Ok(ControlFlow::Break(()));
            };
            if to > 1 {
                times_ms.push(pass.stages.total_ms);
            }
        }
    }
    let mut first = None;
    let mut records = Vec::new();
    for ((runner, times_ms), &threads) in runners.iter_mut().zip(times_ms).zip(counts) {
        let film = runner.film()?;
        let hash = film_hash(&film);
        let identical = *first.get_or_insert_with(|| hash.clone()) == hash;
        let samples = film.sums.len() as u64 * u64::from(spp);
        let record = key(plan, scene, name, threads);
        records.push(Scaling { spp, samples, times_ms, identical, ..record }.into());
    }
    Ok(ControlFlow::Continue(records))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_and_end_with_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(12), [1, 2, 4, 8, 12]);
        assert_eq!(counts(16), [1, 2, 4, 8, 16]);
    }
}
