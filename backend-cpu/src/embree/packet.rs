//! Eight rays at once through Embree. The scene must be without spheres, whose callbacks take single rays.

use super::world::{Proposal, World};
use embree4_sys::{
    RTCHit, RTCHit8, RTCIntersectArguments, RTCOccludedArguments, RTCRay8, RTCRayHit8, RTCRayQueryFlags,
    rtcIntersect8, rtcOccluded8,
};
use lockstep_core::intersect::Ray;

/// Rays in a packet.
pub(super) const WIDTH: usize = 8;

/// As many words as rays, aligned as Embree asks.
#[repr(C, align(32))]
struct Valid([i32; WIDTH]);

static ALL: Valid = Valid([-1; WIDTH]);

/// Whether rays leave from one point, as a pinhole camera's do: then most visit the same nodes.
#[inline(always)]
pub(super) fn is_coherent<'r>(ray: impl Fn(usize) -> &'r Ray) -> bool {
    let first = ray(0).origin;
    (1..WIDTH).all(|lane| ray(lane).origin == first)
}

/// Rays as Embree takes them.
#[inline(always)]
fn to_embree<'r>(ray: impl Fn(usize) -> &'r Ray) -> RTCRay8 {
    let mut to = RTCRay8::default();
    for lane in 0..WIDTH {
        let Ray { origin, t_min, direction, t_max } = *ray(lane);
        (to.org_x[lane], to.org_y[lane], to.org_z[lane]) = (origin.x, origin.y, origin.z);
        (to.dir_x[lane], to.dir_y[lane], to.dir_z[lane]) = (direction.x, direction.y, direction.z);
        (to.tnear[lane], to.tfar[lane]) = (t_min, t_max);
    }
    to
}

/// Puts the hits that Embree finds nearest to `proposals`, with Embree's numbers.
#[inline(always)]
pub(super) fn propose<'w, 'r>(
    world: &'w World,
    ray: impl Fn(usize) -> &'r Ray,
    proposals: &mut [Option<Proposal<'w>>],
) {
    let mut packet = RTCRayHit8 { ray: to_embree(&ray), hit: RTCHit8::default() };
    let flags = if is_coherent(ray) { RTCRayQueryFlags::COHERENT } else { RTCRayQueryFlags::INCOHERENT };
    let mut args = RTCIntersectArguments { flags, ..RTCIntersectArguments::default() };
    // SAFETY: the scene is committed and lives; all words are valid and aligned, and so is the packet by its type.
    unsafe { rtcIntersect8(ALL.0.as_ptr(), world.top.raw(), &raw mut packet, &raw mut args) };
    let RTCRayHit8 { ray, hit } = &packet;
    for (lane, proposal) in proposals.iter_mut().enumerate().take(WIDTH) {
        let named = RTCHit {
            u: hit.u[lane],
            v: hit.v[lane],
            primID: hit.primID[lane],
            geomID: hit.geomID[lane],
            instID: [hit.instID[0][lane]],
            ..RTCHit::default()
        };
        *proposal = world.name(ray.tfar[lane], &named);
    }
}

/// Whether Embree finds anything along each of eight rays, with partial coverage taken for opaque. Where it finds nothing there
/// is nothing; what it finds the hit rule may turn away.
#[inline(always)]
pub(super) fn may_be_hit<'r>(world: &World, ray: impl Fn(usize) -> &'r Ray) -> [bool; WIDTH] {
    let mut packet = to_embree(ray);
    let mut args = RTCOccludedArguments::default();
    // SAFETY: as in `propose`.
    unsafe { rtcOccluded8(ALL.0.as_ptr(), world.top.raw(), &raw mut packet, &raw mut args) };
    packet.tfar.map(|far| far == f32::NEG_INFINITY)
}
