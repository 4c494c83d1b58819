//! Ambient occlusion: the share of cosine-weighted directions that leave the scene from the first hit
//! (Zhukov, Iones and Kronin 1998). The counterpart is `kernels/integrators/ao.h`.

use crate::integrators::{Connection, ENDED, PathState, Shaded};
use crate::interaction::Interaction;
use lockstep_core::geometry::{FAR, Hit, Ray, offset_origin};
use lockstep_core::math::rng::{Block, draw, uniforms};
use lockstep_core::math::sampling::{cosine_hemisphere, frame};
use lockstep_core::math::vec3::{Vec3, dot, normalize};
use lockstep_core::path_record::{Recorder, VertexRecord};
use lockstep_core::scene::SceneData;

/// Sends one occlusion ray from the hit of a camera ray; unoccluded it adds 1. Occlusion is of the geometry:
/// normal maps and interpolated normals have no part in it.
#[inline(always)]
pub fn shade(scene: &SceneData, path: &PathState, hit: &Hit, record: &mut impl Recorder) -> Shaded {
    if !hit.is_some() {
        return ENDED;
    }
    let at = Interaction::new(scene, &path.ray, hit);
    record.note(|r| {
        r.flags |= VertexRecord::HIT;
        r.geometric = at.geometric;
        r.material = at.material;
    });

    // Sample a cosine-weighted direction on the side of the camera.
    let side = if dot(at.geometric, path.ray.direction) < 0.0 { 1.0 } else { -1.0 };
    let normal = at.geometric * side;
    let words = draw(path.key, Block::Bsdf, 0);
    let u = uniforms(words);
    let wi = cosine_hemisphere(u[1], u[2]);
    let (s, t) = frame(normal);
    let direction = normalize(s * wi.x + t * wi.y + normal * wi.z);

    // The density cancels the cosine, so each unoccluded ray counts alike.
    let origin = offset_origin(at.position, normal, direction, at.scale);
    record.note(|r| {
        r.flags |= VertexRecord::LIGHT | VertexRecord::SHADOW;
        r.shadow_origin = origin;
        r.shadow_t_max = FAR;
        r.shadow_radiance = Vec3::ONE;
        r.light_direction = direction;
        r.light_words = words;
    });
    let ray = Ray { origin, t_min: 0.0, direction, t_max: FAR };
    Shaded { continues: false, connection: Some(Connection { ray, radiance: Vec3::ONE }) }
}
