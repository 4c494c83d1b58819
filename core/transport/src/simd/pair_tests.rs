use crate::bsdf::Surface;
use crate::integrators::bidirectional::weights::PartialWeights;
use crate::integrators::bidirectional::{Connection, Scattered, Vertex, join, to_camera, to_light};
use crate::simd::*;
use lockstep_core::math::rng::{SampleKey, draw, pcg4d, uniform};
use lockstep_core::math::vec3::normalize;
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::camera::Camera;
use lockstep_core::scene::{
    EnvironmentLight, IDENTITY, Material, MaterialKind, MeshData, PunctualLight, Scene, SceneBuilder, Sphere,
};
use lockstep_core::splat::Technique;

fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 7, 9]).map(uniform)
}

fn unit(i: u32, stream: u32) -> Vec3 {
    let r = random(i, stream);
    normalize(vec3(r[0], r[1], r[2]) - Vec3::splat(0.5))
}

/// Vertices of a few kinds of surfaces, most of them diffuse and principled, seen from both sides and under shading normals that the path
/// cannot always see.
fn vertices(count: u32, stream: u32) -> Vec<Vertex> {
    let vertex = |i: u32| {
        let (a, b) = (random(i, stream), random(i, stream + 1));
        let kind = [MaterialKind::Conductor, MaterialKind::Principled, MaterialKind::Dielectric]
            .get(i as usize % 7)
            .copied()
            .unwrap_or(if i.is_multiple_of(3) { MaterialKind::Principled } else { MaterialKind::Diffuse });
        let geometric = unit(i, stream + 2);
        Vertex {
            position: vec3(a[0], a[1], a[2]) * 3.0,
            scale: 3.0,
            geometric,
            shading: if i.is_multiple_of(3) { geometric } else { normalize(geometric + unit(i, stream + 3)) },
            from: unit(i, stream + 4),
            throughput: vec3(b[0], b[1], b[2]) * 2.0,
            surface: Surface {
                kind: kind as u32,
                base_color: if i.is_multiple_of(11) { Vec3::ZERO } else { vec3(a[3], b[3], 0.5) },
                roughness: 0.4,
                metallic: 0.5,
                ior: 1.5,
                transmission: if i.is_multiple_of(5) { 0.3 } else { 0.0 },
                outside: true,
                multiscatter: i.is_multiple_of(8),
            },
            layers: None,
            partial: PartialWeights { vcm: a[0] * 5.0, vc: b[1] * 3.0, vm: a[2] },
        }
    };
    (0..count).map(vertex).collect()
}

const RATIOS: MergeRatios = MergeRatios { merge: 0.3, connect: 1.0 / 0.3 };

fn key(i: u32) -> SampleKey {
    SampleKey { pixel: i, sample: 3, seed: 1, ..SampleKey::default() }
}

#[test]
fn extensions_from_batches_are_those_of_single_vertices() {
    let vertices = vertices(1000, 10);
    let mut continuing = 0;
    for (adjoint, roulette_from) in [(false, None), (true, None), (true, Some(1)), (false, Some(0))] {
        let settings = Settings { seed: 1, roulette_from, ..Settings::default() };
        let (block, bounce) = (Block::LightBsdf, 1);
        let extension = Extension { settings: &settings, block, bounce, adjoint, ratios: RATIOS };
        let expected: Vec<Option<Scattered>> = (0..)
            .zip(&vertices)
            .map(|(i, vertex)| vertex.extend(&settings, bounce, draw(key(i), block, bounce), adjoint, RATIOS))
            .collect();
        let mut batch = ExtensionBatch::default();
        (0..1000).for_each(|i| batch.push(i as usize, key(i)));
        let mut found = vec![None; vertices.len()];
        let mut times = 0;
        batch.extend(extension, &vertices, |i, next| {
            found[i] = next;
            times += 1;
        });
        assert_eq!(times, vertices.len());
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{adjoint}, {roulette_from:?}");
        continuing += found.iter().flatten().count();
    }
    assert!(continuing > 1000, "only {continuing}");
}

#[test]
fn connections_from_batches_are_those_of_single_vertices() {
    let (light, mut camera) = (vertices(40, 20), vertices(40, 30));
    camera[5].position = light[4].position;
    let ends = JoinVertices { light: &light, camera: &camera, ratios: RATIOS };
    let technique = |a: u32, b: u32| Technique { light: a + 2, camera: b + 2 };
    let mut expected: Vec<Connection> = Vec::new();
    let (mut found, mut batch) = (Vec::new(), JoinBatch::default());
    let mut done = |_, connection| found.push(connection);
    for (a, b) in (0..40).flat_map(|a| (0..40).map(move |b| (a, b))) {
        expected.extend(join(key(b), technique(a, b), &light[a as usize], &camera[b as usize], RATIOS));
        let of = |vertices: &[Vertex], i: u32| VertexBatch::of(&vertices[i as usize]);
        let kind = of(&light, a).max(of(&camera, b));
        batch.push(
            ends,
            Join { light: a, camera: b, batch: kind, technique: technique(a, b) },
            key,
            &mut done,
        );
    }
    batch.finish(ends, key, &mut done);
    found.sort_by_key(|connection| connection.technique);
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    assert!(found.len() > 100, "only {}", found.len());
}

/// Lights of every kind, around the vertices.
fn lit() -> Scene {
    let mut b = SceneBuilder::new("lit");
    let lamp = b.material(Material::emitter([30.0, 20.0, 10.0]));
    let ball = Sphere { center: vec3(2.0, 5.0, 1.0), radius: 0.5, material: lamp, reserved: [0; 3] };
    let mesh = b.mesh(MeshData {
        positions: vec![[0.0, 4.0, 0.0], [2.0, 4.0, 0.0], [0.0, 4.0, 2.0]],
        triangles: vec![[0, 1, 2]],
        materials: vec![lamp],
        spheres: vec![ball],
        ..MeshData::default()
    });
    b.instance(mesh, IDENTITY);
    b.environment = EnvironmentLight::Gradient {
        zenith: vec3(0.1, 0.3, 1.0),
        horizon: vec3(1.0, 0.9, 0.8),
        ground: vec3(0.2, 0.1, 0.3),
    };
    let (position, intensity) = (vec3(-1.0, 1.0, 2.0), vec3(40.0, 30.0, 20.0));
    b.light(PunctualLight::Point { position, intensity });
    b.light(PunctualLight::Directional { direction: vec3(1.0, -1.0, 0.5), irradiance: Vec3::ONE });
    b.build().unwrap()
}

/// Holds the connections of batches, with the indices of their vertices, to those of single vertices.
fn hold(mut found: Vec<(usize, Connection)>, expected: impl Fn(usize) -> Option<Connection>, least: usize) {
    found.sort_by_key(|(index, _)| *index);
    let expected: Vec<(usize, Connection)> = (0..1000).filter_map(|i| Some((i, expected(i)?))).collect();
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    assert!(found.len() > least, "only {}", found.len());
}

#[test]
fn connections_to_lights_from_batches_are_those_of_single_vertices() {
    let (scene, vertices, bounce) = (lit(), vertices(1000, 60), 2);
    let (settings, ratios) = (Settings { seed: 1, ..Settings::default() }, RATIOS);
    let mut found = Vec::new();
    let constants = LightConnections { scene: &scene, settings: &settings, bounce, ratios };
    let key = |i: usize| key(i as u32);
    LightConnectionBatch::default().connect(constants, &vertices, key, |i, c| found.push((i, c)));
    hold(found, |i| to_light(&scene, key(i), bounce, &vertices[i], RATIOS), 200);
}

#[test]
fn connections_to_the_lens_from_batches_are_those_of_single_vertices() {
    let (vertices, bounce) = (vertices(1000, 70), 2);
    let (settings, ratios) = (Settings { seed: 1, ..Settings::default() }, RATIOS);
    for lens_radius in [0.0, 0.1] {
        let eye = vec3(1.5, 1.5, 6.0);
        let camera = &Camera { eye, lens_radius, focus_distance: 4.0, ..Camera::default() }.frame(40, 30);
        let mut found = Vec::new();
        let constants = LensConnections { camera, settings: &settings, bounce, ratios };
        let key = |i: usize| key(i as u32);
        LensConnectionBatch::default().connect(constants, &vertices, key, |i, c| found.push((i, c)));
        hold(found, |i| to_camera(camera, key(i), bounce, &vertices[i], RATIOS), 200);
    }
}

#[test]
fn both_directions_at_once_are_those_one_by_one() {
    for (i, vertex) in (0..).zip(&vertices(4000, 40)) {
        let to = unit(i, 50);
        let both = vertex.evaluate_both(vertex.from, to);
        let (forward, reverse) = (vertex.evaluate(vertex.from, to), vertex.evaluate(to, vertex.from));
        let of_both = (both.value, both.pdf, both.reverse_pdf);
        assert_eq!(of_both, (forward.value, forward.pdf, reverse.pdf), "{vertex:?}");
    }
}
