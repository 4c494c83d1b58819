//! Transforms of scene files: 4 by 4 matrices in double precision, for column vectors.

use lockstep_core::math::transform::Affine;

/// Rows of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [[f64; 4]; 4]);

impl Matrix {
    pub(super) const IDENTITY: Self =
        Self([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);

    /// A matrix whose columns are given one after the other, as files do.
    pub(super) fn from_columns(m: &[f64; 16]) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| m[4 * j + i])))
    }

    pub(super) fn translation(v: [f64; 3]) -> Self {
        let mut m = Self::IDENTITY;
        (0..3).for_each(|i| m.0[i][3] = v[i]);
        m
    }

    pub(super) fn scaling(v: [f64; 3]) -> Self {
        let mut m = Self::IDENTITY;
        (0..3).for_each(|i| m.0[i][i] = v[i]);
        m
    }

    /// Counter-clockwise by an angle in degrees, seen against the axis (Rodrigues 1840). `None` for an axis that
    /// is zero.
    pub(super) fn rotation(degrees: f64, axis: [f64; 3]) -> Option<Self> {
        let [x, y, z] = unit(axis)?;
        // Quarter turns have exact sines.
        let turns = (degrees / 360.0).rem_euclid(1.0);
        let (sin, cos) = match turns {
            0.0 => (0.0, 1.0),
            0.25 => (1.0, 0.0),
            0.5 => (0.0, -1.0),
            0.75 => (-1.0, 0.0),
            _ => degrees.to_radians().sin_cos(),
        };
        let c = 1.0 - cos;
        Some(Self([
            [x * x * c + cos, x * y * c - z * sin, x * z * c + y * sin, 0.0],
            [y * x * c + z * sin, y * y * c + cos, y * z * c - x * sin, 0.0],
            [z * x * c - y * sin, z * y * c + x * sin, z * z * c + cos, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ]))
    }

    /// From the world to a camera at `eye` that looks at `target`: x to the right, y up, z forward. `None` where
    /// the directions are zero or parallel.
    pub(super) fn look_at(eye: [f64; 3], target: [f64; 3], up: [f64; 3]) -> Option<Self> {
        let forward = unit(sub(target, eye))?;
        let right = unit(cross(unit(up)?, forward))?;
        let up = cross(forward, right);
        let row = |v: [f64; 3]| [v[0], v[1], v[2], -dot(v, eye)];
        Some(Self([row(right), row(up), row(forward), [0.0, 0.0, 0.0, 1.0]]))
    }

    /// First `inner`, then `self`.
    pub(super) fn then(&self, inner: &Self) -> Self {
        let entry = |i: usize, j: usize| (0..4).map(|k| self.0[i][k] * inner.0[k][j]).sum();
        Self(std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))))
    }

    pub(super) fn is_finite(&self) -> bool {
        self.0.iter().flatten().all(|v| v.is_finite())
    }

    /// Determinant of the linear part: negative for a map that mirrors.
    pub(super) fn determinant(&self) -> f64 {
        let column = |j: usize| [self.0[0][j], self.0[1][j], self.0[2][j]];
        dot(column(0), cross(column(1), column(2)))
    }

    /// The inverse (Gauss and Jordan, with the largest pivot of each column); `None` for a singular matrix.
    pub(super) fn inverse(&self) -> Option<Self> {
        let (mut a, mut out) = (self.0, Self::IDENTITY.0);
        for column in 0..4 {
            let pivot = (column..4).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs()))?;
            a.swap(column, pivot);
            out.swap(column, pivot);
            let factor = 1.0 / a[column][column];
            if !factor.is_finite() {
                return None;
            }
            for j in 0..4 {
                a[column][j] *= factor;
                out[column][j] *= factor;
            }
            for row in (0..4).filter(|&row| row != column) {
                let factor = a[row][column];
                for j in 0..4 {
                    a[row][j] -= factor * a[column][j];
                    out[row][j] -= factor * out[column][j];
                }
            }
        }
        let out = Self(out);
        out.is_finite().then_some(out)
    }

    /// The image of a point.
    pub(super) fn point(&self, p: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| {
            self.0[i][0] * p[0] + self.0[i][1] * p[1] + self.0[i][2] * p[2] + self.0[i][3]
        })
    }

    /// The image of a direction; not normalised.
    pub(super) fn vector(&self, v: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| self.0[i][0] * v[0] + self.0[i][1] * v[1] + self.0[i][2] * v[2])
    }

    /// The affine map, where the last row is that of one and the map can be undone.
    pub(super) fn affine(&self) -> Option<Affine> {
        let map: Affine = std::array::from_fn(|i| self.0[i].map(|v| v as f32));
        let is_affine = self.0[3] == [0.0, 0.0, 0.0, 1.0];
        (is_affine && lockstep_core::math::transform::inverse(&map).is_some()).then_some(map)
    }

    /// The factor on lengths of a map that keeps all angles, to within a thousandth.
    pub(super) fn similarity(&self) -> Option<f64> {
        let column = |j: usize| [self.0[0][j], self.0[1][j], self.0[2][j]];
        let lengths = [0, 1, 2].map(|j| dot(column(j), column(j)).sqrt());
        let scale = lengths.iter().sum::<f64>() / 3.0;
        let equal = lengths.iter().all(|l| (l - scale).abs() <= 5e-4 * scale);
        let square = [(0, 1), (1, 2), (2, 0)]
            .iter()
            .all(|&(i, j)| dot(column(i), column(j)).abs() <= 5e-4 * scale * scale);
        (scale > 0.0 && scale.is_finite() && equal && square).then_some(scale)
    }
}

pub(super) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The direction at unit length; `None` for zero.
pub(super) fn unit(v: [f64; 3]) -> Option<[f64; 3]> {
    let length = dot(v, v).sqrt();
    (length > 0.0 && length.is_finite()).then(|| v.map(|c| c / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: [f64; 3], b: [f64; 3]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} is not {b:?}");
    }

    #[test]
    fn rotations_turn_x_to_y_about_z() {
        let quarter = Matrix::rotation(90.0, [0.0, 0.0, 2.0]).unwrap();
        assert_eq!(quarter.vector([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
        let eighth = Matrix::rotation(45.0, [0.0, 0.0, 1.0]).unwrap();
        near(eighth.then(&eighth).vector([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
        assert!(Matrix::rotation(1.0, [0.0; 3]).is_none());
    }

    #[test]
    fn a_camera_that_looks_along_z_with_y_up_has_x_to_its_right() {
        let m = Matrix::look_at([1.0, 2.0, 3.0], [1.0, 2.0, 9.0], [0.0, 1.0, 0.0]).unwrap();
        near(m.point([1.0, 2.0, 8.0]), [0.0, 0.0, 5.0]);
        near(m.point([2.0, 2.0, 3.0]), [1.0, 0.0, 0.0]);
        assert!(m.determinant() > 0.0);
        assert!(Matrix::look_at([0.0; 3], [0.0; 3], [0.0, 1.0, 0.0]).is_none());
        assert!(Matrix::look_at([0.0; 3], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]).is_none());
    }

    #[test]
    fn an_inverse_undoes_a_map_and_singular_ones_have_none() {
        let m = Matrix::from_columns(&[
            0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0, -3.0, 0.0, 7.0, 8.0, 9.0, 1.0,
        ]);
        near(m.point([1.0, 0.0, 0.0]), [7.0, 10.0, 9.0]);
        near(m.inverse().unwrap().point(m.point([0.3, -4.0, 5.0])), [0.3, -4.0, 5.0]);
        assert!(Matrix::scaling([1.0, 0.0, 1.0]).inverse().is_none());
        assert!(Matrix::scaling([1.0, 0.0, 1.0]).affine().is_none());
    }

    #[test]
    fn similarities_have_one_scale() {
        let turned = Matrix::rotation(33.0, [1.0, 2.0, 3.0]).unwrap();
        let scaled = turned.then(&Matrix::scaling([-2.0, 2.0, 2.0]));
        assert!((scaled.similarity().unwrap() - 2.0).abs() < 1e-12);
        assert!(Matrix::scaling([1.0, 1.1, 1.0]).similarity().is_none());
    }
}
