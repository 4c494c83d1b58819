use crate::integrators::path::shade;
use crate::integrators::{Connection, Shaded, generate};
use crate::simd::batching::HitBatch;
use crate::simd::*;
use lockstep_bvh::BruteForce;
use lockstep_core::math::rng::{RayKey, SampleKey, pcg4d, uniform};
use lockstep_core::math::vec3::normalize;
use lockstep_core::scene::camera::Camera;
use lockstep_core::scene::{
    EnvironmentLight, IDENTITY, Layers, Material, MaterialKind, MeshData, PunctualLight, Scene, SceneBuilder,
    Sphere, Vertex,
};
use lockstep_core::{Integrator, LayerSampling, Sampler, Strategy};
use std::collections::{BTreeMap, BTreeSet};

fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 3, 4]).map(uniform)
}

fn point(i: u32, stream: u32) -> Vec3 {
    let r = random(i, stream);
    (vec3(r[0], r[1], r[2]) - Vec3::splat(0.5)) * 4.0
}

/// Triangles under triangle lights: smooth and flat normals, coloured vertices, two-sided and one-sided
/// lights, glass and metal, principled surfaces, spheres, and a transformed instance.
fn builder() -> SceneBuilder {
    builder_with_lamps(vec3(5.0, 4.0, 3.0))
}

/// [`builder`] with lamps of another radiance.
fn builder_with_lamps(radiance: Vec3) -> SceneBuilder {
    builder_with(radiance, &[])
}

/// [`builder_with_lamps`] whose principled surfaces lie under these layers in turn, if any.
fn builder_with(radiance: Vec3, layers: &[Layers]) -> SceneBuilder {
    let mut b = SceneBuilder::new("batch");
    let lamp = |flags: u32| Material { emission: radiance, flags, ..Material::BLACK };
    let materials = [
        Material::diffuse([0.7, 0.5, 0.3]),
        Material::diffuse([0.0, 0.9, 0.0]),
        Material { kind: MaterialKind::Conductor as u32, roughness: 0.2, ..Material::diffuse([0.8; 3]) },
        Material { kind: MaterialKind::Dielectric as u32, roughness: 0.0, ..Material::diffuse([0.9; 3]) },
        lamp(0),
        lamp(Material::TWO_SIDED_EMISSION),
        principled(0.5, 0.0, 0.0),
        principled(0.2, 1.0, 0.0),
        principled(0.0, 0.3, 0.6),
        Material { flags: Material::MULTISCATTER, ..principled(0.7, 0.9, 0.0) },
        Material { emission: radiance * 0.1, ..principled(0.9, 0.0, 1.0) },
    ];
    let mut under = layers.iter().cycle();
    let materials = materials.map(|material| {
        let is_principled = material.kind == MaterialKind::Principled as u32;
        let layers = if is_principled { under.next().map_or(0, |&layers| b.layers(layers)) } else { 0 };
        b.material(Material { layers, ..material })
    });
    let mut soup = MeshData::default();
    for i in 0..120 {
        let (center, base) = (point(i, 0), soup.positions.len() as u32);
        for k in 0..3 {
            soup.positions.push((center + point(3 * i + k, 1) * 0.4).to_array());
            let normal = if i % 3 == 0 { Vec3::ZERO } else { normalize(point(3 * i + k, 2)) };
            let color = if i % 10 == 0 { [0.75, 0.5, 0.25, 1.0] } else { [1.0; 4] };
            soup.vertices.push(Vertex { normal, ..Vertex::PLAIN }.with_color(color));
        }
        soup.triangles.push([base, base + 1, base + 2]);
        let kind = if i % 2 == 1 { i / 2 % 11 } else { i / 2 % 2 };
        soup.materials.push(materials[kind as usize]);
    }
    let soup = b.mesh(soup);
    b.instance(soup, IDENTITY);
    let ball = |x: f32, material: usize| Sphere {
        center: vec3(x, 0.0, 0.0),
        radius: 0.3,
        material: materials[material],
        reserved: [0; 3],
    };
    let transformed = MeshData {
        positions: vec![[2.0, -2.0, -2.0], [2.0, 2.0, -2.0], [2.0, 0.0, 2.0]],
        triangles: vec![[0, 1, 2]],
        materials: vec![materials[0]],
        spheres: vec![ball(0.0, 0), ball(-0.6, 6)],
        ..MeshData::default()
    };
    let transformed = b.mesh(transformed);
    b.flatten = lockstep_core::scene::Flatten::Never;
    b.instance(transformed, [[2.0, 0.0, 0.0, 0.5], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]]);
    b
}

fn principled(roughness: f32, metallic: f32, transmission: f32) -> Material {
    let kind = MaterialKind::Principled as u32;
    Material { kind, roughness, metallic, transmission, ior: 1.4, ..Material::diffuse([0.8, 0.6, 0.3]) }
}

/// A path after some bounces, in a random direction.
fn path(i: u32, sampler: Sampler) -> PathState {
    let throughput = random(i, 7);
    PathState {
        ray: Ray { origin: point(i, 5), t_min: 0.0, direction: normalize(point(i, 6)), t_max: FAR },
        throughput: vec3(throughput[0], throughput[1], if i.is_multiple_of(9) { 0.0 } else { throughput[2] }),
        bsdf_pdf: throughput[3],
        radiance: point(i, 8),
        key: SampleKey { pixel: i, sample: i / 3, seed: 77, sampler },
        medium: 0,
        interiors: 0,
    }
}

/// The state of a path after shading that must be equal: all of it if the path continues.
fn surviving(path: &PathState, continues: bool) -> Option<PathState> {
    continues.then_some(*path)
}

/// Hits in batches, and paths that have shadow rays or continue.
#[derive(Debug)]
struct Counts {
    diffuse: usize,
    principled: usize,
    coated: usize,
    environment: usize,
    connected: usize,
    continuing: usize,
}

/// Shades paths alone and in batches, which must leave the same.
fn shade_both(scene: &Scene, settings: &Settings, bounce: u32) -> Counts {
    let definition = BruteForce::new(scene);
    let start: Vec<PathState> = (0..2_000).map(|i| path(i, settings.sampler)).collect();
    let key = |path: &PathState| RayKey::extension(path.key, bounce);
    let trace = |path: &PathState| definition.closest_hit(&path.ray, key(path));
    let hits: Vec<Hit> = start.iter().map(trace).collect();
    // Not all paths are active, nor in order.
    let active: Vec<u32> = (0..2_000).rev().filter(|i| i % 7 != 0).collect();
    let hits: Vec<Hit> = active.iter().map(|&i| hits[i as usize]).collect();

    let batching = Batching::new(scene, settings);
    let mut alone = start.clone();
    let mut expected = Vec::new();
    for (&i, hit) in active.iter().zip(&hits) {
        expected.push(shade::<false>(scene, settings, bounce, &mut alone[i as usize], hit, &mut ()));
    }
    let mut together = start;
    let mut output = ShadeOutput::default();
    let job = ShadeJob { scene, settings, bounce, batching: &batching };
    Batch::default().shade(&job, &mut together, &active, &hits, &mut output);
    let shaded = || active.iter().zip(&expected);
    let shadow_ray =
        |(&path, shaded): (&u32, &Shaded)| shaded.connection.map(|connection| (path, connection));
    let of_lights: BTreeMap<u32, Connection> = shaded().filter_map(shadow_ray).collect();
    let found = output.shadow_rays();
    assert_eq!(found.len(), of_lights.len(), "bounce {bounce}, {settings:?}");
    for ShadowRay { connection, path } in found {
        assert_eq!(of_lights.get(path), Some(connection), "path {path}, bounce {bounce}, {settings:?}");
    }
    let survivors: BTreeSet<u32> =
        shaded().filter(|(_, shaded)| shaded.continues).map(|(&path, _)| path).collect();
    assert_eq!(
        output.surviving_paths().iter().copied().collect::<BTreeSet<_>>(),
        survivors,
        "bounce {bounce}, {settings:?}"
    );
    assert_eq!(output.surviving_paths().len(), survivors.len());
    for (&i, expected) in active.iter().zip(&expected) {
        let (alone, together) = (&alone[i as usize], &together[i as usize]);
        assert_eq!(surviving(together, expected.continues), surviving(alone, expected.continues), "path {i}");
        assert_eq!((together.radiance, together.key), (alone.radiance, alone.key), "path {i}");
    }
    let count =
        |is_in: fn(HitBatch) -> bool| hits.iter().filter(|hit| is_in(batching.of(scene, hit))).count();
    Counts {
        diffuse: count(|batch| matches!(batch, HitBatch::Diffuse(..))),
        principled: count(|batch| batch == HitBatch::Principled),
        coated: count(|batch| batch == HitBatch::Coated),
        environment: count(|batch| batch == HitBatch::Environment),
        connected: expected.iter().filter(|shaded| shaded.connection.is_some()).count(),
        continuing: expected.iter().filter(|shaded| shaded.continues).count(),
    }
}

#[test]
fn batched_shading_equals_scalar_shading() {
    let scene = builder().build().unwrap();
    for strategy in [Strategy::Mis, Strategy::LightOnly, Strategy::BsdfOnly] {
        for (bounce, roulette_from) in [(0, None), (1, Some(1)), (2, Some(3)), (3, None)] {
            let settings = Settings { strategy, roulette_from, seed: 77, ..Settings::default() };
            let counts = shade_both(&scene, &settings, bounce);
            assert!(counts.diffuse > 200 && counts.principled > 100, "{counts:?}");
            let last = bounce == settings.bounces;
            assert_eq!(counts.connected > 0, !last && strategy != Strategy::BsdfOnly, "{counts:?}");
            assert_eq!(counts.continuing > 100, !last, "{counts:?}");
        }
    }
}

#[test]
fn principled_surfaces_are_batched_under_every_light_and_sampler() {
    let mut lit = builder();
    lit.light(PunctualLight::Point { position: Vec3::ZERO, intensity: Vec3::ONE });
    lit.environment = EnvironmentLight::Constant(vec3(0.2, 0.3, 0.4));
    let scene = lit.build().unwrap();
    for sampler in Sampler::ALL {
        let settings = Settings { sampler, seed: 77, ..Settings::default() };
        let counts = shade_both(&scene, &settings, 1);
        assert_eq!(counts.diffuse + counts.environment, 0, "diffuse batches sample one kind of light");
        assert!(counts.principled > 100 && counts.connected > 100 && counts.continuing > 100, "{counts:?}");
    }
}

#[test]
fn surfaces_under_clearcoats_are_batched() {
    let dim = Layers { specular: 0.3, specular_color: vec3(0.9, 0.5, 0.7), ..Layers::NONE };
    let layers = [
        Layers { clearcoat: 1.0, clearcoat_roughness: 0.1, ..Layers::NONE },
        Layers { clearcoat: 0.6, clearcoat_roughness: 0.7, clearcoat_f0: 0.2, ..dim },
        dim,
        Layers { clearcoat: 0.8, ..Layers::NONE },
    ];
    let lamps = vec3(5.0, 4.0, 3.0);
    for sky in [0.0, 0.3] {
        let mut b = builder_with(lamps, &layers);
        b.environment = EnvironmentLight::Constant(Vec3::splat(sky));
        let scene = b.build().unwrap();
        for (bounce, roulette_from) in [(0, None), (1, Some(1))] {
            for sampler in Sampler::ALL {
                let settings = Settings { sampler, roulette_from, seed: 77, ..Settings::default() };
                let counts = shade_both(&scene, &settings, bounce);
                assert!(counts.coated > 100 && counts.principled == 0, "{counts:?}");
                assert!(counts.connected > 100 && counts.continuing > 100, "{counts:?}");
            }
        }
        let tree = Settings { layers: LayerSampling::Tree, seed: 77, ..Settings::default() };
        assert_eq!(shade_both(&scene, &tree, 1).coated, 0);
    }
    let others = [
        Layers { sheen_color: Vec3::splat(0.5), ..layers[0] },
        Layers { iridescence: 1.0, ..layers[0] },
        Layers { anisotropy: 0.5, ..layers[0] },
    ];
    let scene = builder_with(lamps, &others).build().unwrap();
    let counts = shade_both(&scene, &Settings { seed: 77, ..Settings::default() }, 1);
    assert!(counts.coated == 0 && counts.connected > 100, "{counts:?}");
}

#[test]
fn diffuse_surfaces_under_every_sky_are_batched() {
    let texels = (0..12).map(|i| random(i, 9)).map(|[r, g, b, _]| [r, g, b]).collect();
    let gradient = EnvironmentLight::Gradient {
        zenith: vec3(0.2, 0.4, 0.9),
        horizon: vec3(1.0, 0.5, 0.3),
        ground: vec3(0.1, 0.2, 0.1),
    };
    let environments = [
        EnvironmentLight::Constant(vec3(0.2, 0.3, 0.4)),
        gradient,
        EnvironmentLight::Image { width: 4, height: 3, texels, scale: Vec3::ONE, rotation: 0.3 },
    ];
    for environment in environments {
        let mut under_sky = builder_with_lamps(Vec3::ZERO);
        under_sky.environment = environment;
        let scene = under_sky.build().unwrap();
        for strategy in [Strategy::Mis, Strategy::LightOnly, Strategy::BsdfOnly] {
            for sampler in Sampler::ALL {
                let roulette_from = (sampler != Sampler::Pcg).then_some(1);
                let settings = Settings { strategy, roulette_from, sampler, seed: 77, ..Settings::default() };
                let counts = shade_both(&scene, &settings, 1);
                assert!(
                    counts.environment > 300 && counts.diffuse == 0 && counts.continuing > 100,
                    "{counts:?}"
                );
                assert_eq!(counts.connected > 100, strategy != Strategy::BsdfOnly, "{counts:?}");
            }
        }
    }
}

#[test]
fn batched_camera_rays_equal_scalar_ones() {
    for lens_radius in [0.0, 0.1] {
        let camera = Camera { lens_radius, focus_distance: 3.0, ..Camera::default() }.frame(123, 77);
        let pixels: Vec<u32> = (0..123 * 77).filter(|pixel| pixel % 5 != 2).collect();
        let key = SampleKey { pixel: 0, sample: 9, seed: 4, ..SampleKey::default() };
        let mut together = Vec::new();
        Batch::default().generate(&camera, &pixels, key, &mut together);
        assert_eq!(together.len(), pixels.len());
        for (&pixel, camera_rays) in pixels.iter().zip(&together) {
            assert_eq!(*camera_rays, generate(&camera, SampleKey { pixel, ..key }), "pixel {pixel}");
        }
    }
}

#[test]
fn other_integrators_and_nested_dielectrics_have_no_batches() {
    let batched = |scene: &Scene, integrator| {
        let settings = Settings { integrator, seed: 77, ..Settings::default() };
        let counts = shade_both(scene, &settings, 0);
        counts.diffuse + counts.principled + counts.coated + counts.environment
    };
    let scene = builder().build().unwrap();
    assert!(batched(&scene, Integrator::Path) > 0);
    let hit = Hit { t: 1.0, u: 0.2, v: 0.2, primitive: 0, instance: 0 };
    for integrator in Integrator::ALL.into_iter().filter(|&integrator| integrator != Integrator::Path) {
        let batching = Batching::new(&scene, &Settings { integrator, ..Settings::default() });
        assert_eq!(batching.of(&scene, &hit), HitBatch::None, "{integrator:?}");
    }
    let mut nested = builder();
    nested.material(Material::dielectric(1.5, 0.0).with_priority(1));
    assert_eq!(batched(&nested.build().unwrap(), Integrator::Path), 0);
}
