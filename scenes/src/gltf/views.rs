//! Cameras and punctual lights.

use super::json::Item;
use super::nodes::Placed;
use super::transforms::Map;
use crate::warning::Warnings;
use lockstep_core::math::vec3::{Vec3, normalize, vec3};
use lockstep_core::math::{PI, TWO_PI, sin_cos_turns};
use lockstep_core::scene::{Camera, PunctualLight, SceneBuilder};
use lockstep_core::{Error, Result};

fn column(map: &Map, index: usize) -> Vec3 {
    vec3(map[0][index] as f32, map[1][index] as f32, map[2][index] as f32)
}

/// All perspective cameras in the scene, named after their nodes or themselves.
pub(super) fn cameras(
    root: &Item<'_>,
    nodes: &[Placed<'_>],
    warnings: &mut Warnings,
) -> Vec<(String, Camera)> {
    check_cameras(root, warnings);
    let mut out = Vec::new();
    for node in nodes {
        let Some(item) = node.item.index("camera").and_then(|index| root.item("cameras", index)) else {
            continue;
        };
        let Some(lens) = item.get("perspective") else {
            continue;
        };
        let camera = Camera {
            eye: column(&node.to_world, 3),
            direction: normalize(-column(&node.to_world, 2)),
            up: normalize(column(&node.to_world, 1)),
            vertical_fov: lens.number("yfov").unwrap_or(0.0),
            ..Camera::default()
        };
        match camera.validate(warnings.path()) {
            Ok(()) => {
                let name = node.item.name().or(item.name()).unwrap_or_default();
                out.push((name.to_string(), camera));
            }
            Err(error) => {
                warnings.add(&item.at, format!("the camera is not usable and was left out: {error}"))
            }
        }
    }
    out
}

fn check_cameras(root: &Item<'_>, warnings: &mut Warnings) {
    for item in root.items("cameras") {
        if item.has("orthographic") {
            warnings.add(
                item.pointer("orthographic"),
                "orthographic cameras are not supported; this one is left out",
            );
        }
        if let Some(lens) = item.get("perspective") {
            if lens.number("yfov").is_some_and(|fov| fov >= PI) {
                warnings.add(&lens.at, "the field of view is half a turn or more");
            }
            let (near, far) = (lens.number("znear"), lens.number("zfar"));
            if near.zip(far).is_some_and(|(near, far)| far <= near) {
                warnings.add(&lens.at, "`zfar` is not beyond `znear`; both are ignored");
            }
        }
    }
}

/// Adds the scene's lights. Candela and lux are taken as watts per steradian and per square metre, as
/// radiance is.
///
/// # Errors
/// [`Error::Scene`] for a light out of range, by its pointer and name, with the node that places it.
pub(super) fn lights(
    root: &Item<'_>,
    nodes: &[Placed<'_>],
    builder: &mut SceneBuilder,
    warnings: &mut Warnings,
) -> Result<()> {
    let Some(list) = root.extension("KHR_lights_punctual") else {
        return Ok(());
    };
    for item in list.items("lights") {
        check_light(&item, warnings);
    }
    for node in nodes {
        let index = node.item.extension("KHR_lights_punctual").and_then(|e| e.index("light"));
        let Some(item) = index.and_then(|i| list.item("lights", i)) else { continue };
        let Some(light) = light(&item, &node.to_world) else { continue };
        builder.light(light);
        if let Err(Error::Scene { message, .. }) = builder.check_light(builder.light_count() - 1) {
            let name = item.name().map(|name| format!("`{name}` ")).unwrap_or_default();
            return Err(warnings.error(&item.at, format!("the light {name}of {}: {message}", node.item.at)));
        }
    }
    Ok(())
}

fn check_light(item: &Item<'_>, warnings: &mut Warnings) {
    let known = matches!(item.text("type"), Some("point" | "spot" | "directional"));
    if !known {
        warnings.add(item.pointer("type"), "lights of an unknown type are left out");
    }
    if item.text("type") == Some("spot") {
        match item.get("spot") {
            None => warnings.add(&item.at, "the property `spot` is missing; its defaults are used"),
            Some(spot) if outer_angle(&spot) <= inner_angle(&spot) => {
                let message = "the outer angle is not beyond the inner one; the cone's edge is sharp";
                warnings.add(spot.pointer("outerConeAngle"), message);
            }
            Some(_) => {}
        }
    }
}

fn inner_angle(spot: &Item<'_>) -> f32 {
    spot.number("innerConeAngle").unwrap_or(0.0)
}

fn outer_angle(spot: &Item<'_>) -> f32 {
    spot.number("outerConeAngle").unwrap_or(PI / 4.0)
}

fn light(item: &Item<'_>, to_world: &Map) -> Option<PunctualLight> {
    let color = item.floats("color").unwrap_or([1.0; 3]);
    let intensity = Vec3::from(color) * item.number("intensity").unwrap_or(1.0);
    let position = column(to_world, 3);
    let direction = normalize(-column(to_world, 2));
    Some(match item.text("type")? {
        "point" => PunctualLight::Point { position, intensity },
        "directional" => PunctualLight::Directional { direction, irradiance: intensity },
        "spot" => {
            let spot = item.get("spot");
            let cos = |angle: f32| sin_cos_turns(angle / TWO_PI).1;
            let outer_cos = cos(spot.as_ref().map_or(PI / 4.0, outer_angle));
            let inner_cos = cos(spot.as_ref().map_or(0.0, inner_angle));
            // A cone must have an edge of some width.
            let inner_cos = if inner_cos > outer_cos { inner_cos } else { (outer_cos + 1e-3).min(1.0) };
            let outer_cos = outer_cos.min(inner_cos - 1e-4);
            PunctualLight::Spot { position, direction, intensity, inner_cos, outer_cos }
        }
        _ => return None,
    })
}
