//! What Embree calls while it traces a ray or builds a tree.
//!
//! All queries that call back are of single rays, so the packets that callbacks receive hold one each, laid out like [`RTCRay`]
//! and [`RTCRayHit`]. None of these functions can unwind: they index only with numbers that the scene was checked for.

use super::geometry::Part;
use super::query::Query;
use super::world::Candidate;
use embree4_sys::{
    RTCBounds, RTCBoundsFunctionArguments, RTCFilterFunctionNArguments, RTCIntersectFunctionNArguments,
    RTCOccludedFunctionNArguments, RTCRay, RTCRayHit,
};
use lockstep_bvh::LeafPrimitive;
use lockstep_core::scene::SPHERE_BIT;

/// The words of a single-ray hit that hold its barycentrics and its primitive, behind the normal.
const U_WORD: usize = 3;
const V_WORD: usize = 4;
const PRIMITIVE_WORD: usize = 5;

/// Writes the box of a sphere.
///
/// # Safety
/// The arguments must come from Embree for a geometry registered with a [`Part`].
pub(super) unsafe extern "C" fn bounds(args: *const RTCBoundsFunctionArguments) {
    // SAFETY: Embree's arguments, and the part that the geometry was registered with.
    let (args, part) = unsafe { (&*args, &*(*args).geometryUserPtr.cast::<Part>()) };
    let (lo, hi) = LeafPrimitive::of(&part.scene, part.mesh(), SPHERE_BIT | args.primID).bounds();
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

/// Lets a candidate triangle pass if the hit rule does.
///
/// # Safety
/// The arguments must come from Embree for a geometry registered with a [`Part`], in a query of one ray whose context
/// heads a [`Query`].
pub(super) unsafe extern "C" fn filter(args: *const RTCFilterFunctionNArguments) {
    // SAFETY: as the caller promises.
    let Some((valid, query, found)) = (unsafe { candidate(args) }) else { return };
    match query.accept(&found) {
        Some(hit) => query.passed = hit,
        None => *valid = 0,
    }
}

/// Keeps the nearest candidate triangle by the hit rule and lets none pass, so that Embree goes on to all of them.
///
/// # Safety
/// As for [`filter`].
pub(super) unsafe extern "C" fn collect(args: *const RTCFilterFunctionNArguments) {
    // SAFETY: as the caller promises.
    let Some((valid, query, found)) = (unsafe { candidate(args) }) else { return };
    if let Some(hit) = query.accept(&found)
        && query.passed.yields_to(&hit)
    {
        query.passed = hit;
    }
    *valid = 0;
}

/// What a filter is asked about, by which query, and where it answers; none where it need not.
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
    // SAFETY: the part and the query that geometry and context were registered with; the caller of the query leaves it
    // alone meanwhile.
    let (part, query) =
        unsafe { (&*args.geometryUserPtr.cast::<Part>(), &mut *args.context.cast::<Query<'a>>()) };
    // SAFETY: one ray and one hit, with words of these kinds at these places.
    let (t, u, v, number) = unsafe {
        let (floats, words) = (args.hit.cast::<f32>(), args.hit.cast::<u32>());
        let ray = &*args.ray.cast::<RTCRay>();
        (ray.tfar, *floats.add(U_WORD), *floats.add(V_WORD), *words.add(PRIMITIVE_WORD))
    };
    let instance = query.instance_of(part);
    Some((valid, query, Candidate { t, u, v, instance, part, number }))
}

/// Tests a ray against a sphere.
///
/// # Safety
/// As for [`filter`].
pub(super) unsafe extern "C" fn intersect(args: *const RTCIntersectFunctionNArguments) {
    // SAFETY: Embree's arguments.
    let args = unsafe { &*args };
    // SAFETY: one ray, so one word.
    if unsafe { *args.valid } == 0 {
        return;
    }
    // SAFETY: as in `filter`; one ray and its hit.
    let (part, query, found) = unsafe {
        (
            &*args.geometryUserPtr.cast::<Part>(),
            &mut *args.context.cast::<Query<'_>>(),
            &mut *args.rayhit.cast::<RTCRayHit>(),
        )
    };
    let instance = query.instance_of(part);
    let Some(hit) = query.confirm(instance, part, args.primID, found.ray.tfar) else { return };
    if query.passed.is_some() && !query.passed.yields_to(&hit) {
        return;
    }
    query.passed = hit;
    found.ray.tfar = hit.t;
    found.hit.primID = args.primID;
    found.hit.geomID = args.geomID;
    found.hit.instID = query.context.instID;
}

/// Tests whether a ray meets a sphere.
///
/// # Safety
/// As for [`filter`].
pub(super) unsafe extern "C" fn occluded(args: *const RTCOccludedFunctionNArguments) {
    // SAFETY: Embree's arguments.
    let args = unsafe { &*args };
    // SAFETY: one ray, so one word.
    if unsafe { *args.valid } == 0 {
        return;
    }
    // SAFETY: as in `filter`; one ray.
    let (part, query, ray) = unsafe {
        (
            &*args.geometryUserPtr.cast::<Part>(),
            &mut *args.context.cast::<Query<'_>>(),
            &mut *args.ray.cast::<RTCRay>(),
        )
    };
    let instance = query.instance_of(part);
    if query.confirm(instance, part, args.primID, query.t_max()).is_some() {
        ray.tfar = f32::NEG_INFINITY;
    }
}
