//! Devices: creation, properties, errors, memory.

use std::ffi::{c_char, c_uint, c_void};
use std::ptr;

use crate::function_table::embree_functions;
use crate::values::{RTCError, named_numbers};

/// The opaque target of a device handle.
#[repr(C)]
pub struct RTCDeviceTy {
    private: [u8; 0],
}

/// A reference-counted device: the factory of scenes and geometries.
pub type RTCDevice = *mut RTCDeviceTy;

named_numbers! {
    /// A question to [`rtcGetDeviceProperty`].
    RTCDeviceProperty {
        /// The release as `major * 10000 + minor * 100 + patch`.
        VERSION = 0,
        /// The major release number.
        VERSION_MAJOR = 1,
        /// The minor release number.
        VERSION_MINOR = 2,
        /// The patch number.
        VERSION_PATCH = 3,
        /// Whether packets of 4 are traced natively.
        NATIVE_RAY4_SUPPORTED = 32,
        /// Whether packets of 8 are traced natively: AVX or wider.
        NATIVE_RAY8_SUPPORTED = 33,
        /// Whether packets of 16 are traced natively: AVX-512.
        NATIVE_RAY16_SUPPORTED = 34,
        /// Whether ray masks are looked at.
        RAY_MASK_SUPPORTED = 64,
        /// Whether triangles seen from behind are skipped (a build option of the library).
        BACKFACE_CULLING_ENABLED = 65,
        /// Whether filter callbacks are called.
        FILTER_FUNCTION_SUPPORTED = 66,
        /// Whether rays with non-finite components are skipped.
        IGNORE_INVALID_RAYS_ENABLED = 67,
        /// Whether triangle meshes can be built.
        TRIANGLE_GEOMETRY_SUPPORTED = 96,
        /// Whether user geometries can be built.
        USER_GEOMETRY_SUPPORTED = 100,
        /// Which scheduler builds: 0 Embree's own, 1 TBB, 2 PPL.
        TASKING_SYSTEM = 128,
        /// Whether [`rtcJoinCommitScene`](crate::rtcJoinCommitScene) works.
        JOIN_COMMIT_SUPPORTED = 129,
    }
}

/// Receives every error of a device: the pointer given at registration, the code, a message that
/// lives as long as the call. Called from any thread.
pub type RTCErrorFunction =
    Option<unsafe extern "C" fn(userPtr: *mut c_void, code: RTCError, str: *const c_char)>;

/// Callback that is told of every allocation (positive) and release (negative), in bytes, before (`post` false) and after
/// it; answering `false` to an announced allocation cancels the build. Called from any thread.
pub type RTCMemoryMonitorFunction =
    Option<unsafe extern "C" fn(ptr: *mut c_void, bytes: isize, post: bool) -> bool>;

const _: () = assert!(size_of::<RTCError>() == size_of::<c_uint>());

embree_functions! {
    /// Makes a device from a NUL-terminated list of options, or from null for the defaults; null on
    /// failure, with the reason in `rtcGetDeviceError(null)`.
    ///
    /// `embree4_rs::Device::try_new(Some(..))` passes a string without its NUL: give it `None`.
    fn rtcNewDevice(config: *const c_char) -> RTCDevice = ptr::null_mut();

    /// Adds a reference.
    fn rtcRetainDevice(device: RTCDevice) = ();

    /// Gives a reference back; the last one destroys the device.
    fn rtcReleaseDevice(device: RTCDevice) = ();

    /// A property's value.
    fn rtcGetDeviceProperty(device: RTCDevice, property: RTCDeviceProperty) -> isize = 0;

    /// Returns and forgets the first error of the calling thread since the last call; for a null device, errors of device
    /// creation.
    fn rtcGetDeviceError(device: RTCDevice) -> RTCError = RTCError::INVALID_OPERATION;

    /// Registers the receiver of error messages.
    fn rtcSetDeviceErrorFunction(device: RTCDevice, error: RTCErrorFunction, userPtr: *mut c_void) = ();

    /// Registers the callback that is told of memory use.
    fn rtcSetDeviceMemoryMonitorFunction(
        device: RTCDevice,
        memoryMonitor: RTCMemoryMonitorFunction,
        userPtr: *mut c_void,
    ) = ();
}
