//! Scenes written for Mitsuba.

use lockstep_scenes::export::{Exported, to_mitsuba};
use lockstep_scenes::{LoadOptions, load};
use std::fs;

fn exported(spec: &str) -> (Exported, String, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let scene = load(spec, &LoadOptions::default()).unwrap().scene;
    let exported = to_mitsuba(&scene, &dir.path().join("made")).unwrap();
    let xml = fs::read_to_string(&exported.file).unwrap();
    (exported, xml, dir)
}

#[test]
fn a_scene_that_mitsuba_can_express_names_no_difference() {
    let (exported, xml, dir) = exported("cornell");
    assert_eq!(exported.differences, []);
    assert!(xml.contains("<emitter type=\"area\">") && xml.contains("<rfilter type=\"box\"/>"));
    let named =
        xml.lines().filter_map(|line| line.split("value=\"").nth(1).filter(|_| line.contains("filename")));
    for file in named.map(|rest| rest.split('"').next().unwrap()) {
        assert!(dir.path().join("made").join(file).exists(), "{file}");
    }
}

#[test]
fn what_has_no_counterpart_is_named_once() {
    let (exported, xml, _dir) = exported("weekend");
    assert!(
        exported.differences.iter().any(|d| d.what.starts_with("rough metal and glass mask")),
        "{:?}",
        exported.differences
    );
    let mut distinct = exported.differences.clone();
    distinct.dedup();
    assert_eq!(distinct, exported.differences);
    assert!(xml.contains("type=\"envmap\"") && xml.contains("type=\"sphere\""));
}

#[test]
fn a_mesh_that_is_placed_several_times_is_written_once() {
    let (_, xml, _dir) = exported("instances");
    assert!(xml.matches("type=\"instance\"").count() > 1);
    assert!(xml.matches("type=\"shapegroup\"").count() >= 1);
}
