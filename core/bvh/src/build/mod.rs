//! Top-down construction by the binned surface area heuristic (Wald 2007).

pub(crate) mod binning;
pub(crate) mod build_node;
pub(crate) mod collapse;
pub(crate) mod collapse_leaves;
pub(crate) mod occlusion_order;
pub(crate) mod polygon;
pub(crate) mod presplit;
pub(crate) mod reinsertion;
pub(crate) mod sbvh;
pub(crate) mod wide;

use crate::aabb::{Reference, bounds_of, joined};
use crate::build::binning::{
    COARSE_BINS, MAX_BINS, SMALL_SET, best_plane, gather, median, order_pair, partition, split_small_set,
};
use crate::build::build_node::{LEAF, Node};
use crate::build::collapse_leaves::{Tree, collapse_leaves};
use crate::build::reinsertion::reinsert;
use lockstep_core::math::vec3::Vec3;

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
    /// The most primitives in a leaf, 1 to [`crate::MAX_LEAF_PRIMITIVES`].
    pub max_leaf: usize,
    /// Cost of visiting a node relative to testing one primitive.
    pub traversal_cost: f32,
    /// Improve the tree by moving subtrees to better places.
    pub reinsert: bool,
}

impl Default for BuildSettings {
    fn default() -> Self {
        crate::Bvh2::SETTINGS
    }
}

/// Below this depth splits are by median, which bounds the depth by that of a balanced tree more.
const SAH_DEPTH: u32 = 40;

/// Sets larger than this are looked at by two tasks.
pub(crate) const PARALLEL: usize = 8192;

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

/// Builds a tree over boxes, one a leaf, by their places.
pub(crate) fn build_over(boxes: &[[Vec3; 2]], settings: &BuildSettings) -> Tree {
    let reference = |(index, &corners): (u32, &[Vec3; 2])| Reference { bounds: corners.into(), index };
    build((0..).zip(boxes).map(reference).collect(), &BuildSettings { max_leaf: 1, ..*settings })
}

/// Builds a tree; deterministic for equal input, whatever the number of threads. Indices are less than 2^31.
pub(crate) fn build(references: Vec<Reference>, settings: &BuildSettings) -> Tree {
    build_below(&Top::Open, references, settings)
}

/// The same where the surface area heuristic has divided the references at the top already.
pub(crate) fn build_below(top: &Top, references: Vec<Reference>, settings: &BuildSettings) -> Tree {
    let top = if matches!(settings.split, Split::BinnedSah(_)) { top } else { &Top::Open };
    // Single references can find a better place than groups; they are grouped at the end.
    let mut nodes = top_down(top, references, settings.split);
    if settings.reinsert && !reinsert(&mut nodes) {
        nodes = top_down(&Top::Open, build_node::references(&nodes), settings.split);
    }
    collapse_leaves(nodes, settings)
}

/// The nodes of a tree with one reference a leaf.
fn top_down(top: &Top, mut references: Vec<Reference>, split: Split) -> Vec<Node> {
    if references.is_empty() {
        return Vec::new();
    }
    let mut nodes: Vec<Node> = bytemuck::zeroed_vec(2 * references.len() - 1);
    let (pairs, _) = nodes[1..].as_chunks_mut();
    let bounds = gather(&references, &bounds_of, &joined);
    let content =
        Builder { split }.subtree(top, &mut references, pairs, Place { node: 0, pair: 0, depth: 0 });
    nodes[0] = Node::new(bounds, 0, content);
    nodes
}

/// Where a subtree goes.
struct Place {
    /// The number of its root.
    node: u32,
    /// The first of its pairs of siblings: a tree over n references has n - 1, so each subtree has its own range.
    pair: u32,
    depth: u32,
}

struct Builder {
    split: Split,
}

impl Builder {
    /// Builds over at least one reference into `pairs`, and returns the content of the root.
    fn subtree(&self, top: &Top, references: &mut [Reference], pairs: &mut [[Node; 2]], place: Place) -> u32 {
        let Some((own, rest)) = pairs.split_first_mut() else { return LEAF | references[0].index };
        let (middle, tops) = match top {
            Top::Divided(middle, tops) => (*middle, &**tops),
            Top::Open => (self.split(references, place.depth), const { &[Top::Open, Top::Open] }),
        };
        let is_large = references.len() > PARALLEL;
        let (left, right) = references.split_at_mut(middle);
        let bounds = [&*left, &*right].map(|side| gather(side, &bounds_of, &joined));
        let (left_pairs, right_pairs) = rest.split_at_mut(middle - 1);
        let Place { node: parent, pair, depth } = place;
        let node = 2 * pair + 1;
        let left_place = Place { node, pair: pair + 1, depth: depth + 1 };
        let right_place = Place { node: node + 1, pair: pair + middle as u32, depth: depth + 1 };
        let build_left = || self.subtree(&tops[0], left, left_pairs, left_place);
        let build_right = || self.subtree(&tops[1], right, right_pairs, right_place);
        let (a, b) =
            if is_large { rayon::join(build_left, build_right) } else { (build_left(), build_right()) };
        *own = [Node::new(bounds[0], parent, a), Node::new(bounds[1], parent, b)];
        node
    }

    /// Orders two references or more so that the first part, whose length it returns, goes left.
    fn split(&self, references: &mut [Reference], depth: u32) -> usize {
        if let [a, b] = references {
            order_pair(a, b);
            return 1;
        }
        match self.split {
            Split::BinnedSah(_) if references.len() <= SMALL_SET => split_small_set(references),
            Split::BinnedSah(bins) if depth < SAH_DEPTH => {
                let plane = match bins.clamp(2, MAX_BINS) {
                    bins @ ..=COARSE_BINS => best_plane::<COARSE_BINS>(references, bins),
                    bins => best_plane::<MAX_BINS>(references, bins),
                };
                match plane {
                    Some(plane) => partition(references, &plane),
                    None => median(references),
                }
            }
            _ => median(references),
        }
    }
}
