//! Finds coincident surfaces, where the hit depends on the intersector's rounding.

use lockstep_core::Scene;
use std::collections::{HashMap, HashSet};

/// Surfaces nearer than this share of the scene's longest side count as one, and overlaps narrower than it as
/// edges that touch. It is some fifty times the rounding of coordinates.
const APART: f64 = 3e-6;
/// Cells of the grid along the scene's longest side.
const CELLS: f64 = 64.0;

type Point = [f64; 3];
type Corners = [Point; 3];

/// Pairs of coplanar, overlapping triangles, in scenes whose instances are all untransformed.
pub(crate) fn overlapping(scene: &Scene) -> Vec<[usize; 2]> {
    let corners =
        |t: &lockstep_core::scene::Triangle| t.vertices.map(|v| scene.positions[v as usize].map(f64::from));
    let triangles: Vec<Corners> = scene.triangles.iter().map(corners).collect();
    let [low, high] = scene.bounds.map(|p| p.to_array().map(f64::from));
    let side = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    let (apart, cell_side) = (APART * side, side / CELLS);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    let boxes: Vec<[Point; 2]> = triangles.iter().map(|triangle| bounds(triangle, apart)).collect();
    for (index, ends) in boxes.iter().enumerate() {
        let [low, high] = ends.map(|p| p.map(|c| (c / cell_side).floor() as i64));
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    cells.entry([x, y, z]).or_default().push(index);
                }
            }
        }
    }
    let mut found = HashSet::new();
    for cell in cells.values() {
        for (i, &a) in cell.iter().enumerate() {
            let near = cell[i + 1..].iter().filter(|&&b| meet(&boxes[a], &boxes[b]));
            let others = near.filter(|&&b| overlap(&triangles[a], &triangles[b], apart));
            found.extend(others.map(|&b| [a.min(b), a.max(b)]));
        }
    }
    let mut found: Vec<[usize; 2]> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// Lower and upper corner of the box, widened by a tolerance.
fn bounds(triangle: &Corners, apart: f64) -> [Point; 2] {
    let of = |pick: fn(f64, f64) -> f64, k: usize| triangle.iter().map(|p| p[k]).reduce(pick).unwrap_or(0.0);
    [[0, 1, 2].map(|k| of(f64::min, k) - apart), [0, 1, 2].map(|k| of(f64::max, k) + apart)]
}

/// Whether two boxes have a point in common.
fn meet([low_a, high_a]: &[Point; 2], [low_b, high_b]: &[Point; 2]) -> bool {
    (0..3).all(|k| low_a[k] <= high_b[k] && low_b[k] <= high_a[k])
}

fn overlap(a: &Corners, b: &Corners, apart: f64) -> bool {
    let (large, small) = if area2(normal(a)) >= area2(normal(b)) { (a, b) } else { (b, a) };
    let n = normal(large);
    let length = area2(n).sqrt();
    let distance = |p: &Point| dot(n, minus(*p, large[0])).abs() / length;
    if length == 0.0 || small.iter().any(|p| distance(p) > apart) {
        return false;
    }
    // Seen along the normal's largest coordinate, overlaps are at least 1 / sqrt(3) of their size.
    let axis = (0..3).max_by(|&i, &j| n[i].abs().total_cmp(&n[j].abs())).unwrap_or(0);
    let flat = |t: &Corners| t.map(|p| [p[(axis + 1) % 3], p[(axis + 2) % 3]]);
    let shared = clipped(flat(small).to_vec(), &flat(large));
    shared_width(&shared) > apart
}

/// Area of a polygon over its longest diagonal.
fn shared_width(polygon: &[[f64; 2]]) -> f64 {
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let next = polygon.iter().cycle().skip(1);
    let area = polygon.iter().zip(next).map(|(a, b)| cross(*a, *b)).sum::<f64>().abs() / 2.0;
    let apart = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let longest = polygon.iter().flat_map(|a| polygon.iter().map(move |b| apart(a, b))).fold(0.0, f64::max);
    if longest > 0.0 { area / longest } else { 0.0 }
}

/// Clips a polygon to a triangle (Sutherland and Hodgman 1974).
fn clipped(mut polygon: Vec<[f64; 2]>, triangle: &[[f64; 2]; 3]) -> Vec<[f64; 2]> {
    let side =
        |a: [f64; 2], b: [f64; 2], p: [f64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    let turn = side(triangle[0], triangle[1], triangle[2]).signum();
    for k in 0..3 {
        let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
        let mut inside = Vec::with_capacity(polygon.len() + 1);
        for (i, &p) in polygon.iter().enumerate() {
            let q = polygon[(i + 1) % polygon.len()];
            let (at_p, at_q) = (turn * side(a, b, p), turn * side(a, b, q));
            if at_p >= 0.0 {
                inside.push(p);
            }
            if (at_p < 0.0) != (at_q < 0.0) {
                let share = at_p / (at_p - at_q);
                inside.push([p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]);
            }
        }
        polygon = inside;
    }
    polygon
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn normal(t: &Corners) -> Point {
    let (u, v) = (minus(t[1], t[0]), minus(t[2], t[0]));
    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
}

/// Square of twice the area of the triangle that has this normal.
fn area2(n: Point) -> f64 {
    dot(n, n)
}

const FLOOR: Corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 4.0]];

#[test]
fn surfaces_on_one_another_are_found_and_neighbours_are_not() {
    let moved = |x: f64, y: f64| FLOOR.map(|p| [p[0] + x, p[1] + y, p[2]]);
    assert!(overlap(&FLOOR, &FLOOR, 1e-4));
    assert!(overlap(&FLOOR, &moved(1.0, 1e-5), 1e-4));
    assert!(!overlap(&FLOOR, &moved(1.0, 0.002), 1e-4), "one lies above the other");
    let across = [[4.0, 0.0, 0.0], [4.0, 0.0, 4.0], [0.0, 0.0, 4.0]];
    assert!(!overlap(&FLOOR, &across, 1e-4), "they share an edge");
    let wall = [[0.5, -1.0, 0.5], [2.0, 1.0, 0.5], [2.0, -1.0, 0.5]];
    assert!(!overlap(&FLOOR, &wall, 1e-4), "they cross");
    let small = [[1.0, 0.0, 1.0], [1.01, 0.0, 1.0], [1.0, 0.0, 1.01]];
    assert!(overlap(&small, &FLOOR, 1e-4), "one is inside the other");
}
