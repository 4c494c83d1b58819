//! Checks with one ray that a library lays hits out as the bindings expect.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;
use std::slice;

use crate::functions::Functions;
use crate::{
    LoadError, RTCBufferType, RTCDevice, RTCDeviceProperty, RTCFormat, RTCGeometry, RTCGeometryType,
    RTCIntersectArguments, RTCRay, RTCRayHit, RTCScene, Version,
};

/// The number that the trial triangle's geometry gets in its scene.
const GEOMETRY: u32 = 3;
/// The number that the instance of that scene gets in the top-level scene.
const INSTANCE: u32 = 5;
/// Fills the memory behind the ray.
const GUARD: u32 = 0xA5A5_A5A5;
/// How far a distance or coordinate may lie from its value. Embree divides by a refined estimate, whose last bits differ
/// from one maker's processors to another's; a number in the wrong place is off by far more.
const ROUNDING: f32 = 1e-5;
/// The first word behind a hit: 48 bytes of ray, 32 of hit and the 4 that release 4.3 added.
const FIRST_GUARDED_WORD: usize = 21;

const FLOATS3: usize = 3 * size_of::<f32>();

/// Room for a ray and a hit of any release, and for stray writes.
#[repr(C, align(64))]
struct Area([u32; 64]);

const _: () = assert!(size_of::<Area>() >= 2 * size_of::<RTCRayHit>());

/// Makes a device, asks for the release, and traces one ray through an instance of a triangle.
pub(crate) fn check(functions: &Functions, path: &Path) -> Result<Version, LoadError> {
    // SAFETY: a NUL-terminated string.
    let device = unsafe { (functions.device.rtcNewDevice)(c"threads=1".as_ptr()) };
    if device.is_null() {
        // SAFETY: a null device asks for errors of device creation.
        let error = unsafe { (functions.device.rtcGetDeviceError)(ptr::null_mut()) };
        return Err(LoadError::NoDevice { path: path.into(), error });
    }
    let result = check_device(functions, path, device);
    // SAFETY: made above and used by nobody else.
    unsafe { (functions.device.rtcReleaseDevice)(device) };
    result
}

fn check_device(functions: &Functions, path: &Path, device: RTCDevice) -> Result<Version, LoadError> {
    let number = |property| {
        // SAFETY: the device is live.
        let value = unsafe { (functions.device.rtcGetDeviceProperty)(device, property) };
        u32::try_from(value).unwrap_or(0)
    };
    let version = Version {
        major: number(RTCDeviceProperty::VERSION_MAJOR),
        minor: number(RTCDeviceProperty::VERSION_MINOR),
        patch: number(RTCDeviceProperty::VERSION_PATCH),
    };
    if version.major != 4 {
        return Err(LoadError::WrongVersion { path: path.into(), version });
    }
    // SAFETY: the device is live and its functions are those of release 4.
    let area = unsafe { trace_trial_ray(functions, device) };
    match complaint(&area) {
        None => Ok(version),
        Some(detail) => Err(LoadError::WrongLayout { path: path.into(), version, detail }),
    }
}

/// Shoots a ray of length 1 along z through (1/4, 1/4, 0), where the instanced triangle with the
/// corners (0, 0), (1, 0), (0, 1) lies in the plane z = 0, into a guarded area.
///
/// # Safety
///
/// `device` must be live and belong to the library of `functions`, of release 4.
unsafe fn trace_trial_ray(functions: &Functions, device: RTCDevice) -> Area {
    let mut area = Area([GUARD; 64]);
    let rayhit = ptr::from_mut(&mut area).cast::<RTCRayHit>();
    let ray = RTCRay { org_x: 0.25, org_y: 0.25, org_z: -1.0, dir_z: 1.0, ..RTCRay::default() };
    // SAFETY: the area is larger than a ray and its hit, and aligned to more.
    unsafe { rayhit.write(RTCRayHit { ray, ..RTCRayHit::default() }) };
    // Writing a structure may touch the padding behind it.
    area.0[FIRST_GUARDED_WORD..].fill(GUARD);
    // SAFETY: every handle is made here, used before its release, and released once; the query's
    // arguments may be null.
    unsafe {
        let inner = (functions.scene.rtcNewScene)(device);
        let triangle = new_triangle(functions, device);
        attach(functions, inner, triangle, GEOMETRY);
        let outer = (functions.scene.rtcNewScene)(device);
        let instance = (functions.geometry.rtcNewGeometry)(device, RTCGeometryType::INSTANCE);
        (functions.geometry.rtcSetGeometryInstancedScene)(instance, inner);
        attach(functions, outer, instance, INSTANCE);
        let mut arguments = RTCIntersectArguments::default();
        (functions.query.rtcIntersect1)(outer, ptr::from_mut(&mut area).cast(), &raw mut arguments);
        (functions.scene.rtcReleaseScene)(outer);
        (functions.scene.rtcReleaseScene)(inner);
    }
    area
}

/// Makes the trial triangle.
///
/// # Safety
///
/// As for [`trace_trial_ray`].
unsafe fn new_triangle(functions: &Functions, device: RTCDevice) -> RTCGeometry {
    // SAFETY: the device is live.
    let geometry = unsafe { (functions.geometry.rtcNewGeometry)(device, RTCGeometryType::TRIANGLE) };
    let vertices: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let indices: [u32; 3] = [0, 1, 2];
    let new_buffer = functions.geometry.rtcSetNewGeometryBuffer;
    // SAFETY: three items of 12 bytes of a live geometry.
    let memory = unsafe { new_buffer(geometry, RTCBufferType::VERTEX, 0, RTCFormat::FLOAT3, FLOATS3, 3) };
    // SAFETY: memory of nine words.
    unsafe { fill(memory, &vertices) };
    // SAFETY: one item of 12 bytes of a live geometry.
    let memory = unsafe { new_buffer(geometry, RTCBufferType::INDEX, 0, RTCFormat::UINT3, FLOATS3, 1) };
    // SAFETY: memory of three words.
    unsafe { fill(memory, &indices) };
    geometry
}

/// Copies into a new buffer, unless there is none.
///
/// # Safety
///
/// `memory` must be null or hold `values.len()` values.
unsafe fn fill<T: Copy>(memory: *mut c_void, values: &[T]) {
    if !memory.is_null() {
        // SAFETY: the caller vouches for the length.
        unsafe { slice::from_raw_parts_mut(memory.cast::<T>(), values.len()) }.copy_from_slice(values);
    }
}

/// Commits a geometry, hands it to a scene under `id` and commits the scene.
///
/// # Safety
///
/// Both handles must be live; the geometry's reference is given away.
unsafe fn attach(functions: &Functions, scene: RTCScene, geometry: RTCGeometry, id: u32) {
    // SAFETY: the caller vouches for the handles.
    unsafe {
        (functions.geometry.rtcCommitGeometry)(geometry);
        (functions.scene.rtcAttachGeometryByID)(scene, geometry, id);
        (functions.geometry.rtcReleaseGeometry)(geometry);
        (functions.scene.rtcCommitScene)(scene);
    }
}

/// The first fault of the area after the trial ray; `None` where it is right.
fn complaint(area: &Area) -> Option<String> {
    // SAFETY: the area holds a ray and its hit, plain numbers all.
    let found = unsafe { ptr::from_ref(area).cast::<RTCRayHit>().read() };
    let (ray, hit) = (found.ray, found.hit);
    let near = |seen: f32, expected: f32| (seen - expected).abs() <= ROUNDING;
    let measured = near(ray.tfar, 1.0) && near(hit.u, 0.25) && near(hit.v, 0.25);
    if !measured || [hit.primID, hit.geomID, hit.instID[0]] != [0, GEOMETRY, INSTANCE] {
        return Some(format!("a trial ray's hit came back as {hit:?} at distance {}", ray.tfar));
    }
    let stray = area.0[FIRST_GUARDED_WORD..].iter().position(|&word| word != GUARD)?;
    Some(format!("it wrote {} bytes behind the end of a hit", 4 * stray))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RTC_INVALID_GEOMETRY_ID, RTCHit};

    fn area_after(hit: RTCHit, tfar: f32) -> Area {
        let mut area = Area([GUARD; 64]);
        let rayhit = RTCRayHit { ray: RTCRay { tfar, ..RTCRay::default() }, hit };
        // SAFETY: the area is larger and aligned to more.
        unsafe { ptr::from_mut(&mut area).cast::<RTCRayHit>().write(rayhit) };
        area.0[FIRST_GUARDED_WORD..].fill(GUARD);
        area
    }

    fn right_hit() -> RTCHit {
        RTCHit { u: 0.25, v: 0.25, primID: 0, geomID: GEOMETRY, instID: [INSTANCE], ..RTCHit::default() }
    }

    #[test]
    fn the_right_hit_is_accepted_whatever_the_instance_primitive_says() {
        let mut area = area_after(right_hit(), 1.0);
        assert_eq!(complaint(&area), None);
        area.0[FIRST_GUARDED_WORD - 1] = RTC_INVALID_GEOMETRY_ID;
        assert_eq!(complaint(&area), None);
    }

    #[test]
    fn a_hit_may_be_rounded_but_its_numbers_not_swapped() {
        let (one, quarter) = (1.0_f32.next_down(), 0.25_f32.next_down());
        assert_eq!(complaint(&area_after(RTCHit { u: quarter, v: quarter, ..right_hit() }, one)), None);
        assert!(complaint(&area_after(RTCHit { u: 1.0, ..right_hit() }, 0.25)).is_some());
        assert!(complaint(&area_after(right_hit(), f32::NAN)).is_some());
    }

    #[test]
    fn an_instance_in_the_wrong_place_is_a_complaint() {
        let hit = RTCHit { instID: [RTC_INVALID_GEOMETRY_ID], ..right_hit() };
        assert!(complaint(&area_after(hit, 1.0)).is_some());
    }

    #[test]
    fn a_write_behind_the_hit_is_a_complaint() {
        let mut area = area_after(right_hit(), 1.0);
        area.0[FIRST_GUARDED_WORD + 2] = 7;
        assert_eq!(complaint(&area).as_deref(), Some("it wrote 8 bytes behind the end of a hit"));
    }
}
