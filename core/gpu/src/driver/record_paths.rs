//! Recording of chosen paths.

use crate::Pass;
use crate::driver::arrays::Array;
use crate::driver::device::Device;
use crate::driver::launches::{SceneOnDevice, trace};
use bytemuck::Zeroable;
use lockstep_core::error::Result;
use lockstep_core::path_record::VertexRecord;
use lockstep_core::{PathRequest, PathVertex};

/// Bytes of records in one launch.
const BYTES_AT_ONCE: usize = 32 << 20;

/// Records the requested paths, in as many launches as their records need.
pub(super) fn record_paths<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    pass: Pass,
    requests: &[PathRequest],
) -> Result<Vec<Vec<PathVertex>>> {
    device.prepare_record_paths()?;
    let vertices = pass.bounces as usize + 1;
    let at_once = (BYTES_AT_ONCE / (vertices * size_of::<VertexRecord>())).max(1).min(requests.len());
    let mut paths = Vec::with_capacity(requests.len());
    if requests.is_empty() {
        return Ok(paths);
    }
    let words = Array::uninitialised::<u32>(device, 2 * at_once, "path requests")?;
    let records = Array::uninitialised::<VertexRecord>(device, at_once * vertices, "path vertices")?;
    let lengths = Array::uninitialised::<u32>(device, at_once, "path lengths")?;
    let blank = vec![VertexRecord::zeroed(); at_once * vertices];
    for some in requests.chunks(at_once) {
        let count = some.len();
        words.upload(device, bytemuck::cast_slice(some))?;
        records.upload(device, bytemuck::cast_slice(&blank[..count * vertices]))?;
        trace(device, scene, &pass, count as u32, [&words, &records, &lengths])?;
        device.flush()?;
        let lengths: Vec<u32> = lengths.download(device, count)?;
        let records: Vec<VertexRecord> = records.download(device, count * vertices)?;
        let of_paths = records.chunks(vertices).zip(&lengths);
        paths.extend(of_paths.map(|(all, &length)| PathVertex::path(&all[..vertices.min(length as usize)])));
    }
    Ok(paths)
}
