//! The recursive weights against brute force, over paths of the suite's scenes.

use super::brute_force::{Densities, SurfaceDensities, Weights};
use super::merging::Traced;
use crate::{scenes, tolerances};
use lockstep_bvh::{BuildSettings, Bvh2, Scratch};
use lockstep_core::math::rng::SampleKey;
use lockstep_core::math::vec3::{Vec3, dot};
use lockstep_core::merging::{MergeRatios, MergeSchedule, Merging};
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::{LightKind, Scene};
use lockstep_core::splat::Technique;
use lockstep_core::{Integrator, Settings};
use lockstep_transport::integrators::bidirectional::weights::{
    PartialWeights, connect, connect_to_camera, hit_light, merge, sample_light,
};
use lockstep_transport::integrators::bidirectional::{
    Connection, LightPath, PairPass, PairSink, Techniques, Vertex, direction_between, trace_pair,
};
use lockstep_transport::{camera_importance, lights};

/// Everything that a pair computed.
#[derive(Default)]
struct Recorded {
    light: Vec<Vertex>,
    camera: Vec<Vertex>,
    connections: Vec<Connection>,
}

impl PairSink for Recorded {
    fn light_vertex(&mut self, _bounce: u32, vertex: &Vertex) {
        self.light.push(vertex.clone());
    }

    fn camera_vertex(&mut self, _bounce: u32, vertex: &Vertex) {
        self.camera.push(vertex.clone());
    }

    fn contribution(&mut self, connection: &Connection, _reached: bool) {
        self.connections.push(*connection);
    }
}

const SETTINGS: Settings = Settings { width: 24, height: 18, bounces: 6, ..Settings::DEFAULT };

/// Records the pairs of every pixel of a scene, their weights for these merges.
fn pairs(scene: &Scene, merging: Merging, samples: u32) -> Vec<(SampleKey, Recorded)> {
    let bvh = Bvh2::build(scene, &BuildSettings::default());
    let camera = scene.camera.frame(SETTINGS.width, SETTINGS.height);
    let pass = PairPass { scene, settings: &SETTINGS, techniques: Techniques::Connections, camera, merging };
    let mut tracer = Traced { scene, bvh: &bvh, scratch: Scratch::default() };
    let pixels = 0..SETTINGS.width * SETTINGS.height;
    let keys = pixels.flat_map(|pixel| {
        (0..samples).map(move |sample| SampleKey { pixel, sample, seed: 11, ..SampleKey::default() })
    });
    keys.map(|key| {
        let mut recorded = Recorded::default();
        trace_pair(&pass, key, &mut tracer, &mut recorded);
        (key, recorded)
    })
    .collect()
}

/// The densities of the full path of a connection of two surfaces.
fn densities(
    scene: &Scene,
    camera: &CameraFrame,
    key: SampleKey,
    pair: &Recorded,
    technique: Technique,
    ratios: MergeRatios,
) -> Option<Densities> {
    let start = LightPath::start(scene, key)?;
    let light = &pair.light[..technique.light as usize - 1];
    let of_camera = &pair.camera[..technique.camera as usize - 1];
    let path: Vec<&Vertex> = light.iter().chain(of_camera.iter().rev()).collect();
    // Directions to both neighbours and lengths of the edges
    let joint = light.len();
    let between = |i: usize| direction_between(path[i - 1].position, path[i].position);
    let mut surfaces = Vec::new();
    let n = path.len();
    let last = path[n - 1];
    let to_lens = last.from;
    let along = dot(camera.eye - last.position, camera.forward) / dot(to_lens, camera.forward);
    for (i, vertex) in path.iter().enumerate() {
        let to_light = if i < joint { vertex.from } else { -between(i)?.0 };
        let to_camera = if i >= joint { vertex.from } else { between(i + 1)?.0 };
        let distance2_to_light = if i == 0 { 1.0 } else { f64::from(between(i)?.2) };
        let distance2_to_camera =
            if i + 1 == n { f64::from(along * along) } else { f64::from(between(i + 1)?.2) };
        surfaces.push(SurfaceDensities {
            specular: vertex.is_specular(),
            pdf_to_camera: f64::from(vertex.evaluate(to_light, to_camera).pdf),
            pdf_to_light: f64::from(vertex.evaluate(to_camera, to_light).pdf),
            cosine_to_camera: f64::from(vertex.cosine(to_camera)),
            cosine_to_light: f64::from(vertex.cosine(to_light)),
            distance2_to_light,
            distance2_to_camera,
        });
    }
    let first = path[0].position;
    let (_, _, distance2) = direction_between(start.ray.origin, first)?;
    let (direct_pdf, can_be_hit) = direct(scene, &start, first, distance2);
    Some(Densities {
        surfaces,
        direct_pdf: f64::from(direct_pdf),
        emission_pdf: f64::from(start.pdf),
        cosine_at_light: f64::from(start.cosine),
        can_be_hit,
        importance: f64::from(camera_importance::direction_pdf(camera, -to_lens)),
        light_paths: f64::from(camera_importance::pixels(camera)),
        connects: ratios.merge == 0.0 || ratios.connect > 0.0,
        merge_area: f64::from(ratios.merge),
    })
}

/// The density of light sampling at the first surface, and whether rays can hit the light.
fn direct(scene: &Scene, start: &LightPath, p: Vec3, distance2: f32) -> (f32, bool) {
    let light = &scene.lights[start.light as usize];
    let material = scene.materials.get(light.material as usize);
    match (light.kind, material) {
        (kind, Some(material)) if kind == LightKind::Triangle as u32 => {
            (lights::area_to_solid_angle(material, distance2, start.cosine), true)
        }
        (kind, Some(material)) if kind == LightKind::Sphere as u32 => {
            let radius = light.edge2.x;
            (lights::sphere_pdf(material, light.position, radius, p, distance2, start.cosine), true)
        }
        (kind, _) if kind == LightKind::Environment as u32 => (start.pdf_direction, true),
        (kind, _) if kind == LightKind::Directional as u32 => (light.pmf, false),
        _ => (light.pmf * distance2, false),
    }
}

/// The weights of all techniques of a path by the recursion, in single precision.
fn recursive(path: &Densities, ratios: MergeRatios) -> Weights {
    let n = path.surfaces.len();
    let f = |v: f64| v as f32;
    let (direct_pdf, emission_pdf, cosine_at_light) =
        (f(path.direct_pdf), f(path.emission_pdf), f(path.cosine_at_light));
    // The part of weights on arrival at every surface, from both ends
    let mut from_light = vec![PartialWeights::of_light(
        direct_pdf,
        emission_pdf,
        cosine_at_light,
        f(path.surfaces[0].cosine_to_light),
        !path.can_be_hit,
        ratios,
    )];
    for i in 1..n {
        let (before, here) = (&path.surfaces[i - 1], &path.surfaces[i]);
        let on_ray = if before.specular {
            from_light[i - 1].scatter_specular(f(before.cosine_to_camera))
        } else {
            from_light[i - 1].scatter(
                f(before.cosine_to_camera),
                f(before.pdf_to_camera),
                f(before.pdf_to_light),
                ratios,
            )
        };
        from_light.push(on_ray.arrive(f(here.distance2_to_light), f(here.cosine_to_light)));
    }
    let mut on_ray = PartialWeights::of_camera(f(path.light_paths), f(path.importance));
    let mut from_camera = Vec::new();
    for here in path.surfaces.iter().rev() {
        let arrived = on_ray.arrive(f(here.distance2_to_camera), f(here.cosine_to_camera));
        from_camera.insert(0, arrived);
        on_ray = if here.specular {
            arrived.scatter_specular(f(here.cosine_to_light))
        } else {
            arrived.scatter(f(here.cosine_to_light), f(here.pdf_to_light), f(here.pdf_to_camera), ratios)
        };
    }
    // Merges
    let merges = (0..n).map(|i| {
        let here = &path.surfaces[i];
        let (pdf, reverse) = (f(here.pdf_to_light), f(here.pdf_to_camera));
        let is_possible = ratios.merge > 0.0 && !here.specular;
        if is_possible { merge(from_light[i], from_camera[i], pdf, reverse, ratios) } else { 0.0 }
    });
    let merges = merges.map(f64::from).collect();
    let mut weights = vec![0.0; n + 2];
    if !path.connects {
        return Weights { connections: vec![0.0; n + 2], merges };
    }
    // Connections
    if path.can_be_hit {
        weights[0] = hit_light(on_ray, direct_pdf, emission_pdf, cosine_at_light);
    }
    let first = &path.surfaces[0];
    if !first.specular {
        let pdf = if path.can_be_hit { f(first.pdf_to_light) } else { 0.0 };
        let ratio = f(path.emission_pdf / (path.direct_pdf * path.cosine_at_light));
        let (reverse, cosine) = (f(first.pdf_to_camera), f(first.cosine_to_light));
        weights[1] = sample_light(from_camera[0], pdf, reverse, direct_pdf, ratio, cosine, ratios);
    }
    for i in 1..n {
        let (light, camera) = (&path.surfaces[i - 1], &path.surfaces[i]);
        if !light.specular && !camera.specular {
            weights[i + 1] = connect(
                (from_light[i - 1], f(light.pdf_to_camera), f(light.pdf_to_light), f(light.cosine_to_camera)),
                (from_camera[i], f(camera.pdf_to_light), f(camera.pdf_to_camera), f(camera.cosine_to_light)),
                f(camera.distance2_to_light),
                ratios,
            );
        }
    }
    let last = &path.surfaces[n - 1];
    if !last.specular {
        weights[n + 1] = connect_to_camera(
            from_light[n - 1],
            f(last.pdf_to_light),
            f(path.importance),
            f(last.cosine_to_camera),
            f(last.distance2_to_camera),
            f(path.light_paths),
            ratios,
        );
    }
    Weights { connections: weights.into_iter().map(f64::from).collect(), merges }
}

/// The techniques of a test: with connections, with merges, or with both.
fn merges_of(scene: &Scene, connects: bool, merges: bool) -> Merging {
    let integrator = match (connects, merges) {
        (true, true) => Integrator::Vcm,
        (false, true) => Integrator::Bpm,
        _ => Integrator::Bpt,
    };
    MergeSchedule::new(scene, &Settings { integrator, ..SETTINGS })
        .map_or(Merging::NONE, |merges| merges.pass(3))
}

#[test]
fn weights_of_all_connections_sum_to_one_and_are_those_of_brute_force() {
    compare_weights(true, false);
}

#[test]
fn weights_of_all_connections_and_merges_sum_to_one_and_are_those_of_brute_force() {
    compare_weights(true, true);
}

#[test]
fn weights_of_all_merges_sum_to_one_and_are_those_of_brute_force() {
    compare_weights(false, true);
}

fn compare_weights(connects: bool, merges: bool) {
    let (mut paths, mut off, mut largest) = (0u32, 0u32, 0.0f64);
    for scene in scenes::compared().unwrap() {
        let camera = scene.camera.frame(SETTINGS.width, SETTINGS.height);
        let merging = merges_of(&scene, connects, merges);
        for (key, pair) in pairs(&scene, merging, 32) {
            for connection in
                pair.connections.iter().filter(|c| c.technique.light >= 2 && c.technique.camera >= 2)
            {
                let technique = connection.technique;
                let Some(path) = densities(&scene, &camera, key, &pair, technique, merging.ratios) else {
                    continue;
                };
                // A path that some technique could not sample is no path of all
                if path
                    .surfaces
                    .iter()
                    .any(|s| !s.specular && (s.pdf_to_camera <= 0.0 || s.pdf_to_light <= 0.0))
                {
                    continue;
                }
                let (brute, recursive) = (path.weights(), recursive(&path, merging.ratios));
                let all = |w: &Weights| [&w.connections[..], &w.merges[..]].concat();
                let sum: f64 = all(&recursive).iter().sum();
                assert!((sum - 1.0).abs() < tolerances::WEIGHTS, "{}: weights sum to {sum}", scene.name);
                for (a, b) in all(&brute).iter().zip(&all(&recursive)) {
                    assert!((a - b).abs() < tolerances::WEIGHTS, "{}: {a} and {b}", scene.name);
                }
                largest = largest.max((sum - 1.0).abs());
                paths += 1;
                // The weight that the integrator gave the connection, whose densities are of sampled directions
                let own = f64::from(connection.weight);
                let expected = brute.connections[technique.light as usize];
                let smooth = path
                    .surfaces
                    .iter()
                    .any(|s| s.specular || s.pdf_to_camera.max(s.pdf_to_light) > tolerances::STEEP_DENSITY);
                let is_off = connects && (own - expected).abs() > tolerances::WEIGHTS_AS_TRACED;
                off += u32::from(!smooth && is_off);
            }
        }
    }
    println!("{paths} paths, largest error of a sum {largest:e}; {off} weights as traced are off");
    let most = tolerances::WEIGHTS_AS_TRACED_OFF * f64::from(paths);
    assert!(f64::from(off) < most, "{off} of {paths} weights as traced are not those of brute force");
    assert!(paths >= 100_000, "only {paths} paths");
}
