//! The BVH over patches, eight children to a node.

use lockstep_core::math::simd::Array8;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::math::{max, min};

/// Marks a child that is a patch.
pub(super) const PATCH: u32 = 1 << 31;

/// Boxes and references of up to eight children. Unused ones have a box that no ray hits.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Node {
    /// Lowest, then highest corners.
    pub(super) planes: [Array8; 6],
    /// Index of a node, or of a patch with [`PATCH`].
    pub(super) children: [u32; 8],
}

/// The most levels of nodes: below half of them, parts are halved by their number.
pub(super) const MOST_LEVELS: usize = 96;

/// Bins along an axis.
const BINS: usize = 16;

/// A box.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
}

impl Bounds {
    const NONE: Self = Self { low: [f32::MAX; 3], high: [f32::MIN; 3] };

    fn joined(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|i| min(self.low[i], other.low[i])),
            high: std::array::from_fn(|i| max(self.high[i], other.high[i])),
        }
    }

    fn half_area(&self) -> f32 {
        let [x, y, z] = std::array::from_fn(|i| max(self.high[i] - self.low[i], 0.0));
        x * y + y * z + z * x
    }

    /// Twice the middle along an axis.
    fn middle(&self, axis: usize) -> f32 {
        self.low[axis] + self.high[axis]
    }
}

/// A patch while the BVH is built.
#[derive(Clone, Copy, Debug)]
struct Item {
    bounds: Bounds,
    patch: u32,
}

/// Builds over the boxes of at least one patch. Returns the nodes and the root.
pub(super) fn build(boxes: &[[Vec3; 2]]) -> (Vec<Node>, u32) {
    let item = |(patch, [low, high]): (u32, &[Vec3; 2])| Item {
        bounds: Bounds { low: low.to_array(), high: high.to_array() },
        patch,
    };
    let mut items: Vec<Item> = (0..).zip(boxes).map(item).collect();
    let mut nodes = Vec::new();
    let root = subtree(&mut items, 0, &mut nodes);
    nodes.shrink_to_fit();
    (nodes, root)
}

fn bounds(items: &[Item]) -> Bounds {
    items.iter().fold(Bounds::NONE, |all, item| all.joined(item.bounds))
}

/// Builds the node over some items: the part with the largest box is divided until there are eight,
/// deep down the one with most items.
fn subtree(items: &mut [Item], level: usize, nodes: &mut Vec<Node>) -> u32 {
    let mut parts = vec![(bounds(items), items)];
    while parts.len() < 8 {
        let area = |(of, items): &(Bounds, &mut [Item])| match items.len() {
            1 => -1.0,
            _ if level < MOST_LEVELS / 2 => of.half_area(),
            many => many as f32,
        };
        let largest = (0..parts.len()).max_by(|&a, &b| area(&parts[a]).total_cmp(&area(&parts[b])));
        let Some(largest) = largest.filter(|&part| parts[part].1.len() > 1) else { break };
        let (_, items) = parts.swap_remove(largest);
        let middle = if level < MOST_LEVELS / 2 { divide(items) } else { items.len() / 2 };
        let (left, right) = items.split_at_mut(middle);
        parts.push((bounds(left), left));
        parts.push((bounds(right), right));
    }
    let own = nodes.len();
    let mut node = Node { planes: [[0.0; 8]; 6], children: [0; 8] };
    for axis in 0..3 {
        node.planes[axis] = [f32::MAX; 8];
        node.planes[axis + 3] = [f32::MIN; 8];
    }
    nodes.push(node);
    for (lane, (of, items)) in parts.into_iter().enumerate() {
        for axis in 0..3 {
            node.planes[axis][lane] = of.low[axis];
            node.planes[axis + 3][lane] = of.high[axis];
        }
        node.children[lane] = match items {
            [item] => PATCH | item.patch,
            items => subtree(items, level + 1, nodes),
        };
    }
    nodes[own] = node;
    own as u32
}

/// Divides at least two items by the binned surface area heuristic. Returns the length of the first part.
fn divide(items: &mut [Item]) -> usize {
    let spans = [0, 1, 2].map(|axis| {
        let middles = items.iter().map(|item| item.bounds.middle(axis));
        middles.fold((f32::MAX, f32::MIN), |(low, high), v| (min(low, v), max(high, v)))
    });
    let bin = |item: &Item, axis: usize| {
        let (low, high) = spans[axis];
        let at = (item.bounds.middle(axis) - low) / (high - low) * BINS as f32;
        (at as usize).min(BINS - 1)
    };
    let mut best = (f32::MAX, 0, 0);
    for axis in (0..3).filter(|&axis| spans[axis].0 < spans[axis].1) {
        let mut bins = [(Bounds::NONE, 0usize); BINS];
        for item in items.iter() {
            let (of, count) = &mut bins[bin(item, axis)];
            (*of, *count) = (of.joined(item.bounds), *count + 1);
        }
        let mut after = [0.0; BINS];
        let (mut all, mut count) = (Bounds::NONE, 0);
        for at in (1..BINS).rev() {
            (all, count) = (all.joined(bins[at].0), count + bins[at].1);
            after[at] = all.half_area() * count as f32;
        }
        (all, count) = (Bounds::NONE, 0);
        for at in 1..BINS {
            (all, count) = (all.joined(bins[at - 1].0), count + bins[at - 1].1);
            let cost = all.half_area() * count as f32 + after[at];
            if count > 0 && count < items.len() && cost < best.0 {
                best = (cost, axis, at);
            }
        }
    }
    let (cost, axis, at) = best;
    if cost == f32::MAX {
        return items.len() / 2;
    }
    let mut middle = 0;
    for i in 0..items.len() {
        if bin(&items[i], axis) < at {
            items.swap(i, middle);
            middle += 1;
        }
    }
    middle
}
