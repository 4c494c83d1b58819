//! A whole pair of sub-paths, one ray after the other: for tests, for records, and the plainest account of
//! the algorithm. `kernels/pairs/` runs the same steps in stages.

use super::Techniques;
use super::camera_path::CameraPath;
use super::connections::{join, to_camera, to_light};
use super::light_path::LightPath;
use super::vertex::{Connection, Vertex};
use lockstep_core::Settings;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::math::vec3::max_component;
use lockstep_core::merging::Merging;
use lockstep_core::scene::SceneData;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::splat::Technique;

/// Answers ray queries.
pub trait Tracer {
    /// The closest hit along a ray.
    fn closest_hit(&mut self, ray: &Ray, key: RayKey) -> Hit;

    /// Whether a ray is occluded.
    fn any_hit(&mut self, ray: &Ray, key: RayKey) -> bool;
}

/// Receives what a pair of sub-paths computes, in order.
pub trait PairSink {
    /// A vertex of the light sub-path, whether or not it can be connected, and the bounce of the ray that led to
    /// it.
    fn light_vertex(&mut self, _bounce: u32, _vertex: &Vertex) {}

    /// A vertex of the camera sub-path, whether or not it can be connected, and the bounce of the ray that led to it.
    fn camera_vertex(&mut self, _bounce: u32, _vertex: &Vertex) {}

    /// A contribution to a pixel: a connection with its ray, or for light that the camera sub-path hit, the
    /// extension ray that hit it. `reached` is false where the connection is occluded.
    fn contribution(&mut self, connection: &Connection, reached: bool);
}

/// Constants that all pairs of a pass share.
#[derive(Clone, Copy, Debug)]
pub struct PairPass<'a> {
    /// The scene.
    pub scene: &'a SceneData,
    /// The settings.
    pub settings: &'a Settings,
    /// The techniques to combine.
    pub techniques: Techniques,
    /// The camera, fitted to the film.
    pub camera: CameraFrame,
    /// The merges of the pass, which weights account for.
    pub merging: Merging,
}

/// Traces the pair of sub-paths of a sample. Merges with photons of other pairs are left to the sink, which is
/// given every vertex.
pub fn trace_pair(pass: &PairPass<'_>, key: SampleKey, tracer: &mut impl Tracer, sink: &mut impl PairSink) {
    let PairPass { scene, settings, techniques, merging, .. } = pass;
    let vertices = trace_light_path(pass, key, tracer, sink);
    let mut path = CameraPath::start(&pass.camera, key);
    let mut camera_vertices = Vec::new();
    let last = techniques.camera_bounces(settings.bounces);
    for bounce in 0..=last {
        // Extend to the closest hit and add its emission
        let hit = tracer.closest_hit(&path.ray, RayKey::extension(key, bounce));
        let (emitted, goes_on) = path.arrive(scene, bounce, bounce == last, &hit, &mut camera_vertices);
        if max_component(emitted.value) > 0.0 {
            let technique = Technique { light: 0, camera: bounce + 2 };
            let ray = Ray { t_max: hit.t, ..path.ray };
            let (value, weight) = (emitted.value, techniques.emission_weight(emitted.weight, path.specular));
            sink.contribution(&Connection { ray, pixel: key.pixel, technique, value, weight }, true);
        }
        let Some(vertex) = camera_vertices.last().filter(|_| goes_on) else { break };
        sink.camera_vertex(bounce, vertex);

        // Connect to a light and to the vertices of the light sub-path
        if techniques.connect()
            && let Some(connection) = to_light(scene, key, bounce, vertex, merging.ratios)
        {
            let occluded = tracer.any_hit(&connection.ray, RayKey::shadow(key, bounce));
            sink.contribution(&connection, !occluded);
        }
        for (index, light_vertex) in (2..).zip(&vertices).take_while(|_| techniques.connect()) {
            let technique = Technique { light: index, camera: bounce + 2 };
            if technique.light + technique.camera > settings.bounces + 2 {
                break;
            }
            if let Some(connection) = join(key, technique, light_vertex, vertex, merging.ratios) {
                let occluded = tracer.any_hit(&connection.ray, RayKey::connection(key, technique.index()));
                sink.contribution(&connection, !occluded);
            }
        }
        let specular = path.specular && vertex.is_specular();
        if !techniques.continue_from(bounce, settings.bounces, specular)
            || !path.extend(settings, bounce, vertex, merging.ratios)
        {
            break;
        }
    }
}

/// Traces the light sub-path, connects its vertices to the camera and returns them.
fn trace_light_path(
    pass: &PairPass<'_>,
    key: SampleKey,
    tracer: &mut impl Tracer,
    sink: &mut impl PairSink,
) -> Vec<Vertex> {
    let PairPass { scene, settings, techniques, camera, merging } = pass;
    let mut vertices = Vec::new();
    let Some(mut path) = LightPath::start(scene, key) else { return vertices };
    for bounce in 0..settings.bounces {
        let hit = tracer.closest_hit(&path.ray, RayKey::light_extension(key, bounce));
        let goes_on = path.arrive(scene, bounce, &hit, merging.ratios, &mut vertices);
        let Some(vertex) = vertices.last().filter(|_| goes_on) else { break };
        sink.light_vertex(bounce, vertex);
        if techniques.connect_to_camera()
            && let Some(mut connection) = to_camera(camera, key, bounce, vertex, merging.ratios)
        {
            connection.weight = techniques.weight(connection.weight);
            let ray_key = RayKey::connection(key, connection.technique.index());
            let occluded = tracer.any_hit(&connection.ray, ray_key);
            sink.contribution(&connection, !occluded);
        }
        if bounce + 1 == settings.bounces || !path.extend(settings, bounce, vertex, merging.ratios) {
            break;
        }
    }
    vertices
}
