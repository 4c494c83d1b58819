//! Memory layouts: two children a node for GPUs, eight for CPUs.

pub mod bvh2;
pub mod bvh8;
