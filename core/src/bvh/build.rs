//! Top-down construction by the binned surface area heuristic (Wald 2007).

use super::optimise::optimise;
use crate::math::{max, min};
use crate::vec3::{Vec3, max_abs_component};

/// How to split a set of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The cheapest of the planes between this many bins along each axis; 2 to 64.
    BinnedSah(usize),
    /// Half the primitives on each side, along the widest axis.
    Median,
}

/// Parameters of the builder. None of them can change an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuildSettings {
    /// How to split.
    pub split: Split,
    /// The most primitives in a leaf, 1 to [`super::MAX_LEAF_PRIMITIVES`].
    pub max_leaf: usize,
    /// Cost of visiting a node relative to testing one primitive.
    pub traversal_cost: f32,
    /// Improve the tree by moving subtrees to better places.
    pub optimise: bool,
}

impl Default for BuildSettings {
    fn default() -> Self {
        super::Bvh2::SETTINGS
    }
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aabb {
    pub(crate) lo: Vec3,
    pub(crate) hi: Vec3,
}

impl Aabb {
    pub(crate) const EMPTY: Self =
        Self { lo: Vec3::splat(f32::INFINITY), hi: Vec3::splat(f32::NEG_INFINITY) };

    #[inline(always)]
    pub(crate) fn include(&mut self, o: &Self) {
        self.lo = Vec3 { x: min(self.lo.x, o.lo.x), y: min(self.lo.y, o.lo.y), z: min(self.lo.z, o.lo.z) };
        self.hi = Vec3 { x: max(self.hi.x, o.hi.x), y: max(self.hi.y, o.hi.y), z: max(self.hi.z, o.hi.z) };
    }

    /// Half the surface area; zero for the empty box.
    #[inline(always)]
    pub(crate) fn half_area(&self) -> f32 {
        let d = self.hi - self.lo;
        if d.x < 0.0 { 0.0 } else { d.x * d.y + d.y * d.z + d.z * d.x }
    }

    /// Twice the centre.
    #[inline(always)]
    fn center2(&self) -> Vec3 {
        self.lo + self.hi
    }
}

/// The box around two.
#[inline(always)]
pub(super) fn joined(mut a: Aabb, b: Aabb) -> Aabb {
    a.include(&b);
    a
}

/// A primitive as the builder sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    pub(crate) bounds: Aabb,
    pub(crate) index: u32,
}

/// A child of a built node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    /// Index of an inner node.
    Inner(u32),
    /// A range of references.
    Leaf {
        /// Index of the first reference.
        first: u32,
        /// How many; at least 1.
        count: u32,
    },
}

/// An inner node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Built {
    pub(crate) bounds: [Aabb; 2],
    pub(crate) children: [Child; 2],
}

impl Built {
    /// What no node is, since leaves have references.
    const UNUSED: Self = Self { bounds: [Aabb::EMPTY; 2], children: [Child::Leaf { first: 0, count: 0 }; 2] };

    fn is_used(&self) -> bool {
        !matches!(self.children[0], Child::Leaf { count: 0, .. })
    }
}

/// A tree over references, which it has reordered.
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Built>,
    pub(crate) root: Option<Child>,
}

impl Tree {
    /// The largest absolute coordinate of its boxes; zero of a tree without inner nodes.
    pub(crate) fn farthest(&self) -> f32 {
        let Some(Child::Inner(root)) = self.root else { return 0.0 };
        let corners = self.nodes[root as usize].bounds.iter().flat_map(|b| [b.lo, b.hi]);
        corners.map(max_abs_component).fold(0.0, max)
    }
}

/// Below this depth splits are by median, which bounds the depth by that of a balanced tree more.
const SAH_DEPTH: u32 = 40;

/// Sets larger than this are built by two tasks.
pub(super) const PARALLEL: usize = 8192;

/// How references are divided at the top of a tree.
#[derive(Clone, Debug, Default)]
pub(crate) enum Top {
    /// That is for the builder to decide.
    #[default]
    Open,
    /// So many go left, the others right; and how each of the two is divided.
    Divided(usize, Box<[Top; 2]>),
}

impl Top {
    /// How those of `count` references are divided that `kept` says are kept, one after the other; and how many they are.
    pub(crate) fn of_those(self, kept: &mut impl Iterator<Item = bool>, count: usize) -> (usize, Self) {
        match self {
            Self::Open => (kept.take(count).filter(|&kept| kept).count(), Self::Open),
            Self::Divided(left, sides) => {
                let [a, b] = *sides;
                let (of_a, a) = a.of_those(kept, left);
                let (of_b, b) = b.of_those(kept, count - left);
                let top = match (of_a, of_b) {
                    (0, _) => b,
                    (_, 0) => a,
                    _ => Self::Divided(of_a, Box::new([a, b])),
                };
                (of_a + of_b, top)
            }
        }
    }
}

/// Builds a tree; deterministic for equal input, whatever the number of threads.
pub(crate) fn build(references: &mut [Reference], settings: &BuildSettings) -> Tree {
    build_below(&Top::Open, references, settings)
}

/// The same where the surface area heuristic has divided the references at the top already.
pub(crate) fn build_below(top: &Top, references: &mut [Reference], settings: &BuildSettings) -> Tree {
    let top = if matches!(settings.split, Split::BinnedSah(_)) { top } else { &Top::Open };
    if settings.optimise {
        // Single references can find a better place than groups; they are grouped again at the end.
        let single = top_down(top, references, &BuildSettings { max_leaf: 1, ..*settings });
        if let Some(optimised) = optimise(single, references, settings) {
            return optimised;
        }
    }
    top_down(top, references, settings)
}

fn top_down(top: &Top, references: &mut [Reference], settings: &BuildSettings) -> Tree {
    if references.is_empty() {
        return Tree { nodes: Vec::new(), root: None };
    }
    // A subtree over n references has at most n - 1 inner nodes, so each task owns a range of slots.
    let mut slots = vec![Built::UNUSED; references.len() - 1];
    let bounds = bounds_of(references);
    let root = Builder { settings }.subtree(top, references, &bounds, 0, &mut slots, 0, 0);
    compact(slots, root)
}

struct Builder<'a> {
    settings: &'a BuildSettings,
}

impl Builder<'_> {
    /// Builds over `references`, which `bounds` encloses and which start at index `first`, into `slots`, which start at
    /// index `base`.
    fn subtree(
        &self,
        top: &Top,
        references: &mut [Reference],
        bounds: &Aabb,
        first: u32,
        slots: &mut [Built],
        base: u32,
        depth: u32,
    ) -> Child {
        let leaf = Child::Leaf { first, count: references.len() as u32 };
        let (middle, tops) = match top {
            Top::Divided(middle, tops) => (Some(*middle), &**tops),
            Top::Open => (self.split(references, bounds, depth), const { &[Top::Open, Top::Open] }),
        };
        let Some(middle) = middle else { return leaf };
        let (left, right) = references.split_at_mut(middle);
        let bounds = [bounds_of(left), bounds_of(right)];
        let Some((own, rest)) = slots.split_first_mut() else { return leaf };
        let (left_slots, right_slots) = rest.split_at_mut(middle - 1);
        let right_base = base + middle as u32;
        let parallel = left.len() + right.len() > PARALLEL;
        let mut build_left =
            || self.subtree(&tops[0], left, &bounds[0], first, left_slots, base + 1, depth + 1);
        let mut build_right = || {
            self.subtree(
                &tops[1],
                right,
                &bounds[1],
                first + middle as u32,
                right_slots,
                right_base,
                depth + 1,
            )
        };
        let (a, b) =
            if parallel { rayon::join(build_left, build_right) } else { (build_left(), build_right()) };
        *own = Built { bounds, children: [a, b] };
        Child::Inner(base)
    }

    /// Orders `references` so that the first part goes left; `None` for a leaf.
    fn split(&self, references: &mut [Reference], bounds: &Aabb, depth: u32) -> Option<usize> {
        let n = references.len();
        if n == 1 {
            return None;
        }
        if let ([a, b], 1) = (&mut *references, self.settings.max_leaf) {
            order_pair(a, b);
            return Some(1);
        }
        match self.settings.split {
            Split::BinnedSah(bins) if depth < SAH_DEPTH => {
                let plane = match bins.clamp(2, MAX_BINS) {
                    bins @ ..=FEW_BINS => best_plane::<FEW_BINS>(references, bins),
                    bins => best_plane::<MAX_BINS>(references, bins),
                };
                let leaf_cost = n as f32 * bounds.half_area();
                match plane {
                    Some(plane) => {
                        let node_cost = self.settings.traversal_cost * bounds.half_area();
                        if n <= self.settings.max_leaf && leaf_cost <= plane.cost + node_cost {
                            return None;
                        }
                        Some(partition(references, &plane))
                    }
                    None if n <= self.settings.max_leaf => None,
                    None => Some(median(references)),
                }
            }
            _ if n <= self.settings.max_leaf => None,
            _ => Some(median(references)),
        }
    }
}

pub(super) fn bounds_of(references: &[Reference]) -> Aabb {
    let mut bounds = Aabb::EMPTY;
    for reference in references {
        bounds.include(&reference.bounds);
    }
    bounds
}

pub(super) fn axis(v: Vec3, axis: usize) -> f32 {
    match axis {
        0 => v.x,
        1 => v.y,
        _ => v.z,
    }
}

const MAX_BINS: usize = 64;

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
fn order_pair(a: &mut Reference, b: &mut Reference) {
    let [of_a, of_b] = [&*a, &*b].map(|r| (r.bounds.center2().to_array(), r.index));
    if of_b < of_a {
        std::mem::swap(a, b);
    }
}

/// Splits in half along the axis where centres spread most.
fn median(references: &mut [Reference]) -> usize {
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

/// Leaves out the slots that are not used. They are numbered in depth-first order already; only the gaps go.
fn compact(mut nodes: Vec<Built>, root: Child) -> Tree {
    if nodes.iter().all(Built::is_used) {
        return Tree { nodes, root: Some(root) };
    }
    let mut renumbered = Vec::with_capacity(nodes.len());
    let mut used = 0;
    for node in &nodes {
        renumbered.push(used);
        used += u32::from(node.is_used());
    }
    nodes.retain(Built::is_used);
    let renumber = |child: Child| match child {
        Child::Inner(i) => Child::Inner(renumbered[i as usize]),
        leaf => leaf,
    };
    for node in &mut nodes {
        node.children = node.children.map(renumber);
    }
    Tree { nodes, root: Some(renumber(root)) }
}
