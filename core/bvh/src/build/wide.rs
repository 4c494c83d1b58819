//! Builds a [`Bvh8`]: a binary tree for each mesh, collapsed to eight children, with leaves laid out as
//! blocks.

use crate::aabb::Aabb;
use crate::build::collapse::{WIDTH, WideNode, WideTree, collapse};
use crate::build::collapse_leaves::Child;
use crate::build::presplit::{MeshReferences, PreSplit};
use crate::build::{BuildSettings, build_below, build_over};
use crate::instance_boxes::instance_boxes;
use crate::layout::bvh2::{EMPTY, LEAF_BIT};
use crate::layout::bvh8::{Block8, Bvh8, Node8};
use crate::leaf::LeafPrimitive;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Mesh, SPHERE_BIT, SceneData};
use rayon::prelude::*;
use std::mem;

impl Bvh8 {
    /// Builds both levels with all threads of the current rayon pool.
    pub fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
        let settings = BuildSettings { max_leaf: settings.max_leaf.clamp(1, WIDTH), ..*settings };
        let meshes: Vec<MeshTree> =
            scene.meshes.par_iter().map(|mesh| MeshTree::build(scene, mesh, &settings)).collect();
        let instance_boxes = instance_boxes(scene);
        let over_instances = build_over(&instance_boxes, &settings);
        let (instances, order) = (collapse(&over_instances, 1), over_instances.order);

        let mut nodes =
            bytemuck::zeroed_vec(instances.nodes.len() + sum(&meshes, |mesh| mesh.tree.nodes.len()));
        let mut blocks = bytemuck::zeroed_vec(sum(&meshes, MeshTree::blocks));
        let (of_instances, mut nodes_left) = nodes.split_at_mut(instances.nodes.len());
        let instance = |first: u32, _| LEAF_BIT | order[first as usize];
        for (out, node) in of_instances.iter_mut().zip(&instances.nodes) {
            *out = lay_out(node, 0, instance);
        }
        let root = instances.root.map_or(EMPTY, |root| reference(root, 0, instance));

        let mut blocks_left = &mut blocks[..];
        let mut base = (of_instances.len() as u32, 0);
        let mut mesh_roots = Vec::with_capacity(meshes.len());
        let mut to_fill = Vec::with_capacity(meshes.len());
        for mesh in &meshes {
            let (nodes, blocks);
            (nodes, nodes_left) = nodes_left.split_at_mut(mesh.tree.nodes.len());
            (blocks, blocks_left) = blocks_left.split_at_mut(mesh.blocks());
            mesh_roots
                .push(mesh.tree.root.map_or(EMPTY, |root| reference(root, base.0, |_, _| LEAF_BIT | base.1)));
            let next = (base.0 + nodes.len() as u32, base.1 + blocks.len() as u32);
            to_fill.push(Fill { mesh, base, first: 0, nodes, blocks });
            base = next;
        }
        to_fill.into_par_iter().for_each(Fill::all);
        Self { nodes, blocks, root, mesh_roots, instance_boxes }
    }
}

fn sum(meshes: &[MeshTree], of: impl Fn(&MeshTree) -> usize) -> usize {
    meshes.iter().map(of).sum()
}

/// Writes a block of primitives and the blocks of its clip boxes, the largest first. Returns the number of
/// blocks.
fn write_block(blocks: &mut [Block8], primitives: &[LeafPrimitive], split: &PreSplit) -> usize {
    let mut block = Block8::new(primitives);
    let mut boxes: Vec<(usize, [Vec3; 2])> = Vec::new();
    for (lane, whole) in primitives.iter().enumerate().filter(|(_, p)| p.primitive & SPHERE_BIT == 0) {
        let of_it = split.boxes(whole);
        block.presplit |= u32::from(!of_it.is_empty()) << lane;
        boxes.extend(of_it.into_iter().map(|(corners, _)| (lane, corners)));
    }
    let half_area = |(_, corners): &(usize, [Vec3; 2])| Aabb::from(*corners).half_area();
    boxes.sort_by(|a, b| half_area(b).total_cmp(&half_area(a)));
    block.boxes = boxes.len().div_ceil(WIDTH) as u32;
    blocks[0] = block;
    for (block, boxes) in blocks[1..].iter_mut().zip(boxes.chunks(WIDTH)) {
        *block = Block8::of_boxes(boxes);
    }
    1 + block.boxes as usize
}

/// Number of blocks that [`write_block`] writes.
fn blocks_of(primitives: &[LeafPrimitive], split: &PreSplit) -> usize {
    let triangles = primitives.iter().filter(|p| p.primitive & SPHERE_BIT == 0);
    let boxes: usize = triangles.map(|p| split.of_triangle(p.primitive).len()).sum();
    1 + boxes.div_ceil(WIDTH)
}

/// The child reference of a tree whose first node is `base`; `leaf` encodes a leaf by its range of the order.
fn reference(child: Child, base: u32, leaf: impl FnOnce(u32, u32) -> u32) -> u32 {
    match child {
        Child::Inner(i) => base + i,
        Child::Leaf { first, count } => leaf(first, count),
    }
}

fn lay_out(node: &WideNode, base: u32, mut leaf: impl FnMut(u32, u32) -> u32) -> Node8 {
    let (lo, hi) = ([f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]);
    let mut out = Node8 { planes: [lo, lo, lo, hi, hi, hi], children: [EMPTY; WIDTH] };
    for (lane, child) in node.iter().enumerate() {
        let corners = [child.bounds.lo, child.bounds.hi].map(|p| p.to_array());
        for (plane, value) in out.planes.iter_mut().zip(corners.iter().flatten()) {
            plane[lane] = *value;
        }
        out.children[lane] = reference(child.kind, base, &mut leaf);
    }
    out
}

/// The wide tree of one mesh, and its primitives in leaf order.
struct MeshTree {
    tree: WideTree,
    primitives: Vec<LeafPrimitive>,
    split: PreSplit,
    /// First block of each node's leaves, and the end of the last.
    starts: Vec<u32>,
}

impl MeshTree {
    /// Builds over whole triangles: a block tests eight as fast as one, and large triangles end any-hit rays
    /// soon.
    fn build(scene: &SceneData, mesh: &Mesh, settings: &BuildSettings) -> Self {
        let (mut references, split) = MeshReferences::whole(scene, mesh);
        let tree = build_below(&references.top, mem::take(&mut references.references), settings);
        let primitives = references.records(scene, mesh, &tree.order);
        let mut mesh = Self { tree: collapse(&tree, WIDTH as u32), primitives, split, starts: Vec::new() };
        mesh.starts = mesh.count_blocks();
        mesh
    }

    fn count_blocks(&self) -> Vec<u32> {
        let of_child = |child: Child| match child {
            Child::Leaf { first, count } => blocks_of(self.leaf(first, count), &self.split) as u32,
            Child::Inner(_) => 0,
        };
        let of_node = |node: &WideNode| node.iter().map(|child| of_child(child.kind)).sum();
        let mut starts: Vec<u32> = self.tree.nodes.par_iter().map(of_node).collect();
        // A tree that is one leaf has no node.
        starts.extend(self.tree.root.filter(|_| self.tree.nodes.is_empty()).map(of_child));
        let mut end = 0;
        for start in &mut starts {
            end += mem::replace(start, end);
        }
        starts.push(end);
        starts
    }

    fn blocks(&self) -> usize {
        self.starts[self.starts.len() - 1] as usize
    }

    fn leaf(&self, first: u32, count: u32) -> &[LeafPrimitive] {
        &self.primitives[first as usize..(first + count) as usize]
    }
}

/// A range of a mesh's nodes to write, with their blocks.
struct Fill<'a> {
    mesh: &'a MeshTree,
    /// Index of the mesh's first node and block.
    base: (u32, u32),
    /// First of the mesh's nodes in the range.
    first: usize,
    nodes: &'a mut [Node8],
    blocks: &'a mut [Block8],
}

/// Nodes that one task writes.
const NODES_OF_TASK: usize = 1 << 10;

impl Fill<'_> {
    /// Writes the range, in parallel where it is long.
    fn all(self) {
        let Self { mesh, base, first, nodes, blocks } = self;
        if nodes.len() <= NODES_OF_TASK {
            return Fill { mesh, base, first, nodes, blocks }.here();
        }
        let middle = nodes.len() / 2;
        let blocks_before = (mesh.starts[first + middle] - mesh.starts[first]) as usize;
        let (left_nodes, right_nodes) = nodes.split_at_mut(middle);
        let (left_blocks, right_blocks) = blocks.split_at_mut(blocks_before);
        rayon::join(
            || Fill { mesh, base, first, nodes: left_nodes, blocks: left_blocks }.all(),
            || Fill { mesh, base, first: first + middle, nodes: right_nodes, blocks: right_blocks }.all(),
        );
    }

    fn here(self) {
        let Self { mesh, base, first, nodes, blocks } = self;
        let mut written = 0;
        let before = mesh.starts[first];
        let mut write_leaf = |first: u32, count: u32| {
            let block = base.1 + before + written as u32;
            written += write_block(&mut blocks[written..], mesh.leaf(first, count), &mesh.split);
            LEAF_BIT | block
        };
        if let Some(Child::Leaf { first, count }) = mesh.tree.root {
            write_leaf(first, count);
        }
        for (out, node) in nodes.iter_mut().zip(&mesh.tree.nodes[first..]) {
            *out = lay_out(node, base.0, &mut write_leaf);
        }
    }
}
