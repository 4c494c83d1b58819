//! Insertion-based optimisation of a built tree (Bittner, Hapala and Havran 2013; in parallel, Meister and
//! Bittner 2018).
//!
//! A subtree is removed where its parent's box is large, and reinserted where it enlarges boxes least. The
//! result is a valid BVH like any other, so hits do not change.

use crate::aabb::joined;
use crate::build::build_node::{LEAF, Node, sibling};
use rayon::prelude::*;

/// Maximum number of rounds.
const ROUNDS: usize = 8;
/// One node in this many, by area, is a candidate in a round.
const CANDIDATES: usize = 8;
/// A round that gains less than this fraction of the tree's area is the last.
const LEAST_GAIN: f64 = 2e-3;
/// Maximum depth, for which the traversal stack holds both levels; a deeper tree is discarded.
const MAX_DEPTH: u32 = 90;
/// Trees over fewer references are not optimised.
const SMALLEST: usize = 8;

/// A reinsertion: the subtree, its new sibling, and the area it saves.
#[derive(Clone, Copy)]
struct Move {
    node: u32,
    beside: u32,
    gain: f32,
}

/// Optimises a tree with one reference per leaf; false where it grew too deep.
///
/// Deterministic, whatever the number of threads.
pub(crate) fn reinsert(nodes: &mut [Node]) -> bool {
    if nodes.len() < 2 * SMALLEST - 1 {
        return true;
    }
    improve(nodes);
    depth(nodes) <= MAX_DEPTH
}

fn improve(nodes: &mut [Node]) {
    let take = ((nodes.len() - 1) / CANDIDATES).max(1);
    let mut touched = vec![false; nodes.len()];
    for _ in 0..ROUNDS {
        // Find the best position of each candidate
        let candidates = largest(nodes, take);
        let found = candidates.par_iter().with_min_len(64).filter_map(|&node| best_place(nodes, node));
        let mut moves: Vec<Move> = found.collect();
        moves.par_sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.node.cmp(&b.node)));
        // Apply the moves that do not conflict, best first
        let whole = total_area(nodes);
        touched.fill(false);
        let mut gained = 0.0;
        for m in moves {
            if claim(nodes, &mut touched, &m) {
                apply(nodes, &m);
                gained += f64::from(m.gain);
            }
        }
        if gained < LEAST_GAIN * whole {
            break;
        }
    }
}

/// Nodes per task, fixed so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// The sum of all nodes' areas, in a fixed order.
fn total_area(nodes: &[Node]) -> f64 {
    let of_chunk = |chunk: &[Node]| chunk.iter().map(|n| f64::from(n.area)).sum();
    let sums: Vec<f64> = nodes.par_chunks(CHUNK).map(of_chunk).collect();
    sums.iter().sum()
}

/// Selects the `take` nodes of largest area except the root, unordered; of equal ones the first.
fn largest(nodes: &[Node], take: usize) -> Vec<u32> {
    // Areas are not negative, so their bits are in the same order
    let class = |node: u32| (nodes[node as usize].area.to_bits() >> 16) as usize;
    let all = || (1..nodes.len() as u32).into_par_iter().with_min_len(CHUNK);
    let empty = || vec![0usize; 1 << 16];
    let count = |mut counts: Vec<usize>, node| {
        counts[class(node)] += 1;
        counts
    };
    let add = |mut a: Vec<usize>, b: Vec<usize>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    // Histogram by the upper bits
    let counts = all().fold(empty, count).reduce(empty, add);
    let (mut above, mut last) = (0, counts.len() - 1);
    while last > 0 && above + counts[last] < take {
        above += counts[last];
        last -= 1;
    }
    // All above the border class, and the largest within it
    let mut chosen: Vec<u32> = all().filter(|&node| class(node) > last).collect();
    let mut border: Vec<u32> = all().filter(|&node| class(node) == last).collect();
    let area = |node: u32| nodes[node as usize].area;
    border.par_sort_unstable_by(|&a, &b| area(b).total_cmp(&area(a)).then(a.cmp(&b)));
    chosen.extend(&border[..(take - above).min(border.len())]);
    chosen
}

/// The position of least area for a subtree, by branch-and-bound search; `None` where its own is the best.
fn best_place(nodes: &[Node], node: u32) -> Option<Move> {
    let at = |i: u32| &nodes[i as usize];
    let (moved, parent) = (at(node), at(node).parent);
    if parent == 0 {
        return None;
    }
    let mut best = Move { node, beside: node, gain: 0.0 };
    // Area saved by removal up to the pivot, an ancestor whose other child is searched next
    let mut saved = at(parent).area;
    let mut pivot = parent;
    let mut shrunk = at(sibling(node)).bounds;
    let mut other = sibling(node);
    let mut open = Vec::with_capacity(64);
    loop {
        open.push((saved, other));
        while let Some((gain, place)) = open.pop() {
            // Prune: a box around both is at least as large as the subtree's own
            if gain - moved.area <= best.gain {
                continue;
            }
            let gain_here = gain - joined(at(place).bounds, moved.bounds).half_area();
            if gain_here > best.gain {
                best = Move { node, beside: place, gain: gain_here };
            }
            if !at(place).is_leaf() {
                let below = gain_here + at(place).area;
                if below - moved.area > best.gain {
                    open.push((below, at(place).content));
                    open.push((below, at(place).content + 1));
                }
            }
        }
        // Move the pivot up and shrink its box
        if pivot == 0 {
            break;
        }
        if pivot != parent {
            shrunk.include(&at(other).bounds);
            saved += at(pivot).area - shrunk.half_area();
        }
        other = sibling(pivot);
        pivot = at(pivot).parent;
    }
    (best.beside != sibling(node) && best.gain > 0.0).then_some(best)
}

/// Locks the nodes of a move; false when an earlier move of this round has locked one of them.
fn claim(nodes: &[Node], touched: &mut [bool], m: &Move) -> bool {
    let parent = nodes[m.node as usize].parent;
    let involved = [
        m.node,
        m.beside,
        sibling(m.node),
        parent,
        nodes[parent as usize].parent,
        nodes[m.beside as usize].parent,
    ];
    if involved.iter().any(|&i| touched[i as usize]) {
        return false;
    }
    for i in involved {
        touched[i as usize] = true;
    }
    true
}

/// Removes a subtree and reinserts it beside another.
fn apply(nodes: &mut [Node], m: &Move) {
    let parent = nodes[m.node as usize].parent;
    let freed = sibling(m.node);
    // The sibling takes its parent's place, which frees a pair of nodes.
    relocate(nodes, freed, parent);
    // The pair becomes the children of the place found.
    relocate(nodes, m.beside, freed);
    nodes[m.beside as usize].content = m.node.min(freed);
    nodes[m.node as usize].parent = m.beside;
    nodes[freed as usize].parent = m.beside;
    refit(nodes, nodes[parent as usize].parent);
    refit(nodes, m.beside);
}

/// Moves a node's subtree to another slot, which keeps its own parent.
fn relocate(nodes: &mut [Node], from: u32, to: u32) {
    let parent = nodes[to as usize].parent;
    nodes[to as usize] = Node { parent, ..nodes[from as usize] };
    let content = nodes[to as usize].content;
    if content & LEAF == 0 {
        nodes[content as usize].parent = to;
        nodes[content as usize + 1].parent = to;
    }
}

/// Refits the boxes from a node upwards, up to the first that does not change.
fn refit(nodes: &mut [Node], mut node: u32) {
    loop {
        let content = nodes[node as usize].content;
        if content & LEAF == 0 {
            let bounds = joined(nodes[content as usize].bounds, nodes[content as usize + 1].bounds);
            let before = &nodes[node as usize].bounds;
            if (bounds.lo, bounds.hi) == (before.lo, before.hi) {
                return;
            }
            nodes[node as usize].bounds = bounds;
            nodes[node as usize].area = bounds.half_area();
        }
        if node == 0 {
            return;
        }
        node = nodes[node as usize].parent;
    }
}

fn depth(nodes: &[Node]) -> u32 {
    let mut deepest = 0;
    let mut open = vec![(0u32, 0u32)];
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        let content = nodes[node as usize].content;
        if content & LEAF == 0 {
            open.push((content, depth + 1));
            open.push((content + 1, depth + 1));
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::{Aabb, Reference};
    use crate::build::collapse_leaves::{Child, Tree};
    use crate::build::{BuildSettings, build};
    use lockstep_core::math::rng::{pcg4d, uniform};
    use lockstep_core::math::vec3::{Vec3, vec3};

    /// Boxes of all shapes in a cube, long ones among them, which top-down builders place badly.
    fn references(count: u32) -> Vec<Reference> {
        let reference = |index: u32| {
            let a = pcg4d([index, 0, 5, 1]).map(uniform);
            let b = pcg4d([index, 1, 5, 1]).map(uniform);
            let lo = vec3(a[0], a[1], a[2]);
            let size = vec3(b[0].powi(6), b[1].powi(6), b[2].powi(6));
            Reference { bounds: Aabb { lo, hi: lo + size + Vec3::splat(1e-3) }, index }
        };
        (0..count).map(reference).collect()
    }

    fn cost(tree: &Tree, settings: &BuildSettings) -> f32 {
        tree.nodes
            .iter()
            .flat_map(|n| n.bounds.iter().zip(&n.children))
            .map(|(bounds, child)| match child {
                Child::Inner(_) => settings.traversal_cost * bounds.half_area(),
                Child::Leaf { count, .. } => *count as f32 * bounds.half_area(),
            })
            .sum()
    }

    #[test]
    fn the_largest_nodes_are_those_that_sorting_puts_first() {
        // Few areas, so that many are equal, over many powers of two.
        let area = |i: u32| 2f32.powi((pcg4d([i, 2, 5, 1])[0] % 40) as i32 - 20);
        let node = |i: u32| Node { bounds: Aabb::EMPTY, area: area(i), parent: 0, content: LEAF };
        let nodes: Vec<Node> = (0..5000).map(node).collect();
        let mut sorted: Vec<u32> = (1..5000).collect();
        sorted.sort_by(|&a, &b| area(b).total_cmp(&area(a)).then(a.cmp(&b)));
        for take in [1, 77, 625, 4998, 4999] {
            let (mut found, mut expected) = (largest(&nodes, take), sorted[..take].to_vec());
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{take}");
        }
    }

    #[test]
    fn a_tree_costs_less_after_reinsertion_and_its_boxes_enclose_every_reference_once() {
        for max_leaf in [1, 4] {
            let settings = BuildSettings { max_leaf, ..BuildSettings::default() };
            let before = build(references(3000), &BuildSettings { reinsert: false, ..settings });
            let after = build(references(3000), &settings);
            let all = references(3000);
            let ordered: Vec<Reference> = after.order.iter().map(|&index| all[index as usize]).collect();
            let (before, after_cost) = (cost(&before, &settings), cost(&after, &settings));
            assert!(after_cost < 0.95 * before, "{after_cost} after, {before} before");

            let mut seen = vec![0; ordered.len()];
            for node in &after.nodes {
                for (bounds, child) in node.bounds.iter().zip(&node.children) {
                    let inside: Vec<Aabb> = match *child {
                        Child::Inner(i) => after.nodes[i as usize].bounds.to_vec(),
                        Child::Leaf { first, count } => {
                            let leaf = &ordered[first as usize..(first + count) as usize];
                            leaf.iter().for_each(|r| seen[r.index as usize] += 1);
                            assert!(count as usize <= max_leaf);
                            leaf.iter().map(|r| r.bounds).collect()
                        }
                    };
                    for b in inside {
                        let both = joined(*bounds, b);
                        assert_eq!((both.lo, both.hi), (bounds.lo, bounds.hi));
                    }
                }
            }
            assert!(seen.iter().all(|&n| n == 1));
        }
    }
}
