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
    for brighter in [false, true] {
        let subject = Subject::new(|| Ok(Box::new(Brighter { inner: NullRenderer::new(), brighter })))
            .with_reference(|| Ok(Box::new(NullRenderer::new())))
            .promising_identity(true);
        let check = CHECKS.iter().find(|check| check.name().ends_with("under_all_settings")).unwrap();
        assert_eq!(check.lacking(&subject), None);
        match check.run(&subject).0 {
            CheckResult::Ended(_) => assert!(!brighter),
            CheckResult::Failed(reason) => assert!(brighter && reason.contains("everything"), "{reason}"),
        }
    }
}

/// Adds the smallest unit to one pixel's film.
struct Brighter {
    inner: NullRenderer,
    brighter: bool,
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
        film.sums[0][0] += i64::from(self.brighter);
        Ok(())
    }
}
