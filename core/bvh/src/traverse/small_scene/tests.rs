use crate::BruteForce;
use crate::test_cases::{bits, key, random_point, ray};
use crate::traverse::small_scene::*;
use lockstep_core::scene::{AlphaMode, Flatten, IDENTITY, Material, MeshData, Scene, SceneBuilder, Sphere};

/// Two meshes in place with `triangles` in all: random ones, flat ones, neighbours, and duplicates for ties.
fn scene(seed: u32, triangles: u32, material: Material) -> Scene {
    with_spheres(seed, triangles, 0, material)
}

/// [`scene`] with spheres in the second mesh, the last two of which are alike.
fn with_spheres(seed: u32, triangles: u32, spheres: u32, material: Material) -> Scene {
    let mut b = SceneBuilder::new("intersector");
    b.flatten = Flatten::Never;
    let material = b.material(material);
    let mut meshes = [MeshData::default(), MeshData::default()];
    for i in 0..triangles {
        let mesh = &mut meshes[(i % 2) as usize];
        let base = mesh.positions.len() as u32;
        let corners = match i % 5 {
            // The first point is that of the triangle before, or all are.
            1 | 2 if base > 2 => [base - 2, base - 1, base],
            3 if base > 2 => [base - 2, base - 3, base - 1],
            _ => [base, base + 1, base + 2],
        };
        for k in base..=corners[2].max(corners[0]) {
            let p = random_point(seed * 1_000 + i, k % 3, 3.0);
            mesh.positions.push(if i % 7 == 0 { [p.x, 1.0, p.z] } else { p.to_array() });
        }
        mesh.triangles.push(corners);
        mesh.materials.push(material);
    }
    for i in 0..spheres {
        let center = random_point(seed * 1_000 + i.min(spheres.saturating_sub(2)), 3, 3.0);
        meshes[1].spheres.push(Sphere { center, radius: 0.7, material, reserved: [0; 3] });
    }
    for mesh in meshes {
        let mesh = b.mesh(mesh);
        b.instance(mesh, IDENTITY);
    }
    b.build().unwrap()
}

fn diffuse() -> Material {
    Material::diffuse([0.5; 3])
}

/// Holds all queries of eight rays to the intersection predicate, and returns its hits.
fn check(
    intersector: &SmallSceneIntersector,
    scene: &Scene,
    rays: [&Ray; RAYS],
    scratch: &mut SmallSceneScratch,
) -> [Hit; RAYS] {
    let definition = BruteForce::new(scene);
    let closest = intersector.closest_hits(scene, rays, scratch);
    let portable = closest_plain(intersector, scene, rays, &mut scratch.0);
    let any = intersector.any_hits(scene, rays, scratch);
    assert_eq!(any, any_plain(intersector, scene, rays, &mut scratch.0));
    let expected = rays.map(|ray| definition.closest_hit(ray, key(0)));
    for lane in 0..RAYS {
        assert_eq!(bits(&closest[lane]), bits(&expected[lane]), "{:?}", rays[lane]);
        assert_eq!(bits(&portable[lane]), bits(&expected[lane]), "{:?}, portably", rays[lane]);
        assert_eq!(any >> lane & 1 != 0, expected[lane].is_some(), "{:?}", rays[lane]);
    }
    expected
}

#[test]
fn eight_rays_hit_as_the_intersection_predicate_says() {
    let (mut found, mut round, mut close) = (0, 0, 0);
    for seed in 0..12 {
        let scene = with_spheres(seed, 3 + 3 * seed % 25, seed % 5, diffuse());
        let intersector = SmallSceneIntersector::of(&scene).unwrap();
        let mut scratch = SmallSceneScratch::default();
        for first in (0..4_000).step_by(RAYS) {
            // Rays of all kinds together, then some of which none is at an edge.
            let number = |lane: u32| if first % 3 == 0 { first + lane } else { 6 * (first + lane) };
            let eight: [Ray; RAYS] = std::array::from_fn(|lane| ray(&scene, number(lane as u32)));
            let hits = check(&intersector, &scene, eight.each_ref(), &mut scratch);
            found += hits.iter().filter(|hit| hit.is_some()).count();
            let on_sphere = |hit: &&Hit| hit.is_some() && hit.primitive & SPHERE_BIT != 0;
            round += hits.iter().filter(on_sphere).count();
            // Up to just where they hit, just before, and from there on.
            let mut ends = eight;
            for (lane, (end, hit)) in
                ends.iter_mut().zip(hits).enumerate().filter(|(_, (_, hit))| hit.is_some())
            {
                match lane % 3 {
                    0 => end.t_max = hit.t,
                    1 => end.t_max = hit.t.next_down().max(0.0),
                    _ => end.t_min = hit.t,
                }
            }
            check(&intersector, &scene, ends.each_ref(), &mut scratch);
            intersector.shear::<PortableF32x8>(eight.each_ref(), &mut scratch.0);
            close += u32::from(intersector.edge_functions::<PortableF32x8>(&mut scratch.0) != 0);
        }
    }
    assert!(found > 5_000, "only {found} rays hit anything");
    assert!(round > 1_000, "only {round} rays hit a sphere");
    assert!((500..4_000).contains(&close), "{close} packets of 6,000 were left to the predicate");
}

#[test]
fn above_the_limits_and_for_other_primitives_the_bvh_is_used() {
    assert!(SmallSceneIntersector::of(&scene(1, 20, diffuse())).is_some());
    assert!(SmallSceneIntersector::of(&scene(1, 100, diffuse())).is_none(), "more triangles");
    let most = SPHERES as u32;
    assert!(SmallSceneIntersector::of(&with_spheres(1, 20, most, diffuse())).is_some());
    assert!(SmallSceneIntersector::of(&with_spheres(1, 20, most + 1, diffuse())).is_none(), "more spheres");
    let mut turned = SceneData::clone(&with_spheres(1, 20, 1, diffuse()));
    turned.instances.swap(0, 1);
    assert!(SmallSceneIntersector::of(&turned).is_none(), "triangles behind a sphere");
    let partial = Material { alpha: 0.5, alpha_mode: AlphaMode::Blend as u32, ..diffuse() };
    assert!(SmallSceneIntersector::of(&scene(1, 20, partial)).is_none(), "partial opacity");
    let mut narrow = SceneData::clone(&scene(1, 20, diffuse()));
    narrow.triangles[0].vertices[1] = narrow.triangles[0].vertices[0];
    assert!(SmallSceneIntersector::of(&narrow).is_none(), "two corners");
}
