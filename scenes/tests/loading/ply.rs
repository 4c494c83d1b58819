//! PLY files as scenes.

use lockstep_scenes::{LoadOptions, load};

const SQUARE: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                      property float s\nproperty float t\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n\
                      0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 1 0 0 1\n4 0 1 2 3\n3 0 1 3\n";

#[test]
fn a_file_can_be_named_as_a_scene() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("square.ply");
    std::fs::write(&path, SQUARE).unwrap();
    let loaded = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
    assert_eq!((loaded.scene.triangles.len(), loaded.scene.name.as_str()), (3, "square"));
    assert_eq!(loaded.scene.vertices[0].uv0, [0.0, 1.0], "v grows downwards");
    std::fs::write(&path, &SQUARE[..40]).unwrap();
    let error = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("square.ply: line"), "{error}");
}
