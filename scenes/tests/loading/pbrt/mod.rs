//! Small scenes for every directive, shape, material, texture and light.

mod directives;
mod geometry;
mod lights;
mod materials;
mod textures;

use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, dot, length};
use lockstep_core::scene::Material;
use lockstep_scenes::{LoadOptions, LoadedScene, load};

/// A triangle in the plane z = 0 that faces +z.
const TRIANGLE: &str =
    "Shape \"trianglemesh\" \"integer indices\" [0 1 2] \"point3 P\" [0 0 0  1 0 0  0 1 0]";

/// A square of 1 by 1 in the plane z = 0 with texture coordinates.
const SQUARE: &str = "Shape \"trianglemesh\" \"integer indices\" [0 1 2 0 2 3] \"point P\" [0 0 0  1 0 0  1 1 0  0 1 0] \
                      \"float uv\" [0 0 1 0 1 1 0 1]";

/// Loads a file of this name with others beside it.
fn load_with(name: &str, text: &[u8], others: &[(&str, Vec<u8>)]) -> Result<LoadedScene> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in others {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    load(path.to_str().unwrap(), &LoadOptions::default())
}

/// Loads a scene of this world, seen along +z from z = -5, so that x points to the right of the image.
fn world(text: &str) -> LoadedScene {
    world_with(text, &[])
}

fn world_with(text: &str, others: &[(&str, Vec<u8>)]) -> LoadedScene {
    let text = format!("LookAt 0 0 -5  0 0 0  0 1 0\nCamera \"perspective\"\nWorldBegin\n{text}\n");
    load_with("t.pbrt", text.as_bytes(), others).unwrap()
}

/// The message of the error that a scene's text ends with.
fn refused(text: &str) -> String {
    load_with("t.pbrt", text.as_bytes(), &[]).unwrap_err().to_string()
}

/// Whether some warning contains these words.
fn warns(loaded: &LoadedScene, words: &str) -> bool {
    loaded.warnings.iter().any(|warning| warning.to_string().contains(words))
}

/// The material of a scene whose only triangle is of this material.
fn material(text: &str) -> (Material, LoadedScene) {
    let loaded = world(&format!("{text}\n{TRIANGLE}"));
    let material = loaded.scene.materials[loaded.scene.triangles[0].material as usize];
    (material, loaded)
}

fn near(found: Vec3, wanted: [f32; 3], tolerance: f32) {
    assert!(length(found - Vec3::from(wanted)) <= tolerance, "{found:?} is not {wanted:?}");
}

/// Where a point of the scene's world is seen: to the right and up, as tangents.
fn seen(loaded: &LoadedScene, point: Vec3) -> [f32; 2] {
    let camera = loaded.scene.camera;
    let frame = camera.frame(100, 100);
    let unit = |v: Vec3| v * (1.0 / length(v));
    let to_point = point - camera.eye;
    let depth = dot(to_point, frame.forward);
    [dot(to_point, unit(frame.right)) / depth, dot(to_point, unit(frame.up)) / depth]
}
