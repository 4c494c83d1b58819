//! Calls while no library is loaded answer with errors. Nothing in this file loads one.

use std::path::Path;
use std::ptr;

use lockstep_embree_sys::*;

#[test]
fn calls_before_loading_answer_with_errors_and_nulls() {
    let null_device = ptr::null_mut();
    let mut rayhit = RTCRayHit { ray: RTCRay { dir_z: 1.0, ..RTCRay::default() }, ..RTCRayHit::default() };
    let before = rayhit;
    let mut packet = RTCRayHit8::default();
    let mut wide = RTCRayHit16::default();
    let mut bounds = RTCBounds::default();
    // SAFETY: no library is loaded, so any argument is allowed.
    unsafe {
        assert!(rtcNewDevice(ptr::null()).is_null());
        assert_eq!(rtcGetDeviceError(null_device), RTCError::INVALID_OPERATION);
        assert_eq!(rtcGetDeviceProperty(null_device, RTCDeviceProperty::VERSION), 0);
        assert!(rtcNewScene(null_device).is_null());
        let geometry = rtcNewGeometry(null_device, RTCGeometryType::TRIANGLE);
        assert!(geometry.is_null());
        let buffer = rtcSetNewGeometryBuffer(geometry, RTCBufferType::VERTEX, 0, RTCFormat::FLOAT3, 12, 3);
        assert!(buffer.is_null());
        assert_eq!(rtcAttachGeometry(ptr::null_mut(), geometry), RTC_INVALID_GEOMETRY_ID);
        rtcCommitScene(ptr::null_mut());
        rtcIntersect1(ptr::null_mut(), &raw mut rayhit, ptr::null_mut());
        rtcOccluded1(ptr::null_mut(), &raw mut rayhit.ray, ptr::null_mut());
        rtcIntersect8([-1; 8].as_ptr(), ptr::null_mut(), &raw mut packet, ptr::null_mut());
        rtcIntersect16([-1; 16].as_ptr(), ptr::null_mut(), &raw mut wide, ptr::null_mut());
        rtcGetSceneBounds(ptr::null_mut(), &raw mut bounds);
        rtcReleaseScene(ptr::null_mut());
        rtcReleaseDevice(null_device);
    }
    assert_eq!(rayhit, before);
    assert_eq!(packet, RTCRayHit8::default());
    assert_eq!(wide, RTCRayHit16::default());
    assert_eq!(bounds, RTCBounds::default());
    assert_eq!(loaded(), None);
}

#[test]
fn embree4_rs_reports_an_error_before_loading() {
    let error = embree4_rs::Device::try_new(None).err().expect("no library is loaded");
    assert!(error.to_string().contains("INVALID_OPERATION"), "{error}");
}

#[test]
fn a_missing_file_is_named_in_the_error() {
    let error = load(Some(Path::new("/no/such/folder/libembree4.so.4"))).expect_err("no such file");
    let LoadError::NotFound { attempts } = &error else { panic!("{error}") };
    assert_eq!(attempts.len(), 1);
    assert!(error.to_string().contains("/no/such/folder/libembree4.so.4"), "{error}");
}

#[test]
fn a_file_that_is_no_library_is_refused_with_the_loaders_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("libembree4.so.4"), "not a library").expect("a file");
    let error = load(Some(folder.path())).expect_err("a text file");
    assert!(matches!(&error, LoadError::NotFound { attempts } if !attempts[0].reason.is_empty()), "{error}");
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_library_that_is_not_embree_is_refused_for_its_missing_function() {
    let error = load(Some(Path::new("libm.so.6"))).expect_err("the mathematics library");
    assert!(matches!(&error, LoadError::MissingFunction { .. }), "{error}");
    assert_eq!(loaded(), None);
}
