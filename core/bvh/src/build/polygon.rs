//! Clipping of triangles to boxes, in double precision.

use lockstep_core::math::vec3::Vec3;

/// A point in double precision.
pub(crate) type Point = [f64; 3];

/// A point in double precision.
pub(crate) fn point(p: Vec3) -> Point {
    p.to_array().map(f64::from)
}

/// A convex polygon: a triangle, and at most one more corner for each of six clip planes.
#[derive(Clone, Copy)]
pub(crate) struct Polygon {
    corners: [Point; 9],
    count: usize,
}

impl Polygon {
    pub(crate) fn of(triangle: &[Point; 3]) -> Self {
        let mut corners = [[0.0; 3]; 9];
        corners[..3].copy_from_slice(triangle);
        Self { corners, count: 3 }
    }

    fn all(&self) -> &[Point] {
        &self.corners[..self.count]
    }

    fn push(&mut self, corner: Point) {
        // A convex polygon has room; rounding may bend one so that it would gain a corner too many, on the
        // plane.
        if self.count < self.corners.len() {
            self.corners[self.count] = corner;
            self.count += 1;
        }
    }

    /// True when its bounding box and `bounds` overlap.
    pub(crate) fn overlaps(&self, [lo, hi]: &[Point; 2]) -> bool {
        (0..3).all(|k| self.all().iter().any(|p| p[k] >= lo[k]) && self.all().iter().any(|p| p[k] <= hi[k]))
    }

    /// Clips the polygon to a box (Sutherland and Hodgman 1974).
    pub(crate) fn clipped(&self, [lo, hi]: &[Point; 2]) -> Self {
        let mut rest = *self;
        for k in 0..3 {
            if rest.all().iter().any(|p| p[k] < lo[k]) {
                rest = rest.clipped_to_side(k, lo[k], 1.0);
            }
            if rest.all().iter().any(|p| p[k] > hi[k]) {
                rest = rest.clipped_to_side(k, hi[k], -1.0);
            }
        }
        rest
    }

    /// Clips the polygon to one side of a plane across axis `k`: above for `side` 1, below for -1.
    fn clipped_to_side(&self, k: usize, plane: f64, side: f64) -> Self {
        let mut kept = Self { corners: [[0.0; 3]; 9], count: 0 };
        let all = self.all();
        for (i, p) in all.iter().enumerate() {
            let q = &all[(i + 1) % all.len()];
            let [at_p, at_q] = [p, q].map(|corner| side * (corner[k] - plane));
            if at_p >= 0.0 {
                kept.push(*p);
            }
            if (at_p < 0.0) != (at_q < 0.0) {
                let share = at_p / (at_p - at_q);
                let mut crossing = [0, 1, 2].map(|axis| p[axis] + share * (q[axis] - p[axis]));
                crossing[k] = plane;
                kept.push(crossing);
            }
        }
        kept
    }

    pub(crate) fn area(&self) -> f64 {
        let Some((first, rest)) = self.all().split_first() else { return 0.0 };
        let from_first = |p: &Point| [p[0] - first[0], p[1] - first[1], p[2] - first[2]];
        let mut twice = [0.0; 3];
        for pair in rest.windows(2) {
            let [a, b] = [from_first(&pair[0]), from_first(&pair[1])];
            twice[0] += a[1] * b[2] - a[2] * b[1];
            twice[1] += a[2] * b[0] - a[0] * b[2];
            twice[2] += a[0] * b[1] - a[1] * b[0];
        }
        0.5 * (twice[0] * twice[0] + twice[1] * twice[1] + twice[2] * twice[2]).sqrt()
    }
}
