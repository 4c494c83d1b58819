//! Damaged files: whatever is cut off or flipped, loading ends soon, with a scene or an error, and never
//! panics.

#![allow(clippy::unwrap_used)]

use base64::Engine as _;
use lockstep_scenes::{Limits, LoadOptions, load};
use proptest::prelude::*;
use std::path::Path;

/// Small limits, so that a damaged size cannot ask for much.
fn options() -> LoadOptions {
    let limits = Limits {
        file_bytes: 1 << 20,
        image_side: 256,
        image_texels: 1 << 16,
        scene_texels: 1 << 18,
        triangles: 1 << 16,
    };
    LoadOptions { limits, ..LoadOptions::default() }
}

/// Loads bytes under a file name; the result does not matter, but its messages must be printable.
fn survive(name: &str, bytes: &[u8], others: &[(&str, Vec<u8>)]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in others {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    match load(path.to_str().unwrap(), &options()) {
        Ok(loaded) => {
            assert!(loaded.scene.bytes() < 64 << 20, "{} bytes", loaded.scene.bytes());
            loaded.warnings.iter().for_each(|w| assert!(!w.to_string().is_empty()));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 4, 4);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().unwrap();
    let texels: Vec<u8> = (0..64).map(|i| i * 3).collect();
    writer.write_image_data(&texels).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A textured, normal-mapped quad with sparse positions, a light and a camera.
fn document(buffer_uri: Option<&str>) -> (String, Vec<u8>) {
    let mut binary = Vec::new();
    let mut views = Vec::new();
    let mut view = |binary: &mut Vec<u8>, bytes: &[u8]| {
        while !binary.len().is_multiple_of(4) {
            binary.push(0);
        }
        views.push(format!(r#"{{"buffer":0,"byteOffset":{},"byteLength":{}}}"#, binary.len(), bytes.len()));
        binary.extend(bytes);
    };
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    view(&mut binary, &floats(&[0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 0., 0.]));
    view(&mut binary, &floats(&[0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 1.]));
    view(&mut binary, &floats(&[0., 1., 1., 1., 1., 0., 0., 0.]));
    view(&mut binary, &[0, 0, 1, 0, 2, 0, 0, 0, 2, 0, 3, 0]);
    view(&mut binary, &[3]);
    view(&mut binary, &floats(&[0., 1., 0.]));
    view(&mut binary, &png());
    while !binary.len().is_multiple_of(4) {
        binary.push(0);
    }
    let uri = buffer_uri.map_or(String::new(), |uri| format!(r#""uri":"{uri}","#));
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"extensionsUsed":["KHR_lights_punctual","KHR_texture_transform"],
"buffers":[{{{uri}"byteLength":{length}}}],"bufferViews":[{views}],
"accessors":[
{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,0],
"sparse":{{"count":1,"indices":{{"bufferView":4,"componentType":5121}},"values":{{"bufferView":5}}}}}},
{{"bufferView":1,"componentType":5126,"count":4,"type":"VEC3"}},
{{"bufferView":2,"componentType":5126,"count":4,"type":"VEC2"}},
{{"bufferView":3,"componentType":5123,"count":6,"type":"SCALAR"}}],
"images":[{{"bufferView":6,"mimeType":"image/png"}}],"samplers":[{{"wrapS":33071,"magFilter":9728}}],
"textures":[{{"source":0,"sampler":0}}],
"materials":[{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":0,"extensions":{{"KHR_texture_transform":{{"scale":[2,2]}}}}}}}},
"normalTexture":{{"index":0}},"alphaMode":"MASK","emissiveFactor":[0,0.5,0]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"NORMAL":1,"TEXCOORD_0":2}},"indices":3,"material":0}}]}}],
"cameras":[{{"type":"perspective","perspective":{{"yfov":0.7,"znear":0.1}}}}],
"extensions":{{"KHR_lights_punctual":{{"lights":[{{"type":"spot","intensity":3,"spot":{{}}}}]}}}},
"nodes":[{{"mesh":0,"scale":[2,2,2],"children":[1]}},{{"camera":0,"translation":[0,0,3],"extensions":{{"KHR_lights_punctual":{{"light":0}}}}}}],
"scenes":[{{"nodes":[0]}}],"scene":0}}"#,
        length = binary.len(),
        views = views.join(","),
    );
    (text, binary)
}

fn glb() -> Vec<u8> {
    let (mut text, binary) = document(None);
    while !text.len().is_multiple_of(4) {
        text.push(' ');
    }
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend((28 + text.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", text.as_bytes()), (b"BIN\0", &binary)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    out
}

fn gltf() -> String {
    let (_, binary) = document(None);
    let data = base64::engine::general_purpose::STANDARD.encode(binary);
    document(Some(&format!("data:application/octet-stream;base64,{data}"))).0
}

const OBJ: &str = "mtllib m.mtl\nv 0 0 0\nv 1 0 0 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\n\
                   usemtl a\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl b\nf -4 -3 -2\nl 1 2\n";
const MTL: &str = "newmtl a\nKd 0.8 0.7 0.6\nmap_Kd -s 2 2 t.png\nmap_Bump -bm 0.5 t.png\nmap_d t.png\nNs 50\nKs 0.2 0.2 0.2\n\
                   newmtl b\nillum 7\nNi 1.5\nKe 1 1 1\n";
const TOML: &str = "file = \"t.obj\"\n[camera]\neye = [0, 0, 5]\ntarget = [0.5, 0.5, 0]\nfov = 40\n[sky]\nkind = \"gradient\"\n\
                    zenith = [1, 1, 2]\nhorizon = [1, 1, 1]\nground = [0.1, 0.1, 0.1]\n[sun]\ntowards = [1, 2, 3]\n\
                    irradiance = [3, 3, 2]\n[[materials]]\nname = \"a\"\nroughness = 0.2\n";

fn beside() -> Vec<(&'static str, Vec<u8>)> {
    vec![("t.png", png()), ("m.mtl", MTL.into()), ("t.obj", OBJ.into())]
}

#[test]
fn undamaged_files_load() {
    assert!(survive("t.glb", &glb(), &[]));
    assert!(survive("t.gltf", gltf().as_bytes(), &[]));
    assert!(survive("u.obj", OBJ.as_bytes(), &beside()));
    assert!(survive("t.toml", TOML.as_bytes(), &beside()));
}

/// Damage to a file: truncation, flipped bits, replaced bytes.
fn damaged(bytes: &[u8], cut: Option<usize>, changes: &[(usize, u8)]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for &(at, change) in changes {
        let length = out.len();
        out[at % length] ^= change.max(1);
    }
    if let Some(cut) = cut {
        out.truncate(cut % bytes.len());
    }
    out
}

fn damage() -> impl Strategy<Value = (Option<usize>, Vec<(usize, u8)>)> {
    let bit = (0u8..8).prop_map(|bit| 1 << bit);
    (
        prop::option::weighted(0.3, any::<usize>()),
        prop::collection::vec((any::<usize>(), prop_oneof![bit, any::<u8>()]), 0..6),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_glb_is_survived((cut, changes) in damage()) {
        survive("t.glb", &damaged(&glb(), cut, &changes), &[]);
    }

    #[test]
    fn damaged_gltf_is_survived((cut, changes) in damage()) {
        survive("t.gltf", &damaged(gltf().as_bytes(), cut, &changes), &[]);
    }

    #[test]
    fn damaged_obj_is_survived((cut, changes) in damage()) {
        survive("u.obj", &damaged(OBJ.as_bytes(), cut, &changes), &beside());
    }

    #[test]
    fn damaged_mtl_is_survived((cut, changes) in damage()) {
        let mtl = damaged(MTL.as_bytes(), cut, &changes);
        survive("u.obj", OBJ.as_bytes(), &[("t.png", png()), ("m.mtl", mtl)]);
    }

    #[test]
    fn damaged_png_is_survived((cut, changes) in damage()) {
        let png = damaged(&png(), cut, &changes);
        survive("u.obj", OBJ.as_bytes(), &[("t.png", png), ("m.mtl", MTL.into())]);
    }

    #[test]
    fn damaged_toml_is_survived((cut, changes) in damage()) {
        survive("t.toml", &damaged(TOML.as_bytes(), cut, &changes), &beside());
    }

    /// Numbers in the JSON replaced by extreme ones: sizes, counts, offsets, indices.
    #[test]
    fn extreme_numbers_are_survived(which in 0usize..400, value in prop_oneof![
        Just("0"), Just("-1"), Just("4294967295"), Just("18446744073709551615"), Just("1e300"), Just("1e15"), Just("0.5"), Just("2147483648"),
    ]) {
        let text = gltf();
        let digits: Vec<usize> = text.char_indices()
            .filter(|(i, c)| c.is_ascii_digit() && text[..*i].ends_with([':', '[', ',']))
            .map(|(i, _)| i)
            .collect();
        let at = digits[which % digits.len()];
        let end = text[at..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text.len(), |n| at + n);
        survive("t.gltf", format!("{}{value}{}", &text[..at], &text[end..]).as_bytes(), &[]);
    }
}

#[test]
fn many_primitives_over_one_array_are_limited() {
    let primitive = r#"{"attributes":{"POSITION":0}}"#;
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"accessors":[{{"componentType":5126,"count":30000,"type":"VEC3","min":[0,0,0],"max":[0,0,0]}}],
"meshes":[{{"primitives":[{}]}}],"nodes":[{{"mesh":0}}],"scenes":[{{"nodes":[0]}}]}}"#,
        vec![primitive; 1000].join(",")
    );
    assert!(!survive("t.gltf", text.as_bytes(), &[]));
}

#[test]
fn deep_hierarchies_do_not_overflow_the_stack() {
    let count = 30_000;
    let nodes: Vec<String> = (0..count)
        .map(|i| if i + 1 < count { format!(r#"{{"children":[{}]}}"#, i + 1) } else { "{}".into() })
        .collect();
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{}],"scenes":[{{"nodes":[0]}}]}}"#,
        nodes.join(",")
    );
    assert!(survive("t.gltf", text.as_bytes(), &[]));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(!survive("t.gltf", deep.as_bytes(), &[]));
}

#[cfg(unix)]
#[test]
fn devices_and_folders_are_not_read() {
    assert!(load("/dev/zero.gltf", &options()).is_err());
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.bin")).unwrap();
    let text = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"zero.bin","byteLength":4}]}"#;
    let path = folder.path().join("t.gltf");
    std::fs::write(&path, text).unwrap();
    let anywhere = LoadOptions { allow_outside: true, ..options() };
    let loaded = load(path.to_str().unwrap(), &anywhere).unwrap();
    assert!(loaded.warnings.iter().any(|w| w.message.contains("not a regular file")));
    assert!(Path::new("/dev/zero").exists());
}
