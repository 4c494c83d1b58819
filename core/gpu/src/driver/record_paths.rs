//! Recording of chosen paths and pairs of sub-paths.

use crate::Pass;
use crate::driver::arrays::Array;
use crate::driver::device::Device;
use crate::driver::launches::{SceneOnDevice, launch_recording};
use crate::signatures::{Kernel, RECORD_PAIRS, RECORD_PATHS};
use lockstep_core::error::Result;
use lockstep_core::path_record::{PairRecord, PairStep, VertexRecord};
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
    let records = record(device, scene, (pass, &RECORD_PATHS, pass.bounces as usize + 1), requests)?;
    Ok(records.iter().map(|path: &Vec<VertexRecord>| PathVertex::path(path)).collect())
}

/// Records the requested pairs of sub-paths, in as many launches as their records need.
pub(super) fn record_pairs<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    pass: Pass,
    requests: &[PathRequest],
) -> Result<Vec<Vec<PairStep>>> {
    let most = PairRecord::most(pass.bounces) as usize;
    let records = record(device, scene, (pass, &RECORD_PAIRS, most), requests)?;
    Ok(records.iter().map(|pair: &Vec<PairRecord>| PairStep::pair(pair)).collect())
}

/// Runs a kernel that writes up to `most` records for each request.
fn record<D: Device, T: bytemuck::Pod>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    (pass, kernel, most): (Pass, &Kernel, usize),
    requests: &[PathRequest],
) -> Result<Vec<Vec<T>>> {
    device.prepare_recording()?;
    let at_once = (BYTES_AT_ONCE / (most * size_of::<T>())).max(1).min(requests.len());
    let mut found = Vec::with_capacity(requests.len());
    if requests.is_empty() {
        return Ok(found);
    }
    let words = Array::uninitialised::<u32>(device, 2 * at_once, "path requests")?;
    let records = Array::uninitialised::<T>(device, at_once * most, "path records")?;
    let lengths = Array::uninitialised::<u32>(device, at_once, "path lengths")?;
    let blank = vec![T::zeroed(); at_once * most];
    for some in requests.chunks(at_once) {
        let count = some.len();
        words.upload(device, bytemuck::cast_slice(some))?;
        records.upload(device, bytemuck::cast_slice(&blank[..count * most]))?;
        launch_recording(device, scene, &pass, kernel, count as u32, [&words, &records, &lengths])?;
        device.flush()?;
        let lengths: Vec<u32> = lengths.download(device, count)?;
        let records: Vec<T> = records.download(device, count * most)?;
        let of_each = records.chunks(most).zip(&lengths);
        found.extend(of_each.map(|(all, &length)| all[..most.min(length as usize)].to_vec()));
    }
    Ok(found)
}
