//! The binary layout: 64-byte nodes that hold both children's boxes (Aila and Laine 2009).
//!
//! Both levels share one array of nodes. Leaves of the top level reference one instance, leaves of a mesh a
//! range of [`LeafPrimitive`]s.

use crate::aabb::Aabb;
use crate::build::collapse_leaves::{Child, Tree};
use crate::build::occlusion_order::order_for_occlusion;
use crate::build::presplit::MeshReferences;
use crate::build::{BuildSettings, Split, build_below, build_over};
use crate::instance_boxes::instance_boxes;
use crate::leaf::LeafPrimitive;
use bytemuck::{Pod, Zeroable};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{Mesh, SceneData};
use rayon::prelude::*;
use std::mem;

/// Set in a child reference to a leaf.
pub const LEAF_BIT: u32 = 0x8000_0000;
/// Position of a leaf's primitive count less one; the index of its first primitive lies below.
pub const LEAF_COUNT_SHIFT: u32 = 28;
/// Maximum number of primitives in a leaf.
pub const MAX_LEAF_PRIMITIVES: usize = 8;
/// The root of an empty tree, and a missing child.
pub const EMPTY: u32 = u32::MAX;

/// Two boxes and two children. A child reference is the index of a node, or has [`LEAF_BIT`] set.
///
/// A box is stored as centre and half extent, so that a ray's entry and exit are `c - h` and `c + h` whatever
/// the sign of its direction, which saves a minimum and a maximum per axis. The first child is the one that
/// any-hit rays visit first.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Centre and half extent in x, then in y, of the first child's box.
    pub xy0: [f32; 4],
    /// Centre and half extent in x, then in y, of the second child's box.
    pub xy1: [f32; 4],
    /// Centre and half extent in z of the first child's box, then of the second's.
    pub z: [f32; 4],
    /// Child references.
    pub children: [u32; 2],
    /// Zero.
    pub reserved: [u32; 2],
}

/// Half extents grow by this fraction of the largest coordinate of their tree.
///
/// The margin exceeds the shift of a box by rounding the product of a ray's origin and inverse direction (see
/// `bvh_enter` in `kernels/bvh/bvh2.h`). It must be small: a ray that starts on a surface should start
/// outside its box.
const MARGIN: f64 = 1.0 / 4_194_304.0;

/// Lower limit of the largest coordinate, which keeps margins normal numbers.
const LEAST_FARTHEST: f32 = 1e-18;

/// ULPs by which kernels widen a node's exit distance.
pub const NODE_WIDENING: u32 = 48;

/// Centre and half extent of an interval that encloses `[lo, hi]` with a margin.
fn centred(lo: f32, hi: f32, farthest: f32) -> [f32; 2] {
    let center = ((f64::from(lo) + f64::from(hi)) * 0.5) as f32;
    let half = f64::max(f64::from(hi) - f64::from(center), f64::from(center) - f64::from(lo));
    [center, (half + f64::from(farthest.max(LEAST_FARTHEST)) * MARGIN) as f32]
}

impl Node {
    /// A node of two boxes, each as lowest and highest corner. `farthest` is the largest absolute coordinate
    /// of its tree.
    pub fn new(boxes: [[Vec3; 2]; 2], children: [u32; 2], farthest: f32) -> Self {
        let [a, b] = boxes.map(|[lo, hi]| {
            [centred(lo.x, hi.x, farthest), centred(lo.y, hi.y, farthest), centred(lo.z, hi.z, farthest)]
        });
        Self {
            xy0: [a[0][0], a[0][1], a[1][0], a[1][1]],
            xy1: [b[0][0], b[0][1], b[1][0], b[1][1]],
            z: [a[2][0], a[2][1], b[2][0], b[2][1]],
            children,
            reserved: [0; 2],
        }
    }

    /// Lowest and highest corner of a child's box.
    ///
    /// It encloses the box given to [`Self::new`], since rounding is monotonic.
    #[inline(always)]
    pub fn child_box(&self, child: usize) -> (Vec3, Vec3) {
        let xy = if child == 0 { &self.xy0 } else { &self.xy1 };
        let z = &self.z[2 * child..2 * child + 2];
        let (center, half) = (vec3(xy[0], xy[2], z[0]), vec3(xy[1], xy[3], z[1]));
        (center - half, center + half)
    }
}

/// A two-level binary BVH of a scene.
#[derive(Clone, Debug, Default)]
pub struct Bvh2 {
    /// Nodes of the instances' tree, then of each mesh.
    pub nodes: Vec<Node>,
    /// Primitives in leaf order.
    pub primitives: Vec<LeafPrimitive>,
    /// Root of the tree over instances, or [`EMPTY`].
    pub root: u32,
    /// Root of each mesh.
    pub mesh_roots: Vec<u32>,
    /// World box of each instance, padded for the rounding of transforms; lowest, then highest corner.
    pub instance_boxes: Vec<[Vec3; 2]>,
}

impl Bvh2 {
    /// Default build settings.
    pub const SETTINGS: BuildSettings =
        BuildSettings { split: Split::BinnedSah(16), max_leaf: 4, traversal_cost: 1.0, reinsert: true };

    /// Builds both levels with all threads of the current rayon pool.
    pub fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
        let settings =
            BuildSettings { max_leaf: settings.max_leaf.clamp(1, MAX_LEAF_PRIMITIVES), ..*settings };
        let meshes: Vec<MeshTree> =
            scene.meshes.par_iter().map(|mesh| MeshTree::build(scene, mesh, &settings)).collect();
        let mut bvh = Self { root: EMPTY, instance_boxes: instance_boxes(scene), ..Self::default() };
        bvh.append_instances(&settings);
        for mesh in meshes {
            bvh.append_mesh(mesh);
        }
        bvh
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let nodes = size_of_val(&self.nodes[..]) + size_of_val(&self.primitives[..]);
        (nodes + size_of_val(&self.mesh_roots[..]) + size_of_val(&self.instance_boxes[..])) as u64
    }

    fn append_instances(&mut self, settings: &BuildSettings) {
        let mut tree = build_over(&self.instance_boxes, settings);
        let area = |&instance: &u32| Aabb::from(self.instance_boxes[instance as usize]).half_area();
        let areas: Vec<f32> = tree.order.iter().map(area).collect();
        order_for_occlusion(&mut tree, |at| areas[at as usize]);
        let leaf = |first: u32, _count: u32| LEAF_BIT | tree.order[first as usize];
        self.root = append(&mut self.nodes, &tree, leaf);
    }

    fn append_mesh(&mut self, mesh: MeshTree) {
        let base = self.primitives.len() as u32;
        let leaf = |first: u32, count: u32| LEAF_BIT | (count - 1) << LEAF_COUNT_SHIFT | (base + first);
        self.mesh_roots.push(append(&mut self.nodes, &mesh.tree, leaf));
        self.primitives.extend(mesh.primitives);
    }
}

/// Appends a tree's nodes with renumbered children and returns its root.
fn append(nodes: &mut Vec<Node>, tree: &Tree, leaf: impl Fn(u32, u32) -> u32) -> u32 {
    let (base, farthest) = (nodes.len() as u32, tree.farthest());
    let reference = |child: &Child| match *child {
        Child::Inner(i) => base + i,
        Child::Leaf { first, count } => leaf(first, count),
    };
    nodes.extend(tree.nodes.iter().map(|n| {
        let boxes = [0, 1].map(|i| [n.bounds[i].lo, n.bounds[i].hi]);
        Node::new(boxes, [reference(&n.children[0]), reference(&n.children[1])], farthest)
    }));
    tree.root.as_ref().map_or(EMPTY, reference)
}

/// One mesh's tree and its primitives in leaf order.
struct MeshTree {
    tree: Tree,
    primitives: Vec<LeafPrimitive>,
}

impl MeshTree {
    fn build(scene: &SceneData, mesh: &Mesh, settings: &BuildSettings) -> Self {
        let mut references = MeshReferences::of(scene, mesh);
        let mut tree = build_below(&references.top, mem::take(&mut references.references), settings);
        let primitives = references.records(scene, mesh, &tree.order);
        order_for_occlusion(&mut tree, |at| primitives[at as usize].half_area());
        Self { tree, primitives }
    }
}
