//! Callbacks that Embree makes while it builds a BVH or traces a ray.
//!
//! All queries with callbacks are of single rays, so the packets that callbacks receive hold one ray each,
//! laid out like [`RTCRay`] and [`RTCRayHit`]. None of these functions can unwind: they index only with
//! numbers that were validated with the scene.

use super::build_options::CallbackKind;
use super::candidate::Candidate;
use super::geometry::{EmbreeGeometry, Shape};
use super::query::Query;
use lockstep_bvh::LeafPrimitive;
use lockstep_core::scene::SPHERE_BIT;
use lockstep_embree_sys::{
    RTCBounds, RTCBoundsFunctionArguments, RTCFilterFunctionNArguments, RTCIntersectFunctionNArguments,
    RTCOccludedFunctionNArguments, RTCRay, RTCRayHit, rtcCommitGeometry, rtcSetGeometryBoundsFunction,
    rtcSetGeometryEnableFilterFunctionFromArguments, rtcSetGeometryIntersectFilterFunction,
    rtcSetGeometryIntersectFunction, rtcSetGeometryOccludedFilterFunction, rtcSetGeometryOccludedFunction,
    rtcSetGeometryUserData, rtcSetGeometryUserPrimitiveCount,
};
use std::ffi::c_void;
use std::ptr;

/// Word offsets of the barycentrics and the `primID` in a single-ray hit, behind the normal.
const U_WORD: usize = 3;
const V_WORD: usize = 4;
const PRIM_ID_WORD: usize = 5;

/// Sets a geometry's callbacks and commits it. From now on `geometry` must not move, and it must outlive all
/// scenes that the geometry is attached to.
pub(super) fn register(geometry: &EmbreeGeometry) {
    let data = ptr::from_ref(geometry).cast_mut().cast::<c_void>();
    let raw = geometry.raw();
    // SAFETY: the geometry is live; callbacks only read `geometry`.
    unsafe { rtcSetGeometryUserData(raw, data) };
    match (&geometry.shape, geometry.callback) {
        // SAFETY: as above; the filter expects an `EmbreeGeometry`.
        (Shape::Triangles(_), CallbackKind::GeometryFilter) => unsafe {
            rtcSetGeometryIntersectFilterFunction(raw, Some(filter));
            rtcSetGeometryOccludedFilterFunction(raw, Some(filter));
        },
        // SAFETY: the geometry is live.
        (Shape::Triangles(_), CallbackKind::ArgumentFilter) => unsafe {
            rtcSetGeometryEnableFilterFunctionFromArguments(raw, true);
        },
        (Shape::Triangles(_), CallbackKind::None | CallbackKind::UserGeometry) => {}
        // SAFETY: as above; the callbacks expect an `EmbreeGeometry`.
        (Shape::Spheres(_), _) => unsafe {
            rtcSetGeometryUserPrimitiveCount(raw, geometry.mesh().sphere_count);
            rtcSetGeometryBoundsFunction(raw, Some(bounds), data);
            rtcSetGeometryIntersectFunction(raw, Some(intersect));
            rtcSetGeometryOccludedFunction(raw, Some(occluded));
        },
    }
    // SAFETY: the geometry is live.
    unsafe { rtcCommitGeometry(raw) };
}

/// Computes the bounding box of a sphere.
///
/// # Safety
/// The arguments must come from Embree for a geometry registered with an [`EmbreeGeometry`].
unsafe extern "C" fn bounds(args: *const RTCBoundsFunctionArguments) {
    // SAFETY: Embree's arguments, and the user data that the geometry was registered with.
    let (args, geometry) = unsafe { (&*args, &*(*args).geometryUserPtr.cast::<EmbreeGeometry>()) };
    let (lo, hi) = LeafPrimitive::of(&geometry.scene, geometry.mesh(), SPHERE_BIT | args.primID).bounds();
    let bounds = RTCBounds {
        lower_x: lo.x,
        lower_y: lo.y,
        lower_z: lo.z,
        upper_x: hi.x,
        upper_y: hi.y,
        upper_z: hi.z,
        ..RTCBounds::default()
    };
    // SAFETY: Embree's place for one box.
    unsafe { args.bounds_o.write(bounds) };
}

/// Filter function: commits a candidate triangle that the intersection predicate confirms, and rejects
/// others.
///
/// # Safety
/// The arguments must come from Embree for a geometry registered with an [`EmbreeGeometry`], in a query of
/// one ray whose context heads a [`Query`].
pub(super) unsafe extern "C" fn filter(args: *const RTCFilterFunctionNArguments) {
    // SAFETY: as the caller promises.
    let Some((valid, query, candidate)) = (unsafe { candidate(args) }) else { return };
    match query.accept(&candidate) {
        Some(hit) => query.committed = hit,
        None => *valid = 0,
    }
}

/// Filter function: keeps the nearest confirmed candidate and rejects all in Embree, so that it visits every
/// one.
///
/// # Safety
/// As for [`filter`].
pub(super) unsafe extern "C" fn collect(args: *const RTCFilterFunctionNArguments) {
    // SAFETY: as the caller promises.
    let Some((valid, query, candidate)) = (unsafe { candidate(args) }) else { return };
    if let Some(hit) = query.accept(&candidate)
        && query.committed.yields_to(&hit)
    {
        query.committed = hit;
    }
    *valid = 0;
}

/// The arguments of a filter function: the valid mask, the query and the candidate. `None` where the mask is
/// clear.
///
/// # Safety
/// As for [`filter`].
#[inline(always)]
unsafe fn candidate<'a>(
    args: *const RTCFilterFunctionNArguments,
) -> Option<(&'a mut i32, &'a mut Query<'a>, Candidate<'a>)> {
    // SAFETY: Embree's arguments.
    let args = unsafe { &*args };
    // SAFETY: one ray, so one word.
    let valid = unsafe { &mut *args.valid };
    if *valid == 0 {
        return None;
    }
    // SAFETY: the geometry and the query that user data and context were registered with; the caller of the
    // query does not use it meanwhile.
    let (geometry, query) =
        unsafe { (&*args.geometryUserPtr.cast::<EmbreeGeometry>(), &mut *args.context.cast::<Query<'a>>()) };
    // SAFETY: one ray and one hit, with words of these types at these offsets.
    let (t, u, v, prim_id) = unsafe {
        let (floats, words) = (args.hit.cast::<f32>(), args.hit.cast::<u32>());
        let ray = &*args.ray.cast::<RTCRay>();
        (ray.tfar, *floats.add(U_WORD), *floats.add(V_WORD), *words.add(PRIM_ID_WORD))
    };
    let instance = query.instance_of(geometry);
    Some((valid, query, Candidate { t, u, v, instance, geometry, prim_id }))
}

/// Intersects a ray with a sphere.
///
/// # Safety
/// As for [`filter`].
unsafe extern "C" fn intersect(args: *const RTCIntersectFunctionNArguments) {
    // SAFETY: Embree's arguments.
    let args = unsafe { &*args };
    // SAFETY: one ray, so one word.
    if unsafe { *args.valid } == 0 {
        return;
    }
    // SAFETY: as in `filter`; one ray and its hit.
    let (geometry, query, ray_hit) = unsafe {
        (
            &*args.geometryUserPtr.cast::<EmbreeGeometry>(),
            &mut *args.context.cast::<Query<'_>>(),
            &mut *args.rayhit.cast::<RTCRayHit>(),
        )
    };
    let instance = query.instance_of(geometry);
    let Some(hit) = query.confirm(instance, geometry, args.primID, ray_hit.ray.tfar) else { return };
    if query.committed.is_some() && !query.committed.yields_to(&hit) {
        return;
    }
    query.committed = hit;
    ray_hit.ray.tfar = hit.t;
    ray_hit.hit.primID = args.primID;
    ray_hit.hit.geomID = args.geomID;
    ray_hit.hit.instID = query.context.instID;
}

/// Tests whether a sphere occludes a ray.
///
/// # Safety
/// As for [`filter`].
unsafe extern "C" fn occluded(args: *const RTCOccludedFunctionNArguments) {
    // SAFETY: Embree's arguments.
    let args = unsafe { &*args };
    // SAFETY: one ray, so one word.
    if unsafe { *args.valid } == 0 {
        return;
    }
    // SAFETY: as in `filter`; one ray.
    let (geometry, query, ray) = unsafe {
        (
            &*args.geometryUserPtr.cast::<EmbreeGeometry>(),
            &mut *args.context.cast::<Query<'_>>(),
            &mut *args.ray.cast::<RTCRay>(),
        )
    };
    let instance = query.instance_of(geometry);
    if query.confirm(instance, geometry, args.primID, query.t_max()).is_some() {
        ray.tfar = f32::NEG_INFINITY;
    }
}
