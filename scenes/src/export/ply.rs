//! Triangle meshes as binary PLY files.

use super::write_error;
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A triangle mesh.
#[derive(Debug, Default)]
pub(super) struct Mesh {
    /// Positions.
    pub(super) positions: Vec<Vec3>,
    /// Normals; empty for a mesh of flat triangles, else as many as positions.
    pub(super) normals: Vec<Vec3>,
    /// Texture coordinates; empty, or as many as positions.
    pub(super) uv: Vec<[f32; 2]>,
    /// Linear RGB and alpha, not written to files; empty where all are white, or as many as positions.
    pub(super) colors: Vec<[f32; 4]>,
    /// Counter-clockwise seen from the front.
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Writes a mesh, with these names for texture coordinates.
///
/// # Errors
/// [`lockstep_core::Error::Io`], naming the file.
pub(super) fn write(path: &Path, mesh: &Mesh, uv_names: [&str; 2]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "ply\nformat binary_little_endian 1.0\nelement vertex {}", mesh.positions.len())?;
        let properties = [
            (true, ["x", "y", "z"].as_slice()),
            (!mesh.normals.is_empty(), &["nx", "ny", "nz"]),
            (!mesh.uv.is_empty(), &uv_names),
        ];
        for name in properties.iter().filter(|(there, _)| *there).flat_map(|(_, names)| names.iter()) {
            writeln!(file, "property float {name}")?;
        }
        writeln!(file, "element face {}", mesh.triangles.len())?;
        writeln!(file, "property list uchar int vertex_indices\nend_header")?;
        for (i, position) in mesh.positions.iter().enumerate() {
            let normal = mesh.normals.get(i).map(|n| n.to_array());
            let values = position.to_array().into_iter().chain(normal.into_iter().flatten());
            for value in values.chain(mesh.uv.get(i).copied().into_iter().flatten()) {
                file.write_all(&value.to_le_bytes())?;
            }
        }
        for triangle in &mesh.triangles {
            file.write_all(&[3])?;
            for index in triangle {
                file.write_all(&index.to_le_bytes())?;
            }
        }
        file.flush()
    };
    write().map_err(write_error(path))
}
