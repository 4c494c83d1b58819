//! Small glTF files for every feature.

use lockstep_core::math::vec3::{Vec3, length, vec3};
use lockstep_core::scene::{AlphaMode, Layers, LightKind, Material, MaterialKind, NONE, Texture, Wrap};
use lockstep_scenes::export::to_gltf;
use lockstep_scenes::{LoadOptions, LoadedScene, load};
use serde_json::{Value, json};

mod draco;
mod emitters;
mod poses;
mod variants;

/// A file with one triangle, modified by `change`.
fn with(change: impl FnOnce(&mut Value)) -> Result<LoadedScene, String> {
    with_options(&LoadOptions::default(), change)
}

/// [`with`], under these options.
fn with_options(options: &LoadOptions, change: impl FnOnce(&mut Value)) -> Result<LoadedScene, String> {
    let positions: Vec<u8> =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut document = json!({
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 36, "uri": data(&positions)}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    });
    change(&mut document);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.gltf");
    std::fs::write(&path, document.to_string()).unwrap();
    load(path.to_str().unwrap(), options).map_err(|e| e.to_string())
}

/// An accessor of floats, as of [`accessor`].
fn floats(document: &mut Value, values: &[f32], kind: &str) -> usize {
    let width = match kind {
        "SCALAR" => 1,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => 16,
    };
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    accessor(document, &bytes, 5126, values.len() / width, kind, false)
}

/// A red texel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";

fn data(bytes: &[u8]) -> String {
    use base64::Engine as _;
    format!(
        "data:application/octet-stream;base64,{}",
        base64::engine::general_purpose::STANDARD.encode(bytes)
    )
}

/// Appends a buffer, a view and an accessor of these bytes; returns the accessor's index.
fn accessor(
    document: &mut Value,
    bytes: &[u8],
    component: u32,
    count: usize,
    kind: &str,
    normalized: bool,
) -> usize {
    let push = |document: &mut Value, key: &str, value: Value| {
        let list = document[key].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    };
    let buffer = push(document, "buffers", json!({"byteLength": bytes.len(), "uri": data(bytes)}));
    let view = push(document, "bufferViews", json!({"buffer": buffer, "byteLength": bytes.len()}));
    push(
        document,
        "accessors",
        json!({"bufferView": view, "componentType": component, "count": count, "type": kind, "normalized": normalized}),
    )
}

#[test]
fn the_smallest_file_is_a_white_metal_triangle() {
    let loaded = with(|_| {}).unwrap();
    let scene = &loaded.scene;
    assert_eq!((scene.triangles.len(), scene.positions[1]), (1, [1.0, 0.0, 0.0]));
    let material = scene.materials[0];
    assert_eq!((material.base_color, material.metallic, material.roughness), (Vec3::ONE, 1.0, 1.0));
    assert_eq!(scene.vertices[0].normal, Vec3::ZERO);
    let places: Vec<&str> = loaded.warnings.iter().map(|w| w.place.as_str()).collect();
    assert_eq!(places, ["camera", "sky"]);
}

#[test]
fn nodes_are_composed_from_the_root() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let scene = with(|d| {
        // A quarter turn about z, then a matrix that doubles and moves.
        d["nodes"] = json!([
            {"matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 10, 20, 30, 1], "children": [1]},
            {"mesh": 0, "rotation": [0, 0, half, half], "translation": [1, 0, 0], "scale": [3, 1, 1]},
        ]);
    });
    let scene = scene.unwrap().scene;
    let at = |i: usize| Vec3::from(scene.positions[i]);
    assert!(length(at(0) - vec3(12.0, 20.0, 30.0)) < 1e-5);
    assert!(length(at(1) - vec3(12.0, 26.0, 30.0)) < 1e-4);
    assert!(length(at(2) - vec3(10.0, 20.0, 30.0)) < 1e-4);
}

#[test]
fn a_count_that_no_bytes_stand_behind_is_refused_before_anything_is_counted() {
    for count in [1u64 << 25, 1 << 31, u64::from(u32::MAX), 1 << 53] {
        let sparse = json!({
            "count": 1,
            "indices": {"bufferView": 0, "componentType": 5125},
            "values": {"bufferView": 0},
        });
        let accessor = json!({"componentType": 5126, "count": count, "type": "VEC3", "sparse": sparse});
        let error = with(|document| document["accessors"][0] = accessor.clone()).unwrap_err();
        assert!(error.contains("/accessors/0/count: the file unfolds to more than"), "{error}");
    }
}

#[test]
fn accessors_without_a_view_are_zeros_and_sparse_ones_are_patched() {
    let scene = with(|d| {
        let places = accessor(d, &[1, 2], 5121, 2, "SCALAR", false);
        let values: Vec<u8> =
            [5.0f32, 0.0, 0.0, 0.0, 7.0, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let patches = accessor(d, &values, 5126, 2, "VEC3", false);
        let view = |d: &Value, a: usize| d["accessors"][a]["bufferView"].clone();
        let (indices, values) = (view(d, places), view(d, patches));
        d["accessors"][0] = json!({
            "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [5, 7, 0],
            "sparse": {"count": 2, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}},
        });
    });
    assert_eq!(scene.unwrap().scene.positions, [[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 7.0, 0.0]]);
}

#[test]
fn normalised_integers_and_vertex_colours_are_read() {
    let scene = with(|d| {
        let uv = accessor(d, &[0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255, 255], 5123, 3, "VEC2", true);
        let color = accessor(d, &[255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 128], 5121, 3, "VEC4", true);
        d["meshes"][0]["primitives"][0]["attributes"] =
            json!({"POSITION": 0, "TEXCOORD_0": uv, "COLOR_0": color});
    });
    let scene = scene.unwrap().scene;
    assert_eq!((scene.vertices[1].uv0, scene.vertices[2].uv0), ([1.0, 0.0], [0.0, 1.0]));
    let third = scene.vertices[2];
    assert_eq!(third.rgb(), vec3(0.0, 0.0, 1.0));
    assert!((third.alpha() - 128.0 / 255.0).abs() < 2e-4);
}

#[test]
fn dim_and_bright_vertex_colours_are_kept() {
    let values: Vec<u8> = [0.0015f32, 0.005, 3.0].repeat(3).iter().flat_map(|v| v.to_le_bytes()).collect();
    let loaded = with(|d| {
        let color = accessor(d, &values, 5126, 3, "VEC3", false);
        d["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0, "COLOR_0": color});
    });
    let found = loaded.unwrap().scene.vertices[1].rgb();
    assert!((found.x / 0.0015 - 1.0).abs() < 3e-4 && (found.y / 0.005 - 1.0).abs() < 3e-4 && found.z == 3.0);
}

#[test]
fn strips_and_fans_keep_their_front() {
    let positions: Vec<u8> = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    for (mode, indices) in [(5, [0u8, 1, 2, 3]), (6, [0, 1, 3, 2])] {
        let scene = with(|d| {
            let position = accessor(d, &positions, 5126, 4, "VEC3", false);
            let indices = accessor(d, &indices, 5121, 4, "SCALAR", false);
            d["meshes"][0]["primitives"][0] =
                json!({"attributes": {"POSITION": position}, "indices": indices, "mode": mode});
        });
        let scene = scene.unwrap().scene;
        assert_eq!(scene.triangles.len(), 2);
        for t in &scene.triangles {
            let [a, b, c] = t.vertices.map(|v| Vec3::from(scene.positions[v as usize]));
            assert_eq!(lockstep_core::math::vec3::cross(b - a, c - a), vec3(0.0, 0.0, 1.0));
        }
    }
}

#[test]
fn a_mesh_used_twice_is_placed_twice() {
    let scene = with(|d| {
        d["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "translation": [0, 0, 5]}]);
        d["scenes"][0]["nodes"] = json!([0, 1]);
    });
    assert_eq!(scene.unwrap().scene.instanced_triangles(), 2);
}

#[test]
fn materials_follow_core_and_extensions() {
    let scene = with(|d| {
        d["extensionsUsed"] =
            json!(["KHR_materials_emissive_strength", "KHR_materials_ior", "KHR_materials_transmission"]);
        d["materials"] = json!([{
            "pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5, "roughnessFactor": 0.25},
            "emissiveFactor": [1, 0.5, 0], "alphaMode": "BLEND", "doubleSided": true,
            "extensions": {
                "KHR_materials_emissive_strength": {"emissiveStrength": 4},
                "KHR_materials_ior": {"ior": 1.25},
                "KHR_materials_transmission": {"transmissionFactor": 0.75},
            },
        }]);
        d["meshes"][0]["primitives"][0]["material"] = json!(0);
    });
    let m = scene.unwrap().scene.materials[0];
    assert_eq!((m.base_color, m.alpha, m.metallic, m.roughness), (vec3(0.1, 0.2, 0.3), 0.4, 0.5, 0.25));
    assert_eq!((m.emission, m.ior, m.transmission, m.alpha_mode), (vec3(4.0, 2.0, 0.0), 1.25, 0.75, 2));
    assert_eq!(m.flags & Material::TWO_SIDED_EMISSION, Material::TWO_SIDED_EMISSION);
}

#[test]
fn lobes_of_extensions_become_layers() {
    const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";
    let texture = || json!({"index": 0});
    let loaded = with(|d| {
        let names = ["anisotropy", "clearcoat", "iridescence", "sheen", "specular"]
            .map(|n| format!("KHR_materials_{n}"));
        d["extensionsUsed"] = json!(names);
        d["extensionsRequired"] = json!(names);
        d["images"] = json!([{"uri": PIXEL}]);
        d["textures"] = json!([{"source": 0}]);
        let uv = accessor(d, &[0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255, 255], 5123, 3, "VEC2", true);
        d["materials"] = json!([
            {"extensions": {
                "KHR_materials_anisotropy": {
                    "anisotropyStrength": 0.75, "anisotropyRotation": std::f32::consts::FRAC_PI_2,
                    "anisotropyTexture": texture(),
                },
                "KHR_materials_clearcoat": {
                    "clearcoatFactor": 0.5, "clearcoatRoughnessFactor": 0.25, "clearcoatTexture": texture(),
                    "clearcoatNormalTexture": {"index": 0, "scale": 0.25},
                },
                "KHR_materials_iridescence": {
                    "iridescenceFactor": 0.5, "iridescenceIor": 1.5, "iridescenceThicknessMaximum": 500,
                    "iridescenceTexture": texture(),
                },
                "KHR_materials_sheen": {
                    "sheenColorFactor": [0.25, 0.5, 1], "sheenRoughnessFactor": 0.125, "sheenColorTexture": texture(),
                },
                "KHR_materials_specular": {
                    "specularFactor": 0.5, "specularColorFactor": [2, 1, 0], "specularTexture": texture(),
                },
            }},
            {"pbrMetallicRoughness": {"metallicFactor": 0}},
        ]);
        d["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0, "TEXCOORD_0": uv});
        d["meshes"][0]["primitives"][0]["material"] = json!(0);
    });
    let LoadedScene { scene, warnings } = loaded.unwrap();
    let places: Vec<&str> = warnings.iter().map(|w| w.place.as_str()).collect();
    let tangents = "/meshes/0/primitives/0/material";
    assert_eq!(places, [tangents, "camera", "sky"]);
    assert_eq!((scene.layers.len(), scene.materials[0].layers, scene.materials[1].layers), (1, 1, 0));
    let l = scene.layers[0];
    assert_eq!((l.specular, l.specular_color), (0.5, vec3(2.0, 1.0, 0.0)));
    assert_eq!((l.clearcoat, l.clearcoat_roughness, l.clearcoat_f0), (0.5, 0.25, 0.04));
    assert!(l.clearcoat_normal_texture != NONE && scene.has_coat_normals());
    assert_eq!((l.clearcoat_normal_scale, l.clearcoat_normal_texture), (0.25, l.clearcoat_texture));
    assert_eq!((l.sheen_color, l.sheen_roughness), (vec3(0.25, 0.5, 1.0), 0.125));
    assert_eq!((l.iridescence, l.iridescence_ior, l.iridescence_thickness), (0.5, 1.5, [100.0, 500.0]));
    assert!(l.iridescence_texture != NONE && l.iridescence_thickness_texture == NONE);
    assert_eq!(l.anisotropy, 0.75);
    assert!(l.anisotropy_rotation[0].abs() < 1e-6 && (l.anisotropy_rotation[1] - 1.0).abs() < 1e-6);
    let textures = [l.specular_texture, l.clearcoat_texture, l.sheen_color_texture, l.anisotropy_texture];
    let is_srgb = |t: u32| scene.textures[t as usize].flags & Texture::SRGB != 0;
    assert_eq!(textures.map(is_srgb), [false, false, true, false]);
    let absent = [l.specular_color_texture, l.clearcoat_roughness_texture, l.sheen_roughness_texture];
    assert_eq!(absent, [NONE; 3]);
    // Anisotropy needs tangents, which the file lacks
    assert!(length(scene.vertices[0].tangent) > 0.9, "{:?}", scene.vertices[0]);
}

/// A clearcoat's normal map has its own image, transform and scale, and gives the mesh its tangents where the surface has
/// no normal map; where it has one along other texture coordinates, a warning says so.
#[test]
fn a_clearcoat_has_a_normal_map_of_its_own() {
    const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";
    let coated = |normal: Option<Value>, coat: Value| {
        with(|d| {
            d["extensionsUsed"] = json!(["KHR_materials_clearcoat", "KHR_texture_transform"]);
            d["images"] = json!([{"uri": PIXEL}]);
            d["textures"] = json!([{"source": 0}]);
            let uv = accessor(d, &[0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255, 255], 5123, 3, "VEC2", true);
            let clearcoat = json!({"clearcoatFactor": 1, "clearcoatNormalTexture": coat});
            d["materials"] = json!([{"extensions": {"KHR_materials_clearcoat": clearcoat}}]);
            if let Some(normal) = normal {
                d["materials"][0]["normalTexture"] = normal;
            }
            let attributes = json!({"POSITION": 0, "TEXCOORD_0": uv, "TEXCOORD_1": uv});
            d["meshes"][0]["primitives"][0]["attributes"] = attributes;
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        })
        .unwrap()
    };
    let transform = json!({"KHR_texture_transform": {"offset": [0.5, 0.25], "scale": [2, 3]}});
    let moved = json!({"index": 0, "scale": -2, "extensions": transform});
    let LoadedScene { scene, .. } = coated(None, moved.clone());
    let l = scene.layers[0];
    assert_eq!((scene.materials[0].normal_texture, l.clearcoat_normal_scale), (NONE, -2.0));
    let map = scene.textures[l.clearcoat_normal_texture as usize];
    assert_eq!(map.transform, [[2.0, 0.0, 0.5, 0.0], [0.0, 3.0, 0.25, 0.0]]);
    assert_eq!(map.flags & Texture::SRGB, 0);
    assert!(length(scene.vertices[0].tangent) > 0.9, "{:?}", scene.vertices[0]);
    // Both maps are one: the surface and its coat have one normal
    let shared = coated(Some(json!({"index": 0})), json!({"index": 0}));
    assert!(!shared.scene.has_coat_normals());
    // A coat without a map over a surface with one has the interpolated normal
    let layers = Layers { clearcoat_normal_texture: NONE, ..shared.scene.layers[0] };
    assert!(layers.has_coat_normal(&shared.scene.materials[0]));
    // Along other texture coordinates
    let at = "/materials/0/extensions/KHR_materials_clearcoat/clearcoatNormalTexture";
    let names = |loaded: &LoadedScene| loaded.warnings.iter().any(|w| w.place == at);
    assert!(!names(&coated(Some(json!({"index": 0})), moved)));
    assert!(names(&coated(Some(json!({"index": 0})), json!({"index": 0, "texCoord": 1}))));
}

#[test]
fn extras_name_the_priority_of_a_volume() {
    let with_extras = |thickness: f32, extras: serde_json::Value| {
        let loaded = with(|d| {
            d["extensionsUsed"] = json!(["KHR_materials_transmission", "KHR_materials_volume"]);
            d["materials"] = json!([{
                "pbrMetallicRoughness": {"metallicFactor": 0},
                "extras": extras,
                "extensions": {
                    "KHR_materials_transmission": {"transmissionFactor": 1},
                    "KHR_materials_volume": {"thicknessFactor": thickness},
                },
            }]);
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        })
        .unwrap();
        let warned = loaded.warnings.iter().any(|w| w.place == "/materials/0/extras/priority");
        (loaded.scene.materials[0].priority, warned)
    };
    assert_eq!(with_extras(1.0, json!({"other": 3})), (0, false));
    assert_eq!(with_extras(1.0, json!({"priority": 3})), (4, false));
    assert_eq!(with_extras(1.0, json!({"priority": 3.0})), (4, false));
    for mistake in [json!(-1), json!(256), json!(1.5), json!("3"), json!(1e300)] {
        assert_eq!(with_extras(1.0, json!({"priority": mistake})), (0, true), "{mistake}");
    }
    assert_eq!(with_extras(0.0, json!({"priority": 3})), (0, true), "a thin wall has no inside");
    assert_eq!(with_extras(1.0, json!("priority")), (0, false), "extras may be anything");
}

#[test]
fn volumes_become_dielectrics_with_a_medium() {
    let with_volume = |transmission: f32, thickness: f32| {
        with(|d| {
            let names = ["dispersion", "transmission", "volume"].map(|n| format!("KHR_materials_{n}"));
            d["extensionsUsed"] = json!(names);
            d["materials"] = json!([{
                "pbrMetallicRoughness": {"metallicFactor": 0, "roughnessFactor": 0.25},
                "extensions": {
                    "KHR_materials_dispersion": {"dispersion": 0.5},
                    "KHR_materials_transmission": {"transmissionFactor": transmission},
                    "KHR_materials_volume": {
                        "thicknessFactor": thickness, "attenuationDistance": 2, "attenuationColor": [0.25, 0.5, 1],
                    },
                },
            }]);
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        })
        .unwrap()
    };
    let LoadedScene { scene, warnings } = with_volume(1.0, 1.0);
    let (m, l) = (scene.materials[0], scene.layers[0]);
    assert_eq!((m.kind, m.layers, m.roughness, l.dispersion), (2, 1, 0.25, 0.5));
    for (found, color) in l.attenuation.to_array().into_iter().zip([0.25f32, 0.5, 1.0]) {
        assert!(((-2.0 * found).exp() - color).abs() < 1e-6, "{found} {color}");
    }
    assert!(m.flags & Material::SINGLE_SIDED == 0, "its inside is seen");
    assert_eq!(warnings.iter().map(|w| w.place.as_str()).collect::<Vec<_>>(), ["camera", "sky"]);
    let thin = with_volume(1.0, 0.0).scene;
    assert!(!scene.has_layered_glass());
    assert_eq!((thin.materials[0].kind, thin.materials[0].layers), (3, 0));
    let half = with_volume(0.75, 1.0);
    let says =
        |loaded: &LoadedScene, words: &str| loaded.warnings.iter().any(|w| w.to_string().contains(words));
    assert!(says(&half, "transmits everywhere"), "{:?}", half.warnings);
    let little = with_volume(0.25, 1.0);
    assert_eq!(little.scene.materials[0].kind, 3);
    assert!(says(&little, "thin wall"), "{:?}", little.warnings);
}

/// Clearcoat and thin film lie over the glass around a volume, the coat without normals of its own; other layers are named.
#[test]
fn volumes_keep_their_clearcoat_and_their_film() {
    let of = |others: Value| {
        with(|d| {
            let volume = json!({
                "KHR_materials_transmission": {"transmissionFactor": 1},
                "KHR_materials_volume": {"thicknessFactor": 1},
                "KHR_materials_clearcoat": {"clearcoatFactor": 0.5, "clearcoatRoughnessFactor": 0.25},
                "KHR_materials_iridescence": {"iridescenceFactor": 1, "iridescenceIor": 1.8},
            });
            let mut extensions = volume.as_object().unwrap().clone();
            extensions.extend(others.as_object().unwrap().clone());
            d["extensionsUsed"] = json!(extensions.keys().collect::<Vec<_>>());
            let pbr = json!({"metallicFactor": 0, "roughnessFactor": 0.25});
            d["materials"] = json!([{"pbrMetallicRoughness": pbr, "extensions": extensions}]);
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        })
        .unwrap()
    };
    let LoadedScene { scene, warnings } = of(json!({}));
    let l = scene.layers[0];
    assert_eq!((l.clearcoat, l.clearcoat_roughness, l.iridescence, l.iridescence_ior), (0.5, 0.25, 1.0, 1.8));
    assert!(scene.has_layered_glass() && !scene.has_coat_normals());
    assert_eq!(warnings.iter().map(|w| w.place.as_str()).collect::<Vec<_>>(), ["camera", "sky"]);
    let with_sheen = of(json!({"KHR_materials_sheen": {"sheenColorFactor": [1, 1, 1]}}));
    assert_eq!(with_sheen.scene.layers[0].sheen_color, Vec3::ZERO);
    let said = with_sheen.warnings.iter().any(|w| w.message.contains("sheen and anisotropy"));
    assert!(said, "{:?}", with_sheen.warnings);
}

/// Khronos' ABeautifulGame, GlassHurricaneCandleHolder and IridescenceLamp leave the metallic factor at its default of 1 and
/// take metalness and roughness from a texture: 0 in its blue channel, so that the surface is glass.
#[test]
fn a_volume_with_the_default_metallic_factor_is_glass_where_its_texture_says_so() {
    let of = |factors: Value, texels: [u8; 2]| {
        let loaded = with(|d| {
            let pixels = image::RgbImage::from_fn(2, 1, |x, _| image::Rgb([255, 51, texels[x as usize]]));
            let mut png = std::io::Cursor::new(Vec::new());
            pixels.write_to(&mut png, image::ImageFormat::Png).unwrap();
            let uri = data(png.get_ref()).replace("application/octet-stream", "image/png");
            d["images"] = json!([{"uri": uri}]);
            d["textures"] = json!([{"source": 0}]);
            d["extensionsUsed"] = json!(["KHR_materials_transmission", "KHR_materials_volume"]);
            d["materials"] = json!([{
                "pbrMetallicRoughness": factors,
                "extensions": {
                    "KHR_materials_transmission": {"transmissionFactor": 1},
                    "KHR_materials_volume": {"thicknessFactor": 1},
                },
            }]);
            d["materials"][0]["pbrMetallicRoughness"]["metallicRoughnessTexture"] = json!({"index": 0});
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        })
        .unwrap();
        let at = "/materials/0/extensions/KHR_materials_volume";
        let said = loaded.warnings.iter().find(|w| w.place == at).map(|w| w.message.clone());
        (loaded.scene.materials[0].kind, loaded.scene.materials[0].roughness, said.unwrap_or_default())
    };
    let (glass, layered) = (MaterialKind::Dielectric as u32, MaterialKind::Principled as u32);
    let (kind, roughness, said) = of(json!({}), [0, 0]);
    assert_eq!((kind, roughness), (glass, 0.2));
    assert!(said.contains("one roughness"), "{said}");
    let (kind, roughness, said) = of(json!({}), [255, 0]);
    assert_eq!((kind, roughness), (layered, 1.0), "half of it is metal");
    assert!(said.contains("its volume is left out"), "{said}");
    assert_eq!(of(json!({}), [254, 0]).0, glass, "less than half of it is metal");
    let half = of(json!({"metallicFactor": 0.5, "roughnessFactor": 0.5}), [254, 254]);
    assert_eq!((half.0, half.1), (glass, 0.1));
    assert_eq!(of(json!({"metallicFactor": 0.5}), [255, 255]).0, layered);
}

#[test]
fn textures_carry_sampler_transform_and_encoding() {
    let loaded = with(|d| {
        d["extensionsUsed"] = json!(["KHR_texture_transform"]);
        d["images"] = json!([{"uri": PIXEL}]);
        d["samplers"] = json!([{"wrapS": 33648, "wrapT": 33071, "magFilter": 9728}]);
        d["textures"] = json!([{"source": 0, "sampler": 0}]);
        let transformed = json!({"index": 0, "texCoord": 1, "extensions": {"KHR_texture_transform": {"offset": [0.5, 0.25], "scale": [2, 3]}}});
        d["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": transformed}, "normalTexture": {"index": 0}}]);
        d["meshes"][0]["primitives"][0]["material"] = json!(0);
    });
    let loaded = loaded.unwrap();
    let scene = &loaded.scene;
    let m = scene.materials[0];
    let color = scene.textures[m.base_color_texture as usize];
    assert_eq!(
        color.flags,
        Texture::wrap(Wrap::Mirror, Wrap::Clamp) | Texture::NEAREST | Texture::SRGB | Texture::UV_SET_1
    );
    assert_eq!(color.transform, [[2.0, 0.0, 0.5, 0.0], [0.0, 3.0, 0.25, 0.0]]);
    assert_ne!(m.normal_texture, NONE);
    assert_eq!(scene.textures[m.normal_texture as usize].flags & Texture::SRGB, 0);
    // The normal map needs normals and tangents, which the file lacks.
    assert_eq!(scene.vertices[0].normal, vec3(0.0, 0.0, 1.0));
    assert!((length(scene.vertices[0].tangent) - 1.0).abs() < 1e-6);
    assert!(loaded.warnings.iter().any(|w| w.message.contains("TEXCOORD_1")));
}

#[test]
fn an_unlit_material_shows_its_base_color_and_is_no_light() {
    let loaded = with(|d| {
        d["extensionsUsed"] = json!(["KHR_materials_unlit"]);
        d["extensionsRequired"] = json!(["KHR_materials_unlit"]);
        d["images"] = json!([{"uri": PIXEL}]);
        d["textures"] = json!([{"source": 0}]);
        let pbr = json!({"baseColorFactor": [0.5, 0.25, 1, 0.5], "baseColorTexture": {"index": 0}, "roughnessFactor": 0});
        d["materials"] = json!([{
            "pbrMetallicRoughness": pbr, "alphaMode": "BLEND", "emissiveFactor": [1, 1, 1],
            "extensions": {"KHR_materials_unlit": {}},
        }]);
        d["meshes"][0]["primitives"][0]["material"] = json!(0);
    });
    let loaded = loaded.unwrap();
    let m = loaded.scene.materials[0];
    assert_eq!((m.base_color, m.emission), (Vec3::ZERO, vec3(0.5, 0.25, 1.0)));
    assert_eq!(m.flags, Material::UNLIT | Material::TWO_SIDED_EMISSION | Material::SINGLE_SIDED);
    assert_eq!((m.alpha, m.alpha_mode), (0.5, AlphaMode::Blend as u32));
    assert_eq!(m.emission_texture, m.base_color_texture);
    assert_ne!(m.emission_texture, NONE);
    assert!(loaded.scene.lights.iter().all(|l| l.kind == LightKind::Environment as u32));
    assert!(loaded.warnings.iter().any(|w| w.place == "sky"), "an unlit surface lights no scene");

    // The exporter writes what the reader reads.
    let folder = tempfile::tempdir().unwrap();
    to_gltf(&loaded.scene, folder.path()).unwrap();
    let again = load(folder.path().join("scene.toml").to_str().unwrap(), &LoadOptions::default()).unwrap();
    let n = again.scene.materials[0];
    assert_eq!((n.base_color, n.emission, n.flags, n.alpha), (m.base_color, m.emission, m.flags, m.alpha));
    assert_ne!(n.emission_texture, NONE);
}

#[test]
fn specular_glossiness_is_converted_to_metallic_roughness() {
    let of = |own: Value| {
        let loaded = with(|d| {
            d["extensionsUsed"] = json!(["KHR_materials_pbrSpecularGlossiness"]);
            d["extensionsRequired"] = json!(["KHR_materials_pbrSpecularGlossiness"]);
            d["images"] = json!([{"uri": PIXEL}]);
            d["textures"] = json!([{"source": 0}]);
            // The fallback for other readers is not used.
            d["materials"] = json!([{
                "pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 1], "baseColorTexture": {"index": 0}},
                "extensions": {"KHR_materials_pbrSpecularGlossiness": own},
            }]);
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        });
        loaded.unwrap().scene
    };
    let plain = of(
        json!({"diffuseFactor": [0, 0, 0, 0.5], "specularFactor": [1, 0.5, 0.25], "glossinessFactor": 0.75}),
    );
    let m = plain.materials[0];
    assert_eq!((m.base_color, m.metallic, m.roughness), (vec3(1.0, 0.5, 0.25), 1.0, 0.25));
    assert_eq!((m.alpha, m.base_color_texture, plain.texels.len()), (0.5, NONE, 0));
    let textured =
        of(json!({"specularFactor": [0, 0, 0], "glossinessFactor": 0.25, "diffuseTexture": {"index": 0}}));
    let m = textured.materials[0];
    assert_eq!((m.base_color, m.metallic, m.roughness), (Vec3::ONE, 1.0, 1.0));
    let texel = |texture: u32| {
        let texture = textured.textures[texture as usize];
        (textured.texels[texture.first_texel as usize].to_le_bytes(), texture.flags & Texture::SRGB != 0)
    };
    assert_eq!(texel(m.base_color_texture), ([255, 0, 0, 255], true));
    assert_eq!(texel(m.metallic_roughness_texture), ([255, 191, 0, 255], false));
    assert_eq!(textured.texels.len(), 2, "the images that were converted are not kept");
}

#[test]
fn cameras_and_lights_stand_where_their_nodes_do() {
    let scene = with(|d| {
        d["extensionsUsed"] = json!(["KHR_lights_punctual"]);
        d["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1}}]);
        d["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "point", "color": [1, 0.5, 0], "intensity": 8}]}});
        d["nodes"] = json!([
            {"mesh": 0, "children": [1, 2], "translation": [0, 0, 1]},
            {"camera": 0, "translation": [0, 0, 4]},
            {"translation": [0, 3, 0], "extensions": {"KHR_lights_punctual": {"light": 0}}},
        ]);
    });
    let loaded = scene.unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let (camera, light) = (loaded.scene.camera, loaded.scene.lights[0]);
    assert_eq!(
        (camera.eye, camera.direction, camera.vertical_fov),
        (vec3(0.0, 0.0, 5.0), vec3(0.0, 0.0, -1.0), 0.5)
    );
    assert_eq!((light.kind, light.position), (LightKind::Point as u32, vec3(0.0, 3.0, 1.0)));
    assert_eq!(light.intensity, vec3(8.0, 4.0, 0.0));
}

#[test]
fn mistakes_are_refused_with_their_pointer() {
    let refused = |change: fn(&mut Value), words: &str| {
        let message = with(change).unwrap_err();
        assert!(message.contains(words), "{message}");
    };
    refused(
        |d| d["nodes"][0]["mesh"] = json!(3),
        "/nodes/0/mesh: it refers to element 3 of `meshes`, which has 1",
    );
    refused(|d| d["accessors"][0]["count"] = json!(4), "/accessors/0/byteOffset: 4 elements of 12 bytes");
    refused(|d| d["asset"] = json!({}), "/asset: the property `version` is missing");
    refused(|d| d["asset"]["version"] = json!("1.0"), "/asset/version: glTF 1.0 is not supported");
    // Its files have objects where those of 2.0 have arrays.
    refused(
        |d| *d = json!({ "asset": { "version": "1.0" }, "scene": "main", "meshes": {}, "nodes": {} }),
        "/asset/version: glTF 1.0 is not supported",
    );
    refused(|d| d["nodes"][0]["children"] = json!([0]), "/nodes/0: the node is part of a loop");
    refused(
        |d| d["extensionsRequired"] = json!(["EXT_meshopt_compression"]),
        "/extensionsRequired/0: the file requires the extension EXT_meshopt_compression, which is not supported; \
         decompress its meshes, as `gltf-transform copy",
    );
    refused(
        |d| d["extensionsRequired"] = json!(["KHR_texture_basisu"]),
        "KHR_texture_basisu, which is not supported; turn its KTX2 images into PNG",
    );
    refused(|d| d["buffers"][0]["uri"] = json!("gone.bin"), "/buffers/0/uri: reading");
    refused(
        |d| {
            let indices = accessor(d, &[0, 1, 3], 5121, 3, "SCALAR", false);
            d["meshes"][0]["primitives"][0]["indices"] = json!(indices);
        },
        "/meshes/0/primitives/0/indices: index 2 is 3, but there are 3 vertices",
    );
}

#[test]
fn bytes_of_geometry_are_missed_before_images_are_looked_for() {
    let message = with(|d| {
        d["buffers"][0]["uri"] = json!("gone.bin");
        d["images"] = json!([{"uri": "gone.png"}]);
        d["textures"] = json!([{"source": 0}]);
        d["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
        d["meshes"][0]["primitives"][0]["material"] = json!(0);
    });
    let message = message.unwrap_err();
    assert!(message.contains("/buffers/0/uri: reading") && message.contains("gone.bin"), "{message}");
}

#[test]
fn a_light_out_of_range_is_named_with_its_node() {
    let message = with(|d| {
        let lights = json!([{"type": "point", "name": "sun", "intensity": 1e9}]);
        d["extensions"] = json!({"KHR_lights_punctual": {"lights": lights}});
        d["extensionsUsed"] = json!(["KHR_lights_punctual"]);
        d["nodes"] = json!([{"mesh": 0, "extensions": {"KHR_lights_punctual": {"light": 0}}}]);
    });
    let message = message.unwrap_err();
    assert!(
        message
            .contains("t.gltf: /extensions/KHR_lights_punctual/lights/0: the light `sun` of /nodes/0: needs"),
        "{message}"
    );
}

#[test]
fn syntax_errors_name_their_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.gltf");
    std::fs::write(&path, "{\n  \"asset\": oops\n}").unwrap();
    let message = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("byte 13: the JSON is damaged"), "{message}");
}

#[test]
fn surfaces_are_single_sided_unless_the_file_says_otherwise_or_they_transmit() {
    let flags = |material: Value| {
        let loaded = with(|d| {
            d["materials"] = json!([material]);
            d["meshes"][0]["primitives"][0]["material"] = json!(0);
        });
        loaded.unwrap().scene.materials[0].flags & Material::SINGLE_SIDED
    };
    assert_eq!(flags(json!({})), Material::SINGLE_SIDED);
    assert_eq!(flags(json!({"doubleSided": true})), 0);
    let thin = json!({"extensions": {"KHR_materials_transmission": {"transmissionFactor": 0.5}}});
    assert_eq!(flags(thin), 0);
}
