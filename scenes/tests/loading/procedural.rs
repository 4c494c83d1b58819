//! Claims about the procedural scenes.

use crate::coincidence;
use lockstep_core::Scene;
use lockstep_core::math::vec3::{Vec3, cross, dot, length};
use lockstep_core::scene::Instance;
use lockstep_scenes::{LoadOptions, load};

fn scene(spec: &str) -> Scene {
    load(spec, &LoadOptions::default()).unwrap().scene
}

#[test]
fn every_scene_is_the_same_each_time_and_unlike_the_others() {
    let specs = [
        "cornell",
        "weekend",
        "atrium:20k",
        "furnace",
        "furnace:glass",
        "instances",
        "lantern",
        "caustic",
        "looking-glass",
        "glass-lamp",
    ];
    let hashes = specs.map(|spec| {
        let first = scene(spec).hash.clone();
        assert_eq!(first, scene(spec).hash, "{spec}");
        first
    });
    for (i, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..i].contains(hash), "{}", specs[i]);
    }
}

#[test]
fn cornell_has_the_published_surfaces() {
    let cornell = scene("cornell");
    // Five walls and the lamp, the ceiling as a frame of four, two blocks of five.
    assert_eq!((cornell.triangles.len(), cornell.lights.len()), (2 * (5 + 4 + 10), 2));
    assert_eq!(cornell.bounds, [Vec3::ZERO, Vec3 { x: 556.0, y: 548.8, z: 559.2 }]);
    for light in &cornell.lights {
        assert!(cross(light.edge1, light.edge2).y < 0.0, "the lamp shines down");
    }
}

#[test]
fn cornell_walls_face_inwards() {
    let cornell = scene("cornell");
    let middle = Vec3 { x: 278.0, y: 274.0, z: 279.6 };
    for triangle in &cornell.triangles[..18] {
        let [a, b, c] = triangle.vertices.map(|v| Vec3::from(cornell.positions[v as usize]));
        assert!(dot(cross(b - a, c - a), middle - a) > 0.0);
    }
}

#[test]
fn weekend_has_its_spheres() {
    let weekend = scene("weekend");
    assert!((470..=488).contains(&weekend.spheres.len()), "{}", weekend.spheres.len());
    assert_eq!(weekend.materials.len(), weekend.spheres.len());
}

#[test]
fn atriums_have_the_triangles_asked_for() {
    for (spec, wanted) in [("atrium:10k", 1e4), ("atrium", 1e5), ("atrium:250k", 2.5e5), ("atrium:1M", 1e6)] {
        let count = scene(spec).instanced_triangles() as f64;
        assert!((count / wanted - 1.0).abs() < 0.1, "{spec}: {count}");
    }
}

#[test]
fn atrium_surfaces_have_sound_normals() {
    let atrium = scene("atrium:50k");
    let (mut against, mut flat) = (0, 0);
    for triangle in &atrium.triangles {
        let [a, b, c] = triangle.vertices.map(|v| Vec3::from(atrium.positions[v as usize]));
        let face = cross(b - a, c - a);
        for v in triangle.vertices {
            let normal = atrium.vertices[v as usize].normal;
            flat += usize::from(normal == Vec3::ZERO);
            against += usize::from(dot(normal, face) < -0.3 * length(face));
        }
    }
    let corners = 3 * atrium.triangles.len();
    assert!(flat * 1000 < corners, "{flat} of {corners} corners without a normal");
    assert!(against * 200 < corners, "{against} of {corners} normals point to the back");
}

#[test]
fn no_two_surfaces_lie_on_one_another() {
    for spec in ["cornell", "atrium:10k", "atrium", "atrium:250k"] {
        let scene = scene(spec);
        let found = coincidence::overlapping(&scene);
        let place = |t: usize| scene.triangles[t].vertices.map(|v| scene.positions[v as usize]);
        let first: Vec<_> = found.iter().take(4).map(|pair| pair.map(place)).collect();
        assert!(found.is_empty(), "{spec}: {} pairs, as {first:?}", found.len());
    }
}

#[test]
fn instances_are_turned_stretched_and_mirrored() {
    let instances = scene("instances");
    assert_eq!(instances.instances.len(), 1 + 4096 + 512);
    let mirrored = instances.instances.iter().filter(|i| i.flags & Instance::MIRRORED != 0).count();
    assert!((900..1400).contains(&mirrored), "{mirrored}");
    assert!(instances.instanced_triangles() > 4_000_000);
}

#[test]
fn names_and_parameters_are_checked() {
    let refused = |spec: &str, words: &str| {
        let message = load(spec, &LoadOptions::default()).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    refused("cornel", "did you mean `cornell`?");
    refused("cornell:2", "takes no parameter");
    refused("furnace:glas", "did you mean `furnace:glass`?");
    for spec in ["atrium:9999", "atrium:11m", "atrium:", "atrium:1e5", "atrium:-5k"] {
        refused(spec, "from 10k to 10m");
    }
    refused("nothing.xyz", "neither a built-in scene");
}

#[test]
fn furnaces_come_in_every_material() {
    for material in ["diffuse", "mirror", "rough-metal", "glass", "rough-glass", "plastic", "metal"] {
        assert_eq!(scene(&format!("furnace:{material}")).spheres.len(), 1);
        assert_eq!(scene(&format!("furnace:{material}-mesh")).triangles.len(), 5120);
    }
}
