//! Scenes written for Cycles.

use lockstep_scenes::export::{Exported, Feature, to_cycles};
use lockstep_scenes::{LoadOptions, load};
use serde_json::Value;

fn exported(spec: &str) -> (Exported, Value, Vec<u8>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let scene = load(spec, &LoadOptions::default()).unwrap().scene;
    let exported = to_cycles(&scene, &dir.path().join("made")).unwrap();
    let document = serde_json::from_slice(&std::fs::read(&exported.file).unwrap()).unwrap();
    let arrays = std::fs::read(dir.path().join("made").join("geometry.bin")).unwrap();
    (exported, document, arrays, dir)
}

#[test]
fn a_scene_that_cycles_can_express_names_no_difference_and_has_all_its_triangles() {
    let (exported, document, arrays, _dir) = exported("cornell");
    assert_eq!(exported.differences, []);
    let scene = load("cornell", &LoadOptions::default()).unwrap().scene;
    let count = |mesh: &Value| mesh["triangles"][1].as_u64().unwrap() / 3;
    let triangles: u64 = document["meshes"].as_array().unwrap().iter().map(count).sum();
    assert_eq!(triangles, scene.instanced_triangles());
    for mesh in document["meshes"].as_array().unwrap() {
        for (name, range) in mesh.as_object().unwrap() {
            let of = |i: usize| range[i].as_u64().unwrap() as usize;
            assert!(of(0) + 4 * of(1) <= arrays.len(), "{name} ends within the file");
        }
    }
}

#[test]
fn what_has_no_counterpart_is_named_by_its_feature() {
    let (exported, document, ..) = exported("weekend");
    let features: Vec<Feature> = exported.differences.iter().map(|d| d.feature).collect();
    assert_eq!(features, [Feature::Sphere], "{:?}", exported.differences);
    assert_eq!(document["meshes"].as_array().unwrap().len(), 1, "all spheres share a mesh");
    assert!(document["objects"].as_array().unwrap().len() > 100);
    let (exported, ..) = self::exported("atrium:10k");
    assert!(exported.differences.iter().all(|d| d.feature != Feature::Alpha), "{:?}", exported.differences);
}

#[test]
fn a_mesh_that_is_placed_several_times_is_written_once() {
    let (_, document, ..) = exported("instances");
    assert!(
        10 * document["meshes"].as_array().unwrap().len() < document["objects"].as_array().unwrap().len()
    );
}
