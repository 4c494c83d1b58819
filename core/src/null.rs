//! The smallest complete renderer: every pixel of every sample shows the sky straight ahead.
//!
//! It exists to be read, and to test harness and conformance suite without tracing a ray. A real backend differs in
//! what happens inside `accumulate`, not in the shape of these four methods.

use crate::error::{Error, Result};
use crate::film::{Film, Flaws, MAX_SPP, quantize};
use crate::renderer::{BounceCounts, DeviceInfo, LoadReport, PassReport, Renderer, Settings};
use crate::scene::Scene;
use crate::vec3::Vec3;
use std::ops::Range;

/// Renders the radiance that camera rays would find in a scene without surfaces.
#[derive(Debug, Default)]
pub struct NullRenderer {
    info: DeviceInfo,
    loaded: Option<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    scene: Scene,
    settings: Settings,
    film: Film,
}

impl NullRenderer {
    /// A renderer that is always present.
    pub fn new() -> Self {
        let info = DeviceInfo {
            target: "null".into(),
            backend: "null".into(),
            device: "none".into(),
            ..Default::default()
        };
        Self { info, loaded: None }
    }
}

impl Renderer for NullRenderer {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        settings.validate()?;
        let film = Film::new(settings.width, settings.height)?;
        self.loaded = Some(Loaded { scene: scene.clone(), settings: *settings, film });
        Ok(LoadReport { device_bytes: scene.bytes(), ..LoadReport::default() })
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        let loaded = self.loaded.as_mut().ok_or_else(nothing_loaded)?;
        let Loaded { scene, settings, film } = loaded;
        let count = check_range(film.spp, &samples)?;
        let camera = scene.camera.frame(settings.width, settings.height);
        let mut flaws = Flaws::default();
        for (pixel, sum) in film.sums.iter_mut().enumerate() {
            for sample in samples.clone() {
                let key = crate::rng::SampleKey { pixel: pixel as u32, sample, seed: settings.seed };
                let path = crate::path::generate(&camera, key);
                let radiance: Vec3 = crate::lights::environment_radiance(
                    &scene.environment,
                    &scene.environment_texels,
                    path.ray.direction,
                );
                for (total, value) in sum.iter_mut().zip(quantize(radiance, &mut flaws)) {
                    *total += value;
                }
            }
        }
        film.spp += count;
        film.flaws.merge(&flaws);
        let rays = film.sums.len() as u64 * u64::from(count);
        let bounces = vec![BounceCounts { extension_rays: rays, ..BounceCounts::default() }];
        Ok(PassReport { bounces, flaws, ..PassReport::default() })
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        film.clone_from(&self.loaded.as_ref().ok_or_else(nothing_loaded)?.film);
        Ok(())
    }
}

/// The error of a call before `load`.
pub fn nothing_loaded() -> Error {
    Error::Contract { actor: "renderer".into(), message: "no scene is loaded; call `load` first".into() }
}

/// How many samples a pass adds, if a film that holds `spp` can take them.
///
/// # Errors
/// [`Error::Contract`] when the range is reversed or the film would exceed [`MAX_SPP`].
pub fn check_range(spp: u32, samples: &Range<u32>) -> Result<u32> {
    let count = samples.end.checked_sub(samples.start);
    match count {
        Some(count) if spp.saturating_add(count) <= MAX_SPP => Ok(count),
        _ => Err(Error::Contract {
            actor: "renderer".into(),
            message: format!(
                "samples {}..{} cannot be added to {} of at most {MAX_SPP}",
                samples.start, samples.end, spp
            ),
        }),
    }
}

#[cfg(all(test, feature = "conformance"))]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn the_smallest_renderer_keeps_the_contract() {
        conformance::contract(&mut || Ok(Box::new(NullRenderer::new()))).unwrap();
    }
}
