//! Object splits: binned SAH (Wald 2007), exact SAH for small sets, and the median.

use crate::aabb::{Aabb, Aabb4, Reference, axis};

/// Maximum number of bins along an axis.
pub(crate) const MAX_BINS: usize = 64;

/// The usual number of bins; for few references, clearing more takes longer than filling them.
pub(crate) const COARSE_BINS: usize = 16;

/// An object split at the boundary between two bins.
pub(crate) struct Plane {
    axis: usize,
    lowest: f32,
    scale: f32,
    bins: usize,
    /// The first bin of the right side.
    right: usize,
    /// Sum over both sides of the reference count times half the surface area.
    pub(crate) cost: f32,
}

/// The bin of a coordinate in units of bins.
#[inline(always)]
fn bin_at(place: f32, bins: usize) -> usize {
    (place as i32).clamp(0, bins as i32 - 1) as usize
}

/// Larger sets are processed by several tasks.
const PARALLEL_BINNING: usize = 1 << 15;

/// Parallel reduction over references. `join` must be associative and commutative.
pub(crate) fn gather<T: Send>(
    references: &[Reference],
    of: &(impl Fn(&[Reference]) -> T + Sync),
    join: &(impl Fn(T, T) -> T + Sync),
) -> T {
    if references.len() <= PARALLEL_BINNING {
        return of(references);
    }
    let (left, right) = references.split_at(references.len() / 2);
    let (left, right) = rayon::join(|| gather(left, of, join), || gather(right, of, join));
    join(left, right)
}

/// Bounds and counts of the bins along each axis.
struct Bins<const MOST: usize> {
    boxes: [[Aabb4; MOST]; 3],
    counts: [[u32; MOST]; 3],
}

impl<const MOST: usize> Bins<MOST> {
    fn join(mut self, other: Self) -> Self {
        for a in 0..3 {
            for bin in 0..MOST {
                self.boxes[a][bin].include(&other.boxes[a][bin]);
                self.counts[a][bin] += other.counts[a][bin];
            }
        }
        self
    }
}

/// The box around the centroids, all coordinates doubled.
fn centers_of(references: &[Reference]) -> Aabb4 {
    let mut centers = Aabb4::EMPTY;
    for reference in references {
        let center = Aabb4::of(reference).center2();
        centers.include(&Aabb4 { lo: center, hi: center });
    }
    centers
}

/// The cheapest object split over all axes; `None` when all centroids coincide.
pub(crate) fn best_plane<const MOST: usize>(references: &[Reference], bins: usize) -> Option<Plane> {
    // Bound the centroids
    let centers = gather(references, &centers_of, &Aabb4::joined);
    let lowest = centers.lo;
    let scales = [0, 1, 2, 3].map(|a| {
        let extent = centers.hi[a] - lowest[a];
        let scale = bins as f32 * 0.999_999 / extent;
        if a < 3 && extent > 0.0 && scale.is_finite() { scale } else { 0.0 }
    });
    // Bin references along all axes
    let fill = |references: &[Reference]| {
        let mut filled = Bins { boxes: [[Aabb4::EMPTY; MOST]; 3], counts: [[0u32; MOST]; 3] };
        for reference in references {
            let bounds = Aabb4::of(reference);
            let center = bounds.center2();
            let places = [0, 1, 2, 3].map(|a| (center[a] - lowest[a]) * scales[a]);
            for (a, &place) in places[..3].iter().enumerate() {
                let bin = bin_at(place, bins);
                filled.boxes[a][bin].include(&bounds);
                filled.counts[a][bin] += 1;
            }
        }
        filled
    };
    let Bins { boxes, counts } = gather(references, &fill, &Bins::join);
    // Sweep the boundaries of each axis
    let mut best: Option<Plane> = None;
    for axis in (0..3).filter(|&a| scales[a] > 0.0) {
        let (right, cost) = cheapest_boundary::<MOST>(&boxes[axis][..bins], &counts[axis][..bins]);
        if cost.is_finite() && best.as_ref().is_none_or(|b| cost < b.cost) {
            best = Some(Plane { axis, lowest: lowest[axis], scale: scales[axis], bins, right, cost });
        }
    }
    best
}

/// The first bin of the right side in the cheapest split, and its cost; infinite when one side would be
/// empty.
fn cheapest_boundary<const MOST: usize>(boxes: &[Aabb4], counts: &[u32]) -> (usize, f32) {
    // Right-to-left sweep: cost of the right sides
    let mut right_cost = [f32::INFINITY; MOST];
    let (mut bounds, mut count) = (Aabb4::EMPTY, 0);
    for i in (1..boxes.len()).rev() {
        bounds.include(&boxes[i]);
        count += counts[i];
        right_cost[i] = if count == 0 { f32::INFINITY } else { count as f32 * bounds.half_area() };
    }
    // Left-to-right sweep
    let mut best = (0, f32::INFINITY);
    (bounds, count) = (Aabb4::EMPTY, 0);
    for i in 1..boxes.len() {
        bounds.include(&boxes[i - 1]);
        count += counts[i - 1];
        let cost = count as f32 * bounds.half_area() + right_cost[i];
        if count > 0 && cost < best.1 {
            best = (i, cost);
        }
    }
    best
}

/// Moves the left side to the front and returns its length. Neither side is empty, since the split's bins are
/// not.
pub(crate) fn partition(references: &mut [Reference], plane: &Plane) -> usize {
    match plane.axis {
        0 => partition_by(references, plane, |b| b.lo.x + b.hi.x),
        1 => partition_by(references, plane, |b| b.lo.y + b.hi.y),
        _ => partition_by(references, plane, |b| b.lo.z + b.hi.z),
    }
}

fn partition_by(references: &mut [Reference], plane: &Plane, center2: impl Fn(&Aabb) -> f32) -> usize {
    let Plane { lowest, scale, bins, right, .. } = *plane;
    let mut left = 0;
    for i in 0..references.len() {
        let is_left = bin_at((center2(&references[i].bounds) - lowest) * scale, bins) < right;
        // Branch-free: an unconditional swap with the first right one.
        references.swap(i, left);
        left += usize::from(is_left);
    }
    left
}

/// Sets up to this size are split by [`split_small_set`]; binning takes longer and may miss the best split.
pub(crate) const SMALL_SET: usize = 8;

/// Splits 2 to [`SMALL_SET`] references by the exact SAH sweep, and returns the length of the left side.
pub(crate) fn split_small_set(references: &mut [Reference]) -> usize {
    let n = references.len();
    let mut all = [(Aabb4::EMPTY, [0.0f32; 4]); SMALL_SET];
    for (one, reference) in all.iter_mut().zip(&*references) {
        let bounds = Aabb4::of(reference);
        *one = (bounds, bounds.center2());
    }
    let (mut best, mut best_order, mut best_cost) = (1, [0usize; SMALL_SET], f32::INFINITY);
    for axis in 0..3 {
        // Insertion sort by centroid
        let mut order = [0usize; SMALL_SET];
        for i in 1..n {
            let mut place = i;
            while place > 0 && all[order[place - 1]].1[axis] > all[i].1[axis] {
                order[place] = order[place - 1];
                place -= 1;
            }
            order[place] = i;
        }
        // Sweep
        let sorted = order.map(|i| all[i].0);
        let (left, cost) = cheapest_boundary::<SMALL_SET>(&sorted[..n], &[1; SMALL_SET][..n]);
        if cost < best_cost {
            (best, best_order, best_cost) = (left, order, cost);
        }
    }
    // Reorder by the best axis
    let mut sorted = [Reference::NONE; SMALL_SET];
    for (to, &from) in sorted.iter_mut().zip(&best_order[..n]) {
        *to = references[from];
    }
    references.copy_from_slice(&sorted[..n]);
    best
}

/// Orders two references by centroid, then index. All splits of two cost the same, so this needs no bins.
pub(crate) fn order_pair(a: &mut Reference, b: &mut Reference) {
    let [of_a, of_b] = [&*a, &*b].map(|r| (r.bounds.center2().to_array(), r.index));
    if of_b < of_a {
        std::mem::swap(a, b);
    }
}

/// Splits at the object median along the axis of the largest centroid extent, and returns the length of the
/// left side.
pub(crate) fn median(references: &mut [Reference]) -> usize {
    let mut centers = Aabb::EMPTY;
    for reference in references.iter() {
        let c = reference.bounds.center2();
        centers.include(&Aabb { lo: c, hi: c });
    }
    let extent = centers.hi - centers.lo;
    let widest =
        if extent.x >= extent.y && extent.x >= extent.z { 0 } else { 1 + usize::from(extent.z > extent.y) };
    let middle = references.len() / 2;
    let key = |r: &Reference| axis(r.bounds.center2(), widest);
    references.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.index.cmp(&b.index)));
    middle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::{bounds_of, joined};
    use lockstep_core::math::rng::{pcg4d, uniform};
    use lockstep_core::math::vec3::vec3;

    /// Boxes in a cube, some of which share a centre.
    fn references(count: u32, seed: u32) -> Vec<Reference> {
        let reference = |index: u32| {
            let at = pcg4d([index - index % 3 / 2, seed, 17, 1]).map(uniform);
            let size = pcg4d([index, seed, 17, 2]).map(|x| 0.4 * uniform(x).powi(3));
            let (center, half) = (vec3(at[0], at[1], at[2]), vec3(size[0], size[1], size[2]));
            Reference { bounds: Aabb { lo: center - half, hi: center + half }, index }
        };
        (0..count).map(reference).collect()
    }

    fn cost(references: &[Reference], middle: usize) -> f32 {
        let (left, right) = references.split_at(middle);
        [left, right].iter().map(|side| side.len() as f32 * bounds_of(side).half_area()).sum()
    }

    fn numbers(references: &[Reference]) -> Vec<u32> {
        let mut numbers: Vec<u32> = references.iter().map(|r| r.index).collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn small_sets_are_split_where_that_costs_least_along_any_axis() {
        for seed in 0..300 {
            let all = references(2 + seed % (SMALL_SET as u32 - 1), seed);
            let mut divided = all.clone();
            let middle = split_small_set(&mut divided);
            assert!(0 < middle && middle < all.len());
            assert_eq!(numbers(&divided), numbers(&all));
            let found = cost(&divided, middle);
            for k in 0..3 {
                let mut sorted = all.clone();
                sorted.sort_by(|a, b| axis(a.bounds.center2(), k).total_cmp(&axis(b.bounds.center2(), k)));
                for i in 1..all.len() {
                    assert!(found <= cost(&sorted, i), "seed {seed}, axis {k}, {i} to the left");
                }
            }
        }
    }

    #[test]
    fn partition_matches_the_split_and_its_cost() {
        for seed in 0..100 {
            let all = references(10 + 7 * seed, seed);
            let mut divided = all.clone();
            let plane = best_plane::<COARSE_BINS>(&all, COARSE_BINS).unwrap();
            let middle = partition(&mut divided, &plane);
            assert!(0 < middle && middle < all.len());
            assert_eq!(numbers(&divided), numbers(&all));
            let center = |r: &Reference| axis(r.bounds.center2(), plane.axis);
            let last_left = divided[..middle].iter().map(center).fold(f32::NEG_INFINITY, f32::max);
            let first_right = divided[middle..].iter().map(center).fold(f32::INFINITY, f32::min);
            assert!(last_left < first_right);
            assert!((cost(&divided, middle) - plane.cost).abs() <= 1e-5 * plane.cost);
        }
    }

    #[test]
    fn the_last_lane_holds_anything_and_changes_nothing() {
        for index in [0, 1, 0x7f80_0001, u32::MAX] {
            let mut all = references(5, 3);
            all.iter_mut().for_each(|r| r.index = index);
            let by_three = all.iter().map(|r| r.bounds).fold(Aabb::EMPTY, joined);
            let by_four = bounds_of(&all);
            assert_eq!((by_four.lo, by_four.hi), (by_three.lo, by_three.hi));
        }
    }
}
