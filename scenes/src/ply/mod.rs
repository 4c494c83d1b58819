//! Stanford PLY meshes: ASCII and binary of both byte orders (Turk, *The PLY Polygon File Format*, 1994).
//!
//! Read are the positions `x y z`, normals `nx ny nz` and texture coordinates `u v`, `s t`, `texture_u texture_v`
//! or `texture_s texture_t` of the element `vertex`, and the lists `vertex_indices` or `vertex_index` of the
//! element `face`. Polygons become fans around their first corner. Other elements and properties are skipped.

mod elements;
mod header;
mod values;

use crate::access::FileAccess;
use crate::loaded::Contents;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{IDENTITY, Material, MeshData, SceneBuilder, Vertex};
use std::fmt;

/// A mesh as a file holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlyMesh {
    pub(crate) positions: Vec<[f32; 3]>,
    /// Unit normals, zero where the file's is not finite; empty, or as many as positions.
    pub(crate) normals: Vec<[f32; 3]>,
    /// Texture coordinates as in the file; empty, or as many as positions.
    pub(crate) uv: Vec<[f32; 2]>,
    /// Corners in the file's order, each below the number of positions.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Things in the file that were repaired, left out or guessed, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlyError {
    /// `line N` or `byte N`.
    pub(crate) place: String,
    /// The fault, and the expected value.
    pub(crate) message: String,
}

impl fmt::Display for PlyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Reads a file of at most `max_triangles` triangles. What is allocated is bounded by a multiple of the bytes,
/// whatever counts the header claims.
pub(crate) fn read(bytes: &[u8], max_triangles: u64) -> Result<PlyMesh, PlyError> {
    let header = header::parse(bytes)?;
    elements::read(&header, bytes, max_triangles)
}

impl PlyMesh {
    /// The mesh for a scene. OBJ's and PLY's v grows upwards, the scene's downwards.
    pub(crate) fn into_mesh(self, material: u32) -> MeshData {
        let Self { positions, normals, uv, triangles, .. } = self;
        let vertex = |i: usize| Vertex {
            normal: normals.get(i).map_or(Vec3::ZERO, |&n| n.into()),
            uv0: uv.get(i).map_or([0.0; 2], |&[u, v]| [u, 1.0 - v]),
            ..Vertex::default()
        };
        let has_vertices = !normals.is_empty() || !uv.is_empty();
        let vertices = if has_vertices { (0..positions.len()).map(vertex).collect() } else { Vec::new() };
        MeshData { positions, vertices, triangles, materials: vec![material], ..MeshData::default() }
    }
}

/// Reads a file's bytes into a builder, as a grey surface with the name `PLY`.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with the line or byte.
pub(crate) fn load(
    bytes: &[u8],
    access: &FileAccess<'_>,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Contents> {
    let mesh = read(bytes, access.limits.triangles).map_err(|e| warnings.error(e.place, e.message))?;
    if mesh.triangles.is_empty() {
        return Err(warnings.error("file", "it has no face, so there is nothing to render"));
    }
    mesh.notes.iter().for_each(|note| warnings.add("file", note.as_str()));
    let mut material = Material::diffuse([0.5; 3]);
    overrides.apply(Some("PLY"), &mut material, builder);
    let material = builder.material(material);
    let mesh = builder.mesh(mesh.into_mesh(material));
    builder.instance(mesh, IDENTITY);
    Ok(Contents::default())
}

#[cfg(test)]
mod tests;
