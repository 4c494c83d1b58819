//! Curves as tubes of triangles.

use super::{Geometry, wrong};
use crate::pbrt::Context;
use crate::pbrt::matrix::{cross, dot, sub, unit};
use crate::pbrt::params::Params;
use lockstep_core::Result;

/// Sides of a tube.
const SIDES: u32 = 6;

/// Rings of a tube for each segment of the curve.
const STEPS: usize = 8;

/// A curve of Bézier or B-spline segments, with its width at both ends.
pub(super) fn curve(params: &Params, context: &mut Context<'_, '_>) -> Result<Geometry> {
    let Some(points) = params.tuples::<3>("P", context)? else {
        return Err(wrong(params, "a curve needs its points `P`", context));
    };
    let points: Vec<[f64; 3]> = points.into_iter().map(|p| p.map(f64::from)).collect();
    let degree = params.float("degree", 3.0, context)?;
    if degree != 2.0 && degree != 3.0 {
        return Err(wrong(params, "a curve's degree is 2 or 3", context));
    }
    let degree = degree as usize;
    let is_spline = match params.string("basis", context)?.unwrap_or("bezier") {
        "bezier" => false,
        "bspline" => true,
        _ => return Err(wrong(params, "a curve's basis is `bezier` or `bspline`", context)),
    };
    let width = params.float("width", 1.0, context)?;
    let ends = [params.float("width0", width, context)?, params.float("width1", width, context)?];
    for name in ["type", "N", "splitdepth"] {
        params.get(name);
    }
    let fits = if is_spline {
        points.len() > degree
    } else {
        points.len() > degree && (points.len() - 1).is_multiple_of(degree)
    };
    if !fits {
        let message = format!("{} points make no curve of degree {degree}", points.len());
        return Err(wrong(params, message, context));
    }
    let message = format!("curves are rendered as tubes of {SIDES} sides");
    context.warnings.add(&params.place, message);
    let segments = if is_spline { points.len() - degree } else { (points.len() - 1) / degree };
    let stride = if is_spline { 1 } else { degree };
    context.check_triangles(segments.saturating_mul(STEPS * 2 * SIDES as usize), &params.place)?;
    let rings = segments * STEPS;
    let at = |i: usize| {
        let segment = (i / STEPS).min(segments - 1);
        let t = (i - segment * STEPS) as f64 / STEPS as f64;
        let weights = if is_spline { spline_weights(degree, t) } else { bezier_weights(degree, t) };
        let mut sum = [0.0; 3];
        for (weight, point) in weights.iter().zip(&points[segment * stride..=segment * stride + degree]) {
            (0..3).for_each(|c| sum[c] += weight * point[c]);
        }
        sum
    };
    let centers: Vec<[f64; 3]> = (0..=rings).map(at).collect();
    Ok(tube(&centers, ends))
}

/// Bernstein's polynomials.
fn bezier_weights(degree: usize, t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    if degree == 2 {
        [s * s, 2.0 * s * t, t * t, 0.0]
    } else {
        [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
    }
}

/// Weights of a uniform B-spline's points.
fn spline_weights(degree: usize, t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    if degree == 2 {
        [0.5 * s * s, 0.5 + t * s, 0.5 * t * t, 0.0]
    } else {
        let middle = |t: f64| (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0;
        [s * s * s / 6.0, middle(t), middle(s), t * t * t / 6.0]
    }
}

/// A tube about a line of centres, whose diameter goes from one width to the other.
fn tube(centers: &[[f64; 3]], ends: [f64; 2]) -> Geometry {
    let mut out = Geometry::default();
    let last = centers.len() - 1;
    let mut side = [0.0; 3];
    for (i, center) in centers.iter().enumerate() {
        let along =
            unit(sub(centers[(i + 1).min(last)], centers[i.saturating_sub(1)])).unwrap_or([0.0, 0.0, 1.0]);
        // The last ring's direction, made orthogonal: a frame that hardly turns about the curve.
        let kept = dot(side, along);
        let carried: [f64; 3] = std::array::from_fn(|c| side[c] - along[c] * kept);
        let any = if along[0].abs() < 0.5 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        side = unit(carried).or(unit(cross(any, along))).unwrap_or(any);
        let other = cross(along, side);
        let t = i as f64 / last as f64;
        let radius = 0.5 * (ends[0] + (ends[1] - ends[0]) * t);
        for k in 0..SIDES {
            let (sin, cos) = (f64::from(k) / f64::from(SIDES) * std::f64::consts::TAU).sin_cos();
            let normal: [f64; 3] = std::array::from_fn(|c| side[c] * cos + other[c] * sin);
            out.positions.push(std::array::from_fn(|c| (center[c] + radius * normal[c]) as f32));
            out.normals.push(normal.map(|v| v as f32));
            out.uv.push([t as f32, k as f32 / SIDES as f32]);
        }
    }
    for i in 0..last as u32 {
        for k in 0..SIDES {
            let (a, b) = (i * SIDES + k, i * SIDES + (k + 1) % SIDES);
            out.triangles.extend([[a, b, b + SIDES], [a, b + SIDES, a + SIDES]]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_all_curves_sum_to_one() {
        for degree in [2, 3] {
            for t in [0.0, 0.3, 1.0] {
                for weights in [bezier_weights(degree, t), spline_weights(degree, t)] {
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
                }
            }
        }
    }

    #[test]
    fn a_tube_faces_outwards_and_has_its_widths() {
        let tube = tube(&[[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0]], [1.0, 0.5]);
        assert!(super::super::tests::fronts_agree(&tube));
        let radius = |v: usize| tube.positions[v][0].hypot(tube.positions[v][1]);
        assert!((radius(0) - 0.5).abs() < 1e-6 && (radius(2 * SIDES as usize) - 0.25).abs() < 1e-6);
    }
}
