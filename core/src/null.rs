//! The smallest complete renderer: every pixel of every sample shows the environment straight ahead.
//!
//! It is an example, and tests harness and conformance suite without tracing a ray. A real backend differs in
//! the body of `accumulate`, not in the shape of these four methods.

use crate::error::Result;
use crate::film::{Film, InvalidSamples, quantize};
use crate::math::rng::{Block, dither, draw, uniforms};
use crate::scene::{Scene, environment_radiance};
use crate::{BounceCounts, DeviceInfo, Integrator, LoadReport, PassReport, Renderer, Settings};
use crate::{check_range, nothing_loaded};
use std::ops::Range;

/// Renders the radiance of camera rays in a scene without surfaces.
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
        if settings.integrator != Integrator::Path {
            return Err(self.unsupported(&format!("the integrator {}", settings.integrator)));
        }
        let film = Film::new(settings.width, settings.height)?;
        self.loaded = Some(Loaded { scene: scene.clone(), settings: *settings, film });
        Ok(LoadReport { device_bytes: scene.bytes(), ..LoadReport::default() })
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        let loaded = self.loaded.as_mut().ok_or_else(nothing_loaded)?;
        let Loaded { scene, settings, film } = loaded;
        let count = check_range(film.spp, &samples)?;
        let camera = scene.camera.frame(settings.width, settings.height);
        let mut invalid = InvalidSamples::default();
        for (pixel, sum) in film.sums.iter_mut().enumerate() {
            for sample in samples.clone() {
                let key = settings.key(pixel as u32, sample);
                let (_, direction) = camera.ray(key.pixel, uniforms(draw(key, Block::Camera, 0)));
                let radiance = environment_radiance(&scene.environment, &scene.environment_texels, direction);
                let units = quantize(radiance, dither(key, 0), &mut invalid);
                for (total, value) in sum.iter_mut().zip(units) {
                    *total += value;
                }
            }
        }
        film.spp += count;
        film.invalid.merge(&invalid);
        let rays = film.sums.len() as u64 * u64::from(count);
        let bounces = vec![BounceCounts { extension_rays: rays, ..BounceCounts::default() }];
        Ok(PassReport { bounces, invalid, ..PassReport::default() })
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        film.clone_from(&self.loaded.as_ref().ok_or_else(nothing_loaded)?.film);
        Ok(())
    }
}
