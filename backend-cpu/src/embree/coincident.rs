//! Finds triangles of a mesh that coincide with others, so that rounding decides which of them a ray meets
//! first.

use super::overlap::{ALL_CELLS, Corners, THICKNESS, cells_under, lie_on_each_other, scaled_normal};
use lockstep_core::geometry::{coordinate_scale, longest_axis};
use lockstep_core::math::vec3::{Vec3, dot, length, normalize, vec3};
use lockstep_core::math::{max, min};
use std::sync::atomic::{AtomicU32, Ordering};

/// Least height of a triangle over its longest edge, as a share of its largest coordinate, at which its
/// normal is accurate enough to rule out coincidence.
const MIN_HEIGHT: f32 = 1.0 / 4_096.0;

/// Cosine of the greatest angle between the planes of coincident triangles.
const MIN_COSINE: f32 = 0.999;

/// Sets up to this size are compared pair by pair.
const MAX_ALL_PAIRS: usize = 32;

/// Most comparisons of one triangle in a set that no plane divides. It bounds the cost of heaps of triangles
/// at one place; coincidences beyond it are left to rounding.
const MAX_COMPARISONS: usize = 1_024;

/// Sets from this size on are searched in parallel.
const MIN_PARALLEL: usize = 4_096;

/// Number of triangles whose centers are sampled for a median.
const MEDIAN_SAMPLES: usize = 33;

/// For every triangle, the cells on which others lie, as bits of [`super::overlap::cell`].
pub(super) fn coincident(triangles: &[Corners]) -> Vec<u32> {
    let cells = triangles.iter().map(|_| AtomicU32::new(0)).collect();
    let search = Search { triangles, cells };
    search.search((0..).zip(triangles).map(|(number, corners)| Item::new(number, corners)).collect());
    search.cells.into_iter().map(AtomicU32::into_inner).collect()
}

/// A triangle with its bounds and normal, which rule out most pairs.
#[derive(Clone, Copy)]
struct Item {
    /// Bounding box, padded by the thickness of coincident surfaces.
    lo: [f32; 3],
    hi: [f32; 3],
    number: u32,
    /// Unit normal; zero where the triangle is too narrow for an accurate one.
    normal: Vec3,
}

impl Item {
    fn new(number: u32, corners: &Corners) -> Self {
        let [a, b, c] = *corners;
        let scale = max(coordinate_scale(a, b), coordinate_scale(c, c));
        let pad = Vec3::splat(scale * THICKNESS);
        let [lo, hi] = [min, max].map(|pick| by_axis(by_axis(a, b, pick), c, pick));
        let (scaled, edge) =
            (scaled_normal(corners), [b - a, c - b, a - c].map(length).into_iter().fold(0.0, max));
        let is_accurate = length(scaled) >= edge * scale * MIN_HEIGHT;
        let normal = if is_accurate { normalize(scaled) } else { Vec3::ZERO };
        Self { lo: (lo - pad).to_array(), hi: (hi + pad).to_array(), number, normal }
    }

    /// Whether bounds and normals allow that two triangles lie on each other.
    #[inline(always)]
    fn may_lie_on(&self, other: &Self) -> bool {
        let boxes_overlap = (0..3).fold(true, |overlap, axis| {
            overlap & (self.lo[axis] <= other.hi[axis]) & (other.lo[axis] <= self.hi[axis])
        });
        let has_normals = self.normal != Vec3::ZERO && other.normal != Vec3::ZERO;
        boxes_overlap && !(has_normals && dot(self.normal, other.normal).abs() < MIN_COSINE)
    }
}

/// A search over all triangles of a mesh.
struct Search<'a> {
    triangles: &'a [Corners],
    cells: Vec<AtomicU32>,
}

impl Search<'_> {
    /// Marks coincident triangles of a set: divides it in halves until it is small enough to compare all
    /// pairs.
    fn search(&self, items: Vec<Item>) {
        if items.len() <= MAX_ALL_PAIRS {
            return self.compare_all_pairs(&items);
        }
        let Some([below, above]) = median_split(&items) else { return self.sweep(items) };
        if items.len() >= MIN_PARALLEL {
            drop(items);
            rayon::join(|| self.search(below), || self.search(above));
        } else {
            self.search(below);
            self.search(above);
        }
    }

    /// Marks coincident triangles of a set that no plane divides (sweep and prune along the x axis).
    fn sweep(&self, mut items: Vec<Item>) {
        items.sort_unstable_by(|a, b| a.lo[0].total_cmp(&b.lo[0]));
        for (k, a) in items.iter().enumerate() {
            let others = items[k + 1..].iter().take_while(|b| b.lo[0] <= a.hi[0]);
            others.take(MAX_COMPARISONS).for_each(|b| self.compare(a, b));
        }
    }

    fn compare_all_pairs(&self, items: &[Item]) {
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

    /// Marks two triangles if they lie on each other.
    fn mark(&self, a: &Item, b: &Item) {
        let (i, j) = (a.number as usize, b.number as usize);
        let is_complete = |i: usize| self.cells[i].load(Ordering::Relaxed) == ALL_CELLS;
        let (a, b) = (&self.triangles[i], &self.triangles[j]);
        if !(is_complete(i) && is_complete(j)) && lie_on_each_other(a, b) {
            self.cells[i].fetch_or(cells_under(a, b), Ordering::Relaxed);
            self.cells[j].fetch_or(cells_under(b, a), Ordering::Relaxed);
        }
    }
}

/// Divides a set by a plane near the median of its longest axis. Triangles that the plane intersects are in
/// both halves; `None` where there are too many of them for the division to pay.
fn median_split(items: &[Item]) -> Option<[Vec<Item>; 2]> {
    // Choose the axis along which sampled centers spread most
    let samples = || items.iter().step_by(items.len().div_ceil(MEDIAN_SAMPLES));
    let center = |item: &Item, axis: usize| 0.5 * (item.lo[axis] + item.hi[axis]);
    let extent = |axis| {
        let centers = samples().map(|item| center(item, axis));
        let (lo, hi) = centers.fold((f32::MAX, f32::MIN), |(lo, hi), at| (min(lo, at), max(hi, at)));
        hi - lo
    };
    let axis = longest_axis(vec3(extent(0), extent(1), extent(2))) as usize;

    // Split at their median
    let mut centers: Vec<f32> = samples().map(|item| center(item, axis)).collect();
    let half = centers.len() / 2;
    let median = *centers.select_nth_unstable_by(half, f32::total_cmp).1;
    let below: Vec<Item> = items.iter().filter(|item| item.lo[axis] <= median).copied().collect();
    let above: Vec<Item> = items.iter().filter(|item| item.hi[axis] >= median).copied().collect();
    let (sum, larger) = (below.len() + above.len(), below.len().max(above.len()));
    (2 * sum <= 3 * items.len() && 8 * larger <= 7 * items.len()).then_some([below, above])
}

fn by_axis(a: Vec3, b: Vec3, pick: fn(f32, f32) -> f32) -> Vec3 {
    vec3(pick(a.x, b.x), pick(a.y, b.y), pick(a.z, b.z))
}

#[cfg(test)]
mod tests {
    use super::super::overlap::cell;
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
    fn a_triangle_lies_on_its_permutations_and_on_the_halves_of_a_quad_split_along_the_other_diagonal() {
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
    fn splits_and_sweeps_find_the_same_as_comparing_all_pairs() {
        for triangles in [scattered(6_000), vec![pick([0, 1, 2]); 200], scattered(MAX_ALL_PAIRS as u32)] {
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
        let heap = coincident(&vec![pick([0, 1, 2]); 3 * MAX_COMPARISONS]);
        assert!(heap.iter().all(|&cells| cells == ALL_CELLS));
        let found = coincident(&scattered(6_000));
        let share = found.iter().filter(|&&cells| cells != 0).count() as f64 / found.len() as f64;
        assert!((0.1..0.9).contains(&share), "{share}");
    }
}
