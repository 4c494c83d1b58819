//! The choice of the surfaces that are shaded in batches, made once for a scene so that each hit takes few loads.

use crate::prefetch::should_prefetch;
use lockstep_core::geometry::Hit;
use lockstep_core::math::vec3::max_component;
use lockstep_core::scene::{
    AlphaMode, Instance, Light, LightKind, Material, MaterialKind, Mesh, NONE, SPHERE_BIT, SceneData,
};
use lockstep_core::{Integrator, LayerSampling, Settings};

/// How the surfaces of a material are shaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MaterialBatch {
    /// Path by path.
    None,
    /// In a batch of diffuse surfaces.
    Diffuse,
    /// In a batch of principled surfaces.
    Principled,
    /// In a batch of principled surfaces under clearcoats.
    Coated,
    /// In a batch of diffuse surfaces under an environment light.
    Environment,
}

/// The triangles of an instance.
#[derive(Clone, Copy, Debug)]
struct InstanceBatch {
    first_triangle: u32,
    /// True where the instance is not transformed.
    is_identity: bool,
    /// True where no vertex has a colour.
    is_white: bool,
}

/// The surfaces of a scene that are shaded in batches.
#[derive(Clone, Debug)]
pub struct Batching {
    materials: Vec<MaterialBatch>,
    instances: Vec<InstanceBatch>,
    /// True for paths among materials without layers, media and priorities.
    pub(crate) is_plain: bool,
    /// True where shading gains by prefetches.
    pub(crate) prefetches: bool,
}

/// The batch of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitBatch {
    /// No batch: the path is shaded alone.
    None,
    /// The batch of diffuse surfaces, with the triangle's vertices and material.
    Diffuse([u32; 3], u32),
    /// The batch of principled surfaces.
    Principled,
    /// The batch of principled surfaces under clearcoats.
    Coated,
    /// The batch of diffuse surfaces under an environment light.
    Environment,
}

impl Batching {
    /// The batches of a scene. Diffuse surfaces must be lit by the environment alone, or be untextured and lit by untextured
    /// opaque triangles; principled ones must scatter light once and have no sheen, thin film, anisotropy, nor a clearcoat
    /// with a normal of its own. Other integrators than path tracing have no batches, nor have scenes with media or
    /// priorities of dielectrics.
    pub fn new(scene: &SceneData, settings: &Settings) -> Self {
        let is_path = settings.integrator == Integrator::Path;
        let allowed = is_path && !scene.has_media() && !scene.has_priorities();
        let is_lit_by_triangles =
            !scene.lights.is_empty() && scene.lights.iter().all(|l| is_plain_light(scene, l));
        let is_lit_by_environment =
            scene.lights.iter().map(|light| light.kind).eq([LightKind::Environment as u32]);
        let of_material = |material: &Material| {
            if allowed && is_lit_by_environment && material.kind == MaterialKind::Diffuse as u32 {
                MaterialBatch::Environment
            } else if allowed && is_lit_by_triangles && is_plain_diffuse(material) {
                MaterialBatch::Diffuse
            } else if allowed && is_plain_principled(material) {
                MaterialBatch::Principled
            } else if allowed && settings.layers == LayerSampling::Together && is_coated(scene, material) {
                MaterialBatch::Coated
            } else {
                MaterialBatch::None
            }
        };
        let of_mesh = |mesh: &Mesh| {
            let first = mesh.first_triangle as usize;
            let triangles = &scene.triangles[first..first + mesh.triangle_count as usize];
            triangles.iter().all(|triangle| is_white(scene, triangle.vertices))
        };
        let white: Vec<bool> = scene.meshes.iter().map(of_mesh).collect();
        let of_instance = |instance: &Instance| InstanceBatch {
            first_triangle: scene.meshes[instance.mesh as usize].first_triangle,
            is_identity: instance.flags & Instance::IDENTITY != 0,
            is_white: white[instance.mesh as usize],
        };
        Self {
            materials: scene.materials.iter().map(of_material).collect(),
            instances: scene.instances.iter().map(of_instance).collect(),
            is_plain: allowed && scene.layers.is_empty(),
            prefetches: should_prefetch(scene),
        }
    }

    /// The batch of a hit.
    #[inline(always)]
    pub(crate) fn of(&self, scene: &SceneData, hit: &Hit) -> HitBatch {
        if !hit.is_some() {
            return HitBatch::None;
        }
        let instance = self.instances[hit.instance as usize];
        if hit.primitive & SPHERE_BIT != 0 {
            let mesh = &scene.meshes[scene.instances[hit.instance as usize].mesh as usize];
            let sphere = &scene.spheres[(mesh.first_sphere + (hit.primitive & !SPHERE_BIT)) as usize];
            return match self.materials[sphere.material as usize] {
                MaterialBatch::Principled => HitBatch::Principled,
                MaterialBatch::Coated => HitBatch::Coated,
                MaterialBatch::Environment => HitBatch::Environment,
                MaterialBatch::Diffuse | MaterialBatch::None => HitBatch::None,
            };
        }
        let triangle = &scene.triangles[(instance.first_triangle + hit.primitive) as usize];
        match self.materials[triangle.material as usize] {
            MaterialBatch::Diffuse
                if instance.is_identity && (instance.is_white || is_white(scene, triangle.vertices)) =>
            {
                HitBatch::Diffuse(triangle.vertices, triangle.material)
            }
            MaterialBatch::Principled => HitBatch::Principled,
            MaterialBatch::Coated => HitBatch::Coated,
            MaterialBatch::Environment => HitBatch::Environment,
            MaterialBatch::Diffuse | MaterialBatch::None => HitBatch::None,
        }
    }
}

/// True where no vertex has a colour.
#[inline(always)]
fn is_white(scene: &SceneData, [a, b, c]: [u32; 3]) -> bool {
    let white = |vertex: u32| scene.vertices[vertex as usize].is_white();
    white(a) & white(b) & white(c)
}

/// True for untextured opaque triangle lights.
fn is_plain_light(scene: &SceneData, light: &Light) -> bool {
    let material = || &scene.materials[light.material as usize];
    light.kind == LightKind::Triangle as u32
        && material().emission_texture == NONE
        && material().alpha_mode == AlphaMode::Opaque as u32
}

/// True for untextured diffuse materials that do not emit.
fn is_plain_diffuse(material: &Material) -> bool {
    material.kind == MaterialKind::Diffuse as u32
        && material.base_color_texture == NONE
        && material.normal_texture == NONE
        && max_component(material.emission) <= 0.0
}

/// True for principled materials without layers whose light scatters once.
fn is_plain_principled(material: &Material) -> bool {
    material.kind == MaterialKind::Principled as u32
        && material.layers == 0
        && material.flags & Material::MULTISCATTER == 0
}

/// True for principled materials under layers along the surface that reflect alike all around their normal, whose light
/// scatters once.
fn is_coated(scene: &SceneData, material: &Material) -> bool {
    if material.kind != MaterialKind::Principled as u32
        || material.layers == 0
        || material.flags & Material::MULTISCATTER != 0
    {
        return false;
    }
    let layers = &scene.layers[(material.layers - 1) as usize];
    max_component(layers.sheen_color) <= 0.0
        && layers.iridescence <= 0.0
        && layers.anisotropy <= 0.0
        && !layers.has_coat_normal(material)
}
