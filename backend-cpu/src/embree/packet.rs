//! Embree's queries of 8- and 16-ray packets. Scenes must be without spheres, whose callbacks take single
//! rays.

use super::candidate::Candidate;
use super::device::Device;
use super::scene::EmbreeScene;
use lockstep_bvh::Rays8;
use lockstep_embree_sys::{
    RTC_INVALID_GEOMETRY_ID, RTCDeviceProperty, RTCHit, RTCIntersectArguments, RTCOccludedArguments,
    RTCRayHitNt, RTCRayNt, RTCRayQueryFlags, RTCScene, rtcGetDeviceProperty, rtcIntersect8, rtcIntersect16,
    rtcOccluded8, rtcOccluded16,
};

/// Number of rays that Embree traces together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One ray at a time: the processor has neither AVX nor AVX-512.
    One,
    /// Eight, by AVX.
    Eight,
    /// Sixteen, by AVX-512.
    Sixteen,
}

impl Width {
    /// The widest packets that Embree supports natively on this processor.
    pub(super) fn of(device: &Device) -> Self {
        // SAFETY: the device is live.
        let has = |property| unsafe { rtcGetDeviceProperty(device.handle(), property) } != 0;
        if has(RTCDeviceProperty::NATIVE_RAY16_SUPPORTED) {
            Self::Sixteen
        } else if has(RTCDeviceProperty::NATIVE_RAY8_SUPPORTED) {
            Self::Eight
        } else {
            Self::One
        }
    }
}

/// A valid mask: a word per ray, aligned as Embree demands.
#[repr(C, align(64))]
struct Valid([i32; 16]);

static ALL: Valid = Valid([-1; 16]);

/// Embree's queries of `N` rays.
pub(super) trait Packet<const N: usize> {
    /// Finds the closest hit of each ray.
    ///
    /// # Safety
    /// The scene must be committed and live, and have no callbacks.
    unsafe fn intersect(rays: &mut RTCRayHitNt<N>, scene: RTCScene, args: &mut RTCIntersectArguments);

    /// Tests whether each ray is occluded.
    ///
    /// # Safety
    /// As for [`Packet::intersect`].
    unsafe fn occluded(rays: &mut RTCRayNt<N>, scene: RTCScene, args: &mut RTCOccludedArguments);
}

/// Queries with all rays of a packet active.
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
                // SAFETY: as the caller promises; all words are valid and aligned, and so are the rays by
                // their type.
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

/// Embree's flag for coherent or incoherent rays.
#[inline(always)]
pub(super) fn flags(is_coherent: bool) -> RTCRayQueryFlags {
    if is_coherent { RTCRayQueryFlags::COHERENT } else { RTCRayQueryFlags::INCOHERENT }
}

/// Copies rays to an Embree packet, eight at a time.
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

/// Copies eight values to chunk `k` of an array.
#[inline(always)]
fn put<const N: usize>(to: &mut [f32; N], k: usize, eight: &[f32; 8]) {
    to.as_chunks_mut().0[k] = *eight;
}

/// Writes Embree's nearest candidates along `N` rays to `candidates`, and returns a mask of the rays that
/// have one. The scene must not be empty.
#[inline(always)]
pub(super) fn find_candidates<'s, const N: usize>(
    scene: &'s EmbreeScene,
    packet: &mut RTCRayHitNt<N>,
    rays: &[Rays8],
    flags: RTCRayQueryFlags,
    candidates: &mut [Candidate<'s>],
) -> u32
where
    AllRays: Packet<N>,
{
    // Trace the packet
    fill(&mut packet.ray, rays);
    packet.hit.geomID = [RTC_INVALID_GEOMETRY_ID; N];
    packet.hit.instID = [[RTC_INVALID_GEOMETRY_ID; N]];
    let mut args = RTCIntersectArguments { flags, ..RTCIntersectArguments::default() };
    // SAFETY: the scene is committed, lives, and has no callbacks where it has no spheres.
    unsafe { AllRays::intersect(packet, scene.top.raw(), &mut args) };

    // Scatter hits to candidates
    let RTCRayHitNt { ray, hit } = &*packet;
    let mut hit_mask = 0;
    for (lane, candidate) in candidates.iter_mut().enumerate().take(N) {
        let lane_hit = RTCHit {
            u: hit.u[lane],
            v: hit.v[lane],
            primID: hit.primID[lane],
            geomID: hit.geomID[lane],
            instID: [hit.instID[0][lane]],
            ..RTCHit::default()
        };
        *candidate = scene.candidate_or_any(ray.tfar[lane], &lane_hit);
        hit_mask |= u32::from(lane_hit.geomID != RTC_INVALID_GEOMETRY_ID) << lane;
    }
    hit_mask
}

/// Whether each ray has a candidate, with triangles with alpha taken as opaque. Rays without one are
/// unoccluded; others must be confirmed.
#[inline(always)]
pub(super) fn may_be_occluded<const N: usize>(
    scene: &EmbreeScene,
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
    unsafe { AllRays::occluded(packet, scene.top.raw(), &mut args) };
    packet.tfar.map(|far| far == f32::NEG_INFINITY)
}
