//! The build-time binary tree: nodes with parent links, one reference per leaf.

use crate::aabb::{Aabb, Reference};
use bytemuck::Zeroable;

/// A node of the build-time tree. Siblings are adjacent, at `2k + 1` and `2k + 2`; the root is 0.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub(crate) struct Node {
    pub(crate) bounds: Aabb,
    /// Half the surface area of the box.
    pub(crate) area: f32,
    pub(crate) parent: u32,
    /// The first child of an inner node, or `LEAF | index of the reference`.
    pub(crate) content: u32,
}

/// Set in the content of a leaf.
pub(crate) const LEAF: u32 = 1 << 31;

impl Node {
    pub(crate) fn new(bounds: Aabb, parent: u32, content: u32) -> Self {
        Self { bounds, area: bounds.half_area(), parent, content }
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.content & LEAF != 0
    }
}

/// The index of a node's sibling.
pub(crate) fn sibling(node: u32) -> u32 {
    if node % 2 == 1 { node + 1 } else { node - 1 }
}

/// The references of a tree's leaves.
pub(crate) fn references(nodes: &[Node]) -> Vec<Reference> {
    let leaves = nodes.iter().filter(|node| node.is_leaf());
    leaves.map(|leaf| Reference { bounds: leaf.bounds, index: leaf.content & !LEAF }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::Vec3;

    #[test]
    fn the_references_of_a_tree_are_its_leaves() {
        let cube = |size| Aabb { lo: Vec3::ZERO, hi: Vec3::splat(size) };
        let nodes = [
            Node::new(cube(4.0), 0, 1),
            Node::new(cube(1.0), 0, LEAF | 7),
            Node::new(cube(4.0), 0, 3),
            Node::new(cube(2.0), 2, LEAF),
            Node::new(cube(4.0), 2, LEAF | 0x7fff_ffff),
        ];
        let found: Vec<(f32, u32)> = references(&nodes).iter().map(|r| (r.bounds.hi.x, r.index)).collect();
        assert_eq!(found, [(1.0, 7), (2.0, 0), (4.0, 0x7fff_ffff)]);
    }
}
