//! Scenes written for pbrt.

use lockstep_scenes::export::{Exported, Feature, to_pbrt};
use lockstep_scenes::{LoadOptions, load};
use std::fs;

fn exported(spec: &str) -> (Exported, String, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let scene = load(spec, &LoadOptions::default()).unwrap().scene;
    let exported = to_pbrt(&scene, &dir.path().join("made")).unwrap();
    let text = fs::read_to_string(&exported.file).unwrap();
    (exported, text, dir)
}

/// The values in quotes behind a word.
fn quoted<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(word).skip(1).filter_map(|rest| rest.split('"').nth(1))
}

#[test]
fn blocks_are_closed_and_every_file_and_name_is_there() {
    for spec in ["cornell", "weekend", "instances", "atrium:10k"] {
        let (_, text, dir) = exported(spec);
        for (open, close) in [("AttributeBegin", "AttributeEnd"), ("ObjectBegin", "ObjectEnd"), ("[", "]")] {
            assert_eq!(text.matches(open).count(), text.matches(close).count(), "{spec}: {open}");
        }
        for file in quoted(&text, "\"string filename\" [").filter(|file| *file != "render.exr") {
            assert!(dir.path().join("made").join(file).exists(), "{spec}: {file}");
        }
        for name in quoted(&text, "    NamedMaterial ") {
            assert!(text.contains(&format!("MakeNamedMaterial \"{name}\"")), "{spec}: {name}");
        }
        for name in quoted(&text, "ObjectInstance ") {
            assert!(text.contains(&format!("ObjectBegin \"{name}\"")), "{spec}: {name}");
        }
        for name in quoted(&text, "\"texture alpha\" [") {
            assert!(text.contains(&format!("Texture \"{name}\" \"float\"")), "{spec}: {name}");
        }
        let settings = text.split("WorldBegin").next().unwrap();
        assert!(settings.contains("PixelFilter \"box\"") && settings.contains("Scale -1 1 1"), "{spec}");
    }
}

#[test]
fn what_pbrt_does_otherwise_is_named() {
    let features = |spec| exported(spec).0.differences.iter().map(|d| d.feature).collect::<Vec<_>>();
    assert_eq!(features("cornell"), [Feature::Color]);
    assert_eq!(features("weekend"), [Feature::Color, Feature::Environment, Feature::Conductor]);
}
