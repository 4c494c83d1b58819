//! Quality metrics of a BVH: the expected cost of a ray.
//!
//! Both metrics are in units of one leaf test, of a triangle in [`Bvh2`](crate::Bvh2) and a block in
//! [`Bvh8`](crate::Bvh8); visiting a node costs [`NODE_COST`]. The *surface area heuristic* (Goldsmith and
//! Salmon 1987; MacDonald and Booth 1990) is the cost of a random line through the root's box that meets no
//! surface. The *end-point overlap* (Aila, Karras and Laine, "On Quality Metrics of Bounding Volume
//! Hierarchies", HPG 2013) is the additional cost of rays that start and end on surfaces: the area of the
//! triangles inside a node's box that are not in its subtree, times the node's cost, summed over all nodes,
//! over the area of all triangles.

use crate::build::polygon::{Point, Polygon, point};
use crate::layout::bvh2::{EMPTY, LEAF_BIT};
use crate::validate::Stored;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{SPHERE_BIT, SceneData};
use rayon::prelude::*;

/// Cost of visiting a node.
pub const NODE_COST: f64 = 1.2;

/// Expected cost of a line through the scene's box by the surface area heuristic; zero without geometry.
///
/// A leaf of the top level costs as much as its instance's mesh.
pub(crate) fn surface_area_cost<T: Stored>(bvh: &T, scene: &SceneData) -> f64 {
    let meshes: Vec<f64> = bvh.view().mesh_roots.par_iter().map(|&root| mesh_cost(bvh, root)).collect();
    let of_leaf = |instance: u32| meshes[scene.instances[instance as usize].mesh as usize];
    tree_cost(bvh, bvh.view().root, &of_leaf)
}

fn mesh_cost<T: Stored>(bvh: &T, root: u32) -> f64 {
    tree_cost(bvh, root, &|leaf| leaf_cost(bvh, leaf))
}

fn leaf_cost<T: Stored>(bvh: &T, leaf: u32) -> f64 {
    bvh.primitives(leaf).map_or(0.0, |primitives| primitives.count().div_ceil(T::LEAF_WIDTH) as f64)
}

/// Sums the costs of nodes and leaves, weighted by the probability that a line through the root's box hits
/// theirs.
fn tree_cost<T: Stored>(bvh: &T, root: u32, leaf: &dyn Fn(u32) -> f64) -> f64 {
    if root == EMPTY {
        return 0.0;
    }
    if root & LEAF_BIT != 0 {
        return leaf(root & !LEAF_BIT);
    }
    let nodes = bvh.view().nodes;
    let (mut sum, mut open) = (0.0, vec![root]);
    while let Some(node) = open.pop() {
        for (child, bounds) in T::children(&nodes[node as usize]) {
            if child & LEAF_BIT == 0 {
                sum += half_area(&bounds) * NODE_COST;
                open.push(child);
            } else if child != EMPTY {
                sum += half_area(&bounds) * leaf(child & !LEAF_BIT);
            }
        }
    }
    let whole = half_area(&union_of(T::children(&nodes[root as usize])));
    if whole > 0.0 { NODE_COST + sum / whole } else { NODE_COST }
}

/// Lowest and highest corner.
type Corners = [Vec3; 2];

fn half_area([lo, hi]: &Corners) -> f64 {
    let [x, y, z] = [hi.x - lo.x, hi.y - lo.y, hi.z - lo.z].map(f64::from);
    x * y + y * z + z * x
}

fn union_of(children: impl Iterator<Item = (u32, Corners)>) -> Corners {
    let real = children.filter(|(child, _)| *child != EMPTY).map(|(_, bounds)| bounds);
    let join = |[a, b]: Corners, [lo, hi]: Corners| {
        [
            Vec3 { x: a.x.min(lo.x), y: a.y.min(lo.y), z: a.z.min(lo.z) },
            Vec3 { x: b.x.max(hi.x), y: b.y.max(hi.y), z: b.z.max(hi.z) },
        ]
    };
    real.reduce(join).unwrap_or([Vec3::ZERO; 2])
}

/// End-point overlap, exact up to rounding: every triangle is clipped to every box it overlaps. Zero without
/// triangles.
///
/// For several meshes it is the mean weighted by object-space area times the number of instances. Overlap
/// between instances and spheres are not counted. A split reference counts by the part of the triangle in its
/// clip box.
pub(crate) fn end_point_overlap<T: Stored>(bvh: &T, scene: &SceneData) -> f64 {
    let mut uses = vec![0.0; scene.meshes.len()];
    for instance in &scene.instances {
        uses[instance.mesh as usize] += 1.0;
    }
    let roots = bvh.view().mesh_roots;
    let sums = roots.iter().zip(&uses).map(|(&root, uses)| {
        let [overlap, area] = Flat::of(bvh, root).overlap_and_area();
        [overlap * uses, area * uses]
    });
    let [overlap, area] = sums.fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    if area > 0.0 { overlap / area } else { 0.0 }
}

/// Nodes and leaves of one mesh in depth-first order.
struct Flat {
    nodes: Vec<FlatNode>,
    /// Each triangle, clipped for split references, and the leaf that holds it.
    triangles: Vec<(usize, Polygon)>,
}

struct FlatNode {
    bounds: [Point; 2],
    cost: f64,
    /// End of its subtree.
    end: usize,
}

impl Flat {
    fn of<T: Stored>(bvh: &T, root: u32) -> Self {
        let mut flat = Self { nodes: Vec::new(), triangles: Vec::new() };
        if root & LEAF_BIT == 0 {
            let bounds = union_of(T::children(&bvh.view().nodes[root as usize]));
            flat.append(bvh, root, bounds);
        } else if root != EMPTY {
            // A single leaf has no box to overlap; its triangles still have their area
            flat.append(bvh, root, [Vec3::splat(f32::NEG_INFINITY); 2]);
        }
        flat
    }

    fn append<T: Stored>(&mut self, bvh: &T, child: u32, bounds: Corners) {
        let index = self.nodes.len();
        self.nodes.push(FlatNode { bounds: bounds.map(point), cost: NODE_COST, end: 0 });
        if child & LEAF_BIT == 0 {
            for (child, bounds) in T::children(&bvh.view().nodes[child as usize]) {
                if child != EMPTY {
                    self.append(bvh, child, bounds);
                }
            }
        } else {
            let leaf = child & !LEAF_BIT;
            self.nodes[index].cost = leaf_cost(bvh, leaf);
            let all = bvh.primitives(leaf).into_iter().flatten();
            let triangles = all.filter(|p| p.primitive & SPHERE_BIT == 0);
            self.triangles.extend(triangles.map(|p| (index, p.polygon())));
        }
        self.nodes[index].end = self.nodes.len();
    }

    /// The overlap of all triangles with all boxes, weighted by cost, and the area of all triangles.
    ///
    /// The order of summation does not depend on the number of threads.
    fn overlap_and_area(&self) -> [f64; 2] {
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let of_one = |(leaf, polygon): &(usize, Polygon)| [self.overlap(0, polygon, *leaf), polygon.area()];
        let chunks = self.triangles.par_chunks(1 << 10);
        let sums: Vec<[f64; 2]> = chunks.map(|chunk| chunk.iter().map(of_one).fold([0.0; 2], add)).collect();
        sums.into_iter().fold([0.0; 2], add)
    }

    /// Costs of the boxes in the subtree of `node` that overlap `polygon`, weighted by the area inside; the
    /// triangle is of `leaf`.
    fn overlap(&self, node: usize, polygon: &Polygon, leaf: usize) -> f64 {
        let FlatNode { bounds, cost, end } = &self.nodes[node];
        if (node..*end).contains(&leaf) {
            return self.children(node).map(|child| self.overlap(child, polygon, leaf)).sum();
        }
        if !polygon.overlaps(bounds) {
            return 0.0;
        }
        let inside = polygon.clipped(bounds);
        let area = inside.area();
        if area <= 0.0 {
            return 0.0;
        }
        let below: f64 = self.children(node).map(|child| self.overlap(child, &inside, leaf)).sum();
        cost * area + below
    }

    fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let (mut next, end) = (node + 1, self.nodes[node].end);
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.nodes[child].end;
            Some(child)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LeafPrimitive;
    use crate::layout::bvh2::{LEAF_COUNT_SHIFT, Node};
    use crate::{BuildSettings, Bvh, Bvh2, Bvh8};
    use lockstep_core::math::rng::{pcg4d, uniform};
    use lockstep_core::math::vec3::vec3;
    use lockstep_core::scene::{Flatten, IDENTITY, Material, MeshData, Scene, SceneBuilder};

    fn scene(triangles: &[[[f32; 3]; 3]], instances: usize) -> Scene {
        let mut b = SceneBuilder::new("t");
        b.flatten = Flatten::Never;
        let material = b.material(Material::diffuse([0.5; 3]));
        let mesh = b.mesh(MeshData {
            positions: triangles.concat(),
            triangles: (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            materials: vec![material],
            ..MeshData::default()
        });
        for i in 0..instances {
            let mut map = IDENTITY;
            map[0][3] = 100.0 * i as f32;
            b.instance(mesh, map);
        }
        b.build().unwrap()
    }

    fn node(boxes: [[[f32; 3]; 2]; 2], children: [u32; 2]) -> Node {
        Node::new(boxes.map(|corners| corners.map(|[x, y, z]| Vec3 { x, y, z })), children, 0.0)
    }

    fn leaf(first: u32, count: u32) -> u32 {
        LEAF_BIT | (count - 1) << LEAF_COUNT_SHIFT | first
    }

    /// A BVH over one instance, with these nodes of its mesh.
    fn by_hand(scene: &Scene, nodes: Vec<Node>) -> Bvh2 {
        let mesh = &scene.meshes[0];
        let primitives = (0..mesh.triangle_count).map(|i| LeafPrimitive::of(scene, mesh, i)).collect();
        Bvh2 { nodes, primitives, root: LEAF_BIT, mesh_roots: vec![0], instance_boxes: Vec::new() }
    }

    /// A right triangle with legs of 2 from a corner, along +x or -x and +y.
    fn right(x: f32, z: f32, along: f32) -> [[f32; 3]; 3] {
        [[x, 0.0, z], [x + 2.0 * along, 0.0, z], [x, 2.0, z]]
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    #[test]
    fn triangles_in_boxes_of_their_own_do_not_overlap() {
        let scene = scene(&[right(0.0, 0.0, 1.0), right(5.0, 0.0, 1.0)], 1);
        let boxes = [[[0.0; 3], [2.0, 2.0, 0.0]], [[5.0, 0.0, 0.0], [7.0, 2.0, 0.0]]];
        let bvh = by_hand(&scene, vec![node(boxes, [leaf(0, 1), leaf(1, 1)])]);
        assert_eq!(end_point_overlap(&bvh, &scene), 0.0);
        // The root's box is 7 x 2, each leaf's 2 x 2.
        assert!(near(surface_area_cost(&bvh, &scene), 1.2 + (4.0 + 4.0) / 14.0));
    }

    #[test]
    fn overlap_counts_by_the_area_inside_the_other_box() {
        // The first covers x + y <= 2, the second, mirrored, x - y >= 1; half a unit of each is in the
        // other's box.
        let scene = scene(&[right(0.0, 0.0, 1.0), right(3.0, 0.0, -1.0)], 1);
        let boxes = [[[0.0; 3], [2.0, 2.0, 0.0]], [[1.0, 0.0, 0.0], [3.0, 2.0, 0.0]]];
        let bvh = by_hand(&scene, vec![node(boxes, [leaf(0, 1), leaf(1, 1)])]);
        assert!(near(end_point_overlap(&bvh, &scene), (0.5 + 0.5) / 4.0));
        assert!(near(surface_area_cost(&bvh, &scene), 1.2 + (4.0 + 4.0) / 6.0));
    }

    #[test]
    fn nodes_and_leaves_weigh_what_they_cost() {
        // Two parallel triangles in one leaf, a third in a node of its own that holds another far away; all
        // of the first two is in the node's box, and nothing is in the leaves below it.
        let all = [right(0.0, 1.0, 1.0), right(0.0, 2.0, 1.0), right(0.0, 0.0, 1.0), right(0.0, 3.0, 1.0)];
        let scene = scene(&all, 1);
        let flat = |z: f32| [[0.0, 0.0, z], [2.0, 2.0, z]];
        let nodes = vec![
            node([[[0.0, 0.0, 1.0], [2.0, 2.0, 2.0]], [[0.0; 3], [2.0, 2.0, 3.0]]], [leaf(0, 2), 1]),
            node([flat(0.0), flat(3.0)], [leaf(2, 1), leaf(3, 1)]),
        ];
        let bvh = by_hand(&scene, nodes);
        assert!(near(end_point_overlap(&bvh, &scene), NODE_COST * (2.0 + 2.0) / 8.0));
        // Half areas: the root's box and the node's 4 + 6 + 6, the leaf of two 4 + 2 + 2, the flat ones 4.
        let expected = 1.2 + (8.0 * 2.0 + 16.0 * 1.2 + 4.0 + 4.0) / 16.0;
        assert!(near(surface_area_cost(&bvh, &scene), expected));
        // The other way about: a leaf of two triangles costs 2 for each triangle inside.
        let nodes = vec![
            node([[[0.0, 0.0, 0.0], [2.0, 2.0, 3.0]], [[0.0, 0.0, 1.0], [2.0, 2.0, 2.0]]], [leaf(2, 2), 1]),
            node([flat(1.0), flat(2.0)], [leaf(0, 1), leaf(1, 1)]),
        ];
        assert!(near(end_point_overlap(&by_hand(&scene, nodes), &scene), 2.0 * (2.0 + 2.0) / 8.0));
    }

    #[test]
    fn instances_cost_what_their_meshes_do_and_weigh_nothing_in_overlap() {
        let triangles = [right(0.0, 0.0, 1.0), right(3.0, 0.0, -1.0)];
        let (one, three) = (scene(&triangles, 1), scene(&triangles, 3));
        let settings = BuildSettings { max_leaf: 1, ..Bvh2::SETTINGS };
        let [a, b] = [&one, &three].map(|scene| Bvh2::build(scene, &settings));
        assert!(near(end_point_overlap(&b, &three), end_point_overlap(&a, &one)));
        // Three boxes of 3 x 2 in one of 203 x 2, two of them in one of 103 x 2; boxes of instances are
        // padded.
        let mesh = surface_area_cost(&a, &one);
        let expected = 1.2 + (103.0 * 1.2 + 3.0 * 3.0 * mesh) / 203.0;
        assert!((surface_area_cost(&b, &three) - expected).abs() < 0.02 * expected);
    }

    /// Random triangles, small and large.
    fn soup(count: u32) -> Scene {
        let corner = |i: u32, k: u32| {
            let (a, b) = (pcg4d([i, 0, 31, 7]).map(uniform), pcg4d([i, 1 + k, 31, 7]).map(uniform));
            let size = a[3] * a[3];
            [0, 1, 2].map(|axis| a[axis] + size * b[axis])
        };
        let triangles: Vec<_> = (0..count).map(|i| [0, 1, 2].map(|k| corner(i, k))).collect();
        scene(&triangles, 1)
    }

    /// The definition, without pruning: every triangle against every node's box.
    fn overlap_by_definition(flat: &Flat) -> f64 {
        let [mut overlap, mut area] = [0.0; 2];
        for (leaf, triangle) in &flat.triangles {
            area += triangle.area();
            let others = flat.nodes.iter().enumerate().filter(|(i, n)| !(*i..n.end).contains(leaf));
            overlap += others.map(|(_, n)| n.cost * triangle.clipped(&n.bounds).area()).sum::<f64>();
        }
        overlap / area
    }

    #[test]
    fn overlap_equals_its_definition() {
        let scene = soup(300);
        let (bvh2, bvh8) = (Bvh2::build(&scene, &Bvh2::SETTINGS), Bvh8::build(&scene, &Bvh8::SETTINGS));
        let flat2 = Flat::of(&bvh2, bvh2.mesh_roots[0]);
        let flat8 = Flat::of(&bvh8, bvh8.mesh_roots[0]);
        // Rounding may put a binary node's box out of its parent's: they are kept by centres.
        for (found, flat, tolerance) in
            [(end_point_overlap(&bvh2, &scene), flat2, 1e-7), (end_point_overlap(&bvh8, &scene), flat8, 1e-9)]
        {
            let expected = overlap_by_definition(&flat);
            assert!(expected > 1.0 && (found / expected - 1.0).abs() < tolerance, "{found}, {expected}");
        }
    }

    #[test]
    fn eight_children_in_one_node_cost_a_node_and_their_blocks() {
        let apart: Vec<_> = (0..16).map(|i| right(10.0 * i as f32, 0.0, 1.0)).collect();
        let scene = scene(&apart, 1);
        let bvh = Bvh8::build(&scene, &Bvh8::SETTINGS);
        assert_eq!((bvh.nodes.len(), end_point_overlap(&bvh, &scene)), (1, 0.0));
        let boxes: f64 = Bvh8::children(&bvh.nodes[0])
            .filter(|(child, _)| *child != EMPTY)
            .map(|(_, bounds)| half_area(&bounds))
            .sum();
        let whole = half_area(&union_of(Bvh8::children(&bvh.nodes[0])));
        assert!(near(surface_area_cost(&bvh, &scene), 1.2 + boxes / whole));
    }

    #[test]
    fn better_builds_cost_less_by_both_measures() {
        let scene = soup(3000);
        let plain = BuildSettings { reinsert: false, ..Bvh2::SETTINGS };
        let median = BuildSettings { split: crate::Split::Median, ..plain };
        let [best, plain, median] =
            [Bvh2::SETTINGS, plain, median].map(|s| Bvh::Bvh2(Bvh2::build(&scene, &s)));
        let costs = |h: &Bvh| [h.surface_area_cost(&scene), h.end_point_overlap(&scene)];
        let [best, plain, median] = [best, plain, median].map(|h| costs(&h));
        for k in 0..2 {
            assert!(best[k] < plain[k] && plain[k] < median[k], "{best:?} {plain:?} {median:?}");
        }
    }

    #[test]
    fn nothing_costs_nothing() {
        let scene = SceneBuilder::new("empty").build().unwrap();
        let bvh = Bvh2::build(&scene, &Bvh2::SETTINGS);
        assert_eq!([surface_area_cost(&bvh, &scene), end_point_overlap(&bvh, &scene)], [0.0; 2]);
        let clipped =
            Polygon::of(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).clipped(&[[2.0; 3], [3.0; 3]]);
        assert_eq!(clipped.area(), 0.0);
        assert_eq!(half_area(&[vec3(0.0, 0.0, 0.0), vec3(1.0, 2.0, 3.0)]), 11.0);
    }
}
