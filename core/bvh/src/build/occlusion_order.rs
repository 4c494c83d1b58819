//! Child order for any-hit rays, by expected hit rate per cost (surface area traversal order, SATO; Nah and
//! Manocha 2014).

use crate::aabb::Aabb;
use crate::build::collapse_leaves::{Child, Tree};

/// Occlusion statistics of a subtree.
#[derive(Clone, Copy, Default)]
struct Subtree {
    /// Half the surface area of its primitives.
    area: f32,
    /// Expected number of nodes and primitives tested by a ray that hits its box, by the surface area
    /// heuristic.
    cost: f32,
}

impl Subtree {
    /// Priority of the subtree. Area over cost is the hit rate per test; the cost is squared, since an
    /// unoccluded ray pays it in addition.
    fn merit(self) -> f32 {
        self.area / ((1.0 + self.cost) * (1.0 + self.cost))
    }
}

/// Puts each node's child of greater merit first.
///
/// `area` is half the surface area of the primitive at a place in the order of leaves. Nodes keep their place
/// in memory.
pub(crate) fn order_for_occlusion(tree: &mut Tree, area: impl Fn(u32) -> f32) {
    let mut inner = vec![Subtree::default(); tree.nodes.len()];
    // Bottom-up: nodes precede their children.
    for i in (0..tree.nodes.len()).rev() {
        let node = &mut tree.nodes[i];
        let children = node.children.map(|child| match child {
            Child::Inner(at) => inner[at as usize],
            Child::Leaf { first, count } => {
                Subtree { area: (first..first + count).map(&area).sum(), cost: count as f32 }
            }
        });
        let [a, b] = children;
        inner[i] = joined(&node.bounds, children);
        if b.merit() > a.merit() {
            node.bounds.swap(0, 1);
            node.children.swap(0, 1);
        }
    }
}

fn joined(bounds: &[Aabb; 2], [a, b]: [Subtree; 2]) -> Subtree {
    let mut around = bounds[0];
    around.include(&bounds[1]);
    // A box without area is hit as often as its content.
    let share = |inside: &Aabb| match around.half_area() {
        whole if whole > 0.0 => inside.half_area() / whole,
        _ => 1.0,
    };
    Subtree { area: a.area + b.area, cost: 1.0 + share(&bounds[0]) * a.cost + share(&bounds[1]) * b.cost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::collapse_leaves::Built;
    use lockstep_core::math::vec3::Vec3;

    fn cube(at: f32, size: f32) -> Aabb {
        Aabb { lo: Vec3::splat(at), hi: Vec3::splat(at + size) }
    }

    fn leaf(first: u32, count: u32) -> Child {
        Child::Leaf { first, count }
    }

    #[test]
    fn the_larger_of_two_primitives_and_the_cheaper_of_two_like_areas_come_first() {
        let of_two = |areas: [f32; 3], children: [Child; 2]| {
            let node = Built { bounds: [cube(0.0, 1.0), cube(2.0, 1.0)], children };
            let mut tree = Tree { order: Vec::new(), nodes: vec![node], root: Some(Child::Inner(0)) };
            order_for_occlusion(&mut tree, |i| areas[i as usize]);
            (tree.nodes[0].bounds[0].lo.x, tree.nodes[0].children)
        };
        let (at, _) = of_two([1.0, 2.0, 0.0], [leaf(0, 1), leaf(1, 1)]);
        assert_eq!(at, 2.0, "the larger");
        let (at, _) = of_two([2.0, 1.0, 0.0], [leaf(0, 1), leaf(1, 1)]);
        assert_eq!(at, 0.0, "it was first already");
        let (at, children) = of_two([1.0, 1.0, 2.0], [leaf(0, 2), leaf(2, 1)]);
        assert_eq!(at, 2.0, "as much area in one primitive as in two");
        assert!(matches!(children, [Child::Leaf { first: 2, count: 1 }, Child::Leaf { first: 0, count: 2 }]));
    }

    #[test]
    fn the_cost_of_a_subtree_is_that_of_what_a_ray_through_its_box_meets() {
        // Two leaves of one primitive that each fill the box: a ray meets the node and both.
        let children = [Subtree { area: 1.0, cost: 1.0 }; 2];
        let both = joined(&[cube(0.0, 1.0); 2], children);
        assert_eq!((both.area, both.cost), (2.0, 3.0));
        // At opposite corners of a box of twice their size, a quarter of its rays meets each.
        let corners = joined(&[cube(0.0, 1.0), cube(1.0, 1.0)], children);
        assert_eq!(corners.cost, 1.5);
        let points = joined(&[cube(0.0, 0.0); 2], children);
        assert_eq!(points.cost, 3.0);
    }

    #[test]
    fn the_order_below_does_not_depend_on_the_order_above() {
        let node = |bounds, children| Built { bounds, children };
        let mut tree = Tree {
            order: Vec::new(),
            nodes: vec![
                node([cube(0.0, 4.0), cube(8.0, 1.0)], [Child::Inner(1), leaf(2, 1)]),
                node([cube(0.0, 1.0), cube(2.0, 2.0)], [leaf(0, 1), leaf(1, 1)]),
            ],
            root: Some(Child::Inner(0)),
        };
        order_for_occlusion(&mut tree, |i| [1.0, 8.0, 100.0][i as usize]);
        assert!(matches!(tree.nodes[0].children, [Child::Leaf { first: 2, .. }, Child::Inner(1)]));
        assert!(matches!(
            tree.nodes[1].children,
            [Child::Leaf { first: 1, .. }, Child::Leaf { first: 0, .. }]
        ));
    }
}
