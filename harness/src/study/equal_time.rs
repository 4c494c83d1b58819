//! `study --time`: the error that every target reaches in given times.
//!
//! Counted is the passes' `total_ms`, as in timing records: device time where a device tells it, else the time of the
//! pass on the host. Loading, compiling, reading films and comparing are not counted. A pass takes whole samples of every
//! pixel, at least one, and no more than are expected to fit by the pace of the pass before; so the time taken is seldom
//! above the time given.

use std::ops::ControlFlow;

use lockstep_core::Scene;
use lockstep_core::film::MAX_SPP;
use lockstep_reports::metrics::compare;
use lockstep_reports::records::{EqualTime, TargetId};

use super::folder::Folder;
use super::participant::Participant;
use super::plan::Plan;
use super::reference::Reference;
use crate::exit::Failure;
use crate::pace::Pass;
use crate::progress::Bar;
use crate::render::image_of;

/// The longest pass, in milliseconds: its pace is what the next one goes by.
const PASS_MS: f64 = 1000.0;

/// What identifies the error of a target on a scene after so many seconds.
fn key(plan: &Plan, scene: &Scene, target: &str, seconds: f64) -> EqualTime {
    EqualTime {
        scene: scene.name.clone(),
        target: target.to_owned(),
        seed: u64::from(plan.settings.seed),
        seconds,
        mode: TargetId::from(target).mode,
        ..EqualTime::default()
    }
}

/// Whether a target's errors after the plan's times are not all recorded.
pub(super) fn is_open(plan: &Plan, folder: &Folder, scene: &Scene, target: &str) -> bool {
    plan.times.iter().any(|&seconds| !folder.has(key(plan, scene, target, seconds)))
}

/// Renders on every target in turn until each time is up, and compares what is in the film then with the reference.
///
/// # Errors
/// [`Failure`] of renderers, comparisons and files.
pub(super) fn all(
    plan: &Plan,
    folder: &mut Folder,
    participants: &mut [Participant],
    scene: &Scene,
    reference: &Reference,
    bar: &Bar,
) -> Result<ControlFlow<()>, Failure> {
    for participant in participants.iter_mut().filter(|p| p.active) {
        if !is_open(plan, folder, scene, &participant.name) {
            continue;
        }
        participant.load(scene, &plan.settings)?;
        let mut clock = Clock::default();
        for &seconds in &plan.times {
            bar.say(&format!("{} {seconds} s on {}", scene.name, participant.name));
            if clock.run(participant, seconds * 1e3)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let record = key(plan, scene, &participant.name, seconds);
            if !folder.has(record.clone()) {
                folder.append(vec![clock.record(record, participant, reference)?.into()])?;
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The time of a target's passes since it took the scene.
#[derive(Debug, Default)]
struct Clock {
    ms: f64,
    /// Milliseconds that a sample of every pixel took in the last pass.
    ms_per_spp: f64,
}

impl Clock {
    /// Adds passes until no further sample of every pixel is expected to fit, or the film is full.
    fn run(&mut self, participant: &mut Participant, until_ms: f64) -> Result<ControlFlow<()>, Failure> {
        loop {
            let from = participant.spp();
            let count = self.fitting(from, until_ms);
            if count == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            let Pass::Done(pass) = participant.advance(from + count, &mut |_| {})? else {
                return Ok(ControlFlow::Break(()));
            };
            self.ms += pass.stages.total_ms;
            self.ms_per_spp = pass.stages.total_ms / f64::from(count);
        }
    }

    /// Samples of every pixel in the next pass.
    fn fitting(&self, spp: u32, until_ms: f64) -> u32 {
        let left = MAX_SPP - spp;
        if spp == 0 {
            return left.min(1);
        }
        // Half of what is left, so that a pace that slows is seen before the time is up.
        let pass_ms = (0.5 * (until_ms - self.ms)).clamp(0.0, PASS_MS);
        let fit = pass_ms / self.ms_per_spp.max(f64::MIN_POSITIVE);
        let one = self.ms + self.ms_per_spp <= until_ms;
        left.min((fit as u32).max(u32::from(one)))
    }

    fn record(
        &self,
        key: EqualTime,
        participant: &mut Participant,
        reference: &Reference,
    ) -> Result<EqualTime, Failure> {
        let film = participant.film()?;
        let errors = compare(&image_of(&film)?, &reference.image)?;
        let record = EqualTime {
            render_ms: self.ms,
            spp: film.spp,
            samples: film.sums.len() as u64 * u64::from(film.spp),
            full: film.spp >= MAX_SPP,
            against: reference.against.clone(),
            reference_spp: reference.spp,
            ..key
        };
        Ok(record.with_errors(&errors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_takes_what_fits_and_no_more_than_a_second() {
        let clock = |ms, ms_per_spp| Clock { ms, ms_per_spp };
        assert_eq!(Clock::default().fitting(0, 1.0), 1, "the first sample has no pace");
        assert_eq!(clock(100.0, 10.0).fitting(10, 250.0), 7, "half of what is left");
        assert_eq!(clock(230.0, 10.0).fitting(10, 250.0), 1);
        assert_eq!(clock(100.0, 10.0).fitting(10, 1e6), 100);
        assert_eq!(clock(100.0, 3000.0).fitting(10, 1e6), 1, "a sample longer than a pass");
        assert_eq!(clock(245.0, 10.0).fitting(10, 250.0), 0);
        assert_eq!(clock(300.0, 10.0).fitting(10, 250.0), 0);
        assert_eq!(clock(0.0, 0.0).fitting(10, 250.0), MAX_SPP - 10, "no time passes");
    }
}
