//! The steps of a pair of a light and a camera sub-path, as devices write them.

use crate::math::vec3::Vec3;
use bytemuck::{Pod, Zeroable};

/// One step of a pair of sub-paths, as devices write it; [`crate::PairStep`] gives it meaning. Fields that a step lacks
/// are zero.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PairRecord {
    /// Origin of a ray, or position of a vertex.
    pub origin: Vec3,
    /// Kind of step: [`PairRecord::RAY`] and so on.
    pub flags: u32,
    /// Direction of a ray, or the one from a vertex to its predecessor.
    pub direction: Vec3,
    /// Vertices of the light sub-path in a contribution; the bounce of other steps.
    pub light: u32,
    /// Throughput on arrival at a vertex, or radiance of a contribution.
    pub value: Vec3,
    /// Vertices of the camera sub-path in a contribution.
    pub camera: u32,
    /// Unit geometric normal of a vertex.
    pub geometric: Vec3,
    /// Pixel that a contribution adds to.
    pub pixel: u32,
    /// Unit shading normal of a vertex.
    pub shading: Vec3,
    /// Instance hit by a ray.
    pub instance: u32,
    /// Base colour of a vertex.
    pub base_color: Vec3,
    /// Primitive hit by a ray.
    pub primitive: u32,
    /// Distance to a ray's hit, or length of a contribution's shadow ray.
    pub t: f32,
    /// Second barycentric coordinate of a hit.
    pub u: f32,
    /// Third barycentric coordinate of a hit.
    pub v: f32,
    /// Weight of a contribution among all techniques.
    pub weight: f32,
    /// Part of the weights that a vertex carries: d^VCM of Georgiev et al. (2012).
    pub vcm: f32,
    /// Part of the weights that a vertex carries: d^VC.
    pub vc: f32,
    /// Bound of the coordinates that a vertex was computed from.
    pub scale: f32,
    /// Roughness of a vertex.
    pub roughness: f32,
    /// Metalness of a vertex.
    pub metallic: f32,
    /// Index of refraction of a vertex.
    pub ior: f32,
    /// Transmission of a vertex.
    pub transmission: f32,
    /// Kind of the material of a vertex.
    pub kind: u32,
    /// 1 where a vertex is seen from outside.
    pub outside: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

impl PairRecord {
    /// An extension ray and its hit.
    pub const RAY: u32 = 1;
    /// A vertex.
    pub const VERTEX: u32 = 2;
    /// A contribution.
    pub const CONTRIBUTION: u32 = 4;
    /// A ray or vertex of the light sub-path.
    pub const OF_LIGHT: u32 = 8;
    /// The ray hit something.
    pub const HIT: u32 = 16;
    /// The contribution is not occluded.
    pub const REACHED: u32 = 32;

    /// True when a flag is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Upper bound of the steps of a pair of sub-paths of up to `bounces` bounces: a ray, a vertex and a contribution for each
    /// vertex of both, and every connection.
    pub const fn most(bounces: u32) -> u32 {
        3 * bounces + 3 * (bounces + 1) + (bounces + 1) * (bounces + 2) / 2
    }
}
