//! One path, read back after every stage.

use super::arrays::Array;
use super::device::Device;
use super::launches::{Launches, SceneOnDevice};
use super::path_state::PathState;
use crate::error::Result;
use crate::kernels::{BounceCounters, Packed, Pass, counters_len};
use crate::renderer::PathVertex;
use crate::scene::NONE;

/// Runs a pass of a single path, in path state of its own, and records what the kernels leave.
pub(super) fn trace<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    pass: Pass,
    bounces: u32,
) -> Result<Vec<PathVertex>> {
    let state = PathState::new(device, 1, bounces)?;
    let mut vertices = Vec::new();
    step(device, scene, &state, pass, |launches| launches.generate().map(drop))?;
    for bounce in 0..=bounces {
        step(device, scene, &state, pass, |launches| launches.extend(bounce).map(drop))?;
        let mut vertex = arrival(device, &state, bounce)?;
        step(device, scene, &state, pass, |launches| {
            launches.shade(bounce)?;
            if bounce < bounces {
                launches.connect(bounce)?;
            }
            Ok(())
        })?;
        let counters: Vec<BounceCounters> = state.counters.download(device, counters_len(bounces))?;
        vertex.radiance = first(&state.path_radiance.download::<Packed>(device, 1)?).v.to_array();
        let [now, next] = [0, 1].map(|i| counters.get(bounce as usize + i).copied().unwrap_or_default());
        vertex.connected = (now.shadow_rays > 0).then_some(now.unoccluded > 0);
        vertices.push(vertex);
        if next.extension_rays == 0 {
            break;
        }
    }
    Ok(vertices)
}

fn step<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    state: &PathState<D>,
    pass: Pass,
    act: impl FnOnce(&mut Launches<'_, D>) -> Result<()>,
) -> Result<()> {
    act(&mut Launches { device, scene, state, pass, items: 1 })
}

/// The ray that was extended and what it found.
fn arrival<D: Device>(device: &mut D, state: &PathState<D>, bounce: u32) -> Result<PathVertex> {
    let mut read = |array: &Array<D>| -> Result<Packed> { Ok(first(&array.download(device, 1)?)) };
    let (origin, direction) = (read(&state.path_origin)?, read(&state.path_direction)?);
    let (throughput, hit) = (read(&state.path_throughput)?, read(&state.hits)?);
    let primitive = state.hit_primitives.download::<u32>(device, 1)?.first().copied().unwrap_or(NONE);
    let found = |index: u32| (index != NONE).then_some(index);
    Ok(PathVertex {
        bounce,
        origin: origin.v.to_array(),
        direction: direction.v.to_array(),
        instance: found(hit.w),
        primitive: found(primitive),
        t: hit.v.x,
        uv: [hit.v.y, hit.v.z],
        throughput: throughput.v.to_array(),
        radiance: [0.0; 3],
        connected: None,
    })
}

fn first(records: &[Packed]) -> Packed {
    records.first().copied().unwrap_or_default()
}
