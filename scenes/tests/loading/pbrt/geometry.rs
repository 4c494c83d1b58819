//! Shapes and instances.

use super::*;
use lockstep_core::math::transform::transform_point;
use lockstep_core::math::vec3::{cross, normalize};
use lockstep_core::scene::Instance;
use std::f64::consts::PI;

/// The area of all triangles of a scene, and whether each front is where its normals point.
fn area_and_fronts(loaded: &LoadedScene) -> (f64, bool) {
    let scene = &loaded.scene;
    let (mut area, mut agree) = (0.0, true);
    for triangle in &scene.triangles {
        let [a, b, c] = triangle.vertices.map(|v| Vec3::from(scene.positions[v as usize]));
        let front = cross(b - a, c - a);
        area += 0.5 * f64::from(length(front));
        let sum = triangle.vertices.iter().fold(Vec3::ZERO, |s, &v| s + scene.vertices[v as usize].normal);
        agree &= dot(front, sum) >= -1e-6;
    }
    (area, agree)
}

#[test]
fn surfaces_of_rotation_have_their_areas_and_face_their_normals() {
    // Each is within the error of 128 sides around.
    for (shape, area) in [
        ("\"sphere\" \"float radius\" 2 \"float zmin\" 0", 8.0 * PI),
        ("\"sphere\" \"float radius\" 2 \"float phimax\" 90", 4.0 * PI),
        ("\"cylinder\" \"float radius\" 2 \"float zmin\" -1 \"float zmax\" 2", 12.0 * PI),
        ("\"disk\" \"float radius\" 2 \"float innerradius\" 1", 3.0 * PI),
        ("\"cone\" \"float radius\" 3 \"float height\" 4", 15.0 * PI),
        (
            "\"paraboloid\" \"float radius\" 1 \"float zmin\" 0 \"float zmax\" 1",
            PI / 6.0 * (5f64.powf(1.5) - 1.0),
        ),
        ("\"hyperboloid\" \"point p1\" [1 0 0] \"point p2\" [1 0 3]", 6.0 * PI),
        ("\"heightfield\" \"integer nu\" 2 \"integer nv\" 2 \"float Pz\" [0 1 0 1]", 2f64.sqrt()),
    ] {
        for prefix in ["", "ReverseOrientation", "Scale 1 1 -1", "Rotate 30 1 2 3"] {
            let loaded = world(&format!("{prefix} Shape {shape}"));
            let (found, agree) = area_and_fronts(&loaded);
            assert!((found / area - 1.0).abs() < 2e-3, "{shape}: {found} is not {area}");
            assert!(agree, "{prefix} {shape}");
        }
    }
}

#[test]
fn the_front_of_a_surface_of_rotation_is_outside_unless_reversed() {
    for reverse in [false, true] {
        let prefix = if reverse { "ReverseOrientation" } else { "" };
        let scene = world(&format!("{prefix} Shape \"cylinder\"")).scene;
        let vertex = scene.triangles[0].vertices[0] as usize;
        let [x, y, _] = scene.positions[vertex];
        let outwards = dot(scene.vertices[vertex].normal, normalize(Vec3::from([x, y, 0.0])));
        assert!((outwards - if reverse { -1.0 } else { 1.0 }).abs() < 1e-5);
    }
}

#[test]
fn whole_spheres_stay_spheres_where_they_can() {
    let counts = |text: &str| {
        let scene = world(text).scene;
        (scene.spheres.len(), scene.triangles.len() > 1000)
    };
    let sphere = "Shape \"sphere\" \"float radius\" 2";
    assert_eq!(counts(sphere), (1, false));
    assert_eq!(counts(&format!("Scale -3 3 3 {sphere}")), (1, false));
    assert_eq!(counts(&format!("Scale 1 2 1 {sphere}")), (0, true));
    assert_eq!(counts(&format!("ReverseOrientation {sphere}")), (0, true));
    let texture = "Texture \"c\" \"spectrum\" \"checkerboard\" Material \"matte\" \"texture Kd\" \"c\"";
    assert_eq!(counts(&format!("{texture} {sphere}")), (0, true));
    let scene = world(&format!("Translate 1 2 3 Scale 3 3 3 {sphere}")).scene;
    assert_eq!((scene.spheres[0].center, scene.spheres[0].radius), ([-1.0, 2.0, 3.0].into(), 6.0));
}

/// The normal of the first triangle's front.
fn front(text: &str) -> Vec3 {
    let scene = world(text).scene;
    let [a, b, c] = scene.triangles[0].vertices.map(|v| Vec3::from(scene.positions[v as usize]));
    normalize(cross(b - a, c - a))
}

#[test]
fn the_front_of_a_mesh_is_where_it_turns_or_where_its_normals_point() {
    let (up, down) = ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]);
    near(front(TRIANGLE), up, 1e-6);
    near(front(&format!("ReverseOrientation {TRIANGLE}")), down, 1e-6);
    near(front(&format!("Scale -1 1 1 {TRIANGLE}")), up, 1e-6);
    near(front(&format!("Scale 1 1 -1 {TRIANGLE}")), down, 1e-6);
    let normals = format!("{TRIANGLE} \"normal N\" [0 0 -2  0 0 -1  0 0 -1]");
    near(front(&normals), down, 1e-6);
    // Version 4 turns normals with the shape, version 3 does not.
    near(front(&format!("Material \"diffuse\" ReverseOrientation {normals}")), up, 1e-6);
    near(front(&format!("Material \"matte\" ReverseOrientation {normals}")), down, 1e-6);
}

#[test]
fn meshes_with_faults_are_refused() {
    let mesh = |rest: &str| refused(&format!("Shape \"trianglemesh\" {rest}"));
    for (rest, words) in [
        ("", "needs its points `P`"),
        ("\"point P\" [0 0 0 1 1 1 2 2 2 3 3 3]", "needs `indices`"),
        ("\"point P\" [0 0 0 1 1 1 2 2 2] \"integer indices\" [0 1 3]", "index 3 is beyond the 3 points"),
        ("\"point P\" [0 0 0 1 1 1 2 2 2] \"integer indices\" [0 1]", "three for each triangle"),
        ("\"point P\" [0 0 0 1 1 1 2 2 2] \"integer indices\" [0 1 -1]", "whole numbers from zero"),
        ("\"point P\" [0 0 0 1 1 1 2 2 2] \"normal N\" [0 0 1]", "1 items of `N` do not match 3 points"),
        ("\"point P\" [0 0]", "not of the parameter's type"),
    ] {
        let error = mesh(rest);
        assert!(error.contains("line 1") && error.contains(words), "{error}");
    }
}

#[test]
fn bilinear_patches_are_two_triangles_with_the_unit_square() {
    let texture = "Texture \"c\" \"spectrum\" \"checkerboard\" Material \"matte\" \"texture Kd\" \"c\"";
    let loaded =
        world(&format!("{texture} Shape \"bilinearmesh\" \"point3 P\" [0 0 0  1 0 0  0 1 0  1 1 0]"));
    let scene = &loaded.scene;
    assert_eq!(scene.triangles.len(), 2);
    assert!((area_and_fronts(&loaded).0 - 1.0).abs() < 1e-6);
    for triangle in &scene.triangles {
        for v in triangle.vertices.map(|v| v as usize) {
            let [x, y, _] = scene.positions[v];
            assert_eq!(scene.vertices[v].uv0, [0.0 - x, 1.0 - y], "u along x, v along y");
        }
    }
    near(front("Shape \"bilinearmesh\" \"point3 P\" [0 0 0  1 0 0  0 1 0  1 1 0]"), [0.0, 0.0, 1.0], 1e-6);
    let bent = world("Shape \"bilinearmesh\" \"point3 P\" [0 0 0  1 0 0  0 1 0  1 1 1]");
    assert!(warns(&bent, "not flat"));
}

#[test]
fn subdivided_meshes_and_curves_become_triangles() {
    let cube = "\"integer indices\" [0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 2 3 7 2 7 6 1 2 6 1 6 5 0 4 7 0 7 3] \
                \"point P\" [0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1]";
    let loaded = world(&format!("Shape \"loopsubdiv\" \"integer levels\" 2 {cube}"));
    assert_eq!(loaded.scene.triangles.len(), 12 * 16);
    assert!(area_and_fronts(&loaded).1);
    let most = format!("Shape \"loopsubdiv\" \"integer levels\" 10 {cube}");
    assert!(refused(&most).contains("unfolds to more than"));
    let curve = "Shape \"curve\" \"point P\" [0 0 0  0 1 0  0 2 0  0 3 0] \"float width\" 0.1";
    let (area, agree) = area_and_fronts(&world(curve));
    // A tube of six sides: 6 times a side of the radius, 0.05, times the length, 3.
    assert!(agree && (area / (6.0 * 0.05 * 3.0) - 1.0).abs() < 1e-3, "{area}");
}

#[test]
fn meshes_of_files_are_read_and_placed() {
    let header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                  property float u\nproperty float v\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    let ply = format!("{header}0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 1 0 0 1\n4 0 1 2 3\n").into_bytes();
    let shape = "Shape \"plymesh\" \"string filename\" \"models/quad.ply\"";
    let loaded = world_with(&format!("{shape}\nTranslate 0 0 1 {shape}"), &[("models/quad.ply", ply)]);
    assert_eq!(loaded.scene.triangles.len(), 4);
    assert_eq!(loaded.scene.bounds.map(|p| p.z), [0.0, 1.0]);
    let text = format!("\n\n{shape}");
    let error = load_with("t.pbrt", text.as_bytes(), &[("models/quad.ply", b"ply\n".to_vec())]).unwrap_err();
    assert!(error.to_string().contains("line 3: `models/quad.ply`: line 2"), "{error}");
    assert!(load_with("t.pbrt", text.as_bytes(), &[]).unwrap_err().to_string().contains("line 3"));
}

#[test]
fn objects_are_placed_as_instances() {
    let sphere = "Shape \"sphere\" \"float radius\" 1";
    let object =
        format!("Translate 0 0 7 ObjectBegin \"a\" Translate 1 0 0 {SQUARE} {sphere} ObjectEnd Identity");
    let places = "Translate 0 1 0 ObjectInstance \"a\" Scale 1 1 2 ObjectInstance \"a\"";
    let loaded = world(&format!("{object} {places}"));
    // The second placement stretches, so that the sphere of both is one of triangles.
    let scene = &loaded.scene;
    assert!(scene.spheres.is_empty() && scene.triangles.len() > 4000, "{}", scene.triangles.len());
    let even =
        world(&format!("{object} Translate 0 1 0 ObjectInstance \"a\" Scale 2 2 2 ObjectInstance \"a\""))
            .scene;
    assert_eq!(even.spheres.len(), 2, "few copies are baked");
    let mut centers = [even.spheres[0], even.spheres[1]].map(|s| (s.center.to_array(), s.radius));
    centers.sort_by(|a, b| a.1.total_cmp(&b.1));
    assert_eq!(centers, [([-1.0, 1.0, 7.0], 1.0), ([-2.0, 1.0, 14.0], 2.0)]);
    assert!(world(&format!("ObjectBegin \"a\" {SQUARE} ObjectEnd")).scene.triangles.is_empty());
    let light =
        format!("ObjectBegin \"a\" AreaLightSource \"diffuse\" {SQUARE} ObjectEnd ObjectInstance \"a\"");
    assert!(warns(&world(&light), "do not emit"));
}

#[test]
fn many_placements_stay_instances_with_their_fronts() {
    let mesh = "Shape \"sphere\" \"float zmin\" -0.5";
    let places: String = (0..40)
        .map(|i| format!("AttributeBegin Translate {i} 0 0 Scale -1 1 1 ObjectInstance \"a\" AttributeEnd\n"))
        .collect();
    let loaded = world(&format!("ObjectBegin \"a\" Scale 1 1 -1 {mesh} ObjectEnd {places}"));
    let scene = &loaded.scene;
    assert_eq!((scene.instances.len(), scene.meshes.len()), (40, 1));
    assert!(area_and_fronts(&loaded).1);
    // pbrt's mirror and the file's together do not mirror.
    assert!(scene.instances.iter().all(|i| i.flags & Instance::MIRRORED == 0));
    let moved = transform_point(&scene.instances[3].object_to_world, Vec3::ZERO);
    near(moved, [-3.0, 0.0, 0.0], 1e-6);
}
