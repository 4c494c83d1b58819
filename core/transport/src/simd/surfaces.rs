//! Surfaces, one per lane.

use crate::simd::{F32xN, Vec3xN};

/// Surface interactions with their shading frames, as in [`crate::interaction`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Interactions {
    pub(crate) position: Vec3xN,
    pub(crate) scale: F32xN,
    pub(crate) geometric: Vec3xN,
    pub(crate) normal: Vec3xN,
    pub(crate) s: Vec3xN,
    pub(crate) t: Vec3xN,
}

/// Diffuse surfaces, and the throughputs of the paths that arrive at them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiffuseSurfaces {
    pub(crate) at: Interactions,
    pub(crate) throughput: Vec3xN,
    pub(crate) base_color: Vec3xN,
}
