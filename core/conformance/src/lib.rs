//! What every [`Renderer`] must pass. A backend's test calls both parts:
//!
//! ```
//! use lockstep_core::null::NullRenderer;
//! lockstep_conformance::contract(&mut || Ok(Box::new(NullRenderer::new())))?;
//! // lockstep_conformance::physics(&mut || ...)?; for a renderer that traces rays
//! # Ok::<(), lockstep_conformance::Failure>(())
//! ```
//!
//! [`contract`] checks the promises of the trait and holds for any renderer, [`physics`] the light transport against
//! closed forms and statistics, [`variants`] that no way to run passes changes a film. A claim that
//! does not hold is asserted, as in any test; a renderer that fails where it must work is a [`Failure`].

mod configs;
mod contract;
mod fast;
pub mod parity;
mod physics;
pub mod scenes;
pub mod statistics;
pub mod tolerances;
mod trace_rays;

pub use configs::variants;
pub use contract::contract;
pub use fast::{Means, fast_means};
pub use physics::physics;

use lockstep_core::error::{Error, Result};
use lockstep_core::film::Film;
use lockstep_core::scene::Scene;
use lockstep_core::{PassReport, Renderer, Settings};
use std::ops::Range;

/// Opens a fresh renderer.
pub type Open<'a> = dyn FnMut() -> Result<Box<dyn Renderer>> + 'a;

/// What the suite returns; claims are asserted on the way.
pub type Verdict<T = ()> = std::result::Result<T, Failure>;

/// A renderer, or a scene of the suite, failed where it must work.
#[derive(Debug, thiserror::Error)]
#[error("{act}: {source}")]
pub struct Failure {
    /// What the suite was doing, with the scene.
    pub act: String,
    /// Why that failed.
    pub source: Error,
}

/// Names what the suite was doing.
trait During<T> {
    /// The value, or a [`Failure`] in this act.
    fn during(self, act: impl FnOnce() -> String) -> Verdict<T>;
}

impl<T> During<T> for Result<T> {
    fn during(self, act: impl FnOnce() -> String) -> Verdict<T> {
        self.map_err(|source| Failure { act: act(), source })
    }
}

/// Opens a renderer.
fn opened(open: &mut Open<'_>) -> Verdict<Box<dyn Renderer>> {
    open().during(|| "opening the renderer".into())
}

/// A scene of the suite.
fn made(scene: Result<Scene>) -> Verdict<Scene> {
    scene.during(|| "making a scene of the suite".into())
}

/// Renders `spp` samples of a scene in one call.
///
/// # Errors
/// What the renderer says, with the scene.
pub fn render(
    renderer: &mut dyn Renderer,
    scene: &Scene,
    settings: &Settings,
    spp: u32,
) -> Verdict<(Film, PassReport)> {
    load(renderer, scene, settings)?;
    let report = accumulate(renderer, scene, 0..spp)?;
    Ok((film_of(renderer, scene)?, report))
}

/// Loads a scene.
fn load(renderer: &mut dyn Renderer, scene: &Scene, settings: &Settings) -> Verdict {
    renderer.load(scene, settings).map(|_| ()).during(|| format!("loading {}", scene.name))
}

/// Renders samples.
fn accumulate(renderer: &mut dyn Renderer, scene: &Scene, samples: Range<u32>) -> Verdict<PassReport> {
    let act = format!("rendering samples {samples:?} of {}", scene.name);
    renderer.accumulate(samples).during(|| act)
}

/// A film for a renderer to fill.
fn blank() -> Verdict<Film> {
    Film::new(1, 1).during(|| "making a film of one pixel".into())
}

/// The renderer's film.
fn film_of(renderer: &mut dyn Renderer, scene: &Scene) -> Verdict<Film> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renderer_that_does_not_open_is_a_failure_that_says_so() {
        let mut open = || Err(Error::Unsupported { actor: "t".into(), what: "anything".into() });
        for verdict in [contract(&mut open), physics(&mut open), variants(&mut open, &[]).map(|_| ())] {
            let told = verdict.unwrap_err().to_string();
            assert!(told.starts_with("opening the renderer: ") && told.contains("anything"), "{told}");
        }
    }
}
