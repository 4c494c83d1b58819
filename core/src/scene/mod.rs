//! The scene as a renderer receives it: flat, valid, index-based.
//!
//! Loaders fill a [`SceneBuilder`]; its `build` checks every index and number once and derives what all
//! backends need alike (light table, importance grid, bounds, hash). Backends may trust a [`Scene`].

pub mod albedos;
mod assemble;
mod builder;
pub mod camera;
mod check;
mod environment;
mod image;
pub mod layer_albedo;
mod layers;
mod lighting;
mod mesh;
pub mod missing_albedo;
mod packed;
pub mod sheen_albedo;
pub mod texture;
mod types;
mod vertex;

pub use crate::math::transform::{
    Affine, IDENTITY, compose, inverse, transform_normal, transform_point, transform_vector,
};
pub use builder::SceneBuilder;
pub use camera::{Camera, CameraFrame};
pub use environment::environment_radiance;
pub use image::{ImageId, Sampler, TextureTransform};
pub use layers::Layers;
pub use lighting::{AliasTable, EnvironmentLight, PunctualLight};
pub use mesh::{Flatten, MeshData};
pub use types::*;
pub use vertex::Vertex;

use crate::math::vec3::{Vec3, length};
use std::ops::Deref;
use std::sync::Arc;

/// Everything to be rendered. Made by [`SceneBuilder::build`]; valid by construction, and cheap to clone:
/// clones share their [`SceneData`].
#[derive(Clone, Debug)]
pub struct Scene(Arc<SceneData>);

impl Scene {
    /// A copy with a fault, for mutation tests. Nothing is checked or derived again, so the change
    /// must leave the arrays valid and the lights as they are; the hash stays that of the original scene.
    pub fn with_fault(&self, plant: impl FnOnce(&mut SceneData)) -> Self {
        let mut data = SceneData::clone(&self.0);
        plant(&mut data);
        Self(Arc::new(data))
    }
}

impl Deref for Scene {
    type Target = SceneData;

    #[inline(always)]
    fn deref(&self) -> &SceneData {
        &self.0
    }
}

impl Scene {
    /// A copy without culling: single-sided surfaces are seen from both sides.
    pub fn from_both_sides(&self) -> Self {
        let mut data = SceneData::clone(self);
        data.materials.iter_mut().for_each(|material| material.flags &= !Material::SINGLE_SIDED);
        data.hash = data.compute_hash();
        Self(Arc::new(data))
    }

    /// A copy whose rough surfaces keep the light that scatters more than once ([`Material::MULTISCATTER`]).
    pub fn scattering_many_times(&self) -> Self {
        let mut data = SceneData::clone(self);
        data.materials.iter_mut().for_each(Material::scatter_many_times);
        data.hash = data.compute_hash();
        Self(Arc::new(data))
    }

    /// A copy with another view.
    ///
    /// # Errors
    /// [`crate::Error::Scene`] for a view that is not well defined.
    pub fn with_camera(&self, camera: Camera) -> crate::Result<Self> {
        camera.validate(&self.name)?;
        let mut data = SceneData::clone(self);
        data.camera = camera;
        data.hash = data.compute_hash();
        Ok(Self(Arc::new(data)))
    }

    /// A copy with all surfaces opaque, under the name with `-opaque` appended.
    pub fn opaque(&self) -> Self {
        let mut data = SceneData::clone(self);
        data.name.push_str("-opaque");
        for material in &mut data.materials {
            material.alpha_mode = AlphaMode::Opaque as u32;
            material.flags &= !Material::SINGLE_SIDED;
        }
        data.hash = data.compute_hash();
        Self(Arc::new(data))
    }
}

/// The arrays of a [`Scene`].
#[derive(Clone, Debug)]
pub struct SceneData {
    /// Name used on the command line, in records and file names.
    pub name: String,
    /// The view.
    pub camera: Camera,
    /// Vertex positions in object space.
    pub positions: Vec<[f32; 3]>,
    /// Shading attributes, one per position.
    pub vertices: Vec<Vertex>,
    /// All meshes' triangles.
    pub triangles: Vec<Triangle>,
    /// All meshes' spheres.
    pub spheres: Vec<Sphere>,
    /// Ranges of primitives.
    pub meshes: Vec<Mesh>,
    /// Placements of meshes.
    pub instances: Vec<Instance>,
    /// Surfaces.
    pub materials: Vec<Material>,
    /// Layers of those materials that have some ([`Material::layers`]).
    pub layers: Vec<Layers>,
    /// Image regions with samplers.
    pub textures: Vec<Texture>,
    /// RGBA8 texels of all images, red lowest.
    pub texels: Vec<u32>,
    /// Lights for next-event estimation.
    pub lights: Vec<Light>,
    /// Alias table that picks a light, one entry per light.
    pub light_alias: Vec<AliasEntry>,
    /// The environment.
    pub environment: Environment,
    /// Texels of the environment image, linear RGB; the fourth value is zero.
    pub environment_texels: Vec<[f32; 4]>,
    /// Alias table that picks a cell of the environment's importance grid.
    pub environment_alias: Vec<AliasEntry>,
    /// World-space bounds of all geometry: lowest and highest corner; zero for a scene without geometry.
    pub bounds: [Vec3; 2],
    /// BLAKE3 of all the above, in hexadecimal.
    pub hash: String,
}

impl SceneData {
    /// Number of triangles over all instances.
    pub fn instanced_triangles(&self) -> u64 {
        self.instances.iter().map(|i| u64::from(self.meshes[i.mesh as usize].triangle_count)).sum()
    }

    /// The sphere around [`bounds`](Self::bounds), from which lights at infinity shine on the scene.
    #[inline(always)]
    pub fn bounding_sphere(&self) -> BoundingSphere {
        let [lowest, highest] = self.bounds;
        let radius = 0.5 * length(highest - lowest);
        let center = (lowest + highest) * 0.5;
        BoundingSphere { center, radius: if radius > 0.0 { radius } else { 1.0 } }
    }

    /// True when light is attenuated or dispersed inside a dielectric.
    pub fn has_media(&self) -> bool {
        self.materials.iter().any(|material| {
            material.kind == MaterialKind::Dielectric as u32
                && material.layers != 0
                && self.layers[(material.layers - 1) as usize].has_medium()
        })
    }

    /// True when some dielectric has a clearcoat or a thin film.
    pub fn has_layered_glass(&self) -> bool {
        let covered = |m: &Material| self.layers[(m.layers - 1) as usize].covers_glass(m);
        self.materials.iter().any(|material| material.layers != 0 && covered(material))
    }

    /// True when dielectrics have priorities ([`Material::priority`]).
    pub fn has_priorities(&self) -> bool {
        self.materials.iter().any(|material| material.priority != 0)
    }

    /// True when some clearcoat has another normal than the surface below it.
    pub fn has_coat_normals(&self) -> bool {
        self.materials.iter().any(|material| {
            material.kind == MaterialKind::Principled as u32
                && material.layers != 0
                && self.layers[(material.layers - 1) as usize].has_coat_normal(material)
        })
    }

    /// Material of a primitive of an instance.
    #[inline(always)]
    pub fn material_of(&self, instance: u32, primitive: u32) -> u32 {
        let mesh = &self.meshes[self.instances[instance as usize].mesh as usize];
        if primitive & SPHERE_BIT != 0 {
            self.spheres[(mesh.first_sphere + (primitive & !SPHERE_BIT)) as usize].material
        } else {
            self.triangles[(mesh.first_triangle + primitive) as usize].material
        }
    }

    /// True when some surface keeps the light that scatters more than once.
    pub fn has_multiscatter(&self) -> bool {
        self.materials.iter().any(|material| material.flags & Material::MULTISCATTER != 0)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.arrays().iter().map(|a| a.len() as u64).sum()
    }

    /// Every array as raw bytes; layers, which most scenes lack, come last.
    fn arrays(&self) -> [&[u8]; 14] {
        use bytemuck::cast_slice;
        [
            cast_slice(&self.positions),
            cast_slice(&self.vertices),
            cast_slice(&self.triangles),
            cast_slice(&self.spheres),
            cast_slice(&self.meshes),
            cast_slice(&self.instances),
            cast_slice(&self.materials),
            cast_slice(&self.textures),
            cast_slice(&self.texels),
            cast_slice(&self.lights),
            cast_slice(&self.light_alias),
            cast_slice(&self.environment_texels),
            cast_slice(&self.environment_alias),
            cast_slice(&self.layers),
        ]
    }

    /// Hash of camera, environment light and all arrays, each prefixed by its length; layers count where there are some.
    fn compute_hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.camera.hash_bytes());
        hasher.update(bytemuck::bytes_of(&self.environment));
        let arrays = self.arrays();
        let counted = if self.layers.is_empty() { arrays.len() - 1 } else { arrays.len() };
        for bytes in &arrays[..counted] {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opaque_copy_lets_no_ray_pass_and_is_another_scene() {
        let mut builder = SceneBuilder::new("leaves");
        let glass =
            Material { alpha: 0.5, alpha_mode: AlphaMode::Blend as u32, ..Material::diffuse([0.5; 3]) };
        let leaf = Material { alpha_mode: AlphaMode::Mask as u32, ..Material::diffuse([0.25; 3]) };
        for material in [glass, leaf] {
            builder.material(material);
        }
        let scene = builder.build().unwrap();
        assert!(scene.materials.iter().all(Material::has_alpha));

        let opaque = scene.opaque();
        assert!(!opaque.materials.iter().any(Material::has_alpha));
        assert_eq!(opaque.name, "leaves-opaque");
        assert_eq!(opaque.materials[1].base_color, scene.materials[1].base_color, "all else is as it was");
        assert_ne!(opaque.hash, scene.hash);
        assert_eq!(opaque.hash, opaque.compute_hash());
    }
}
