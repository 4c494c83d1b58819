//! The buffers that hold paths between stages.

use crate::driver::arrays::Array;
use crate::driver::device::Device;
use crate::{BounceCounters, Packed, counters_len};
use lockstep_core::error::Result;

/// Bytes that one path in flight takes: eight records and three indices for the path, its hit and its shadow ray.
pub(super) const BYTES_PER_PATH: u64 = 8 * size_of::<Packed>() as u64 + 3 * size_of::<u32>() as u64;

/// Bytes that one path takes in the largest of the buffers.
pub(super) const LARGEST_BYTES_PER_PATH: u64 = size_of::<Packed>() as u64;

/// The queues and records of the paths in flight.
pub(super) struct PathState<D: Device> {
    pub(super) path_origin: Array<D>,
    pub(super) path_direction: Array<D>,
    pub(super) path_throughput: Array<D>,
    pub(super) path_radiance: Array<D>,
    pub(super) hits: Array<D>,
    pub(super) hit_primitives: Array<D>,
    /// The extension queues of even and of odd bounces.
    pub(super) queues: [Array<D>; 2],
    pub(super) shadow_origin: Array<D>,
    pub(super) shadow_direction: Array<D>,
    pub(super) shadow_radiance: Array<D>,
    pub(super) counters: Array<D>,
    pub(super) invalid: Array<D>,
}

impl<D: Device> PathState<D> {
    /// Room for `paths` paths of up to `bounces` bounces; counters and invalid are zero.
    pub(super) fn new(device: &mut D, paths: u32, bounces: u32) -> Result<Self> {
        let mut records = |what| Array::uninitialised::<Packed>(device, paths as usize, what);
        let (path_origin, path_direction) = (records("path origins")?, records("path directions")?);
        let (path_throughput, path_radiance) = (records("path throughputs")?, records("path radiances")?);
        let hits = records("hits")?;
        let (shadow_origin, shadow_direction) =
            (records("shadow ray origins")?, records("shadow ray directions")?);
        let shadow_radiance = records("shadow ray radiances")?;
        let mut indices = |what| Array::uninitialised::<u32>(device, paths as usize, what);
        let hit_primitives = indices("hit primitives")?;
        let queues = [indices("the path queue")?, indices("the next path queue")?];
        Ok(Self {
            path_origin,
            path_direction,
            path_throughput,
            path_radiance,
            hits,
            hit_primitives,
            queues,
            shadow_origin,
            shadow_direction,
            shadow_radiance,
            counters: Array::zeroed::<BounceCounters>(device, counters_len(bounces), "ray counters")?,
            invalid: Array::zeroed::<u32>(device, 4, "flaw counters")?,
        })
    }
}
