//! Eight rays at once through Embree.

use super::world::{Proposal, World};
use embree4_sys::{
    RTCHit, RTCHit8, RTCIntersectArguments, RTCRay8, RTCRayHit8, RTCRayQueryFlags, rtcIntersect8,
};
use lockstep_core::intersect::Ray;

/// Rays in a packet.
pub(super) const WIDTH: usize = 8;

/// As many words as rays, aligned as Embree asks.
#[repr(C, align(32))]
struct Valid([i32; WIDTH]);

static ALL: Valid = Valid([-1; WIDTH]);

/// Whether rays leave from one point, as a pinhole camera's do: then Embree finds their hits faster together. Others it
/// finds faster one by one.
#[inline(always)]
pub(super) fn pays<'r>(ray: impl Fn(usize) -> &'r Ray) -> bool {
    let first = ray(0).origin;
    (1..WIDTH).all(|lane| ray(lane).origin == first)
}

/// The hits that Embree finds nearest, with Embree's numbers. The scene must be without spheres, whose callbacks take
/// single rays.
#[inline(always)]
pub(super) fn propose<'w, 'r>(
    world: &'w World,
    ray: impl Fn(usize) -> &'r Ray,
) -> [Option<Proposal<'w>>; WIDTH] {
    let mut packet = RTCRayHit8 { ray: RTCRay8::default(), hit: RTCHit8::default() };
    for lane in 0..WIDTH {
        let Ray { origin, t_min, direction, t_max } = *ray(lane);
        let to = &mut packet.ray;
        (to.org_x[lane], to.org_y[lane], to.org_z[lane]) = (origin.x, origin.y, origin.z);
        (to.dir_x[lane], to.dir_y[lane], to.dir_z[lane]) = (direction.x, direction.y, direction.z);
        (to.tnear[lane], to.tfar[lane]) = (t_min, t_max);
    }
    let mut args =
        RTCIntersectArguments { flags: RTCRayQueryFlags::COHERENT, ..RTCIntersectArguments::default() };
    // SAFETY: the scene is committed and lives; all words are valid and aligned, and so is the packet by its type.
    unsafe { rtcIntersect8(ALL.0.as_ptr(), world.top.raw(), &raw mut packet, &raw mut args) };
    let RTCRayHit8 { ray, hit } = packet;
    std::array::from_fn(|lane| {
        let named = RTCHit {
            u: hit.u[lane],
            v: hit.v[lane],
            primID: hit.primID[lane],
            geomID: hit.geomID[lane],
            instID: [hit.instID[0][lane]],
            ..RTCHit::default()
        };
        world.name(ray.tfar[lane], &named)
    })
}
