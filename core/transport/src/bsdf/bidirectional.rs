//! The BSDF seen from both ends of a path, for integrators that also trace paths from lights (Veach 1997,
//! chapter 5). The counterpart is `kernels/bsdf/bidirectional.h`.

use crate::bsdf::microfacet::reflection_terms;
use crate::bsdf::principled::Lobes;
use crate::bsdf::surface::Surface;
use crate::bsdf::{conductor, evaluate, principled};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::MaterialKind;

/// BSDF value and the densities of both directions of travel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BidirectionalEvaluation {
    /// BSDF, or its adjoint, times the cosine of `wi`.
    pub value: Vec3,
    /// Density per solid angle with which a path from `wo` chooses `wi`.
    pub pdf: f32,
    /// Density per solid angle with which a path from `wi` chooses `wo`.
    pub reverse_pdf: f32,
}

/// The adjoint BSDF over the BSDF for a path that leaves by `wi`.
///
/// Light that crosses a boundary of dielectrics changes its solid angle, so radiance carries the factor `1 /
/// eta²` and importance does not (Veach 1997, section 5.2). All other lobes are symmetric. Shading normals
/// break the symmetry too: see [`shading_normal_correction`].
#[inline(always)]
pub fn adjoint_factor(s: &Surface, wi: Vec3) -> f32 {
    if s.kind != MaterialKind::Dielectric as u32 || wi.z >= 0.0 {
        return 1.0;
    }
    let eta = s.relative_ior();
    eta * eta
}

/// The factor of a path that carries importance at a surface whose shading normal differs from its geometric
/// normal (Veach 1997, equation 5.19). Each direction is given by its cosines to the shading and to the
/// geometric normal. Zero where the path grazes the geometric surface.
#[inline(always)]
pub fn shading_normal_correction(wo: [f32; 2], wi: [f32; 2]) -> f32 {
    let below = (wo[1] * wi[0]).abs();
    if below > 0.0 { (wo[0] * wi[1]).abs() / below } else { 0.0 }
}

/// The density per solid angle with which a path that arrives along `wi` chooses `wo`. Zero for specular
/// surfaces.
#[inline(always)]
pub fn reverse_pdf(s: &Surface, wo: Vec3, wi: Vec3) -> f32 {
    if wi.z > 0.0 {
        return evaluate(s, wi, wo).pdf;
    }
    // Mirror both about the surface, so that the direction of arrival has a positive z
    let beyond = Surface { outside: !s.outside, ..*s };
    evaluate(&beyond, vec3(wi.x, wi.y, -wi.z), vec3(wo.x, wo.y, -wo.z)).pdf
}

/// Evaluates the BSDF, or its adjoint for a path that carries importance, with the densities of both
/// directions of travel. All are zero for specular surfaces.
#[inline(always)]
pub fn evaluate_bidirectional(s: &Surface, wo: Vec3, wi: Vec3, adjoint: bool) -> BidirectionalEvaluation {
    let forward = evaluate(s, wo, wi);
    let factor = if adjoint { adjoint_factor(s, wi) } else { 1.0 };
    BidirectionalEvaluation {
        value: forward.value * factor,
        pdf: forward.pdf,
        reverse_pdf: reverse_pdf(s, wo, wi),
    }
}

/// [`evaluate`] for both directions of travel of a reflection, by a surface that keeps no light which scatters more than
/// once: the terms of microfacets that both have in common are computed once. Both z must be positive.
#[inline(always)]
pub(crate) fn evaluate_reflection(s: &Surface, wo: Vec3, wi: Vec3) -> BidirectionalEvaluation {
    let is_conductor = s.kind == MaterialKind::Conductor as u32;
    if !s.is_specular() && (is_conductor || s.kind == MaterialKind::Principled as u32) {
        let (terms, opposite) = (reflection_terms(wo, wi, s.alpha()), reflection_terms(wi, wo, s.alpha()));
        let (forward, reverse) = if is_conductor {
            (conductor::evaluate(s, terms), conductor::evaluate(s, opposite))
        } else {
            let (lobes, lobes_of_opposite) = (Lobes::new(s, wo), Lobes::new(s, wi));
            (principled::evaluate(&lobes, wi, terms), principled::evaluate(&lobes_of_opposite, wo, opposite))
        };
        return BidirectionalEvaluation { value: forward.value, pdf: forward.pdf, reverse_pdf: reverse.pdf };
    }
    let (forward, reverse) = (evaluate(s, wo, wi), evaluate(s, wi, wo));
    BidirectionalEvaluation { value: forward.value, pdf: forward.pdf, reverse_pdf: reverse.pdf }
}
