//! Collapses leaves: merges subtrees into leaves of several references where the SAH favours it (Aila and
//! Laine 2009). The resulting nodes are in depth-first order.

use crate::aabb::Aabb;
use crate::build::build_node::{LEAF, Node};
use crate::build::{BuildSettings, PARALLEL};
use lockstep_core::math::max;
use lockstep_core::math::vec3::max_abs_component;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// A child of a built node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    /// Index of an inner node.
    Inner(u32),
    /// A range of the tree's order.
    Leaf {
        /// First place in the order.
        first: u32,
        /// Number of references, at least 1.
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
    /// Fills slots before nodes are written.
    const NONE: Self = Self { bounds: [Aabb::EMPTY; 2], children: [Child::Leaf { first: 0, count: 0 }; 2] };
}

/// A tree over references.
pub(crate) struct Tree {
    /// Indices of the references in the order of the leaves.
    pub(crate) order: Vec<u32>,
    pub(crate) nodes: Vec<Built>,
    pub(crate) root: Option<Child>,
}

impl Tree {
    /// The largest absolute coordinate of its boxes; zero for a tree without inner nodes.
    pub(crate) fn farthest(&self) -> f32 {
        let Some(Child::Inner(root)) = self.root else { return 0.0 };
        let corners = self.nodes[root as usize].bounds.iter().flat_map(|b| [b.lo, b.hi]);
        corners.map(max_abs_component).fold(0.0, max)
    }
}

/// Collapses the leaves of a tree with one reference per leaf.
pub(crate) fn collapse_leaves(nodes: Vec<Node>, settings: &BuildSettings) -> Tree {
    if nodes.is_empty() {
        return Tree { order: Vec::new(), nodes: Vec::new(), root: None };
    }
    let sizes = (0..nodes.len()).into_par_iter().map(|_| Size::default()).collect();
    let collapse = Collapse { nodes, settings, sizes };
    let whole = collapse.measure(0, 0);
    let mut order = vec![0; whole.references as usize];
    let mut built: Vec<Built> = (0..whole.inner).into_par_iter().map(|_| Built::NONE).collect();
    let root = collapse.write(0, &mut order, &mut built, 0, 0);
    Tree { order, nodes: built, root: Some(root) }
}

/// Size of a subtree after collapsing.
#[derive(Default)]
struct Size {
    references: AtomicU32,
    /// Inner nodes, the root included; zero where it becomes a leaf.
    inner: AtomicU32,
}

/// Size and SAH cost of a subtree after collapsing.
#[derive(Clone, Copy)]
struct Measure {
    references: u32,
    inner: u32,
    cost: f32,
}

/// Nodes above this depth are measured by two tasks.
const SPLIT_DEPTH: u32 = 12;

struct Collapse<'a> {
    nodes: Vec<Node>,
    settings: &'a BuildSettings,
    sizes: Vec<Size>,
}

impl Collapse<'_> {
    /// Decides bottom-up which subtrees become leaves, and stores the sizes of all.
    fn measure(&self, node: u32, depth: u32) -> Measure {
        let Node { area, content, .. } = self.nodes[node as usize];
        if content & LEAF != 0 {
            self.sizes[node as usize].references.store(1, Ordering::Relaxed);
            return Measure { references: 1, inner: 0, cost: area };
        }
        let (left, right) = (|| self.measure(content, depth + 1), || self.measure(content + 1, depth + 1));
        let (a, b) = if depth < SPLIT_DEPTH { rayon::join(left, right) } else { (left(), right()) };
        let references = a.references + b.references;
        // SAH cost as an inner node and as a leaf
        let split = self.settings.traversal_cost * area + a.cost + b.cost;
        let together = area * references as f32;
        let is_leaf = references as usize <= self.settings.max_leaf && together <= split;
        let (inner, cost) = if is_leaf { (0, together) } else { (1 + a.inner + b.inner, split) };
        let size = &self.sizes[node as usize];
        size.references.store(references, Ordering::Relaxed);
        size.inner.store(inner, Ordering::Relaxed);
        Measure { references, inner, cost }
    }

    fn references_below(&self, node: u32) -> usize {
        self.sizes[node as usize].references.load(Ordering::Relaxed) as usize
    }

    fn inner_below(&self, node: u32) -> usize {
        self.sizes[node as usize].inner.load(Ordering::Relaxed) as usize
    }

    /// Writes a subtree: its order, which begins at `first`, and its inner nodes, which begin at `base`.
    fn write(&self, node: u32, order: &mut [u32], built: &mut [Built], first: u32, base: u32) -> Child {
        let Some((own, rest)) = built.split_first_mut() else {
            self.write_leaf(node, order);
            return Child::Leaf { first, count: order.len() as u32 };
        };
        let left = self.nodes[node as usize].content;
        let right = left + 1;
        let (references, inner) = (self.references_below(left), self.inner_below(left));
        let is_large = order.len() > PARALLEL;
        let (left_order, right_order) = order.split_at_mut(references);
        let (left_built, right_built) = rest.split_at_mut(inner);
        let right_first = first + references as u32;
        let right_base = base + 1 + inner as u32;
        let mut write_left = || self.write(left, left_order, left_built, first, base + 1);
        let mut write_right = || self.write(right, right_order, right_built, right_first, right_base);
        let (a, b) =
            if is_large { rayon::join(write_left, write_right) } else { (write_left(), write_right()) };
        let bounds = [left, right].map(|child| self.nodes[child as usize].bounds);
        *own = Built { bounds, children: [a, b] };
        Child::Inner(base)
    }

    /// Writes the order of a subtree that becomes a leaf.
    fn write_leaf(&self, node: u32, order: &mut [u32]) {
        let content = self.nodes[node as usize].content;
        if content & LEAF != 0 {
            order[0] = content & !LEAF;
            return;
        }
        let (left, right) = order.split_at_mut(self.references_below(content));
        self.write_leaf(content, left);
        self.write_leaf(content + 1, right);
    }
}
