//! Meshes as loaders produce them, and how a scene stores them.

use crate::scene::types::Sphere;
use crate::scene::vertex::Vertex;

/// Whether [`SceneBuilder::build`](crate::scene::SceneBuilder::build) may bake instances into world space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flatten {
    /// Meshes with one instance, and small ones, become part of one static mesh: fewer transforms while tracing.
    #[default]
    Auto,
    /// Every placement stays an instance.
    Never,
}

/// One mesh in object space, as loaders produce it.
#[derive(Clone, Debug, Default)]
pub struct MeshData {
    /// Vertex positions.
    pub positions: Vec<[f32; 3]>,
    /// Shading attributes: one per position, or none for defaults.
    pub vertices: Vec<Vertex>,
    /// Vertex indices within this mesh, counter-clockwise seen from the front.
    pub triangles: Vec<[u32; 3]>,
    /// Material of each triangle, or one for all triangles.
    pub materials: Vec<u32>,
    /// Spheres with their materials.
    pub spheres: Vec<Sphere>,
}
