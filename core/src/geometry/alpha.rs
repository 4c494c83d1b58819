//! The alpha test at an intersection: alpha mask, alpha blend as stochastic transparency (Enderton et al.
//! 2010), and back-face culling.

use crate::geometry::triangle_normal;
use crate::math::rng::{self, RayKey};
use crate::math::saturate;
use crate::math::vec3::{Vec3, dot};
use crate::scene::texture;
use crate::scene::{AlphaMode, Material, NONE, SPHERE_BIT, SceneData};

/// True when a ray hits a primitive that has alpha, false when it passes through. `direction` is the ray's in
/// the instance's object space, `key` identifies it.
#[inline(always)]
pub fn passes_alpha_test(
    scene: &SceneData,
    instance: u32,
    primitive: u32,
    u: f32,
    v: f32,
    direction: Vec3,
    key: RayKey,
) -> bool {
    let material = &scene.materials[scene.material_of(instance, primitive) as usize];
    if material.flags & Material::SINGLE_SIDED != 0 && is_from_behind(scene, instance, primitive, direction) {
        return false;
    }
    if material.alpha_mode == AlphaMode::Opaque as u32 {
        return true;
    }
    let alpha = alpha(scene, material, instance, primitive, u, v);
    if material.alpha_mode == AlphaMode::Mask as u32 {
        return alpha >= material.alpha_cutoff;
    }
    rng::alpha_uniform(key, instance, primitive) < alpha
}

/// True when a ray sees the back of a triangle. Neither side of an edge-on triangle is its back.
#[inline(always)]
fn is_from_behind(scene: &SceneData, instance: u32, primitive: u32, direction: Vec3) -> bool {
    if primitive & SPHERE_BIT != 0 {
        return false;
    }
    let mesh = &scene.meshes[scene.instances[instance as usize].mesh as usize];
    let [i0, i1, i2] = scene.triangles[(mesh.first_triangle + primitive) as usize].vertices;
    let position = |i: u32| Vec3::from(scene.positions[i as usize]);
    dot(triangle_normal([position(i0), position(i1), position(i2)]), direction) > 0.0
}

/// The share of rays that hit a surface of this alpha: the mean of the alpha test over all rays.
#[inline(always)]
pub fn opacity(material: &Material, alpha: f32) -> f32 {
    if material.alpha_mode == AlphaMode::Mask as u32 {
        return if alpha >= material.alpha_cutoff { 1.0 } else { 0.0 };
    }
    saturate(alpha)
}

/// The alpha of a surface point.
#[inline(always)]
pub fn alpha(scene: &SceneData, material: &Material, instance: u32, primitive: u32, u: f32, v: f32) -> f32 {
    if primitive & SPHERE_BIT != 0 {
        return material.alpha;
    }
    let mesh = &scene.meshes[scene.instances[instance as usize].mesh as usize];
    triangle_alpha(scene, material, mesh.first_triangle + primitive, u, v)
}

/// The alpha at barycentrics `(u, v)` of a triangle of the scene.
#[inline(always)]
pub fn triangle_alpha(scene: &SceneData, material: &Material, triangle: u32, u: f32, v: f32) -> f32 {
    let [i0, i1, i2] = scene.triangles[triangle as usize].vertices;
    let vertices = [&scene.vertices[i0 as usize], &scene.vertices[i1 as usize], &scene.vertices[i2 as usize]];
    // Alpha of the material and the vertices
    let b = [1.0 - u - v, u, v];
    let of_vertices = vertices[0].alpha() * b[0] + vertices[1].alpha() * b[1] + vertices[2].alpha() * b[2];
    let mut alpha = material.alpha * of_vertices;
    // Alpha of the base colour texture
    if material.base_color_texture != NONE {
        let t = &scene.textures[material.base_color_texture as usize];
        alpha *= texture::sample(scene, t, texture::coordinates(t, vertices, b)).a;
    }
    alpha
}
