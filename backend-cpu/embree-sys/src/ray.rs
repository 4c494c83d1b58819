//! Rays and hits, single and in packets of 8 and 16.
//!
//! Distances are in units of the direction's length. Packets hold each component as an array over
//! the rays.

use std::mem::offset_of;

use crate::RTC_INVALID_GEOMETRY_ID;

/// A ray, and after a query its new far end.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RTCRay {
    /// Origin's x.
    pub org_x: f32,
    /// Origin's y.
    pub org_y: f32,
    /// Origin's z.
    pub org_z: f32,
    /// Near end, at least 0.
    pub tnear: f32,
    /// Direction's x; any length but 0.
    pub dir_x: f32,
    /// Direction's y.
    pub dir_y: f32,
    /// Direction's z.
    pub dir_z: f32,
    /// Time for motion blur, in 0..=1.
    pub time: f32,
    /// Far end; a closest-hit query sets it to the hit's distance, an occlusion query to minus
    /// infinity when something is in the way.
    pub tfar: f32,
    /// Geometries whose mask shares no bit with this one are skipped.
    pub mask: u32,
    /// The caller's number for the ray.
    pub id: u32,
    /// Must be 0.
    pub flags: u32,
}

impl Default for RTCRay {
    /// A ray without direction from the origin to infinity that sees every geometry.
    fn default() -> Self {
        Self {
            org_x: 0.0,
            org_y: 0.0,
            org_z: 0.0,
            tnear: 0.0,
            dir_x: 0.0,
            dir_y: 0.0,
            dir_z: 0.0,
            time: 0.0,
            tfar: f32::INFINITY,
            mask: u32::MAX,
            id: 0,
            flags: 0,
        }
    }
}

/// The closest hit.
///
/// Without the `instPrimID` that Embree 4.3 added behind `instID`, since `embree4-rs` 0.0.16 names
/// every field when it makes one. An [`RTCRayHit`] has room for it; a lone `RTCHit` has not, and no
/// function here takes one.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RTCHit {
    /// x of the geometric normal, not normalised, in the space of the instance.
    pub Ng_x: f32,
    /// y of the geometric normal.
    pub Ng_y: f32,
    /// z of the geometric normal.
    pub Ng_z: f32,
    /// Barycentric weight of the second vertex.
    pub u: f32,
    /// Barycentric weight of the third vertex.
    pub v: f32,
    /// The primitive within its geometry.
    pub primID: u32,
    /// The geometry, or [`RTC_INVALID_GEOMETRY_ID`]: no hit. Set it so before a query.
    pub geomID: u32,
    /// The instance, or [`RTC_INVALID_GEOMETRY_ID`]: hit in the top-level scene.
    pub instID: [u32; 1],
}

impl Default for RTCHit {
    /// No hit.
    fn default() -> Self {
        Self {
            Ng_x: 0.0,
            Ng_y: 0.0,
            Ng_z: 0.0,
            u: 0.0,
            v: 0.0,
            primID: RTC_INVALID_GEOMETRY_ID,
            geomID: RTC_INVALID_GEOMETRY_ID,
            instID: [RTC_INVALID_GEOMETRY_ID],
        }
    }
}

/// A ray and its closest hit.
///
/// Aligned to 32 bytes where C asks for 16, which rounds the size up to the 96 bytes that Embree 4.3
/// and later write to.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RTCRayHit {
    /// The ray.
    pub ray: RTCRay,
    /// The hit.
    pub hit: RTCHit,
}

/// A packet of `N` rays, 8 or 16.
///
/// Aligned to 64 bytes, as C asks for 16 rays; for 8 it asks for 32.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RTCRayNt<const N: usize> {
    /// Origins' x.
    pub org_x: [f32; N],
    /// Origins' y.
    pub org_y: [f32; N],
    /// Origins' z.
    pub org_z: [f32; N],
    /// Near ends.
    pub tnear: [f32; N],
    /// Directions' x.
    pub dir_x: [f32; N],
    /// Directions' y.
    pub dir_y: [f32; N],
    /// Directions' z.
    pub dir_z: [f32; N],
    /// Times for motion blur, in 0..=1.
    pub time: [f32; N],
    /// Far ends, set as in [`RTCRay::tfar`].
    pub tfar: [f32; N],
    /// Masks of the rays, as in [`RTCRay::mask`].
    pub mask: [u32; N],
    /// The caller's numbers for the rays.
    pub id: [u32; N],
    /// Must be 0.
    pub flags: [u32; N],
}

impl<const N: usize> Default for RTCRayNt<N> {
    /// Rays as in [`RTCRay::default`].
    fn default() -> Self {
        Self {
            org_x: [0.0; N],
            org_y: [0.0; N],
            org_z: [0.0; N],
            tnear: [0.0; N],
            dir_x: [0.0; N],
            dir_y: [0.0; N],
            dir_z: [0.0; N],
            time: [0.0; N],
            tfar: [f32::INFINITY; N],
            mask: [u32::MAX; N],
            id: [0; N],
            flags: [0; N],
        }
    }
}

/// The closest hits of a packet of `N`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RTCHitNt<const N: usize> {
    /// x of the geometric normals.
    pub Ng_x: [f32; N],
    /// y of the geometric normals.
    pub Ng_y: [f32; N],
    /// z of the geometric normals.
    pub Ng_z: [f32; N],
    /// Barycentric weights of the second vertices.
    pub u: [f32; N],
    /// Barycentric weights of the third vertices.
    pub v: [f32; N],
    /// The primitives.
    pub primID: [u32; N],
    /// The geometries, [`RTC_INVALID_GEOMETRY_ID`] where there is no hit.
    pub geomID: [u32; N],
    /// The instances, [`RTC_INVALID_GEOMETRY_ID`] where the hit is in the top-level scene.
    pub instID: [[u32; N]; 1],
    /// The elements of instance arrays; Embree before 4.3 leaves them alone.
    pub instPrimID: [[u32; N]; 1],
}

impl<const N: usize> Default for RTCHitNt<N> {
    /// No hits.
    fn default() -> Self {
        Self {
            Ng_x: [0.0; N],
            Ng_y: [0.0; N],
            Ng_z: [0.0; N],
            u: [0.0; N],
            v: [0.0; N],
            primID: [RTC_INVALID_GEOMETRY_ID; N],
            geomID: [RTC_INVALID_GEOMETRY_ID; N],
            instID: [[RTC_INVALID_GEOMETRY_ID; N]],
            instPrimID: [[RTC_INVALID_GEOMETRY_ID; N]],
        }
    }
}

/// A packet of `N` rays and their closest hits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RTCRayHitNt<const N: usize> {
    /// The rays.
    pub ray: RTCRayNt<N>,
    /// The hits of the rays.
    pub hit: RTCHitNt<N>,
}

/// A packet of 8 rays.
pub type RTCRay8 = RTCRayNt<8>;

/// A packet of 8 rays and their closest hits.
pub type RTCRayHit8 = RTCRayHitNt<8>;

/// A packet of 16 rays.
pub type RTCRay16 = RTCRayNt<16>;

/// A packet of 16 rays and their closest hits.
pub type RTCRayHit16 = RTCRayHitNt<16>;

/// Rays of a packet whose size is known at run time, in callbacks: twelve arrays of `N` words in the
/// order of [`RTCRay`]'s fields.
#[repr(C)]
pub struct RTCRayN {
    private: [u8; 0],
}

/// Hits of a packet whose size is known at run time: arrays of `N` words in the order of [`RTCHitNt`]'s fields.
#[repr(C)]
pub struct RTCHitN {
    private: [u8; 0],
}

/// Rays, then hits, of a packet whose size is known at run time.
#[repr(C)]
pub struct RTCRayHitN {
    private: [u8; 0],
}

const _: () = {
    assert!(size_of::<RTCRay>() == 48 && align_of::<RTCRay>() == 16);
    assert!(offset_of!(RTCRay, dir_x) == 16 && offset_of!(RTCRay, tfar) == 32);
    assert!(offset_of!(RTCRay, flags) == 44);
    assert!(size_of::<RTCHit>() == 32 && align_of::<RTCHit>() == 16);
    assert!(offset_of!(RTCHit, u) == 12 && offset_of!(RTCHit, primID) == 20);
    assert!(offset_of!(RTCHit, geomID) == 24 && offset_of!(RTCHit, instID) == 28);
    assert!(size_of::<RTCRayHit>() == 96 && align_of::<RTCRayHit>() == 32);
    assert!(offset_of!(RTCRayHit, hit) == 48);
    assert!(size_of::<RTCRay8>() == 384 && size_of::<RTCRay16>() == 768);
    assert!(offset_of!(RTCRay8, tfar) == 256 && offset_of!(RTCRay16, tfar) == 512);
    assert!(offset_of!(RTCRay8, flags) == 352 && offset_of!(RTCRay16, flags) == 704);
    assert!(size_of::<RTCHitNt<8>>() == 288 && size_of::<RTCHitNt<16>>() == 576);
    assert!(offset_of!(RTCHitNt<8>, geomID) == 192 && offset_of!(RTCHitNt<16>, geomID) == 384);
    assert!(offset_of!(RTCHitNt<8>, instPrimID) == 256 && offset_of!(RTCHitNt<16>, instPrimID) == 512);
    assert!(offset_of!(RTCRayHit8, hit) == 384 && offset_of!(RTCRayHit16, hit) == 768);
    assert!(size_of::<RTCRayHit8>() >= 672 && align_of::<RTCRayHit8>() >= 32);
    assert!(size_of::<RTCRayHit16>() == 1344 && align_of::<RTCRayHit16>() == 64);
};
