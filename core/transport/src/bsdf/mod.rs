//! Bidirectional scattering distribution functions, one file per lobe. The counterpart is `kernels/bsdf/`.
//!
//! Directions are in the local frame whose z axis is the shading normal on the side of `wo`, and point away
//! from the surface. `wo` points back along the path, `wi` towards the next vertex; both have unit length and
//! `wo.z > 0`.
//!
//! Paths that start at lights use [`evaluate_bidirectional`].

mod anisotropic;
mod bidirectional;
mod conductor;
mod dielectric;
mod diffuse;
mod fresnel;
mod iridescence;
mod layer;
mod layered;
mod microfacet;
mod principled;
mod sheen;
mod surface;

pub use anisotropic::{
    ggx_d_anisotropic, ggx_lambda_anisotropic, ggx_sample_anisotropic, turned, turned_back,
};
pub use bidirectional::{
    BidirectionalEvaluation, adjoint_factor, evaluate_bidirectional, reverse_pdf, shading_normal_correction,
};
pub use fresnel::{fresnel_dielectric, schlick};
pub use iridescence::{ThinFilm, film_envelope, thin_film};
pub use layered::{ALBEDO_MARGIN, MEAN_MARGIN, SurfaceLayers, evaluate_layered, sample_layered};
pub use microfacet::{ggx_d, ggx_lambda, ggx_sample};
pub use sheen::{sheen_albedo, sheen_alpha, sheen_value};
pub use surface::{Evaluation, MATCHED_INDEX, MIN_ALPHA, SPECULAR_ROUGHNESS, Scatter, Surface};

use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::MaterialKind;
use surface::BLACK;

/// BSDF times cosine, and the density with which [`sample`] chooses `wi`. Zero for specular surfaces.
#[inline(always)]
pub fn evaluate(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if s.is_specular() || wi.z == 0.0 {
        return BLACK;
    }
    if s.kind == MaterialKind::Diffuse as u32 {
        return diffuse::evaluate(s, wi);
    }
    if s.kind == MaterialKind::Conductor as u32 {
        return conductor::evaluate(s, wo, wi);
    }
    if s.kind == MaterialKind::Dielectric as u32 {
        return dielectric::evaluate(s, wo, wi);
    }
    principled::evaluate(s, wo, wi)
}

/// Samples a direction for the draws `u` (lobe, direction u, direction v). A zero weight ends the path.
#[inline(always)]
pub fn sample(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    if s.kind == MaterialKind::Diffuse as u32 {
        return diffuse::sample(s, u[1], u[2]);
    }
    if s.kind == MaterialKind::Conductor as u32 {
        return conductor::sample(s, wo, u[1], u[2]);
    }
    if s.kind == MaterialKind::Dielectric as u32 {
        return dielectric::sample(s, wo, u);
    }
    principled::sample(s, wo, u)
}

#[cfg(test)]
mod tests;
