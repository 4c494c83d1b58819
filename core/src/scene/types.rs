//! The flat records that scenes are made of, as every device sees them.
//!
//! All are plain old data of 4-byte scalars in 16-byte groups, without padding, so that the kernel dialect
//! can mirror them byte for byte. Indices are `u32`; [`NONE`] means absent.

use crate::math::transform::Affine;
use crate::math::vec3::{Vec3, vec3};
use bytemuck::{Pod, Zeroable};

/// The index that stands for "none".
pub const NONE: u32 = u32::MAX;

/// Set in a primitive index when it names a sphere instead of a triangle.
pub const SPHERE_BIT: u32 = 0x8000_0000;

/// Three vertices and a material. Counter-clockwise seen from the front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Triangle {
    /// Indices into the scene's positions and vertices.
    pub vertices: [u32; 3],
    /// Index into the scene's materials.
    pub material: u32,
}

/// A sphere in object space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Sphere {
    /// Centre.
    pub center: Vec3,
    /// Radius, positive.
    pub radius: f32,
    /// Index into the scene's materials.
    pub material: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

/// A range of triangles and one of spheres that share an object space.
///
/// Primitive `p` of a mesh is triangle `first_triangle + p`, or sphere `first_sphere + (p & !SPHERE_BIT)`
/// when [`SPHERE_BIT`] is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Mesh {
    /// First triangle in the scene's list.
    pub first_triangle: u32,
    /// Number of triangles.
    pub triangle_count: u32,
    /// First sphere in the scene's list.
    pub first_sphere: u32,
    /// Number of spheres.
    pub sphere_count: u32,
}

/// One placement of a mesh in the world.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Instance {
    /// Map from object to world space.
    pub object_to_world: Affine,
    /// Map from world to object space.
    pub world_to_object: Affine,
    /// Index into the scene's meshes.
    pub mesh: u32,
    /// [`Instance::IDENTITY`], [`Instance::MIRRORED`].
    pub flags: u32,
    /// Factor on lengths of a similarity transform, the only kind allowed for instances with spheres.
    pub scale: f32,
    /// Zero.
    pub reserved: u32,
}

impl Instance {
    /// Flag of an instance whose maps are the identity: rays need no transform.
    pub const IDENTITY: u32 = 1;
    /// The map flips handedness, so triangles' winding is reversed in the world.
    pub const MIRRORED: u32 = 2;
}

/// The scattering model of a [`Material`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum MaterialKind {
    /// Lambertian reflection.
    Diffuse = 0,
    /// Metal with Schlick Fresnel; `base_color` is the reflectance at normal incidence. Smooth when
    /// `roughness` is below `lockstep_transport::bsdf::SPECULAR_ROUGHNESS`, else GGX.
    Conductor = 1,
    /// Glass with exact Fresnel from `ior`, tinted by `base_color`. Smooth or GGX likewise. Without
    /// [`Material::priority`] the medium beyond is always air: dielectrics within others, such as a drink in a
    /// glass, refract as if a gap of air lay between them.
    Dielectric = 2,
    /// glTF metallic-roughness: GGX over a diffuse base or a thin transmitting wall. Never a perfect mirror: the
    /// smallest GGX alpha is `lockstep_transport::bsdf::MIN_ALPHA`, that of roughness 0.03.
    Principled = 3,
}

/// How `base_color`'s alpha decides whether a ray sees a surface: glTF's alpha mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum AlphaMode {
    /// Every ray hits the surface.
    Opaque = 0,
    /// Rays hit the surface where alpha is at least the cutoff.
    Mask = 1,
    /// A ray hits the surface with probability alpha, by a hash of the ray and the primitive.
    Blend = 2,
}

/// Material of a surface. Texture fields are indices into [`crate::scene::SceneData::textures`] or [`NONE`]; a texture
/// multiplies its factor.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Material {
    /// Linear RGB; albedo, reflectance at normal incidence or tint, by kind.
    pub base_color: Vec3,
    /// Alpha factor, 0 to 1.
    pub alpha: f32,
    /// Emitted radiance, linear RGB, from the front side.
    pub emission: Vec3,
    /// A [`MaterialKind`].
    pub kind: u32,
    /// Perceptual roughness, 0 to 1; GGX alpha is its square.
    pub roughness: f32,
    /// 0 dielectric to 1 metal, for [`MaterialKind::Principled`].
    pub metallic: f32,
    /// Index of refraction against the outside, 1 to 4.
    pub ior: f32,
    /// Share of thin-wall transmission, 0 to 1, for [`MaterialKind::Principled`].
    pub transmission: f32,
    /// RGB times `base_color`, A times `alpha`.
    pub base_color_texture: u32,
    /// G times `roughness`, B times `metallic`.
    pub metallic_roughness_texture: u32,
    /// Tangent-space normal map.
    pub normal_texture: u32,
    /// RGB times `emission`.
    pub emission_texture: u32,
    /// Factor on the normal map's x and y.
    pub normal_scale: f32,
    /// Threshold for [`AlphaMode::Mask`].
    pub alpha_cutoff: f32,
    /// An [`AlphaMode`].
    pub alpha_mode: u32,
    /// [`Material::TWO_SIDED_EMISSION`], [`Material::SINGLE_SIDED`], [`Material::UNLIT`], [`Material::MULTISCATTER`].
    pub flags: u32,
    /// R times `transmission`.
    pub transmission_texture: u32,
    /// Probability density per unit of world area that next-event estimation picks a point on a surface of
    /// this material. Derived by the builder; zero for surfaces that do not emit.
    pub light_pdf_area: f32,
    /// One above an index into [`crate::scene::SceneData::layers`]; zero for a material without layers.
    pub layers: u32,
    /// One above the priority of a dielectric, 0 to [`Material::MAX_PRIORITY`]: where media overlap, the one of the
    /// highest priority is there (Schmidt and Budge 2002). Zero in a scene where no dielectric has one; where some
    /// have, the builder gives the others the lowest.
    pub priority: u32,
}

impl Material {
    /// The highest priority that a dielectric may have.
    pub const MAX_PRIORITY: u32 = 255;
    /// Emits from both sides.
    pub const TWO_SIDED_EMISSION: u32 = 1;
    /// Rays of all kinds pass through triangles from behind (back-face culling), as glTF asks for without
    /// `doubleSided`. What they see depends on their direction, so light paths would have to cull fronts.
    /// Spheres have no such side.
    pub const SINGLE_SIDED: u32 = 2;
    /// Camera rays alone see the emission, which vertex colours multiply; it is no light. With a black base colour
    /// such a surface shows a constant colour, neither lit nor lighting: `KHR_materials_unlit` of glTF.
    pub const UNLIT: u32 = 4;
    /// Light that scatters more than once between microfacets is added to a rough surface, which keeps its energy;
    /// without, it is lost, as in most renderers. Diffuse and smooth surfaces are the same either way.
    pub const MULTISCATTER: u32 = 8;

    /// A black, opaque, untextured diffuse surface: the base for struct update.
    pub const BLACK: Self = Self {
        base_color: Vec3::ZERO,
        alpha: 1.0,
        emission: Vec3::ZERO,
        kind: MaterialKind::Diffuse as u32,
        roughness: 1.0,
        metallic: 0.0,
        ior: 1.5,
        transmission: 0.0,
        base_color_texture: NONE,
        metallic_roughness_texture: NONE,
        normal_texture: NONE,
        emission_texture: NONE,
        normal_scale: 1.0,
        alpha_cutoff: 0.5,
        alpha_mode: AlphaMode::Opaque as u32,
        flags: 0,
        transmission_texture: NONE,
        light_pdf_area: 0.0,
        layers: 0,
        priority: 0,
    };

    /// Lambertian reflection with this albedo.
    pub const fn diffuse(albedo: [f32; 3]) -> Self {
        Self { base_color: vec3(albedo[0], albedo[1], albedo[2]), ..Self::BLACK }
    }

    /// Metal with this reflectance at normal incidence and perceptual roughness.
    pub const fn conductor(f0: [f32; 3], roughness: f32) -> Self {
        Self { kind: MaterialKind::Conductor as u32, roughness, ..Self::diffuse(f0) }
    }

    /// Clear glass with this index of refraction and perceptual roughness.
    pub const fn dielectric(ior: f32, roughness: f32) -> Self {
        Self { kind: MaterialKind::Dielectric as u32, ior, roughness, ..Self::diffuse([1.0; 3]) }
    }

    /// Gives a dielectric a priority. [`crate::SceneBuilder::build`] refuses those above
    /// [`Material::MAX_PRIORITY`].
    #[must_use]
    pub const fn with_priority(self, priority: u32) -> Self {
        Self { priority: priority.saturating_add(1), ..self }
    }

    /// glTF metallic-roughness.
    pub const fn principled(base_color: [f32; 3], metallic: f32, roughness: f32) -> Self {
        Self { kind: MaterialKind::Principled as u32, metallic, roughness, ..Self::diffuse(base_color) }
    }

    /// A black surface that emits this radiance from its front.
    pub const fn emitter(radiance: [f32; 3]) -> Self {
        Self { emission: vec3(radiance[0], radiance[1], radiance[2]), ..Self::BLACK }
    }

    /// A surface of this constant colour, from both sides: see [`Material::UNLIT`].
    pub const fn unlit(color: [f32; 3]) -> Self {
        Self { flags: Self::TWO_SIDED_EMISSION | Self::UNLIT, ..Self::emitter(color) }
    }

    /// Sets [`Self::MULTISCATTER`] of a surface that is not diffuse.
    pub(super) fn scatter_many_times(&mut self) {
        if self.kind != MaterialKind::Diffuse as u32 {
            self.flags |= Self::MULTISCATTER;
        }
    }

    /// True when some ray may pass through.
    pub fn has_alpha(&self) -> bool {
        self.alpha_mode != AlphaMode::Opaque as u32 || self.flags & Self::SINGLE_SIDED != 0
    }
}

/// Texture addressing outside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Wrap {
    /// Repeats the image.
    Repeat = 0,
    /// Extends the border texels.
    Clamp = 1,
    /// Repeats the image, every other copy mirrored.
    Mirror = 2,
}

/// An image region with a sampler and a coordinate transform.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Texture {
    /// First texel in [`crate::scene::SceneData::texels`]; rows follow from the top.
    pub first_texel: u32,
    /// Texels a row.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Wrap of u in bits 0-1 and of v in bits 2-3, and the flag bits below.
    pub flags: u32,
    /// Rows of the map from vertex to texture coordinates (KHR_texture_transform): `u' = (m0 u + m1 v) + m2`.
    pub transform: [[f32; 4]; 2],
}

impl Texture {
    /// Take the nearest texel instead of interpolating between four.
    pub const NEAREST: u32 = 1 << 4;
    /// RGB is sRGB-encoded; alpha never is.
    pub const SRGB: u32 = 1 << 5;
    /// Uses texture coordinates of set 1.
    pub const UV_SET_1: u32 = 1 << 6;

    /// The wrap bits of `flags`.
    pub const fn wrap(u: Wrap, v: Wrap) -> u32 {
        u as u32 | (v as u32) << 2
    }
}

/// The kind of a [`Light`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum LightKind {
    /// An emissive triangle.
    Triangle = 0,
    /// An emissive sphere.
    Sphere = 1,
    /// A point without size (glTF `point`).
    Point = 2,
    /// A point that shines into a cone (glTF `spot`).
    Spot = 3,
    /// Parallel light (glTF `directional`).
    Directional = 4,
    /// The environment.
    Environment = 5,
}

/// One light as next-event estimation samples it, in world space. Made by the builder.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Light {
    /// First vertex, centre or position; for directional lights the unit direction towards the light.
    pub position: Vec3,
    /// A [`LightKind`].
    pub kind: u32,
    /// First edge; for spot lights the unit direction of the axis.
    pub edge1: Vec3,
    /// Material of the emissive primitive, else [`NONE`].
    pub material: u32,
    /// Second edge; for spheres x is the radius; for spot lights x and y are the scale and offset that turn
    /// the cosine off the axis into the glTF falloff.
    pub edge2: Vec3,
    /// Index into the scene's triangles of an emissive triangle, else [`NONE`].
    pub triangle: u32,
    /// Punctual lights: radiant intensity in W/sr, or irradiance in W/m2 for directional ones. Triangles: x
    /// is -1 when the instance mirrors them, so that `x * cross(edge1, edge2)` is the front side, else 1.
    /// Triangles and spheres: y bounds the coordinates from which points of the light are computed.
    pub intensity: Vec3,
    /// Probability of being picked.
    pub pmf: f32,
}

/// A sphere around the geometry of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BoundingSphere {
    /// Centre.
    pub center: Vec3,
    /// Radius, positive; one for a scene without extent.
    pub radius: f32,
}

/// One column of an alias table (Walker 1977; Vose 1991).
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct AliasEntry {
    /// A draw below this keeps the column's own index.
    pub threshold: u32,
    /// The index taken by draws at or above the threshold.
    pub alias: u32,
    /// The probability of the column's own index.
    pub pmf: f32,
    /// Zero.
    pub reserved: u32,
}

/// The kind of an [`Environment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum EnvironmentKind {
    /// Radiance that is the same in all directions; black when its colour is.
    Constant = 0,
    /// Zenith, horizon and ground colours, linear in the direction's height.
    Gradient = 1,
    /// An equirectangular image: x is longitude, y latitude from the top.
    Image = 2,
}

/// The environment light.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Environment {
    /// Radiance straight up; of every direction for a constant environment; the factor on an image's texels.
    pub zenith: Vec3,
    /// An [`EnvironmentKind`].
    pub kind: u32,
    /// Radiance at the horizon.
    pub horizon: Vec3,
    /// Texels a row of the image.
    pub image_width: u32,
    /// Radiance straight down.
    pub ground: Vec3,
    /// Rows of the image.
    pub image_height: u32,
    /// Cells around the axis in the importance grid, which divides the sphere into cells of equal solid
    /// angle.
    pub grid_width: u32,
    /// Cells along the axis; zero when the environment is black.
    pub grid_height: u32,
    /// Rotation about +y in turns.
    pub rotation: f32,
    /// Probability that next-event estimation picks the environment.
    pub pmf: f32,
}

impl Default for Environment {
    fn default() -> Self {
        Self { zenith: Vec3::ZERO, kind: EnvironmentKind::Constant as u32, ..Self::zeroed() }
    }
}
