//! Validation of a BVH that was read from disk.

use crate::layout::bvh2::{Bvh2, EMPTY, LEAF_BIT, LEAF_COUNT_SHIFT, Node};
use crate::leaf::LeafPrimitive;
use crate::{Block8, Bvh8, Node8};
use crate::{BuildSettings, Layout, STACK_SIZE};
use bytemuck::{Pod, cast_slice};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Mesh, SPHERE_BIT, SceneData};

/// A view of the arrays of a BVH.
pub(crate) struct BvhArrays<'a, N, L> {
    pub(crate) nodes: &'a [N],
    pub(crate) leaves: &'a [L],
    pub(crate) root: u32,
    pub(crate) mesh_roots: &'a [u32],
    pub(crate) instance_boxes: &'a [[Vec3; 2]],
}

/// A BVH that consists of four arrays and a root.
pub(crate) trait Stored: Sized + Sync {
    type Node: Pod + Sync;
    type Leaf: Pod + Sync;
    /// The layout.
    const LAYOUT: Layout;
    /// Settings of cached builds.
    const SETTINGS: BuildSettings;
    /// Primitives of a leaf that are tested together.
    const LEAF_WIDTH: usize;

    fn build(scene: &SceneData, settings: &BuildSettings) -> Self;

    fn from_arrays(
        nodes: Vec<Self::Node>,
        leaves: Vec<Self::Leaf>,
        root: u32,
        mesh_roots: Vec<u32>,
        instance_boxes: Vec<[Vec3; 2]>,
    ) -> Self;

    fn view(&self) -> BvhArrays<'_, Self::Node, Self::Leaf>;

    /// Child references of a node with their boxes as lowest and highest corner; [`EMPTY`] for a missing
    /// child.
    fn children(node: &Self::Node) -> impl Iterator<Item = (u32, [Vec3; 2])>;

    /// Primitives of a leaf of a mesh; `None` where the arrays have no such leaf.
    fn primitives(&self, leaf: u32) -> Option<impl Iterator<Item = LeafPrimitive>>;

    fn root(&self) -> u32 {
        self.view().root
    }

    /// The arrays as bytes: nodes, leaves, mesh roots and instance boxes.
    fn arrays(&self) -> [&[u8]; 4] {
        let BvhArrays { nodes, leaves, mesh_roots, instance_boxes, .. } = self.view();
        [cast_slice(nodes), cast_slice(leaves), cast_slice(mesh_roots), cast_slice(instance_boxes)]
    }
}

/// The box of a missing child.
const UNHITTABLE: [Vec3; 2] = [Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY)];

/// True when every traversal ends, fits its stacks, and stays within the arrays of the BVH and the scene.
pub(crate) fn is_valid<T: Stored>(bvh: &T, scene: &SceneData) -> bool {
    let BvhArrays { nodes, root, mesh_roots, instance_boxes, .. } = bvh.view();
    let (meshes, instances) = (&scene.meshes, scene.instances.len());
    if mesh_roots.len() != meshes.len() || instance_boxes.len() != instances {
        return false;
    }
    // A tree has each node once: visiting more nodes than there are means a cycle.
    let mut unvisited = nodes.len();
    let mut walk = |root: u32, leaf: &mut dyn FnMut(u32) -> bool| {
        let mut open = vec![(root, 0)];
        while let Some((reference, depth)) = open.pop() {
            if reference & LEAF_BIT != 0 {
                if reference != EMPTY && !leaf(reference & !LEAF_BIT) {
                    return false;
                }
                continue;
            }
            let (Some(node), true) = (nodes.get(reference as usize), depth < STACK_SIZE && unvisited > 0)
            else {
                return false;
            };
            unvisited -= 1;
            for (child, bounds) in T::children(node) {
                if child != EMPTY {
                    open.push((child, depth + 1));
                } else if bounds != UNHITTABLE {
                    return false;
                }
            }
        }
        true
    };
    walk(root, &mut |instance| (instance as usize) < instances)
        && mesh_roots.iter().zip(meshes).all(|(&root, mesh)| {
            walk(root, &mut |leaf| {
                bvh.primitives(leaf).is_some_and(|mut all| all.all(|p| has(mesh, p.primitive)))
            })
        })
}

fn has(mesh: &Mesh, primitive: u32) -> bool {
    let number = primitive & !SPHERE_BIT;
    number < if primitive & SPHERE_BIT != 0 { mesh.sphere_count } else { mesh.triangle_count }
}

impl Stored for Bvh2 {
    type Node = Node;
    type Leaf = LeafPrimitive;
    const LAYOUT: Layout = Layout::Bvh2;
    const SETTINGS: BuildSettings = Self::SETTINGS;
    const LEAF_WIDTH: usize = 1;

    fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
        Self::build(scene, settings)
    }

    fn from_arrays(
        nodes: Vec<Node>,
        primitives: Vec<LeafPrimitive>,
        root: u32,
        mesh_roots: Vec<u32>,
        instance_boxes: Vec<[Vec3; 2]>,
    ) -> Self {
        Self { nodes, primitives, root, mesh_roots, instance_boxes }
    }

    fn view(&self) -> BvhArrays<'_, Node, LeafPrimitive> {
        let Self { nodes, primitives: leaves, root, mesh_roots, instance_boxes } = self;
        BvhArrays { nodes, leaves, root: *root, mesh_roots, instance_boxes }
    }

    fn children(node: &Node) -> impl Iterator<Item = (u32, [Vec3; 2])> {
        (0..2).map(|i| (node.children[i], node.child_box(i).into()))
    }

    fn primitives(&self, leaf: u32) -> Option<impl Iterator<Item = LeafPrimitive>> {
        let first = (leaf & ((1 << LEAF_COUNT_SHIFT) - 1)) as usize;
        let count = (leaf >> LEAF_COUNT_SHIFT) as usize + 1;
        Some(self.primitives.get(first..first + count)?.iter().copied())
    }
}

impl Stored for Bvh8 {
    type Node = Node8;
    type Leaf = Block8;
    const LAYOUT: Layout = Layout::Bvh8;
    const SETTINGS: BuildSettings = Self::SETTINGS;
    const LEAF_WIDTH: usize = 8;

    fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
        Self::build(scene, settings)
    }

    fn from_arrays(
        nodes: Vec<Node8>,
        blocks: Vec<Block8>,
        root: u32,
        mesh_roots: Vec<u32>,
        instance_boxes: Vec<[Vec3; 2]>,
    ) -> Self {
        Self { nodes, blocks, root, mesh_roots, instance_boxes }
    }

    fn view(&self) -> BvhArrays<'_, Node8, Block8> {
        let Self { nodes, blocks: leaves, root, mesh_roots, instance_boxes } = self;
        BvhArrays { nodes, leaves, root: *root, mesh_roots, instance_boxes }
    }

    fn children(node: &Node8) -> impl Iterator<Item = (u32, [Vec3; 2])> {
        (0..8).map(|lane| (node.children[lane], node.child_box(lane)))
    }

    fn primitives(&self, leaf: u32) -> Option<impl Iterator<Item = LeafPrimitive>> {
        let (block, rest) = self.blocks.get(leaf as usize..)?.split_first()?;
        let lanes = (0..8).filter(|lane| block.all >> lane & 1 != 0);
        let known = block.all < 1 << 8
            && (block.alpha | block.spheres | block.presplit) & !block.all == 0
            && rest
                .get(..block.boxes as usize)?
                .iter()
                .all(|boxes| boxes.primitives.iter().all(|b| *b < 1 << 8));
        known.then(|| lanes.map(|lane| block.primitive(lane)))
    }
}
