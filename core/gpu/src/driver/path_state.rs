//! Buffers that hold paths between stages, as an integrator declares them.

use crate::driver::arrays::Array;
use crate::driver::device::Device;
use crate::integrators::{Buffer, Len, Plan};
use lockstep_core::Structure;
use lockstep_core::error::{Error, Result};
use lockstep_core::merging::buckets_of_passes;

/// The buffers of the paths in flight, bound to kernel parameters by name.
pub(super) struct PathState<D: Device> {
    buffers: Vec<(&'static Buffer, Array<D>)>,
    /// The structure whose kernels take them.
    pub(super) structure: Structure,
}

impl<D: Device> PathState<D> {
    /// Allocates for `paths` paths of up to `bounces` bounces; buffers of fixed length are zero.
    pub(super) fn new(
        device: &mut D,
        plan: &Plan,
        structure: Structure,
        paths: u32,
        bounces: u32,
    ) -> Result<Self> {
        let allocate = |buffer: &'static Buffer| {
            let array = match buffer.len {
                Len::Paths => Array::of_size(device, buffer.of.size, paths as usize, buffer.what)?,
                Len::OfPaths(len) => {
                    let elements = paths as usize * len(bounces);
                    Array::of_size(device, buffer.of.size, elements, buffer.what)?
                }
                Len::Buckets => {
                    let elements = buckets_of_passes(paths) as usize;
                    Array::of_size(device, buffer.of.size, elements, buffer.what)?
                }
                Len::Bounces(len) => {
                    let array = Array::of_size(device, buffer.of.size, len(bounces), buffer.what)?;
                    array.clear(device)?;
                    array
                }
            };
            Ok((buffer, array))
        };
        let buffers = plan.buffers(structure).map(allocate).collect::<Result<_>>()?;
        Ok(Self { buffers, structure })
    }

    /// The buffer bound to a kernel parameter in a round.
    pub(super) fn get(&self, parameter: &str, round: u32) -> Option<&Array<D>> {
        let name = |buffer: &Buffer| if round.is_multiple_of(2) { buffer.name } else { buffer.next };
        self.buffers.iter().find(|(buffer, _)| name(buffer) == parameter).map(|(_, array)| array)
    }

    /// Clears the buffers of fixed length, which hold counters.
    pub(super) fn clear_counters(&self, device: &mut D) -> Result<()> {
        let counters = self.buffers.iter().filter(|(buffer, _)| matches!(buffer.len, Len::Bounces(_)));
        counters.map(|(_, array)| array).try_for_each(|array| array.clear(device))
    }
}

/// The error of a kernel parameter without a declared buffer.
pub(super) fn unbound(actor: &str, kernel: &str, parameter: &str) -> Error {
    Error::Contract {
        actor: actor.into(),
        message: format!("kernel {kernel} takes `{parameter}`, for which the integrator declares no buffer"),
    }
}
