//! The conformance suite: the checks that every Lockstep backend passes, inside this repository or outside
//! it.
//!
//! - `contract`: the promises of [`Renderer`];
//! - `trace_rays`: hits of given rays against the intersection predicate by brute force;
//! - `parity`: device functions, records and constants against their Rust counterparts, function by function;
//! - `identity`: films, ray counts and recorded paths against a reference renderer, to the bit;
//! - `configs`: no kernel configuration changes a film, and impossible ones are refused;
//! - `bidirectional`: integrators of light and camera sub-paths, against closed forms, path tracer and
//!   reference;
//! - `physics`: light transport against closed forms and statistics;
//! - `layers`: materials with layers, and media inside dielectrics;
//! - `priorities`: overlapping dielectrics with priorities, against closed forms and the reference;
//! - `fast`: the fast mode against the exact one, statistically;
//! - `timing`: stage times against the time of the pass.
//!
//! A backend's test, `tests/conformance.rs`, is one invocation of [`conformance_suite!`], with `harness =
//! false` in its `[[test]]` table. It runs every check on every target of the backend as a test of its own, in worker
//! processes, so that a driver that crashes fails one check:
//!
//! ```no_run
//! use lockstep_core::null::NullRenderer;
//! use lockstep_core::{Backend, DeviceInfo, OpenOptions, Renderer, Result, TargetStatus};
//!
//! struct Null;
//!
//! impl Backend for Null {
//!     fn name(&self) -> &'static str {
//!         "null"
//!     }
//!
//!     fn targets(&self) -> Vec<TargetStatus> {
//!         vec![TargetStatus { name: "null".into(), state: Ok(DeviceInfo::default()) }]
//!     }
//!
//!     fn open(&self, _target: &str, _options: &OpenOptions) -> Result<Box<dyn Renderer>> {
//!         Ok(Box::new(NullRenderer::new()))
//!     }
//! }
//!
//! lockstep_conformance::conformance_suite! { backend: Null }
//! ```
//!
//! For bit identity it is also given `reference: (Cpu, BVH_TARGET)` of `lockstep-cpu`, for parity by function `probes: |target| ...`, and for films of built-in scenes `scenes:
//! |name| ...`.
//!
//! A single target is a [`Subject`] made from a closure, and each of [`CHECKS`] runs on it:
//!
//! ```
//! use lockstep_conformance::{CHECKS, CheckResult, Subject};
//! use lockstep_core::null::NullRenderer;
//!
//! let subject = Subject::new(|| Ok(Box::new(NullRenderer::new())));
//! for check in CHECKS.iter().filter(|check| check.name().starts_with("contract::")) {
//!     let (result, _) = check.run(&subject);
//!     assert!(!matches!(result, CheckResult::Failed(_)), "{}: {result:?}", check.name());
//! }
//! ```
//!
//! A claim that does not hold is asserted, as in any test; a renderer that fails where it must work is a
//! [`Failure`].

mod bidirectional;
mod check;
mod configs;
mod contract;
mod fast;
mod furnaces;
mod identity;
mod layers;
mod outcome;
mod own_process;
pub mod parity;
mod physics;
mod priorities;
mod processes;
pub mod scenes;
pub mod statistics;
mod subject;
mod suite;
mod targets;
mod timing;
pub mod tolerances;
mod trace_rays;

pub use check::{CHECKS, Check, CheckResult};
pub use configs::{Refusal, kernel_configs};
pub use fast::{Means, fast_means};
pub use lockstep_require as require;
pub use outcome::Outcome;
pub use own_process::in_own_process;
pub use subject::{Extent, LoadScene, Open, OpenProbes, Subject};
pub use suite::{OpenTargetProbes, Reference, Suite};
pub use targets::present_targets;

use lockstep_core::error::{Error, Result};
use lockstep_core::film::Film;
use lockstep_core::scene::Scene;
use lockstep_core::{PassReport, Renderer, Settings};
use std::ops::Range;

/// The result of a part of the suite; failed claims panic on the way.
pub type Checked<T = ()> = std::result::Result<T, Failure>;

/// A renderer, or a scene of the suite, failed where it must work.
#[derive(Debug, thiserror::Error)]
#[error("{act}: {source}")]
pub struct Failure {
    /// The suite's action, with the scene.
    pub act: String,
    /// The cause.
    pub source: Error,
}

/// Adds the suite's action to an error.
trait During<T> {
    /// The value, or a [`Failure`] of this action.
    fn during(self, act: impl FnOnce() -> String) -> Checked<T>;
}

impl<T> During<T> for Result<T> {
    fn during(self, act: impl FnOnce() -> String) -> Checked<T> {
        self.map_err(|source| Failure { act: act(), source })
    }
}

/// A scene of the suite.
fn made(scene: Result<Scene>) -> Checked<Scene> {
    scene.during(|| "making a scene of the suite".into())
}

/// The scene that uses every feature.
fn everything() -> Checked<Scene> {
    made(scenes::everything())
}

/// Renders `spp` samples of a scene in one call.
///
/// # Errors
/// The renderer's error, with the scene.
pub fn render(
    renderer: &mut dyn Renderer,
    scene: &Scene,
    settings: &Settings,
    spp: u32,
) -> Checked<(Film, PassReport)> {
    load(renderer, scene, settings)?;
    let report = accumulate(renderer, scene, 0..spp)?;
    Ok((film_of(renderer, scene)?, report))
}

/// Loads a scene.
fn load(renderer: &mut dyn Renderer, scene: &Scene, settings: &Settings) -> Checked {
    renderer.load(scene, settings).map(|_| ()).during(|| format!("loading {}", scene.name))
}

/// Renders samples.
fn accumulate(renderer: &mut dyn Renderer, scene: &Scene, samples: Range<u32>) -> Checked<PassReport> {
    let act = format!("rendering samples {samples:?} of {}", scene.name);
    renderer.accumulate(samples).during(|| act)
}

/// A film for a renderer to fill.
fn blank() -> Checked<Film> {
    Film::new(1, 1).during(|| "making a film of one pixel".into())
}

/// The renderer's film.
fn film_of(renderer: &mut dyn Renderer, scene: &Scene) -> Checked<Film> {
    let mut film = blank()?;
    renderer.read(&mut film).during(|| format!("reading the film of {}", scene.name))?;
    Ok(film)
}

/// Mean over all pixels of the mean over channels.
pub fn mean(film: &Film) -> f64 {
    let pixels = film.mean();
    let sum: f64 = pixels.iter().map(|p| p.iter().map(|&v| f64::from(v)).sum::<f64>() / 3.0).sum();
    sum / pixels.len() as f64
}
