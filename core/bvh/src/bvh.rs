//! The hierarchies that kernels traverse.

use crate::metrics;
use crate::validate::Stored;
use crate::{Block8, Bvh2, Bvh8, LeafPrimitive, Node, Node8};
use lockstep_core::scene::SceneData;

/// How many children a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Two: for GPUs, whose work-items each test one box after the other.
    #[default]
    Bvh2,
    /// Array8: for processors, which test as many boxes at once.
    Bvh8,
}

impl Layout {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bvh2 => "BVH2",
            Self::Bvh8 => "BVH8",
        }
    }

    /// Bytes of a node and of what leaves are made of.
    pub const fn sizes(self) -> [usize; 2] {
        match self {
            Self::Bvh2 => [size_of::<Node>(), size_of::<LeafPrimitive>()],
            Self::Bvh8 => [size_of::<Node8>(), size_of::<Block8>()],
        }
    }
}

/// A hierarchy in some layout.
#[derive(Clone, Debug)]
pub enum Bvh {
    /// Of two children a node.
    Bvh2(Bvh2),
    /// Of eight.
    Bvh8(Bvh8),
}

impl Bvh {
    /// Builds a hierarchy with the settings that suit its layout.
    pub fn build(scene: &SceneData, layout: Layout) -> Self {
        match layout {
            Layout::Bvh2 => Self::Bvh2(Bvh2::build(scene, &Bvh2::SETTINGS)),
            Layout::Bvh8 => Self::Bvh8(Bvh8::build(scene, &Bvh8::SETTINGS)),
        }
    }

    /// Root of the tree over instances, or [`crate::EMPTY`].
    pub fn root(&self) -> u32 {
        match self {
            Self::Bvh2(bvh) => bvh.root,
            Self::Bvh8(bvh) => bvh.root,
        }
    }

    /// Bytes of nodes, of leaves, of the meshes' roots and of the instances' boxes.
    pub fn arrays(&self) -> [&[u8]; 4] {
        match self {
            Self::Bvh2(bvh) => bvh.arrays(),
            Self::Bvh8(bvh) => bvh.arrays(),
        }
    }

    /// Expected cost of a ray by the surface area heuristic, in tests of what a leaf of this layout holds together: a
    /// triangle of [`Bvh2`], a block of [`Bvh8`]. A node costs [`crate::NODE_COST`]. `scene` is what it was built over.
    pub fn surface_area_cost(&self, scene: &SceneData) -> f64 {
        match self {
            Self::Bvh2(bvh) => metrics::surface_area_cost(bvh, scene),
            Self::Bvh8(bvh) => metrics::surface_area_cost(bvh, scene),
        }
    }

    /// What a ray is expected to cost besides, because it begins or ends on a surface where boxes overlap, in the same
    /// unit (Aila, Karras and Laine, HPG 2013). Takes seconds; with all threads of the current rayon pool.
    pub fn end_point_overlap(&self, scene: &SceneData) -> f64 {
        match self {
            Self::Bvh2(bvh) => metrics::end_point_overlap(bvh, scene),
            Self::Bvh8(bvh) => metrics::end_point_overlap(bvh, scene),
        }
    }

    /// Its layout.
    pub fn layout(&self) -> Layout {
        match self {
            Self::Bvh2(_) => Layout::Bvh2,
            Self::Bvh8(_) => Layout::Bvh8,
        }
    }
}
