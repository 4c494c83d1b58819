//! Scenes written as glTF and loaded again.

use lockstep_core::Scene;
use lockstep_core::math::transform::transform_point;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{IDENTITY, Material, MeshData, SceneBuilder};
use lockstep_scenes::export::{Exported, to_gltf};
use lockstep_scenes::{LoadOptions, load};

/// A scene, what is named as different, and the scene as it is loaded again.
fn again(spec: &str) -> (Scene, Exported, Scene) {
    let dir = tempfile::tempdir().unwrap();
    let scene = load(spec, &LoadOptions::default()).unwrap().scene;
    let exported = to_gltf(&scene, dir.path()).unwrap();
    let loaded = load(&exported.file.to_string_lossy(), &LoadOptions::default()).unwrap();
    assert!(loaded.warnings.is_empty(), "{spec}: {:?}", loaded.warnings);
    (scene, exported, loaded.scene)
}

#[test]
fn a_scene_is_loaded_again_with_the_same_camera_geometry_materials_and_lights() {
    for spec in ["cornell", "atrium:10k"] {
        let (scene, exported, loaded) = again(spec);
        assert_eq!(exported.differences, [], "{spec}");
        assert_eq!(loaded.name, scene.name);
        assert_eq!(loaded.camera, scene.camera, "{spec}");
        assert_eq!(loaded.instanced_triangles(), scene.instanced_triangles(), "{spec}");
        let places = |s: &Scene| s.instances.iter().map(|i| i.object_to_world).collect::<Vec<_>>();
        assert_eq!(places(&loaded), places(&scene), "{spec}");
        let corners = |s: &Scene| {
            s.triangles.iter().flat_map(|t| t.vertices.map(|v| s.positions[v as usize])).collect::<Vec<_>>()
        };
        assert_eq!(corners(&loaded), corners(&scene), "{spec}");
        let lights = |s: &Scene| s.lights.iter().map(|l| (l.kind, l.position, l.pmf)).collect::<Vec<_>>();
        assert_eq!(lights(&loaded), lights(&scene), "{spec}");
        assert_eq!(loaded.environment, scene.environment, "{spec}");
        let looks = |s: &Scene| {
            let look =
                |m: &Material| (m.kind, m.base_color, m.roughness, m.emission, m.alpha_mode, m.alpha_cutoff);
            s.triangles.iter().map(|t| look(&s.materials[t.material as usize])).collect::<Vec<_>>()
        };
        assert_eq!(looks(&loaded), looks(&scene), "{spec}");
    }
}

#[test]
fn instances_are_loaded_again() {
    let (scene, exported, loaded) = again("instances");
    assert_eq!(exported.differences, []);
    // More of them are baked into the world than before, so only what is seen is the same.
    assert_eq!(loaded.instanced_triangles(), scene.instanced_triangles());
    assert!(loaded.instances.len() > 1000);
    for (a, b) in loaded.bounds.iter().zip(scene.bounds) {
        assert!((*a - b).to_array().into_iter().all(|d| d.abs() < 1e-4), "{a:?} {b:?}");
    }
}

#[test]
fn spheres_and_their_materials_stand_in_the_document_beside() {
    let (scene, exported, loaded) = again("weekend");
    assert_eq!(exported.differences, []);
    assert_eq!(loaded.spheres.len(), scene.spheres.len());
    let all = |s: &Scene| {
        let mut all = Vec::new();
        for instance in s.instances.iter() {
            let mesh = s.meshes[instance.mesh as usize];
            let (first, count) = (mesh.first_sphere as usize, mesh.sphere_count as usize);
            all.extend(s.spheres[first..first + count].iter().map(|sphere| {
                let center = transform_point(&instance.object_to_world, sphere.center);
                let color = s.materials[sphere.material as usize].base_color;
                format!("{center:?} {} {color:?}", sphere.radius * instance.scale)
            }));
        }
        all.sort();
        all
    };
    assert_eq!(all(&loaded), all(&scene));
}

#[test]
fn punctual_lights_are_loaded_again_up_to_the_rounding_of_angles() {
    use lockstep_core::scene::PunctualLight;
    let mut builder = SceneBuilder::new("lights");
    let intensity = vec3(30.0, 20.0, 10.0);
    builder.light(PunctualLight::Point { position: vec3(1.0, 2.0, 3.0), intensity });
    builder.light(PunctualLight::Directional { direction: vec3(0.0, -1.0, 0.0), irradiance: intensity });
    let spot = (vec3(0.0, 5.0, 0.0), vec3(0.6, -0.8, 0.0));
    builder.light(PunctualLight::Spot {
        position: spot.0,
        direction: spot.1,
        intensity,
        inner_cos: 0.9,
        outer_cos: 0.7,
    });
    let material = builder.material(Material::diffuse([0.5; 3]));
    let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let own =
        MeshData { positions, triangles: vec![[0, 1, 2]], materials: vec![material], ..MeshData::default() };
    let mesh = builder.mesh(own);
    builder.instance(mesh, IDENTITY);
    let scene = builder.build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let exported = to_gltf(&scene, dir.path()).unwrap();
    let loaded = load(&exported.file.to_string_lossy(), &LoadOptions::default()).unwrap().scene;
    assert_eq!(loaded.lights.len(), 3);
    for (a, b) in loaded.lights.iter().zip(scene.lights.iter()) {
        let near = |a: Vec3, b: Vec3| (a - b).to_array().into_iter().all(|d| d.abs() < 1e-4);
        assert!(a.kind == b.kind && a.intensity == b.intensity, "{a:?} {b:?}");
        assert!(
            near(a.position, b.position) && near(a.edge1, b.edge1) && near(a.edge2, b.edge2),
            "{a:?} {b:?}"
        );
    }
}
