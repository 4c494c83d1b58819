//! The 8-wide layout: nodes and leaf blocks as structures of arrays of eight.

use crate::build::BuildSettings;
use crate::build::collapse::WIDTH;
use crate::leaf::LeafPrimitive;
use bytemuck::{Pod, Zeroable};
use lockstep_core::math::simd::Array8;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{NONE, SPHERE_BIT};

/// Boxes and references of up to eight children. Unused lanes hold a box that no ray hits.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Node8 {
    /// Lowest x, y and z, then highest x, y and z, of every child.
    pub planes: [Array8; 6],
    /// Index of a node, or with [`LEAF_BIT`](crate::LEAF_BIT) of a block, or of an instance in the upper
    /// level.
    pub children: [u32; WIDTH],
}

impl Node8 {
    /// Lowest and highest corner of a child's box.
    pub(crate) fn child_box(&self, lane: usize) -> [Vec3; 2] {
        let [lx, ly, lz, hx, hy, hz] = self.planes.map(|plane| plane[lane]);
        [vec3(lx, ly, lz), vec3(hx, hy, hz)]
    }
}

/// Up to eight primitives of a leaf, or up to eight clip boxes.
///
/// Triangles are whole in the tree. The clip boxes of split triangles follow in blocks of their own, and are
/// tested when a ray hits such a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Block8 {
    /// Components of the three points of each primitive, see [`LeafPrimitive`]; zero in unused lanes. In a
    /// block of clip boxes, the lowest and the highest corner of each.
    pub points: [[Array8; 3]; 3],
    /// Index of each primitive within the mesh; [`NONE`] in unused lanes. In a block of clip boxes, a bit
    /// mask of the boxes of each triangle.
    pub primitives: [u32; WIDTH],
    /// Bit mask of the lanes in use.
    pub all: u32,
    /// Bit mask of the primitives that need an alpha test.
    pub alpha: u32,
    /// Bit mask of the spheres.
    pub spheres: u32,
    /// Bit mask of the split triangles.
    pub presplit: u32,
    /// Number of blocks of clip boxes that follow.
    pub boxes: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

impl Block8 {
    pub(crate) fn new(primitives: &[LeafPrimitive]) -> Self {
        let mut block = Self {
            points: [[[0.0; WIDTH]; 3]; 3],
            primitives: [NONE; WIDTH],
            all: (1u32 << primitives.len()) - 1,
            alpha: 0,
            spheres: 0,
            presplit: 0,
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

    /// A block of clip boxes, each with the lane of its triangle.
    pub(crate) fn of_boxes(boxes: &[(usize, [Vec3; 2])]) -> Self {
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

    /// The leaf record of one lane.
    #[inline(always)]
    pub(crate) fn primitive(&self, lane: usize) -> LeafPrimitive {
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = &self.points;
        LeafPrimitive {
            p0: vec3(ax[lane], ay[lane], az[lane]),
            primitive: self.primitives[lane],
            p1: vec3(bx[lane], by[lane], bz[lane]),
            flags: if self.alpha >> lane & 1 != 0 { LeafPrimitive::ALPHA } else { 0 },
            p2: vec3(cx[lane], cy[lane], cz[lane]),
            clip_above: 0,
        }
    }
}

/// A two-level 8-wide BVH of a scene, for CPUs with SIMD registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh8 {
    pub(crate) nodes: Vec<Node8>,
    pub(crate) blocks: Vec<Block8>,
    /// Root of the tree over instances, or [`EMPTY`](crate::EMPTY).
    pub(crate) root: u32,
    /// Root of each mesh.
    pub(crate) mesh_roots: Vec<u32>,
    /// World boxes of the instances, see [`instance_boxes`](crate::instance_boxes()).
    pub(crate) instance_boxes: Vec<[Vec3; 2]>,
}

impl Bvh8 {
    /// Default settings of the binary trees before collapsing, with one reference per leaf.
    pub const SETTINGS: BuildSettings = BuildSettings {
        split: crate::Split::BinnedSah(16),
        max_leaf: 1,
        traversal_cost: 0.0,
        reinsert: true,
    };

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let trees = size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..]);
        (trees + size_of_val(&self.mesh_roots[..]) + size_of_val(&self.instance_boxes[..])) as u64
    }

    /// Depth of the deepest mesh tree.
    #[cfg(test)]
    pub(crate) fn depth(&self) -> usize {
        let mut to_visit: Vec<(u32, usize)> = self.mesh_roots.iter().map(|&root| (root, 0)).collect();
        let mut deepest = 0;
        while let Some((child, depth)) = to_visit.pop() {
            deepest = deepest.max(depth);
            if child & crate::LEAF_BIT == 0 {
                to_visit.extend(self.nodes[child as usize].children.map(|c| (c, depth + 1)));
            }
        }
        deepest
    }
}
