//! The entries of an image file that say which render made it.

use lockstep_core::Settings;
use lockstep_reports::image_io::ImageMetadata;

/// Entries of an image file: scene, target, samples and the settings of the render that made it.
pub(crate) fn image_metadata(scene: &str, target: &str, spp: u32, settings: &Settings) -> ImageMetadata {
    let metadata = ImageMetadata::of_render(scene, target, spp, u64::from(settings.seed))
        .with("bounces", &settings.bounces.to_string())
        .with("integrator", settings.integrator.as_str())
        .with("sampler", settings.sampler.as_str());
    let metadata = match settings.layers.is_default() {
        true => metadata,
        false => metadata.with("layers", settings.layers.as_str()),
    };
    match settings.roulette_from {
        Some(bounce) => metadata.with(ROULETTE, &bounce.to_string()),
        None => metadata,
    }
}

/// The key of the bounce from which paths may end by Russian roulette, which images name where there is one.
pub(crate) const ROULETTE: &str = "roulette";
