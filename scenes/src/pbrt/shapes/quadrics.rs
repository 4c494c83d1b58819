//! Spheres and other surfaces of rotation.

use super::grid::grid;
use super::{Geometry, Solid, wrong};
use crate::pbrt::Context;
use crate::pbrt::params::{Params, shorten};
use lockstep_core::Result;
use std::f64::consts::TAU;

/// Cells around a full turn.
const AROUND: usize = 128;

/// Cells along curved profiles.
const ALONG: usize = 64;

/// A sphere; whole ones stay spheres.
pub(super) fn sphere(params: &Params, context: &mut Context<'_, '_>) -> Result<Solid> {
    let radius = positive(params, "radius", 1.0, context)?;
    let (low, high) = (params.float("zmin", -radius, context)?, params.float("zmax", radius, context)?);
    let turn = turn(params, context)?;
    let (low, high) = (low.min(high).clamp(-radius, radius), low.max(high).clamp(-radius, radius));
    if low == -radius && high == radius && turn == TAU {
        return Ok(Solid::Sphere { radius });
    }
    tessellated("part of a sphere", params, context);
    Ok(Solid::Triangles(part_of_sphere(radius, low, high, turn)))
}

/// A whole sphere as triangles.
pub(in crate::pbrt) fn whole_sphere(radius: f64) -> Geometry {
    part_of_sphere(radius, -radius, radius, TAU)
}

fn part_of_sphere(radius: f64, low: f64, high: f64, turn: f64) -> Geometry {
    let (first, last) = ((low / radius).acos(), (high / radius).acos());
    let columns = around(turn);
    grid(columns, ALONG, |u, v| {
        let (theta, phi) = (first + (last - first) * v, turn * u);
        // The seam and the poles are exact, so that they close.
        let (sin, cos) = (theta.sin_cos(), if u == 1.0 && turn == TAU { (0.0, 1.0) } else { phi.sin_cos() });
        let ring = if (v == 0.0 && low == -radius) || (v == 1.0 && high == radius) { 0.0 } else { sin.0 };
        let normal = [ring * cos.1, ring * cos.0, sin.1];
        (normal.map(|c| c * radius), normal)
    })
}

/// A surface of rotation about z that is no sphere.
pub(super) fn quadric(class: &str, params: &Params, context: &mut Context<'_, '_>) -> Result<Geometry> {
    let turn = turn(params, context)?;
    tessellated(class, params, context);
    let columns = around(turn);
    // A profile of radius and height over v, with the normal's share outwards and upwards.
    let of = |rows: usize, profile: &dyn Fn(f64) -> ([f64; 2], [f64; 2])| {
        grid(columns, rows, |u, v| {
            let (sin, cos) = if u == 1.0 && turn == TAU { (0.0, 1.0) } else { (turn * u).sin_cos() };
            let ([r, z], [out, up]) = profile(v);
            let length = out.hypot(up);
            ([r * cos, r * sin, z], [out * cos / length, out * sin / length, up / length])
        })
    };
    Ok(match class {
        "cylinder" => {
            let radius = positive(params, "radius", 1.0, context)?;
            let (low, high) = (params.float("zmin", -1.0, context)?, params.float("zmax", 1.0, context)?);
            of(1, &|v| ([radius, low.min(high) + (high - low).abs() * v], [1.0, 0.0]))
        }
        "disk" => {
            let radius = positive(params, "radius", 1.0, context)?;
            let (inner, height) =
                (params.float("innerradius", 0.0, context)?, params.float("height", 0.0, context)?);
            of(1, &|v| ([radius + (inner - radius) * v, height], [0.0, 1.0]))
        }
        "cone" => {
            let radius = positive(params, "radius", 1.0, context)?;
            let height = positive(params, "height", 1.0, context)?;
            of(ALONG, &|v| ([radius * (1.0 - v), height * v], [height, radius]))
        }
        "paraboloid" => {
            let radius = positive(params, "radius", 1.0, context)?;
            let (low, high) = (params.float("zmin", 0.0, context)?, params.float("zmax", 1.0, context)?);
            let (low, high) = (low.min(high), low.max(high));
            if high <= 0.0 || low < 0.0 {
                return Err(wrong(params, "a paraboloid lies above z = 0", context));
            }
            // z = zmax (r / radius)^2; the surface's dp/du x dp/dv points outwards and down.
            of(ALONG, &|v| {
                let z = low + (high - low) * v;
                let r = radius * (z / high).sqrt();
                ([r, z], [2.0 * high * r / (radius * radius), -1.0])
            })
        }
        _ => hyperboloid(params, columns, turn, context)?,
    })
}

/// The surface that a segment sweeps about z.
fn hyperboloid(
    params: &Params,
    columns: usize,
    turn: f64,
    context: &mut Context<'_, '_>,
) -> Result<Geometry> {
    let p = params.triple("p1", context)?.unwrap_or([0.0; 3]);
    let q = params.triple("p2", context)?.unwrap_or([1.0; 3]);
    let mut out = grid(columns, ALONG, |u, v| {
        let [x, y, z]: [f64; 3] = std::array::from_fn(|i| p[i] + (q[i] - p[i]) * v);
        let (sin, cos) = if u == 1.0 && turn == TAU { (0.0, 1.0) } else { (turn * u).sin_cos() };
        ([x * cos - y * sin, x * sin + y * cos, z], [0.0; 3])
    });
    out.normals = super::grid::mean_normals(&out);
    Ok(out)
}

fn tessellated(what: &str, params: &Params, context: &mut Context<'_, '_>) {
    let message = format!("{} is rendered as triangles, {AROUND} around a full turn", shorten(what));
    context.warnings.add(&params.place, message);
}

fn around(turn: f64) -> usize {
    ((AROUND as f64 * turn / TAU).ceil() as usize).clamp(1, AROUND)
}

/// The angle of a part in radians.
fn turn(params: &Params, context: &Context<'_, '_>) -> Result<f64> {
    let degrees = params.float("phimax", 360.0, context)?;
    if degrees <= 0.0 {
        return Err(wrong(params, "`phimax` must be positive", context));
    }
    Ok(if degrees >= 360.0 { TAU } else { degrees.to_radians() })
}

fn positive(params: &Params, name: &str, default: f64, context: &Context<'_, '_>) -> Result<f64> {
    let value = params.float(name, default, context)?;
    if value > 0.0 {
        return Ok(value);
    }
    Err(wrong(params, format!("`{name}` must be positive"), context))
}
