//! Small OBJ files.

use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{AlphaMode, MaterialKind};
use lockstep_scenes::{LoadOptions, LoadedScene, load};

fn loaded(obj: &str, mtl: Option<&str>) -> Result<LoadedScene, String> {
    let folder = tempfile::tempdir().unwrap();
    if let Some(mtl) = mtl {
        std::fs::write(folder.path().join("m.mtl"), mtl).unwrap();
    }
    let path = folder.path().join("t.obj");
    std::fs::write(&path, obj).unwrap();
    load(path.to_str().unwrap(), &LoadOptions::default()).map_err(|e| e.to_string())
}

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0.25\nvn 0 0 2\n";

#[test]
fn polygons_become_fans_and_corners_are_shared() {
    let scene = loaded(&format!("{CORNERS}f 1/1/1 2/1/1 3/1/1 4/1/1\n"), None).unwrap().scene;
    assert_eq!((scene.triangles.len(), scene.positions.len()), (2, 4));
    assert_eq!((scene.vertices[0].normal, scene.vertices[0].uv0), (vec3(0.0, 0.0, 1.0), [0.0, 0.75]));
}

#[test]
fn negative_indices_count_from_the_end() {
    let a = loaded(&format!("{CORNERS}f 1//1 2//1 3//1\n"), None).unwrap().scene;
    let b = loaded(&format!("{CORNERS}f -4//-1 -3//-1 -2//-1\n"), None).unwrap().scene;
    assert_eq!(a.hash, b.hash);
}

#[test]
fn mistakes_name_their_line() {
    for (face, words) in [
        ("f 1 2 5", "line 7: index 5 is out of range; 4 elements are known here"),
        ("f 0 1 2", "line 7: index 0 is out of range"),
        ("f -5 1 2", "line 7: index -5 is out of range"),
        ("f a b c", "line 7: `a` is not an index"),
        ("v 1 2", "line 7: 3 numbers are expected here, not 2"),
        ("v 1 2 nan", "line 7: `nan` is not a finite number"),
    ] {
        let message = loaded(&format!("{CORNERS}{face}\n"), None).unwrap_err();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn absent_normals_and_coordinates_warn_and_the_face_is_rendered() {
    let loaded = loaded(&format!("{CORNERS}f 1/9/1 2/1/7 3/1/1\n"), None).unwrap();
    assert_eq!(loaded.scene.triangles.len(), 1);
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    for index in ["index 9", "index 7"] {
        assert!(warnings.iter().any(|w| w.contains("line 7") && w.contains(index)), "{warnings:?}");
    }
}

#[test]
fn a_file_without_a_face_is_refused() {
    for text in ["", "# nothing\n", CORNERS] {
        assert!(loaded(text, None).unwrap_err().contains("it has no face"));
    }
}

#[test]
fn continued_lines_and_comments_are_understood() {
    let scene = loaded(&format!("{CORNERS}f 1 2 \\\n 3 # a triangle\n"), None).unwrap().scene;
    assert_eq!(scene.triangles.len(), 1);
}

#[test]
fn materials_become_glass_metal_plastic_and_light() {
    let mtl = "newmtl glass\nillum 7\nNi 1.4\nnewmtl chrome\nillum 3\nKd 0 0 0\nKs 0.9 0.9 0.9\nnewmtl plastic\nKd 1 0 0\n\
               Ks 0.5 0.5 0.5\nNs 198\nd 0.5\nnewmtl lamp\nKe 5 5 5\n";
    let faces: String = ["glass", "chrome", "plastic", "lamp", "gone"]
        .iter()
        .map(|m| format!("usemtl {m}\nf 1 2 3\n"))
        .collect();
    let loaded = loaded(&format!("mtllib m.mtl\n{CORNERS}{faces}"), Some(mtl)).unwrap();
    let m = &loaded.scene.materials;
    let kinds: Vec<u32> = m.iter().map(|m| m.kind).collect();
    let expected =
        [MaterialKind::Dielectric, MaterialKind::Conductor, MaterialKind::Principled, MaterialKind::Diffuse];
    assert_eq!(kinds[..4], expected.map(|k| k as u32));
    assert_eq!((m[0].ior, m[1].roughness), (1.4, 0.0));
    assert_eq!((m[2].alpha, m[2].alpha_mode), (0.5, AlphaMode::Blend as u32));
    assert!((m[2].roughness - 0.1f32.sqrt()).abs() < 1e-3);
    assert_eq!(loaded.scene.lights.len(), 1);
    assert!(loaded.warnings.iter().any(|w| w.to_string().contains("the material `gone` is not defined")));
}

#[test]
fn missing_libraries_and_textures_are_warnings() {
    let text = format!("mtllib m.mtl\n{CORNERS}usemtl a\nf 1 2 3\n");
    let warnings = loaded(&text, None).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.place == "line 1" && w.message.contains("library is not used")));
    let warnings = loaded(&text, Some("newmtl a\nmap_Kd gone.png\n")).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.place == "gone.png"));
}

#[test]
fn a_lamp_without_a_face_or_behind_a_black_texture_gets_a_sky() {
    let of = |name: &str, map: &str| {
        let folder = tempfile::tempdir().unwrap();
        image::RgbImage::from_pixel(2, 1, image::Rgb([0; 3])).save(folder.path().join("black.png")).unwrap();
        std::fs::write(folder.path().join("m.mtl"), format!("newmtl a\nnewmtl lamp\nKe 5 5 5\n{map}"))
            .unwrap();
        let path = folder.path().join("t.obj");
        let faces = format!("usemtl a\nf 1 2 3\nusemtl {name}\nf 1 3 4\nusemtl lamp\n");
        std::fs::write(&path, format!("mtllib m.mtl\n{CORNERS}{faces}")).unwrap();
        let loaded = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        let says = |words: &str| loaded.warnings.iter().any(|w| w.to_string().contains(words));
        (says("a bright sky was added"), says("a radiance of 5 is taken for the light of the scene"))
    };
    assert_eq!(of("lamp", ""), (false, true));
    assert_eq!(of("a", ""), (true, false));
    assert_eq!(of("lamp", "map_Ke black.png\n"), (true, false));
}
