//! `study --scaling`: a CPU target with 1, 2, 4 … and all of its threads.
//!
//! All numbers of threads of a target hold the scene at once and take turns: pass `i` renders the same
//! samples with each. A film is a sum of integers, so that it may not depend on the number of threads; that
//! is checked.

use std::ops::ControlFlow;

use lockstep_core::film::MAX_SPP;
use lockstep_core::{OpenOptions, Scene};
use lockstep_reports::records::{Record, Scaling};
use lockstep_reports::statistics::timing::LEAST_ROUNDS;

use crate::backends::Target;
use crate::chunking::Pass;
use crate::exit::Failure;
use crate::study::lab::Lab;
use crate::study::runner::{Key, Measurement};
use crate::study::study_target::StudyTarget;
use crate::study::target_session::{Purpose, TargetSession};

/// A CPU target and the most threads that it may use.
#[derive(Clone)]
pub(crate) struct Pool {
    /// The target.
    pub(crate) target: Target,
    threads: u32,
}

impl Pool {
    /// The CPU targets among those that are open.
    pub(crate) fn of(targets: &[StudyTarget], sessions: &[TargetSession]) -> Vec<Self> {
        let pool = |session: &TargetSession| {
            let target = targets.iter().filter_map(StudyTarget::own).find(|t| t.id == session.id)?.clone();
            Some(Self { target, threads: session.threads() })
        };
        sessions.iter().filter(|session| session.threads() > 0).filter_map(pool).collect()
    }

    /// 1, 2, 4 … below all threads, and all.
    fn counts(&self) -> Vec<u32> {
        counts(self.threads)
    }
}

fn counts(most: u32) -> Vec<u32> {
    let doubling = std::iter::successors(Some(1u32), |n| n.checked_mul(2)).take_while(|&n| n < most);
    doubling.chain([most.max(1)]).collect()
}

/// Passes of one CPU target on one scene, timed in rounds over its numbers of threads.
pub(crate) struct ThreadScaling<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The target.
    pub(crate) pool: Pool,
}

impl Measurement for ThreadScaling<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        if lab.refuses(&self.pool.target.id, &self.scene.name) {
            return Vec::new();
        }
        self.pool.counts().into_iter().map(|threads| Key::of(self.key(lab, threads))).collect()
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        lab.close();
        let (plan, counts) = (lab.plan, self.pool.counts());
        let rounds = plan.repeats.max(LEAST_ROUNDS as u32);
        let mut sessions = Vec::new();
        for &threads in &counts {
            let options = OpenOptions { threads: Some(threads as usize), ..plan.options.clone() };
            let target = &self.pool.target;
            let mut session = TargetSession::new(target.id.clone(), target.open(&options)?);
            lab.bar.say(&session.loading(&self.scene.name));
            session.load(self.scene, &plan.settings, Purpose::ThreadScaling)?;
            sessions.push(session);
        }
        let spp = plan.schedule.top().min((MAX_SPP - 1) / rounds);
        lab.bar.say(&format!("{} by threads of {}", self.scene.name, self.pool.target.id));
        lab.bar.lengthen(u64::from(1 + rounds * spp) * sessions.len() as u64);
        let mut times_ms = vec![Vec::new(); sessions.len()];
        // The first sample wakes threads and caches, and is not timed.
        for to in (0..=rounds).map(|round| 1 + round * spp) {
            for (session, times_ms) in sessions.iter_mut().zip(&mut times_ms) {
                let Pass::Done(pass) = session.advance(to, &mut |n| lab.bar.add(n))? else {
                    return Ok(ControlFlow::Break(()));
                };
                if to > 1 {
                    times_ms.push(pass.stages.total_ms);
                }
            }
        }
        let mut first = None;
        let mut records = Vec::new();
        for ((session, times_ms), threads) in sessions.iter_mut().zip(times_ms).zip(counts) {
            let rendered = session.rendered()?;
            let hash = rendered.hash();
            let identical = *first.get_or_insert_with(|| hash.clone()) == hash;
            let samples = rendered.pixels() as u64 * u64::from(spp);
            records.push(Scaling { spp, samples, times_ms, identical, ..self.key(lab, threads) }.into());
        }
        Ok(ControlFlow::Continue(records))
    }
}

impl ThreadScaling<'_> {
    fn key(&self, lab: &Lab<'_>, threads: u32) -> Scaling {
        Scaling {
            scene: self.scene.name.clone(),
            target: self.pool.target.id.clone(),
            seed: u64::from(lab.plan.settings.seed),
            threads,
            mode: self.pool.target.id.mode,
            ..Scaling::default()
        }
    }
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
