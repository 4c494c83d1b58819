//! Geometries: triangle meshes, instances and user geometries, their buffers and callbacks.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::offset_of;
use std::ptr;

use crate::function_table::embree_functions;
use crate::values::named_numbers;
use crate::{
    RTCBounds, RTCBuildQuality, RTCDevice, RTCFilterFunctionN, RTCFormat, RTCRayHitN, RTCRayN,
    RTCRayQueryContext, RTCScene,
};

/// The opaque target of a geometry handle.
#[repr(C)]
pub struct RTCGeometryTy {
    private: [u8; 0],
}

/// A reference-counted geometry.
pub type RTCGeometry = *mut RTCGeometryTy;

named_numbers! {
    /// The kind of a geometry.
    RTCGeometryType {
        /// Triangle mesh.
        TRIANGLE = 0,
        /// Spheres: a [`RTCFormat::FLOAT4`] vertex each, centre and radius.
        SPHERE_POINT = 50,
        /// Primitives whose bounds and intersections are callbacks.
        USER = 120,
        /// A transformed scene.
        INSTANCE = 121,
    }
}

named_numbers! {
    /// The content of a geometry's buffer.
    RTCBufferType {
        /// Vertex indices.
        INDEX = 0,
        /// Vertices.
        VERTEX = 1,
        /// Attributes at the vertices.
        VERTEX_ATTRIBUTE = 2,
    }
}

/// Arguments of a bounds callback.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RTCBoundsFunctionArguments {
    /// The geometry's user data.
    pub geometryUserPtr: *mut c_void,
    /// Index of the primitive within its geometry.
    pub primID: c_uint,
    /// Index of the time step whose bounds are asked for.
    pub timeStep: c_uint,
    /// Receives the bounding box of the primitive.
    pub bounds_o: *mut RTCBounds,
}

/// Writes a user primitive's box. Called from any thread during a commit.
pub type RTCBoundsFunction = Option<unsafe extern "C" fn(args: *const RTCBoundsFunctionArguments)>;

/// Arguments of a user geometry's closest-hit callback.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RTCIntersectFunctionNArguments {
    /// `N` words: -1 for a ray to be tested, 0 for none.
    pub valid: *mut c_int,
    /// The geometry's user data.
    pub geometryUserPtr: *mut c_void,
    /// Index of the primitive within its geometry.
    pub primID: c_uint,
    /// The query's context.
    pub context: *mut RTCRayQueryContext,
    /// The rays and their hits so far.
    pub rayhit: *mut RTCRayHitN,
    /// Number of rays.
    pub N: c_uint,
    /// ID of the geometry within its scene.
    pub geomID: c_uint,
}

/// Tests rays against a user primitive and updates `tfar` and the hit. Called from the thread that
/// made the query.
pub type RTCIntersectFunctionN = Option<unsafe extern "C" fn(args: *const RTCIntersectFunctionNArguments)>;

/// Arguments of a user geometry's any-hit callback.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RTCOccludedFunctionNArguments {
    /// `N` words: -1 for a ray to be tested, 0 for none.
    pub valid: *mut c_int,
    /// The geometry's user data.
    pub geometryUserPtr: *mut c_void,
    /// Index of the primitive within its geometry.
    pub primID: c_uint,
    /// The query's context.
    pub context: *mut RTCRayQueryContext,
    /// The rays.
    pub ray: *mut RTCRayN,
    /// Number of rays.
    pub N: c_uint,
    /// ID of the geometry within its scene.
    pub geomID: c_uint,
}

/// Tests rays against a user primitive and sets `tfar` to minus infinity on a hit. Called from the
/// thread that made the query.
pub type RTCOccludedFunctionN = Option<unsafe extern "C" fn(args: *const RTCOccludedFunctionNArguments)>;

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<RTCBoundsFunctionArguments>() == 24);
    assert!(size_of::<RTCIntersectFunctionNArguments>() == 48);
    assert!(offset_of!(RTCIntersectFunctionNArguments, context) == 24);
    assert!(offset_of!(RTCIntersectFunctionNArguments, N) == 40);
    assert!(size_of::<RTCOccludedFunctionNArguments>() == 48);
};

embree_functions! {
    /// Makes a geometry; null on failure.
    fn rtcNewGeometry(device: RTCDevice, kind: RTCGeometryType) -> RTCGeometry = ptr::null_mut();

    /// Adds a reference.
    fn rtcRetainGeometry(geometry: RTCGeometry) = ();

    /// Gives a reference back; the last one destroys the geometry.
    fn rtcReleaseGeometry(geometry: RTCGeometry) = ();

    /// Makes the changes so far take effect at the scene's next commit.
    fn rtcCommitGeometry(geometry: RTCGeometry) = ();

    /// Sets the mask that rays' masks are held against.
    fn rtcSetGeometryMask(geometry: RTCGeometry, mask: c_uint) = ();

    /// Sets the build quality of this geometry's own BVH.
    fn rtcSetGeometryBuildQuality(geometry: RTCGeometry, quality: RTCBuildQuality) = ();

    /// Makes a buffer of `itemCount` items of `byteStride` bytes, a multiple of 4, and returns its
    /// memory, or null.
    fn rtcSetNewGeometryBuffer(
        geometry: RTCGeometry,
        kind: RTCBufferType,
        slot: c_uint,
        format: RTCFormat,
        byteStride: usize,
        itemCount: usize,
    ) -> *mut c_void = ptr::null_mut();

    /// Uses the caller's memory as a buffer. It must outlive the geometry, and a vertex buffer must
    /// be readable up to 16 bytes past the start of its last item.
    fn rtcSetSharedGeometryBuffer(
        geometry: RTCGeometry,
        kind: RTCBufferType,
        slot: c_uint,
        format: RTCFormat,
        ptr: *const c_void,
        byteOffset: usize,
        byteStride: usize,
        itemCount: usize,
    ) = ();

    /// Sets the filter of closest-hit queries.
    fn rtcSetGeometryIntersectFilterFunction(geometry: RTCGeometry, filter: RTCFilterFunctionN) = ();

    /// Sets the filter of any-hit queries.
    fn rtcSetGeometryOccludedFilterFunction(geometry: RTCGeometry, filter: RTCFilterFunctionN) = ();

    /// Lets queries' own filters be called for this geometry.
    fn rtcSetGeometryEnableFilterFunctionFromArguments(geometry: RTCGeometry, enable: bool) = ();

    /// Sets the pointer that callbacks receive.
    fn rtcSetGeometryUserData(geometry: RTCGeometry, ptr: *mut c_void) = ();

    /// The pointer that callbacks receive.
    fn rtcGetGeometryUserData(geometry: RTCGeometry) -> *mut c_void = ptr::null_mut();

    /// Sets the number of primitives of a user geometry.
    fn rtcSetGeometryUserPrimitiveCount(geometry: RTCGeometry, userPrimitiveCount: c_uint) = ();

    /// Sets a user geometry's bounds callback.
    fn rtcSetGeometryBoundsFunction(
        geometry: RTCGeometry,
        bounds: RTCBoundsFunction,
        userPtr: *mut c_void,
    ) = ();

    /// Sets a user geometry's closest-hit callback.
    fn rtcSetGeometryIntersectFunction(geometry: RTCGeometry, intersect: RTCIntersectFunctionN) = ();

    /// Sets a user geometry's any-hit callback.
    fn rtcSetGeometryOccludedFunction(geometry: RTCGeometry, occluded: RTCOccludedFunctionN) = ();

    /// Sets the scene that an instance shows.
    fn rtcSetGeometryInstancedScene(geometry: RTCGeometry, scene: RTCScene) = ();

    /// Sets an instance's transformation from its scene to the world.
    fn rtcSetGeometryTransform(
        geometry: RTCGeometry,
        timeStep: c_uint,
        format: RTCFormat,
        xfm: *const c_void,
    ) = ();
}
