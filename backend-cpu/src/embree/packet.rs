//! Eight or sixteen rays at once through Embree. The scene must be without spheres, whose callbacks take single rays.

use super::device::Device;
use super::world::{Candidate, World};
use embree4_sys::{
    RTC_INVALID_GEOMETRY_ID, RTCDeviceProperty, RTCHit, RTCIntersectArguments, RTCOccludedArguments,
    RTCRayHitNt, RTCRayNt, RTCRayQueryFlags, RTCScene, rtcGetDeviceProperty, rtcIntersect8, rtcIntersect16,
    rtcOccluded8, rtcOccluded16,
};
use lockstep_bvh::Rays8;

/// How many rays Embree traces at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One, since the processor's vectors are short.
    One,
    /// Array8, by AVX.
    Array8,
    /// Sixteen, by AVX-512.
    Sixteen,
}

impl Width {
    /// What Embree does natively here.
    pub(super) fn of(device: &Device) -> Self {
        // SAFETY: the device is live.
        let has = |property| unsafe { rtcGetDeviceProperty(device.handle(), property) } != 0;
        if has(RTCDeviceProperty::NATIVE_RAY16_SUPPORTED) {
            Self::Sixteen
        } else if has(RTCDeviceProperty::NATIVE_RAY8_SUPPORTED) {
            Self::Array8
        } else {
            Self::One
        }
    }
}

/// As many words as rays, aligned as Embree asks.
#[repr(C, align(64))]
struct Valid([i32; 16]);

static ALL: Valid = Valid([-1; 16]);

/// Embree's queries of `N` rays.
pub(super) trait Packet<const N: usize> {
    /// Finds the nearest hit of each ray.
    ///
    /// # Safety
    /// The scene must be committed and live, and call nothing back.
    unsafe fn intersect(rays: &mut RTCRayHitNt<N>, scene: RTCScene, args: &mut RTCIntersectArguments);

    /// Asks whether anything lies along each ray.
    ///
    /// # Safety
    /// As for [`Packet::intersect`].
    unsafe fn occluded(rays: &mut RTCRayNt<N>, scene: RTCScene, args: &mut RTCOccludedArguments);
}

/// Every ray of a packet.
pub(super) struct AllRays;

macro_rules! packet {
    ($width:literal, $intersect:ident, $occluded:ident) => {
        impl Packet<$width> for AllRays {
            #[inline(always)]
            unsafe fn intersect(
                rays: &mut RTCRayHitNt<$width>,
                scene: RTCScene,
                args: &mut RTCIntersectArguments,
            ) {
                // SAFETY: as the caller promises; all words are valid and aligned, and so are the rays by their type.
                unsafe { $intersect(ALL.0.as_ptr(), scene, rays, args) };
            }

            #[inline(always)]
            unsafe fn occluded(
                rays: &mut RTCRayNt<$width>,
                scene: RTCScene,
                args: &mut RTCOccludedArguments,
            ) {
                // SAFETY: as above.
                unsafe { $occluded(ALL.0.as_ptr(), scene, rays, args) };
            }
        }
    };
}

packet!(8, rtcIntersect8, rtcOccluded8);
packet!(16, rtcIntersect16, rtcOccluded16);

/// Whether rays leave from one point, as a pinhole camera's do: then most visit the same nodes.
#[inline(always)]
pub(super) fn is_coherent(rays: &[Rays8]) -> bool {
    let Some(Rays8 { origin: first, .. }) = rays.first() else { return true };
    let start_there = |rays: &Rays8| {
        rays.origin.iter().zip(first).all(|(starts, first)| starts.iter().all(|start| *start == first[0]))
    };
    rays.iter().all(start_there)
}

/// What to tell Embree of rays.
#[inline(always)]
pub(super) fn flags(is_coherent: bool) -> RTCRayQueryFlags {
    if is_coherent { RTCRayQueryFlags::COHERENT } else { RTCRayQueryFlags::INCOHERENT }
}

/// Puts rays, eight at a time, where Embree takes them.
#[inline(always)]
fn fill<const N: usize>(to: &mut RTCRayNt<N>, rays: &[Rays8]) {
    for (k, Rays8 { origin, t_min, direction, t_max }) in rays.iter().enumerate() {
        let [[x, y, z], [dx, dy, dz]] = [origin, direction];
        put(&mut to.org_x, k, x);
        put(&mut to.org_y, k, y);
        put(&mut to.org_z, k, z);
        put(&mut to.tnear, k, t_min);
        put(&mut to.dir_x, k, dx);
        put(&mut to.dir_y, k, dy);
        put(&mut to.dir_z, k, dz);
        put(&mut to.tfar, k, t_max);
    }
}

/// Puts eight numbers in their place.
#[inline(always)]
fn put<const N: usize>(to: &mut [f32; N], k: usize, eight: &[f32; 8]) {
    to.as_chunks_mut().0[k] = *eight;
}

/// Puts the hits that Embree finds nearest to the first `N` of `candidates`, with Embree's numbers, and returns bits of the rays
/// that hit anything. The world must not be empty.
#[inline(always)]
pub(super) fn find_candidates<'w, const N: usize>(
    world: &'w World,
    packet: &mut RTCRayHitNt<N>,
    rays: &[Rays8],
    flags: RTCRayQueryFlags,
    candidates: &mut [Candidate<'w>],
) -> u32
where
    AllRays: Packet<N>,
{
    fill(&mut packet.ray, rays);
    packet.hit.geomID = [RTC_INVALID_GEOMETRY_ID; N];
    packet.hit.instID = [[RTC_INVALID_GEOMETRY_ID; N]];
    let mut args = RTCIntersectArguments { flags, ..RTCIntersectArguments::default() };
    // SAFETY: the scene is committed, lives, and calls nothing back where it has no spheres.
    unsafe { AllRays::intersect(packet, world.top.raw(), &mut args) };
    let RTCRayHitNt { ray, hit } = &*packet;
    let mut met = 0;
    for (lane, candidate) in candidates.iter_mut().enumerate().take(N) {
        let named = RTCHit {
            u: hit.u[lane],
            v: hit.v[lane],
            primID: hit.primID[lane],
            geomID: hit.geomID[lane],
            instID: [hit.instID[0][lane]],
            ..RTCHit::default()
        };
        *candidate = world.look_up(ray.tfar[lane], &named);
        met |= u32::from(named.geomID != RTC_INVALID_GEOMETRY_ID) << lane;
    }
    met
}

/// Whether Embree finds anything along each of the rays, with partial coverage taken for opaque. Where it finds nothing there is
/// nothing; what it finds the hit rule may turn away.
#[inline(always)]
pub(super) fn may_be_hit<const N: usize>(
    world: &World,
    packet: &mut RTCRayNt<N>,
    rays: &[Rays8],
    flags: RTCRayQueryFlags,
) -> [bool; N]
where
    AllRays: Packet<N>,
{
    fill(packet, rays);
    let mut args = RTCOccludedArguments { flags, ..RTCOccludedArguments::default() };
    // SAFETY: as in `find_candidates`.
    unsafe { AllRays::occluded(packet, world.top.raw(), &mut args) };
    packet.tfar.map(|far| far == f32::NEG_INFINITY)
}
