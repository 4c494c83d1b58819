//! The path tracer, one stage at a time. The twin is `kernels/path.h`.
//!
//! A path is generated at the camera; then, for each bounce, it is *extended* to the closest hit, *shaded* there
//! (emission, next-event estimation into a shadow ray, a direction onwards) and *connected* (its shadow ray, if
//! unoccluded, adds light). Stages exchange only the records of this file, so a backend may run them path by path or as
//! queues of paths.

use crate::bsdf;
use crate::interaction::{Interaction, MIN_COSINE, ShadingFrame};
use crate::lights;
use lockstep_core::geometry::{FAR, Hit, Ray, offset_origin};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniforms};
use lockstep_core::math::sampling::{frame, power_heuristic};
use lockstep_core::math::vec3::{Vec3, dot, max_component, vec3};
use lockstep_core::math::{max, min};
use lockstep_core::path_record::{Recorder, VertexRecord};
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::{Material, NONE, SceneData, environment_radiance};
use lockstep_core::{Settings, Strategy};

/// Shadow rays end this share before their light, so that the light's own surface does not occlude.
pub const SHADOW_SHORTENING: f32 = 0.999;

/// A path between two stages.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PathState {
    /// The extension ray.
    pub ray: Ray,
    /// Product of scattering weights so far.
    pub throughput: Vec3,
    /// Density of the ray's direction under BSDF sampling; zero from the camera or a smooth surface.
    pub bsdf_pdf: f32,
    /// Radiance gathered so far.
    pub radiance: Vec3,
    /// What all draws of this path are hashed from.
    pub key: SampleKey,
}

/// A shadow ray and what it adds if nothing is in its way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Connection {
    /// From the surface to just before the light.
    pub ray: Ray,
    /// Radiance to add to the path.
    pub radiance: Vec3,
}

/// What shading leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaded {
    /// True when the path goes on along its new extension ray.
    pub continues: bool,
    /// A shadow ray to trace.
    pub connection: Option<Connection>,
}

/// A path that ends without more.
pub const ENDED: Shaded = Shaded { continues: false, connection: None };

/// Starts the path of a sample.
#[inline(always)]
pub fn generate(camera: &CameraFrame, key: SampleKey) -> PathState {
    let u = uniforms(draw(key, Block::Camera, 0));
    let (origin, direction) = camera.ray(key.pixel, u);
    PathState {
        ray: Ray { origin, t_min: 0.0, direction, t_max: FAR },
        throughput: Vec3::ONE,
        bsdf_pdf: 0.0,
        radiance: Vec3::ZERO,
        key,
    }
}

/// Shades what the extension ray found: updates the path's radiance, throughput and ray. `record` is told what was
/// computed on the way.
#[inline(always)]
pub fn shade(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
    record: &mut impl Recorder,
) -> Shaded {
    if !hit.is_some() {
        add_environment(scene, settings, path);
        record.note(|r| r.gathered = path.radiance);
        return ENDED;
    }
    let at = Interaction::new(scene, &path.ray, hit);
    record.note(|r| {
        r.flags |= VertexRecord::HIT;
        r.geometric = at.geometric;
        r.material = at.material;
    });
    let instance = &scene.instances[hit.instance as usize];
    let material = &scene.materials[at.material as usize];
    let back = -path.ray.direction;
    let outside = dot(at.geometric, back) > 0.0;
    add_emission(scene, settings, path, &at, material, hit.t);
    record.note(|r| r.gathered = path.radiance);
    if bounce == settings.bounces {
        return ENDED;
    }

    // Set up the local frame on the side that the path came from.
    let side = if outside { 1.0 } else { -1.0 };
    let geometric = at.geometric * side;
    let bent = at.perturbed_normal(scene, instance, material) * side;
    let normal = if dot(bent, back) > MIN_COSINE { bent } else { geometric };
    let (s, t) = frame(normal);
    let wo = vec3(dot(back, s), dot(back, t), max(dot(back, normal), MIN_COSINE));
    let surface = at.surface(scene, material, outside);
    let local = ShadingFrame { s, t, normal, geometric, wo, surface };
    record.note(|r| {
        r.flags |= VertexRecord::SHADED;
        r.base_color = local.surface.base_color;
        r.roughness = local.surface.roughness;
        r.metallic = local.surface.metallic;
        r.normal = local.normal;
    });

    let connection = connect_to_light(scene, settings, bounce, path, &at, &local, record);
    let continues = scatter(settings, bounce, path, &at, &local, record);
    Shaded { continues, connection }
}

/// The weight of light found by following the BSDF where light sampling has density `light_pdf`.
#[inline(always)]
fn hit_weight(settings: &Settings, bsdf_pdf: f32, light_pdf: f32) -> f32 {
    if bsdf_pdf == 0.0 || settings.strategy == Strategy::BsdfOnly {
        return 1.0;
    }
    if settings.strategy == Strategy::LightOnly {
        // What light sampling cannot find must still be counted.
        return if light_pdf > 0.0 { 0.0 } else { 1.0 };
    }
    power_heuristic(bsdf_pdf, light_pdf)
}

#[inline(always)]
fn add_environment(scene: &SceneData, settings: &Settings, path: &mut PathState) {
    let direction = path.ray.direction;
    let radiance = environment_radiance(&scene.environment, &scene.environment_texels, direction);
    let mut weight = 1.0;
    if path.bsdf_pdf > 0.0 {
        weight = hit_weight(settings, path.bsdf_pdf, lights::environment_pdf(scene, direction));
    }
    path.radiance = path.radiance + path.throughput * radiance * weight;
}

#[inline(always)]
fn add_emission(
    scene: &SceneData,
    settings: &Settings,
    path: &mut PathState,
    at: &Interaction<'_>,
    material: &Material,
    t: f32,
) {
    if max_component(material.emission) <= 0.0 {
        return;
    }
    let cosine = lights::emission_cosine(material, -dot(at.geometric, path.ray.direction));
    if cosine <= 0.0 {
        return;
    }
    let on_triangle = at.triangle != NONE;
    let emission = if on_triangle {
        lights::triangle_emission(scene, material, at.triangle, [at.barycentrics[1], at.barycentrics[2]])
    } else {
        material.emission
    };
    let mut weight = 1.0;
    if path.bsdf_pdf > 0.0 {
        let distance2 = t * t;
        let light_pdf = if on_triangle {
            lights::area_to_solid_angle(material, distance2, cosine)
        } else {
            lights::sphere_pdf(material, at.sphere.0, at.sphere.1, path.ray.origin, distance2, cosine)
        };
        weight = hit_weight(settings, path.bsdf_pdf, light_pdf);
    }
    path.radiance = path.radiance + path.throughput * emission * weight;
}

/// Next-event estimation: a shadow ray to a sampled light.
#[inline(always)]
fn connect_to_light(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &PathState,
    at: &Interaction<'_>,
    local: &ShadingFrame,
    record: &mut impl Recorder,
) -> Option<Connection> {
    if scene.lights.is_empty() || local.surface.is_specular() {
        return None;
    }
    let light = lights::sample(scene, at.position, path.key, bounce, record);
    record.note(|r| {
        r.light_direction = light.direction;
        r.light_distance = light.distance;
        r.light_radiance = light.radiance;
        r.light_pdf = light.pdf;
    });
    if light.pdf <= 0.0 || (settings.strategy == Strategy::BsdfOnly && !light.delta) {
        return None;
    }
    let wi = local.to_local(light.direction);
    if !local.same_side(light.direction, wi.z) {
        return None;
    }
    let scattered = bsdf::evaluate(&local.surface, local.wo, wi);
    record.note(|r| {
        r.light_bsdf = scattered.value;
        r.light_bsdf_pdf = scattered.pdf;
    });
    let mut weight = 1.0;
    if !light.delta && settings.strategy == Strategy::Mis {
        weight = power_heuristic(light.pdf, scattered.pdf);
    }
    let radiance = path.throughput * scattered.value * light.radiance * (weight / light.pdf);
    if max_component(radiance) <= 0.0 {
        return None;
    }
    let origin = offset_origin(at.position, local.geometric, light.direction, at.scale);
    let t_max = min(light.distance * SHADOW_SHORTENING, FAR);
    record.note(|r| {
        r.flags |= VertexRecord::SHADOW;
        r.shadow_origin = origin;
        r.shadow_t_max = t_max;
        r.shadow_radiance = radiance;
    });
    Some(Connection { ray: Ray { origin, t_min: 0.0, direction: light.direction, t_max }, radiance })
}

/// Chooses the next extension ray; false when the path ends.
#[inline(always)]
fn scatter(
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    at: &Interaction<'_>,
    local: &ShadingFrame,
    record: &mut impl Recorder,
) -> bool {
    let words = draw(path.key, Block::Bsdf, bounce);
    let u = uniforms(words);
    let scattered = bsdf::sample(&local.surface, local.wo, [u[0], u[1], u[2]]);
    let direction = local.to_world(scattered.wi);
    let mut throughput = path.throughput * scattered.weight;
    record.note(|r| {
        r.flags |= VertexRecord::SCATTER;
        r.scatter_words = words;
        r.scatter_direction = direction;
        r.scatter_pdf = scattered.pdf;
        r.scatter_throughput = throughput;
    });
    if max_component(throughput) <= 0.0 || !local.same_side(direction, scattered.wi.z) {
        return false;
    }
    if let Some(first) = settings.roulette_from
        && bounce >= first
    {
        let survival = min(max_component(throughput), 0.95);
        if u[3] >= survival {
            return false;
        }
        throughput = throughput * (1.0 / survival);
    }
    record.note(|r| {
        r.flags |= VertexRecord::CONTINUES;
        r.scatter_throughput = throughput;
    });
    path.throughput = throughput;
    path.bsdf_pdf = scattered.pdf;
    let origin = offset_origin(at.position, local.geometric, direction, at.scale);
    path.ray = Ray { origin, t_min: 0.0, direction, t_max: FAR };
    true
}
