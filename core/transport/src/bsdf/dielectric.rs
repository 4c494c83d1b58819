//! Dielectrics: specular or GGX reflection and transmission (Walter et al. 2007).

use crate::bsdf::fresnel::fresnel_dielectric;
use crate::bsdf::microfacet::{
    ReflectionTerms, ggx_d, ggx_masking, ggx_sample, reflect, reflection_terms, refract,
};
use crate::bsdf::surface::{ABSORBED, BLACK, Evaluation, Scatter, Surface};
use lockstep_core::math::vec3::{Vec3, dot, normalize, vec3};

/// BSDF times cosine of a rough dielectric, and its density. For radiance: transmission carries the factor `1
/// / eta²`.
#[inline(always)]
pub(super) fn evaluate(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if wi.z > 0.0 { reflection(s, wo, wi) } else { transmission(s, wo, wi) }
}

#[inline(always)]
fn reflection(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    let ReflectionTerms { d_over_4, g1, g2, cosine } = reflection_terms(wo, wi, s.alpha());
    let f = fresnel_dielectric(cosine, s.relative_ior());
    Evaluation { value: s.base_color * (f * d_over_4 * g2), pdf: f * d_over_4 * g1 }
}

/// Walter et al. 2007, equation 21, for radiance.
#[inline(always)]
fn transmission(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    // Generalised half vector, on the side of wo
    let eta = s.relative_ior();
    let generalized = normalize(wo + wi * eta);
    let h = if generalized.z < 0.0 { -generalized } else { generalized };
    let (cos_o, cos_i) = (dot(wo, h), dot(wi, h));
    // Microfacets must face wo from the front and wi from behind.
    if cos_o <= 0.0 || cos_i >= 0.0 {
        return BLACK;
    }
    // Distribution, Fresnel term and Jacobian of the half vector
    let alpha = s.alpha();
    let (g1, g2) = ggx_masking(wo, wi, alpha);
    let f = fresnel_dielectric(cos_o, eta);
    let root = cos_i + cos_o / eta;
    let common = (1.0 - f) * ggx_d(h, alpha) * cos_o * -cos_i / (wo.z * root * root);
    Evaluation { value: s.base_color * (common * g2 / (eta * eta)), pdf: common * g1 }
}

/// Samples reflection with the Fresnel reflectance as its probability, else transmission.
#[inline(always)]
pub(super) fn sample(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    // Sample a microfacet normal
    let eta = s.relative_ior();
    let specular = s.is_specular();
    let alpha = s.alpha();
    let h = if specular { vec3(0.0, 0.0, 1.0) } else { ggx_sample(wo, alpha, u[1], u[2]) };
    // Choose reflection or transmission
    let cosine = dot(wo, h);
    let f = fresnel_dielectric(cosine, eta);
    let reflected = u[0] < f;
    let wi = if reflected { reflect(wo, h) } else { refract(wo, h, eta) };
    if (reflected && wi.z <= 0.0) || (!reflected && wi.z >= 0.0) {
        return ABSORBED;
    }
    // Radiance is compressed into a smaller cone on its way into the denser side.
    let compression = if reflected { 1.0 } else { 1.0 / (eta * eta) };
    if specular {
        return Scatter { wi, weight: s.base_color * compression, pdf: 0.0 };
    }
    // Density of wi: the visible normals' times the Jacobian of reflection or refraction
    let (g1, g2) = ggx_masking(wo, wi, alpha);
    let visible = g1 * ggx_d(h, alpha) / wo.z;
    let pdf = if reflected {
        f * visible * 0.25
    } else {
        let cos_i = dot(wi, h);
        let root = cos_i + cosine / eta;
        (1.0 - f) * visible * cosine * -cos_i / (root * root)
    };
    Scatter { wi, weight: s.base_color * (compression * g2 / g1), pdf }
}
