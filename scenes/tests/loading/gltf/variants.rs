//! `KHR_materials_variants`.

use super::{with, with_options};
use lockstep_scenes::{Choices, LoadOptions};
use serde_json::{Value, json};

/// Three colours: the file's own, and a variant's; the third variant changes nothing.
fn shoe(d: &mut Value) {
    let name = "KHR_materials_variants";
    d["extensionsUsed"] = json!([name]);
    d["extensionsRequired"] = json!([name]);
    let color = |r: f32| json!({"pbrMetallicRoughness": {"baseColorFactor": [r, 0, 0, 1]}});
    d["materials"] = json!([color(0.1), color(0.2), color(0.3)]);
    d["extensions"] = json!({name: {"variants": [{"name": "Beach"}, {"name": "Street"}, {"name": "Plain"}]}});
    d["meshes"][0]["primitives"][0]["material"] = json!(0);
    let mappings = json!([{"material": 1, "variants": [0]}, {"material": 2, "variants": [1]}]);
    d["meshes"][0]["primitives"][0]["extensions"] = json!({name: {"mappings": mappings}});
}

fn choose(variant: &str) -> LoadOptions {
    let choices = Choices { variant: Some(variant.into()), ..Choices::default() };
    LoadOptions { choices, ..LoadOptions::default() }
}

#[test]
fn a_variant_changes_the_materials_that_it_maps() {
    let red = |loaded: Result<lockstep_scenes::LoadedScene, String>| {
        let scene = loaded.unwrap().scene;
        scene.materials[scene.triangles[0].material as usize].base_color.x
    };
    assert_eq!(red(with(shoe)), 0.1);
    assert_eq!(red(with_options(&choose("Beach"), shoe)), 0.2);
    assert_eq!(red(with_options(&choose("Street"), shoe)), 0.3);
    assert_eq!(red(with_options(&choose("Plain"), shoe)), 0.1);
}

#[test]
fn an_unknown_variant_is_an_error_with_the_files_names() {
    let error = with_options(&choose("Snow"), shoe).unwrap_err();
    assert!(error.contains("no variant `Snow`; the file's are `Beach`, `Street`, `Plain`"), "{error}");
    let error = with_options(&choose("Snow"), |_| {}).unwrap_err();
    assert!(error.contains("the file's are none"), "{error}");
    let error = lockstep_scenes::load("cornell", &choose("Snow")).unwrap_err().to_string();
    assert!(error.contains("leave out --variant"), "{error}");
}
