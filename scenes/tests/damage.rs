//! Damaged files: whatever is cut off or flipped, loading ends soon, with a scene or an error, and never
//! panics.

#![allow(clippy::unwrap_used)]

mod support;

use lockstep_scenes::{LoadOptions, load};
use proptest::prelude::*;
use std::path::Path;
use support::{MTL, OBJ, TOML, beside, glb, gltf, load_bytes, options, png};

/// Loads bytes under a file name; the result does not matter, but its messages must be printable.
fn survive(name: &str, bytes: &[u8], others: &[(&str, Vec<u8>)]) -> bool {
    match load_bytes(name, bytes, others) {
        Ok(loaded) => {
            assert!(loaded.scene.bytes() < 64 << 20, "{} bytes", loaded.scene.bytes());
            loaded.warnings.iter().for_each(|w| assert!(!w.to_string().is_empty()));
            true
        }
        Err(error) => {
            assert!(!error.is_empty());
            false
        }
    }
}

/// Every kind of element: a lamp, a sky, textures, meshes, a group with instances, a spectrum, an included file.
const MITSUBA: &str = r#"<?xml version="1.0"?>
<scene version="3.0.0">
<default name="size" value="2"/>
<integrator type="path"><integer name="max_depth" value="5"/></integrator>
<sensor type="thinlens"><float name="fov" value="40"/><float name="aperture_radius" value="0.1"/><float name="focus_distance" value="5"/>
<transform name="to_world"><lookat origin="0,0,9" target="0,0,0" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="64"/><integer name="height" value="64"/></film></sensor>
<texture type="bitmap" id="t"><string name="filename" value="t.png"/><transform name="to_uv"><scale x="2"/></transform></texture>
<bsdf type="mask" id="m"><ref name="opacity" id="t"/><bsdf type="roughplastic"><ref name="diffuse_reflectance" id="t"/></bsdf></bsdf>
<bsdf type="bumpmap" id="b"><texture type="bitmap"><string name="filename" value="t.png"/></texture><bsdf type="conductor"><string name="material" value="Au"/></bsdf></bsdf>
<shape type="obj"><string name="filename" value="t.obj"/><ref id="m"/></shape>
<shape type="serialized"><string name="filename" value="t.serialized"/><integer name="shape_index" value="0"/><ref id="b"/></shape>
<shape type="shapegroup" id="g"><shape type="cube"><bsdf type="diffuse"><spectrum name="reflectance" value="400:0.5, 700:0.6"/></bsdf></shape></shape>
<shape type="instance"><ref id="g"/><transform name="to_world"><scale value="$size"/><rotate x="1" angle="30"/><translate x="3"/></transform></shape>
<shape type="sphere"><point name="center" value="0,1,2"/><float name="radius" value="0.5"/><emitter type="area"><rgb name="radiance" value="3,2,1"/></emitter></shape>
<emitter type="envmap"><string name="filename" value="t.png"/><transform name="to_world"><rotate x="1" angle="10"/></transform></emitter>
<include filename="i.xml"/>
</scene>"#;

/// A triangle in Mitsuba's own format, version 4, with zlib's stored block, which needs no compressor.
fn serialized() -> Vec<u8> {
    let mut data = Vec::new();
    data.extend(0x1000u32.to_le_bytes());
    data.extend(b"name\0");
    data.extend(3u64.to_le_bytes());
    data.extend(1u64.to_le_bytes());
    data.extend([0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|v| v.to_le_bytes()));
    data.extend([0u32, 1, 2].iter().flat_map(|v| v.to_le_bytes()));
    let mut out = vec![0x1c, 0x04, 4, 0, 0x78, 0x01, 0x01];
    let length = data.len() as u16;
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(&data);
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in &data {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out.extend(0u64.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out
}

fn beside_mitsuba() -> Vec<(&'static str, Vec<u8>)> {
    let included = "<scene version='3.0.0'><shape type='disk'/></scene>";
    vec![("t.png", png()), ("t.obj", OBJ.into()), ("t.serialized", serialized()), ("i.xml", included.into())]
}

const PBRT: &str = "LookAt 0 0 -5 0 0 0 0 1 0 Camera \"perspective\" \"float fov\" [40]\nFilm \"image\" \"integer xresolution\" 64\n\
                    WorldBegin\nLightSource \"infinite\" \"rgb L\" [1 1 1]\nTexture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"t.png\"\n\
                    Texture \"c\" \"spectrum\" \"checkerboard\" \"texture tex1\" \"t\" \"float uscale\" 2\n\
                    MakeNamedMaterial \"a\" \"string type\" [\"matte\"] \"texture Kd\" \"c\"\n\
                    AttributeBegin\nNamedMaterial \"a\"\nTranslate 1 0 0 Rotate 30 0 1 0\n\
                    AreaLightSource \"diffuse\" \"blackbody L\" [3000 2]\nShape \"sphere\" \"float radius\" 0.5 \"float zmax\" 0.25\nAttributeEnd\n\
                    ObjectBegin \"o\" Shape \"trianglemesh\" \"integer indices\" [0 1 2] \"point P\" [0 0 0 1 0 0 0 1 0] ObjectEnd\n\
                    ObjectInstance \"o\" Include \"part.pbrt\"\nWorldEnd\n";
const PART: &str = "Material \"metal\" \"spectrum eta\" [400 1 500 2] \"rgb k\" [1 2 3]\nShape \"plymesh\" \"string filename\" \"p.ply\"\n\
                    Shape \"loopsubdiv\" \"integer levels\" 2 \"integer indices\" [0 1 2] \"point P\" [0 0 0 1 0 0 0 1 0]\n\
                    Shape \"curve\" \"point P\" [0 0 0 0 1 0 0 2 0 0 3 0]\n";
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n\
                   property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";

fn beside_pbrt() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = beside();
    files.extend([("part.pbrt", PART.into()), ("p.ply", PLY.into())]);
    files
}

#[test]
fn undamaged_files_load() {
    assert!(survive("t.glb", &glb(), &[]));
    assert!(survive("t.gltf", gltf().as_bytes(), &[]));
    assert!(survive("u.obj", OBJ.as_bytes(), &beside()));
    assert!(survive("t.toml", TOML.as_bytes(), &beside()));
    assert!(survive("s.xml", MITSUBA.as_bytes(), &beside_mitsuba()));
    assert!(survive("t.pbrt", PBRT.as_bytes(), &beside_pbrt()));
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

    #[test]
    fn damaged_mitsuba_scenes_are_survived((cut, changes) in damage()) {
        survive("s.xml", &damaged(MITSUBA.as_bytes(), cut, &changes), &beside_mitsuba());
    }

    #[test]
    fn damaged_parts_of_mitsuba_scenes_are_survived((cut, changes) in damage(), which in 0usize..4) {
        let mut files = beside_mitsuba();
        files[which].1 = damaged(&files[which].1, cut, &changes);
        survive("s.xml", MITSUBA.as_bytes(), &files);
    }

    /// Values of attributes replaced by extreme ones.
    #[test]
    fn extreme_values_of_mitsuba_scenes_are_survived(which in 0usize..400, value in prop_oneof![
        Just("0"), Just("-1"), Just("4294967295"), Just("1e38"), Just("-1e30"), Just("1e-30"), Just("nan"), Just(""), Just("$size"),
        Just("t.png"), Just("g"), Just("1,2,3"), Just("true"),
    ]) {
        let starts: Vec<usize> = MITSUBA.match_indices("=\"").map(|(at, _)| at + 2).collect();
        let at = starts[which % starts.len()];
        let end = at + MITSUBA[at..].find('"').unwrap();
        survive("s.xml", format!("{}{value}{}", &MITSUBA[..at], &MITSUBA[end..]).as_bytes(), &beside_mitsuba());
    }

    #[test]
    fn damaged_pbrt_is_survived((cut, changes) in damage()) {
        survive("t.pbrt", &damaged(PBRT.as_bytes(), cut, &changes), &beside_pbrt());
    }

    #[test]
    fn damaged_parts_of_pbrt_are_survived((cut, changes) in damage(), which in 0usize..3) {
        let mut files = beside_pbrt();
        let at = files.len() - 1 - which.min(1);
        files[at].1 = damaged(&files[at].1, cut, &changes);
        if which == 2 {
            files[0].1 = damaged(&files[0].1, cut, &changes);
        }
        survive("t.pbrt", PBRT.as_bytes(), &files);
    }

    /// Words of the file replaced by others of it, and numbers by extreme ones.
    #[test]
    fn shuffled_pbrt_is_survived(from in any::<usize>(), to in any::<usize>(), extreme in prop_oneof![
        Just(None), Just(Some("1e38")), Just(Some("-1")), Just(Some("0")), Just(Some("4294967295")), Just(Some("1e-45")), Just(Some("10")),
    ]) {
        let text = format!("{PBRT}{PART}");
        let mut words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
        let count = words.len();
        let word = extreme.map_or(words[from % count], |word| word);
        words[to % count] = word;
        let text = words.join(" ");
        survive("t.pbrt", text.as_bytes(), &beside_pbrt());
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
fn mitsuba_scenes_that_unfold_or_refer_to_themselves_are_refused() {
    let refused = |inside: &str, others: &[(&str, Vec<u8>)]| {
        assert!(
            !survive("s.xml", format!("<scene version='3.0.0'>{inside}</scene>").as_bytes(), others),
            "{inside}"
        );
    };
    refused("<include filename='s.xml'/>", &[]);
    refused(
        "<include filename='a.xml'/>",
        &[("a.xml", b"<scene><include filename='a.xml'/><include filename='a.xml'/></scene>".to_vec())],
    );
    refused("<bsdf type='twosided' id='a'><ref id='a'/></bsdf><shape type='cube'><ref id='a'/></shape>", &[]);
    refused("<shape type='merge' id='a'><ref id='a'/></shape>", &[]);
    refused(
        "<texture type='checkerboard' id='a'><ref name='color0' id='a'/></texture><shape type='cube'><bsdf type='diffuse'><ref name='reflectance' id='a'/></bsdf></shape>",
        &[],
    );
    refused(&"<shape type='cylinder'/>".repeat(1000), &[]);
    let deep = format!("{}{}", "<bsdf type='twosided'>".repeat(50_000), "</bsdf>".repeat(50_000));
    refused(&format!("<shape type='cube'>{deep}</shape>"), &[]);
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

#[test]
fn deep_and_endless_pbrt_files_end_soon() {
    let nested =
        |open: &str, close: &str, count: usize| format!("{}{}", open.repeat(count), close.repeat(count));
    assert!(survive("t.pbrt", nested("AttributeBegin\n", "AttributeEnd\n", 4000).as_bytes(), &[]));
    assert!(!survive("t.pbrt", nested("AttributeBegin\n", "AttributeEnd\n", 60_000).as_bytes(), &[]));
    assert!(!survive("t.pbrt", nested("TransformBegin\n", "TransformEnd\n", 60_000).as_bytes(), &[]));
    assert!(!survive("t.pbrt", nested("[", "]", 100_000).as_bytes(), &[]));
    assert!(!survive("t.pbrt", b"Include \"t.pbrt\"", &[]));
    // A chain of textures, each of the one before.
    let mut chain = String::from("Texture \"t0\" \"float\" \"constant\"\n");
    for i in 1..10_000 {
        chain += &format!("Texture \"t{i}\" \"float\" \"scale\" \"texture tex\" \"t{}\"\n", i - 1);
    }
    chain += "Material \"matte\" \"texture sigma\" \"t9999\" Shape \"sphere\"";
    assert!(survive("t.pbrt", chain.as_bytes(), &[]));
    // Thousands of tessellated shapes, and one that unfolds a thousandfold.
    let many = "Shape \"cylinder\"\n".repeat(2000);
    assert!(!survive("t.pbrt", many.as_bytes(), &[]));
    let mesh = "Shape \"loopsubdiv\" \"integer levels\" 10 \"integer indices\" [0 1 2] \"point P\" [0 0 0 1 0 0 0 1 0]";
    assert!(!survive("t.pbrt", mesh.as_bytes(), &[]));
    let baked =
        "Texture \"u\" \"spectrum\" \"uv\"\nMaterial \"matte\" \"texture Kd\" \"u\" Shape \"sphere\"\n"
            .repeat(100);
    assert!(!survive("t.pbrt", baked.as_bytes(), &[]));
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
