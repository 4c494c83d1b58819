//! Affine maps in double precision, as `transform` elements build them up.

use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::Affine;

/// Rows of an affine map: the upper three of a homogeneous matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [[f64; 4]; 3]);

impl Matrix {
    pub(super) const IDENTITY: Self =
        Self([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);

    pub(super) fn translate(v: [f64; 3]) -> Self {
        Self(std::array::from_fn(|i| {
            let mut row = Self::IDENTITY.0[i];
            row[3] = v[i];
            row
        }))
    }

    pub(super) fn scale(v: [f64; 3]) -> Self {
        Self(std::array::from_fn(|i| Self::IDENTITY.0[i].map(|entry| entry * v[i])))
    }

    /// A turn about an axis by degrees, counter-clockwise seen against it; `None` for an axis of no length.
    pub(super) fn rotate(axis: [f64; 3], degrees: f64) -> Option<Self> {
        let axis = normalize(axis)?;
        // Quarter turns are exact.
        let (sin, cos) = match degrees.rem_euclid(360.0) {
            0.0 => (0.0, 1.0),
            90.0 => (1.0, 0.0),
            180.0 => (0.0, -1.0),
            270.0 => (-1.0, 0.0),
            _ => degrees.to_radians().sin_cos(),
        };
        let [x, y, z] = axis;
        let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
        Some(Self(std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                if j == 3 {
                    return 0.0;
                }
                let identity = if i == j { cos } else { 0.0 };
                identity + sin * cross[i][j] + (1.0 - cos) * axis[i] * axis[j]
            })
        })))
    }

    /// The frame of a camera that looks along +z, with x to its left and y up; `None` where it is undefined.
    pub(super) fn look_at(origin: [f64; 3], target: [f64; 3], up: [f64; 3]) -> Option<Self> {
        let ahead = normalize(std::array::from_fn(|i| target[i] - origin[i]))?;
        let left = normalize(cross(up, ahead))?;
        let up = cross(ahead, left);
        Some(Self(std::array::from_fn(|i| [left[i], up[i], ahead[i], origin[i]])))
    }

    /// Product with another map, which is applied first.
    pub(super) fn after(&self, inner: &Self) -> Self {
        let (a, b) = (&self.0, &inner.0);
        Self(std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let moved = if j == 3 { a[i][3] } else { 0.0 };
                a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j] + moved
            })
        }))
    }

    pub(super) fn point(&self, p: [f64; 3]) -> [f64; 3] {
        self.0.map(|r| r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3])
    }

    pub(super) fn vector(&self, v: [f64; 3]) -> [f64; 3] {
        self.0.map(|r| r[0] * v[0] + r[1] * v[1] + r[2] * v[2])
    }

    /// A column of the linear part, or the translation.
    pub(super) fn column(&self, index: usize) -> [f64; 3] {
        self.0.map(|row| row[index])
    }

    pub(super) fn determinant(&self) -> f64 {
        dot(cross(self.column(0), self.column(1)), self.column(2))
    }

    /// The linear map of normals, the cofactors: the inverse transpose times the determinant.
    pub(super) fn cofactors(&self) -> Self {
        let [x, y, z] = [0, 1, 2].map(|i| self.column(i));
        let columns = [cross(y, z), cross(z, x), cross(x, y)];
        Self(std::array::from_fn(|i| [columns[0][i], columns[1][i], columns[2][i], 0.0]))
    }

    /// The inverse of the linear part; `None` where it is singular.
    pub(super) fn inverse_linear(&self) -> Option<Self> {
        let determinant = self.determinant();
        let c = self.cofactors().0;
        (determinant != 0.0 && determinant.is_finite())
            .then(|| Self(std::array::from_fn(|i| [c[0][i], c[1][i], c[2][i], 0.0].map(|v| v / determinant))))
    }

    /// The factor on lengths of a map that keeps angles; `None` for others.
    pub(super) fn similarity(&self) -> Option<f64> {
        let columns = [0, 1, 2].map(|i| self.column(i));
        let squares = columns.map(|c| dot(c, c));
        let largest = squares[0].max(squares[1]).max(squares[2]);
        let equal = squares.iter().all(|s| (s - largest).abs() <= 1e-5 * largest);
        let square = |i: usize, j: usize| dot(columns[i], columns[j]).abs() <= 1e-5 * largest;
        (largest > 0.0 && equal && square(0, 1) && square(1, 2) && square(2, 0)).then(|| largest.sqrt())
    }

    pub(super) fn is_finite(&self) -> bool {
        self.0.iter().flatten().all(|v| (*v as f32).is_finite())
    }

    pub(super) fn affine(&self) -> Affine {
        self.0.map(|row| row.map(|v| v as f32))
    }
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The vector at unit length; `None` for one without a direction.
pub(super) fn normalize(v: [f64; 3]) -> Option<[f64; 3]> {
    let length = dot(v, v).sqrt();
    (length > 0.0 && length.is_finite()).then(|| v.map(|x| x / length))
}

/// In single precision.
pub(super) fn single(v: [f64; 3]) -> Vec3 {
    vec3(v[0] as f32, v[1] as f32, v[2] as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_applied_in_order() {
        let moved = Matrix::translate([1.0, 0.0, 0.0]);
        let turned = Matrix::rotate([0.0, 0.0, 2.0], 90.0).unwrap();
        assert_eq!(turned.after(&moved).point([1.0, 0.0, 0.0]), [0.0, 2.0, 0.0]);
        assert_eq!(moved.after(&turned).point([1.0, 0.0, 0.0]), [1.0, 1.0, 0.0]);
        assert!(Matrix::rotate([0.0; 3], 1.0).is_none());
        let third = Matrix::rotate([1.0, 1.0, 1.0], 120.0).unwrap().point([1.0, 0.0, 0.0]);
        assert!((third[1] - 1.0).abs() < 1e-12, "{third:?}");
    }

    #[test]
    fn a_camera_has_its_left_on_x_and_keeps_handedness() {
        let m = Matrix::look_at([0.0, 0.0, 5.0], [0.0; 3], [0.0, 1.0, 0.0]).unwrap();
        assert_eq!((m.column(0), m.column(2)), ([-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]));
        assert!((m.determinant() - 1.0).abs() < 1e-12);
        assert!(Matrix::look_at([0.0; 3], [0.0; 3], [0.0, 1.0, 0.0]).is_none());
        assert!(Matrix::look_at([0.0; 3], [0.0, 3.0, 0.0], [0.0, 1.0, 0.0]).is_none());
    }

    #[test]
    fn similarities_inverses_and_normals_are_found() {
        let m = Matrix::rotate([1.0, 2.0, 3.0], 40.0).unwrap().after(&Matrix::scale([-2.0; 3]));
        assert!((m.similarity().unwrap() - 2.0).abs() < 1e-9);
        let stretched = Matrix::scale([1.0, 2.0, 3.0]);
        assert!(stretched.similarity().is_none() && Matrix::scale([0.0; 3]).inverse_linear().is_none());
        let round = stretched.inverse_linear().unwrap().after(&stretched);
        assert_eq!(round, Matrix::IDENTITY);
        // A plane's normal stays orthogonal to it.
        let normal = stretched.cofactors().vector([1.0, 1.0, 0.0]);
        assert_eq!(dot(normal, stretched.vector([1.0, -1.0, 0.0])), 0.0);
    }
}
