//! Records every vertex of one sample's path. The counterpart is `kernels/record_paths.h`.

use crate::integrators::{PathState, Shaded, generate, shade};
use bytemuck::Zeroable;
use lockstep_core::Settings;
use lockstep_core::geometry::{Hit, Ray, alpha};
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::path_record::VertexRecord;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::texture;
use lockstep_core::scene::{AlphaMode, NONE, SPHERE_BIT, SceneData};

/// Records the path of a sample, traced by the functions that renders run.
///
/// `closest_hit` and `any_hit` are the target's intersector.
pub fn record_path(
    scene: &SceneData,
    settings: &Settings,
    camera: &CameraFrame,
    key: SampleKey,
    mut closest_hit: impl FnMut(&Ray, RayKey) -> Hit,
    mut any_hit: impl FnMut(&Ray, RayKey) -> bool,
) -> Vec<VertexRecord> {
    let mut path = generate(camera, key);
    let mut vertices = Vec::new();
    for bounce in 0..settings.integrator.rounds(settings.bounces) {
        let mut record = VertexRecord {
            origin: path.ray.origin,
            direction: path.ray.direction,
            throughput: path.throughput,
            ..VertexRecord::zeroed()
        };
        let hit = closest_hit(&path.ray, RayKey::extension(key, bounce));
        record.instance = hit.instance;
        record.primitive = hit.primitive;
        record.t = hit.t;
        record.u = hit.u;
        record.v = hit.v;
        let shaded = shade_recorded(scene, settings, bounce, &mut path, &hit, &mut record);
        if hit.is_some() {
            let material = &scene.materials[record.material as usize];
            let opaque = material.alpha_mode == AlphaMode::Opaque as u32;
            record.alpha =
                if opaque { 1.0 } else { alpha(scene, material, hit.instance, hit.primitive, hit.u, hit.v) };
            record.coordinates = coordinates(scene, &hit);
        }
        if let Some(connection) = &shaded.connection
            && !any_hit(&connection.ray, RayKey::shadow(key, bounce))
        {
            record.flags |= VertexRecord::REACHED;
            path.radiance = path.radiance + connection.radiance;
        }
        record.radiance = path.radiance;
        vertices.push(record);
        if !shaded.continues {
            break;
        }
    }
    vertices
}

/// [`shade`], compiled once for all intersectors.
#[inline(never)]
fn shade_recorded(
    scene: &SceneData,
    settings: &Settings,
    bounce: u32,
    path: &mut PathState,
    hit: &Hit,
    record: &mut VertexRecord,
) -> Shaded {
    shade(scene, settings, bounce, path, hit, record)
}

/// Texture coordinates at a hit: those of the base colour texture, or the first set untransformed without
/// one.
fn coordinates(scene: &SceneData, hit: &Hit) -> [f32; 2] {
    if hit.primitive & SPHERE_BIT != 0 {
        return [0.0; 2];
    }
    let mesh = &scene.meshes[scene.instances[hit.instance as usize].mesh as usize];
    let triangle = &scene.triangles[(mesh.first_triangle + hit.primitive) as usize];
    let vertices = triangle.vertices.map(|i| scene.vertices[i as usize]);
    let b = [1.0 - hit.u - hit.v, hit.u, hit.v];
    let index = scene.materials[triangle.material as usize].base_color_texture;
    if index != NONE {
        return texture::coordinates(&scene.textures[index as usize], vertices.each_ref(), b);
    }
    let [p, q, r] = vertices.map(|v| v.uv0);
    [p[0] * b[0] + q[0] * b[1] + r[0] * b[2], p[1] * b[0] + q[1] * b[1] + r[1] * b[2]]
}
