//! `study --time`: the error that a target reaches in a given time.
//!
//! Counted is the passes' `total_ms`, as in timing records: device time where a device tells it, else the
//! time of the pass on the host. Loading, compiling, reading films and comparing are not counted. A pass
//! takes whole samples of every pixel, at least one, and no more than are expected to fit at the speed of the
//! pass before; so the time taken is seldom above the time given.

use std::ops::ControlFlow;

use lockstep_core::film::MAX_SPP;
use lockstep_core::{Scene, TargetId};
use lockstep_reports::metrics::compare;
use lockstep_reports::records::{self, Record};

use crate::chunking::Pass;
use crate::exit::Failure;
use crate::render::image_of;
use crate::study::lab::Lab;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::{Purpose, RenderClock};

/// The longest pass, in milliseconds: its speed predicts that of the next one.
const PASS_MS: f64 = 1000.0;

/// One target after one time. A longer time continues the film of a shorter one.
pub(crate) struct EqualTime<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The target.
    pub(crate) target: TargetId,
    /// The time.
    pub(crate) seconds: f64,
}

impl Measurement for EqualTime<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let name = &self.scene.name;
        if lab.refuses(&self.target, name) || lab.lacks_reference(name) {
            return Vec::new();
        }
        vec![Key::of(self.key(lab))]
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        if lab.reference(self.scene)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let only = std::slice::from_ref(&self.target);
        lab.load_on(only, self.scene, lab.plan.settings.seed, Purpose::EqualTime)?;
        Ok(ControlFlow::Continue(()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let key = self.key(lab);
        lab.bar.say(&format!("{} {} s on {}", self.scene.name, self.seconds, self.target));
        let reference = lab.known_reference(&self.scene.name);
        let (Some(reference), Some(session)) = (reference, lab.session(&self.target)) else {
            return Ok(ControlFlow::Continue(Vec::new()));
        };
        // Passes are added until no further sample of every pixel is expected to fit, or the film is full.
        loop {
            let count = fitting(session.clock(), session.spp(), self.seconds * 1e3);
            if count == 0 {
                break;
            }
            if matches!(session.advance(session.spp() + count, &mut |_| {})?, Pass::Stopped) {
                return Ok(ControlFlow::Break(()));
            }
        }
        let film = session.film()?;
        let errors = compare(&image_of(&film)?, &reference.image)?;
        let record = records::EqualTime {
            render_ms: session.clock().ms,
            spp: film.spp,
            samples: film.sums.len() as u64 * u64::from(film.spp),
            full: film.spp >= MAX_SPP,
            against: reference.against.clone(),
            reference_spp: reference.spp,
            ..key
        };
        Ok(ControlFlow::Continue(vec![record.with_errors(&errors).into()]))
    }
}

impl EqualTime<'_> {
    fn key(&self, lab: &Lab<'_>) -> records::EqualTime {
        records::EqualTime {
            scene: self.scene.name.clone(),
            target: self.target.to_string(),
            seed: u64::from(lab.plan.settings.seed),
            seconds: self.seconds,
            mode: self.target.mode,
            ..records::EqualTime::default()
        }
    }
}

/// Samples of every pixel in the next pass of a film that holds `spp`.
fn fitting(clock: RenderClock, spp: u32, until_ms: f64) -> u32 {
    let left = MAX_SPP - spp;
    if spp == 0 {
        return left.min(1);
    }
    // Half of what is left, so that a target that slows down is seen to before the time is up.
    let pass_ms = (0.5 * (until_ms - clock.ms)).clamp(0.0, PASS_MS);
    let fit = pass_ms / clock.ms_per_spp.max(f64::MIN_POSITIVE);
    let one = clock.ms + clock.ms_per_spp <= until_ms;
    left.min((fit as u32).max(u32::from(one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_takes_what_fits_and_no_more_than_a_second() {
        let after = |ms, ms_per_spp, spp, until| fitting(RenderClock { ms, ms_per_spp }, spp, until);
        assert_eq!(after(0.0, 0.0, 0, 1.0), 1, "the first sample has no speed");
        assert_eq!(after(100.0, 10.0, 10, 250.0), 7, "half of what is left");
        assert_eq!(after(230.0, 10.0, 10, 250.0), 1);
        assert_eq!(after(100.0, 10.0, 10, 1e6), 100);
        assert_eq!(after(100.0, 3000.0, 10, 1e6), 1, "a sample longer than a pass");
        assert_eq!(after(245.0, 10.0, 10, 250.0), 0);
        assert_eq!(after(300.0, 10.0, 10, 250.0), 0);
        assert_eq!(after(0.0, 0.0, 10, 250.0), MAX_SPP - 10, "no time passes");
    }
}
