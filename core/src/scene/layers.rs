//! Layers of a material over glTF's metallic-roughness: a side table, so that materials without layers stay as
//! small as they are.

use crate::math::vec3::Vec3;
use crate::scene::types::{Material, MaterialKind, NONE};
use bytemuck::{Pod, Zeroable};

/// Layers of a material of kind [`Principled`](crate::scene::MaterialKind::Principled), by glTF's extensions
/// `KHR_materials_specular`, `_clearcoat`, `_sheen`, `_anisotropy` and `_iridescence`.
///
/// Of a [`Dielectric`](crate::scene::MaterialKind::Dielectric) they describe the medium inside, by
/// `KHR_materials_volume` and `KHR_materials_dispersion`, its clearcoat, which has the surface's normals, and the thin
/// film over its boundary; other fields have no meaning there.
///
/// Texture fields are indices into [`crate::scene::SceneData::textures`] or [`NONE`]; a texture multiplies its
/// factor.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Layers {
    /// Linear RGB, not negative: factor on the dielectric reflectance at normal incidence.
    pub specular_color: Vec3,
    /// Weight of the dielectric specular lobe, 0 to 1.
    pub specular: f32,
    /// Linear RGB albedo of the sheen, 0 to 1.
    pub sheen_color: Vec3,
    /// Perceptual roughness of the sheen, 0 to 1.
    pub sheen_roughness: f32,
    /// Weight of the clearcoat, 0 to 1.
    pub clearcoat: f32,
    /// Perceptual roughness of the clearcoat, 0 to 1.
    pub clearcoat_roughness: f32,
    /// Reflectance of the clearcoat at normal incidence, 0 to 1; 0.04 is glTF's.
    pub clearcoat_f0: f32,
    /// Strength of anisotropy, 0 to 1: GGX alpha along its direction goes from that of the roughness to 1 by the
    /// strength's square.
    pub anisotropy: f32,
    /// Cosine and sine of the rotation of anisotropy from the tangent towards the bitangent.
    pub anisotropy_rotation: [f32; 2],
    /// A times `specular`.
    pub specular_texture: u32,
    /// RGB times `specular_color`.
    pub specular_color_texture: u32,
    /// R times `clearcoat`.
    pub clearcoat_texture: u32,
    /// G times `clearcoat_roughness`.
    pub clearcoat_roughness_texture: u32,
    /// RGB times `sheen_color`.
    pub sheen_color_texture: u32,
    /// A times `sheen_roughness`.
    pub sheen_roughness_texture: u32,
    /// RG the direction of anisotropy in tangent space, from -1 to 1, before its rotation; B times `anisotropy`.
    pub anisotropy_texture: u32,
    /// R times `iridescence`.
    pub iridescence_texture: u32,
    /// G interpolates from the first `iridescence_thickness` to the second, which holds where there is no texture.
    pub iridescence_thickness_texture: u32,
    /// Weight of the thin film over the specular lobe, 0 to 1.
    pub iridescence: f32,
    /// Index of refraction of the thin film, 1 to 4.
    pub iridescence_ior: f32,
    /// Thickness of the thin film in nanometres, 0 to 10000.
    pub iridescence_thickness: [f32; 2],
    /// Dispersion of the medium inside a dielectric: 20 over its Abbe number, 0 to 20.
    pub dispersion: f32,
    /// Attenuation of the medium inside a dielectric, per unit of length.
    pub attenuation: Vec3,
    /// The clearcoat's normal map; a coat without one has the interpolated normal, whatever the surface below has.
    pub clearcoat_normal_texture: u32,
    /// Scale of the tangential components of the clearcoat's normal map.
    pub clearcoat_normal_scale: f32,
    /// Zero.
    pub reserved: [u32; 3],
}

impl Layers {
    /// Layers that change nothing: the base for struct update.
    pub const NONE: Self = Self {
        specular_color: Vec3::ONE,
        specular: 1.0,
        sheen_color: Vec3::ZERO,
        sheen_roughness: 0.0,
        clearcoat: 0.0,
        clearcoat_roughness: 0.0,
        clearcoat_f0: 0.04,
        anisotropy: 0.0,
        anisotropy_rotation: [1.0, 0.0],
        specular_texture: NONE,
        specular_color_texture: NONE,
        clearcoat_texture: NONE,
        clearcoat_roughness_texture: NONE,
        sheen_color_texture: NONE,
        sheen_roughness_texture: NONE,
        anisotropy_texture: NONE,
        iridescence_texture: NONE,
        iridescence_thickness_texture: NONE,
        iridescence: 0.0,
        iridescence_ior: 1.3,
        iridescence_thickness: [100.0, 400.0],
        dispersion: 0.0,
        attenuation: Vec3::ZERO,
        clearcoat_normal_texture: NONE,
        clearcoat_normal_scale: 1.0,
        reserved: [0; 3],
    };

    /// True for a clearcoat whose shading normal is not that of the surface below it: their normal maps or the scales of
    /// these differ.
    #[inline(always)]
    pub fn has_coat_normal(&self, material: &Material) -> bool {
        let is_shared = self.clearcoat_normal_texture == material.normal_texture
            && (material.normal_texture == NONE || self.clearcoat_normal_scale == material.normal_scale);
        self.clearcoat > 0.0 && !is_shared
    }

    /// True for a dielectric whose boundary has a clearcoat or a thin film.
    #[inline(always)]
    pub fn covers_glass(&self, material: &Material) -> bool {
        material.kind == MaterialKind::Dielectric as u32 && (self.clearcoat > 0.0 || self.iridescence > 0.0)
    }

    /// True for layers that leave a surface as it is without them. A texture multiplies its factor, so a weight of 0
    /// has none; values that break a rule are not hidden by it.
    pub fn changes_nothing(&self) -> bool {
        let specular = self.specular == 1.0 && self.specular_color == Vec3::ONE;
        let textured = [self.specular_texture, self.specular_color_texture].iter().any(|&t| t != NONE);
        specular
            && !textured
            && self.sheen_color == Vec3::ZERO
            && self.clearcoat == 0.0
            && self.anisotropy == 0.0
            && self.iridescence == 0.0
            && !self.has_medium()
            && self.fault().is_none()
    }

    /// True for a medium that attenuates or disperses.
    pub fn has_medium(&self) -> bool {
        self.attenuation != Vec3::ZERO || self.dispersion > 0.0
    }

    /// The texture fields.
    pub(super) fn textures(&self) -> [u32; 10] {
        [
            self.specular_texture,
            self.specular_color_texture,
            self.clearcoat_texture,
            self.clearcoat_roughness_texture,
            self.sheen_color_texture,
            self.sheen_roughness_texture,
            self.anisotropy_texture,
            self.iridescence_texture,
            self.iridescence_thickness_texture,
            self.clearcoat_normal_texture,
        ]
    }

    /// The first rule that a value breaks.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let unit = |v: f32| (0.0..=1.0).contains(&v);
        let color = |c: Vec3| c.to_array().into_iter().all(|v| v.is_finite() && v >= 0.0);
        let [cos, sin] = self.anisotropy_rotation;
        let checks = [
            (color(self.specular_color), "the specular colour must be finite and not negative"),
            (unit(self.specular), "specular must lie between 0 and 1"),
            (self.sheen_color.to_array().into_iter().all(unit), "the sheen colour must lie between 0 and 1"),
            (unit(self.sheen_roughness), "sheen roughness must lie between 0 and 1"),
            (unit(self.clearcoat), "clearcoat must lie between 0 and 1"),
            (unit(self.clearcoat_roughness), "clearcoat roughness must lie between 0 and 1"),
            (unit(self.clearcoat_f0), "the clearcoat's reflectance must lie between 0 and 1"),
            (unit(self.anisotropy), "anisotropy must lie between 0 and 1"),
            (
                self.clearcoat_normal_scale.is_finite(),
                "the scale of the clearcoat's normal map must be finite",
            ),
            (color(self.attenuation), "attenuation must be finite and not negative"),
            ((0.0..=20.0).contains(&self.dispersion), "dispersion must lie between 0 and 20"),
            (unit(self.iridescence), "iridescence must lie between 0 and 1"),
            (
                (1.0..=4.0).contains(&self.iridescence_ior),
                "the thin film's index of refraction must lie between 1 and 4",
            ),
            (
                self.iridescence_thickness.iter().all(|t| (0.0..=10_000.0).contains(t)),
                "the thin film's thickness must lie between 0 and 10000 nanometres",
            ),
            (
                (cos * cos + sin * sin - 1.0).abs() < 1e-3,
                "the rotation of anisotropy must be a cosine and a sine of one angle",
            ),
        ];
        checks.into_iter().find(|(sound, _)| !sound).map(|(_, message)| message)
    }
}
