//! The path tracer, one stage at a time. The twin is `kernels/path.h`.
//!
//! A path is generated at the camera; then, for each bounce, it is *extended* to the closest hit, *shaded* there
//! (emission, next-event estimation into a shadow ray, a direction onwards) and *connected* (its shadow ray, if
//! unoccluded, adds light). Stages exchange only the records of this file, so a backend may run them path by path or as
//! queues of paths.

use crate::bsdf::{self, Surface};
use crate::camera::CameraFrame;
use crate::intersect::{FAR, Hit, Ray, coordinate_scale, offset_origin, triangle_normal};
use crate::lights;
use crate::math::{max, min};
use crate::renderer::{Settings, Strategy};
use crate::rng::{Block, SampleKey, draw, uniforms};
use crate::sampling::{frame, power_heuristic};
use crate::scene::{
    Instance, Material, MaterialKind, NONE, SPHERE_BIT, SceneData, Vertex, transform_normal, transform_point,
    transform_vector,
};
use crate::texture;
use crate::trace::{Recorder, VertexRecord};
use crate::vec3::{Vec3, cross, dot, max_abs_component, max_component, normalize, vec3};

mod batch;

pub use batch::{Batch, Outgoing, ShadowRay, can_batch};

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

/// A point on a surface, in world space.
struct Interaction<'a> {
    position: Vec3,
    /// Unit geometric normal on the front side.
    geometric: Vec3,
    /// Unit shading normal on the front side, before any normal map.
    shading: Vec3,
    /// Bounds the coordinates from which the position was computed.
    scale: f32,
    vertices: [&'a Vertex; 3],
    barycentrics: [f32; 3],
    material: u32,
    /// Triangle of the scene, or [`NONE`] on a sphere.
    triangle: u32,
    /// Centre and radius of a sphere in world space.
    sphere: (Vec3, f32),
}

impl<'a> Interaction<'a> {
    #[inline(always)]
    fn new(scene: &'a SceneData, ray: &Ray, hit: &Hit) -> Self {
        let instance = &scene.instances[hit.instance as usize];
        if hit.primitive & SPHERE_BIT != 0 {
            Self::on_sphere(scene, instance, ray, hit)
        } else {
            Self::on_triangle(scene, instance, hit)
        }
    }

    #[inline(always)]
    fn on_triangle(scene: &'a SceneData, instance: &Instance, hit: &Hit) -> Self {
        let mesh = &scene.meshes[instance.mesh as usize];
        let index = mesh.first_triangle + hit.primitive;
        let triangle = &scene.triangles[index as usize];
        let b = [1.0 - hit.u - hit.v, hit.u, hit.v];
        // Arrays are spelled out in hot code, since `map` on them is not always inlined.
        let [i0, i1, i2] = triangle.vertices;
        let position = |i: u32| Vec3::from(scene.positions[i as usize]);
        let p = [position(i0), position(i1), position(i2)];
        let vertices =
            [&scene.vertices[i0 as usize], &scene.vertices[i1 as usize], &scene.vertices[i2 as usize]];
        let mut position = p[0] * b[0] + p[1] * b[1] + p[2] * b[2];
        let mut normal = triangle_normal(p);
        let mut shading = vertices[0].normal * b[0] + vertices[1].normal * b[1] + vertices[2].normal * b[2];
        let mut scale = max(coordinate_scale(p[0], p[1]), max_abs_component(p[2]));
        if instance.flags & Instance::IDENTITY == 0 {
            let m = &instance.object_to_world;
            position = transform_point(m, position);
            let corners = [transform_point(m, p[0]), transform_point(m, p[1]), transform_point(m, p[2])];
            let turned = if instance.flags & Instance::MIRRORED != 0 { -1.0 } else { 1.0 };
            normal = cross(transform_vector(m, p[1] - p[0]), transform_vector(m, p[2] - p[0])) * turned;
            shading = transform_normal(&instance.world_to_object, shading);
            scale = max(coordinate_scale(corners[0], corners[1]), max_abs_component(corners[2]));
            scale = max(scale, max_abs_component(vec3(m[0][3], m[1][3], m[2][3])));
        }
        let geometric = normalize(normal);
        let shading = normalize(shading);
        Self {
            position,
            geometric,
            shading: if dot(shading, shading) > 0.0 { shading } else { geometric },
            scale,
            vertices,
            barycentrics: b,
            material: triangle.material,
            triangle: index,
            sphere: (Vec3::ZERO, 0.0),
        }
    }

    #[inline(always)]
    fn on_sphere(scene: &'a SceneData, instance: &Instance, ray: &Ray, hit: &Hit) -> Self {
        let mesh = &scene.meshes[instance.mesh as usize];
        let sphere = &scene.spheres[(mesh.first_sphere + (hit.primitive & !SPHERE_BIT)) as usize];
        let identity = instance.flags & Instance::IDENTITY != 0;
        let (back, m) = (&instance.world_to_object, &instance.object_to_world);
        let origin = if identity { ray.origin } else { transform_point(back, ray.origin) };
        let direction = if identity { ray.direction } else { transform_vector(back, ray.direction) };
        // Project the rounded hit point back onto the sphere.
        let local_normal = normalize(origin + direction * hit.t - sphere.center);
        let local = sphere.center + local_normal * sphere.radius;
        let position = if identity { local } else { transform_point(m, local) };
        let normal = if identity { local_normal } else { normalize(transform_normal(back, local_normal)) };
        let center = if identity { sphere.center } else { transform_point(m, sphere.center) };
        let radius = sphere.radius * instance.scale;
        let scale =
            max(max_abs_component(center) + radius, max_abs_component(vec3(m[0][3], m[1][3], m[2][3])));
        Self {
            position,
            geometric: normal,
            shading: normal,
            scale,
            vertices: [&Vertex::PLAIN; 3],
            barycentrics: [1.0, 0.0, 0.0],
            material: sphere.material,
            triangle: NONE,
            sphere: (center, radius),
        }
    }

    /// A texture's value here; white on spheres, which have no texture coordinates.
    #[inline(always)]
    fn texture(&self, scene: &SceneData, index: u32) -> texture::Rgba {
        if index == NONE || self.triangle == NONE {
            return texture::Rgba { rgb: Vec3::ONE, a: 1.0 };
        }
        let t = &scene.textures[index as usize];
        texture::sample(scene, t, texture::coordinates(t, self.vertices, self.barycentrics))
    }

    /// The shading normal bent by the material's normal map.
    #[inline(always)]
    fn bent_normal(&self, scene: &SceneData, instance: &Instance, material: &Material) -> Vec3 {
        if material.normal_texture == NONE || self.triangle == NONE {
            return self.shading;
        }
        let b = self.barycentrics;
        let v = &self.vertices;
        let along = v[0].tangent * b[0] + v[1].tangent * b[1] + v[2].tangent * b[2];
        let along = if instance.flags & Instance::IDENTITY != 0 {
            along
        } else {
            transform_vector(&instance.object_to_world, along)
        };
        let n = self.shading;
        let tangent = normalize(along - n * dot(n, along));
        if dot(tangent, tangent) == 0.0 {
            return n;
        }
        let turned = if instance.flags & Instance::MIRRORED != 0 { -1.0 } else { 1.0 };
        let bitangent = cross(n, tangent) * (v[0].tangent_sign * turned);
        let texel = self.texture(scene, material.normal_texture).rgb;
        let x = (2.0 * texel.x - 1.0) * material.normal_scale;
        let y = (2.0 * texel.y - 1.0) * material.normal_scale;
        let z = 2.0 * texel.z - 1.0;
        let bent = normalize(tangent * x + bitangent * y + n * z);
        if dot(bent, bent) > 0.0 { bent } else { n }
    }

    /// The material with its textures looked up.
    #[inline(always)]
    fn surface(&self, scene: &SceneData, material: &Material, outside: bool) -> Surface {
        let mut base_color = material.base_color * self.vertex_color();
        if material.base_color_texture != NONE {
            base_color = base_color * self.texture(scene, material.base_color_texture).rgb;
        }
        let mut surface = Surface {
            kind: material.kind,
            base_color,
            roughness: material.roughness,
            metallic: material.metallic,
            ior: material.ior,
            transmission: material.transmission,
            outside,
        };
        if material.kind == MaterialKind::Principled as u32 {
            if material.metallic_roughness_texture != NONE {
                let texel = self.texture(scene, material.metallic_roughness_texture).rgb;
                surface.roughness *= texel.y;
                surface.metallic *= texel.z;
            }
            if material.transmission_texture != NONE {
                surface.transmission *= self.texture(scene, material.transmission_texture).rgb.x;
            }
        }
        surface
    }

    #[inline(always)]
    fn vertex_color(&self) -> Vec3 {
        let v = &self.vertices;
        if v[0].color == u32::MAX && v[1].color == u32::MAX && v[2].color == u32::MAX {
            return Vec3::ONE;
        }
        let b = self.barycentrics;
        texture::texel_rgb(v[0].color, 0) * b[0]
            + texture::texel_rgb(v[1].color, 0) * b[1]
            + texture::texel_rgb(v[2].color, 0) * b[2]
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
        add_sky(scene, settings, path);
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
    let bent = at.bent_normal(scene, instance, material) * side;
    let normal = if dot(bent, back) > MIN_COSINE { bent } else { geometric };
    let (s, t) = frame(normal);
    let wo = vec3(dot(back, s), dot(back, t), max(dot(back, normal), MIN_COSINE));
    let surface = at.surface(scene, material, outside);
    let local = Local { s, t, normal, geometric, wo, surface };
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

/// The least cosine between the direction back and a shading normal.
pub(crate) const MIN_COSINE: f32 = 1e-4;

/// A surface in its shading frame.
struct Local {
    s: Vec3,
    t: Vec3,
    /// The shading normal, on the side that the path came from.
    normal: Vec3,
    /// The geometric normal, on the same side.
    geometric: Vec3,
    wo: Vec3,
    surface: Surface,
}

impl Local {
    #[inline(always)]
    fn to_local(&self, world: Vec3) -> Vec3 {
        vec3(dot(world, self.s), dot(world, self.t), dot(world, self.normal))
    }

    #[inline(always)]
    fn to_world(&self, local: Vec3) -> Vec3 {
        normalize(self.s * local.x + self.t * local.y + self.normal * local.z)
    }

    /// True when the geometric and the shading normal agree on which side `world` lies.
    #[inline(always)]
    fn sides_agree(&self, world: Vec3, local_z: f32) -> bool {
        dot(self.geometric, world) * local_z > 0.0
    }
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
fn add_sky(scene: &SceneData, settings: &Settings, path: &mut PathState) {
    let direction = path.ray.direction;
    let radiance = lights::environment_radiance(&scene.environment, &scene.environment_texels, direction);
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
    local: &Local,
    record: &mut impl Recorder,
) -> Option<Connection> {
    if scene.lights.is_empty() || local.surface.is_smooth() {
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
    if !local.sides_agree(light.direction, wi.z) {
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
    local: &Local,
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
    if max_component(throughput) <= 0.0 || !local.sides_agree(direction, scattered.wi.z) {
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
