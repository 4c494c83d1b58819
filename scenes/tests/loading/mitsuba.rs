//! Small scenes for every element.

use lockstep_core::math::vec3::{Vec3, length, normalize, vec3};
use lockstep_core::scene::{AlphaMode, EnvironmentKind, LightKind, Material, MaterialKind, NONE, SceneData};
use lockstep_core::{Error, Result};
use lockstep_scenes::export::to_mitsuba;
use lockstep_scenes::{LoadOptions, LoadedScene, load};
use std::io::Write;
use std::path::Path;

/// A camera, so that none is fitted.
const CAMERA: &str = "<sensor type='perspective'><float name='fov' value='40'/><transform name='to_world'>\
                      <lookat origin='0,0,9' target='0,0,0' up='0,1,0'/></transform></sensor>";

/// A sky, so that none is added.
const SKY: &str = "<emitter type='constant'><rgb name='radiance' value='0.5'/></emitter>";

fn load_in(folder: &Path, contents: &str) -> Result<LoadedScene> {
    let path = folder.join("t.xml");
    std::fs::write(&path, format!("<scene version='3.0.0'>\n{contents}\n</scene>")).unwrap();
    let options = LoadOptions { data_folder: Some(folder.join("none")), ..LoadOptions::default() };
    load(path.to_str().unwrap(), &options)
}

/// A scene of these elements, with camera and sky.
fn scene_in(folder: &Path, contents: &str) -> LoadedScene {
    load_in(folder, &format!("{contents}{CAMERA}{SKY}")).unwrap()
}

fn scene(contents: &str) -> LoadedScene {
    scene_in(tempfile::tempdir().unwrap().path(), contents)
}

fn refused(contents: &str, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let error = load_in(folder.path(), &format!("{contents}{CAMERA}{SKY}")).unwrap_err().to_string();
    assert!(error.contains(words), "`{error}` lacks `{words}`");
}

/// The only surface of a rectangle, and the warnings besides that of the film.
fn surface(bsdf: &str) -> (Material, Vec<String>) {
    let loaded = scene(&format!("<shape type='rectangle'>{bsdf}</shape>"));
    (loaded.scene.materials[loaded.scene.triangles[0].material as usize], messages(&loaded))
}

fn messages(loaded: &LoadedScene) -> Vec<String> {
    let all = loaded.warnings.iter().map(|warning| warning.message.clone());
    all.filter(|message| !message.starts_with("the file asks for")).collect()
}

fn has(messages: &[String], words: &str) {
    assert!(messages.iter().any(|message| message.contains(words)), "{messages:?} lacks `{words}`");
}

fn near(a: Vec3, b: Vec3) {
    assert!(length(a - b) < 2e-3, "{a:?} is not {b:?}");
}

/// An image of 2 by 2 texels: red, green, and below them blue and white.
fn write_texture(folder: &Path) {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]).unwrap();
    writer.finish().unwrap();
    std::fs::write(folder.join("t.png"), bytes).unwrap();
}

fn bounds(scene: &SceneData) -> [Vec3; 2] {
    scene.bounds
}

#[test]
fn diffuse_is_grey_by_default_and_takes_colors_and_spectra() {
    assert_eq!(surface("").0, Material::diffuse([0.5; 3]));
    let (diffuse, warnings) = surface(
        "<bsdf type='twosided'><bsdf type='diffuse'><rgb name='reflectance' value='0.1,0.2,0.3'/></bsdf></bsdf>",
    );
    assert_eq!((diffuse, warnings), (Material::diffuse([0.1, 0.2, 0.3]), vec![]));
    let (_, warnings) = surface("<bsdf type='diffuse'/>");
    has(&warnings, "black without `twosided`");
    let (spectral, _) =
        surface("<bsdf type='diffuse'><spectrum name='reflectance' value='400:0.5, 700:0.5'/></bsdf>");
    near(spectral.base_color, vec3(0.497_671, 0.499_878, 0.497_455));
    let (limited, warnings) =
        surface("<bsdf type='diffuse'><rgb name='reflectance' value='1.5,0,0'/></bsdf>");
    assert_eq!(limited.base_color, vec3(1.0, 0.0, 0.0));
    has(&warnings, "limited to 1");
    has(&surface("<bsdf type='roughdiffuse'/>").1, "perfectly diffuse");
}

#[test]
fn dielectrics_have_indices_by_name_and_are_turned_where_the_outside_is_denser() {
    let (glass, warnings) = surface(
        "<bsdf type='dielectric'><string name='int_ior' value='water'/><string name='ext_ior' value='vacuum'/></bsdf>",
    );
    assert_eq!((glass, warnings), (Material::dielectric(1.333, 0.0), vec![]));
    let (bk7, _) = surface("<bsdf type='dielectric'/>");
    assert!((bk7.ior - 1.5046 / 1.000_277).abs() < 1e-6);
    let (rough, warnings) = surface("<bsdf type='roughdielectric'><float name='alpha' value='0.25'/></bsdf>");
    assert_eq!(rough.roughness, 0.5);
    has(&warnings, "Beckmann");
    let bubble = "<shape type='rectangle'><bsdf type='dielectric'><float name='intIOR' value='1'/><float name='extIOR' value='1.5'/></bsdf></shape>";
    let loaded = scene(bubble);
    let corners = loaded.scene.triangles[0].vertices.map(|v| Vec3::from(loaded.scene.positions[v as usize]));
    let normal = lockstep_core::math::vec3::cross(corners[1] - corners[0], corners[2] - corners[0]);
    assert!(normal.z < 0.0, "the front of the denser side is behind: {normal:?}");
    assert_eq!(loaded.scene.materials[0].ior, 1.5);
    refused(
        "<shape type='cube'><bsdf type='dielectric'><string name='int_ior' value='watr'/></bsdf></shape>",
        "did you mean `water`?",
    );
}

#[test]
fn a_thin_pane_reflects_what_all_its_bounces_do() {
    let (pane, warnings) = surface(
        "<bsdf type='thindielectric'><float name='int_ior' value='1.5'/><float name='ext_ior' value='1'/></bsdf>",
    );
    let reflected = ((pane.ior - 1.0) / (pane.ior + 1.0)).powi(2);
    assert!((reflected - 2.0 * 0.04 / 1.04).abs() < 1e-5, "{reflected}");
    assert_eq!((pane.transmission, pane.kind), (1.0, MaterialKind::Principled as u32));
    has(&warnings, "thin pane");
}

#[test]
fn metals_have_constants_by_name_value_or_none() {
    let of = |inside: &str| {
        surface(&format!("<bsdf type='twosided'><bsdf type='conductor'>{inside}</bsdf></bsdf>"))
    };
    let (mirror, warnings) = of("<string name='material' value='none'/>");
    assert_eq!((mirror, warnings), (Material::conductor([1.0; 3], 0.0), vec![]));
    let (aluminium, warnings) = of("<string name='material' value='Al'/>");
    near(aluminium.base_color, vec3(0.928, 0.9178, 0.9189));
    has(&warnings, "Schlick");
    let (own, _) = of(
        "<rgb name='eta' value='1.65746, 0.880369, 0.521229'/><rgb name='k' value='9.22387, 6.26952, 4.837'/><rgb name='specular_reflectance' value='0.5'/>",
    );
    near(own.base_color, aluminium.base_color * 0.5);
    let (rough, _) = surface(
        "<bsdf type='roughconductor'><float name='alpha_u' value='0.1'/><float name='alpha_v' value='0.4'/><string name='distribution' value='ggx'/></bsdf>",
    );
    assert!((rough.roughness - 0.2f32.sqrt()).abs() < 1e-6);
    refused(
        "<shape type='cube'><bsdf type='conductor'><string name='material' value='Agg'/></bsdf></shape>",
        "did you mean `Ag`?",
    );
    refused(
        "<shape type='cube'><bsdf type='conductor'><rgb name='eta' value='1'/></bsdf></shape>",
        "both `eta` and `k`",
    );
}

#[test]
fn plastic_has_the_albedo_of_its_bounces() {
    let of = |plugin: &str, nonlinear: bool| {
        surface(&format!(
            "<bsdf type='{plugin}'><float name='int_ior' value='1.5'/><float name='ext_ior' value='1'/><rgb name='diffuse_reflectance' value='0.5'/><boolean name='nonlinear' value='{nonlinear}'/></bsdf>"
        ))
    };
    let (linear, warnings) = of("plastic", false);
    assert!((linear.base_color.x - 0.5).abs() < 1e-6 && linear.ior == 1.5, "{linear:?}");
    has(&warnings, "plastic is");
    // 0.5 (1 - 0.5963) / (1 - 0.5 * 0.5963)
    assert!((of("plastic", true).0.base_color.x - 0.2876).abs() < 1e-3);
    let rough = of("roughplastic", false).0;
    assert!((rough.roughness - 0.1f32.sqrt()).abs() < 1e-6 && rough.base_color.x < 0.5, "{rough:?}");
}

#[test]
fn principled_is_plastic_metal_or_glass() {
    let of = |inside: &str| surface(&format!("<bsdf type='principled'>{inside}</bsdf>"));
    let (metal, _) = of(
        "<rgb name='base_color' value='0.9,0.5,0.1'/><float name='metallic' value='1'/><float name='roughness' value='0.3'/><float name='sheen' value='0.4'/>",
    );
    assert_eq!(metal, Material { ior: metal.ior, ..Material::principled([0.9, 0.5, 0.1], 1.0, 0.3) });
    assert!((metal.ior - 1.5).abs() < 1e-6);
    has(&of("<float name='sheen' value='0.4'/>").1, "the property `sheen` of `principled` is left out");
    let (glass, _) = of(
        "<float name='spec_trans' value='1'/><float name='eta' value='1.33'/><float name='roughness' value='0.1'/>",
    );
    assert_eq!((glass.kind, glass.ior), (MaterialKind::Dielectric as u32, 1.33));
}

#[test]
fn blends_of_diffuse_surfaces_are_exact_and_others_are_named() {
    let of = |second: &str| {
        surface(&format!(
            "<bsdf type='blendbsdf'><float name='weight' value='0.25'/><bsdf type='diffuse'><rgb name='reflectance' value='0.8'/></bsdf>{second}</bsdf>"
        ))
    };
    near(
        of("<bsdf type='diffuse'><rgb name='reflectance' value='0.4'/></bsdf>").0.base_color,
        Vec3::splat(0.7),
    );
    let (nearest, warnings) = of("<bsdf type='conductor'/>");
    assert_eq!(nearest.kind, MaterialKind::Diffuse as u32);
    has(&warnings, "more weight");
}

#[test]
fn textures_have_their_place_filter_and_encoding() {
    let folder = tempfile::tempdir().unwrap();
    write_texture(folder.path());
    let text = "<texture type='bitmap' id='tex'><string name='filename' value='t.png'/><string name='filter_type' value='nearest'/>\
                <string name='wrap_mode' value='clamp'/><boolean name='raw' value='true'/><transform name='to_uv'>\
                <scale x='2' y='3'/><translate x='0.5'/></transform></texture><shape type='rectangle'>\
                <bsdf type='diffuse'><ref name='reflectance' id='tex'/></bsdf></shape>";
    let loaded = scene_in(folder.path(), text);
    let texture = loaded.scene.textures[loaded.scene.materials[0].base_color_texture as usize];
    use lockstep_core::scene::{Texture, Wrap};
    assert_eq!(texture.flags, Texture::NEAREST | Texture::wrap(Wrap::Clamp, Wrap::Clamp));
    assert_eq!(texture.transform, [[2.0, 0.0, 0.5, 0.0], [0.0, 3.0, 0.0, 0.0]]);
    assert_eq!(
        (texture.width, loaded.scene.texels[0] & 0xffffff, loaded.scene.texels[1] & 0xffffff),
        (2, 0xff, 0xff00)
    );
    assert_eq!(loaded.scene.materials[0].base_color, Vec3::ONE);
    // The rectangle's lowest corner shows the upper left texel, as in Mitsuba 3.
    let low = loaded.scene.positions.iter().position(|p| *p == [-1.0, -1.0, 0.0]).unwrap();
    assert_eq!(loaded.scene.vertices[low].uv0, [0.0, 0.0]);
}

#[test]
fn old_versions_place_textures_by_offsets_and_factors() {
    let folder = tempfile::tempdir().unwrap();
    write_texture(folder.path());
    let text = "<shape type='rectangle'><bsdf type='diffuse'><texture name='reflectance' type='bitmap'><string name='filename' value='t.png'/>\
                <string name='filterType' value='trilinear'/><float name='uscale' value='2'/><float name='uoffset' value='0.25'/></texture></bsdf></shape>";
    let texture = scene_in(folder.path(), text).scene.textures[0];
    // Mitsuba 3.9.1 scales the offset too.
    assert_eq!(texture.transform[0], [2.0, 0.0, 0.5, 0.0]);
}

#[test]
fn a_turn_of_texture_coordinates_is_kept() {
    let text = "<shape type='rectangle'><bsdf type='diffuse'><texture name='reflectance' type='checkerboard'><transform name='to_uv'>\
                <rotate z='1' angle='90'/></transform></texture></bsdf></shape>";
    let [[a, b, ..], [c, d, ..]] = scene(text).scene.textures[0].transform;
    assert!(
        a.abs() < 1e-5 && (b + 1.0).abs() < 1e-5 && (c - 1.0).abs() < 1e-5 && d.abs() < 1e-5,
        "{a} {b} {c} {d}"
    );
}

#[test]
fn checkerboards_have_two_colors() {
    let text = "<shape type='rectangle'><bsdf type='diffuse'><texture name='reflectance' type='checkerboard'>\
                <rgb name='color0' value='0.8,0.4,0'/><rgb name='color1' value='0.2,0.4,0'/></texture></bsdf></shape>";
    let loaded = scene(text);
    let (material, texture) = (loaded.scene.materials[0], loaded.scene.textures[0]);
    let texel = |i: usize| {
        let rgb = lockstep_core::scene::texture::texel_rgb(loaded.scene.texels[i], texture.flags);
        rgb * material.base_color
    };
    near(texel(0), vec3(0.8, 0.4, 0.0));
    near(texel(1), vec3(0.2, 0.4, 0.0));
    assert_eq!(texel(3), texel(0));
}

#[test]
fn masks_have_an_opacity_of_a_number_or_an_image() {
    let (half, warnings) = surface(
        "<bsdf type='mask'><float name='opacity' value='0.25'/><bsdf type='diffuse'><rgb name='reflectance' value='0.3'/></bsdf></bsdf>",
    );
    assert_eq!(
        (half.alpha, half.alpha_mode, half.base_color),
        (0.25, AlphaMode::Blend as u32, Vec3::splat(0.3))
    );
    has(&warnings, "without a bounce");
    let folder = tempfile::tempdir().unwrap();
    write_texture(folder.path());
    let bitmap = |name: &str| {
        format!("<texture name='{name}' type='bitmap'><string name='filename' value='t.png'/></texture>")
    };
    let mask = |inside: &str| {
        let text = format!(
            "<shape type='rectangle'><bsdf type='mask'>{}<bsdf type='diffuse'>{inside}</bsdf></bsdf></shape>",
            bitmap("opacity")
        );
        scene_in(folder.path(), &text).scene
    };
    let constant = mask("<rgb name='reflectance' value='0.3'/>");
    let material = constant.materials[0];
    assert_eq!((material.base_color, material.alpha), (Vec3::splat(0.3), 1.0));
    // Alpha is the luminance: of red 0.2126, of white 1.
    let alphas = [0, 1, 2, 3].map(|i| constant.texels[i] >> 24);
    assert_eq!((alphas[0], alphas[3]), (54, 255));
    let both = mask(&bitmap("reflectance"));
    assert_eq!((both.texels[0] & 0xffffff, both.texels[0] >> 24), (0xff, 54));
}

#[test]
fn bump_and_normal_maps_tilt_normals() {
    let folder = tempfile::tempdir().unwrap();
    write_texture(folder.path());
    let of = |plugin: &str| {
        let text = format!(
            "<shape type='rectangle'><bsdf type='{plugin}'><texture name='arbitrary' type='bitmap'>\
             <boolean name='raw' value='true'/><string name='filename' value='t.png'/></texture><bsdf type='diffuse'/></bsdf></shape>"
        );
        scene_in(folder.path(), &text)
    };
    let normal = of("normalmap").scene;
    assert_ne!(normal.materials[0].normal_texture, NONE);
    assert!(normal.triangles[0].vertices.iter().all(|v| normal.vertices[*v as usize].tangent.x > 0.99));
    let bump = of("bumpmap");
    assert_ne!(bump.scene.materials[0].normal_texture, NONE);
    has(&messages(&bump), "mean stretch");
}

/// A serialized file of meshes of one triangle each.
fn serialized(triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    const SINGLE_PRECISION: u32 = 0x1000;
    let (mut file, mut begins) = (Vec::new(), Vec::new());
    for corners in triangles {
        begins.push(file.len() as u64);
        file.extend([0x041C_u16, 4].map(u16::to_le_bytes).concat());
        let mut mesh = [&SINGLE_PRECISION.to_le_bytes()[..], b"name\0"].concat();
        mesh.extend([3_u64, 1].map(u64::to_le_bytes).concat());
        mesh.extend(corners.iter().flatten().flat_map(|x| x.to_le_bytes()));
        mesh.extend([0_u32, 1, 2].map(u32::to_le_bytes).concat());
        let mut encoder = flate2::write::ZlibEncoder::new(&mut file, flate2::Compression::default());
        encoder.write_all(&mesh).unwrap();
        encoder.finish().unwrap();
    }
    file.extend(begins.iter().flat_map(|begin| begin.to_le_bytes()));
    file.extend((begins.len() as u32).to_le_bytes());
    file
}

#[test]
fn shapes_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.obj"), "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0.25 0.25\nf 1/1 2/1 3/1\n")
        .unwrap();
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float u\nproperty float v\n\
               element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 0.25 0.25\n1 0 0 0 0\n1 1 0 0 0\n3 0 1 2\n";
    std::fs::write(folder.path().join("t.ply"), ply).unwrap();
    let triangle = |x: f32| [[x, x, x], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
    std::fs::write(folder.path().join("t.serialized"), serialized(&[triangle(5.0), triangle(0.0)])).unwrap();
    let file = |plugin: &str, more: &str| {
        let text = format!(
            "<shape type='{plugin}'><string name='filename' value='t.{plugin}'/>{more}\
             <transform name='to_world'><translate x='1' y='2' z='3'/></transform></shape>"
        );
        scene_in(folder.path(), &text).scene
    };
    for (plugin, more, uv) in [
        ("obj", "", Some([0.25, 0.75])),
        ("obj", "<boolean name='flip_tex_coords' value='false'/>", Some([0.25, 0.25])),
        ("ply", "", Some([0.25, 0.25])),
        ("ply", "<boolean name='flipTexCoords' value='true'/>", Some([0.25, 0.75])),
        ("serialized", "<integer name='shape_index' value='1'/>", None),
    ] {
        let scene = file(plugin, more);
        assert_eq!(bounds(&scene), [vec3(1.0, 2.0, 3.0), vec3(2.0, 3.0, 3.0)], "{plugin}");
        assert!(uv.is_none_or(|uv| scene.vertices[0].uv0 == uv), "{plugin}: {:?}", scene.vertices[0].uv0);
        assert_eq!(scene.vertices[0].normal, vec3(0.0, 0.0, 1.0));
    }
    let flat = file("obj", "<boolean name='face_normals' value='true'/>");
    assert_eq!(flat.vertices[0].normal, Vec3::ZERO);
}

#[test]
fn shapes_by_formula_have_their_size() {
    let of = |shape: &str| scene(&format!("{shape}</shape>")).scene;
    let cube = of("<shape type='cube'><transform name='to_world'><scale value='2'/></transform>");
    assert_eq!((cube.triangles.len(), bounds(&cube)), (12, [Vec3::splat(-2.0), Vec3::splat(2.0)]));
    let disk = of("<shape type='disk'><transform name='to_world'><rotate x='1' angle='-90'/></transform>");
    assert!(disk.bounds[1].y.abs() < 1e-6 && (disk.bounds[1].x - 1.0).abs() < 1e-3);
    near(disk.vertices[0].normal, vec3(0.0, 1.0, 0.0));
    let cylinder = of(
        "<shape type='cylinder'><point name='p0' value='0,1,0'/><point name='p1' value='0,4,0'/><float name='radius' value='0.5'/>",
    );
    near(cylinder.bounds[0], vec3(-0.5, 1.0, -0.5));
    near(cylinder.bounds[1], vec3(0.5, 4.0, 0.5));
    let normal = cylinder.vertices[0].normal;
    near(normal, normalize(vec3(cylinder.positions[0][0], 0.0, cylinder.positions[0][2])));
    let sphere = of(
        "<shape type='sphere'><point name='center' x='1'/><float name='radius' value='2'/><transform name='to_world'><scale value='3'/></transform>",
    );
    assert_eq!(
        (sphere.spheres[0].center, sphere.spheres[0].radius, sphere.triangles.len()),
        (vec3(3.0, 0.0, 0.0), 6.0, 0)
    );
    let stretched = of("<shape type='sphere'><transform name='to_world'><scale x='2'/></transform>");
    assert_eq!(stretched.spheres.len(), 0);
    near(stretched.bounds[1], vec3(2.0, 1.0, 1.0));
}

#[test]
fn groups_are_placed_several_times() {
    let instance = |x: u32| {
        format!(
            "<shape type='instance'><ref id='g'/><transform name='to_world'><translate x='{x}'/></transform></shape>"
        )
    };
    let cubes = "<shape type='cube'/>".repeat(2);
    let text = format!("<shape type='shapegroup' id='g'>{cubes}</shape>{}{}", instance(5), instance(9));
    let loaded = scene(&text);
    assert_eq!(loaded.scene.instanced_triangles(), 48);
    assert_eq!(loaded.scene.bounds, [vec3(4.0, -1.0, -1.0), vec3(10.0, 1.0, 1.0)]);
    refused("<shape type='instance'/>", "needs a `shapegroup`");
}

#[test]
fn shapes_emit_from_their_front() {
    let lamp = |more: &str| {
        scene(&format!(
            "<shape type='rectangle'>{more}<emitter type='area'><rgb name='radiance' value='3,2,1'/></emitter></shape>"
        ))
    };
    let plain = lamp("").scene;
    let light = plain.lights.iter().find(|light| light.kind == LightKind::Triangle as u32).unwrap();
    let front = |light: &lockstep_core::scene::Light| {
        lockstep_core::math::vec3::cross(light.edge1, light.edge2) * light.intensity.x
    };
    assert!(front(light).z > 0.0);
    assert_eq!(plain.materials[light.material as usize].emission, vec3(3.0, 2.0, 1.0));
    assert_eq!(plain.materials[light.material as usize].base_color, Vec3::ZERO, "it reflects nothing");
    let flipped = lamp("<boolean name='flip_normals' value='true'/>").scene;
    assert!(
        front(flipped.lights.iter().find(|light| light.kind == LightKind::Triangle as u32).unwrap()).z < 0.0
    );
    // Spectra of light are seen as they are: an equal-energy spectrum is reddish.
    let spectral = scene(
        "<shape type='sphere'><emitter type='area'><spectrum name='radiance' value='5'/></emitter></shape>",
    )
    .scene;
    near(spectral.materials[0].emission * 0.1, vec3(0.602_397, 0.474_146, 0.454_458));
}

#[test]
fn lamps_without_a_shape_and_skies_are_read() {
    let loaded = load_in(
        tempfile::tempdir().unwrap().path(),
        &format!("<shape type='cube'/>{CAMERA}<emitter type='point'><point name='position' x='1' y='2' z='3'/><rgb name='intensity' value='4'/></emitter>\
         <emitter type='directional'><vector name='direction' x='0' y='-2' z='0'/><rgb name='irradiance' value='5'/></emitter>\
         <emitter type='spot'><transform name='to_world'><lookat origin='0,5,0' target='0,0,0' up='0,0,1'/></transform>\
         <rgb name='intensity' value='6'/><float name='cutoff_angle' value='60'/><float name='beam_width' value='30'/></emitter>"),
    )
    .unwrap();
    let of = |kind: LightKind| *loaded.scene.lights.iter().find(|light| light.kind == kind as u32).unwrap();
    let point = of(LightKind::Point);
    assert_eq!((point.position, point.intensity), (vec3(1.0, 2.0, 3.0), Vec3::splat(4.0)));
    let sun = of(LightKind::Directional);
    assert_eq!((sun.position, sun.intensity), (vec3(0.0, 1.0, 0.0), Vec3::splat(5.0)));
    let spot = of(LightKind::Spot);
    near(spot.edge1, vec3(0.0, -1.0, 0.0));
    // Scale and offset turn cosines into 1 at 30 degrees and 0 at 60.
    assert!(
        (0.866_025_4 * spot.edge2.x + spot.edge2.y - 1.0).abs() < 1e-3
            && (0.5 * spot.edge2.x + spot.edge2.y).abs() < 1e-3
    );
    assert_eq!(scene("<shape type='cube'/>").scene.environment.zenith, Vec3::splat(0.5));
}

#[test]
fn the_image_of_a_sky_looks_where_it_does_in_mitsuba() {
    use lockstep_core::scene::environment_radiance;
    let folder = tempfile::tempdir().unwrap();
    // 8 by 4 texels: red in the uppermost row, green in column 0, blue in column 2. Rows go upwards in a PFM.
    let texel = |x: u32, y: u32| [y == 0, x == 0, x == 2].map(|on| f32::from(u8::from(on)));
    let mut pfm = b"PF\n8 4\n-1\n".to_vec();
    pfm.extend((0..4).rev().flat_map(|y| (0..8).flat_map(move |x| texel(x, y))).flat_map(f32::to_le_bytes));
    std::fs::write(folder.path().join("sky.pfm"), pfm).unwrap();
    let sky = |transform: &str| {
        let text = format!(
            "<shape type='cube'/>{CAMERA}<emitter type='envmap'><string name='filename' value='sky.pfm'/>\
             <float name='scale' value='2'/><transform name='to_world'>{transform}</transform></emitter>"
        );
        load_in(folder.path(), &text).unwrap()
    };
    let at = |loaded: &LoadedScene, direction: Vec3| {
        environment_radiance(
            &loaded.scene.environment,
            &loaded.scene.environment_texels,
            normalize(direction),
        )
    };
    let plain = sky("");
    assert_eq!(plain.scene.environment.kind, EnvironmentKind::Image as u32);
    // Mitsuba 3.9.1 shows the middle of column 0 and half of column 2 here.
    let middle = |column: f32| {
        let azimuth = std::f32::consts::TAU * (column + 0.5) / 8.0;
        vec3(azimuth.sin(), 0.0, -azimuth.cos())
    };
    near(at(&plain, middle(0.0)), vec3(0.0, 2.0, 0.0));
    near(at(&plain, middle(2.0)), vec3(0.0, 0.0, 2.0));
    near(at(&plain, vec3(1.0, 0.0, 0.0)), vec3(0.0, 0.0, 1.0));
    // A quarter turn about y moves what was at -z to -x.
    let turned = sky("<rotate y='1' angle='90'/>");
    near(at(&turned, vec3(-1.0, 0.0, 0.0)), at(&plain, vec3(0.0, 0.0, -1.0)));
    let tilted = sky("<rotate x='1' angle='90'/>");
    // Four rows blur the pole, which lies along +z now.
    assert!(at(&tilted, vec3(0.0, 0.0, 1.0)).x > 0.5 && at(&tilted, vec3(0.0, 1.0, 0.0)).x < 0.1);
    has(&messages(&tilted), "sampled again");
}

#[test]
fn cameras_have_their_field_of_view_along_any_axis() {
    let fov = |inside: &str| {
        let text = format!(
            "<shape type='cube'/><emitter type='constant'/><sensor type='perspective'>{inside}<film type='hdrfilm'>\
             <integer name='width' value='200'/><integer name='height' value='100'/></film></sensor>"
        );
        let camera = load_in(tempfile::tempdir().unwrap().path(), &text).unwrap().scene.camera;
        (camera.vertical_fov * 0.5).tan()
    };
    let axis =
        |name: &str| fov(&format!("<float name='fov' value='90'/><string name='fov_axis' value='{name}'/>"));
    let wanted = [("x", 0.5), ("y", 1.0), ("smaller", 1.0), ("larger", 0.5), ("diagonal", 1.0 / 5f32.sqrt())];
    for (name, tangent) in wanted {
        assert!((axis(name) - tangent).abs() < 1e-5, "{name}");
    }
    assert!((fov("<float name='fov' value='90'/>") - 0.5).abs() < 1e-5, "along x by default");
    assert!((fov("") - 43.266_6 / 100.0 / 5f32.sqrt()).abs() < 1e-5, "50 mm by default");
}

#[test]
fn cameras_look_along_z_with_x_to_the_left_and_have_lenses() {
    let text = "<shape type='cube'/><emitter type='constant'/><sensor type='thinlens' id='a'><float name='fov' value='45'/>\
                <float name='aperture_radius' value='0.25'/><float name='focus_distance' value='7'/><transform name='to_world'>\
                <lookat origin='1,2,9' target='1,2,0' up='0,1,0'/></transform></sensor><sensor type='orthographic'/>";
    let loaded = load_in(tempfile::tempdir().unwrap().path(), text).unwrap();
    let camera = loaded.scene.camera;
    assert_eq!(
        (camera.eye, camera.direction, camera.up),
        (vec3(1.0, 2.0, 9.0), vec3(0.0, 0.0, -1.0), vec3(0.0, 1.0, 0.0))
    );
    assert_eq!((camera.lens_radius, camera.focus_distance), (0.25, 7.0));
    has(&messages(&loaded), "cameras of the type `orthographic`");
    let odd = "<shape type='cube'/><emitter type='constant'/><sensor type='perspective'><float name='fov' value='45'/>\
               <float name='principal_point_offset_x' value='0.1'/><float name='near_clip' value='3'/><transform name='to_world'>\
               <scale x='-1'/></transform></sensor>";
    let warnings = messages(&load_in(tempfile::tempdir().unwrap().path(), odd).unwrap());
    has(&warnings, "mirrors the image");
    has(&warnings, "principal_point_offset_x");
    has(&warnings, "`near_clip` is left out");
}

#[test]
fn film_sampler_and_integrator_are_noted_as_options() {
    let text = "<integrator type='path'><integer name='maxDepth' value='65'/></integrator><shape type='cube'/><emitter type='constant'/>\
                <sensor type='perspective'><float name='fov' value='45'/><sampler type='independent'><integer name='sampleCount' value='256'/>\
                </sampler><film type='hdrfilm'><integer name='width' value='1280'/><integer name='height' value='720'/><rfilter type='tent'/></film></sensor>";
    let loaded = load_in(tempfile::tempdir().unwrap().path(), text).unwrap();
    let note = loaded.warnings[0].message.as_str();
    assert!(note.contains("`--size 1280x720 --spp 256 --bounces 64`") && note.contains("`tent`"), "{note}");
}

#[test]
fn what_is_left_out_is_named_with_its_line() {
    let loaded = scene(
        "<shape type='cube'/>\n<emitter type='sunsky'/>\n<shape type='hair'/>\n<medium type='homogeneous' id='m'/>",
    );
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    has(&warnings, "line 3: emitters of the type `sunsky`");
    has(&warnings, "line 4: shapes of the type `hair`");
    refused(
        "<shape type='cube'>\n<bsdf type='difuse'/></shape>",
        "line 3: surfaces of the type `difuse` are not known; did you mean `diffuse`?",
    );
    refused("<shape type='obj'/>", "needs `filename`");
    refused("<shape type='obj'><string name='filename' value='none.obj'/></shape>", "none.obj");
}

#[test]
fn only_files_of_the_scenes_folder_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("scene");
    std::fs::create_dir(&inner).unwrap();
    write_texture(folder.path());
    std::fs::write(folder.path().join("o.obj"), "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n").unwrap();
    std::fs::write(folder.path().join("i.xml"), "<shape type='cube'/>").unwrap();
    std::fs::write(folder.path().join("s.spd"), "400 1\n700 1\n").unwrap();
    for text in [
        "<shape type='obj'><string name='filename' value='../o.obj'/></shape>",
        "<shape type='rectangle'><bsdf type='diffuse'><texture name='reflectance' type='bitmap'><string name='filename' value='../t.png'/></texture></bsdf></shape>",
        "<include filename='../i.xml'/>",
        "<path value='..'/><include filename='i.xml'/>",
        "<shape type='cube'><bsdf type='diffuse'><spectrum name='reflectance' filename='../s.spd'/></bsdf></shape>",
        "<shape type='cube'/><emitter type='envmap'><string name='filename' value='../t.png'/></emitter>",
    ] {
        let error = load_in(&inner, &format!("{text}{CAMERA}")).unwrap_err();
        assert!(matches!(error, Error::Io { .. } | Error::Scene { .. }));
        assert!(error.to_string().contains("--allow-outside"), "{text}: {error}");
    }
}

#[test]
fn what_is_exported_loads_again() {
    let folder = tempfile::tempdir().unwrap();
    let cornell = load("cornell", &LoadOptions::default()).unwrap().scene;
    let exported = to_mitsuba(&cornell, folder.path()).unwrap();
    let back = load(exported.file.to_str().unwrap(), &LoadOptions::default()).unwrap().scene;
    assert_eq!(back.triangles.len(), cornell.triangles.len());
    near(back.camera.eye, cornell.camera.eye);
    assert!((back.camera.vertical_fov - cornell.camera.vertical_fov).abs() < 1e-5);
    near(back.bounds[1], cornell.bounds[1]);
    let emission = |scene: &SceneData| scene.materials.iter().map(|m| m.emission.x).fold(0.0, f32::max);
    assert_eq!(emission(&back), emission(&cornell));
}
