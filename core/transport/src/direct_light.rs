//! Next-event estimation: sampling a light from a surface. The counterpart is
//! `kernels/integrators/direct_light.h`.

use crate::bsdf::Evaluation;
use crate::integrators::{Connection, PathState};
use crate::interaction::{Departure, Interaction, ShadingFrame};
use crate::lights::{self, LightSample};
use lockstep_core::geometry::Ray;
use lockstep_core::math::sampling::power_heuristic;
use lockstep_core::math::vec3::{Vec3, max_component};
use lockstep_core::path_record::{Recorder, VertexRecord};
use lockstep_core::scene::SceneData;
use lockstep_core::{Settings, Strategy};

/// A sampled light and its direction in the shading frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampledLight {
    light: LightSample,
    /// Direction to the light in the shading frame.
    pub(crate) wi: Vec3,
}

/// Samples a light for a surface; `None` where no light can arrive.
#[inline(always)]
pub(crate) fn sample_light(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &PathState,
    at: &Interaction<'_>,
    local: &ShadingFrame<'_>,
    record: &mut impl Recorder,
) -> Option<SampledLight> {
    if scene.lights.is_empty() || local.is_specular() {
        return None;
    }
    let light = lights::sample(scene, at.position, at.scale, path.key, bounce, record);
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
    local.same_side(light.direction, wi.z).then_some(SampledLight { light, wi })
}

/// Builds the shadow ray to a sampled light, for the BSDF of its direction; `None` where no light can arrive.
#[inline(always)]
pub(crate) fn connect_to_light(
    settings: &Settings,
    path: &PathState,
    at: &Departure,
    sampled: &SampledLight,
    scattered: Evaluation,
    record: &mut impl Recorder,
) -> Option<Connection> {
    let light = &sampled.light;
    record.note(|r| {
        r.light_bsdf = scattered.value;
        r.light_bsdf_pdf = scattered.pdf;
    });

    // Weight by MIS
    let mut weight = 1.0;
    if !light.delta && settings.strategy == Strategy::Mis {
        weight = power_heuristic(light.pdf, scattered.pdf);
    }
    let radiance = path.throughput * scattered.value * light.radiance * (weight / light.pdf);
    if max_component(radiance) <= 0.0 {
        return None;
    }

    // Build the shadow ray
    let origin = at.origin(light.direction);
    let t_max = light.shadow_end;
    record.note(|r| {
        r.flags |= VertexRecord::SHADOW;
        r.shadow_origin = origin;
        r.shadow_t_max = t_max;
        r.shadow_radiance = radiance;
    });
    Some(Connection { ray: Ray { origin, t_min: 0.0, direction: light.direction, t_max }, radiance })
}
