//! Scenes written for LuxCore.

use lockstep_scenes::export::{Exported, Feature, to_luxcore};
use lockstep_scenes::{LoadOptions, load};
use std::collections::HashSet;
use std::fs;

fn exported(spec: &str) -> (Exported, String, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let scene = load(spec, &LoadOptions::default()).unwrap().scene;
    let exported = to_luxcore(&scene, &dir.path().join("made")).unwrap();
    let text = fs::read_to_string(dir.path().join("made/scene.scn")).unwrap();
    (exported, text, dir)
}

#[test]
fn every_file_and_name_that_a_scene_refers_to_is_there() {
    for spec in ["cornell", "weekend", "instances", "atrium:10k"] {
        let (_, text, dir) = exported(spec);
        let quoted = |line: &str| line.split('"').nth(1).unwrap().to_owned();
        let keys: HashSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        let mut seen = 0;
        for line in text.lines() {
            let (key, _) = line.split_once(" = ").unwrap();
            let there = if key.ends_with(".ply") || key.ends_with(".file") {
                dir.path().join("made").join(quoted(line)).exists()
            } else if key.ends_with(".shape") {
                keys.contains(format!("scene.shapes.{}.type", quoted(line)).as_str())
            } else if key.starts_with("scene.objects.") && key.ends_with(".material") {
                keys.contains(format!("scene.materials.{}.type", quoted(line)).as_str())
            } else {
                continue;
            };
            assert!(there, "{spec}: {line}");
            seen += 1;
        }
        assert!(seen > 2, "{spec}");
    }
}

#[test]
fn a_scene_that_luxcore_can_express_names_no_difference() {
    assert_eq!(exported("cornell").0.differences, []);
    let features: Vec<Feature> = exported("weekend").0.differences.iter().map(|d| d.feature).collect();
    assert!(features.contains(&Feature::Sphere) && features.contains(&Feature::Conductor), "{features:?}");
}
