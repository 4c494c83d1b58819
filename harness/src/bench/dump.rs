//! Rays and triangles as files, for measuring other programs by them.

use super::rays::RaySet;
use crate::exit::Failure;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Scene, transform_point};
use lockstep_reports::image_io::atomic_write;
use std::io::Write;
use std::path::Path;

/// Writes `SCENE.triangles.f32`: the corners of every instance's triangles in the world, nine little-endian
/// floats each.
///
/// # Errors
/// [`Failure::Write`] naming the file.
pub(crate) fn write_triangles(folder: &Path, scene: &Scene) -> Result<(), Failure> {
    let mut corners: Vec<Vec3> = Vec::new();
    for instance in &scene.instances {
        let mesh = &scene.meshes[instance.mesh as usize];
        let range = mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let indices = scene.triangles[range].iter().flat_map(|t| t.vertices);
        corners.extend(
            indices.map(|i| transform_point(&instance.object_to_world, scene.positions[i as usize].into())),
        );
    }
    write(&folder.join(format!("{}.triangles.f32", file_name(&scene.name))), bytemuck::cast_slice(&corners))
}

/// Writes `SCENE.KIND.COUNT.rays.f32`: origin, least distance, direction and greatest distance, eight
/// little-endian floats a ray.
///
/// # Errors
/// [`Failure::Write`] naming the file.
pub(crate) fn write_rays(folder: &Path, scene: &Scene, set: &RaySet) -> Result<(), Failure> {
    let name = format!("{}.{}.{}.rays.f32", file_name(&scene.name), set.kind.name(), set.rays.len());
    write(&folder.join(name), bytemuck::cast_slice(&set.rays))
}

fn write(path: &Path, floats: &[f32]) -> Result<(), Failure> {
    Ok(atomic_write(path, |writer| {
        floats.iter().try_for_each(|value| writer.write_all(&value.to_le_bytes()))
    })?)
}

/// A scene's name without what a file name cannot hold.
pub(crate) fn file_name(scene: &str) -> String {
    scene.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
