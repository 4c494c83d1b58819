//! Rays and hits, single and in packets of 8.
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
    /// What it hit.
    pub hit: RTCHit,
}

/// A packet of 8 rays.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RTCRay8 {
    /// Origins' x.
    pub org_x: [f32; 8],
    /// Origins' y.
    pub org_y: [f32; 8],
    /// Origins' z.
    pub org_z: [f32; 8],
    /// Near ends.
    pub tnear: [f32; 8],
    /// Directions' x.
    pub dir_x: [f32; 8],
    /// Directions' y.
    pub dir_y: [f32; 8],
    /// Directions' z.
    pub dir_z: [f32; 8],
    /// Times.
    pub time: [f32; 8],
    /// Far ends, set as in [`RTCRay::tfar`].
    pub tfar: [f32; 8],
    /// Masks.
    pub mask: [u32; 8],
    /// The caller's numbers.
    pub id: [u32; 8],
    /// Must be 0.
    pub flags: [u32; 8],
}

impl Default for RTCRay8 {
    /// Eight rays as in [`RTCRay::default`].
    fn default() -> Self {
        Self {
            org_x: [0.0; 8],
            org_y: [0.0; 8],
            org_z: [0.0; 8],
            tnear: [0.0; 8],
            dir_x: [0.0; 8],
            dir_y: [0.0; 8],
            dir_z: [0.0; 8],
            time: [0.0; 8],
            tfar: [f32::INFINITY; 8],
            mask: [u32::MAX; 8],
            id: [0; 8],
            flags: [0; 8],
        }
    }
}

/// The closest hits of a packet of 8.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RTCHit8 {
    /// x of the geometric normals.
    pub Ng_x: [f32; 8],
    /// y of the geometric normals.
    pub Ng_y: [f32; 8],
    /// z of the geometric normals.
    pub Ng_z: [f32; 8],
    /// Barycentric weights of the second vertices.
    pub u: [f32; 8],
    /// Barycentric weights of the third vertices.
    pub v: [f32; 8],
    /// The primitives.
    pub primID: [u32; 8],
    /// The geometries.
    pub geomID: [u32; 8],
    /// The instances.
    pub instID: [[u32; 8]; 1],
    /// The elements of instance arrays; Embree before 4.3 leaves it alone.
    pub instPrimID: [[u32; 8]; 1],
}

impl Default for RTCHit8 {
    /// No hits.
    fn default() -> Self {
        Self {
            Ng_x: [0.0; 8],
            Ng_y: [0.0; 8],
            Ng_z: [0.0; 8],
            u: [0.0; 8],
            v: [0.0; 8],
            primID: [RTC_INVALID_GEOMETRY_ID; 8],
            geomID: [RTC_INVALID_GEOMETRY_ID; 8],
            instID: [[RTC_INVALID_GEOMETRY_ID; 8]],
            instPrimID: [[RTC_INVALID_GEOMETRY_ID; 8]],
        }
    }
}

/// A packet of 8 rays and their closest hits.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RTCRayHit8 {
    /// The rays.
    pub ray: RTCRay8,
    /// What they hit.
    pub hit: RTCHit8,
}

/// Rays of a packet whose size is known at run time, in callbacks: twelve arrays of `N` words in the
/// order of [`RTCRay`]'s fields.
#[repr(C)]
pub struct RTCRayN {
    private: [u8; 0],
}

/// Hits of such a packet: arrays of `N` words in the order of [`RTCHit8`]'s fields.
#[repr(C)]
pub struct RTCHitN {
    private: [u8; 0],
}

/// Rays, then hits, of such a packet.
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
    assert!(size_of::<RTCRay8>() == 384 && align_of::<RTCRay8>() == 32);
    assert!(offset_of!(RTCRay8, tfar) == 256 && offset_of!(RTCRay8, flags) == 352);
    assert!(size_of::<RTCHit8>() == 288 && align_of::<RTCHit8>() == 32);
    assert!(offset_of!(RTCHit8, geomID) == 192 && offset_of!(RTCHit8, instPrimID) == 256);
    assert!(size_of::<RTCRayHit8>() == 672 && align_of::<RTCRayHit8>() == 32);
    assert!(offset_of!(RTCRayHit8, hit) == 384);
};
