//! How a set of references is divided in two: the cheapest plane between bins, or the middle.

use super::bounds::{Aabb, Reference, axis, joined};

/// Bins along an axis at most.
pub(super) const MAX_BINS: usize = 64;

/// As many as are usual: clearing more takes longer than filling them where references are few.
pub(super) const FEW_BINS: usize = 16;

/// A splitting plane between two bins.
pub(super) struct Plane {
    axis: usize,
    lowest: f32,
    scale: f32,
    bins: usize,
    /// The first bin of the right side.
    right: usize,
    pub(super) cost: f32,
}

impl Plane {
    #[inline(always)]
    fn bin(lowest: f32, scale: f32, bins: usize, center: f32) -> usize {
        (((center - lowest) * scale) as usize).min(bins - 1)
    }

    fn is_left(&self, reference: &Reference) -> bool {
        let center = axis(reference.bounds.center2(), self.axis);
        Self::bin(self.lowest, self.scale, self.bins, center) < self.right
    }
}

/// Larger sets are binned by several tasks.
const PARALLEL_BINNING: usize = 1 << 15;

/// What a pass over references finds, by tasks on parts of them where they are many. `join` must not mind the order.
pub(super) fn gather<T: Send>(
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

/// Boxes and numbers of references by bins along each axis.
struct Bins<const MOST: usize> {
    boxes: [[Aabb; MOST]; 3],
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

/// The cheapest plane over all axes; `None` when all centres coincide.
pub(super) fn best_plane<const MOST: usize>(references: &[Reference], bins: usize) -> Option<Plane> {
    let centers_of = |references: &[Reference]| {
        let mut centers = Aabb::EMPTY;
        for reference in references {
            let c = reference.bounds.center2();
            centers.include(&Aabb { lo: c, hi: c });
        }
        centers
    };
    let centers = gather(references, &centers_of, &joined);
    let scales = [0, 1, 2].map(|a| {
        let extent = axis(centers.hi, a) - axis(centers.lo, a);
        let scale = bins as f32 * 0.999_999 / extent;
        if extent > 0.0 && scale.is_finite() { scale } else { 0.0 }
    });
    let fill = |references: &[Reference]| {
        let mut filled = Bins { boxes: [[Aabb::EMPTY; MOST]; 3], counts: [[0u32; MOST]; 3] };
        for reference in references {
            let center = reference.bounds.center2();
            for (a, &scale) in scales.iter().enumerate() {
                let bin = Plane::bin(axis(centers.lo, a), scale, bins, axis(center, a));
                filled.boxes[a][bin].include(&reference.bounds);
                filled.counts[a][bin] += 1;
            }
        }
        filled
    };
    let Bins { boxes, counts } = gather(references, &fill, &Bins::join);
    let mut best: Option<Plane> = None;
    for a in (0..3).filter(|&a| scales[a] > 0.0) {
        let (right, cost) = cheapest_boundary::<MOST>(&boxes[a][..bins], &counts[a][..bins]);
        if cost.is_finite() && best.as_ref().is_none_or(|b| cost < b.cost) {
            best = Some(Plane { axis: a, lowest: axis(centers.lo, a), scale: scales[a], bins, right, cost });
        }
    }
    best
}

/// The bin that best starts the right side and the cost of that split; infinite when one side would be empty.
fn cheapest_boundary<const MOST: usize>(boxes: &[Aabb], counts: &[u32]) -> (usize, f32) {
    let mut right_cost = [f32::INFINITY; MOST];
    let (mut bounds, mut count) = (Aabb::EMPTY, 0);
    for i in (1..boxes.len()).rev() {
        bounds.include(&boxes[i]);
        count += counts[i];
        right_cost[i] = if count == 0 { f32::INFINITY } else { count as f32 * bounds.half_area() };
    }
    let mut best = (0, f32::INFINITY);
    (bounds, count) = (Aabb::EMPTY, 0);
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

/// Moves the left side to the front and returns its length. Both sides are non-empty, since the plane's bins are.
pub(super) fn partition(references: &mut [Reference], plane: &Plane) -> usize {
    let mut left = 0;
    for i in 0..references.len() {
        if plane.is_left(&references[i]) {
            references.swap(i, left);
            left += 1;
        }
    }
    left
}

/// Orders two references as a plane between them would: every such plane costs the same, so the first axis that tells them
/// apart decides. Many nodes are over two, and need no bins.
pub(super) fn order_pair(a: &mut Reference, b: &mut Reference) {
    let [of_a, of_b] = [&*a, &*b].map(|r| (r.bounds.center2().to_array(), r.index));
    if of_b < of_a {
        std::mem::swap(a, b);
    }
}

/// Splits in half along the axis where centres spread most.
pub(super) fn median(references: &mut [Reference]) -> usize {
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
