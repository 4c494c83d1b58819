//! Affine maps.

use crate::math::vec3::{Vec3, vec3};

/// Rows of an affine map: `out[i] = ((m[i][0] x + m[i][1] y) + m[i][2] z) + m[i][3]`.
pub type Affine = [[f32; 4]; 3];

/// The affine identity.
pub const IDENTITY: Affine = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// The image of a point.
#[inline(always)]
pub fn transform_point(m: &Affine, p: Vec3) -> Vec3 {
    let row = |r: &[f32; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
    vec3(row(&m[0]), row(&m[1]), row(&m[2]))
}

/// The image of a direction; not normalised.
#[inline(always)]
pub fn transform_vector(m: &Affine, v: Vec3) -> Vec3 {
    let row = |r: &[f32; 4]| r[0] * v.x + r[1] * v.y + r[2] * v.z;
    vec3(row(&m[0]), row(&m[1]), row(&m[2]))
}

/// The image of a normal under the map whose *inverse* is given: multiplication by the inverse's transpose.
#[inline(always)]
pub fn transform_normal(inverse: &Affine, n: Vec3) -> Vec3 {
    let column = |i: usize| inverse[0][i] * n.x + inverse[1][i] * n.y + inverse[2][i] * n.z;
    vec3(column(0), column(1), column(2))
}

/// The map that applies `inner` first, then `outer`.
pub fn compose(outer: &Affine, inner: &Affine) -> Affine {
    let mut out = [[0.0; 4]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            let mut sum = if j == 3 { f64::from(outer[i][3]) } else { 0.0 };
            for (k, inner_row) in inner.iter().enumerate() {
                sum += f64::from(outer[i][k]) * f64::from(inner_row[j]);
            }
            *value = sum as f32;
        }
    }
    out
}

/// Determinant of the linear part.
pub(crate) fn determinant(m: &Affine) -> f64 {
    let a = |i: usize, j: usize| f64::from(m[i][j]);
    a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) - a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0))
        + a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0))
}

/// The inverse map, computed in double precision; `None` when the linear part is singular or not finite.
pub fn inverse(m: &Affine) -> Option<Affine> {
    let a = |i: usize, j: usize| f64::from(m[i][j]);
    let det = determinant(m);
    if det == 0.0 || !det.is_finite() || !(1.0 / det).is_finite() {
        return None;
    }
    let mut out = [[0.0f32; 4]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        let mut linear = [0.0f64; 3];
        for (j, value) in linear.iter_mut().enumerate() {
            // Cofactor of element (j, i), taken cyclically so that its sign is right.
            let (r0, r1) = ((j + 1) % 3, (j + 2) % 3);
            let (c0, c1) = ((i + 1) % 3, (i + 2) % 3);
            *value = (a(r0, c0) * a(r1, c1) - a(r0, c1) * a(r1, c0)) / det;
            row[j] = *value as f32;
        }
        row[3] = -(linear[0] * a(0, 3) + linear[1] * a(1, 3) + linear[2] * a(2, 3)) as f32;
    }
    out.iter().flatten().all(|v| v.is_finite()).then_some(out)
}

/// The common factor on lengths when the map is a similarity within 1e-3, else `None`.
pub(crate) fn similarity_scale(m: &Affine) -> Option<f32> {
    let column = |j: usize| vec3(m[0][j], m[1][j], m[2][j]);
    let lengths = [0, 1, 2].map(|j| crate::math::vec3::length(column(j)));
    let scale = (lengths[0] + lengths[1] + lengths[2]) / 3.0;
    let equal = lengths.iter().all(|l| (l - scale).abs() <= 1e-3 * scale);
    let square = [(0, 1), (1, 2), (2, 0)]
        .iter()
        .all(|&(i, j)| crate::math::vec3::dot(column(i), column(j)).abs() <= 1e-3 * scale * scale);
    (scale > 0.0 && equal && square).then_some(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes_a_map() {
        let m: Affine = [[2.0, 0.5, 0.0, 3.0], [-0.5, 1.0, 0.25, -1.0], [0.0, 0.0, -4.0, 7.0]];
        let back = compose(&inverse(&m).unwrap(), &m);
        for (i, row) in back.iter().enumerate() {
            for (j, v) in row.iter().enumerate() {
                assert!((v - f32::from(u8::from(i == j))).abs() < 1e-6, "{back:?}");
            }
        }
    }

    #[test]
    fn singular_maps_have_no_inverse() {
        assert!(inverse(&[[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]).is_none());
        assert!(inverse(&[[f32::NAN; 4]; 3]).is_none());
    }

    #[test]
    fn similarities_are_recognised() {
        assert_eq!(
            similarity_scale(&[[0.0, -2.0, 0.0, 1.0], [2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 5.0]]),
            Some(2.0)
        );
        assert_eq!(
            similarity_scale(&[[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
            None
        );
        assert_eq!(
            similarity_scale(&[[1.0, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
            None
        );
    }
}
