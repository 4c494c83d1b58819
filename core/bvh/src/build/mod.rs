//! Top-down construction by the binned surface area heuristic (SAH; Wald 2007).

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

/// The split criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The cheapest of the planes between this many bins along each axis; 2 to 64.
    BinnedSah(usize),
    /// The object median along the widest axis.
    Median,
}

/// Parameters of the builder. None of them can change an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuildSettings {
    /// Split criterion.
    pub split: Split,
    /// Maximum number of primitives in a leaf, 1 to [`crate::MAX_LEAF_PRIMITIVES`].
    pub max_leaf: usize,
    /// Cost of visiting a node relative to testing one primitive.
    pub traversal_cost: f32,
    /// Optimise the tree by reinsertion of subtrees.
    pub reinsert: bool,
}

impl Default for BuildSettings {
    fn default() -> Self {
        crate::Bvh2::SETTINGS
    }
}

/// Depth below which splits are object medians. That bounds the depth of the tree: a balanced subtree
/// follows.
const SAH_DEPTH: u32 = 40;

/// Larger sets are processed by two tasks.
pub(crate) const PARALLEL: usize = 8192;

/// Splits already decided at the top of a tree.
#[derive(Clone, Debug, Default)]
pub(crate) enum Top {
    /// Not decided; the builder splits.
    #[default]
    Open,
    /// The number of references on the left, and the splits of both sides.
    Split(usize, Box<[Top; 2]>),
}

impl Top {
    /// Removes the references of `count` for which `kept` yields false. Returns the number kept and their
    /// splits.
    pub(crate) fn retain(self, kept: &mut impl Iterator<Item = bool>, count: usize) -> (usize, Self) {
        match self {
            Self::Open => (kept.take(count).filter(|&kept| kept).count(), Self::Open),
            Self::Split(left, sides) => {
                let [a, b] = *sides;
                let (of_a, a) = a.retain(kept, left);
                let (of_b, b) = b.retain(kept, count - left);
                let top = match (of_a, of_b) {
                    (0, _) => b,
                    (_, 0) => a,
                    _ => Self::Split(of_a, Box::new([a, b])),
                };
                (of_a + of_b, top)
            }
        }
    }
}

/// Builds a tree over boxes, one per leaf. Its order holds indices of boxes.
pub(crate) fn build_over(boxes: &[[Vec3; 2]], settings: &BuildSettings) -> Tree {
    let reference = |(index, &corners): (u32, &[Vec3; 2])| Reference { bounds: corners.into(), index };
    build((0..).zip(boxes).map(reference).collect(), &BuildSettings { max_leaf: 1, ..*settings })
}

/// Builds a tree; deterministic for equal input, whatever the number of threads. Indices are less than 2^31.
pub(crate) fn build(references: Vec<Reference>, settings: &BuildSettings) -> Tree {
    build_below(&Top::Open, references, settings)
}

/// [`build`] below splits that are already decided.
pub(crate) fn build_below(top: &Top, references: Vec<Reference>, settings: &BuildSettings) -> Tree {
    let top = if matches!(settings.split, Split::BinnedSah(_)) { top } else { &Top::Open };
    // Reinsertion works on single references; leaves are collapsed at the end.
    let mut nodes = top_down(top, references, settings.split);
    if settings.reinsert && !reinsert(&mut nodes) {
        nodes = top_down(&Top::Open, build_node::references(&nodes), settings.split);
    }
    collapse_leaves(nodes, settings)
}

/// Builds the nodes of a tree with one reference per leaf.
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

/// Position of a subtree in the array of nodes.
struct Place {
    /// Index of its root.
    node: u32,
    /// The first pair of siblings. A tree over n references has n - 1 pairs, so each subtree has its own
    /// range.
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
        // Partition the references
        let (middle, tops) = match top {
            Top::Split(middle, tops) => (*middle, &**tops),
            Top::Open => (self.split(references, place.depth), const { &[Top::Open, Top::Open] }),
        };
        // Bound both sides
        let is_large = references.len() > PARALLEL;
        let (left, right) = references.split_at_mut(middle);
        let bounds = [&*left, &*right].map(|side| gather(side, &bounds_of, &joined));
        // Recurse into disjoint ranges of pairs
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

    /// Partitions at least two references, and returns the length of the left side.
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
