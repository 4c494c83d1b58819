//! What every [`Renderer`] must pass. A backend's test calls both parts:
//!
//! ```
//! use lockstep_core::{conformance, null::NullRenderer};
//! conformance::contract(&mut || Ok(Box::new(NullRenderer::new())));
//! // conformance::physics(&mut || ...); for a renderer that traces rays
//! ```
//!
//! [`contract`] checks the promises of the trait and holds for any renderer, [`physics`] the light transport against
//! closed forms and statistics, [`variants`] that no way to run passes changes a film. All panic with the claim that failed, as tests do.
#![allow(clippy::expect_used, clippy::panic, reason = "the suite is test code; a panic is its verdict")]

mod cast;
mod contract;
mod fast;
mod physics;
pub mod scenes;
pub mod statistics;
pub mod tolerances;
mod variants;

pub use contract::contract;
pub use fast::{Means, fast_means};
pub use physics::physics;
pub use variants::variants;

use crate::error::Result;
use crate::film::Film;
use crate::renderer::{PassReport, Renderer, Settings};
use crate::scene::Scene;
use std::ops::Range;

/// Opens a fresh renderer.
pub type Open<'a> = dyn FnMut() -> Result<Box<dyn Renderer>> + 'a;

/// Opens a renderer or fails the suite.
fn opened(open: &mut Open<'_>) -> Box<dyn Renderer> {
    open().unwrap_or_else(|e| panic!("the renderer did not open: {e}"))
}

/// Renders `spp` samples of a scene in one call.
pub fn render(
    renderer: &mut dyn Renderer,
    scene: &Scene,
    settings: &Settings,
    spp: u32,
) -> (Film, PassReport) {
    load(renderer, scene, settings);
    let report = accumulate(renderer, scene, 0..spp);
    (film_of(renderer, &scene.name), report)
}

/// Loads a scene or fails the suite with what the renderer says.
fn load(renderer: &mut dyn Renderer, scene: &Scene, settings: &Settings) {
    renderer.load(scene, settings).unwrap_or_else(|e| panic!("loading {} failed: {e}", scene.name));
}

/// Renders samples or fails the suite with what the renderer says.
fn accumulate(renderer: &mut dyn Renderer, scene: &Scene, samples: Range<u32>) -> PassReport {
    let what = format!("samples {samples:?} of {}", scene.name);
    renderer.accumulate(samples).unwrap_or_else(|e| panic!("rendering {what} failed: {e}"))
}

/// The renderer's film.
fn film_of(renderer: &mut dyn Renderer, name: &str) -> Film {
    let mut film = Film::new(1, 1).expect("one pixel is a valid size");
    renderer.read(&mut film).unwrap_or_else(|e| panic!("{name}: read: {e}"));
    film
}

/// Mean over all pixels of the mean over channels.
pub fn mean(film: &Film) -> f64 {
    let pixels = film.mean();
    let sum: f64 = pixels.iter().map(|p| p.iter().map(|&v| f64::from(v)).sum::<f64>() / 3.0).sum();
    sum / pixels.len() as f64
}
