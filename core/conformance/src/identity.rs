//! Films, ray counts and paths against a reference renderer, to the bit.

use crate::{Checked, During, Extent, Outcome, Subject, accumulate, everything, film_of, load, render};
use lockstep_core::path_record::divergence;
use lockstep_core::scene::Scene;
use lockstep_core::{Sampler, Settings, Strategy};

/// The scene with every feature under every estimator, with Russian roulette and without bounces.
pub(crate) fn every_feature_under_all_settings(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = everything()?;
    let sizes: &[(u32, u32, u32)] = match subject.extent() {
        Extent::Quick => &[(120, 80, 4)],
        Extent::Full => &[(120, 80, 4), (320, 180, 8)],
    };
    let mut tally = Tally::default();
    for &(width, height, spp) in sizes {
        let base = Settings { width, height, ..Settings::default() };
        let all = [
            base,
            Settings { strategy: Strategy::LightOnly, seed: 7, ..base },
            Settings { strategy: Strategy::BsdfOnly, seed: 8, ..base },
            Settings { bounces: 12, roulette_from: Some(2), seed: 9, ..base },
            Settings { bounces: 0, ..base },
        ];
        for settings in all {
            tally.compare(subject, &scene, &settings, spp)?;
        }
    }
    Ok(tally.outcome())
}

/// The scene with every feature under every sampler: films, recorded paths, and samples shared in another split.
pub(crate) fn every_sampler(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = everything()?;
    let mut tally = Tally::default();
    for sampler in Sampler::ALL.into_iter().filter(|sampler| *sampler != Sampler::default()) {
        let base = Settings { width: 120, height: 80, sampler, ..Settings::default() };
        let long = Settings { width: 61, height: 35, bounces: 30, roulette_from: Some(3), seed: 9, ..base };
        for (settings, spp) in [(base, 8), (long, 3)] {
            tally.compare(subject, &scene, &settings, spp)?;
        }
        let small = Settings { width: 30, height: 20, ..base };
        let (mut renderer, mut reference) = (subject.open()?, subject.reference()?);
        load(reference.as_mut(), &scene, &small)?;
        load(renderer.as_mut(), &scene, &small)?;
        let paths = divergence::all_paths(0..small.width * small.height, 0..3);
        let found = divergence::compare_paths(renderer.as_mut(), reference.as_mut(), &paths)
            .during(|| "recording the paths of target and reference".into())?;
        assert_eq!(divergence::first(&found), None, "the first divergence by {sampler}");
        let (whole, _) = render(subject.reference()?.as_mut(), &scene, &small, 8)?;
        for range in [5..8, 0..1, 1..5] {
            accumulate(renderer.as_mut(), &scene, range)?;
        }
        assert_eq!(film_of(renderer.as_mut(), &scene)?, whole, "samples in another order by {sampler}");
    }
    Ok(tally.outcome())
}

/// Whether a claim about the expected values of a scene's films carries over from the reference, whose own suite tests
/// it: the target promises the reference's films, and its first samples are these to the bit. Every path of them is
/// compared, where an expected value would hide what changes it by less than a tolerance. The full suite measures every
/// target.
///
/// # Panics
/// Where the first samples are not the reference's.
pub(crate) fn carries_over(subject: &Subject<'_>, scene: &Scene, settings: &Settings) -> Checked<bool> {
    const SAMPLES: u32 = 4;
    if subject.extent() == Extent::Full || !subject.has_films_of_reference() {
        return Ok(false);
    }
    Tally::default().compare(subject, scene, settings, SAMPLES)?;
    Ok(true)
}

/// More paths than a device has in flight at once: 400,000 of one sample, and in full 921,600.
pub(crate) fn film_larger_than_the_path_state(subject: &Subject<'_>) -> Checked<Outcome> {
    let (width, height, spp) = match subject.extent() {
        Extent::Quick => (800, 500, 4),
        Extent::Full => (1280, 720, 8),
    };
    let mut tally = Tally::default();
    let settings = Settings { width, height, bounces: 1, ..Settings::default() };
    tally.compare(subject, &everything()?, &settings, spp)?;
    Ok(tally.outcome())
}

/// A built-in scene: `quick` is a version of it with less geometry.
pub(crate) fn built_in(subject: &Subject<'_>, quick: &str, full: &str) -> Checked<Outcome> {
    let mut tally = Tally::default();
    let mut compare = |name: &str, sizes: &[(u32, u32, u32)]| -> Checked {
        let scene = subject.built_in(name)?;
        for &(width, height, spp) in sizes {
            let settings = Settings { width, height, ..Settings::default() };
            tally.compare(subject, &scene, &settings, spp)?;
        }
        Ok(())
    };
    compare(quick, &[(96, 54, 2)])?;
    if subject.extent() == Extent::Full {
        // Sizes below, at and beside those of tiles and work-groups.
        compare(full, &[(1, 1, 64), (7, 129, 16), (64, 64, 8), (320, 180, 8)])?;
    }
    Ok(tally.outcome())
}

/// Samples shared with the reference add up to the film that either renders alone.
pub(crate) fn shared_samples_add_up(subject: &Subject<'_>) -> Checked {
    let scene = everything()?;
    let settings = Settings { width: 61, height: 35, ..Settings::default() };
    let (whole, _) = render(subject.reference()?.as_mut(), &scene, &settings, 16)?;
    let (mut ours, mut theirs) = (subject.open()?, subject.reference()?);
    for (renderer, ranges) in [(&mut ours, [0..3, 3..8]), (&mut theirs, [8..9, 9..16])] {
        load(renderer.as_mut(), &scene, &settings)?;
        for range in ranges {
            accumulate(renderer.as_mut(), &scene, range)?;
        }
    }
    let mut sum = film_of(ours.as_mut(), &scene)?;
    let other = film_of(theirs.as_mut(), &scene)?;
    sum.merge(&other).during(|| "adding films of one size".into())?;
    assert_eq!(sum.pixels_differing(&whole), 0, "pixels of the shared film that differ");
    assert_eq!(sum, whole, "the shared film");
    Ok(())
}

/// Recorded paths have no divergence from the reference's at any vertex.
pub(crate) fn recorded_paths_do_not_diverge(subject: &Subject<'_>) -> Checked {
    let scene = everything()?;
    let settings = Settings { width: 60, height: 40, ..Settings::default() };
    let (mut renderer, mut reference) = (subject.open()?, subject.reference()?);
    load(reference.as_mut(), &scene, &settings)?;
    load(renderer.as_mut(), &scene, &settings)?;
    let paths = settings.width * settings.height;
    let found = divergence::compare_paths(
        renderer.as_mut(),
        reference.as_mut(),
        &divergence::all_paths(0..paths, 0..2),
    )
    .during(|| "recording the paths of target and reference".into())?;
    assert!(found.iter().all(|row| row.paths == u64::from(paths) * 2), "every path is compared");
    assert_eq!(divergence::first(&found), None, "the first divergence");
    Ok(())
}

/// Films compared so far.
#[derive(Default)]
struct Tally {
    films: u32,
    pixels: u64,
}

impl Tally {
    /// Renders by target and reference and asserts that films, invalid samples and ray counts are equal.
    fn compare(&mut self, subject: &Subject<'_>, scene: &Scene, settings: &Settings, spp: u32) -> Checked {
        let (expected, report) = render(subject.reference()?.as_mut(), scene, settings, spp)?;
        let (film, counts) = render(subject.open()?.as_mut(), scene, settings, spp)?;
        let place = || format!("{} under {settings:?} at {spp} spp", scene.name);
        assert_eq!(film.pixels_differing(&expected), 0, "pixels that differ on {}", place());
        assert_eq!(film.invalid, expected.invalid, "invalid samples on {}", place());
        assert_eq!(counts.bounces, report.bounces, "ray counts on {}", place());
        self.films += 1;
        self.pixels += u64::from(settings.width) * u64::from(settings.height);
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        Outcome::Passed(format!("{} pixels of {} films are identical", self.pixels, self.films))
    }
}
