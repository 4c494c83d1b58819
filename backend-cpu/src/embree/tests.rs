//! Compares Embree's hits with those of the built-in BVH.

mod embree4_rs;
mod fixtures;

use super::intersector::{Embree, OcclusionRate};
use crate::EMBREE_TARGET;
use crate::intersector::Intersector;
use fixtures::{
    closed_mesh, closed_mesh_of, doubled, instanced_spheres, instances, placement, random, random_direction,
    random_point, static_mesh,
};
use lockstep_bvh::{BuildSettings, Bvh2, BvhCache, Scratch};
use lockstep_conformance::require;
use lockstep_core::geometry::{FAR, Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::math::vec3::{Vec3, dot, normalize};
use lockstep_core::scene::{IDENTITY, transform_point};
use lockstep_core::{Scene, SceneBuilder};

/// Largest share of rays for which Embree may find another primitive than the built-in BVH, or another
/// occlusion: rays that meet two primitives where they cross.
const TOLERATED_SHARE: f64 = 1e-5;

/// Whether Embree is installed; the test is skipped where it is not.
pub(super) fn embree_is_here() -> bool {
    require::present(EMBREE_TARGET, super::library::load()).is_some()
}

fn embree(scene: &Scene) -> Embree {
    Embree::build(scene, &BvhCache::default()).unwrap().intersector
}

fn ray(i: u32) -> Ray {
    let origin = random_point(i, 21, 8.0);
    let target = random_point(i, 22, 4.0);
    Ray { origin, t_min: 0.0, direction: target - origin, t_max: if i.is_multiple_of(5) { 0.9 } else { FAR } }
}

fn key(i: u32) -> RayKey {
    RayKey::extension(SampleKey { pixel: i, sample: 0, seed: 1, ..SampleKey::default() }, 0)
}

fn bits(hit: &Hit) -> [u32; 5] {
    [hit.t.to_bits(), hit.u.to_bits(), hit.v.to_bits(), hit.instance, hit.primitive]
}

/// How many rays a call traces.
#[derive(Clone, Copy, Debug)]
enum Rays {
    Single,
    Packets,
    All,
}

/// The closest hits of all rays, and whether they are occluded.
fn trace(embree: &Embree, rays: &[Ray], how: Rays) -> (Vec<Hit>, Vec<bool>) {
    let (mut hits, mut occluded) = (vec![None; rays.len()], vec![None; rays.len()]);
    // A first packet of sixteen is always traced together, since no occlusion rate is known yet.
    let size = match how {
        Rays::Single => 1,
        Rays::Packets => 16,
        Rays::All => rays.len(),
    };
    for (first, rays) in (0..).step_by(size).zip(rays.chunks(size)) {
        let ray = |i: usize| (&rays[i], key((first + i) as u32));
        embree.closest_hits(rays.len(), ray, &mut OcclusionRate::default(), |i, hit| {
            assert_eq!(hits[first + i].replace(hit), None);
        });
        embree.any_hits(rays.len(), ray, &mut OcclusionRate::default(), |i, found| {
            assert_eq!(occluded[first + i].replace(found), None);
        });
    }
    embree.check().unwrap();
    (hits.into_iter().map(Option::unwrap).collect(), occluded.into_iter().map(Option::unwrap).collect())
}

/// Differences between two intersectors over some rays.
#[derive(Debug, Default)]
struct Differences {
    rays: u32,
    hits: u32,
    primitives: u32,
    occlusions: u32,
}

/// Compares all hits with the built-in BVH's, to the bit where both choose one primitive.
fn compare(scene: &Scene, rays: &[Ray], how: Rays) -> Differences {
    let bvh = Bvh2::build(scene, &BuildSettings::default());
    let (hits, occluded) = trace(&embree(scene), rays, how);
    let mut scratch = Scratch::default();
    let mut differences = Differences::default();
    for ((i, ray), (found, occluded)) in (0..).zip(rays).zip(hits.iter().zip(occluded)) {
        let expected = bvh.closest_hit(scene, ray, key(i), &mut scratch);
        differences.rays += 1;
        differences.hits += u32::from(expected.is_some());
        if (found.instance, found.primitive) == (expected.instance, expected.primitive) {
            assert_eq!(bits(found), bits(&expected), "ray {i} of {}: {ray:?}", scene.name);
        } else {
            differences.primitives += 1;
        }
        differences.occlusions += u32::from(occluded != expected.is_some());
    }
    println!("{}: {differences:?}", scene.name);
    differences
}

#[test]
fn hits_are_those_of_the_built_in_bvh_to_the_bit() {
    if !embree_is_here() {
        return;
    }
    let rays: Vec<Ray> = (0..200_000).map(ray).collect();
    let scenes = [instances(), static_mesh(20), static_mesh(0), instanced_spheres()];
    for (scene, how) in
        scenes.into_iter().flat_map(|scene| [Rays::Single, Rays::Packets].map(|how| (scene.clone(), how)))
    {
        let differences = compare(&scene, &rays, how);
        assert!(differences.hits > differences.rays / 5, "{differences:?} in {}", scene.name);
        let tolerated = (f64::from(differences.rays) * TOLERATED_SHARE) as u32;
        assert!(differences.primitives <= tolerated, "{differences:?} in {}", scene.name);
        assert!(differences.occlusions <= tolerated, "{differences:?} in {}", scene.name);
    }
}

#[test]
fn coincident_surfaces_are_resolved_as_by_the_built_in_bvh() {
    if !embree_is_here() {
        return;
    }
    let rays: Vec<Ray> = (0..200_000).map(ray).collect();
    for (map, how) in [IDENTITY, placement(3)]
        .into_iter()
        .flat_map(|map| [Rays::Single, Rays::Packets].map(|how| (map, how)))
    {
        let differences = compare(&doubled(map), &rays, how);
        assert!(differences.hits > differences.rays / 5, "{differences:?}");
        assert!(
            f64::from(differences.primitives) <= f64::from(differences.rays) * TOLERATED_SHARE,
            "{differences:?}"
        );
        assert_eq!(differences.occlusions, 0, "{differences:?}");
    }
}

/// A ray from inside the closed mesh towards a vertex, an edge or a face, by `i % 3`. It leaves from the
/// point of number `from`.
fn outward(scene: &Scene, i: u32, from: u32) -> Ray {
    let triangle = &scene.triangles[i as usize % scene.triangles.len()];
    let p = triangle.vertices.map(|v| Vec3::from(scene.positions[v as usize]));
    let r = random(i, 31);
    let target = match i % 3 {
        VERTEX => p[(i / 3 % 3) as usize],
        EDGE => p[0] * (1.0 - r[0]) + p[1] * r[0],
        _ => p[0] * (1.0 - r[0]) + (p[1] * (1.0 - r[1]) + p[2] * r[1]) * r[0],
    };
    let world = |p: Vec3| transform_point(&scene.instances[0].object_to_world, p);
    let origin = world(random_point(from, 30, 0.5));
    Ray { origin, t_min: 0.0, direction: world(target) - origin, t_max: FAR }
}

/// As far as the instanced mesh.
const NEAR_EYE: f32 = 8.0;
const FAR_EYES: [f32; 3] = [15.0, 100.0, 1_000.0];
const VERTEX: u32 = 0;
const EDGE: u32 = 1;

#[test]
fn no_ray_leaks_through_a_closed_mesh() {
    if !embree_is_here() {
        return;
    }
    for map in [IDENTITY, placement(3)] {
        let scene = closed_mesh(map, NEAR_EYE);
        let rays: Vec<Ray> = (0..150_000).map(|i| outward(&scene, i, i)).collect();
        let (hits, occluded) = trace(&embree(&scene), &rays, Rays::Single);
        for (i, (hit, occluded)) in hits.iter().zip(occluded).enumerate() {
            assert!(hit.is_some(), "ray {i} leaked: {:?}", rays[i]);
            assert!(occluded, "shadow ray {i} leaked: {:?}", rays[i]);
        }
    }
}

/// A ray from afar at a vertex, an edge or a face of the closed mesh, by `i % 3`, on the side that faces it.
fn from_afar(scene: &Scene, i: u32, distance: f32) -> Option<Ray> {
    let Ray { origin, direction, .. } = outward(scene, i, i);
    let target = origin + direction;
    let center = transform_point(&scene.instances[0].object_to_world, Vec3::ZERO);
    let origin = random_direction(i) * distance;
    (dot(normalize(target - center), normalize(origin - target)) > 0.3).then_some(Ray {
        origin,
        t_min: 0.0,
        direction: target - origin,
        t_max: FAR,
    })
}

/// Asserts that all hits are the built-in BVH's to the bit, and that all rays are occluded.
fn assert_all_hits_are_exact(scene: &Scene, rays: &[Ray], how: Rays) {
    let bvh = Bvh2::build(scene, &BuildSettings::default());
    let (hits, occluded) = trace(&embree(scene), rays, how);
    let mut scratch = Scratch::default();
    for ((i, ray), (found, occluded)) in (0..).zip(rays).zip(hits.iter().zip(occluded)) {
        assert!(found.is_some(), "{how:?}: ray {i} leaked: {ray:?}");
        let expected = bvh.closest_hit(scene, ray, key(i), &mut scratch);
        assert_eq!(bits(found), bits(&expected), "{how:?}: ray {i}: {ray:?}");
        assert!(occluded, "{how:?}: shadow ray {i} leaked: {ray:?}");
    }
}

#[test]
fn hits_at_edges_are_exact_from_as_far_as_the_camera() {
    if !embree_is_here() {
        return;
    }
    for (map, distance) in [IDENTITY, placement(3)].into_iter().flat_map(|map| FAR_EYES.map(|d| (map, d))) {
        let scene = closed_mesh(map, distance);
        let rays: Vec<Ray> = (0..90_000).filter_map(|i| from_afar(&scene, i, distance)).collect();
        assert!(rays.len() > 25_000, "{} from {distance}", rays.len());
        assert_all_hits_are_exact(&scene, &rays, Rays::Single);
        assert_all_hits_are_exact(&scene, &rays, Rays::Packets);
    }
}

/// Embree traverses packets by code of their own, with a special case for rays from one origin.
#[test]
fn no_ray_of_a_packet_leaks_and_its_hits_are_exact() {
    if !embree_is_here() {
        return;
    }
    for (map, from_one_point) in [(IDENTITY, 48), (placement(3), 48), (IDENTITY, 1)] {
        let scene = closed_mesh(map, NEAR_EYE);
        let rays: Vec<Ray> = (0..150_000).map(|i| outward(&scene, i, i / from_one_point)).collect();
        assert_all_hits_are_exact(&scene, &rays, Rays::Packets);
    }
}

/// In small scenes, packets of one octant are traversed like rays from one origin.
#[test]
fn no_ray_leaks_in_a_small_scene_and_its_hits_are_exact() {
    if !embree_is_here() {
        return;
    }
    let scene = closed_mesh_of(4, 10, IDENTITY, NEAR_EYE);
    // On processors with packets.
    assert_eq!(embree(&scene).sorts_by_octant(), embree(&scene).has_packets());
    let rays: Vec<Ray> = (0..150_000).map(|i| outward(&scene, i, i)).collect();
    assert_all_hits_are_exact(&scene, &rays, Rays::All);
}

/// Few shadow rays are occluded, then many, then few again.
#[test]
fn occlusion_does_not_depend_on_how_many_rays_are_occluded() {
    if !embree_is_here() {
        return;
    }
    let scene = static_mesh(0);
    let embree = embree(&scene);
    let short = |i: u32| Ray { t_max: 1e-3, ..ray(i) };
    let rays: Vec<Ray> =
        (0..6_000).map(|i| if (2_000..4_000).contains(&i) { ray(i) } else { short(i) }).collect();
    let (_, found) = trace(&embree, &rays, Rays::All);
    let (_, alone) = trace(&embree, &rays, Rays::Single);
    assert_eq!(found, alone);
    let occluded = found.iter().filter(|hit| **hit).count();
    assert!((300..3_000).contains(&occluded), "{occluded}");
}

#[test]
fn scenes_without_geometry_are_traceable() {
    if !embree_is_here() {
        return;
    }
    let embree = embree(&SceneBuilder::new("empty").build().unwrap());
    assert!(!embree.closest_hit(&ray(0), key(0), &mut OcclusionRate::default()).is_some());
    assert!(!embree.any_hit(&ray(0), key(0), &mut OcclusionRate::default()));
}

#[test]
fn memory_is_counted() {
    if !embree_is_here() {
        return;
    }
    let embree = embree(&instances());
    let triangles = 800.0;
    // At least the vertices and indices of both soups, at most a few hundred bytes a triangle and the blocks
    // that Embree allocates at once.
    let bytes = embree.bytes() as f64;
    assert!((48.0 * triangles..4e6 + 1_000.0 * triangles).contains(&bytes), "{bytes}");
}

#[test]
fn denormal_numbers_survive_embree() {
    if !embree_is_here() {
        return;
    }
    let embree = embree(&static_mesh(20));
    embree.closest_hit(&ray(0), key(0), &mut OcclusionRate::default());
    let tiny = std::hint::black_box(f32::MIN_POSITIVE);
    assert_ne!(tiny * 0.5, 0.0, "results flushed to zero would differ from the other targets'");
    assert_ne!(std::hint::black_box(tiny * 0.5) * 2.0, 0.0, "operands taken as zero would differ likewise");
}
