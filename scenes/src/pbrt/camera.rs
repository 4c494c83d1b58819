//! The camera, and the mirror between pbrt's world and the scene's.
//!
//! pbrt's cameras look along +z with x to the right and y up, so that their images are mirrored against those of
//! a right-handed camera at the same place. The scene's world is pbrt's, with x negated where the camera's
//! transform does not mirror already.

use super::Context;
use super::description::{CameraDefinition, Description};
use super::matrix::{Matrix, cross, dot};
use super::params::shorten;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::Camera;

/// Relative difference up to which lengths and angles of a camera count as equal.
const SAME: f64 = 1e-3;

/// From pbrt's world to the scene's.
pub(super) fn world(description: &Description) -> Matrix {
    // Without a camera, the mirror is that for pbrt's usual ones.
    let mirrored = description.camera.as_ref().is_some_and(|camera| camera.from_world.determinant() < 0.0);
    if mirrored { Matrix::IDENTITY } else { Matrix::scaling([-1.0, 1.0, 1.0]) }
}

/// The camera in the scene's world.
pub(super) fn camera(
    definition: &CameraDefinition,
    film: Option<[f64; 2]>,
    world: &Matrix,
    context: &mut Context<'_, '_>,
) -> Result<Camera> {
    let params = &definition.params;
    let wrong = |message: String| context.warnings.error(&params.place, message);
    if definition.class != "perspective" {
        let message =
            format!("the camera `{}` is not rendered; `perspective` is", shorten(&definition.class));
        return Err(wrong(message));
    }
    let to_world = definition.from_world.inverse().map(|to_world| world.then(&to_world));
    let Some(to_world) = to_world else {
        return Err(wrong("the camera's transform cannot be undone".into()));
    };
    let [right, up, forward] =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| to_world.vector(axis));
    let [width, height, depth] = [right, up, forward].map(|v| dot(v, v).sqrt());
    let is_square = |a: [f64; 3], b: [f64; 3]| dot(a, b).abs() <= SAME * (dot(a, a) * dot(b, b)).sqrt();
    if !(is_square(right, up) && is_square(up, forward) && is_square(forward, right)) {
        return Err(wrong("the camera's transform shears its image".into()));
    }
    if (width / height - 1.0).abs() > SAME {
        return Err(wrong("the camera's transform stretches its image".into()));
    }
    let tangent = half_height(definition, film, context)? * height / depth;
    let scale = (width * height).sqrt();
    let radius = params.float("lensradius", 0.0, context)? * scale;
    let distance = params.number("focaldistance", context)?.or(params.number("focusdistance", context)?);
    for name in ["shutteropen", "shutterclose"] {
        params.get(name);
    }
    for name in params.unused() {
        let message = format!("the parameter `{}` of the camera is not used", shorten(name));
        context.warnings.add(&params.place, message);
    }
    debug_assert!(dot(cross(forward, up), right) >= 0.0, "the world's mirror makes the camera right-handed");
    let of = |v: [f64; 3]| vec3(v[0] as f32, v[1] as f32, v[2] as f32);
    let eye: Vec3 = of(to_world.point([0.0; 3]));
    Ok(Camera {
        eye,
        direction: of(forward),
        up: of(up),
        vertical_fov: (2.0 * tangent.atan()) as f32,
        lens_radius: radius as f32,
        focus_distance: (distance.unwrap_or(1e6) * depth) as f32,
    })
}

/// Tangent of half the vertical angle of view.
///
/// pbrt's angle spans the shorter side of the film, and a screen window replaces the square of which the shorter
/// side is -1 to 1.
fn half_height(
    definition: &CameraDefinition,
    film: Option<[f64; 2]>,
    context: &Context<'_, '_>,
) -> Result<f64> {
    let params = &definition.params;
    let wrong = |message: &str| Err(context.warnings.error(&params.place, message));
    let [x, y] = film.unwrap_or([1280.0, 720.0]);
    let aspect = params.float("frameaspectratio", x / y, context)?;
    if !(aspect > 0.0 && aspect.is_finite()) {
        return wrong("the film's sides must be positive");
    }
    let fov = match params.number("halffov", context)? {
        Some(half) => 2.0 * half,
        None => params.float("fov", 90.0, context)?,
    };
    if !(fov > 0.0 && fov < 180.0) {
        return wrong("`fov` must lie between 0 and 180 degrees");
    }
    let top = match params.numbers("screenwindow", context)? {
        None => (1.0 / aspect).max(1.0),
        Some(&[left, right, bottom, top]) => {
            let centered =
                (left + right).abs() <= SAME * right.abs() && (bottom + top).abs() <= SAME * top.abs();
            if !(centered && right > left && top > bottom) {
                return wrong("a `screenwindow` that is not about the middle is not rendered");
            }
            if (right / top / aspect - 1.0).abs() > 1e-2 {
                return wrong("a `screenwindow` of another shape than the film stretches the image");
            }
            top
        }
        Some(_) => return wrong("`screenwindow` must be four numbers"),
    };
    Ok((0.5 * fov).to_radians().tan() * top)
}
