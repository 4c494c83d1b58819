//! `study --time`: the error that a target reaches in a given time.
//!
//! Counted is the passes' `total_ms`, as in timing records: device time where a device tells it, else the
//! time of the pass on the host. Loading, compiling, reading films and comparing are not counted. A pass
//! takes whole samples of every pixel, at least one, and no more than are expected to fit at the speed of the
//! pass before; so the time taken is seldom above the time given. A program makes every image from nothing: its time is
//! that of the one run that is compared.

use std::ops::ControlFlow;

use lockstep_core::film::MAX_SPP;
use lockstep_core::{Scene, TargetId};
use lockstep_reports::error_interval::rmse_interval;
use lockstep_reports::image_io::{ImageMetadata, write_exr};
use lockstep_reports::metrics::compare;

use lockstep_reports::records::{self, Record};

use super::crops;
use crate::chunking::Pass;
use crate::exit::Failure;
use crate::progress::Bar;
use crate::study::lab::Lab;
use crate::study::rendered::Rendered;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::{Purpose, RenderClock, TargetSession};

/// The longest pass, in milliseconds: its speed predicts that of the next one.
const PASS_MS: f64 = 1000.0;

/// Error of one target after one rendering time. A longer time continues the film of a shorter one.
pub(crate) struct EqualTime<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The target.
    pub(crate) target: TargetId,
    /// The rendering time, in seconds.
    pub(crate) seconds: f64,
    /// Whether the image is kept for crops.
    pub(crate) is_kept: bool,
}

impl Measurement for EqualTime<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let name = &self.scene.name;
        if lab.refuses(&self.target, name) || lab.lacks_reference(name) || lab.has_failed(&self.target, name)
        {
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
        let (Some(reference), Some((session, bar))) = (reference, lab.session_and_bar(&self.target)) else {
            return Ok(ControlFlow::Continue(Vec::new()));
        };
        let found = match session.is_program() {
            true => runs(session, self.seconds),
            false => passes(session, self.seconds, bar),
        };
        let Timed { rendered, ms: render_ms, rates } = match lab.unless_failed(found)? {
            Some(Some(found)) => found,
            Some(None) => return Ok(ControlFlow::Break(())),
            None => return Ok(ControlFlow::Continue(Vec::new())),
        };
        let image = rendered.image()?;
        let errors = compare(&image, &reference.image)?;
        if self.is_kept {
            let path = crops::kept(&lab.folder, &self.scene.name, &self.target);
            let seed = u64::from(lab.plan.settings.seed);
            let (name, target) = (&self.scene.name, self.target.to_string());
            write_exr(&path, &image, &ImageMetadata::of_render(name, &target, rendered.spp(), seed))?;
        }
        let spp = rendered.spp();
        let record = records::EqualTime {
            render_ms,
            spp,
            samples: rendered.pixels() as u64 * u64::from(spp),
            samples_per_ms: rates.iter().map(|rate| rate * rendered.pixels() as f64).collect(),
            full: spp >= MAX_SPP,
            against: reference.against.clone(),
            reference_spp: reference.spp,
            rmse_linear_interval: rmse_interval(&image, &reference.image),
            ..key
        };
        Ok(ControlFlow::Continue(vec![record.with_errors(&errors).into()]))
    }
}

impl EqualTime<'_> {
    fn key(&self, lab: &Lab<'_>) -> records::EqualTime {
        records::EqualTime {
            scene: self.scene.name.clone(),
            target: self.target.clone(),
            seed: u64::from(lab.plan.settings.seed),
            seconds: self.seconds,
            mode: self.target.mode,
            ..records::EqualTime::default()
        }
    }
}

/// A film or image after a time.
struct Timed {
    rendered: Rendered,
    /// Milliseconds that it took.
    ms: f64,
    /// Samples of every pixel a millisecond, pass by pass; none of programs.
    rates: Vec<f64>,
}

/// A film after a time; `None` where the user stopped it. Passes are added until no further sample of every pixel is
/// expected to fit, or the film is full.
fn passes(session: &mut TargetSession, seconds: f64, bar: &Bar) -> Result<Option<Timed>, Failure> {
    let mut rates = Vec::new();
    let wakes = session.spp() == 0;
    loop {
        let count = fitting(session.clock(), session.spp(), seconds * 1e3);
        if count == 0 {
            if wakes && rates.len() > 1 {
                rates.remove(0);
            }
            return Ok(Some(Timed { rendered: session.rendered()?, ms: session.clock().ms, rates }));
        }
        bar.lengthen(u64::from(count));
        if matches!(session.advance(session.spp() + count, &mut |n| bar.add(n))?, Pass::Stopped) {
            return Ok(None);
        }
        // A pass that took no time that a clock tells has no rate.
        let ms = session.clock().ms_per_spp;
        rates.extend((ms > 0.0).then(|| 1.0 / ms));
    }
}

/// The image of a program's last run that took no longer than a time, or of its first, and the time taken; `None` where
/// the user stopped it. Runs have twice the samples of the one before until the next would take too long, and at last
/// as many as fit by the time of the two longest.
fn runs(session: &mut TargetSession, seconds: f64) -> Result<Option<Timed>, Failure> {
    let until_ms = seconds * 1e3;
    let mut best: Option<Timed> = None;
    let (mut before, mut next) = (None, Some(1));
    while let Some(spp) = next {
        if matches!(session.advance(spp, &mut |_| {})?, Pass::Stopped) {
            return Ok(None);
        }
        let ms = session.clock().ms;
        if ms <= until_ms || best.is_none() {
            best = Some(Timed { rendered: session.rendered()?, ms, rates: Vec::new() });
        }
        next = next_run(before.replace((spp, ms)), (spp, ms), until_ms);
    }
    Ok(best)
}

/// Samples of every pixel of a program's next run, by its last two: time is a constant and a part for each sample.
fn next_run(before: Option<(u32, f64)>, (spp, ms): (u32, f64), until_ms: f64) -> Option<u32> {
    if ms > until_ms || spp >= MAX_SPP || before.is_some_and(|(less, _)| spp < 2 * less) {
        return None;
    }
    let per_sample = match before {
        Some((less, less_ms)) => ((ms - less_ms) / f64::from(spp - less)).max(0.0),
        None => ms / f64::from(spp),
    };
    if ms + per_sample * f64::from(spp) <= until_ms {
        return Some((2 * spp).min(MAX_SPP));
    }
    // A twentieth below what should fit, since the next run is the last.
    let more = 0.95 * (until_ms - ms) / per_sample;
    Some(spp + more as u32).filter(|&next| next > spp && before.is_some())
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
    fn runs_of_a_program_double_and_the_last_has_what_fits() {
        // A constant of 10 ms and 1 ms a sample: 100 ms are 90 samples.
        let time = |spp: u32| 10.0 + f64::from(spp);
        let (mut taken, mut before, mut next) = (Vec::new(), None, Some(1));
        while let Some(spp) = next {
            taken.push(spp);
            next = next_run(before.replace((spp, time(spp))), (spp, time(spp)), 100.0);
        }
        assert_eq!(taken, [1, 2, 4, 8, 16, 32, 64, 88]);
        assert_eq!(next_run(None, (1, 200.0), 100.0), None, "the first takes too long");
        assert_eq!(next_run(None, (1, 60.0), 100.0), None, "and a second would");
        assert_eq!(next_run(Some((MAX_SPP / 2, 0.0)), (MAX_SPP, 0.0), 100.0), None);
        assert_eq!(next_run(Some((1, 5.0)), (2, 5.0), 100.0), Some(4), "no time passes");
    }

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
