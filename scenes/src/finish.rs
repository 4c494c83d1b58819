//! Default camera and light for files without their own.

use crate::brightest::brightest;
use crate::fitted_camera::{Middle, fitted};
use crate::loaded::{Contents, LoadOptions, LoadedScene};
use crate::suggest;
use crate::warning::Warnings;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{Camera, EnvironmentLight, PunctualLight, SceneBuilder};
use lockstep_core::{Error, Result};

/// Builds the scene of a file, with a camera fitted and an environment light added where it has none.
pub(crate) fn finish(
    mut builder: SceneBuilder,
    contents: Contents,
    options: &LoadOptions,
    mut warnings: Warnings,
) -> Result<LoadedScene> {
    let chosen = choose(&contents.cameras, options.camera.as_deref(), &warnings)?;
    let (mut closed, mut middle) = (None, None);
    let camera = match chosen {
        Some(camera) => camera,
        None if options.view.is_placed() => {
            middle = builder.bounds().map(|[low, high]| (low + high) * 0.5);
            Camera::default()
        }
        None => {
            let fitted = fitted(&builder, &mut warnings);
            closed = fitted.closed;
            fitted.camera
        }
    };
    builder.camera = options.view.camera(camera, middle);
    builder.camera.validate(builder.name())?;
    if options.both_sides {
        builder.show_both_sides();
    }
    match (options.view.environment(&options.limits)?, closed) {
        (Some(environment), _) => builder.environment = environment,
        (None, Some(middle)) => add_lamp(&mut builder, contents.has_lamps, middle, &mut warnings),
        (None, None) => add_missing_light(&mut builder, contents.has_lamps, &mut warnings),
    }
    let scene = builder.build().map_err(|error| in_file(warnings.path(), error))?;
    Ok(LoadedScene { scene, warnings: warnings.finish() })
}

/// The fault that a builder finds, which names its scene, with the file instead.
pub(crate) fn in_file(path: &str, error: Error) -> Error {
    match error {
        Error::Scene { place, message, .. } => Error::scene(path, place, message),
        other => other,
    }
}

/// The requested camera by name or index, else the first.
pub(crate) fn choose(
    cameras: &[(String, Camera)],
    wanted: Option<&str>,
    warnings: &Warnings,
) -> Result<Option<Camera>> {
    let Some(wanted) = wanted else {
        return Ok(cameras.first().map(|(_, camera)| *camera));
    };
    let by_name = cameras.iter().find(|(name, _)| name == wanted);
    let by_index = || wanted.parse::<usize>().ok().and_then(|i| cameras.get(i));
    if let Some((_, camera)) = by_name.or_else(by_index) {
        return Ok(Some(*camera));
    }
    if cameras.is_empty() {
        return Err(
            warnings.error("camera", format!("the camera `{wanted}` is asked for, and the file has none"))
        );
    }
    let names = cameras.iter().map(|(name, _)| name.as_str());
    let hint =
        suggest::nearest(wanted, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    let message = format!("there is no camera `{wanted}` among the file's {}{hint}", cameras.len());
    Err(warnings.error("camera", message))
}

/// Adds a lamp inside a closed scene without any light, where no sky would enter. A grey surface at the mean
/// distance has a radiance of a half. `has_lamps` as in [`Contents`].
fn add_lamp(builder: &mut SceneBuilder, has_lamps: bool, middle: Middle, warnings: &mut Warnings) {
    if light(builder, has_lamps, warnings) == Light::Present {
        return;
    }
    let intensity = Vec3::splat(std::f32::consts::PI * middle.distance * middle.distance);
    builder.light(PunctualLight::Point { position: middle.point, intensity });
    warnings
        .add("light", "the file has no light and is closed on all sides; a lamp was placed in its middle");
}

/// The light of a scene before anything is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Light {
    /// A lamp, an environment, or a surface that emits as much as a lamp.
    Present,
    /// Surfaces that glow.
    Dim,
    Missing,
}

/// The light of a scene, with a warning where it is but a surface that emits.
fn light(builder: &SceneBuilder, has_lamps: bool, warnings: &mut Warnings) -> Light {
    if has_lamps || builder.light_count() > 0 || builder.environment != EnvironmentLight::default() {
        return Light::Present;
    }
    let brightest = brightest(builder);
    if brightest > LAMP {
        let message = format!(
            "a material that emits a radiance of {brightest} is taken for the light of the scene, which has no \
             other; no sky was added (--sky adds one)"
        );
        warnings.add("light", message);
        return Light::Present;
    }
    if brightest > 0.0 { Light::Dim } else { Light::Missing }
}

/// Radiance above which a surface is taken for a lamp: the white of a display. Dimmer ones, such as the dials
/// of a helmet, glow, but light no scene.
pub(crate) const LAMP: f32 = 1.0;

/// Adds a bright environment to a scene without any light. `has_lamps` as in [`Contents`].
pub(crate) fn add_missing_light(builder: &mut SceneBuilder, has_lamps: bool, warnings: &mut Warnings) {
    let message = match light(builder, has_lamps, warnings) {
        Light::Present => return,
        Light::Dim => {
            "no surface emits more than a radiance of 1, which would light the scene, and it has no other light; \
             a bright sky was added"
        }
        Light::Missing => "the file has no light; a bright sky was added",
    };
    builder.environment = EnvironmentLight::Gradient {
        zenith: vec3(0.5, 0.7, 1.0),
        horizon: Vec3::splat(1.0),
        ground: Vec3::splat(0.4),
    };
    warnings.add("sky", message);
}
