//! Checks on renderers that keep no promise. The library's own tests would have to compile all checks a second time.

use lockstep_conformance::{CHECKS, Check, CheckResult, Subject};
use lockstep_core::null::NullRenderer;
use lockstep_core::scene::Scene;
use lockstep_core::{DeviceInfo, Error, Film, LoadReport, PassReport, Renderer, Result, Settings};
use std::collections::BTreeSet;
use std::ops::Range;

#[test]
fn a_renderer_that_does_not_open_is_a_failure_that_says_so() {
    let subject = Subject::new(|| Err(Error::Unsupported { actor: "t".into(), what: "anything".into() }));
    for check in CHECKS.iter().filter(|check| check.lacking(&subject).is_none()) {
        let (result, _) = check.run(&subject);
        let CheckResult::Failed(reason) = result else { panic!("{}: {result:?}", check.name()) };
        assert!(reason.starts_with("opening the renderer: ") && reason.contains("anything"), "{reason}");
    }
}

#[test]
fn names_of_checks_are_unique() {
    let names: BTreeSet<&str> = CHECKS.iter().map(Check::name).collect();
    assert_eq!(names.len(), CHECKS.len());
}

#[test]
fn a_film_that_differs_from_the_reference_fails_with_the_scene() {
    for units in [0, 1] {
        match run("identity::every_feature_under_all_settings", units, true) {
            CheckResult::Ended(_) => assert_eq!(units, 0),
            CheckResult::Failed(reason) => assert!(units == 1 && reason.contains("everything"), "{reason}"),
        }
    }
}

#[test]
fn expected_values_carry_over_to_films_of_the_reference_and_are_measured_where_none_are_promised() {
    const MUCH: i64 = i64::MAX / 4;
    let run = |units, exact| run("physics::furnaces_are_white", units, exact);
    for exact in [false, true] {
        assert!(matches!(run(0, exact), CheckResult::Ended(_)));
    }
    assert!(matches!(run(1, false), CheckResult::Ended(_)), "the target's own film is white");
    for (units, exact, words) in [(1, true, "pixels that differ"), (MUCH, false, "expected")] {
        let CheckResult::Failed(reason) = run(units, exact) else { panic!("{units} passes") };
        assert!(reason.contains(words), "{reason}");
    }
}

/// Runs a check on a target that adds `units` to one pixel, beside a reference that does not.
fn run(check: &str, units: i64, exact: bool) -> CheckResult {
    let subject = Subject::new(move || Ok(Box::new(Brighter { inner: NullRenderer::new(), units })))
        .with_reference(|| Ok(Box::new(NullRenderer::new())))
        .promising_identity(exact);
    match CHECKS.iter().find(|own| own.name() == check && own.lacking(&subject).is_none()) {
        Some(check) => check.run(&subject).0,
        None => CheckResult::Failed(format!("{check} is not listed, or does not apply")),
    }
}

/// Adds units to one pixel's film.
struct Brighter {
    inner: NullRenderer,
    units: i64,
}

impl Renderer for Brighter {
    fn device(&self) -> &DeviceInfo {
        self.inner.device()
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        self.inner.load(scene, settings)
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        self.inner.accumulate(samples)
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        self.inner.read(film)?;
        film.sums[0][0] += self.units;
        Ok(())
    }
}
