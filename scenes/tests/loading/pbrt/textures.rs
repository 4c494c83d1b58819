//! Textures, as the scene samples them.

use super::*;
use lockstep_core::scene::texture::{coordinates, sample};
use lockstep_core::scene::{NONE, SceneData, Vertex};

/// The value of a texture at pbrt's coordinates, times a factor.
fn shown(scene: &SceneData, texture: u32, factor: Vec3, [u, v]: [f32; 2]) -> [f32; 4] {
    if texture == NONE {
        return [factor.x, factor.y, factor.z, 1.0];
    }
    let texture = &scene.textures[texture as usize];
    let vertex = Vertex { uv0: [u, 1.0 - v], ..Vertex::default() };
    let found = sample(scene, texture, coordinates(texture, [&vertex; 3], [1.0, 0.0, 0.0]));
    [factor.x * found.rgb.x, factor.y * found.rgb.y, factor.z * found.rgb.z, found.a]
}

/// The colour of a square of a material at texture coordinates.
fn color(text: &str, uv: [f32; 2], files: &[(&str, Vec<u8>)]) -> [f32; 4] {
    let scene = world_with(&format!("{text} {SQUARE}"), files).scene;
    let material = scene.materials[scene.triangles[0].material as usize];
    shown(&scene, material.base_color_texture, material.base_color, uv)
}

fn near_all(found: [f32; 4], wanted: [f32; 3]) {
    // An sRGB code is within half a code of its value.
    let off = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 5e-3, "{found:?} is not {wanted:?}");
}

const MATTE: &str = "Material \"matte\" \"texture Kd\" \"t\"";
const DIFFUSE: &str = "Material \"diffuse\" \"texture reflectance\" \"t\"";

/// A PNG image, row by row from the top.
fn png(width: u32, color: png::ColorType, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let rows = bytes.len() as u32 / (width * color.samples() as u32);
    let mut encoder = png::Encoder::new(&mut out, width, rows);
    encoder.set_color(color);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    writer.finish().unwrap();
    out
}

/// 2 by 2 texels: red and green above, blue and white below.
fn four() -> Vec<u8> {
    png(2, png::ColorType::Rgb, &[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255])
}

#[test]
fn the_first_row_of_an_image_is_at_the_upper_end_of_v() {
    let texture =
        "Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"a.png\" \"string filter\" \"point\"";
    for material in [MATTE, DIFFUSE] {
        let at = |uv| color(&format!("{texture} {material}"), uv, &[("a.png", four())]);
        near_all(at([0.25, 0.75]), [1.0, 0.0, 0.0]);
        near_all(at([0.75, 0.75]), [0.0, 1.0, 0.0]);
        near_all(at([0.25, 0.25]), [0.0, 0.0, 1.0]);
        near_all(at([1.25, 1.75]), [1.0, 0.0, 0.0]);
    }
    let moved = format!(
        "{texture} \"float uscale\" 2 \"float vscale\" 2 \"float udelta\" .5 \"float vdelta\" .25 {MATTE}"
    );
    near_all(color(&moved, [0.0, 0.0], &[("a.png", four())]), [1.0; 3]);
    near_all(color(&moved, [0.4, 0.2], &[("a.png", four())]), [1.0, 0.0, 0.0]);
}

#[test]
fn images_are_scaled_inverted_and_decoded() {
    let grey = || vec![("a.png", png(1, png::ColorType::Rgb, &[128; 3]))];
    let of = |rest: &str, material: &str| {
        let text = format!(
            "Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"a.png\" {rest} {material}"
        );
        color(&text, [0.5, 0.5], &grey())
    };
    let linear = 0.215_86;
    near_all(of("", MATTE), [linear; 3]);
    near_all(of("\"float scale\" .5", MATTE), [0.5 * linear; 3]);
    near_all(of("\"float scale\" 2", MATTE), [2.0 * linear; 3]);
    near_all(of("\"bool gamma\" \"false\"", MATTE), [128.0 / 255.0; 3]);
    near_all(of("\"string encoding\" \"linear\"", DIFFUSE), [128.0 / 255.0; 3]);
    near_all(of("\"string encoding\" \"gamma 2\"", DIFFUSE), [(128f32 / 255.0).powi(2); 3]);
    near_all(of("\"bool invert\" true", DIFFUSE), [1.0 - linear; 3]);
}

#[test]
fn float_maps_and_images_without_a_signature_are_read() {
    let mut pfm = b"PF\n1 1\n-1\n".to_vec();
    pfm.extend([0.25f32, 0.5, 0.75].iter().flat_map(|v| v.to_le_bytes()));
    let text = format!("Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"a.pfm\" {MATTE}");
    near_all(color(&text, [0.5, 0.5], &[("a.pfm", pfm)]), [0.25, 0.5, 0.75]);
    let mut tga = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 24, 0];
    tga.extend([0, 255, 0]);
    let text = format!("Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"a.tga\" {MATTE}");
    near_all(color(&text, [0.5, 0.5], &[("a.tga", tga)]), [0.0, 1.0, 0.0]);
}

#[test]
fn a_missing_image_is_white_with_a_warning() {
    let text = format!(
        "Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"none.png\" \"float scale\" .5 {MATTE}"
    );
    let loaded = world(&format!("{text} {SQUARE}"));
    assert!(warns(&loaded, "line 4: the image is left out"), "{:?}", loaded.warnings);
    near_all(color(&text, [0.5, 0.5], &[]), [0.5; 3]);
}

#[test]
fn textures_are_scaled_and_mixed() {
    let ab = "Texture \"a\" \"spectrum\" \"constant\" \"rgb value\" [.2 .4 .6] \
              Texture \"b\" \"spectrum\" \"constant\" \"rgb value\" [.5 .5 1]";
    let of = |text: &str, material: &str| color(&format!("{ab} {text} {material}"), [0.3, 0.3], &[]);
    near_all(
        of("Texture \"t\" \"spectrum\" \"scale\" \"texture tex1\" \"a\" \"texture tex2\" \"b\"", MATTE),
        [0.1, 0.2, 0.6],
    );
    near_all(
        of("Texture \"t\" \"spectrum\" \"scale\" \"texture tex\" \"a\" \"float scale\" .5", DIFFUSE),
        [0.1, 0.2, 0.3],
    );
    let mix = "Texture \"t\" \"spectrum\" \"mix\" \"texture tex1\" \"a\" \"texture tex2\" \"b\" \"float amount\" .25";
    near_all(of(mix, MATTE), [0.275, 0.425, 0.7]);
    // An image and a constant, and an image over an image.
    let image =
        "Texture \"i\" \"spectrum\" \"imagemap\" \"string filename\" \"a.png\" \"string filter\" \"point\"";
    let files = || vec![("a.png", four())];
    let mix = format!(
        "{ab} {image} Texture \"t\" \"spectrum\" \"mix\" \"texture tex1\" \"i\" \"texture tex2\" \"b\" {MATTE}"
    );
    near_all(color(&mix, [0.25, 0.75], &files()), [0.75, 0.25, 0.5]);
    let square = format!(
        "{image} Texture \"t\" \"spectrum\" \"scale\" \"texture tex1\" \"i\" \"texture tex2\" \"i\" {MATTE}"
    );
    near_all(color(&square, [0.75, 0.75], &files()), [0.0, 1.0, 0.0]);
}

#[test]
fn checkerboards_have_two_cells_in_each_period() {
    let constants = "\"rgb tex1\" [1 0 0] \"rgb tex2\" [0 0 1] \"float uscale\" 4 \"float vscale\" 2";
    let text = format!("Texture \"t\" \"spectrum\" \"checkerboard\" {constants} {MATTE}");
    let at = |uv| color(&text, uv, &[]);
    let (first, second) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    for (uv, wanted) in [
        ([0.1, 0.1], first),
        ([0.3, 0.1], second),
        ([0.1, 0.6], second),
        ([0.3, 0.6], first),
        ([0.6, 0.1], first),
        ([-0.1, 0.1], second),
    ] {
        near_all(at(uv), wanted);
    }
    let image =
        "Texture \"i\" \"spectrum\" \"imagemap\" \"string filename\" \"a.png\" \"string filter\" \"point\"";
    let text = format!(
        "{image} Texture \"t\" \"spectrum\" \"checkerboard\" \"texture tex1\" \"i\" \"rgb tex2\" [0 0 0] \"float uscale\" 2 \
         \"float vscale\" 2 {MATTE}"
    );
    near_all(color(&text, [0.25, 0.25], &[("a.png", four())]), [0.0, 0.0, 1.0]);
    near_all(color(&text, [0.75, 0.25], &[("a.png", four())]), [0.0; 3]);
    near_all(color(&text, [0.75, 0.75], &[("a.png", four())]), [0.0, 1.0, 0.0]);
    let solid = world(&format!(
        "Texture \"t\" \"spectrum\" \"checkerboard\" \"integer dimension\" 3 {MATTE} {SQUARE}"
    ));
    assert!(warns(&solid, "checkerboards in space"));
}

#[test]
fn corners_are_interpolated_and_coordinates_are_shown() {
    let text = format!(
        "Texture \"t\" \"spectrum\" \"bilerp\" \"rgb v00\" [0 0 0] \"rgb v01\" [0 1 0] \"rgb v10\" [1 0 0] \"rgb v11\" [1 1 0] {MATTE}"
    );
    for (u, v) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.25, 0.75)] {
        near_all(color(&text, [u, v], &[]), [u, v, 0.0]);
    }
    let text = format!("Texture \"t\" \"spectrum\" \"uv\" {MATTE}");
    near_all(color(&text, [0.25, 0.75], &[]), [0.25, 0.75, 0.0]);
}

#[test]
fn what_is_not_evaluated_is_grey_and_other_mappings_are_named() {
    for class in ["fbm", "wrinkled", "windy", "marble", "dots", "ptex"] {
        let loaded = world(&format!("Texture \"t\" \"spectrum\" \"{class}\" {MATTE} {SQUARE}"));
        assert!(warns(&loaded, &format!("the texture `{class}` is not evaluated")), "{class}");
    }
    let unused = world(&format!("Texture \"t\" \"spectrum\" \"marble\" {SQUARE}"));
    assert!(!warns(&unused, "marble"), "textures that nothing uses say nothing");
    let text =
        format!("Texture \"t\" \"spectrum\" \"checkerboard\" \"string mapping\" \"planar\" {MATTE} {SQUARE}");
    assert!(warns(&world(&text), "the mapping `planar`"));
}

#[test]
fn roughness_is_an_image_where_the_model_takes_one() {
    let image =
        "Texture \"r\" \"float\" \"imagemap\" \"string filename\" \"a.png\" \"string encoding\" \"linear\"";
    let files = || vec![("a.png", png(1, png::ColorType::Grayscale, &[64]))];
    let text = format!(
        "{image} Material \"coateddiffuse\" \"texture roughness\" \"r\" \"bool remaproughness\" false {SQUARE}"
    );
    let scene = world_with(&text, &files()).scene;
    let material = scene.materials[scene.triangles[0].material as usize];
    let [_, roughness, metallic, _] =
        shown(&scene, material.metallic_roughness_texture, Vec3::ONE, [0.5, 0.5]);
    assert!((roughness - (64f32 / 255.0).sqrt()).abs() < 2e-3 && metallic == 1.0 && material.metallic == 0.0);
    let text = format!(
        "{image} Material \"conductor\" \"texture roughness\" \"r\" \"bool remaproughness\" false {SQUARE}"
    );
    let loaded = world_with(&text, &files());
    assert!(warns(&loaded, "replaced by its mean"));
    assert!((loaded.scene.materials[0].roughness - (64f32 / 255.0).sqrt()).abs() < 1e-3);
}

#[test]
fn masks_join_the_colour_and_version_4_takes_alpha() {
    // Opaque to the left, clear to the right, by grey and by alpha.
    let grey = png(2, png::ColorType::Grayscale, &[255, 0]);
    let alpha = png(2, png::ColorType::Rgba, &[9, 9, 9, 255, 9, 9, 9, 0]);
    let mask =
        "Texture \"m\" \"float\" \"imagemap\" \"string filename\" \"m.png\" \"string filter\" \"point\"";
    let image =
        "Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"a.png\" \"string filter\" \"point\"";
    for (material, file) in [(MATTE, &grey), (DIFFUSE, &alpha)] {
        let text = format!("{mask} {image} {material} {SQUARE} \"texture alpha\" \"m\"");
        let scene = world_with(&text, &[("a.png", four()), ("m.png", file.clone())]).scene;
        let material = scene.materials[scene.triangles[0].material as usize];
        let at = |uv| shown(&scene, material.base_color_texture, material.base_color, uv);
        assert_eq!(at([0.25, 0.75]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(at([0.75, 0.75])[3], 0.0);
    }
}

#[test]
fn normal_maps_and_bumps_give_tangents() {
    let files = || vec![("n.png", png(1, png::ColorType::Rgb, &[255, 128, 128])), ("a.png", four())];
    let mapped =
        world_with(&format!("Material \"diffuse\" \"string normalmap\" \"n.png\" {SQUARE}"), &files()).scene;
    let material = mapped.materials[0];
    assert_ne!(material.normal_texture, NONE);
    // u grows along pbrt's +x, which is the scene's -x.
    near(mapped.vertices[0].tangent, [-1.0, 0.0, 0.0], 1e-5);
    let image = "Texture \"t\" \"float\" \"imagemap\" \"string filename\" \"a.png\"";
    for material in ["\"matte\" \"texture bumpmap\" \"t\"", "\"diffuse\" \"texture displacement\" \"t\""] {
        let loaded = world_with(&format!("{image} Material {material} {SQUARE}"), &files());
        assert_ne!(loaded.scene.materials[0].normal_texture, NONE);
        assert!(warns(&loaded, "bumps are rendered as a normal map"));
    }
}
