//! Bidirectional scattering distribution functions, one file per lobe. The counterpart is `kernels/bsdf/`.
//!
//! Directions are in the local frame whose z axis is the shading normal on the side of `wo`, and point away
//! from the surface. `wo` points back along the path, `wi` towards the next vertex; both have unit length and
//! `wo.z > 0`.
//!
//! Paths that start at lights use [`evaluate_bidirectional`].

mod albedo_scaling;
mod anisotropic;
mod bidirectional;
mod conductor;
mod dielectric;
mod diffuse;
mod fresnel;
mod glass;
mod iridescence;
mod layer;
mod layer_tree;
mod layered;
mod microfacet;
mod multiscatter;
mod principled;
mod sheen;
mod surface;

pub use albedo_scaling::{charlie_albedo, mean_rising_albedo, rising_albedo, stretched_missing};
pub use anisotropic::{
    ggx_d_anisotropic, ggx_lambda_anisotropic, ggx_sample_anisotropic, roughness_of_equal_loss, turned,
    turned_back,
};
pub(crate) use bidirectional::evaluate_reflection;
pub use bidirectional::{
    BidirectionalEvaluation, adjoint_factor, evaluate_bidirectional, reverse_pdf, shading_normal_correction,
};
pub use fresnel::{fresnel_dielectric, schlick};
pub use glass::{evaluate_glass, sample_glass};
pub use iridescence::{ThinFilm, film_envelope, thin_film};
pub use layer_tree::{LayerLobe, PickedLobe};
pub(crate) use layered::LayeredTerms;
pub use layered::{
    ALBEDO_MARGIN, LEAST_SHARE, LayerAxes, MEAN_MARGIN, SurfaceLayers, evaluate_layered, sample_layered,
};
pub use microfacet::{ggx_d, ggx_lambda, ggx_sample};
pub use multiscatter::{mean_missing_in_plane, missing_in_plane};
pub use principled::PrincipledTerms;
pub use sheen::{sheen_albedo, sheen_alpha, sheen_value};
pub use surface::{Evaluation, MATCHED_INDEX, MIN_ALPHA, MIN_COSINE, SPECULAR_ROUGHNESS, Scatter, Surface};

use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::MaterialKind;
use multiscatter::Recovered;
use surface::ABSORBED;
pub(crate) use surface::BLACK;

/// BSDF times cosine, and the density with which [`sample`] chooses `wi`. Zero for specular surfaces.
#[inline(always)]
pub fn evaluate(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if s.is_specular() || wi.z == 0.0 {
        return BLACK;
    }
    if s.multiscatter {
        return evaluate_multiple(s, wo, wi);
    }
    evaluate_single(s, wo, wi)
}

/// Samples a direction for the draws `u` (lobe, direction u, direction v). A zero weight ends the path.
#[inline(always)]
pub fn sample(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    if s.multiscatter && !s.is_specular() {
        return sample_multiple(s, wo, u);
    }
    sample_single(s, wo, u)
}

/// [`evaluate`] of light that scatters once, on a surface that is not specular. Conductors and principled surfaces take
/// the terms of their microfacets at one place: work-items of a GPU on either go through it together.
#[inline(always)]
fn evaluate_single(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if s.kind == MaterialKind::Diffuse as u32 {
        return diffuse::evaluate(s, wi);
    }
    if s.kind == MaterialKind::Dielectric as u32 {
        return dielectric::evaluate(s, wo, wi);
    }
    let is_conductor = s.kind == MaterialKind::Conductor as u32;
    if is_conductor && wi.z < 0.0 {
        return BLACK;
    }
    let terms = principled::terms(s, wo, wi);
    if is_conductor {
        return conductor::evaluate(s, terms);
    }
    principled::evaluate(&principled::Lobes::new(s, wo), wi, terms)
}

/// [`sample`] of light that scatters once.
#[inline(always)]
fn sample_single(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
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

/// [`evaluate`] with light that scatters more than once, on a surface that is not specular.
#[inline(never)]
fn evaluate_multiple(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if s.kind == MaterialKind::Diffuse as u32 {
        return evaluate_single(s, wo, wi);
    }
    Recovered::new(s, wo).add(wi, 1.0, evaluate_once(s, wo, wi))
}

/// [`evaluate_single`] of a surface that keeps the light which scatters more than once.
#[inline(always)]
fn evaluate_once(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if s.kind == MaterialKind::Principled as u32 {
        return principled::evaluate_keeping(s, wo, wi);
    }
    evaluate_single(s, wo, wi)
}

/// [`sample`] with light that scatters more than once, on a surface that is not specular: one lobe, weighted by all.
#[inline(never)]
fn sample_multiple(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    if s.kind == MaterialKind::Diffuse as u32 {
        return sample_single(s, wo, u);
    }
    let lobe = Recovered::new(s, wo);
    let (wi, single);
    if lobe.is_chosen(u[0]) {
        wi = lobe.direction(u);
        single = evaluate_once(s, wo, wi);
    } else {
        // The sample itself tells its value and density to more digits than its direction does
        let scattered = sample_single(s, wo, [lobe.rest_of(u[0]), u[1], u[2]]);
        if scattered.pdf <= 0.0 {
            return ABSORBED;
        }
        wi = scattered.wi;
        single = if s.kind == MaterialKind::Principled as u32 {
            principled::evaluate_keeping(s, wo, wi)
        } else {
            Evaluation { value: scattered.weight * scattered.pdf, pdf: scattered.pdf }
        };
    }
    let e = lobe.add(wi, 1.0, single);
    if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
}

#[cfg(test)]
mod chi_square;
#[cfg(test)]
mod tests;
