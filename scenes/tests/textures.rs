//! Textures: one budget for a scene, reduction on request, and no texel twice.

#![allow(clippy::unwrap_used)]

use lockstep_scenes::{Limits, LoadOptions, load};
use std::path::Path;

fn png(folder: &Path, name: &str, width: u32, height: u32, grey: u8) {
    let file = std::fs::File::create(folder.join(name)).unwrap();
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![grey; (width * height) as usize]).unwrap();
    writer.finish().unwrap();
}

/// A folder with `count` images of 64x32, and files of every format with materials that show one each.
fn folder(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let numbers = 0..count;
    for i in numbers.clone() {
        png(folder.path(), &format!("{i}.png"), 64, 32, 100 + i as u8);
    }
    let list = |item: &dyn Fn(usize) -> String| numbers.clone().map(item).collect::<Vec<_>>().join(",");
    let document = format!(
        r#"{{"asset":{{"version":"2.0"}},"images":[{}],"textures":[{}],"materials":[{}],
"buffers":[{{"byteLength":36,"uri":"triangle.bin"}}],"bufferViews":[{{"buffer":0,"byteLength":36}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{{"mesh":0}}],"scenes":[{{"nodes":[0]}}]}}"#,
        list(&|i| format!(r#"{{"uri":"{i}.png"}}"#)),
        list(&|i| format!(r#"{{"source":{i}}}"#)),
        list(&|i| format!(r#"{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":{i}}}}}}}"#)),
    );
    std::fs::write(folder.path().join("t.gltf"), document).unwrap();
    let corners = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    std::fs::write(folder.path().join("triangle.bin"), corners.map(f32::to_le_bytes).concat()).unwrap();
    let library: String = numbers.clone().map(|i| format!("newmtl {i}\nmap_Kd {i}.png\n")).collect();
    write_obj(folder.path(), &library);
    let shape = |i: usize| {
        format!(
            r#"<shape type="rectangle"><bsdf type="diffuse"><texture type="bitmap" name="reflectance">
<string name="filename" value="{i}.png"/></texture></bsdf></shape>"#
        )
    };
    let shapes: String = numbers.clone().map(shape).collect();
    std::fs::write(folder.path().join("t.xml"), format!(r#"<scene version="3.0.0">{shapes}</scene>"#))
        .unwrap();
    let shape = |i: usize| {
        format!(
            "Texture \"{i}\" \"spectrum\" \"imagemap\" \"string filename\" \"{i}.png\"\nMaterial \"matte\" \"texture Kd\" \"{i}\"\n\
             Shape \"trianglemesh\" \"integer indices\" [0 1 2] \"point P\" [0 0 0 1 0 0 0 1 0] \"float uv\" [0 0 1 0 0 1]\n"
        )
    };
    let shapes: String = numbers.map(shape).collect();
    std::fs::write(folder.path().join("t.pbrt"), format!("WorldBegin\n{shapes}WorldEnd\n")).unwrap();
    folder
}

/// An OBJ file with a face for every material of the library.
fn write_obj(folder: &Path, library: &str) {
    std::fs::write(folder.join("m.mtl"), library).unwrap();
    let names = library.lines().filter_map(|line| line.strip_prefix("newmtl "));
    let faces: String = names.map(|name| format!("usemtl {name}\nf 1/1 2/2 3/3\n")).collect();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n";
    std::fs::write(folder.join("t.obj"), format!("mtllib m.mtl\n{corners}{faces}")).unwrap();
}

/// The texels of the scene in a file, or the reason why it is refused.
fn texels(file: &Path, limits: Limits) -> Result<Vec<u32>, String> {
    let options = LoadOptions { limits, ..LoadOptions::default() };
    load(file.to_str().unwrap(), &options)
        .map(|loaded| loaded.scene.texels.clone())
        .map_err(|e| e.to_string())
}

#[test]
fn textures_are_halved_until_no_side_is_longer_than_asked_for() {
    let folder = folder(2);
    for name in ["t.gltf", "t.obj", "t.xml", "t.pbrt"] {
        let of = |texture_side| {
            texels(&folder.path().join(name), Limits { texture_side, ..Limits::default() }).unwrap()
        };
        assert_eq!(of(u32::MAX).len(), 2 * 64 * 32, "{name}");
        let small = of(20);
        assert_eq!(small.len(), 2 * 16 * 8, "{name}");
        assert!(small[..128].iter().all(|texel| *texel == 0xff64_6464), "{name}: {:x?}", &small[..2]);
        assert_eq!(of(1).len(), 2, "{name}");
    }
}

#[test]
fn all_textures_of_a_scene_share_one_budget_and_the_refusal_names_the_remedy() {
    let folder = folder(4);
    let limits = Limits { scene_texels: 3 * 64 * 32, ..Limits::default() };
    for name in ["t.gltf", "t.obj"] {
        let path = folder.path().join(name);
        let message = texels(&path, limits).unwrap_err();
        let place = if name == "t.gltf" { "/images/3" } else { "3.png" };
        let words =
            "all images together exceed 6144 texels; `--texture-size N` halves those with longer sides";
        assert!(message.contains(&format!("{place}: {words}")), "{message}");
        let reduced = texels(&path, Limits { texture_side: 32, ..limits }).unwrap();
        assert_eq!(reduced.len(), 4 * 32 * 16, "{name}");
    }
}

#[test]
fn materials_that_show_the_same_file_share_its_texels() {
    let folder = folder(1);
    let library: String = (0..20).map(|i| format!("newmtl {i}\nKd 0.{i} 1 1\nmap_Kd 0.png\n")).collect();
    write_obj(folder.path(), &library);
    let once = Limits { scene_texels: 64 * 32, ..Limits::default() };
    assert_eq!(texels(&folder.path().join("t.obj"), once).unwrap().len(), 64 * 32);
    // Bumps of two heights are two normal maps, which the budget counts too.
    write_obj(folder.path(), "newmtl a\nmap_Bump -bm 1 0.png\nnewmtl b\nmap_Bump -bm 2 0.png\n");
    let message = texels(&folder.path().join("t.obj"), once).unwrap_err();
    assert!(message.contains("0.png: all images together exceed 2048 texels"), "{message}");
}

#[test]
fn heights_become_normals_before_they_are_halved() {
    let folder = folder(1);
    write_obj(folder.path(), "newmtl a\nmap_Bump 0.png\n");
    let limits = Limits { texture_side: 16, ..Limits::default() };
    let normals = texels(&folder.path().join("t.obj"), limits).unwrap();
    assert_eq!(normals.len(), 16 * 8);
    assert!(normals.iter().all(|texel| *texel == 0xffff_8080), "flat heights: {:x?}", &normals[..2]);
}
