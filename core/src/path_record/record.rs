//! All quantities that a path computes at one vertex.

use crate::math::vec3::Vec3;
use bytemuck::{Pod, Zeroable};

/// All that a path computes at one vertex, as devices write it; [`crate::PathVertex`] gives it meaning.
/// Fields that the path did not reach are zero.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct VertexRecord {
    /// Origin of the extension ray.
    pub origin: Vec3,
    /// Which parts were reached: [`VertexRecord::HIT`] and so on.
    pub flags: u32,
    /// Direction of the extension ray.
    pub direction: Vec3,
    /// Instance hit.
    pub instance: u32,
    /// Throughput on arrival.
    pub throughput: Vec3,
    /// Primitive hit.
    pub primitive: u32,
    /// Distance along the ray.
    pub t: f32,
    /// Second barycentric coordinate.
    pub u: f32,
    /// Third barycentric coordinate.
    pub v: f32,
    /// Alpha (opacity) of the surface, 0 to 1.
    pub alpha: f32,
    /// Unit geometric normal on the front side.
    pub geometric: Vec3,
    /// Material.
    pub material: u32,
    /// Texture coordinates.
    pub coordinates: [f32; 2],
    /// Roughness with its texture.
    pub roughness: f32,
    /// Metalness with its texture.
    pub metallic: f32,
    /// Base colour with its texture.
    pub base_color: Vec3,
    /// Light chosen.
    pub light: u32,
    /// Shading normal on the side that the path came from.
    pub normal: Vec3,
    /// Distance to the light's point.
    pub light_distance: f32,
    /// Radiance of the path with what the vertex or the environment emits, before the vertex's own light sample.
    pub gathered: Vec3,
    /// Density of the light sample.
    pub light_pdf: f32,
    /// Words of [`crate::math::rng::Block::Light`].
    pub light_words: [u32; 4],
    /// Direction to the light.
    pub light_direction: Vec3,
    /// Density of the direction to the light under BSDF sampling.
    pub light_bsdf_pdf: f32,
    /// Radiance from the light.
    pub light_radiance: Vec3,
    /// Length of the shadow ray.
    pub shadow_t_max: f32,
    /// BSDF times cosine towards the light.
    pub light_bsdf: Vec3,
    /// Density of the next direction under BSDF sampling.
    pub scatter_pdf: f32,
    /// Origin of the shadow ray.
    pub shadow_origin: Vec3,
    /// Zero.
    pub reserved0: u32,
    /// Radiance that the shadow ray adds if it is unoccluded.
    pub shadow_radiance: Vec3,
    /// Zero.
    pub reserved1: u32,
    /// Words of [`crate::math::rng::Block::Bsdf`].
    pub scatter_words: [u32; 4],
    /// The next direction.
    pub scatter_direction: Vec3,
    /// Zero.
    pub reserved2: u32,
    /// Throughput along the next direction.
    pub scatter_throughput: Vec3,
    /// Zero.
    pub reserved3: u32,
    /// Radiance of the path when the vertex is done.
    pub radiance: Vec3,
    /// Zero.
    pub reserved4: u32,
}

impl VertexRecord {
    /// A surface was hit.
    pub const HIT: u32 = 1;
    /// The surface was shaded, as on every bounce but the last.
    pub const SHADED: u32 = 2;
    /// A light was sampled.
    pub const LIGHT: u32 = 4;
    /// A shadow ray was traced.
    pub const SHADOW: u32 = 8;
    /// The shadow ray reached its light.
    pub const REACHED: u32 = 16;
    /// A next direction was sampled.
    pub const SCATTER: u32 = 32;
    /// The path continued along the sampled direction.
    pub const CONTINUES: u32 = 64;
    /// The hit was a false one, and the path went straight on ([`crate::scene::Material::priority`]).
    pub const FALSE_HIT: u32 = 128;

    /// True when the path reached this part.
    pub fn has(&self, part: u32) -> bool {
        self.flags & part != 0
    }
}

/// Records the quantities that a path computes at a vertex: a [`VertexRecord`] stores them, `()` ignores them at no cost.
pub trait Recorder {
    /// Lets `write` fill in a part of the record.
    fn note(&mut self, write: impl FnOnce(&mut VertexRecord));
}

impl Recorder for () {
    #[inline(always)]
    fn note(&mut self, _write: impl FnOnce(&mut VertexRecord)) {}
}

impl Recorder for VertexRecord {
    #[inline(always)]
    fn note(&mut self, write: impl FnOnce(&mut VertexRecord)) {
        write(self);
    }
}
