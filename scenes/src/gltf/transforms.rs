//! Affine maps, rotations and their interpolation, in double precision.
//!
//! Only `+ - * / sqrt`: positions are part of a scene's hash, which is the same on every machine.

use lockstep_core::scene::Affine;

/// An affine map in double precision, so that deep graphs do not drift.
pub(super) type Map = [[f64; 4]; 3];

/// The identity.
pub(super) const IDENTITY: Map = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// The map in single precision.
pub(super) fn to_affine(map: &Map) -> Affine {
    map.map(|row| row.map(|v| v as f32))
}

/// The map that applies `inner` first.
pub(super) fn compose(outer: &Map, inner: &Map) -> Map {
    let mut out = [[0.0; 4]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            let translation = if j == 3 { outer[i][3] } else { 0.0 };
            *value = outer[i][0] * inner[0][j]
                + outer[i][1] * inner[1][j]
                + outer[i][2] * inner[2][j]
                + translation;
        }
    }
    out
}

/// Scale, then rotation by a unit quaternion, then translation.
pub(super) fn from_parts(translation: [f64; 3], rotation: [f64; 4], scale: [f64; 3]) -> Map {
    let ([tx, ty, tz], [x, y, z, w], [sx, sy, sz]) = (translation, rotation, scale);
    [
        [(1.0 - 2.0 * (y * y + z * z)) * sx, 2.0 * (x * y - z * w) * sy, 2.0 * (x * z + y * w) * sz, tx],
        [2.0 * (x * y + z * w) * sx, (1.0 - 2.0 * (x * x + z * z)) * sy, 2.0 * (y * z - x * w) * sz, ty],
        [2.0 * (x * z - y * w) * sx, 2.0 * (y * z + x * w) * sy, (1.0 - 2.0 * (x * x + y * y)) * sz, tz],
    ]
}

/// A point under a map.
pub(super) fn apply(map: &Map, [x, y, z]: [f64; 3]) -> [f64; 3] {
    map.map(|[a, b, c, t]| a * x + b * y + c * z + t)
}

/// A direction along a surface under a map.
pub(super) fn apply_to_vector(map: &Map, [x, y, z]: [f64; 3]) -> [f64; 3] {
    map.map(|[a, b, c, _]| a * x + b * y + c * z)
}

/// A normal under a map, of any length: by the map's cofactors, with the sign of its determinant.
pub(super) fn apply_to_normal(map: &Map, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let [[a, b, c, _], [d, e, f, _], [g, h, i, _]] = *map;
    let rows = [
        [e * i - f * h, f * g - d * i, d * h - e * g],
        [c * h - b * i, a * i - c * g, b * g - a * h],
        [b * f - c * e, c * d - a * f, a * e - b * d],
    ];
    let determinant = a * rows[0][0] + b * rows[0][1] + c * rows[0][2];
    let sign = if determinant < 0.0 { -1.0 } else { 1.0 };
    rows.map(|[p, q, r]| sign * (p * x + q * y + r * z))
}

/// A quaternion of unit length; nothing for zero.
pub(super) fn unit(q: [f64; 4]) -> Option<[f64; 4]> {
    let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    (length >= 1e-6 && length.is_finite()).then(|| q.map(|v| v / length))
}

/// Spherical linear interpolation of unit quaternions along the shorter arc (Shoemake 1985).
///
/// The middle of an arc is the normalised mean of its ends, without any sine: the arc is halved towards `t` until no
/// sine differs from its angle in double precision.
pub(super) fn slerp(from: [f64; 4], to: [f64; 4], t: f64) -> [f64; 4] {
    if t <= 0.0 {
        return from;
    }
    let dot = |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mean = |a: &[f64; 4], b: &[f64; 4], t: f64| -> [f64; 4] {
        std::array::from_fn(|i| a[i] * (1.0 - t) + b[i] * t)
    };
    let (mut low, mut high) = (from, if dot(&from, &to) < 0.0 { to.map(|v| -v) } else { to });
    let mut t = t.min(1.0);
    for _ in 0..HALVINGS {
        let Some(middle) = unit(mean(&low, &high, 0.5)) else { break };
        if t < 0.5 {
            (high, t) = (middle, 2.0 * t);
        } else {
            (low, t) = (middle, 2.0 * t - 1.0);
        }
    }
    unit(mean(&low, &high, t)).unwrap_or(low)
}

/// Halvings after which a quarter turn is an arc of 1e-8, whose chord is its arc in double precision.
const HALVINGS: u32 = 27;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_between_two_turn_evenly() {
        // By 0 and 150 degrees about z.
        let turn = |degrees: f64| {
            let half = degrees.to_radians() / 2.0;
            [0.0, 0.0, half.sin(), half.cos()]
        };
        for t in [0.0, 0.1, 1.0 / 3.0, 0.5, 0.9, 1.0] {
            for sign in [1.0, -1.0] {
                let found = slerp(turn(0.0), turn(150.0).map(|v| v * sign), t);
                let expected = turn(150.0 * t);
                let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(close, "{t}: {found:?}, not {expected:?}");
            }
        }
        assert_eq!(slerp(turn(40.0), turn(90.0), 0.0), turn(40.0));
    }

    #[test]
    fn normals_stay_perpendicular_under_uneven_and_mirroring_maps() {
        for map in [
            [[2.0, 0.5, 0.0, 9.0], [0.0, 1.0, 0.3, 9.0], [0.1, 0.0, 4.0, 9.0]],
            [[-2.0, 0.5, 0.0, 9.0], [0.0, 1.0, 0.3, 9.0], [0.1, 0.0, 4.0, 9.0]],
        ] {
            let (u, v, normal) = ([1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [-2.0, 1.0, 1.0]);
            let turned = apply_to_normal(&map, normal);
            for along in [u, v] {
                let moved = apply_to_vector(&map, along);
                let dot: f64 = moved.iter().zip(turned).map(|(a, b)| a * b).sum();
                assert!(dot.abs() < 1e-12, "{dot}");
            }
            let ahead = apply_to_vector(&map, normal);
            assert!(ahead.iter().zip(turned).map(|(a, b)| a * b).sum::<f64>() > 0.0, "on the same side");
        }
    }
}
