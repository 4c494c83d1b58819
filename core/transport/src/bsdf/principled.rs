//! glTF metallic-roughness: a diffuse base, a GGX reflection lobe and thin-wall transmission.
//!
//! The diffuse base is dimmed by the layer's reflection on the way in and out, and scaled to give back all transmitted
//! light if it is white (Kelemen and Szirmay-Kalos 2001). The albedo for a direction is the layer's albedo plus the
//! base colour times the rest. This is reciprocal and never more than arrives.

use crate::bsdf::albedo_scaling::{mean_schlick_albedo, schlick_albedo};
use crate::bsdf::fresnel::{schlick, schlick_scalar};
use crate::bsdf::layer::Layer;
use crate::bsdf::microfacet::{OutgoingMasking, ReflectionTerms, ggx_sample, reflect};
use crate::bsdf::surface::{ABSORBED, BLACK, Evaluation, Scatter, Surface};
use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::{Vec3, lerp, luminance, vec3};
use lockstep_core::math::{INV_PI, sqr};

/// The lobes of a principled surface and the probabilities of choosing them.
pub(super) struct Lobes {
    /// Reflectance at normal incidence of the specular lobe.
    f0: Vec3,
    /// Reflectance at normal incidence of the dielectric part of the specular lobe.
    f0_dielectric: f32,
    layer: Layer,
    /// The diffuse colour, dimmed by the layer on the way out.
    diffuse: Vec3,
    transmitted: Vec3,
    p_specular: f32,
    p_diffuse: f32,
    p_transmitted: f32,
}

impl Lobes {
    #[inline(always)]
    pub(super) fn new(s: &Surface, wo: Vec3) -> Self {
        // Colours of the lobes
        let f0_dielectric = sqr((s.ior - 1.0) / (s.ior + 1.0));
        let f0 = lerp(Vec3::splat(f0_dielectric), s.base_color, s.metallic);
        let body = s.base_color * (1.0 - s.metallic);
        let transmitted = body * s.transmission;
        let layer = Layer::new(s.roughness);
        let below = 1.0 - layer.albedo(f0_dielectric, wo.z);
        let white = below / (1.0 - layer.mean_albedo(f0_dielectric));
        let diffuse = body * ((1.0 - s.transmission) * white);
        // Albedo of each lobe for wo
        let w_specular = layer.albedo(luminance(f0), wo.z);
        let w_diffuse = luminance(body) * (1.0 - s.transmission) * below;
        let w_transmitted = luminance(transmitted) * below;
        let w_body = w_diffuse + w_transmitted;
        // Probabilities, with a tenth kept for the lobe that the estimate undervalues
        let p_specular = if w_body > 0.0 { 0.1 + 0.8 * (w_specular / (w_specular + w_body)) } else { 1.0 };
        let p_diffuse = if w_body > 0.0 { (1.0 - p_specular) * (w_diffuse / w_body) } else { 0.0 };
        let p_transmitted = if w_body > 0.0 { (1.0 - p_specular) * (w_transmitted / w_body) } else { 0.0 };
        Self { f0, f0_dielectric, layer, diffuse, transmitted, p_specular, p_diffuse, p_transmitted }
    }
}

/// The terms of reflection to `wi`; of transmission they are those of the mirrored direction, since a thin wall
/// transmits as if it reflected to the other side.
#[inline(always)]
pub(super) fn terms(s: &Surface, wo: Vec3, wi: Vec3) -> ReflectionTerms {
    terms_by(&OutgoingMasking::new(wo, s.alpha()), wo, wi)
}

/// [`terms`] by the masking of `wo`.
#[inline(always)]
fn terms_by(masking: &OutgoingMasking, wo: Vec3, wi: Vec3) -> ReflectionTerms {
    masking.reflection_terms(wo, vec3(wi.x, wi.y, wi.z.abs()))
}

/// BSDF times cosine of all lobes, and the density of choosing a lobe and then `wi`, for its [`terms`].
#[inline(always)]
pub(super) fn evaluate(lobes: &Lobes, wi: Vec3, terms: ReflectionTerms) -> Evaluation {
    if wi.z > 0.0 {
        let below = 1.0 - lobes.layer.albedo(lobes.f0_dielectric, wi.z);
        return reflection(lobes, below, wi, terms);
    }
    transmission(lobes, terms)
}

/// [`evaluate`] of a surface that keeps the light which scatters more than once: its layer's albedos are those of tables.
#[inline(always)]
pub(super) fn evaluate_keeping(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    let (mut lobes, terms) = (Lobes::new(s, wo), terms(s, wo, wi));
    if wi.z <= 0.0 {
        return transmission(&lobes, terms);
    }
    let f0 = lobes.f0_dielectric;
    let below = |cosine| 1.0 - schlick_albedo(f0, s.roughness, cosine);
    let white = below(wo.z) / (1.0 - mean_schlick_albedo(f0, s.roughness));
    lobes.diffuse = s.base_color * ((1.0 - s.metallic) * (1.0 - s.transmission) * white);
    reflection(&lobes, below(wi.z), wi, terms)
}

/// Specular and diffuse lobe, where the layer lets the share `below` of the light from `wi` through.
#[inline(always)]
fn reflection(lobes: &Lobes, below: f32, wi: Vec3, terms: ReflectionTerms) -> Evaluation {
    let ReflectionTerms { d_over_4, g1, g2, cosine } = terms;
    let specular = schlick(lobes.f0, cosine) * (d_over_4 * g2);
    let cosine_pdf = wi.z * INV_PI;
    Evaluation {
        value: specular + lobes.diffuse * (below * cosine_pdf),
        pdf: lobes.p_specular * (d_over_4 * g1) + lobes.p_diffuse * cosine_pdf,
    }
}

/// Transmission by a thin wall.
#[inline(always)]
fn transmission(lobes: &Lobes, terms: ReflectionTerms) -> Evaluation {
    let ReflectionTerms { d_over_4, g1, g2, cosine } = terms;
    let through = 1.0 - schlick_scalar(lobes.f0_dielectric, cosine);
    Evaluation {
        value: lobes.transmitted * (through * d_over_4 * g2),
        pdf: lobes.p_transmitted * (d_over_4 * g1),
    }
}

/// Samples one lobe, weighted by all of them.
#[inline(always)]
pub(super) fn sample(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    PrincipledTerms::new(s, wo).sample(s, wo, u)
}

/// The terms of scattering at a principled surface without layers that depend on `wo` alone, computed once for surfaces
/// that are both evaluated and sampled.
pub struct PrincipledTerms {
    lobes: Lobes,
    masking: OutgoingMasking,
}

impl PrincipledTerms {
    /// The terms of a surface that is seen from `wo`.
    #[inline(always)]
    pub fn new(s: &Surface, wo: Vec3) -> Self {
        Self { lobes: Lobes::new(s, wo), masking: OutgoingMasking::new(wo, s.alpha()) }
    }

    /// BSDF times cosine for light that scatters once, and the density with which [`Self::sample`] chooses `wi`.
    #[inline(always)]
    pub fn evaluate(&self, wo: Vec3, wi: Vec3) -> Evaluation {
        if wi.z == 0.0 { BLACK } else { evaluate(&self.lobes, wi, terms_by(&self.masking, wo, wi)) }
    }

    /// Samples a direction for the draws `u` (lobe, direction u, direction v). A zero weight ends the path.
    #[inline(always)]
    pub fn sample(&self, s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
        // Choose a lobe and sample it
        let lobes = &self.lobes;
        let wi = if u[0] < lobes.p_diffuse {
            cosine_hemisphere(u[1], u[2])
        } else {
            let r = reflect(wo, ggx_sample(wo, s.alpha(), u[1], u[2]));
            if r.z <= 0.0 {
                return ABSORBED;
            }
            if u[0] < lobes.p_diffuse + lobes.p_transmitted { vec3(r.x, r.y, -r.z) } else { r }
        };
        // Weight by the mixture's density
        let e = evaluate(lobes, wi, terms_by(&self.masking, wo, wi));
        if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
    }
}
