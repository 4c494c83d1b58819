//! The environment light, sun and lights of a document.

use super::document::{Document, EnvironmentTable, EnvironmentTableKind, LightKind, LightTable};
use super::{Files, Text};
use crate::pixels::decode_file;
use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{EnvironmentLight, PunctualLight, SceneBuilder};
use lockstep_core::{Error, Result};
use toml::Spanned;

/// Adds the document's environment, sun and lights to the scene.
pub(super) fn apply(
    document: &Document,
    source: &Text<'_>,
    files: &Files<'_>,
    builder: &mut SceneBuilder,
) -> Result<()> {
    if let Some(table) = &document.sky {
        builder.environment = environment(table, source, files)?;
    }
    if let Some(table) = &document.sun {
        let sun = table.get_ref();
        let towards = Vec3::from(sun.towards);
        check(table, source, &[sun.towards], &sun.irradiance)?;
        builder.light(PunctualLight::Directional { direction: -towards, irradiance: sun.irradiance.into() });
        builder.check_light(builder.light_count() - 1).map_err(|error| source.at(table, "the sun", error))?;
    }
    for table in &document.lights {
        builder.light(light(table, source)?);
        builder
            .check_light(builder.light_count() - 1)
            .map_err(|error| source.at(table, "the light", error))?;
    }
    Ok(())
}

/// Refuses directions that are zero and intensities that are negative, with the place of their table.
fn check<T>(
    table: &Spanned<T>,
    source: &Text<'_>,
    directions: &[[f32; 3]],
    intensity: &[f32; 3],
) -> Result<()> {
    let wrong = |message: &str| Err(source.error(table.span().start, message));
    if directions.iter().any(|d| !d.iter().all(|v| v.is_finite()) || d.iter().all(|v| *v == 0.0)) {
        return wrong("a direction must be finite and not zero");
    }
    if !intensity.iter().all(|v| v.is_finite() && *v >= 0.0) {
        return wrong("intensities must be finite and not negative");
    }
    Ok(())
}

fn environment(
    table: &Spanned<EnvironmentTable>,
    source: &Text<'_>,
    files: &Files<'_>,
) -> Result<EnvironmentLight> {
    let wrong = |message: String| Err(source.error(table.span().start, message));
    let t = table.get_ref();
    let present = [
        ("radiance", t.radiance.is_some(), EnvironmentTableKind::Constant),
        ("zenith", t.zenith.is_some(), EnvironmentTableKind::Gradient),
        ("horizon", t.horizon.is_some(), EnvironmentTableKind::Gradient),
        ("ground", t.ground.is_some(), EnvironmentTableKind::Gradient),
        ("file", t.file.is_some(), EnvironmentTableKind::Image),
    ];
    for (key, there, kind) in present {
        if there != (kind == t.kind) {
            let verb = if there { "has no" } else { "needs" };
            return wrong(format!("a sky of this kind {verb} `{key}`"));
        }
    }
    if t.kind != EnvironmentTableKind::Image && (t.scale.is_some() || t.rotation.is_some()) {
        return wrong("only a sky of kind `image` has `scale` and `rotation`".into());
    }
    for color in [t.radiance, t.zenith, t.horizon, t.ground, t.scale].into_iter().flatten() {
        check(table, source, &[], &color)?;
    }
    let color = |c: Option<[f32; 3]>| Vec3::from(c.unwrap_or_default());
    match (t.kind, &t.file) {
        (EnvironmentTableKind::Image, Some(file)) => {
            let path = files.find(source, file)?;
            let bytes = files.access.read(&path)?;
            let image = decode_file(&bytes, &path, files.access.limits)
                .map_err(|message| Error::scene(path.to_string_lossy(), "image", message))?
                .into_radiance();
            Ok(EnvironmentLight::Image {
                width: image.width,
                height: image.height,
                texels: image.rgb,
                scale: t.scale.unwrap_or([1.0; 3]).into(),
                rotation: t.rotation.unwrap_or(0.0) / 360.0,
            })
        }
        (EnvironmentTableKind::Gradient, _) => Ok(EnvironmentLight::Gradient {
            zenith: color(t.zenith),
            horizon: color(t.horizon),
            ground: color(t.ground),
        }),
        _ => Ok(EnvironmentLight::Constant(color(t.radiance))),
    }
}

fn light(table: &Spanned<LightTable>, source: &Text<'_>) -> Result<PunctualLight> {
    let wrong = |message: &str| Err(source.error(table.span().start, message));
    let t = table.get_ref();
    let directions: Vec<[f32; 3]> = t.direction.into_iter().collect();
    check(table, source, &directions, &t.intensity)?;
    let intensity = Vec3::from(t.intensity);
    if t.kind != LightKind::Spot && (t.inner_angle.is_some() || t.outer_angle.is_some()) {
        return wrong("only a spot light has `inner_angle` and `outer_angle`");
    }
    let position = t.position.map(Vec3::from);
    let direction = t.direction.map(Vec3::from);
    match (t.kind, position, direction) {
        (LightKind::Point, Some(position), None) => Ok(PunctualLight::Point { position, intensity }),
        (LightKind::Point, ..) => wrong("a point light needs `position`, and has no `direction`"),
        (LightKind::Directional, None, Some(direction)) => {
            Ok(PunctualLight::Directional { direction, irradiance: intensity })
        }
        (LightKind::Directional, ..) => wrong("a directional light needs `direction`, and has no `position`"),
        (LightKind::Spot, Some(position), Some(direction)) => {
            let (inner, outer) = (t.inner_angle.unwrap_or(0.0), t.outer_angle.unwrap_or(45.0));
            if !(0.0 <= inner && inner < outer && outer <= 90.0) {
                return wrong("a spot light's angles must be 0 <= inner < outer <= 90 degrees");
            }
            let cos = |degrees: f32| sin_cos_turns(degrees / 360.0).1;
            let (inner_cos, outer_cos) = (cos(inner), cos(outer));
            if inner_cos <= outer_cos {
                return wrong("a spot light's angles are too close to each other");
            }
            Ok(PunctualLight::Spot {
                position,
                direction,
                intensity,
                inner_cos: inner_cos.min(1.0),
                outer_cos,
            })
        }
        (LightKind::Spot, ..) => wrong("a spot light needs `position` and `direction`"),
    }
}
