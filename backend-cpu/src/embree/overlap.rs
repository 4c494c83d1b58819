//! Geometry of coincident triangles: whether two lie on each other, and where.
//!
//! Barycentric coordinates divide a triangle into [`CELLS_PER_EDGE`] by [`CELLS_PER_EDGE`] cells, of which
//! those below the diagonal are inside. A set of cells is a bit mask.

use lockstep_core::geometry::{coordinate_scale, longest_axis, rotate_to};
use lockstep_core::math::max;
use lockstep_core::math::vec3::{Vec3, cross, dot, length};

/// The corners of a triangle.
pub(super) type Corners = [Vec3; 3];

/// Greatest distance between coincident surfaces, as a share of their triangles' largest coordinate.
/// Distances to surfaces are rounded by about as much.
pub(super) const THICKNESS: f32 = 1.0 / 262_144.0;

/// Least overlap of coincident triangles, as a share of their largest coordinate. Neighbours that share an
/// edge overlap less.
const MIN_OVERLAP: f32 = 1.0 / 1_048_576.0;

/// Number of cells along an edge.
const CELLS_PER_EDGE: u32 = 5;

/// The cells inside a triangle, where barycentric coordinates add up to 1 at most.
pub(super) const ALL_CELLS: u32 = {
    let (mut cells, mut i) = (0, 0);
    while i < CELLS_PER_EDGE * CELLS_PER_EDGE {
        if i % CELLS_PER_EDGE + i / CELLS_PER_EDGE < CELLS_PER_EDGE {
            cells |= 1 << i;
        }
        i += 1;
    }
    cells
};

/// Margin by which cells are enlarged, as a share of their size, for the rounding of barycentric coordinates.
const CELL_MARGIN: f32 = 1.0 / 16.0;

/// The bit of the cell that contains a hit.
#[inline(always)]
pub(super) fn cell(u: f32, v: f32) -> u32 {
    let interval = |x: f32, last: u32| ((x * CELLS_PER_EDGE as f32) as u32).min(last);
    let y = interval(v, CELLS_PER_EDGE - 1);
    1 << (y * CELLS_PER_EDGE + interval(u, CELLS_PER_EDGE - 1 - y))
}

/// Whether two triangles lie on one surface and share more than an edge.
pub(super) fn lie_on_each_other(a: &Corners, b: &Corners) -> bool {
    let scale = a.iter().chain(b).fold(0.0, |scale, &p| max(scale, coordinate_scale(p, p)));
    [(a, b), (b, a)].into_iter().any(|(ground, other)| {
        let normal = scaled_normal(ground);
        let area = length(normal);
        let height = |p: &Vec3| dot(normal, *p - ground[0]).abs();
        area > 0.0 && other.iter().all(|p| height(p) <= area * scale * THICKNESS) && {
            let flat = |corners: &Corners| corners.map(|p| project(p, longest_axis(normal)));
            overlap(&flat(ground), &flat(other), scale * MIN_OVERLAP)
        }
    })
}

/// The cells of `ground` on which `other` lies; all cells where `ground` is too narrow for barycentric
/// coordinates.
pub(super) fn cells_under(ground: &Corners, other: &Corners) -> u32 {
    let axis = longest_axis(scaled_normal(ground));
    let [a, b, c] = ground.map(|p| project(p, axis));
    let signed_area =
        |p: [f32; 2], q: [f32; 2]| (p[0] - a[0]) * (q[1] - a[1]) - (p[1] - a[1]) * (q[0] - a[0]);
    let area = signed_area(b, c);
    let barycentric = |p: Vec3| {
        let p = project(p, axis);
        [signed_area(p, c) / area, signed_area(b, p) / area].map(|x| x * CELLS_PER_EDGE as f32)
    };
    let other = other.map(barycentric);
    if !other.as_flattened().iter().all(|x| x.is_finite()) {
        return ALL_CELLS;
    }
    let under = |cell: &u32| {
        let [x, y] = [cell % CELLS_PER_EDGE, cell / CELLS_PER_EDGE].map(|x| x as f32);
        let square = [[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
        overlap(&square, &other, -CELL_MARGIN)
    };
    let cells = (0..CELLS_PER_EDGE * CELLS_PER_EDGE).filter(|cell| ALL_CELLS >> cell & 1 == 1);
    cells.filter(under).fold(0, |cells, cell| cells | 1 << cell)
}

/// A triangle's geometric normal, with a length of twice its area.
pub(super) fn scaled_normal([a, b, c]: &Corners) -> Vec3 {
    cross(*b - *a, *c - *a)
}

/// Projects a point along a coordinate axis.
fn project(p: Vec3, axis: u32) -> [f32; 2] {
    let Vec3 { x, y, .. } = rotate_to(p, axis);
    [x, y]
}

/// Whether two convex polygons overlap by more than a distance (separating axis theorem over their edges).
#[inline(always)]
fn overlap(a: &[[f32; 2]], b: &[[f32; 2]], distance: f32) -> bool {
    let separated = |own: &[[f32; 2]], other: &[[f32; 2]]| {
        (0..own.len()).any(|i| {
            let (p, q) = (own[i], own[(i + 1) % own.len()]);
            let [x, y] = [q[0] - p[0], q[1] - p[1]];
            let side = |s: &[f32; 2]| x * (s[1] - p[1]) - y * (s[0] - p[0]);
            let inward =
                own.iter().map(side).fold(0.0, |most: f32, s| if s.abs() > most.abs() { s } else { most });
            let length = (x * x + y * y).sqrt();
            length > 0.0 && other.iter().all(|s| side(s) * inward.signum() <= distance * length)
        })
    };
    !separated(a, b) && !separated(b, a)
}
