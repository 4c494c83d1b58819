//! Scenes: sets of geometries and the BVH built over them.

use std::ffi::{c_uint, c_void};
use std::ptr;

use crate::function_table::embree_functions;
use crate::values::named_bits;
use crate::{RTC_INVALID_GEOMETRY_ID, RTCBounds, RTCBuildQuality, RTCDevice, RTCGeometry};

/// The opaque target of a scene handle.
#[repr(C)]
pub struct RTCSceneTy {
    private: [u8; 0],
}

/// A reference-counted scene.
pub type RTCScene = *mut RTCSceneTy;

named_bits! {
    /// How a scene is built.
    RTCSceneFlags {
        /// No option.
        NONE = 0,
        /// Rebuilt often: faster builds, slower queries.
        DYNAMIC = 1 << 0,
        /// Less memory, slower queries.
        COMPACT = 1 << 1,
        /// Watertight traversal and triangle tests.
        ROBUST = 1 << 2,
        /// Filters given with queries are called.
        FILTER_FUNCTION_IN_ARGUMENTS = 1 << 3,
    }
}

/// Callback that is told of a build's progress in 0..=1; answering `false` cancels the build. Called from any thread.
pub type RTCProgressMonitorFunction = Option<unsafe extern "C" fn(ptr: *mut c_void, n: f64) -> bool>;

embree_functions! {
    /// Makes an empty scene; null on failure.
    fn rtcNewScene(device: RTCDevice) -> RTCScene = ptr::null_mut();

    /// Adds a reference.
    fn rtcRetainScene(scene: RTCScene) = ();

    /// Gives a reference back; the last one destroys the scene.
    fn rtcReleaseScene(scene: RTCScene) = ();

    /// Adds a geometry and returns its number in the scene, the lowest free one.
    fn rtcAttachGeometry(scene: RTCScene, geometry: RTCGeometry) -> c_uint = RTC_INVALID_GEOMETRY_ID;

    /// Adds a geometry under a number that is free in the scene.
    fn rtcAttachGeometryByID(scene: RTCScene, geometry: RTCGeometry, geomID: c_uint) = ();

    /// Takes a geometry out of the scene.
    fn rtcDetachGeometry(scene: RTCScene, geomID: c_uint) = ();

    /// The geometry under a number, without a new reference.
    fn rtcGetGeometry(scene: RTCScene, geomID: c_uint) -> RTCGeometry = ptr::null_mut();

    /// Builds the BVH; queries may follow.
    fn rtcCommitScene(scene: RTCScene) = ();

    /// Builds the BVH with the help of every thread that calls this.
    fn rtcJoinCommitScene(scene: RTCScene) = ();

    /// Registers the callback that is told of the progress of builds.
    fn rtcSetSceneProgressMonitorFunction(
        scene: RTCScene,
        progress: RTCProgressMonitorFunction,
        ptr: *mut c_void,
    ) = ();

    /// Sets the build quality, before the commit.
    fn rtcSetSceneBuildQuality(scene: RTCScene, quality: RTCBuildQuality) = ();

    /// Sets the flags, before the commit.
    fn rtcSetSceneFlags(scene: RTCScene, flags: RTCSceneFlags) = ();

    /// The flags of a scene.
    fn rtcGetSceneFlags(scene: RTCScene) -> RTCSceneFlags = RTCSceneFlags::NONE;

    /// The box around a committed scene.
    fn rtcGetSceneBounds(scene: RTCScene, bounds_o: *mut RTCBounds) = ();
}
