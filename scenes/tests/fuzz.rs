//! Fuzzing of the scene loaders: glTF, GLB, OBJ, MTL, images of textures, `scene.toml`.

#[path = "support/fuzzing.rs"]
mod fuzzing;
mod support;

use fuzzing::{fuzz, outcome};
use support::{MTL, OBJ, TOML, beside, glb, gltf, png};

const GLTF_WORDS: &[&str] = &[
    "\"accessors\":",
    "\"bufferViews\":",
    "\"buffers\":",
    "\"byteLength\":",
    "\"byteOffset\":",
    "\"byteStride\":",
    "\"sparse\":",
    "\"count\":",
    "\"componentType\":",
    "5120",
    "5121",
    "5123",
    "5125",
    "5126",
    "\"VEC2\"",
    "\"VEC3\"",
    "\"VEC4\"",
    "\"SCALAR\"",
    "\"MAT4\"",
    "\"indices\":",
    "\"values\":",
    "\"mode\":",
    "\"children\":",
    "\"matrix\":",
    "\"rotation\":",
    "\"mesh\":",
    "\"camera\":",
    "\"source\":",
    "\"uri\":",
    "\"data:application/octet-stream;base64,\"",
    "\"KHR_texture_transform\"",
    "\"KHR_materials_transmission\"",
    "\"KHR_materials_ior\"",
    "\"KHR_materials_emissive_strength\"",
    "\"KHR_lights_punctual\"",
    "\"extensionsRequired\":",
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\\u0000",
];

const OBJ_WORDS: &[&str] = &[
    "v ",
    "vt ",
    "vn ",
    "f ",
    "l ",
    "usemtl ",
    "mtllib ",
    "g ",
    "o ",
    "s off",
    "newmtl ",
    "Kd ",
    "Ks ",
    "Ke ",
    "Ns ",
    "Ni ",
    "d ",
    "Tr ",
    "Pr ",
    "Pm ",
    "illum ",
    "map_Kd ",
    "map_Bump ",
    "map_d ",
    "norm ",
    "-bm ",
    "-s ",
    "-o ",
    "-clamp on ",
    "t.png",
    "//",
    "/",
    "\\\n",
    "#",
    "\r\n",
    "-1",
];

const TOML_WORDS: &[&str] = &[
    "[camera]",
    "[sky]",
    "[sun]",
    "[[materials]]",
    "[[spheres]]",
    "[[instances]]",
    "[[lights]]",
    "file = ",
    "eye = ",
    "target = ",
    "up = ",
    "fov = ",
    "aperture = ",
    "focus = ",
    "kind = ",
    "\"gradient\"",
    "\"constant\"",
    "\"image\"",
    "radiance = ",
    "zenith = ",
    "horizon = ",
    "name = ",
    "roughness = ",
    "metallic = ",
    "ior = ",
    "emission = ",
    "color = ",
    "center = ",
    "radius = ",
    "material = ",
    "\"t.obj\"",
    "\"t.png\"",
    "[",
    "]",
    ",",
    "inf",
    "nan",
];

#[test]
fn gltf_is_survived() {
    fuzz("gltf", &[gltf().into_bytes()], GLTF_WORDS, |bytes| outcome("t.gltf", bytes, &[]));
}

#[test]
fn glb_is_survived() {
    fuzz("glb", &[glb()], GLTF_WORDS, |bytes| outcome("t.glb", bytes, &[]));
}

#[test]
fn obj_is_survived() {
    fuzz("obj", &[OBJ.into()], OBJ_WORDS, |bytes| outcome("u.obj", bytes, &beside()));
}

#[test]
fn mtl_is_survived() {
    fuzz("mtl", &[MTL.into()], OBJ_WORDS, |bytes| {
        outcome("u.obj", OBJ.as_bytes(), &[("t.png", png()), ("m.mtl", bytes.to_vec())])
    });
}

#[test]
fn images_of_textures_are_survived() {
    fuzz("texture", &[png()], &["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "gAMA"], |bytes| {
        outcome("u.obj", OBJ.as_bytes(), &[("t.png", bytes.to_vec()), ("m.mtl", MTL.into())])
    });
}

#[test]
fn scene_toml_is_survived() {
    fuzz("scene-toml", &[TOML.into()], TOML_WORDS, |bytes| outcome("t.toml", bytes, &beside()));
}
