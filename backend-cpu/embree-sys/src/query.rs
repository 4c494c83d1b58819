//! Ray queries: closest hit and any hit, their arguments and filter callbacks.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::offset_of;
use std::ptr;

use crate::function_table::embree_functions;
use crate::geometry::{RTCIntersectFunctionN, RTCOccludedFunctionN};
use crate::values::named_bits;
use crate::{
    RTC_INVALID_GEOMETRY_ID, RTCHitN, RTCRay, RTCRay8, RTCRay16, RTCRayHit, RTCRayHit8, RTCRayHit16, RTCRayN,
    RTCScene,
};

named_bits! {
    /// Optimisation goals and callbacks of a query.
    RTCRayQueryFlags {
        /// Incoherent rays; filters of geometries only.
        INCOHERENT = 0,
        /// Calls the query's own filter for every geometry, enabled there or not.
        INVOKE_ARGUMENT_FILTER = 1 << 1,
        /// Coherent rays.
        COHERENT = 1 << 16,
    }
}

named_bits! {
    /// The features that a query may meet; fewer may be faster on GPUs and change nothing on CPUs.
    RTCFeatureFlags {
        /// Triangle meshes.
        TRIANGLE = 1 << 1,
        /// Instances.
        INSTANCE = 1 << 23,
        /// Filters given with the query.
        FILTER_FUNCTION_IN_ARGUMENTS = 1 << 24,
        /// Filters given with the geometry.
        FILTER_FUNCTION_IN_GEOMETRY = 1 << 25,
        /// All flags.
        ALL = c_uint::MAX,
    }
}

/// Context of a ray query, handed to callbacks: the instance that the query is in. A caller may put it at the head of a
/// larger structure of its own and reach that from the callback.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RTCRayQueryContext {
    /// The instance, or [`RTC_INVALID_GEOMETRY_ID`].
    pub instID: [u32; 1],
    /// The element of an instance array; Embree before 4.3 leaves it alone.
    pub instPrimID: [u32; 1],
}

impl Default for RTCRayQueryContext {
    /// The values of C's `rtcInitRayQueryContext`: not in an instance.
    fn default() -> Self {
        Self { instID: [RTC_INVALID_GEOMETRY_ID], instPrimID: [RTC_INVALID_GEOMETRY_ID] }
    }
}

/// Arguments of a filter callback: `N` candidate hits to accept or refuse.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RTCFilterFunctionNArguments {
    /// `N` words: -1 for a candidate, 0 for none. Write 0 to refuse a hit.
    pub valid: *mut c_int,
    /// The geometry's user data.
    pub geometryUserPtr: *mut c_void,
    /// The query's context.
    pub context: *mut RTCRayQueryContext,
    /// The rays, their `tfar` at the candidate.
    pub ray: *mut RTCRayN,
    /// The candidate hits.
    pub hit: *mut RTCHitN,
    /// Number of candidate hits.
    pub N: c_uint,
}

/// Decides which candidate hits count. Called from the thread that made the query.
pub type RTCFilterFunctionN = Option<unsafe extern "C" fn(args: *const RTCFilterFunctionNArguments)>;

/// Options of a closest-hit query.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RTCIntersectArguments {
    /// Coherence and filter options.
    pub flags: RTCRayQueryFlags,
    /// Features that the query may meet.
    pub feature_mask: RTCFeatureFlags,
    /// The context, or null for the library's own.
    pub context: *mut RTCRayQueryContext,
    /// The query's filter.
    pub filter: RTCFilterFunctionN,
    /// The query's callback for user geometries.
    pub intersect: RTCIntersectFunctionN,
    /// Factor on distance for the minimal width of curves, read only by libraries built with that option.
    pub minWidthDistanceFactor: f32,
}

impl Default for RTCIntersectArguments {
    /// The values of C's `rtcInitIntersectArguments`.
    fn default() -> Self {
        Self {
            flags: RTCRayQueryFlags::INCOHERENT,
            feature_mask: RTCFeatureFlags::ALL,
            context: ptr::null_mut(),
            filter: None,
            intersect: None,
            minWidthDistanceFactor: 0.0,
        }
    }
}

/// Options of an any-hit query.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RTCOccludedArguments {
    /// Coherence and filter options.
    pub flags: RTCRayQueryFlags,
    /// Features that the query may meet.
    pub feature_mask: RTCFeatureFlags,
    /// The context, or null for the library's own.
    pub context: *mut RTCRayQueryContext,
    /// The query's filter.
    pub filter: RTCFilterFunctionN,
    /// The query's callback for user geometries.
    pub occluded: RTCOccludedFunctionN,
    /// Factor on distance for the minimal width of curves, read only by libraries built with that option.
    pub minWidthDistanceFactor: f32,
}

impl Default for RTCOccludedArguments {
    /// The values of C's `rtcInitOccludedArguments`.
    fn default() -> Self {
        Self {
            flags: RTCRayQueryFlags::INCOHERENT,
            feature_mask: RTCFeatureFlags::ALL,
            context: ptr::null_mut(),
            filter: None,
            occluded: None,
            minWidthDistanceFactor: 0.0,
        }
    }
}

// SAFETY: the pointers are only followed by unsafe functions, whose callers answer for them.
unsafe impl Send for RTCIntersectArguments {}
// SAFETY: as above.
unsafe impl Sync for RTCIntersectArguments {}
// SAFETY: as above.
unsafe impl Send for RTCOccludedArguments {}
// SAFETY: as above.
unsafe impl Sync for RTCOccludedArguments {}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<RTCRayQueryContext>() == 8);
    assert!(size_of::<RTCFilterFunctionNArguments>() == 48);
    assert!(offset_of!(RTCFilterFunctionNArguments, N) == 40);
    assert!(size_of::<RTCIntersectArguments>() == 40 && size_of::<RTCOccludedArguments>() == 40);
    assert!(offset_of!(RTCIntersectArguments, context) == 8);
    assert!(offset_of!(RTCIntersectArguments, intersect) == 24);
    assert!(offset_of!(RTCOccludedArguments, occluded) == 24);
};

embree_functions! {
    /// Finds a ray's closest hit in a committed scene; null arguments are the defaults.
    fn rtcIntersect1(scene: RTCScene, rayhit: *mut RTCRayHit, args: *mut RTCIntersectArguments) = ();

    /// Finds the closest hits of the rays whose word of the 8 at `valid`, aligned to 32 bytes, is -1.
    fn rtcIntersect8(
        valid: *const c_int,
        scene: RTCScene,
        rayhit: *mut RTCRayHit8,
        args: *mut RTCIntersectArguments,
    ) = ();

    /// Finds the closest hits of the rays whose word of the 16 at `valid`, aligned to 64 bytes, is -1.
    fn rtcIntersect16(
        valid: *const c_int,
        scene: RTCScene,
        rayhit: *mut RTCRayHit16,
        args: *mut RTCIntersectArguments,
    ) = ();

    /// Asks whether anything is between a ray's ends; if so its `tfar` becomes minus infinity.
    fn rtcOccluded1(scene: RTCScene, ray: *mut RTCRay, args: *mut RTCOccludedArguments) = ();

    /// Tests a packet of 8 rays for occlusion, with `valid` as in [`rtcIntersect8`].
    fn rtcOccluded8(
        valid: *const c_int,
        scene: RTCScene,
        ray: *mut RTCRay8,
        args: *mut RTCOccludedArguments,
    ) = ();

    /// Tests a packet of 16 rays for occlusion, with `valid` as in [`rtcIntersect16`].
    fn rtcOccluded16(
        valid: *const c_int,
        scene: RTCScene,
        ray: *mut RTCRay16,
        args: *mut RTCOccludedArguments,
    ) = ();
}
