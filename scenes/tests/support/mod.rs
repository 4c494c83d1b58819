//! Valid files of every format, for tests that damage them.

#![allow(clippy::unwrap_used, dead_code, reason = "each test uses a part of it")]

use base64::Engine as _;
use lockstep_scenes::{Limits, LoadOptions, LoadedScene, load};

/// Small limits, so that a damaged size cannot ask for much.
pub(crate) fn options() -> LoadOptions {
    let limits = Limits {
        file_bytes: 1 << 20,
        image_side: 256,
        image_texels: 1 << 16,
        scene_texels: 1 << 18,
        texture_side: 64,
        triangles: 1 << 16,
    };
    LoadOptions { limits, ..LoadOptions::default() }
}

/// Loads bytes under a file name, with other files beside it.
pub(crate) fn load_bytes(
    name: &str,
    bytes: &[u8],
    others: &[(&str, Vec<u8>)],
) -> Result<LoadedScene, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in others {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    load(path.to_str().unwrap(), &options()).map_err(|error| error.to_string())
}

pub(crate) fn png() -> Vec<u8> {
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
pub(crate) fn document(buffer_uri: Option<&str>) -> (String, Vec<u8>) {
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

pub(crate) fn glb() -> Vec<u8> {
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

pub(crate) fn gltf() -> String {
    let (_, binary) = document(None);
    let data = base64::engine::general_purpose::STANDARD.encode(binary);
    document(Some(&format!("data:application/octet-stream;base64,{data}"))).0
}

pub(crate) const OBJ: &str = "mtllib m.mtl\nv 0 0 0\nv 1 0 0 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\n\
                   usemtl a\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl b\nf -4 -3 -2\nl 1 2\n";
pub(crate) const MTL: &str = "newmtl a\nKd 0.8 0.7 0.6\nmap_Kd -s 2 2 t.png\nmap_Bump -bm 0.5 t.png\nmap_d t.png\nNs 50\nKs 0.2 0.2 0.2\n\
                   newmtl b\nillum 7\nNi 1.5\nKe 1 1 1\n";
pub(crate) const TOML: &str = "file = \"t.obj\"\n[camera]\neye = [0, 0, 5]\ntarget = [0.5, 0.5, 0]\nfov = 40\n[sky]\nkind = \"gradient\"\n\
                    zenith = [1, 1, 2]\nhorizon = [1, 1, 1]\nground = [0.1, 0.1, 0.1]\n[sun]\ntowards = [1, 2, 3]\n\
                    irradiance = [3, 3, 2]\n[[materials]]\nname = \"a\"\nroughness = 0.2\n";

pub(crate) fn beside() -> Vec<(&'static str, Vec<u8>)> {
    vec![("t.png", png()), ("m.mtl", MTL.into()), ("t.obj", OBJ.into())]
}
