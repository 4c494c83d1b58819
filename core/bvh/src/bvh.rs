//! A BVH in either layout.

use crate::metrics;
use crate::validate::Stored;
use crate::{Block8, Bvh2, Bvh8, LeafPrimitive, Node, Node8};
use lockstep_core::scene::SceneData;

/// Memory layout of a BVH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Two children per node: for GPUs, whose work-items test one box after the other.
    #[default]
    Bvh2,
    /// Eight children per node: for CPUs, which test eight boxes with one SIMD instruction.
    Bvh8,
}

impl Layout {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bvh2 => "BVH2",
            Self::Bvh8 => "BVH8",
        }
    }

    /// Sizes in bytes of a node and of a leaf record.
    pub const fn sizes(self) -> [usize; 2] {
        match self {
            Self::Bvh2 => [size_of::<Node>(), size_of::<LeafPrimitive>()],
            Self::Bvh8 => [size_of::<Node8>(), size_of::<Block8>()],
        }
    }
}

/// A BVH in either layout.
#[derive(Clone, Debug)]
pub enum Bvh {
    /// Two children per node.
    Bvh2(Bvh2),
    /// Eight children per node.
    Bvh8(Bvh8),
}

impl Bvh {
    /// Builds a BVH with the default settings of its layout.
    pub fn build(scene: &SceneData, layout: Layout) -> Self {
        match layout {
            Layout::Bvh2 => Self::Bvh2(Bvh2::build(scene, &Bvh2::SETTINGS)),
            Layout::Bvh8 => Self::Bvh8(Bvh8::build(scene, &Bvh8::SETTINGS)),
        }
    }

    /// Root of the BVH over instances, or [`crate::EMPTY`].
    pub fn root(&self) -> u32 {
        match self {
            Self::Bvh2(bvh) => bvh.root,
            Self::Bvh8(bvh) => bvh.root,
        }
    }

    /// The arrays as bytes: nodes, leaves, mesh roots and instance boxes.
    pub fn arrays(&self) -> [&[u8]; 4] {
        match self {
            Self::Bvh2(bvh) => bvh.arrays(),
            Self::Bvh8(bvh) => bvh.arrays(),
        }
    }

    /// Expected cost of a ray by the surface area heuristic (SAH), in leaf tests: of a triangle in [`Bvh2`],
    /// of a block in [`Bvh8`].
    ///
    /// A node costs [`crate::NODE_COST`]. `scene` is the one it was built over.
    pub fn surface_area_cost(&self, scene: &SceneData) -> f64 {
        match self {
            Self::Bvh2(bvh) => metrics::surface_area_cost(bvh, scene),
            Self::Bvh8(bvh) => metrics::surface_area_cost(bvh, scene),
        }
    }

    /// End-point overlap (EPO), in the unit of the SAH (Aila, Karras and Laine, HPG 2013).
    ///
    /// The additional cost of rays that start or end on surfaces where boxes overlap. Takes seconds, with all
    /// threads of the current rayon pool.
    pub fn end_point_overlap(&self, scene: &SceneData) -> f64 {
        match self {
            Self::Bvh2(bvh) => metrics::end_point_overlap(bvh, scene),
            Self::Bvh8(bvh) => metrics::end_point_overlap(bvh, scene),
        }
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        match self {
            Self::Bvh2(_) => Layout::Bvh2,
            Self::Bvh8(_) => Layout::Bvh8,
        }
    }
}
