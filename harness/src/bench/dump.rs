//! Rays and triangles as files, for measuring other programs by them.

use super::rays::{Kind, RaySet};
use crate::exit::Failure;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Scene, transform_point};
use lockstep_reports::image_io::{atomic_write, atomic_write_text};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The manifest's file, see [`Dump`].
const MANIFEST: &str = "rays.json";

/// A folder of rays and triangles, with a manifest `rays.json`: of every set of rays its scene, kind, number, BLAKE3 and
/// file, and of every scene the file of its triangles.
#[derive(Debug, Serialize)]
pub(crate) struct Dump {
    #[serde(skip)]
    folder: PathBuf,
    /// The command that wrote the folder.
    command: String,
    scenes: Vec<SceneFile>,
    rays: Vec<RayFile>,
}

#[derive(Debug, Serialize)]
struct SceneFile {
    scene: String,
    triangles: u64,
    file: String,
}

#[derive(Debug, Serialize)]
struct RayFile {
    scene: String,
    kind: Kind,
    rays: usize,
    rays_hash: String,
    file: String,
}

impl Dump {
    /// A dump into an existing folder.
    pub(crate) fn new(folder: &Path, command: String) -> Self {
        Self { folder: folder.to_owned(), command, scenes: Vec::new(), rays: Vec::new() }
    }

    /// Writes `SCENE.triangles.f32`: the corners of every instance's triangles in the world, nine little-endian
    /// floats each.
    ///
    /// # Errors
    /// [`Failure::Write`] naming the file.
    pub(crate) fn write_triangles(&mut self, scene: &Scene) -> Result<(), Failure> {
        let mut corners: Vec<Vec3> = Vec::new();
        for instance in &scene.instances {
            let mesh = &scene.meshes[instance.mesh as usize];
            let range = mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
            let indices = scene.triangles[range].iter().flat_map(|t| t.vertices);
            corners.extend(
                indices
                    .map(|i| transform_point(&instance.object_to_world, scene.positions[i as usize].into())),
            );
        }
        let file = format!("{}.triangles.f32", file_name(&scene.name));
        write(&self.folder.join(&file), bytemuck::cast_slice(&corners))?;
        self.scenes.push(SceneFile {
            scene: scene.name.clone(),
            triangles: scene.instanced_triangles(),
            file,
        });
        Ok(())
    }

    /// Writes `SCENE.KIND.COUNT.rays.f32` of every set that has rays, and the manifest of all written so far. A ray is its
    /// origin, least distance, direction and greatest distance, eight little-endian floats.
    ///
    /// # Errors
    /// [`Failure::Write`] naming the file.
    pub(crate) fn write_rays(&mut self, scene: &Scene, sets: &[RaySet]) -> Result<(), Failure> {
        for set in sets.iter().filter(|set| !set.rays.is_empty()) {
            let file = format!("{}.{}.{}.rays.f32", file_name(&scene.name), set.kind.name(), set.rays.len());
            write(&self.folder.join(&file), bytemuck::cast_slice(&set.rays))?;
            self.rays.push(RayFile {
                scene: scene.name.clone(),
                kind: set.kind,
                rays: set.rays.len(),
                rays_hash: set.hash.clone(),
                file,
            });
        }
        let json = serde_json::to_string_pretty(self)
            .map_err(|e| Failure::Input(format!("cannot encode {MANIFEST} as JSON: {e}")))?;
        Ok(atomic_write_text(&self.folder.join(MANIFEST), &(json + "\n"))?)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rays::Source;
    use serde_json::Value;

    #[test]
    fn the_manifest_tells_the_hash_of_every_file_of_rays() {
        let scene = lockstep_scenes::load("cornell", &lockstep_scenes::LoadOptions::default()).unwrap().scene;
        let folder = tempfile::tempdir().unwrap();
        let mut dump = Dump::new(folder.path(), "lockstep bench".into());
        dump.write_triangles(&scene).unwrap();
        dump.write_rays(&scene, &Source::new(&scene, 0).sets(9_000)).unwrap();
        let text = std::fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let rays = manifest["rays"].as_array().unwrap();
        assert_eq!(rays.len(), 3);
        for row in rays {
            let bytes = std::fs::read(folder.path().join(row["file"].as_str().unwrap())).unwrap();
            assert_eq!(bytes.len() as u64, 32 * row["rays"].as_u64().unwrap());
            assert_eq!(blake3::hash(&bytes).to_hex().as_str(), row["rays_hash"]);
        }
        let triangles = folder.path().join(manifest["scenes"][0]["file"].as_str().unwrap());
        assert_eq!(
            triangles.metadata().unwrap().len(),
            36 * manifest["scenes"][0]["triangles"].as_u64().unwrap()
        );
    }
}
