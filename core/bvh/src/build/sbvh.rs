//! Which triangles are worth cutting, and where: the upper part of a tree with spatial splits (Stich, Friedrich and Dietrich,
//! "Spatial Splits in Bounding Volume Hierarchies", HPG 2009).
//!
//! Where a node's children overlap, because no plane has whole triangles on its sides, it may be cheaper to cut those that
//! a plane runs through. A reference then stands for a part of a triangle, and its box encloses that part.

use crate::aabb::{Aabb, Reference, axis, bounds_of, joined};
use crate::build::binning::{COARSE_BINS, best_plane, gather, partition};
use crate::build::{PARALLEL, Top};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::math::{max, min};

/// Children that overlap by less than this share of the whole's surface area are not worth a cut.
const LEAST_OVERLAP: f32 = 1e-3;

/// Cuts at most, as a share of the number of triangles.
const MOST_CUTS: f32 = 0.5;

/// Sets up to this are not looked at.
const SMALL_SET: usize = 4;

/// Deeper nodes are left to the builder.
const DEEPEST: u32 = 32;

/// Planes between as many bins along each axis are tried.
const BINS: usize = 8;

/// The parts that triangles are cut into, by their numbers, and how the surface area heuristic divides them at the top of a
/// tree. Most triangles have one part, themselves. Deterministic, whatever the number of threads.
pub(crate) fn divide(triangles: &[[Vec3; 3]], mut whole: Vec<Reference>) -> (Vec<Reference>, Top) {
    let bounds = gather(&whole, &bounds_of, &joined);
    let divider = Divider { triangles, least: bounds.half_area() * LEAST_OVERLAP };
    let n = whole.len();
    // Room for parts yet to be cut, all over the tree: moving some to make room costs less than vectors for each node.
    whole.resize(n + (n as f32 * MOST_CUTS) as usize, Reference::NONE);
    let divided = divider.divide(&mut whole, n, &bounds, 0);
    let mut count = 0;
    let top = divided.collect(&mut whole, 0, &mut count);
    whole.truncate(count);
    whole.shrink_to_fit();
    (whole, top)
}

/// How many parts there are in some room, and how they are divided, if they are.
enum Divided {
    Not(usize),
    In(Box<[Room; 2]>),
}

/// A place for parts, and what it holds.
struct Room {
    size: usize,
    parts: Divided,
}

impl Divided {
    /// Moves the parts in the room from `start` on to the end of the first `count` parts, which lie before it.
    fn collect(self, all: &mut [Reference], start: usize, count: &mut usize) -> Top {
        match self {
            Self::Not(n) => {
                all.copy_within(start..start + n, *count);
                *count += n;
                Top::Open
            }
            Self::In(rooms) => {
                let [left, right] = *rooms;
                let before = *count;
                let first = left.parts.collect(all, start, count);
                let in_first = *count - before;
                Top::Divided(in_first, Box::new([first, right.parts.collect(all, start + left.size, count)]))
            }
        }
    }
}

/// The size of the left side's room, with a share of what is free by its share of all references.
fn left_size([left, right]: [usize; 2], room: usize) -> usize {
    let n = left + right;
    left + ((room - n) as u64 * left as u64 / n as u64) as usize
}

struct Divider<'a> {
    triangles: &'a [[Vec3; 3]],
    /// Half the surface area that children must share to be worth a cut.
    least: f32,
}

/// A plane that triangles may be cut by.
struct Cutting {
    axis: usize,
    at: f32,
    /// What a ray through the node is expected to cost, as of [`crate::build::binning::Plane`].
    cost: f32,
    sides: [Side; 2],
}

/// What lies on one side of a plane.
#[derive(Clone, Copy)]
struct Side {
    bounds: Aabb,
    count: u32,
}

impl Side {
    const NOTHING: Self = Self { bounds: Aabb::EMPTY, count: 0 };

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

impl Divider<'_> {
    /// Divides the first `n` references of a room, which `bounds` encloses. What else is in the room is there to be cut.
    fn divide(&self, room: &mut [Reference], n: usize, bounds: &Aabb, depth: u32) -> Divided {
        let cuts = room.len() - n;
        let (references, _) = room.split_at_mut(n);
        if n <= SMALL_SET || depth > DEEPEST || cuts == 0 || bounds.half_area() <= self.least {
            return Divided::Not(n);
        }
        let Some(plane) = best_plane::<COARSE_BINS>(references, COARSE_BINS) else {
            return Divided::Not(n);
        };
        let middle = partition(references, &plane);
        let (left, right) = references.split_at(middle);
        let bounds_of_sides = [left, right].map(|side| gather(side, &bounds_of, &joined));
        if bounds_of_sides[0].overlap(&bounds_of_sides[1]).is_some_and(|both| both.half_area() > self.least)
            && let Some(cutting) = self.cheapest(references, bounds)
            && cutting.cost < plane.cost
        {
            let [left, right] = self.cut_all(references, &cutting);
            let counts = [left.len(), right.len()];
            if counts[0] + counts[1] <= room.len() && counts.iter().all(|&count| count < n) {
                let bounds_of_sides = [&left, &right].map(|side| gather(side, &bounds_of, &joined));
                let start = left_size(counts, room.len());
                room[..counts[0]].copy_from_slice(&left);
                room[start..start + counts[1]].copy_from_slice(&right);
                drop((left, right));
                return self.both(room, counts, &bounds_of_sides, depth);
            }
        }
        let counts = [middle, n - middle];
        room.copy_within(middle..n, left_size(counts, room.len()));
        self.both(room, counts, &bounds_of_sides, depth)
    }

    /// Divides both sides, which lie where their rooms begin.
    fn both(&self, room: &mut [Reference], counts: [usize; 2], bounds: &[Aabb; 2], depth: u32) -> Divided {
        let (left, right) = room.split_at_mut(left_size(counts, room.len()));
        let sizes = [left.len(), right.len()];
        let mut go_left = || self.divide(left, counts[0], &bounds[0], depth + 1);
        let mut go_right = || self.divide(right, counts[1], &bounds[1], depth + 1);
        let is_large = counts[0] + counts[1] > PARALLEL;
        let (a, b) = if is_large { rayon::join(go_left, go_right) } else { (go_left(), go_right()) };
        Divided::In(Box::new([Room { size: sizes[0], parts: a }, Room { size: sizes[1], parts: b }]))
    }

    /// The cheapest of the planes between bins that divide a node's box.
    fn cheapest(&self, references: &[Reference], bounds: &Aabb) -> Option<Cutting> {
        let grids = [0, 1, 2].map(|axis| Grid::new(bounds, axis));
        let fill = |references: &[Reference]| {
            let mut bins = Bins::EMPTY;
            for reference in references {
                for (axis, grid) in grids.iter().enumerate() {
                    if let Some(grid) = grid {
                        self.put(reference, axis, grid, &mut bins.0[axis]);
                    }
                }
            }
            bins
        };
        let bins = gather(references, &fill, &Bins::join);
        let mut best: Option<Cutting> = None;
        for (axis, grid) in grids.iter().enumerate() {
            let Some(grid) = grid else { continue };
            let sides = bins.0[axis].sides();
            for (i, [left, right]) in sides.into_iter().enumerate() {
                let cost = left.cost() + right.cost();
                if left.count > 0 && right.count > 0 && best.as_ref().is_none_or(|best| cost < best.cost) {
                    best = Some(Cutting { axis, at: grid.plane(i + 1), cost, sides: [left, right] });
                }
            }
        }
        best
    }

    /// Puts what of a reference lies in each bin there.
    #[inline(always)]
    fn put(&self, reference: &Reference, k: usize, grid: &Grid, bins: &mut AxisBins) {
        let first = grid.bin(axis(reference.bounds.lo, k));
        let last = grid.bin(axis(reference.bounds.hi, k));
        bins.first[first] += 1;
        bins.last[last] += 1;
        let mut rest = *reference;
        for bin in first..last {
            let [here, beyond] = self.cut(&rest, k, grid.plane(bin + 1));
            bins.boxes[bin].include(&here.bounds);
            rest = beyond;
        }
        bins.boxes[last].include(&rest.bounds);
    }

    /// Both sides of a plane. A reference that it runs through stays whole where that is cheaper.
    fn cut_all(&self, references: &[Reference], plane: &Cutting) -> [Vec<Reference>; 2] {
        let k = plane.axis;
        let [mut left, mut right] = plane.sides;
        let mut parts = [left, right].map(|side| Vec::with_capacity(side.count as usize));
        for reference in references {
            if axis(reference.bounds.hi, k) <= plane.at {
                parts[0].push(*reference);
                continue;
            }
            if axis(reference.bounds.lo, k) >= plane.at {
                parts[1].push(*reference);
                continue;
            }
            let whole = &reference.bounds;
            let both = left.cost() + right.cost();
            let only_left = left.with(whole).cost() + right.less_one().cost();
            let only_right = left.less_one().cost() + right.with(whole).cost();
            let cut = self.cut(reference, k, plane.at);
            let is_void = |side: usize| cut[side].bounds.overlap(whole).is_none();
            if is_void(0) || (!is_void(1) && only_right < both && only_right <= only_left) {
                parts[1].push(*reference);
                (left, right) = (left.less_one(), right.with(whole));
            } else if is_void(1) || only_left < both {
                parts[0].push(*reference);
                (left, right) = (left.with(whole), right.less_one());
            } else {
                parts[0].push(cut[0]);
                parts[1].push(cut[1]);
            }
        }
        parts
    }

    /// The parts of a reference below and above a plane. Each box encloses what of the triangle is in the reference's box and
    /// on that side; it is void where there is nothing.
    #[inline(always)]
    fn cut(&self, reference: &Reference, k: usize, at: f32) -> [Reference; 2] {
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
        let whole = &reference.bounds;
        sides.map(|side| {
            let lo = vec3(max(side.lo.x, whole.lo.x), max(side.lo.y, whole.lo.y), max(side.lo.z, whole.lo.z));
            let hi = vec3(min(side.hi.x, whole.hi.x), min(side.hi.y, whole.hi.y), min(side.hi.z, whole.hi.z));
            Reference { bounds: Aabb { lo, hi }, index: reference.index }
        })
    }
}

/// A box around the point where an edge crosses a plane across axis `k`, wider by the rounding of that point.
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

/// Bins of one width across a box.
struct Grid {
    lowest: f32,
    width: f32,
    scale: f32,
}

impl Grid {
    /// Bins along an axis; `None` where the box has no extent to speak of.
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

    /// The plane before a bin.
    #[inline(always)]
    fn plane(&self, bin: usize) -> f32 {
        self.lowest + self.width * bin as f32
    }
}

/// What lies in the bins along one axis, and how many references begin and end in each.
#[derive(Clone, Copy)]
struct AxisBins {
    boxes: [Aabb; BINS],
    first: [u32; BINS],
    last: [u32; BINS],
}

impl AxisBins {
    const EMPTY: Self = Self { boxes: [Aabb::EMPTY; BINS], first: [0; BINS], last: [0; BINS] };

    /// What lies before and behind each plane between bins.
    fn sides(&self) -> [[Side; 2]; BINS - 1] {
        let mut sides = [[Side::NOTHING; 2]; BINS - 1];
        let (mut left, mut right) = (Side::NOTHING, Side::NOTHING);
        for i in 0..BINS - 1 {
            left.bounds.include(&self.boxes[i]);
            left.count += self.first[i];
            sides[i][0] = left;
            let from_end = BINS - 1 - i;
            right.bounds.include(&self.boxes[from_end]);
            right.count += self.last[from_end];
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
                mine.first[bin] += theirs.first[bin];
                mine.last[bin] += theirs.last[bin];
            }
        }
        self
    }
}
