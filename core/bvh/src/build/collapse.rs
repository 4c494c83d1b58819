//! Collapses a binary tree to an 8-wide one at minimal SAH cost.
//!
//! Dynamic programming over the binary tree (Ylitie, Karras and Laine, HPG 2017): for every subtree, the
//! minimal cost of representing it by a forest of at most `k` wide children, `k` from 1 to 7. A wide child is
//! a node or a leaf block.

use crate::aabb::{Aabb, joined};
use crate::build::PARALLEL;
use crate::build::collapse_leaves::{Built, Child, Tree};
use bytemuck::Zeroable;
use std::cmp::Reverse;

/// Maximum number of children of a wide node.
pub(crate) const WIDTH: usize = 8;

/// Cost of visiting a wide node relative to testing one block of triangles.
const NODE_COST: f32 = 1.2;

/// A child of a wide node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideChild {
    pub(crate) bounds: Aabb,
    pub(crate) kind: Child,
}

/// A wide node: its children, at least two and at most [`WIDTH`].
pub(crate) type WideNode = Vec<WideChild>;

/// A wide tree. Inner children are indices into `nodes`; leaves are ranges of the references that the binary
/// tree is over.
pub(crate) struct WideTree {
    pub(crate) nodes: Vec<WideNode>,
    pub(crate) root: Option<Child>,
}

/// Minimal costs of a subtree.
#[derive(Clone, Copy, Zeroable)]
struct Costs {
    /// As a forest of at most `k + 1` wide children.
    by_children: [f32; WIDTH - 1],
    /// Range of its references in the tree's order.
    first: u32,
    count: u32,
    /// True when its cheapest single child is a leaf.
    is_leaf: bool,
}

/// Collapses `tree`; leaves hold at most `max_leaf` references, except leaves of the binary tree that are
/// larger.
pub(crate) fn collapse(tree: &Tree, max_leaf: u32) -> WideTree {
    let Some(root) = tree.root else { return WideTree { nodes: Vec::new(), root: None } };
    let mut costs = bytemuck::zeroed_vec(tree.nodes.len());
    if let Child::Inner(root) = root {
        cost_all(tree, max_leaf, root, &mut costs);
    }
    let collapse = Collapse { tree, costs, max_leaf };
    let mut nodes = Vec::new();
    let root = match root {
        Child::Inner(node) if !collapse.costs[node as usize].is_leaf => collapse.emit(node, &mut nodes),
        child => collapse.leaf(child),
    };
    WideTree { nodes, root: Some(root) }
}

struct Collapse<'a> {
    tree: &'a Tree,
    costs: Vec<Costs>,
    max_leaf: u32,
}

/// Computes the costs of a subtree bottom-up, and returns its root's. Nodes are in depth-first order.
fn cost_all(tree: &Tree, max_leaf: u32, node: u32, costs: &mut [Costs]) -> Costs {
    let Built { bounds, children } = &tree.nodes[node as usize];
    let is_large = costs.len() > PARALLEL;
    let (own, below) = costs.split_at_mut(1);
    let of_left = match children[1] {
        Child::Inner(right) => (right - node - 1) as usize,
        Child::Leaf { .. } => below.len(),
    };
    let (left, right) = below.split_at_mut(of_left);
    let of_child = |side: usize, below: &mut [Costs]| match children[side] {
        Child::Inner(child) => cost_all(tree, max_leaf, child, below),
        Child::Leaf { first, count } => Costs::of_leaf(first, count, &bounds[side], max_leaf),
    };
    let (mut left, mut right) = (|| of_child(0, left), || of_child(1, right));
    let (a, b) = if is_large { rayon::join(left, right) } else { (left(), right()) };

    let area = joined(bounds[0], bounds[1]).half_area();
    let as_node = cheapest_split(&a, &b, WIDTH).0 + NODE_COST * area;
    let count = a.count + b.count;
    let as_leaf = if count <= max_leaf { area } else { f32::INFINITY };
    let mut by_children = [as_node.min(as_leaf); WIDTH - 1];
    for k in 1..WIDTH - 1 {
        by_children[k] = by_children[k - 1].min(cheapest_split(&a, &b, k + 1).0);
    }
    own[0] = Costs { by_children, first: a.first.min(b.first), count, is_leaf: as_leaf <= as_node };
    own[0]
}

impl Costs {
    fn of_leaf(first: u32, count: u32, bounds: &Aabb, max_leaf: u32) -> Self {
        let blocks = count.div_ceil(max_leaf) as f32;
        Self { by_children: [blocks * bounds.half_area(); WIDTH - 1], first, count, is_leaf: true }
    }
}

impl Collapse<'_> {
    fn costs_of(&self, child: Child, bounds: &Aabb) -> Costs {
        match child {
            Child::Inner(node) => self.costs[node as usize],
            Child::Leaf { first, count } => Costs::of_leaf(first, count, bounds, self.max_leaf),
        }
    }

    fn leaf(&self, child: Child) -> Child {
        match child {
            Child::Inner(node) => {
                let Costs { first, count, .. } = self.costs[node as usize];
                Child::Leaf { first, count }
            }
            leaf => leaf,
        }
    }

    /// Appends the wide nodes of a subtree; parents come before children.
    fn emit(&self, node: u32, nodes: &mut Vec<WideNode>) -> Child {
        let index = nodes.len();
        nodes.push(Vec::new());
        let mut children = Vec::with_capacity(WIDTH);
        self.gather(node, WIDTH, &mut children);
        // Any-hit traversal visits the last child first. Of boxes of like size, the one with the fewest
        // primitives has the largest ones, which are likely occluders, and is traversed soonest.
        children.sort_by_key(|child| Reverse(self.costs_of(child.kind, &child.bounds).count));
        for child in &mut children {
            child.kind = match child.kind {
                Child::Inner(node) if !self.costs[node as usize].is_leaf => self.emit(node, nodes),
                kind => self.leaf(kind),
            };
        }
        nodes[index] = children;
        Child::Inner(index as u32)
    }

    /// Gathers at most `slots` wide children of a binary node, by the minimal cost.
    fn gather(&self, node: u32, slots: usize, into: &mut Vec<WideChild>) {
        let node = &self.tree.nodes[node as usize];
        let [a, b] = [0, 1].map(|i| self.costs_of(node.children[i], &node.bounds[i]));
        let left = cheapest_split(&a, &b, slots).1;
        for (i, (costs, slots)) in [(a, left), (b, slots - left)].into_iter().enumerate() {
            let slots = fewest(&costs, slots);
            match node.children[i] {
                Child::Inner(inner) if slots > 1 => self.gather(inner, slots, into),
                kind => into.push(WideChild { bounds: node.bounds[i], kind }),
            }
        }
    }
}

/// The cheapest distribution of `slots` children to two subtrees: its cost, and the first one's number.
fn cheapest_split(a: &Costs, b: &Costs, slots: usize) -> (f32, usize) {
    let cost = |left: usize| a.by_children[left - 1] + b.by_children[slots - left - 1];
    (1..slots).map(|left| (cost(left), left)).fold((f32::INFINITY, 1), |x, y| if y.0 < x.0 { y } else { x })
}

/// The smallest number of children at which a subtree costs no more than with `slots`.
fn fewest(costs: &Costs, slots: usize) -> usize {
    (1..=slots).find(|&k| costs.by_children[k - 1] <= costs.by_children[slots - 1]).unwrap_or(slots)
}
