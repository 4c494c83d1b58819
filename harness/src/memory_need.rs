//! Memory that a whole command needs by the size of its images, refused before it is taken.
//!
//! Each figure is the measured peak of a pixel, in bytes. Scenes and their BVHs are counted where they are made
//! ([`lockstep_core::memory`]).

use lockstep_core::{DeviceInfo, Film, Integrator, Settings, memory};

use crate::exit::Failure;

/// A pixel of a tile of a target that renders on the host: its sums and its index.
const TILE: u64 = Film::PIXEL_BYTES + size_of::<u32>() as u64;
/// A pixel of the images that a study compares at a time, with the planes of metrics and the reference.
const COMPARISON: u64 = 70;
/// A pixel of a study's target beside its renderer: the last film, the present one, and its image.
const OF_TARGET: u64 = 64;

/// Host bytes that a renderer has for a pixel. Films in the memory of devices are counted by their backends.
fn of_renderer(device: &DeviceInfo, integrator: Integrator) -> u64 {
    match (device.host_threads() > 0, integrator.splats()) {
        (true, false) => TILE,
        (true, true) => TILE + Film::PIXEL_BYTES,
        (false, _) if device.on_host => Film::PIXEL_BYTES,
        (false, _) => 0,
    }
}

/// Refuses an image that one renderer cannot make in the memory that is there. At the peak there are the renderer's
/// film and the copy that is read from it.
///
/// # Errors
/// [`lockstep_core::Error::Memory`] with the figures.
pub(crate) fn check_render(device: &DeviceInfo, settings: &Settings) -> Result<(), Failure> {
    let bytes = of_renderer(device, settings.integrator) + Film::PIXEL_BYTES;
    let Settings { width, height, .. } = *settings;
    check(|| format!("a render of {width}x{height} pixels"), bytes, settings, memory::available())
}

/// Refuses a study whose targets cannot have their images in the memory that is there together.
///
/// # Errors
/// [`lockstep_core::Error::Memory`] with the figures.
pub(crate) fn check_study<'a>(
    devices: impl IntoIterator<Item = &'a DeviceInfo>,
    settings: &Settings,
) -> Result<(), Failure> {
    check_study_against(devices, settings, memory::available())
}

fn check_study_against<'a>(
    devices: impl IntoIterator<Item = &'a DeviceInfo>,
    settings: &Settings,
    available: Option<u64>,
) -> Result<(), Failure> {
    let of_targets: Vec<u64> =
        devices.into_iter().map(|device| OF_TARGET + of_renderer(device, settings.integrator)).collect();
    let Settings { width, height, .. } = *settings;
    let bytes = COMPARISON + of_targets.iter().sum::<u64>();
    let s = if of_targets.len() == 1 { "" } else { "s" };
    let what = || format!("a study of {width}x{height} pixels on {} target{s}", of_targets.len());
    check(what, bytes, settings, available)
}

/// Refuses an image of `bytes` a pixel that does not fit into memory.
fn check(
    what: impl FnOnce() -> String,
    bytes: u64,
    settings: &Settings,
    available: Option<u64>,
) -> Result<(), Failure> {
    let pixels = u64::from(settings.width) * u64::from(settings.height);
    Ok(memory::check_against(what, pixels * bytes, available)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(backend: &str, compute_units: u32) -> DeviceInfo {
        DeviceInfo { backend: backend.into(), compute_units, ..DeviceInfo::default() }
    }

    #[test]
    fn a_study_counts_the_films_of_all_its_targets() {
        let settings = Settings { width: 4000, height: 1000, ..Settings::default() };
        let refused = |targets: &[DeviceInfo], available| {
            check_study_against(targets, &settings, Some(available)).err().map(|e| e.to_string())
        };
        let (host, gpu) = (device("cpu", 2), device("cuda", 132));
        assert_eq!(refused(std::slice::from_ref(&gpu), 600_000_000), None);
        assert_eq!(refused(std::slice::from_ref(&host), 800_000_000), None);
        let message = refused(&[host.clone(), host, gpu], 1_000_000_000).unwrap();
        assert!(
            message.starts_with("a study of 4000x1000 pixels on 3 targets needs 1.3 GB of memory"),
            "{message}"
        );
    }

    #[test]
    fn films_of_atomics_are_counted_beside_those_of_tiles() {
        let host = device("cpu", 1);
        assert_eq!([Integrator::Path, Integrator::Bpt].map(|i| of_renderer(&host, i)), [28, 52]);
        let opencl = device("opencl", 1);
        assert_eq!(of_renderer(&opencl, Integrator::Bpt), 0);
        assert_eq!(of_renderer(&DeviceInfo { on_host: true, ..opencl }, Integrator::Bpt), 24);
    }
}
