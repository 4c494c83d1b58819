//! Memory layouts: two children per node for GPUs, eight for CPUs.

pub(crate) mod bvh2;
pub(crate) mod bvh8;
