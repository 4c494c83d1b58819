//! A triangle of the base surface, and how far its displaced points are from the triangle of its displaced corners.

use super::map::Map;
use super::tolerance::Tolerance;
use super::vector::{Norm, V3, add, dot, length, middle, sub, times, unit};

/// The axes of a map's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axes {
    /// One number along the surface's normal.
    Normal,
    /// Tangent, bitangent and normal.
    Tangent,
    /// The axes of the mesh.
    Object,
}

/// A point of the base surface. Everything is linear over a triangle of the file; directions have lengths of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) position: V3,
    pub(super) normal: V3,
    pub(super) uv: [f64; 2],
    pub(super) tangent: V3,
    pub(super) bitangent: V3,
}

impl Point {
    /// The point halfway.
    pub(super) fn middle(a: &Self, b: &Self) -> Self {
        Self {
            position: middle(a.position, b.position),
            normal: middle(a.normal, b.normal),
            uv: [0.5 * (a.uv[0] + b.uv[0]), 0.5 * (a.uv[1] + b.uv[1])],
            tangent: middle(a.tangent, b.tangent),
            bitangent: middle(a.bitangent, b.bitangent),
        }
    }
}

/// A map with its axes and the bound that it must keep.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) map: &'a Map,
    pub(super) axes: Axes,
    pub(super) tolerance: &'a Tolerance,
}

impl Field<'_> {
    /// Displacement of a point.
    pub(super) fn offset(&self, point: &Point) -> V3 {
        self.along_axes(point, self.map.at(point.uv))
    }

    fn along_axes(&self, point: &Point, d: V3) -> V3 {
        match self.axes {
            Axes::Normal => times(unit(point.normal), d[0]),
            Axes::Object => d,
            Axes::Tangent => {
                let across = add(times(unit(point.tangent), d[0]), times(unit(point.bitangent), d[1]));
                add(across, times(unit(point.normal), d[2]))
            }
        }
    }

    /// Whether displaced points of a triangle may be further from the triangle of its displaced corners than they may
    /// be.
    pub(super) fn exceeds(&self, corners: &[Point; 3]) -> bool {
        let d = corners.map(|corner| self.map.at(corner.uv));
        let displaced: [V3; 3] =
            std::array::from_fn(|i| add(corners[i].position, self.along_axes(&corners[i], d[i])));
        let allowed = self.tolerance.of(&displaced);
        let turning = match self.axes {
            Axes::Object => 0.0,
            Axes::Normal => turning(corners.map(|c| c.normal), d.map(|d| d[0])),
            Axes::Tangent => {
                turning(corners.map(|c| c.tangent), d.map(|d| d[0]))
                    + turning(corners.map(|c| c.bitangent), d.map(|d| d[1]))
                    + turning(corners.map(|c| c.normal), d.map(|d| d[2]))
            }
        };
        if turning > allowed {
            return true;
        }
        let norm = if self.axes == Axes::Tangent { Norm::Sum } else { Norm::Euclidean };
        let left = allowed - turning;
        self.map.distance(corners.map(|c| c.uv), norm, left) > left
    }
}

/// Upper bound of `|sum of b c (n - n_i)|` over barycentrics `b`: the error of displacing by the mean of the corners'
/// vectors `c_i n_i` in place of the mean of `c_i` along `n`, where `n` is the unit vector of the mean of `directions`
/// and `n_i` are those of the corners.
///
/// With `m` the mean of the `n_i`, it is `c (n - m)` plus the sum over pairs of `b_i b_j (c_i - c_j) (n_j - n_i)`. The
/// products of pairs sum to at most a third. The second derivative of the unit vector of `v` is at most `2 / sqrt(3)`
/// over the square of its length, so that `n - m` is at most a sixth of that times the square of the longest side.
fn turning(directions: [V3; 3], c: [f64; 3]) -> f64 {
    let pairs = [(0, 1), (1, 2), (2, 0)];
    let longest = pairs.iter().map(|&(i, j)| length(sub(directions[i], directions[j]))).fold(0.0, f64::max);
    if longest == 0.0 {
        return 0.0;
    }
    let units = directions.map(unit);
    let apart = pairs.iter().map(|&(i, j)| length(sub(units[i], units[j]))).fold(0.0, f64::max);
    let steepest = pairs.iter().map(|&(i, j)| (c[i] - c[j]).abs()).fold(0.0, f64::max);
    let largest = c.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    let shortest = directions.iter().map(|&v| length(v)).fold(f64::INFINITY, f64::min) - longest;
    let bend = if shortest > 0.0 { 1.16 / 6.0 * (longest / shortest) * (longest / shortest) } else { 2.0 };
    largest * bend.min(2.0) + steepest * apart / 3.0
}

/// Halves of a triangle whose longest side is cut in the middle.
pub(super) fn halves(corners: &[Point; 3]) -> [[Point; 3]; 2] {
    let k = longest_side(&corners.map(|corner| corner.position));
    let [i, j, o] = [k, (k + 1) % 3, (k + 2) % 3].map(|k| corners[k]);
    let m = Point::middle(&i, &j);
    [[i, m, o], [m, j, o]]
}

/// Number of the longest side, from its corner to the next.
fn longest_side(positions: &[V3; 3]) -> usize {
    let square = |k: usize| {
        let side = sub(positions[k], positions[(k + 1) % 3]);
        dot(side, side)
    };
    (1..3).fold(0, |best, k| if square(k) > square(best) { k } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn direction() -> impl Strategy<Value = V3> {
        prop::array::uniform3(-1f64..1.0).prop_filter("some length", |v| length(*v) > 0.3)
    }

    proptest! {
        #[test]
        fn no_direction_turns_further_than_its_bound(
            base in direction(),
            turns in prop::array::uniform3(prop::array::uniform3(-0.2f64..0.2)),
            c in prop::array::uniform3(-2f64..2.0),
            b in prop::array::uniform2(0f64..1.0),
        ) {
            let directions = turns.map(|turn| add(base, turn));
            let b = if b[0] + b[1] > 1.0 { [1.0 - b[0], 1.0 - b[1]] } else { b };
            let b = [1.0 - b[0] - b[1], b[0], b[1]];
            let mean = |v: [V3; 3]| add(add(times(v[0], b[0]), times(v[1], b[1])), times(v[2], b[2]));
            let n = unit(mean(directions));
            let found = mean(std::array::from_fn(|i| times(sub(n, unit(directions[i])), c[i])));
            let bound = turning(directions, c);
            prop_assert!(length(found) <= bound + 1e-12, "{} above {bound}", length(found));
        }
    }
}
