//! Default camera and light for files without their own.

use crate::loaded::{Contents, LoadOptions, LoadedScene};
use crate::suggest;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, length, normalize, vec3};
use lockstep_core::scene::{Camera, EnvironmentLight, SceneBuilder};

/// Builds the scene of a file, with a camera fitted and a sky added where it has none.
pub(crate) fn finish(
    mut builder: SceneBuilder,
    contents: Contents,
    options: &LoadOptions,
    mut warnings: Warnings,
) -> Result<LoadedScene> {
    let chosen = choose(&contents.cameras, options.camera.as_deref(), &warnings)?;
    builder.camera = match chosen {
        Some(camera) => camera,
        None => fitted(&builder, &mut warnings),
    };
    if options.both_sides {
        builder.show_both_sides();
    }
    add_missing_light(&mut builder, contents.brightest, &mut warnings);
    Ok(LoadedScene { scene: builder.build()?, warnings: warnings.finish() })
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
    let names = cameras.iter().map(|(name, _)| name.as_str());
    let hint =
        suggest::nearest(wanted, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    let message = format!("there is no camera `{wanted}` among the file's {}{hint}", cameras.len());
    Err(warnings.error("camera", message))
}

/// A camera that sees everything from a corner, 45 degrees high.
fn fitted(builder: &SceneBuilder, warnings: &mut Warnings) -> Camera {
    const SINE_OF_HALF_FOV: f32 = 0.382_683_43;
    let Some([low, high]) = builder.bounds() else {
        warnings.add("geometry", "the file has nothing that can be rendered");
        return Camera::default();
    };
    let radius = 0.5 * length(high - low);
    let radius = if radius > 0.0 && radius.is_finite() { radius } else { 1.0 };
    let direction = normalize(vec3(-0.5, -0.35, -0.8));
    let center = (low + high) * 0.5;
    let camera = Camera {
        eye: center - direction * (radius / SINE_OF_HALF_FOV),
        direction,
        vertical_fov: std::f32::consts::FRAC_PI_4,
        ..Camera::default()
    };
    warnings.add("camera", "the file has no usable camera; one was placed so that everything is seen. A scene.toml places another");
    camera
}

/// Radiance above which a surface is taken for a lamp: the white of a display. Dimmer ones, such as the dials
/// of a helmet, glow, but light no scene.
const LAMP: f32 = 1.0;

/// Adds a bright environment to a scene without any light. `brightest` is the largest component of what its
/// materials emit.
pub(crate) fn add_missing_light(builder: &mut SceneBuilder, brightest: f32, warnings: &mut Warnings) {
    let lit = brightest > LAMP || builder.light_count() > 0;
    if lit || builder.environment != EnvironmentLight::default() {
        return;
    }
    builder.environment = EnvironmentLight::Gradient {
        zenith: vec3(0.5, 0.7, 1.0),
        horizon: Vec3::splat(1.0),
        ground: Vec3::splat(0.4),
    };
    let message = if brightest > 0.0 {
        "no material of the file emits more than a radiance of 1, which would light the scene, and it has no \
         other light; a bright sky was added"
    } else {
        "the file has no light; a bright sky was added"
    };
    warnings.add("sky", message);
}
