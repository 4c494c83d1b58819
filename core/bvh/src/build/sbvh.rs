//! The top of a split BVH: object and spatial splits (Stich, Friedrich and Dietrich, "Spatial Splits in
//! Bounding Volume Hierarchies", HPG 2009).
//!
//! Where the best object split leaves overlapping children, a spatial split may be cheaper: triangles that
//! straddle the plane get a reference on each side, whose box encloses the part of the triangle there.

use crate::aabb::{Aabb, Reference, axis, bounds_of, joined};
use crate::build::binning::{COARSE_BINS, best_plane, gather, partition};
use crate::build::{PARALLEL, Top};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::math::{max, min};

/// Spatial splits are tried where children overlap by more than this fraction of the root's surface area
/// (alpha in the paper).
const LEAST_OVERLAP: f32 = 1e-3;

/// Upper limit of added references, as a fraction of the number of triangles.
const MOST_ADDED: f32 = 0.5;

/// Sets up to this size are left to the builder.
const SMALL_SET: usize = 4;

/// Deeper nodes are left to the builder.
const DEEPEST: u32 = 32;

/// Bins of spatial splits along each axis.
const BINS: usize = 8;

/// Splits references at the top of a tree by the surface area heuristic, and returns them with the splits.
///
/// Most triangles keep one reference. Deterministic, whatever the number of threads.
pub(crate) fn spatial_splits(triangles: &[[Vec3; 3]], mut whole: Vec<Reference>) -> (Vec<Reference>, Top) {
    let bounds = gather(&whole, &bounds_of, &joined);
    let splitter = Splitter { triangles, least_overlap: bounds.half_area() * LEAST_OVERLAP };
    let n = whole.len();
    // Slack for references yet to be added, distributed over the tree: moving some costs less than vectors
    // for each node.
    whole.resize(n + (n as f32 * MOST_ADDED) as usize, Reference::NONE);
    let split = splitter.split(&mut whole, n, &bounds, 0);
    let mut count = 0;
    let top = split.collect(&mut whole, 0, &mut count);
    whole.truncate(count);
    whole.shrink_to_fit();
    (whole, top)
}

/// A subtree over a range of references with slack.
enum Subtree {
    /// The number of references; the builder splits them further.
    Open(usize),
    /// The two sides of a split.
    Split(Box<[Side; 2]>),
}

/// One side of a split and the size of its range, slack included.
struct Side {
    size: usize,
    subtree: Subtree,
}

impl Subtree {
    /// Compacts the references in the range from `start` on behind the first `count` references, which lie
    /// before it.
    fn collect(self, all: &mut [Reference], start: usize, count: &mut usize) -> Top {
        match self {
            Self::Open(n) => {
                all.copy_within(start..start + n, *count);
                *count += n;
                Top::Open
            }
            Self::Split(sides) => {
                let [left, right] = *sides;
                let before = *count;
                let first = left.subtree.collect(all, start, count);
                let in_first = *count - before;
                Top::Split(in_first, Box::new([first, right.subtree.collect(all, start + left.size, count)]))
            }
        }
    }
}

/// The size of the left side's range: slack is distributed in proportion to references.
fn left_size([left, right]: [usize; 2], size: usize) -> usize {
    let n = left + right;
    left + ((size - n) as u64 * left as u64 / n as u64) as usize
}

struct Splitter<'a> {
    triangles: &'a [[Vec3; 3]],
    /// Least half surface area of the children's overlap for which spatial splits are tried.
    least_overlap: f32,
}

/// A spatial split.
struct SpatialSplit {
    axis: usize,
    at: f32,
    /// Cost by the surface area heuristic, in the unit of [`crate::build::binning::Plane`].
    cost: f32,
    sides: [SideCost; 2],
}

/// Bounds and count of the references on one side of a plane.
#[derive(Clone, Copy)]
struct SideCost {
    bounds: Aabb,
    count: u32,
}

impl SideCost {
    const EMPTY: Self = Self { bounds: Aabb::EMPTY, count: 0 };

    fn cost(&self) -> f32 {
        self.count as f32 * self.bounds.half_area()
    }

    fn with(&self, bounds: &Aabb) -> Self {
        Self { bounds: joined(self.bounds, *bounds), count: self.count }
    }

    fn less_one(&self) -> Self {
        Self { count: self.count.saturating_sub(1), ..*self }
    }
}

impl Splitter<'_> {
    /// Splits the first `n` references of a range, which `bounds` encloses. The rest of the range is slack.
    fn split(&self, range: &mut [Reference], n: usize, bounds: &Aabb, depth: u32) -> Subtree {
        let slack = range.len() - n;
        let (references, _) = range.split_at_mut(n);
        if n <= SMALL_SET || depth > DEEPEST || slack == 0 || bounds.half_area() <= self.least_overlap {
            return Subtree::Open(n);
        }
        // Object split
        let Some(plane) = best_plane::<COARSE_BINS>(references, COARSE_BINS) else {
            return Subtree::Open(n);
        };
        let middle = partition(references, &plane);
        let (left, right) = references.split_at(middle);
        let bounds_of_sides = [left, right].map(|side| gather(side, &bounds_of, &joined));
        // Spatial split, where the object split's children overlap
        if bounds_of_sides[0]
            .overlap(&bounds_of_sides[1])
            .is_some_and(|both| both.half_area() > self.least_overlap)
            && let Some(spatial) = self.best_spatial_split(references, bounds)
            && spatial.cost < plane.cost
        {
            let [left, right] = self.partition(references, &spatial);
            let counts = [left.len(), right.len()];
            if counts[0] + counts[1] <= range.len() && counts.iter().all(|&count| count < n) {
                let bounds_of_sides = [&left, &right].map(|side| gather(side, &bounds_of, &joined));
                let start = left_size(counts, range.len());
                range[..counts[0]].copy_from_slice(&left);
                range[start..start + counts[1]].copy_from_slice(&right);
                drop((left, right));
                return self.split_both(range, counts, &bounds_of_sides, depth);
            }
        }
        let counts = [middle, n - middle];
        range.copy_within(middle..n, left_size(counts, range.len()));
        self.split_both(range, counts, &bounds_of_sides, depth)
    }

    /// Splits both sides, which lie at the beginning of their ranges.
    fn split_both(
        &self,
        range: &mut [Reference],
        counts: [usize; 2],
        bounds: &[Aabb; 2],
        depth: u32,
    ) -> Subtree {
        let (left, right) = range.split_at_mut(left_size(counts, range.len()));
        let sizes = [left.len(), right.len()];
        let mut go_left = || self.split(left, counts[0], &bounds[0], depth + 1);
        let mut go_right = || self.split(right, counts[1], &bounds[1], depth + 1);
        let is_large = counts[0] + counts[1] > PARALLEL;
        let (a, b) = if is_large { rayon::join(go_left, go_right) } else { (go_left(), go_right()) };
        Subtree::Split(Box::new([Side { size: sizes[0], subtree: a }, Side { size: sizes[1], subtree: b }]))
    }

    /// The cheapest spatial split at the boundaries of bins.
    fn best_spatial_split(&self, references: &[Reference], bounds: &Aabb) -> Option<SpatialSplit> {
        // Bin clipped references along each axis
        let grids = [0, 1, 2].map(|axis| Grid::new(bounds, axis));
        let fill = |references: &[Reference]| {
            let mut bins = Bins::EMPTY;
            for reference in references {
                for (axis, grid) in grids.iter().enumerate() {
                    if let Some(grid) = grid {
                        self.bin(reference, axis, grid, &mut bins.0[axis]);
                    }
                }
            }
            bins
        };
        let bins = gather(references, &fill, &Bins::join);
        // Sweep the boundaries
        let mut best: Option<SpatialSplit> = None;
        for (axis, grid) in grids.iter().enumerate() {
            let Some(grid) = grid else { continue };
            let sides = bins.0[axis].sides();
            for (i, [left, right]) in sides.into_iter().enumerate() {
                let cost = left.cost() + right.cost();
                if left.count > 0 && right.count > 0 && best.as_ref().is_none_or(|best| cost < best.cost) {
                    best = Some(SpatialSplit { axis, at: grid.plane(i + 1), cost, sides: [left, right] });
                }
            }
        }
        best
    }

    /// Clips a reference to each bin that it overlaps.
    #[inline(always)]
    fn bin(&self, reference: &Reference, k: usize, grid: &Grid, bins: &mut AxisBins) {
        let first = grid.bin(axis(reference.bounds.lo, k));
        let last = grid.bin(axis(reference.bounds.hi, k));
        bins.entries[first] += 1;
        bins.exits[last] += 1;
        let mut rest = *reference;
        for bin in first..last {
            let [here, beyond] = self.split_reference(&rest, k, grid.plane(bin + 1));
            bins.boxes[bin].include(&here.bounds);
            rest = beyond;
        }
        bins.boxes[last].include(&rest.bounds);
    }

    /// Partitions references by a spatial split. A straddling reference stays whole where that is cheaper
    /// (reference unsplitting).
    fn partition(&self, references: &[Reference], plane: &SpatialSplit) -> [Vec<Reference>; 2] {
        let k = plane.axis;
        let [mut left, mut right] = plane.sides;
        let mut out = [left, right].map(|side| Vec::with_capacity(side.count as usize));
        for reference in references {
            if axis(reference.bounds.hi, k) <= plane.at {
                out[0].push(*reference);
                continue;
            }
            if axis(reference.bounds.lo, k) >= plane.at {
                out[1].push(*reference);
                continue;
            }
            // Cost of splitting it, and of keeping it on either side
            let whole = &reference.bounds;
            let both = left.cost() + right.cost();
            let only_left = left.with(whole).cost() + right.less_one().cost();
            let only_right = left.less_one().cost() + right.with(whole).cost();
            let split = self.split_reference(reference, k, plane.at);
            let is_empty = |side: usize| split[side].bounds.overlap(whole).is_none();
            if is_empty(0) || (!is_empty(1) && only_right < both && only_right <= only_left) {
                out[1].push(*reference);
                (left, right) = (left.less_one(), right.with(whole));
            } else if is_empty(1) || only_left < both {
                out[0].push(*reference);
                (left, right) = (left.with(whole), right.less_one());
            } else {
                out[0].push(split[0]);
                out[1].push(split[1]);
            }
        }
        out
    }

    /// Splits a reference by a plane across axis `k`, below and above.
    ///
    /// Each box encloses the part of the triangle that is in the reference's box and on that side; it is
    /// empty where there is none.
    #[inline(always)]
    fn split_reference(&self, reference: &Reference, k: usize, at: f32) -> [Reference; 2] {
        // Bound vertices and edge crossings on each side
        let corners = &self.triangles[reference.index as usize];
        let mut sides = [Aabb::EMPTY; 2];
        for (i, &p) in corners.iter().enumerate() {
            let q = corners[(i + 1) % 3];
            let (from, to) = (axis(p, k), axis(q, k));
            if from <= at {
                sides[0].include(&Aabb { lo: p, hi: p });
            }
            if from >= at {
                sides[1].include(&Aabb { lo: p, hi: p });
            }
            if (from < at && at < to) || (to < at && at < from) {
                let crossing = crossing(p, q, k, at);
                sides[0].include(&crossing);
                sides[1].include(&crossing);
            }
        }
        // Intersect with the reference's box
        let whole = &reference.bounds;
        sides.map(|side| {
            let lo = vec3(max(side.lo.x, whole.lo.x), max(side.lo.y, whole.lo.y), max(side.lo.z, whole.lo.z));
            let hi = vec3(min(side.hi.x, whole.hi.x), min(side.hi.y, whole.hi.y), min(side.hi.z, whole.hi.z));
            Reference { bounds: Aabb { lo, hi }, index: reference.index }
        })
    }
}

/// A box around the point at which an edge crosses a plane across axis `k`, widened by the rounding of that
/// point.
#[inline(always)]
fn crossing(p: Vec3, q: Vec3, k: usize, at: f32) -> Aabb {
    let (from, to) = (f64::from(axis(p, k)), f64::from(axis(q, k)));
    let share = (f64::from(at) - from) / (to - from);
    let between = |a: f32, b: f32| (f64::from(a) + share * (f64::from(b) - f64::from(a))) as f32;
    let point = [between(p.x, q.x), between(p.y, q.y), between(p.z, q.z)];
    let (mut lo, mut hi) = (point.map(f32::next_down), point.map(f32::next_up));
    (lo[k], hi[k]) = (at, at);
    Aabb { lo: lo.into(), hi: hi.into() }
}

/// Bins of equal width along one axis of a box.
struct Grid {
    lowest: f32,
    width: f32,
    scale: f32,
}

impl Grid {
    /// `None` where the box has no extent along the axis.
    fn new(bounds: &Aabb, k: usize) -> Option<Self> {
        let (lowest, highest) = (axis(bounds.lo, k), axis(bounds.hi, k));
        let width = (highest - lowest) / BINS as f32;
        let scale = 1.0 / width;
        (width > 0.0 && scale.is_finite() && scale > 0.0).then_some(Self { lowest, width, scale })
    }

    #[inline(always)]
    fn bin(&self, x: f32) -> usize {
        (((x - self.lowest) * self.scale) as usize).min(BINS - 1)
    }

    /// The lower boundary of a bin.
    #[inline(always)]
    fn plane(&self, bin: usize) -> f32 {
        self.lowest + self.width * bin as f32
    }
}

/// Clipped bounds of the bins along one axis, and how many references start and end in each.
#[derive(Clone, Copy)]
struct AxisBins {
    boxes: [Aabb; BINS],
    entries: [u32; BINS],
    exits: [u32; BINS],
}

impl AxisBins {
    const EMPTY: Self = Self { boxes: [Aabb::EMPTY; BINS], entries: [0; BINS], exits: [0; BINS] };

    /// Costs of the two sides of each boundary between bins.
    fn sides(&self) -> [[SideCost; 2]; BINS - 1] {
        let mut sides = [[SideCost::EMPTY; 2]; BINS - 1];
        let (mut left, mut right) = (SideCost::EMPTY, SideCost::EMPTY);
        for i in 0..BINS - 1 {
            left.bounds.include(&self.boxes[i]);
            left.count += self.entries[i];
            sides[i][0] = left;
            let from_end = BINS - 1 - i;
            right.bounds.include(&self.boxes[from_end]);
            right.count += self.exits[from_end];
            sides[from_end - 1][1] = right;
        }
        sides
    }
}

struct Bins([AxisBins; 3]);

impl Bins {
    const EMPTY: Self = Self([AxisBins::EMPTY; 3]);

    fn join(mut self, other: Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            for bin in 0..BINS {
                mine.boxes[bin].include(&theirs.boxes[bin]);
                mine.entries[bin] += theirs.entries[bin];
                mine.exits[bin] += theirs.exits[bin];
            }
        }
        self
    }
}
