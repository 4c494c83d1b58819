//! Eight or sixteen rays at once through Embree. The scene must be without spheres, whose callbacks take single rays.

use super::device::Device;
use super::world::{Proposal, World};
use embree4_sys::{
    RTCDeviceProperty, RTCHit, RTCHitNt, RTCIntersectArguments, RTCOccludedArguments, RTCRayHitNt, RTCRayNt,
    RTCRayQueryFlags, RTCScene, rtcGetDeviceProperty, rtcIntersect8, rtcIntersect16, rtcOccluded8,
    rtcOccluded16,
};
use lockstep_core::intersect::Ray;

/// How many rays Embree traces at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One, since the processor's vectors are short.
    One,
    /// Eight, by AVX.
    Eight,
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
            Self::Eight
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
pub(super) fn is_coherent<'r, const N: usize>(ray: impl Fn(usize) -> &'r Ray) -> bool {
    let first = ray(0).origin;
    (1..N).all(|lane| ray(lane).origin == first)
}

/// Rays as Embree takes them.
#[inline(always)]
fn to_embree<'r, const N: usize>(ray: impl Fn(usize) -> &'r Ray) -> RTCRayNt<N> {
    let mut to = RTCRayNt::<N>::default();
    for lane in 0..N {
        let Ray { origin, t_min, direction, t_max } = *ray(lane);
        (to.org_x[lane], to.org_y[lane], to.org_z[lane]) = (origin.x, origin.y, origin.z);
        (to.dir_x[lane], to.dir_y[lane], to.dir_z[lane]) = (direction.x, direction.y, direction.z);
        (to.tnear[lane], to.tfar[lane]) = (t_min, t_max);
    }
    to
}

/// Puts the hits that Embree finds nearest to the first of `proposals`, with Embree's numbers.
#[inline(always)]
pub(super) fn propose<'w, 'r, const N: usize>(
    world: &'w World,
    ray: impl Fn(usize) -> &'r Ray,
    proposals: &mut [Option<Proposal<'w>>],
) where
    AllRays: Packet<N>,
{
    let mut packet = RTCRayHitNt { ray: to_embree::<N>(&ray), hit: RTCHitNt::default() };
    let flags = if is_coherent::<N>(ray) { RTCRayQueryFlags::COHERENT } else { RTCRayQueryFlags::INCOHERENT };
    let mut args = RTCIntersectArguments { flags, ..RTCIntersectArguments::default() };
    // SAFETY: the scene is committed, lives, and calls nothing back where it has no spheres.
    unsafe { AllRays::intersect(&mut packet, world.top.raw(), &mut args) };
    let RTCRayHitNt { ray, hit } = &packet;
    for (lane, proposal) in proposals.iter_mut().enumerate().take(N) {
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

/// Whether Embree finds anything along each of the rays, with partial coverage taken for opaque. Where it finds nothing there is
/// nothing; what it finds the hit rule may turn away.
#[inline(always)]
pub(super) fn may_be_hit<'r, const N: usize>(world: &World, ray: impl Fn(usize) -> &'r Ray) -> [bool; N]
where
    AllRays: Packet<N>,
{
    let mut rays = to_embree::<N>(ray);
    // SAFETY: as in `propose`.
    unsafe { AllRays::occluded(&mut rays, world.top.raw(), &mut RTCOccludedArguments::default()) };
    rays.tfar.map(|far| far == f32::NEG_INFINITY)
}
