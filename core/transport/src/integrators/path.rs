//! Path tracing with next-event estimation and multiple importance sampling (Kajiya 1986; Veach 1997). The
//! counterpart is `kernels/integrators/path.h`.

use crate::bsdf::{MIN_COSINE, PickedLobe, Scatter, Surface};
use crate::direct_light::{connect_to_light, sample_light};
use crate::integrators::{Connection, ENDED, PathState, Shaded};
use crate::interaction::{Departure, Interaction, ShadingFrame};
use crate::interior_list::{self, InteriorList};
use crate::lights;
use crate::media;
use lockstep_core::geometry::{FAR, Hit, Ray, offset_origin};
use lockstep_core::math::rng::{Block, draw, uniforms};
use lockstep_core::math::sampling::{frame, power_heuristic};
use lockstep_core::math::vec3::{Vec3, dot, max_component, vec3};
use lockstep_core::math::{max, min};
use lockstep_core::path_record::{Recorder, VertexRecord};
use lockstep_core::scene::{Instance, Material, MaterialKind, NONE, SceneData, environment_radiance};
use lockstep_core::{LayerSampling, Settings, Strategy};
use std::ops::ControlFlow;

/// A surface that a path has reached, before light and BSDF are sampled.
pub(crate) struct Arrival<'a> {
    pub(crate) at: Interaction<'a>,
    pub(crate) instance: &'a Instance,
    pub(crate) material: &'a Material,
    /// The frame without layers.
    pub(crate) local: ShadingFrame<'static>,
    /// Media beyond a dielectric with a priority.
    beyond: InteriorList,
}

/// Shades the hit of an extension ray: updates the path's radiance, throughput and ray. `record` receives the
/// quantities computed. `PLAIN` may be true where no material has layers, a medium or a priority.
#[inline(always)]
pub fn shade<const PLAIN: bool>(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
    record: &mut impl Recorder,
) -> Shaded {
    match arrive::<PLAIN>(scene, settings, bounce, path, hit, record) {
        ControlFlow::Continue(arrival) => leave::<PLAIN>(scene, settings, bounce, path, arrival, record),
        ControlFlow::Break(shaded) => shaded,
    }
}

/// Samples a light and the next extension ray at a surface.
#[inline(always)]
pub(crate) fn leave<const PLAIN: bool>(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    arrival: Arrival<'_>,
    record: &mut impl Recorder,
) -> Shaded {
    let Arrival { at, instance, material, local, beyond } = arrival;
    let has_media = !PLAIN && !scene.layers.is_empty();
    let nested = !PLAIN && material.priority != 0;
    let layers = if PLAIN { None } else { at.layers(scene, instance, material) };
    let mut local = ShadingFrame { layers: layers.as_ref(), ..local };
    let picked =
        if !PLAIN && settings.layers == LayerSampling::Tree { pick_lobe(path, bounce, &local) } else { None };
    local.picked = picked.as_ref();
    let departure = local.departure(&at);

    // Sample direct lighting
    let light = sample_light(scene, settings, bounce, path, &at, &local, record);
    let mut connection = light.and_then(|light| {
        let scattered = local.evaluate(light.wi);
        connect_to_light(settings, path, &departure, &light, scattered, record)
    });
    if has_media && let Some(connection) = &mut connection {
        if nested {
            attenuate_nested(scene, path, beyond, &local, connection);
        } else {
            attenuate_connection(scene, path, material, &local, connection);
        }
    }

    // Sample the next extension ray
    let words = draw(path.key, Block::Bsdf, bounce);
    record.note(|r| {
        r.flags |= VertexRecord::SCATTER;
        r.scatter_words = words;
    });
    let u = uniforms(words);
    let scattered = local.sample([u[0], u[1], u[2]]);
    let continues = scatter(settings, bounce, path, &departure, &local, scattered, u[3], record);
    if nested && continues && dot(path.ray.direction, local.geometric) < 0.0 {
        path.interiors = beyond;
    }
    if has_media && continues {
        let z = dot(path.ray.direction, local.geometric);
        path.medium = media::leaving(material, path.medium, local.surface.outside, z);
        if nested {
            path.medium = real_medium(scene, path, path.interiors);
        }
    }
    Shaded { continues, connection }
}

/// Adds what an extension ray finds in its medium and at its hit, and builds the shading frame there; breaks where the
/// path ends or passes through a false hit.
#[inline(always)]
pub(crate) fn arrive<'a, const PLAIN: bool>(
    scene: &'a SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
    record: &mut impl Recorder,
) -> ControlFlow<Shaded, Arrival<'a>> {
    // Add the environment to an escaped ray
    if !hit.is_some() {
        add_environment(scene, settings, path);
        record.note(|r| r.gathered = path.radiance);
        return ControlFlow::Break(ENDED);
    }

    // Compute the surface interaction
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

    // Find the media on both sides of a dielectric with a priority
    let nested = !PLAIN && material.priority != 0;
    let mut beyond = path.interiors;
    if nested {
        [path.interiors, beyond] = both_sides(scene, path, at.material + 1, outside);
    }

    // Attenuate in the medium that the ray has passed
    let has_media = !PLAIN && !scene.layers.is_empty();
    if has_media {
        path.medium = media::arriving(material, path.medium, outside);
        if nested {
            path.medium = real_medium(scene, path, path.interiors);
        }
        path.throughput = path.throughput * media::transmittance(scene, path.medium, hit.t);
    }

    // Add emission
    add_emission(scene, settings, bounce, path, &at, material, hit.t);
    record.note(|r| r.gathered = path.radiance);
    if bounce == settings.bounces {
        return ControlFlow::Break(ENDED);
    }

    // Pass through a false hit
    let side = if outside { 1.0 } else { -1.0 };
    let geometric = at.geometric * side;
    if nested && interior_list::real_medium(path.interiors) == interior_list::real_medium(beyond) {
        pass_through(path, &at, geometric, beyond, record);
        return ControlFlow::Break(Shaded { continues: true, connection: None });
    }

    // Build the shading frame on the side of the incoming ray
    let perturbed = at.perturbed_normal(scene, instance, material) * side;
    let normal = if dot(perturbed, back) > MIN_COSINE { perturbed } else { geometric };
    let (s, t) = frame(normal);
    let wo = vec3(dot(back, s), dot(back, t), max(dot(back, normal), MIN_COSINE));

    // Evaluate the material's textures
    let mut surface = at.surface(scene, material, outside);
    if has_media {
        disperse(scene, path, material, &mut surface);
    }
    if nested {
        refract_between(scene, path, beyond, &mut surface);
    }
    record.note(|r| {
        r.flags |= VertexRecord::SHADED;
        r.base_color = surface.base_color;
        r.roughness = surface.roughness;
        r.metallic = surface.metallic;
        r.normal = normal;
    });
    let local = ShadingFrame { s, t, normal, geometric, wo, surface, layers: None, picked: None };
    ControlFlow::Continue(Arrival { at, instance, material, local, beyond })
}

/// Picks one lobe of the layers; `None` for a surface without.
#[inline(never)]
fn pick_lobe(path: &PathState, bounce: u32, local: &ShadingFrame<'_>) -> Option<PickedLobe> {
    local.layers?;
    let u = uniforms(draw(path.key, Block::Layer, bounce));
    local.pick_lobe([u[0], u[1]])
}

/// The interior lists of the ray that arrives at a surface of this medium, and beyond it.
#[inline(never)]
fn both_sides(scene: &SceneData, path: &PathState, medium: u32, outside: bool) -> [InteriorList; 2] {
    let list = interior_list::arrive(scene, path.interiors, medium, outside);
    [list, interior_list::cross(scene, list, medium, outside)]
}

/// The real medium of a list, as [`PathState::medium`] names it.
#[inline(always)]
fn real_medium(scene: &SceneData, path: &PathState, list: InteriorList) -> u32 {
    interior_list::real_layers(scene, list) | (path.medium & media::CHANNEL_CHOSEN)
}

/// [`attenuate_connection`] at a dielectric with a priority.
#[inline(never)]
fn attenuate_nested(
    scene: &SceneData,
    path: &PathState,
    beyond: InteriorList,
    local: &ShadingFrame<'_>,
    connection: &mut Connection,
) {
    if connection.ray.t_max < FAR {
        let z = dot(connection.ray.direction, local.geometric);
        let medium = real_medium(scene, path, if z < 0.0 { beyond } else { path.interiors });
        let share = media::transmittance(scene, medium, connection.ray.t_max);
        connection.radiance = connection.radiance * share;
    }
}

/// Lets a path go straight on beyond a false hit. Shadow rays are blocked there, so light sampling finds nothing beyond,
/// and what the ray finds counts in full.
#[inline(always)]
fn pass_through(
    path: &mut PathState,
    at: &Interaction<'_>,
    geometric: Vec3,
    beyond: InteriorList,
    record: &mut impl Recorder,
) {
    record.note(|r| r.flags |= VertexRecord::FALSE_HIT | VertexRecord::CONTINUES);
    path.interiors = beyond;
    path.bsdf_pdf = 0.0;
    let direction = path.ray.direction;
    let origin = offset_origin(at.position, geometric, direction, at.scale);
    path.ray = Ray { origin, t_min: 0.0, direction, t_max: FAR };
}

/// Gives a surface the index of refraction between the media on its sides: of the denser one against the thinner one,
/// which is outside. Where one is dispersive, both have their index of the path's channel.
#[inline(never)]
fn refract_between(scene: &SceneData, path: &mut PathState, beyond: InteriorList, surface: &mut Surface) {
    let media = [path.interiors, beyond].map(interior_list::real_medium);
    let mut indices = media.map(|medium| interior_list::index_of_refraction(scene, medium));
    let dispersions = media.map(|medium| interior_list::dispersion(scene, medium));
    if max(dispersions[0], dispersions[1]) > 0.0 {
        let channel = follow_channel(path);
        for (index, dispersion) in indices.iter_mut().zip(dispersions) {
            *index = media::dispersed_ior(*index, dispersion, channel);
        }
    }
    let [here, there] = indices;
    surface.outside = there >= here;
    surface.ior = if surface.outside { there / here } else { here / there };
}

/// The colour channel that a path follows, chosen once.
#[inline(always)]
fn follow_channel(path: &mut PathState) -> u32 {
    let channel = media::dispersed_channel(path.key);
    if path.medium & media::CHANNEL_CHOSEN == 0 {
        path.throughput = media::one_channel(path.throughput, channel);
        path.medium |= media::CHANNEL_CHOSEN;
    }
    channel
}

/// Follows one colour channel through a dispersive dielectric, with its index of refraction.
#[inline(never)]
fn disperse(scene: &SceneData, path: &mut PathState, material: &Material, surface: &mut Surface) {
    if material.kind != MaterialKind::Dielectric as u32 || material.layers == 0 {
        return;
    }
    let dispersion = scene.layers[(material.layers - 1) as usize].dispersion;
    if dispersion <= 0.0 {
        return;
    }
    let channel = follow_channel(path);
    surface.ior = media::dispersed_ior(surface.ior, dispersion, channel);
}

/// Attenuates light that arrives through the medium on its side of the surface. Lights without a place are beyond all
/// media.
#[inline(never)]
fn attenuate_connection(
    scene: &SceneData,
    path: &PathState,
    material: &Material,
    local: &ShadingFrame<'_>,
    connection: &mut Connection,
) {
    if connection.ray.t_max < FAR {
        let z = dot(connection.ray.direction, local.geometric);
        let medium = media::leaving(material, path.medium, local.surface.outside, z);
        let share = media::transmittance(scene, medium, connection.ray.t_max);
        connection.radiance = connection.radiance * share;
    }
}

/// MIS weight of a BSDF sample that hits a light of light-sampling density `light_pdf`.
#[inline(always)]
fn hit_weight(settings: &Settings, bsdf_pdf: f32, light_pdf: f32) -> f32 {
    if bsdf_pdf == 0.0 || settings.strategy == Strategy::BsdfOnly {
        return 1.0;
    }
    if settings.strategy == Strategy::LightOnly {
        // Light that light sampling cannot find must still be counted.
        return if light_pdf > 0.0 { 0.0 } else { 1.0 };
    }
    power_heuristic(bsdf_pdf, light_pdf)
}

/// Adds the environment's radiance along an escaped ray.
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

/// Adds the radiance that the surface emits, weighted by MIS.
#[inline(always)]
fn add_emission(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
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
    let emission = at.emission(scene, material, bounce);
    let mut weight = 1.0;
    if path.bsdf_pdf > 0.0 {
        let distance2 = t * t;
        let light_pdf = if at.triangle != NONE {
            lights::area_to_solid_angle(material, distance2, cosine)
        } else {
            lights::sphere_pdf(material, at.sphere.0, at.sphere.1, path.ray.origin, distance2, cosine)
        };
        weight = hit_weight(settings, path.bsdf_pdf, light_pdf);
    }
    path.radiance = path.radiance + path.throughput * emission * weight;
}

/// Continues a path along a sampled direction, with Russian roulette by the draw `u`; false if the path terminates.
#[inline(always)]
pub(crate) fn scatter(
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    departure: &Departure,
    local: &ShadingFrame<'_>,
    scattered: Scatter,
    u: f32,
    record: &mut impl Recorder,
) -> bool {
    let direction = local.to_world(scattered.wi);
    let mut throughput = path.throughput * scattered.weight;
    record.note(|r| {
        r.scatter_direction = direction;
        r.scatter_pdf = scattered.pdf;
        r.scatter_throughput = throughput;
    });
    if max_component(throughput) <= 0.0 || !local.same_side(direction, scattered.wi.z) {
        return false;
    }

    // Russian roulette
    if let Some(first) = settings.roulette_from
        && bounce >= first
    {
        let survival = min(max_component(throughput), 0.95);
        if u >= survival {
            return false;
        }
        throughput = throughput * (1.0 / survival);
    }

    // Spawn the next ray
    record.note(|r| {
        r.flags |= VertexRecord::CONTINUES;
        r.scatter_throughput = throughput;
    });
    path.throughput = throughput;
    path.bsdf_pdf = scattered.pdf;
    path.ray = Ray { origin: departure.origin(direction), t_min: 0.0, direction, t_max: FAR };
    true
}
