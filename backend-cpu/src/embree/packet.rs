//! Eight rays at once through Embree.

use super::world::World;
use embree4_sys::{RTC_INVALID_GEOMETRY_ID, RTCHit, RTCHit8, RTCRay8, RTCRayHit8, rtcIntersect8};
use lockstep_core::intersect::{Hit, Ray};
use lockstep_core::scene::NONE;
use std::ptr;

/// Rays in a packet.
pub(super) const WIDTH: usize = 8;

/// As many words as rays, aligned as Embree asks.
#[repr(C, align(32))]
struct Valid([i32; WIDTH]);

static ALL: Valid = Valid([-1; WIDTH]);

/// The hits that Embree finds nearest, with Embree's numbers. The scene must be without callbacks, which take single
/// rays.
#[inline(always)]
pub(super) fn propose<'r>(world: &World, ray: impl Fn(usize) -> &'r Ray) -> [Hit; WIDTH] {
    let mut packet = RTCRayHit8 { ray: RTCRay8::default(), hit: RTCHit8::default() };
    for lane in 0..WIDTH {
        let Ray { origin, t_min, direction, t_max } = *ray(lane);
        let to = &mut packet.ray;
        (to.org_x[lane], to.org_y[lane], to.org_z[lane]) = (origin.x, origin.y, origin.z);
        (to.dir_x[lane], to.dir_y[lane], to.dir_z[lane]) = (direction.x, direction.y, direction.z);
        (to.tnear[lane], to.tfar[lane]) = (t_min, t_max);
    }
    // SAFETY: the scene is committed and lives; all words are valid and aligned, and so is the packet by its type.
    unsafe { rtcIntersect8(ALL.0.as_ptr(), world.top.raw(), &raw mut packet, ptr::null_mut()) };
    let RTCRayHit8 { ray, hit } = packet;
    std::array::from_fn(|lane| {
        if hit.geomID[lane] == RTC_INVALID_GEOMETRY_ID {
            return Hit::none(0.0);
        }
        let named = RTCHit {
            primID: hit.primID[lane],
            geomID: hit.geomID[lane],
            instID: [hit.instID[0][lane]],
            ..RTCHit::default()
        };
        let (instance, primitive) = world.resolve(&named);
        debug_assert!(instance != NONE);
        Hit { t: ray.tfar[lane], u: hit.u[lane], v: hit.v[lane], instance, primitive }
    })
}
