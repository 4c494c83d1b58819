//! Cameras, and what a file asks of film, sampler and integrator.

use super::document::Document;
use super::matrix::{Matrix, normalize, single};
use super::object::{Class, Object, shorten};
use crate::warning::Warnings;
use lockstep_core::math::vec3::{Vec3, length, vec3};
use lockstep_core::scene::Camera;
use lockstep_core::{Error, Result};

/// Film where a file names no size.
const WIDTH: f64 = 768.0;
const HEIGHT: f64 = 576.0;

/// The diagonal of a film of 35 mm, in mm.
const DIAGONAL_MM: f64 = 43.266_615_305_567_875;

/// All cameras of the scene, with their identifiers. `bounds` are those of its geometry.
pub(super) fn cameras(
    document: &Document,
    bounds: Option<[Vec3; 2]>,
    warnings: &mut Warnings,
) -> Result<Vec<(String, Camera)>> {
    let root = &document.objects[document.root];
    let mut out = Vec::new();
    for (_, index) in document.children(root, Class::Sensor, warnings)? {
        let object = &document.objects[index];
        match object.plugin.as_str() {
            "perspective" | "thinlens" => {
                let camera = camera(document, object, bounds, warnings)?;
                match camera.validate(warnings.path()) {
                    Ok(()) => out.push((object.id.clone(), camera)),
                    Err(Error::Scene { message, .. }) => return Err(object.error(warnings, message)),
                    Err(other) => return Err(other),
                }
            }
            other => {
                object.skip_all();
                let message = format!(
                    "cameras of the type `{}` are not supported; this one is left out",
                    shorten(other)
                );
                warnings.add(object.place(), message);
            }
        }
        object.warn_of_unread(warnings);
    }
    Ok(out)
}

fn camera(
    document: &Document,
    object: &Object,
    bounds: Option<[Vec3; 2]>,
    warnings: &mut Warnings,
) -> Result<Camera> {
    let to_world = object.transform("to_world", warnings)?.unwrap_or(Matrix::IDENTITY);
    let vector = |column| normalize(to_world.column(column)).map_or(Vec3::ZERO, single);
    if to_world.determinant() < 0.0 {
        warnings.add(object.place(), "the camera's transform mirrors the image; it is shown unmirrored");
    }
    for name in ["principal_point_offset_x", "principal_point_offset_y"] {
        if object.number(&[name], warnings)?.is_some_and(|offset| offset != 0.0) {
            warnings.add(
                object.place(),
                format!("`{name}` is left out: the camera looks through the middle of the film"),
            );
        }
    }
    // The shutter changes nothing in a still image, and the far limit is beyond all scenes.
    object.skip(&["far_clip", "shutter_open", "shutter_close"]);
    let near_clip = object.number(&["near_clip"], warnings)?.unwrap_or(0.0) as f32;
    let eye = single(to_world.column(3));
    if bounds.is_some_and(|bounds| distance(eye, bounds) < near_clip) {
        warnings.add(object.place(), "`near_clip` is left out: what is closer to the camera is seen");
    }
    let film = Film::of(document, object, warnings)?;
    let is_lens = object.plugin == "thinlens";
    let lens_radius = match object.number(&["aperture_radius"], warnings)? {
        Some(radius) if is_lens => radius as f32,
        None if is_lens => return Err(object.error(warnings, "a thin lens needs `aperture_radius`")),
        _ => 0.0,
    };
    let focus_distance =
        object.number(&["focus_distance"], warnings)?.map_or(1.0, |distance| distance as f32);
    Ok(Camera {
        eye,
        direction: vector(2),
        up: vector(1),
        vertical_fov: vertical_fov(object, film.aspect(), warnings)? as f32,
        lens_radius,
        focus_distance: if is_lens { focus_distance } else { 1.0 },
    })
}

/// The distance of a point to a box.
fn distance(point: Vec3, [low, high]: [Vec3; 2]) -> f32 {
    let outside = |p: f32, low: f32, high: f32| (low - p).max(p - high).max(0.0);
    length(vec3(
        outside(point.x, low.x, high.x),
        outside(point.y, low.y, high.y),
        outside(point.z, low.z, high.z),
    ))
}

/// The vertical field of view in radians for a film of this width over its height.
fn vertical_fov(object: &Object, aspect: f64, warnings: &Warnings) -> Result<f64> {
    let fov = object.number(&["fov"], warnings)?;
    let (tangent, axis) = match fov {
        Some(degrees) if 0.0 < degrees && degrees < 180.0 => {
            ((degrees.to_radians() * 0.5).tan(), object.text(&["fov_axis"], warnings)?.unwrap_or("x"))
        }
        Some(_) => return Err(object.error(warnings, "the field of view must lie between 0 and 180 degrees")),
        None => {
            let text = object.text(&["focal_length"], warnings)?.unwrap_or("50mm");
            let length = super::values::number(text.trim_end_matches("mm"))
                .map_err(|message| object.error(warnings, message))?;
            if length <= 0.0 {
                return Err(object.error(warnings, "the focal length must be positive"));
            }
            (DIAGONAL_MM / (2.0 * length), "diagonal")
        }
    };
    let vertical = match axis {
        "y" => tangent,
        "x" => tangent / aspect,
        "smaller" => tangent / aspect.min(1.0),
        "larger" => tangent / aspect.max(1.0),
        "diagonal" => tangent / (1.0 + aspect * aspect).sqrt(),
        other => {
            let message =
                format!("`fov_axis` is x, y, diagonal, smaller or larger, not `{}`", shorten(other));
            return Err(object.error(warnings, message));
        }
    };
    Ok(2.0 * vertical.atan())
}

/// Requests of a camera's film and sampler.
struct Film {
    width: f64,
    height: f64,
}

impl Film {
    fn aspect(&self) -> f64 {
        self.width / self.height
    }

    fn of(document: &Document, sensor: &Object, warnings: &mut Warnings) -> Result<Self> {
        let first = |class, warnings: &Warnings| -> Result<Option<&Object>> {
            Ok(document
                .children(sensor, class, warnings)?
                .first()
                .map(|(_, index)| &document.objects[*index]))
        };
        let mut out = Self { width: WIDTH, height: HEIGHT };
        let mut filter = None;
        if let Some(film) = first(Class::Film, warnings)? {
            let size =
                |name, default: f64| Ok::<_, Error>(film.number(&[name], warnings)?.unwrap_or(default));
            (out.width, out.height) = (size("width", WIDTH)?, size("height", HEIGHT)?);
            if !(out.width >= 1.0 && out.height >= 1.0) {
                return Err(film.error(warnings, "a film has at least one pixel"));
            }
            if ["crop_width", "crop_height"].into_iter().any(|name| film.property(&[name]).is_some()) {
                warnings.add(film.place(), "the crop of the film is left out");
            }
            let filters = document.children(film, Class::Filter, warnings)?;
            filter = filters.first().map(|(_, index)| document.objects[*index].plugin.clone());
            film.skip_all();
        }
        let sampler = first(Class::Sampler, warnings)?;
        let spp = match sampler {
            Some(sampler) => sampler.number(&["sample_count"], warnings)?,
            None => None,
        };
        let (width, height) = (out.width, out.height);
        let mut wish = format!("the file asks for {width} by {height} pixels");
        let mut options = format!("--size {width}x{height}");
        if let Some(spp) = spp {
            wish.push_str(&format!(", {spp} samples per pixel"));
            options.push_str(&format!(" --spp {spp}"));
        }
        if let Some(bounces) = bounces(document, warnings)? {
            wish.push_str(&format!(", {bounces} bounces"));
            options.push_str(&format!(" --bounces {bounces}"));
        }
        wish.push_str(&format!("; `{options}` renders that"));
        if let Some(filter) = filter.filter(|filter| filter != "box") {
            wish.push_str(&format!(", with a box filter in place of `{}`", shorten(&filter)));
        }
        warnings.add(sensor.place(), wish);
        Ok(out)
    }
}

/// The bounces of the integrator; `None` where there is no limit. Mitsuba's depth counts the vertex at the camera.
fn bounces(document: &Document, warnings: &mut Warnings) -> Result<Option<u32>> {
    let root = &document.objects[document.root];
    let integrators = document.children(root, Class::Integrator, warnings)?;
    let Some(object) = integrators.first().map(|(_, index)| &document.objects[*index]) else {
        return Ok(None);
    };
    if object.boolean("hide_emitters", warnings)? == Some(true) {
        warnings.add(object.place(), "emitters are seen by the camera: `hide_emitters` is left out");
    }
    let depth = object.number(&["max_depth"], warnings)?;
    object.skip_all();
    if object.plugin == "direct" {
        return Ok(Some(1));
    }
    Ok(depth.filter(|depth| *depth >= 1.0).map(|depth| depth as u32 - 1))
}
