//! The suite over all targets of a backend, as a test program.

use crate::check::{CHECKS, Check, CheckResult};
use crate::outcome::Outcome;
use crate::processes::{self, Pool};
use crate::{LoadScene, Subject};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use lockstep_core::error::Result;
use lockstep_core::{Backend, OpenOptions, TargetId, Unavailable};
use lockstep_gpu::probe::ProbeDevice;
use std::process::ExitCode;
use std::sync::Arc;

/// The target with whose films every exact target's must be identical.
#[derive(Clone, Copy)]
pub struct Reference {
    /// The backend that opens the target.
    pub backend: &'static dyn Backend,
    /// The target's name.
    pub target: &'static str,
}

/// Opens a target's device with the kernels of [`lockstep_gpu::assemble_probes`].
pub type OpenTargetProbes = fn(&str) -> Result<Box<dyn ProbeDevice>>;

/// A backend with its reference, probes and scenes. [`crate::conformance_suite!`] makes one.
#[derive(Clone, Copy)]
pub struct Suite {
    /// The backend; every target that it lists is tested.
    pub backend: &'static dyn Backend,
    /// The target with whose films every exact target's must be identical. It has no reference itself.
    pub reference: Option<Reference>,
    /// Opens a target's device for parity by function.
    pub probes: Option<OpenTargetProbes>,
    /// Loads built-in scenes.
    pub scenes: Option<LoadScene>,
}

impl Suite {
    /// One target of the backend.
    pub fn subject(self, target: &str, exact: bool) -> Subject<'_> {
        let Self { backend, reference, probes, scenes } = self;
        let subject = Subject::new(move || backend.open(target, &OpenOptions::default()))
            .with_modes(backend.modes())
            .with_integrators(backend.integrators())
            .promising_identity(exact);
        let subject = match reference {
            Some(Reference { backend, target: of }) if of != target => {
                subject.with_reference(move || backend.open(of, &OpenOptions::default()))
            }
            _ => subject,
        };
        let subject = scenes.into_iter().fold(subject, Subject::with_scenes);
        match probes {
            Some(probes) => subject.with_probes(move || probes(target)),
            None => subject,
        }
    }

    /// Runs the quick suite as the `main` of a test with `harness = false`, under libtest's command line.
    /// Checks of an absent target are shown as ignored, each with the reason, or as failed where
    /// `LOCKSTEP_REQUIRE` names it. Checks run in processes of their own, which are this program again.
    pub fn run_as_tests(self) -> ExitCode {
        if processes::is_worker() {
            return processes::work(self);
        }
        libtest_mimic::run(&Arguments::from_args(), self.trials()).exit_code()
    }

    /// The checks of every target as tests, without those that do not apply to a target. Targets take turns, so that
    /// one compiler works on kernels of each.
    fn trials(self) -> Vec<Trial> {
        let pool = Arc::new(Pool::default());
        let mut by_target: Vec<Vec<Trial>> = Vec::new();
        let mut present = Vec::new();
        let mut listed = Vec::new();
        for status in self.backend.targets() {
            listed.push(TargetId::from(status.name.as_str()).backend);
            // Absent targets are shown with all checks that could apply.
            let exact = status.state.as_ref().map_or(true, |info| info.exact);
            let words = |unavailable: Unavailable| format!("{}. {}", unavailable.reason, unavailable.remedy);
            let unavailable =
                status.state.err().map(|unavailable| lockstep_require::one_line(&words(unavailable)));
            let subject = self.subject(&status.name, exact);
            let checks: Vec<Check> =
                CHECKS.iter().filter(|check| check.lacking(&subject).is_none()).copied().collect();
            drop(subject);
            let trials = checks.into_iter().map(|check| match &unavailable {
                Some(reason) => absent_trial(&status.name, check, reason.clone()),
                None => trial(&pool, &status.name, check, exact),
            });
            by_target.push(trials.collect());
            if unavailable.is_none() {
                present.push(status.name);
            }
        }
        let missing = lockstep_require::required().into_iter().filter(|word| {
            let backend = TargetId::from(word.as_str()).backend;
            let is_here = |target: &String| target == word || (*word == backend && target.starts_with(word));
            listed.contains(&backend) && !present.iter().any(is_here)
        });
        let mut trials = in_turns(by_target);
        trials.extend(missing.map(|word| missing_trial(&word)));
        trials
    }
}

/// The first of every list, then the second of every list, and so on.
fn in_turns<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    (0..longest).flat_map(|_| lists.iter_mut().filter_map(Iterator::next).collect::<Vec<T>>()).collect()
}

/// A check of a target that is there.
fn trial(pool: &Arc<Pool>, target: &str, check: Check, exact: bool) -> Trial {
    let (pool, name, target) = (Arc::clone(pool), format!("{target}::{}", check.name()), target.to_owned());
    Trial::ignorable_test(name, move || match pool.run(&target, exact, check.name()) {
        CheckResult::Ended(Outcome::Passed(_)) => Ok(Completion::Completed),
        CheckResult::Ended(Outcome::Skipped(reason)) => Ok(Completion::ignored_with(reason)),
        CheckResult::Failed(reason) => Err(Failed::from(reason)),
    })
}

/// A check of a target that is absent.
fn absent_trial(target: &str, check: Check, reason: String) -> Trial {
    let (name, target) = (format!("{target}::{}", check.name()), target.to_owned());
    Trial::ignorable_test(name, move || {
        if lockstep_require::is_required(&target) {
            return Err(Failed::from(lockstep_require::failure(&target, &reason)));
        }
        Ok(Completion::ignored_with(reason))
    })
}

/// The failure of a target that is required and that the backend does not list as present.
fn missing_trial(word: &str) -> Trial {
    let reason = "`lockstep devices` lists what is here, `lockstep setup` fetches run-time libraries.";
    let failure = lockstep_require::failure(word, &reason);
    Trial::test(format!("{word}::is_present"), move || Err(Failed::from(failure)))
}

/// Makes the `main` of a backend's conformance test:
///
/// ```text
/// lockstep_conformance::conformance_suite! {
///     backend: my_backend::Vulkan,
///     reference: (Cpu, BVH_TARGET),
///     probes: |target| Ok(Box::new(my_backend::Probes::build(target)?)),
///     scenes: |name| Ok(lockstep_scenes::load(name, &LoadOptions::default())?.scene),
/// }
/// ```
///
/// `backend` is a unit struct that implements [`lockstep_core::Backend`], and so is that of `reference`, before its
/// target's name; the other three may be left out, in this order, with the checks that need them. The test's table in `Cargo.toml` has `harness = false`.
#[macro_export]
macro_rules! conformance_suite {
    (
        backend: $backend:expr
        $(, reference: ($reference:expr, $target:expr $(,)?))?
        $(, probes: $probes:expr)?
        $(, scenes: $scenes:expr)?
        $(,)?
    ) => {
        fn main() -> ::std::process::ExitCode {
            #[allow(unused_mut, reason = "a backend may have nothing but itself")]
            let mut suite = $crate::Suite { backend: &$backend, reference: None, probes: None, scenes: None };
            $(suite.reference = Some($crate::Reference { backend: &$reference, target: $target });)?
            $(suite.probes = Some($probes);)?
            $(suite.scenes = Some($scenes);)?
            suite.run_as_tests()
        }
    };
}
