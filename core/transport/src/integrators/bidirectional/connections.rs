//! Connections of sub-paths to each other, to the lens and to lights. The counterpart is
//! `kernels/integrators/bidirectional/connections.h`.

use super::vertex::{Connection, Vertex, direction_between};
use super::weights;
use crate::{camera_importance, emission, lights};
use lockstep_core::geometry::{Ray, offset_origin};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniform};
use lockstep_core::math::sampling::pick;
use lockstep_core::math::vec3::max_component;
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::SceneData;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::splat::Technique;

/// Connects a vertex of a light sub-path to the lens; `bounce` is that of the ray that led to it.
#[inline(never)]
pub fn to_camera(
    camera: &CameraFrame,
    key: SampleKey,
    bounce: u32,
    vertex: &Vertex,
    ratios: MergeRatios,
) -> Option<Connection> {
    if vertex.is_specular() {
        return None;
    }
    let words = draw(key, Block::Lens, bounce);
    let lens = camera_importance::connect(camera, vertex.position, [uniform(words[0]), uniform(words[1])])?;
    let scattered = vertex.evaluate(lens.direction, vertex.from);
    let cosine = vertex.cosine(lens.direction);
    let distance2 = lens.distance * lens.distance;
    let light_paths = camera_importance::pixels(camera);
    let geometry = cosine / (vertex.cosine(vertex.from) * distance2);
    let value = vertex.throughput * scattered.value * (geometry * (lens.importance / light_paths));
    if max_component(value) <= 0.0 {
        return None;
    }
    let weight = weights::connect_to_camera(
        vertex.partial,
        scattered.pdf,
        lens.importance,
        cosine,
        distance2,
        light_paths,
        ratios,
    );
    let origin = offset_origin(vertex.position, vertex.geometric, lens.direction, vertex.scale);
    let ray = Ray { origin, t_min: 0.0, direction: lens.direction, t_max: lens.distance };
    let technique = Technique { light: bounce + 2, camera: 1 };
    Some(Connection { ray, pixel: lens.pixel, technique, value, weight })
}

/// Samples a light from a vertex of a camera sub-path; `bounce` is that of the ray that led to it.
#[inline(never)]
pub fn to_light(
    scene: &SceneData,
    key: SampleKey,
    bounce: u32,
    vertex: &Vertex,
    ratios: MergeRatios,
) -> Option<Connection> {
    if scene.lights.is_empty() || vertex.is_specular() {
        return None;
    }

    // Sample a light
    let sample = lights::sample(scene, vertex.position, vertex.scale, key, bounce, &mut ());
    if sample.pdf <= 0.0 {
        return None;
    }
    let scattered = vertex.evaluate_both(vertex.from, sample.direction);
    let value = vertex.throughput * scattered.value * sample.radiance * (1.0 / sample.pdf);
    if max_component(value) <= 0.0 {
        return None;
    }

    // Weigh it
    let words = draw(key, Block::Light, bounce);
    let light = &scene.lights[pick(&scene.light_alias, words[0], words[1]) as usize];
    let ratio = emission::pdf_ratio(scene, light, vertex.position, &sample);
    let pdf = if sample.delta { 0.0 } else { scattered.pdf };
    let cosine = vertex.cosine(sample.direction);
    let weight =
        weights::sample_light(vertex.partial, pdf, scattered.reverse_pdf, sample.pdf, ratio, cosine, ratios);

    // Build the shadow ray
    let origin = offset_origin(vertex.position, vertex.geometric, sample.direction, vertex.scale);
    let ray = Ray { origin, t_min: 0.0, direction: sample.direction, t_max: sample.shadow_end };
    let technique = Technique { light: 1, camera: bounce + 2 };
    Some(Connection { ray, pixel: key.pixel, technique, value, weight })
}

/// Connects a vertex of a light sub-path to one of a camera sub-path.
#[inline(never)]
pub fn join(
    key: SampleKey,
    technique: Technique,
    light: &Vertex,
    camera: &Vertex,
    ratios: MergeRatios,
) -> Option<Connection> {
    if light.is_specular() || camera.is_specular() {
        return None;
    }
    let (direction, _, distance2) = direction_between(camera.position, light.position)?;
    let back = -direction;

    // Evaluate both BSDFs
    let at_camera = camera.evaluate_both(camera.from, direction);
    if max_component(at_camera.value) <= 0.0 {
        return None;
    }
    let at_light = light.evaluate_both(back, light.from);
    let light_cosine = light.cosine(back);
    let geometry = light_cosine / (light.cosine(light.from) * distance2);
    let value = camera.throughput * light.throughput * at_camera.value * at_light.value * geometry;
    if max_component(value) <= 0.0 {
        return None;
    }

    // Weigh the connection
    let weight = weights::connect(
        (light.partial, at_light.reverse_pdf, at_light.pdf, light_cosine),
        (camera.partial, at_camera.pdf, at_camera.reverse_pdf, camera.cosine(direction)),
        distance2,
        ratios,
    );

    // Build the shadow ray, between points off both surfaces
    let origin = offset_origin(camera.position, camera.geometric, direction, camera.scale);
    let end = offset_origin(light.position, light.geometric, back, light.scale);
    let (towards, distance, _) = direction_between(origin, end)?;
    let ray = Ray { origin, t_min: 0.0, direction: towards, t_max: distance };
    Some(Connection { ray, pixel: key.pixel, technique, value, weight })
}
