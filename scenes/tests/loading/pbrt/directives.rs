//! Transforms, blocks, files and cameras.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// The first vertex of a triangle under these transforms, in pbrt's world.
fn moved(transforms: &str) -> [f32; 3] {
    let scene = world(&format!("{transforms}\n{TRIANGLE}")).scene;
    let [x, y, z] = scene.positions[scene.triangles[0].vertices[0] as usize];
    // The scene's x is pbrt's, mirrored.
    [0.0 - x, y, z]
}

#[test]
fn transforms_apply_from_the_last_to_the_first() {
    assert_eq!(moved("Translate 1 2 3"), [1.0, 2.0, 3.0]);
    assert_eq!(moved("Scale 2 2 2 Translate 1 2 3"), [2.0, 4.0, 6.0]);
    assert_eq!(moved("Translate 1 2 3 Scale 2 2 2"), [1.0, 2.0, 3.0]);
    assert_eq!(moved("Rotate 90 0 0 1 Translate 1 0 0"), [0.0, 1.0, 0.0]);
    let columns = "[1 0 0 0  0 1 0 0  0 0 1 0  7 8 9 1]";
    assert_eq!(moved(&format!("Scale 2 2 2 ConcatTransform {columns}")), [14.0, 16.0, 18.0]);
    assert_eq!(moved(&format!("Scale 2 2 2 Transform {columns}")), [7.0, 8.0, 9.0]);
    assert_eq!(moved("Translate 1 2 3 Identity"), [0.0; 3]);
    assert_eq!(moved("CoordinateSystem \"here\" Translate 1 2 3 CoordSysTransform \"here\""), [0.0; 3]);
    assert_eq!(moved("CoordSysTransform \"camera\""), [0.0, 0.0, -5.0]);
    assert_eq!(moved("Translate 1 0 0 CoordSysTransform \"world\""), [0.0; 3]);
    // The map from the world to the eye's space, here applied to a shape.
    assert_eq!(moved("LookAt 0 0 -5  0 0 0  0 1 0"), [0.0, 0.0, 5.0]);
}

#[test]
fn blocks_give_back_what_they_changed() {
    assert_eq!(moved("AttributeBegin Translate 1 2 3 AttributeEnd"), [0.0; 3]);
    assert_eq!(moved("Translate 1 0 0 TransformBegin Translate 1 2 3 TransformEnd"), [1.0, 0.0, 0.0]);
    let light = "AreaLightSource \"diffuse\" \"rgb L\" [1 1 1]";
    let lit = |text: &str| world(text).scene.lights.iter().filter(|l| l.triangle != u32::MAX).count();
    assert_eq!(lit(&format!("{light} {TRIANGLE}")), 1);
    assert_eq!(lit(&format!("AttributeBegin {light} AttributeEnd {TRIANGLE}")), 0);
    let named = "MakeNamedMaterial \"a\" \"string type\" \"matte\" \"rgb Kd\" [.1 .2 .3] NamedMaterial \"a\"";
    near(material(&format!("AttributeBegin {named} AttributeEnd")).0.base_color, [0.5; 3], 0.0);
    near(material(named).0.base_color, [0.1, 0.2, 0.3], 0.0);
}

#[test]
fn attributes_are_defaults_of_what_follows() {
    let text = "Attribute \"material\" \"rgb reflectance\" [.1 .2 .3]\nMaterial \"diffuse\"";
    near(material(text).0.base_color, [0.1, 0.2, 0.3], 0.0);
    let own = format!("{text} \"rgb reflectance\" [.4 .4 .4]");
    near(material(&own).0.base_color, [0.4; 3], 0.0);
    let block =
        "AttributeBegin Attribute \"material\" \"rgb reflectance\" [1 1 1] AttributeEnd Material \"diffuse\"";
    near(material(block).0.base_color, [0.5; 3], 0.0);
}

#[test]
fn motion_is_that_of_the_start() {
    let text = "ActiveTransform EndTime Translate 9 9 9 ActiveTransform All";
    assert_eq!(moved(text), [0.0; 3]);
    assert_eq!(moved("ActiveTransform StartTime Translate 1 2 3 ActiveTransform All"), [1.0, 2.0, 3.0]);
    assert!(warns(&world(&format!("{text} {TRIANGLE}")), "line 4: motion is not rendered"));
}

#[test]
fn files_are_included_and_imports_keep_their_state() {
    let part = format!("Translate 1 2 3\n{TRIANGLE}").into_bytes();
    let of = |directive: &str, name: &str, bytes: Vec<u8>| {
        let loaded = world_with(&format!("{directive} \"{name}\"\n{TRIANGLE}"), &[(name, bytes)]);
        let scene = loaded.scene;
        assert_eq!(scene.triangles.len(), 2);
        [0, 1].map(|i| scene.positions[scene.triangles[i].vertices[0] as usize][1])
    };
    assert_eq!(of("Include", "geometry/part.pbrt", part.clone()), [2.0, 2.0]);
    assert_eq!(of("Import", "part.pbrt", part.clone()), [2.0, 0.0]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&part).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(of("Include", "part.pbrt.gz", packed.clone()), [2.0, 2.0]);
    let loaded = load_with("box.pbrt.gz", &packed, &[]).unwrap();
    assert_eq!((loaded.scene.name.as_str(), loaded.scene.triangles.len()), ("box", 1));
}

#[test]
fn files_that_include_themselves_or_lie_outside_are_refused() {
    assert!(refused("Include \"t.pbrt\"").contains("includes itself"));
    let others = [("a.pbrt", b"\nInclude \"b.pbrt\"".to_vec()), ("b.pbrt", b"Include \"a.pbrt\"".to_vec())];
    let error = load_with("t.pbrt", b"Include \"a.pbrt\"", &others).unwrap_err().to_string();
    assert!(error.contains("b.pbrt line 1: the file `a.pbrt` includes itself"), "{error}");
    // Twice two files of each level: 2^40 files in all.
    let twice = |i: usize| format!("Include \"{0}.pbrt\" Include \"{0}.pbrt\"", i + 1).into_bytes();
    let names: Vec<String> = (0..41).map(|i| format!("{i}.pbrt")).collect();
    let files: Vec<(&str, Vec<u8>)> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), if i < 40 { twice(i) } else { Vec::new() }))
        .collect();
    let error = load_with("t.pbrt", b"Include \"0.pbrt\"", &files).unwrap_err().to_string();
    assert!(error.contains("files are included"), "{error}");
    for text in [
        "Include \"../x.pbrt\"",
        "Include \"/etc/passwd\"",
        "Shape \"plymesh\" \"string filename\" \"/etc/passwd\"",
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.pbrt"), "").unwrap();
        std::fs::create_dir(folder.path().join("scene")).unwrap();
        let path = folder.path().join("scene/t.pbrt");
        std::fs::write(&path, text).unwrap();
        let error = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("--allow-outside"), "{error}");
    }
}

#[test]
fn errors_name_their_line() {
    for (text, words) in [
        ("\n\nNonsense", "line 3: there is no directive `Nonsense`"),
        ("\n\"text\"", "line 2: a directive is expected"),
        ("Translate 1 2", "line 1: 3 numbers"),
        ("Translate 1 2 x", "`x` is not a finite number"),
        ("Translate 1 2 1e400", "not a finite number"),
        ("Rotate 1 0 0 0", "axis of a rotation"),
        ("LookAt 0 0 0 0 0 0 0 1 0", "the eye must not be"),
        ("Shape \"sphere", "no closing quote"),
        ("Shape \"sphere\" \"float radius\" [1", "a value is expected"),
        ("Shape \"sphere\" \"float radius\" [1 \"a\"]", "several types are mixed"),
        ("Shape \"sphere\" \"real radius\" [1]", "`real radius` is not a known type"),
        ("Shape \"sphere\" \"float radius\" [\"a\"]", "not of the parameter's type"),
        ("Shape \"sphere\" \"float radius\" [0]", "`radius` must be positive"),
        ("AttributeEnd", "no block of this kind"),
        ("AttributeBegin ObjectEnd", "no block of this kind"),
        ("TransformEnd", "no `TransformBegin`"),
        ("ObjectInstance \"a\"", "there is no object `a`"),
        ("ObjectBegin \"a\" ObjectBegin \"b\"", "objects are not nested"),
        ("NamedMaterial \"a\" Shape \"sphere\"", "there is no material `a`"),
        ("Material \"velvet\" Shape \"sphere\"", "there is no material `velvet`"),
        ("Material \"matte\" \"texture Kd\" \"a\" Shape \"sphere\"", "there is no texture `a`"),
        (
            "Texture \"a\" \"spectrum\" \"lace\" Material \"matte\" \"texture Kd\" \"a\"",
            "there is no texture `lace`",
        ),
        ("LightSource \"laser\"", "there is no light `laser`"),
        ("CoordSysTransform \"a\"", "there is no coordinate system `a`"),
        ("Scale 1 0 1 Shape \"sphere\"", "the transform cannot be undone"),
        ("Shape \"plymesh\"", "needs a `string filename`"),
        ("Include \"none.pbrt\"", "line 1: the file is not included"),
    ] {
        let error = refused(text);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn what_is_left_out_has_a_warning_with_its_line() {
    for (text, words) in [
        ("Shape \"nurbs\"", "line 4: the shape `nurbs` is not known"),
        ("Shape \"sphere\" \"float size\" 3", "the parameter `size` of the shape `sphere` is not used"),
        (
            "Material \"matte\" \"float gloss\" 3 Shape \"sphere\"",
            "line 4: the parameter `gloss` of the material `matte`",
        ),
        ("MakeNamedMedium \"fog\" \"string type\" \"homogeneous\"", "media are not rendered"),
        ("ColorSpace \"rec2020\"", "colours of the space `rec2020`"),
        ("AttributeBegin Shape \"sphere\"", "not closed"),
        ("Integrator \"path\" \"integer maxdepth\" 17", "--bounces 17"),
    ] {
        assert!(warns(&world(text), words), "{:?}", world(text).warnings);
    }
}

#[test]
fn x_is_to_the_right_and_mirrored_cameras_see_it_to_the_left() {
    let of = |prefix: &str| {
        let text = format!(
            "{prefix} LookAt 0 0 -5  0 0 0  0 1 0 Camera \"perspective\" WorldBegin Translate 1 2 0 {TRIANGLE}"
        );
        let loaded = load_with("t.pbrt", text.as_bytes(), &[]).unwrap();
        let vertex = loaded.scene.positions[loaded.scene.triangles[0].vertices[0] as usize];
        seen(&loaded, vertex.into())
    };
    assert_eq!(of(""), [0.2, 0.4]);
    assert_eq!(of("Scale -1 1 1"), [-0.2, 0.4]);
    assert_eq!(of("Scale 1 -1 1"), [0.2, -0.4]);
}

/// The tangent of half the vertical angle of view.
fn half_height(camera: &str) -> f32 {
    let loaded = load_with("t.pbrt", format!("{camera} WorldBegin {TRIANGLE}").as_bytes(), &[]).unwrap();
    (0.5 * loaded.scene.camera.vertical_fov).tan()
}

#[test]
fn the_angle_of_view_spans_the_shorter_side() {
    let film =
        |x: u32, y: u32| format!("Film \"image\" \"integer xresolution\" {x} \"integer yresolution\" {y}");
    let near = |a: f32, b: f32| assert!((a / b - 1.0).abs() < 1e-6, "{a} is not {b}");
    let camera = "Camera \"perspective\" \"float fov\" 60";
    let tangent = 30f32.to_radians().tan();
    near(half_height(&format!("{} {camera}", film(200, 100))), tangent);
    near(half_height(&format!("{} {camera}", film(100, 200))), 2.0 * tangent);
    near(half_height(camera), tangent);
    near(half_height(&format!("{} {camera} \"float frameaspectratio\" 0.25", film(200, 100))), 4.0 * tangent);
    near(
        half_height(&format!("{} {camera} \"float screenwindow\" [-1 1 -.5 .5]", film(200, 100))),
        0.5 * tangent,
    );
    near(half_height("Camera \"perspective\" \"float halffov\" 30"), tangent);
    near(half_height("Camera \"perspective\""), 1.0);
    for (camera, words) in [
        ("Camera \"orthographic\"", "line 1: the camera `orthographic` is not rendered"),
        ("Camera \"perspective\" \"float fov\" 180", "`fov` must lie"),
        ("Camera \"perspective\" \"float screenwindow\" [-1 2 -1 1]", "not about the middle"),
        ("Camera \"perspective\" \"float screenwindow\" [-1 1 -1 1]", "stretches the image"),
        ("Scale 1 2 1 Camera \"perspective\"", "stretches its image"),
        ("Transform [1 0 0 0  1 1 0 0  0 0 1 0  0 0 0 1] Camera \"perspective\"", "shears its image"),
    ] {
        let error = refused(camera);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_lens_is_measured_in_the_worlds_units() {
    let text = "Scale 0.5 0.5 0.5 Camera \"perspective\" \"float lensradius\" 0.1 \"float focaldistance\" 3 WorldBegin";
    let loaded = load_with("t.pbrt", format!("{text} {TRIANGLE}").as_bytes(), &[]).unwrap();
    let camera = loaded.scene.camera;
    assert!((camera.lens_radius - 0.2).abs() < 1e-6 && (camera.focus_distance - 6.0).abs() < 1e-5);
}
