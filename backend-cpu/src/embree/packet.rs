//! Eight or sixteen rays at once through Embree. The scene must be without spheres, whose callbacks take single rays.

use super::device::Device;
use super::world::{Proposal, World};
use embree4_sys::{
    RTCDeviceProperty, RTCHit, RTCIntersectArguments, RTCOccludedArguments, RTCRayHitNt, RTCRayNt,
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

/// Rays that Embree traces together.
pub(super) trait Packet {
    /// [`rtcIntersect8`] or [`rtcIntersect16`], of all rays.
    ///
    /// # Safety
    /// The scene must be committed and live, and call nothing back.
    unsafe fn intersect(&mut self, scene: RTCScene, args: &mut RTCIntersectArguments);

    /// [`rtcOccluded8`] or [`rtcOccluded16`], of all rays.
    ///
    /// # Safety
    /// As for [`Packet::intersect`].
    unsafe fn occluded(&mut self, scene: RTCScene, args: &mut RTCOccludedArguments);
}

impl Packet for RTCRayHitNt<8> {
    #[inline(always)]
    unsafe fn intersect(&mut self, scene: RTCScene, args: &mut RTCIntersectArguments) {
        // SAFETY: as the caller promises; all words are valid and aligned, and so is the packet by its type.
        unsafe { rtcIntersect8(ALL.0.as_ptr(), scene, self, args) };
    }

    #[inline(always)]
    unsafe fn occluded(&mut self, scene: RTCScene, args: &mut RTCOccludedArguments) {
        // SAFETY: as above.
        unsafe { rtcOccluded8(ALL.0.as_ptr(), scene, &raw mut self.ray, args) };
    }
}

impl Packet for RTCRayHitNt<16> {
    #[inline(always)]
    unsafe fn intersect(&mut self, scene: RTCScene, args: &mut RTCIntersectArguments) {
        // SAFETY: as for eight.
        unsafe { rtcIntersect16(ALL.0.as_ptr(), scene, self, args) };
    }

    #[inline(always)]
    unsafe fn occluded(&mut self, scene: RTCScene, args: &mut RTCOccludedArguments) {
        // SAFETY: as for eight.
        unsafe { rtcOccluded16(ALL.0.as_ptr(), scene, &raw mut self.ray, args) };
    }
}

/// Whether rays leave from one point, as a pinhole camera's do: then most visit the same nodes.
#[inline(always)]
pub(super) fn is_coherent<'r, const N: usize>(ray: impl Fn(usize) -> &'r Ray) -> bool {
    let first = ray(0).origin;
    (1..N).all(|lane| ray(lane).origin == first)
}

/// Rays as Embree takes them.
#[inline(always)]
fn to_embree<'r, const N: usize>(ray: impl Fn(usize) -> &'r Ray) -> RTCRayHitNt<N> {
    let mut packet = RTCRayHitNt::default();
    let to: &mut RTCRayNt<N> = &mut packet.ray;
    for lane in 0..N {
        let Ray { origin, t_min, direction, t_max } = *ray(lane);
        (to.org_x[lane], to.org_y[lane], to.org_z[lane]) = (origin.x, origin.y, origin.z);
        (to.dir_x[lane], to.dir_y[lane], to.dir_z[lane]) = (direction.x, direction.y, direction.z);
        (to.tnear[lane], to.tfar[lane]) = (t_min, t_max);
    }
    packet
}

/// Puts the hits that Embree finds nearest to the first of `proposals`, with Embree's numbers.
#[inline(always)]
pub(super) fn propose<'w, 'r, const N: usize>(
    world: &'w World,
    ray: impl Fn(usize) -> &'r Ray,
    proposals: &mut [Option<Proposal<'w>>],
) where
    RTCRayHitNt<N>: Packet,
{
    let mut packet = to_embree::<N>(&ray);
    let flags = if is_coherent::<N>(ray) { RTCRayQueryFlags::COHERENT } else { RTCRayQueryFlags::INCOHERENT };
    let mut args = RTCIntersectArguments { flags, ..RTCIntersectArguments::default() };
    // SAFETY: the scene is committed, lives, and calls nothing back where it has no spheres.
    unsafe { packet.intersect(world.top.raw(), &mut args) };
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
    RTCRayHitNt<N>: Packet,
{
    let mut packet = to_embree::<N>(ray);
    // SAFETY: as in `propose`.
    unsafe { packet.occluded(world.top.raw(), &mut RTCOccludedArguments::default()) };
    packet.ray.tfar.map(|far| far == f32::NEG_INFINITY)
}
