//! A material at one point, and the values that scattering functions return.

use lockstep_core::math::max;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::MaterialKind;

/// Conductors and dielectrics below this perceptual roughness are specular: their BSDF is a delta
/// distribution.
pub const SPECULAR_ROUGHNESS: f32 = 0.03;
/// Smallest GGX alpha of a rough surface.
pub const MIN_ALPHA: f32 = 0.0009;
/// Dielectrics whose relative index of refraction is this close to one are specular: all light passes
/// straight.
pub const MATCHED_INDEX: f32 = 1e-4;
/// Smallest cosine between `wo` and the shading normal; below it the geometric normal is used.
pub const MIN_COSINE: f32 = 1e-4;

/// A material at one point, its textures looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// A [`MaterialKind`].
    pub kind: u32,
    /// Albedo, reflectance at normal incidence or tint.
    pub base_color: Vec3,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// 0 dielectric to 1 metal.
    pub metallic: f32,
    /// Index of refraction of the material relative to the outside.
    pub ior: f32,
    /// Fraction of thin-wall transmission, 0 to 1.
    pub transmission: f32,
    /// True when `wo` is outside the material.
    pub outside: bool,
    /// True for a surface that keeps the light that scatters more than once.
    pub multiscatter: bool,
}

impl Surface {
    /// True for a delta distribution, which light sampling can never hit.
    #[inline(always)]
    pub fn is_specular(&self) -> bool {
        if self.kind == MaterialKind::Dielectric as u32 {
            self.roughness < SPECULAR_ROUGHNESS || (self.ior - 1.0).abs() < MATCHED_INDEX
        } else {
            self.kind == MaterialKind::Conductor as u32 && self.roughness < SPECULAR_ROUGHNESS
        }
    }

    /// GGX alpha: the square of the perceptual roughness (Burley 2012).
    #[inline(always)]
    pub(super) fn alpha(&self) -> f32 {
        max(self.roughness * self.roughness, MIN_ALPHA)
    }

    /// Index of refraction beyond the surface over the index on `wo`'s side.
    #[inline(always)]
    pub(super) fn relative_ior(&self) -> f32 {
        if self.outside { self.ior } else { 1.0 / self.ior }
    }
}

/// BSDF value and sampling density for a pair of directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// BSDF times the cosine of `wi`.
    pub value: Vec3,
    /// Density per solid angle with which [`sample`](super::sample) chooses `wi`.
    pub pdf: f32,
}

/// Nothing is scattered.
pub(crate) const BLACK: Evaluation = Evaluation { value: Vec3::ZERO, pdf: 0.0 };

/// A sampled direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Unit direction of the next ray; `z < 0` when transmitted.
    pub wi: Vec3,
    /// BSDF times cosine over density.
    pub weight: Vec3,
    /// Density per solid angle; zero for a delta distribution.
    pub pdf: f32,
}

/// The path ends here.
pub(super) const ABSORBED: Scatter = Scatter { wi: vec3(0.0, 0.0, 1.0), weight: Vec3::ZERO, pdf: 0.0 };
