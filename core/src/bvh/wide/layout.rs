//! Nodes and leaf blocks as the traversal reads them: eight of everything side by side.

use super::collapse::{WIDTH, WideNode, WideTree, collapse};
use crate::bvh::build::{Aabb, BuildSettings, Child, Reference, build, build_below};
use crate::bvh::bvh2::{EMPTY, LEAF_BIT};
use crate::bvh::pieces::{Parts, Pieces};
use crate::bvh::probe::{LeafPrimitive, instance_boxes};
use crate::scene::{Mesh, NONE, SPHERE_BIT, SceneData};
use crate::vec3::{Vec3, vec3};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

/// One number of each of eight things.
pub(super) type Eight = [f32; WIDTH];

/// Boxes and references of up to eight children. A box that is never hit fills each place that is left.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Node8 {
    /// Lowest x, y and z, then highest x, y and z of every child.
    pub planes: [Eight; 6],
    /// Index of a node, or with [`LEAF_BIT`] of a block, or of an instance in the upper level.
    pub children: [u32; WIDTH],
}

impl Node8 {
    /// Lowest and highest corner of a child's box.
    pub(in crate::bvh) fn child_box(&self, lane: usize) -> [Vec3; 2] {
        let [lx, ly, lz, hx, hy, hz] = self.planes.map(|plane| plane[lane]);
        [vec3(lx, ly, lz), vec3(hx, hy, hz)]
    }
}

/// Up to eight primitives of a leaf. Triangles are whole, and lie in the tree by their own boxes; the boxes of the pieces that
/// some are in follow in blocks of their own, and are asked when a ray meets such a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Block8 {
    /// Components of the three points of each primitive; see [`LeafPrimitive`]. Zero where there is none. In a block of
    /// boxes the lowest and the highest corner of each.
    pub points: [[Eight; 3]; 3],
    /// Index of each primitive within the mesh; [`NONE`] where there is none. In a block of boxes, for each triangle of the
    /// block they belong to, a bit for each box that is of a piece of it.
    pub primitives: [u32; WIDTH],
    /// A bit for each primitive.
    pub all: u32,
    /// A bit for each that has partial coverage.
    pub alpha: u32,
    /// A bit for each that is a sphere.
    pub spheres: u32,
    /// A bit for each triangle that is in pieces.
    pub in_pieces: u32,
    /// Blocks of boxes that follow.
    pub boxes: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

impl Block8 {
    fn new(primitives: &[LeafPrimitive]) -> Self {
        let mut block = Self {
            points: [[[0.0; WIDTH]; 3]; 3],
            primitives: [NONE; WIDTH],
            all: (1u32 << primitives.len()) - 1,
            alpha: 0,
            spheres: 0,
            in_pieces: 0,
            boxes: 0,
            reserved: [0; 3],
        };
        for (lane, p) in primitives.iter().enumerate() {
            for (corner, point) in [p.p0, p.p1, p.p2].into_iter().enumerate() {
                for (axis, value) in point.to_array().into_iter().enumerate() {
                    block.points[corner][axis][lane] = value;
                }
            }
            block.primitives[lane] = p.primitive;
            block.alpha |= u32::from(p.flags & LeafPrimitive::ALPHA != 0) << lane;
            block.spheres |= u32::from(p.primitive & SPHERE_BIT != 0) << lane;
        }
        block
    }

    /// Boxes of pieces, each with the lane of its triangle.
    fn of_boxes(boxes: &[(usize, [Vec3; 2])]) -> Self {
        let mut block = Self { primitives: [0; WIDTH], ..Self::new(&[]) };
        for (place, (lane, corners)) in boxes.iter().enumerate() {
            for (corner, point) in corners.iter().enumerate() {
                for (axis, value) in point.to_array().into_iter().enumerate() {
                    block.points[corner][axis][place] = value;
                }
            }
            block.primitives[*lane] |= 1 << place;
        }
        block
    }

    /// One primitive by itself.
    #[inline(always)]
    pub(in crate::bvh) fn primitive(&self, lane: usize) -> LeafPrimitive {
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = &self.points;
        LeafPrimitive {
            p0: vec3(ax[lane], ay[lane], az[lane]),
            primitive: self.primitives[lane],
            p1: vec3(bx[lane], by[lane], bz[lane]),
            flags: if self.alpha >> lane & 1 != 0 { LeafPrimitive::ALPHA } else { 0 },
            p2: vec3(cx[lane], cy[lane], cz[lane]),
            cut_above: 0,
        }
    }
}

/// A two-level BVH of a scene with eight children a node, for processors with wide registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh8 {
    pub(in crate::bvh) nodes: Vec<Node8>,
    pub(in crate::bvh) blocks: Vec<Block8>,
    /// Root of the tree over instances, or [`EMPTY`].
    pub(in crate::bvh) root: u32,
    /// Root of each mesh.
    pub(in crate::bvh) mesh_roots: Vec<u32>,
    /// World boxes of the instances, see [`instance_boxes`].
    pub(in crate::bvh) instance_boxes: Vec<[Vec3; 2]>,
}

impl Bvh8 {
    /// How the binary trees are built that this one is collapsed from: fine, since collapsing makes the leaves.
    pub const SETTINGS: BuildSettings = BuildSettings {
        split: crate::bvh::Split::BinnedSah(16),
        max_leaf: 1,
        traversal_cost: 0.0,
        optimise: true,
    };

    /// Builds both levels with all threads of the current rayon pool.
    pub fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
        let settings = BuildSettings { max_leaf: settings.max_leaf.clamp(1, WIDTH), ..*settings };
        let meshes: Vec<MeshTree> =
            scene.meshes.par_iter().map(|mesh| MeshTree::build(scene, mesh, &settings)).collect();
        let mut bvh = Self {
            nodes: Vec::new(),
            blocks: Vec::new(),
            root: EMPTY,
            mesh_roots: Vec::new(),
            instance_boxes: instance_boxes(scene),
        };
        bvh.append_instances(&settings);
        for mesh in meshes {
            bvh.append_mesh(&mesh);
        }
        bvh
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let trees = size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..]);
        (trees + size_of_val(&self.mesh_roots[..]) + size_of_val(&self.instance_boxes[..])) as u64
    }

    /// Nodes on the longest way from a mesh's root to a leaf.
    #[cfg(test)]
    pub(in crate::bvh) fn depth(&self) -> usize {
        let mut to_visit: Vec<(u32, usize)> = self.mesh_roots.iter().map(|&root| (root, 0)).collect();
        let mut deepest = 0;
        while let Some((child, depth)) = to_visit.pop() {
            deepest = deepest.max(depth);
            if child & LEAF_BIT == 0 {
                to_visit.extend(self.nodes[child as usize].children.map(|c| (c, depth + 1)));
            }
        }
        deepest
    }

    fn append_instances(&mut self, settings: &BuildSettings) {
        let mut references: Vec<Reference> = (0..)
            .zip(&self.instance_boxes)
            .map(|(index, b)| Reference { bounds: Aabb { lo: b[0], hi: b[1] }, index })
            .collect();
        let tree = collapse(&build(&mut references, &BuildSettings { max_leaf: 1, ..*settings }), 1);
        self.root = append(&mut self.nodes, &tree, |first, _| LEAF_BIT | references[first as usize].index);
    }

    fn append_mesh(&mut self, mesh: &MeshTree) {
        let Self { nodes, blocks, mesh_roots, .. } = self;
        let leaf = |first: u32, count: u32| {
            let index = blocks.len();
            append_block(blocks, &mesh.primitives[first as usize..(first + count) as usize], &mesh.pieces);
            LEAF_BIT | index as u32
        };
        mesh_roots.push(append(nodes, &mesh.tree, leaf));
    }
}

/// Appends a block and the blocks of its pieces' boxes, the largest first, since most hits are there.
fn append_block(blocks: &mut Vec<Block8>, primitives: &[LeafPrimitive], pieces: &Pieces) {
    let mut block = Block8::new(primitives);
    let mut boxes: Vec<(usize, [Vec3; 2])> = Vec::new();
    for (lane, whole) in primitives.iter().enumerate().filter(|(_, p)| p.primitive & SPHERE_BIT == 0) {
        let of_it = pieces.boxes(whole);
        block.in_pieces |= u32::from(!of_it.is_empty()) << lane;
        boxes.extend(of_it.into_iter().map(|(corners, _)| (lane, corners)));
    }
    boxes.sort_by(|(_, a), (_, b)| half_area(b).total_cmp(&half_area(a)));
    block.boxes = boxes.len().div_ceil(WIDTH) as u32;
    blocks.push(block);
    blocks.extend(boxes.chunks(WIDTH).map(Block8::of_boxes));
}

fn half_area([lo, hi]: &[Vec3; 2]) -> f32 {
    Aabb { lo: *lo, hi: *hi }.half_area()
}

/// Appends a tree's nodes with renumbered children and returns its root.
fn append(nodes: &mut Vec<Node8>, tree: &WideTree, mut leaf: impl FnMut(u32, u32) -> u32) -> u32 {
    let base = nodes.len() as u32;
    let mut reference = |child: Child| match child {
        Child::Inner(i) => base + i,
        Child::Leaf { first, count } => leaf(first, count),
    };
    nodes.extend(tree.nodes.iter().map(|node| lay_out(node, &mut reference)));
    tree.root.map_or(EMPTY, reference)
}

fn lay_out(node: &WideNode, reference: &mut impl FnMut(Child) -> u32) -> Node8 {
    let (lo, hi) = ([f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]);
    let mut out = Node8 { planes: [lo, lo, lo, hi, hi, hi], children: [EMPTY; WIDTH] };
    for (lane, child) in node.iter().enumerate() {
        let corners = [child.bounds.lo, child.bounds.hi].map(|p| p.to_array());
        for (plane, value) in out.planes.iter_mut().zip(corners.iter().flatten()) {
            plane[lane] = *value;
        }
        out.children[lane] = reference(child.kind);
    }
    out
}

/// One mesh's wide tree and its primitives in leaf order.
struct MeshTree {
    tree: WideTree,
    primitives: Vec<LeafPrimitive>,
    pieces: Pieces,
}

impl MeshTree {
    /// Its tree is over whole triangles: blocks of eight test one as fast as some, and large ones soon end a ray that any hit
    /// ends.
    fn build(scene: &SceneData, mesh: &Mesh, settings: &BuildSettings) -> Self {
        let (mut parts, pieces) = Parts::whole(scene, mesh);
        let tree = collapse(&build_below(&parts.top, &mut parts.references, settings), WIDTH as u32);
        Self { tree, primitives: parts.records(scene, mesh), pieces }
    }
}
