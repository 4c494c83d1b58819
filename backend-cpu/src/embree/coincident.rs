//! Which triangles of a mesh lie on others, so that rounding decides which of them a ray meets first.

use lockstep_core::geometry::{coordinate_scale, longest_axis, rotate_to};
use lockstep_core::math::vec3::{Vec3, cross, dot, length, normalize, vec3};
use lockstep_core::math::{max, min};
use std::sync::atomic::{AtomicU32, Ordering};

/// The corners of a triangle.
pub(super) type Corners = [Vec3; 3];

/// How far apart surfaces are at most that count as one, over the coordinates of their triangles: distances to them are
/// rounded by about as much.
const THICKNESS: f32 = 1.0 / 262_144.0;

/// So far must triangles reach into each other at least, over their coordinates: neighbours that share an edge do not.
const OVERLAP: f32 = 1.0 / 1_048_576.0;

/// Cells along an edge: barycentric coordinates from 0 to 1 fall into so many intervals, and a pair of them into a cell.
const CELLS: u32 = 5;

/// The cells in which hits lie: barycentric coordinates of a triangle add up to 1 at most.
const ALL_CELLS: u32 = {
    let (mut cells, mut i) = (0, 0);
    while i < CELLS * CELLS {
        if i % CELLS + i / CELLS < CELLS {
            cells |= 1 << i;
        }
        i += 1;
    }
    cells
};

/// By so much of a cell reaches farther what lies in it, for the rounding of barycentric coordinates.
const CELL_MARGIN: f32 = 1.0 / 16.0;

/// From this height over its longest edge on, over its coordinates, a triangle's normal tells which others it cannot lie
/// on: those that are steeper to it than [`STEEP`], the cosine of their angle.
const TELLING_HEIGHT: f32 = 1.0 / 4_096.0;
const STEEP: f32 = 0.999;

/// So few triangles are compared with each other.
const FEW: usize = 32;

/// With so many others at most is a triangle compared that no plane parts from them, so that heaps of triangles at one
/// place cost little. Of those that are left out rounding decides.
const MOST_OTHERS: usize = 1_024;

/// So many triangles are worth a second thread.
const MANY: usize = 4_096;

/// So many of them tell where their middle is.
const SAMPLES: usize = 33;

/// For every triangle its cells on which others lie, as bits by [`cell`].
pub(super) fn coincident(triangles: &[Corners]) -> Vec<u32> {
    let found = triangles.iter().map(|_| AtomicU32::new(0)).collect();
    let search = Search { triangles, found };
    search.among((0..).zip(triangles).map(|(number, corners)| Item::new(number, corners)).collect());
    search.found.into_iter().map(AtomicU32::into_inner).collect()
}

/// The bit of the cell in which a hit lies.
#[inline(always)]
pub(super) fn cell(u: f32, v: f32) -> u32 {
    let interval = |x: f32, last: u32| ((x * CELLS as f32) as u32).min(last);
    let y = interval(v, CELLS - 1);
    1 << (y * CELLS + interval(u, CELLS - 1 - y))
}

/// A triangle and what tells that it lies on none of many others.
#[derive(Clone, Copy)]
struct Item {
    /// The box around all that counts as lying on it.
    lo: [f32; 3],
    hi: [f32; 3],
    number: u32,
    /// Of length 1; zero where the triangle is too narrow for it to tell.
    normal: Vec3,
}

impl Item {
    fn new(number: u32, corners: &Corners) -> Self {
        let [a, b, c] = *corners;
        let scale = max(coordinate_scale(a, b), coordinate_scale(c, c));
        let pad = Vec3::splat(scale * THICKNESS);
        let [lo, hi] = [min, max].map(|pick| by_axis(by_axis(a, b, pick), c, pick));
        let (across, edge) = (across(corners), [b - a, c - b, a - c].map(length).into_iter().fold(0.0, max));
        let tells = length(across) >= edge * scale * TELLING_HEIGHT;
        let normal = if tells { normalize(across) } else { Vec3::ZERO };
        Self { lo: (lo - pad).to_array(), hi: (hi + pad).to_array(), number, normal }
    }

    #[inline(always)]
    fn may_lie_on(&self, other: &Self) -> bool {
        let meets = (0..3).fold(true, |meets, axis| {
            meets & (self.lo[axis] <= other.hi[axis]) & (other.lo[axis] <= self.hi[axis])
        });
        let tell = self.normal != Vec3::ZERO && other.normal != Vec3::ZERO;
        meets && !(tell && dot(self.normal, other.normal).abs() < STEEP)
    }
}

struct Search<'a> {
    triangles: &'a [Corners],
    found: Vec<AtomicU32>,
}

impl Search<'_> {
    /// Marks those of some triangles that lie on others of them.
    fn among(&self, items: Vec<Item>) {
        if items.len() <= FEW {
            return self.compare_all(&items);
        }
        let Some([before, behind]) = halves(&items) else { return self.sweep(items) };
        if items.len() >= MANY {
            drop(items);
            rayon::join(|| self.among(before), || self.among(behind));
        } else {
            self.among(before);
            self.among(behind);
        }
    }

    /// The same for triangles that no plane parts: each with those that begin, along an axis, before it ends.
    fn sweep(&self, mut items: Vec<Item>) {
        items.sort_unstable_by(|a, b| a.lo[0].total_cmp(&b.lo[0]));
        for (k, a) in items.iter().enumerate() {
            let others = items[k + 1..].iter().take_while(|b| b.lo[0] <= a.hi[0]);
            others.take(MOST_OTHERS).for_each(|b| self.compare(a, b));
        }
    }

    fn compare_all(&self, items: &[Item]) {
        for (k, a) in items.iter().enumerate() {
            items[k + 1..].iter().for_each(|b| self.compare(a, b));
        }
    }

    #[inline(always)]
    fn compare(&self, a: &Item, b: &Item) {
        if a.may_lie_on(b) {
            self.mark(a, b);
        }
    }

    fn mark(&self, a: &Item, b: &Item) {
        let (i, j) = (a.number as usize, b.number as usize);
        let known = |i: usize| self.found[i].load(Ordering::Relaxed) == ALL_CELLS;
        let (a, b) = (&self.triangles[i], &self.triangles[j]);
        if !(known(i) && known(j)) && lie_on_each_other(a, b) {
            self.found[i].fetch_or(cells_under(a, b), Ordering::Relaxed);
            self.found[j].fetch_or(cells_under(b, a), Ordering::Relaxed);
        }
    }
}

/// Those before and those behind a plane about the middle; who reaches through it is in both. None where that are too
/// many for halves to be worth it.
fn halves(items: &[Item]) -> Option<[Vec<Item>; 2]> {
    let samples = || items.iter().step_by(items.len().div_ceil(SAMPLES));
    let center = |item: &Item, axis: usize| 0.5 * (item.lo[axis] + item.hi[axis]);
    let extent = |axis| {
        let places = samples().map(|item| center(item, axis));
        let (lo, hi) = places.fold((f32::MAX, f32::MIN), |(lo, hi), place| (min(lo, place), max(hi, place)));
        hi - lo
    };
    let axis = longest_axis(vec3(extent(0), extent(1), extent(2))) as usize;
    let mut places: Vec<f32> = samples().map(|item| center(item, axis)).collect();
    let half = places.len() / 2;
    let middle = *places.select_nth_unstable_by(half, f32::total_cmp).1;
    let before: Vec<Item> = items.iter().filter(|item| item.lo[axis] <= middle).copied().collect();
    let behind: Vec<Item> = items.iter().filter(|item| item.hi[axis] >= middle).copied().collect();
    let (sum, larger) = (before.len() + behind.len(), before.len().max(behind.len()));
    (2 * sum <= 3 * items.len() && 8 * larger <= 7 * items.len()).then_some([before, behind])
}

fn by_axis(a: Vec3, b: Vec3, pick: fn(f32, f32) -> f32) -> Vec3 {
    vec3(pick(a.x, b.x), pick(a.y, b.y), pick(a.z, b.z))
}

/// Whether two triangles share more than an edge of one surface.
fn lie_on_each_other(a: &Corners, b: &Corners) -> bool {
    let scale = a.iter().chain(b).fold(0.0, |scale, &p| max(scale, coordinate_scale(p, p)));
    [(a, b), (b, a)].into_iter().any(|(ground, other)| {
        let across = across(ground);
        let area = length(across);
        let height = |p: &Vec3| dot(across, *p - ground[0]).abs();
        area > 0.0 && other.iter().all(|p| height(p) <= area * scale * THICKNESS) && {
            let flat = |corners: &Corners| corners.map(|p| without(p, longest_axis(across)));
            overlap(&flat(ground), &flat(other), scale * OVERLAP)
        }
    })
}

/// The cells of a triangle on which another one lies; all of them where the first is too narrow to tell.
fn cells_under(ground: &Corners, other: &Corners) -> u32 {
    let axis = longest_axis(across(ground));
    let [a, b, c] = ground.map(|p| without(p, axis));
    let by = |p: [f32; 2], q: [f32; 2]| (p[0] - a[0]) * (q[1] - a[1]) - (p[1] - a[1]) * (q[0] - a[0]);
    let area = by(b, c);
    let barycentric = |p: Vec3| {
        let p = without(p, axis);
        [by(p, c) / area, by(b, p) / area].map(|x| x * CELLS as f32)
    };
    let other = other.map(barycentric);
    if !other.as_flattened().iter().all(|x| x.is_finite()) {
        return ALL_CELLS;
    }
    let under = |cell: &u32| {
        let [x, y] = [cell % CELLS, cell / CELLS].map(|x| x as f32);
        let square = [[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
        overlap(&square, &other, -CELL_MARGIN)
    };
    let cells = (0..CELLS * CELLS).filter(|cell| ALL_CELLS >> cell & 1 == 1);
    cells.filter(under).fold(0, |cells, cell| cells | 1 << cell)
}

/// A triangle's normal, of twice its area.
fn across([a, b, c]: &Corners) -> Vec3 {
    cross(*b - *a, *c - *a)
}

/// A point of a plane whose normal is longest along an axis, by its other two coordinates.
fn without(p: Vec3, axis: u32) -> [f32; 2] {
    let Vec3 { x, y, .. } = rotate_to(p, axis);
    [x, y]
}

/// Whether two convex polygons of a plane reach into each other by more than a distance, so that no edge of one has the
/// other beyond it.
#[inline(always)]
fn overlap(a: &[[f32; 2]], b: &[[f32; 2]], by: f32) -> bool {
    let parted = |own: &[[f32; 2]], other: &[[f32; 2]]| {
        (0..own.len()).any(|i| {
            let (p, q) = (own[i], own[(i + 1) % own.len()]);
            let [x, y] = [q[0] - p[0], q[1] - p[1]];
            let side = |s: &[f32; 2]| x * (s[1] - p[1]) - y * (s[0] - p[0]);
            let inward =
                own.iter().map(side).fold(0.0, |most: f32, s| if s.abs() > most.abs() { s } else { most });
            let length = (x * x + y * y).sqrt();
            length > 0.0 && other.iter().all(|s| side(s) * inward.signum() <= by * length)
        })
    };
    !parted(a, b) && !parted(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::rng::{pcg4d, uniform};
    use rayon::prelude::*;

    const QUAD: [Vec3; 4] =
        [vec3(0.0, 0.0, 5.0), vec3(1.0, 0.0, 5.0), vec3(1.0, 1.0, 5.0), vec3(0.0, 1.0, 5.0)];

    fn pick(corners: [usize; 3]) -> Corners {
        corners.map(|i| QUAD[i])
    }

    fn moved(triangle: Corners, by: Vec3) -> Corners {
        triangle.map(|p| p + by)
    }

    #[test]
    fn a_triangle_lies_on_one_of_the_same_corners_in_any_order_and_on_the_other_half_of_a_quad_split_otherwise()
     {
        let on = |a, b| coincident(&[a, b]).into_iter().all(|cells| cells != 0);
        for order in [[0, 1, 2], [1, 2, 0], [2, 1, 0]] {
            assert!(on(pick([0, 1, 2]), pick(order)));
        }
        assert!(on(pick([0, 1, 2]), pick([0, 1, 3])));
        assert!(on(pick([0, 1, 2]), pick([1, 2, 3])));
        let speck = pick([0, 1, 2]).map(|p| vec3(0.5, 0.25, 5.0) + (p - QUAD[0]) * 0.01);
        assert!(on(pick([0, 1, 2]), speck));
    }

    #[test]
    fn neighbours_parallels_and_triangles_without_area_do_not() {
        let apart = |a, b| coincident(&[a, b]) == [0; 2];
        assert!(apart(pick([0, 1, 2]), pick([0, 2, 3])), "they share an edge");
        assert!(apart(pick([0, 1, 2]), moved(pick([0, 1, 2]), vec3(0.0, 0.0, 1e-3))));
        assert!(apart(pick([0, 1, 2]), moved(pick([0, 1, 2]), vec3(0.0, 2.0, 0.0))));
        assert!(
            apart(pick([0, 1, 2]), [QUAD[0], QUAD[1], QUAD[1] + vec3(0.0, 0.0, 1.0)]),
            "it stands on an edge"
        );
        assert!(apart(pick([0, 0, 0]), pick([0, 0, 0])));
    }

    /// Triangles on a few planes, some of them large.
    fn scattered(count: u32) -> Vec<Corners> {
        let triangle = |i: u32| {
            let r = pcg4d([i, 3, 1, 4]).map(uniform);
            let size = if i.is_multiple_of(50) { 3.0 } else { 0.05 };
            let center = vec3(4.0 * r[0], 4.0 * r[1], (r[2] * 8.0) as u32 as f32);
            std::array::from_fn(|k| {
                let s = pcg4d([i, k as u32, 1, 5]).map(uniform);
                let tilt = if r[3] < 0.2 { s[2] } else { 0.0 };
                center + vec3(s[0], s[1], tilt) * size
            })
        };
        (0..count).map(triangle).collect()
    }

    #[test]
    fn the_cells_are_those_where_a_hit_may_lie_on_both() {
        let corners = pick([0, 1, 2]);
        let inside = |i: u32| {
            let r = pcg4d([i, 8, 2, 6]).map(uniform);
            let (u, v) = (r[0].min(1.0 - r[1]), r[1].min(1.0 - r[0]));
            (u, v, corners[0] + (corners[1] - corners[0]) * u + (corners[2] - corners[0]) * v)
        };
        let speck = [vec3(0.5, 0.1, 5.0), vec3(0.7, 0.1, 5.0), vec3(0.6, 0.3, 5.0)];
        let cells = coincident(&[corners, speck])[0];
        let on_speck =
            |p: Vec3| p.y >= 0.1 && p.y - 0.1 <= 2.0 * (p.x - 0.5) && p.y - 0.1 <= 2.0 * (0.7 - p.x);
        let mut elsewhere = 0;
        for i in 0..10_000 {
            let (u, v, p) = inside(i);
            assert!(cells & cell(u, v) != 0 || !on_speck(p), "{u} {v} {p:?}");
            elsewhere += u32::from(cells & cell(u, v) == 0);
        }
        assert!(elsewhere > 4_000, "{elsewhere}");
        assert_eq!(coincident(&[corners, corners])[0] & cell(0.3, 0.3), cell(0.3, 0.3));
        let needle = [QUAD[0], QUAD[1], vec3(0.5, 1e-30, 5.0)];
        assert_eq!(cells_under(&needle, &corners), ALL_CELLS);
    }

    #[test]
    fn halves_and_sweeps_find_what_comparing_all_finds() {
        for triangles in [scattered(6_000), vec![pick([0, 1, 2]); 200], scattered(FEW as u32)] {
            let under = |i: usize, j: usize| {
                let (a, b) = (&triangles[i], &triangles[j]);
                if i != j && lie_on_each_other(a, b) { cells_under(a, b) } else { 0 }
            };
            let all = |i| (0..triangles.len()).fold(0, |cells, j| cells | under(i, j));
            let expected: Vec<u32> = (0..triangles.len()).into_par_iter().map(all).collect();
            let found = coincident(&triangles);
            let differing = expected.iter().zip(&found).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 0, "of {}", triangles.len());
        }
        let heap = coincident(&vec![pick([0, 1, 2]); 3 * MOST_OTHERS]);
        assert!(heap.iter().all(|&cells| cells == ALL_CELLS));
        let found = coincident(&scattered(6_000));
        let share = found.iter().filter(|&&cells| cells != 0).count() as f64 / found.len() as f64;
        assert!((0.1..0.9).contains(&share), "{share}");
    }
}
