//! Emitters that are taken for the light of a scene, and files that get a sky.

use super::{PIXEL, with, with_options};
use lockstep_scenes::{Choices, LoadOptions, LoadedScene};
use serde_json::{Value, json};

const STRENGTH: &str = "KHR_materials_emissive_strength";
const VARIANTS: &str = "KHR_materials_variants";

/// A material that emits five times this factor.
fn lamp(factor: [f32; 3]) -> Value {
    json!({"emissiveFactor": factor, "extensions": {STRENGTH: {"emissiveStrength": 5}}})
}

/// Whether a sky was added, and whether a surface was taken for the light; a warning says either.
fn sky_and_lamp(loaded: Result<LoadedScene, String>) -> (bool, bool) {
    let LoadedScene { warnings, .. } = loaded.unwrap();
    let says = |words: &str| warnings.iter().any(|w| w.to_string().contains(words));
    (says("a bright sky was added"), says("a radiance of 5 is taken for the light of the scene"))
}

#[test]
fn a_lamp_that_no_placed_primitive_has_lights_nothing() {
    let of = |material: usize, node: Value| {
        sky_and_lamp(with(|d| {
            d["extensionsUsed"] = json!([STRENGTH]);
            d["materials"] = json!([{}, lamp([1.0; 3])]);
            d["nodes"] = json!([node, {}]);
            d["scenes"][0]["nodes"] = json!([1, 0]);
            d["meshes"][0]["primitives"][0]["material"] = json!(material);
            let dark = json!({"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]});
            d["meshes"].as_array_mut().unwrap().push(dark);
        }))
    };
    assert_eq!(of(1, json!({"mesh": 0})), (false, true));
    assert_eq!(of(0, json!({"mesh": 0})), (true, false), "no primitive has the lamp");
    assert_eq!(of(1, json!({"mesh": 1})), (true, false), "no node has the mesh with the lamp");
}

#[test]
fn a_lamp_of_a_variant_lights_that_variant_alone() {
    let of = |variant: Option<&str>| {
        let choices = Choices { variant: variant.map(Into::into), ..Choices::default() };
        let options = LoadOptions { choices, ..LoadOptions::default() };
        sky_and_lamp(with_options(&options, |d| {
            d["extensionsUsed"] = json!([STRENGTH, VARIANTS]);
            d["materials"] = json!([{}, lamp([1.0; 3])]);
            d["extensions"] = json!({VARIANTS: {"variants": [{"name": "On"}, {"name": "Off"}]}});
            let primitive = &mut d["meshes"][0]["primitives"][0];
            primitive["material"] = json!(0);
            primitive["extensions"] = json!({VARIANTS: {"mappings": [{"material": 1, "variants": [0]}]}});
        }))
    };
    assert_eq!(of(None), (true, false));
    assert_eq!(of(Some("On")), (false, true));
    assert_eq!(of(Some("Off")), (true, false));
}

#[test]
fn a_lamp_emits_no_more_than_the_largest_texel_of_its_texture() {
    let of = |factor: [f32; 3]| {
        sky_and_lamp(with(|d| {
            d["extensionsUsed"] = json!([STRENGTH]);
            d["images"] = json!([{"uri": PIXEL}]);
            d["textures"] = json!([{"source": 0}]);
            d["materials"] = json!([lamp(factor)]);
            d["materials"][0]["emissiveTexture"] = json!({"index": 0});
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        }))
    };
    // The texel is red
    assert_eq!(of([1.0, 0.0, 0.0]), (false, true));
    assert_eq!(of([0.0, 1.0, 1.0]), (true, false), "the product is black");
}
