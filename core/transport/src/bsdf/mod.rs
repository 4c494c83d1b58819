//! Scattering at surfaces. The twin is `kernels/bsdf.h`.
//!
//! Directions are in the local frame whose z axis is the shading normal on the side of `wo`, and point away from the
//! surface. `wo` goes back along the path, `wi` on towards the light; both have unit length and `wo.z > 0`.
//!
//! Microfacets: GGX with height-correlated Smith shadowing (Walter et al. 2007; Heitz 2014), sampled by visible normals
//! (Heitz 2018, in the spherical-cap form of Dupuy and Benyoub 2023).

use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::{Vec3, dot, lerp, luminance, normalize, vec3};
use lockstep_core::math::{INV_PI, PI, clamp, max, safe_sqrt, saturate, sin_cos_turns, sqr};
use lockstep_core::scene::MaterialKind;

/// Conductors and dielectrics below this perceptual roughness are perfectly smooth.
pub const SMOOTH_ROUGHNESS: f32 = 0.03;
/// The least GGX alpha of a rough surface.
pub const MIN_ALPHA: f32 = 0.0009;
/// Dielectrics whose relative index is this near one let everything pass straight.
pub const MATCHED_INDEX: f32 = 1e-4;

/// A material at one point, its textures looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// A [`MaterialKind`].
    pub kind: u32,
    /// Albedo, reflectance at normal incidence or tint.
    pub base_color: Vec3,
    /// Perceptual roughness.
    pub roughness: f32,
    /// 0 dielectric to 1 metal.
    pub metallic: f32,
    /// Index of refraction of the material against the outside.
    pub ior: f32,
    /// Share of thin-wall transmission.
    pub transmission: f32,
    /// True when `wo` is outside the material.
    pub outside: bool,
}

/// A density-weighted scattering value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// BSDF times the cosine of `wi`.
    pub value: Vec3,
    /// Density of [`sample`] per solid angle.
    pub pdf: f32,
}

/// A sampled direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Unit direction onwards; `z < 0` when transmitted.
    pub wi: Vec3,
    /// BSDF times cosine over density.
    pub weight: Vec3,
    /// Density per solid angle; zero for a perfectly smooth surface.
    pub pdf: f32,
}

const BLACK: Evaluation = Evaluation { value: Vec3::ZERO, pdf: 0.0 };

impl Surface {
    /// True when directions have no density, so that light sampling is pointless.
    #[inline(always)]
    pub fn is_specular(&self) -> bool {
        if self.kind == MaterialKind::Dielectric as u32 {
            self.roughness < SMOOTH_ROUGHNESS || (self.ior - 1.0).abs() < MATCHED_INDEX
        } else {
            self.kind == MaterialKind::Conductor as u32 && self.roughness < SMOOTH_ROUGHNESS
        }
    }

    #[inline(always)]
    fn alpha(&self) -> f32 {
        max(self.roughness * self.roughness, MIN_ALPHA)
    }

    /// Index beyond the surface over the index on `wo`'s side.
    #[inline(always)]
    fn relative_ior(&self) -> f32 {
        if self.outside { self.ior } else { 1.0 / self.ior }
    }
}

/// Schlick's approximation to Fresnel reflectance (1994).
#[inline(always)]
pub fn schlick(f0: Vec3, cosine: f32) -> Vec3 {
    let m = saturate(1.0 - cosine);
    let m2 = m * m;
    let m5 = m2 * m2 * m;
    f0 + (Vec3::ONE - f0) * m5
}

/// Fresnel reflectance of a dielectric boundary for unpolarised light; `eta` is the index beyond over the index before.
#[inline(always)]
pub fn fresnel_dielectric(cosine: f32, eta: f32) -> f32 {
    let c = clamp(cosine, 0.0, 1.0);
    let sin2_beyond = (1.0 - c * c) / (eta * eta);
    if sin2_beyond >= 1.0 {
        return 1.0;
    }
    let beyond = safe_sqrt(1.0 - sin2_beyond);
    let parallel = (eta * c - beyond) / (eta * c + beyond);
    let perpendicular = (c - eta * beyond) / (c + eta * beyond);
    0.5 * (parallel * parallel + perpendicular * perpendicular)
}

/// GGX density of microfacet normals.
#[inline(always)]
pub fn ggx_d(h: Vec3, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let t = (h.x * h.x + h.y * h.y) / a2 + h.z * h.z;
    1.0 / (PI * a2 * t * t)
}

/// Smith's Lambda.
#[inline(always)]
pub fn ggx_lambda(v: Vec3, alpha: f32) -> f32 {
    let slope2 = alpha * alpha * (v.x * v.x + v.y * v.y) / (v.z * v.z);
    0.5 * ((1.0 + slope2).sqrt() - 1.0)
}

/// A visible microfacet normal for `wo`.
#[inline(always)]
pub fn ggx_sample(wo: Vec3, alpha: f32, u: f32, v: f32) -> Vec3 {
    let stretched = normalize(vec3(alpha * wo.x, alpha * wo.y, wo.z));
    let z = (1.0 - u) * (1.0 + stretched.z) - stretched.z;
    let ring = safe_sqrt((1.0 - z) * (1.0 + z));
    let (sin, cos) = sin_cos_turns(v);
    let h = vec3(ring * cos, ring * sin, z) + stretched;
    normalize(vec3(alpha * h.x, alpha * h.y, max(h.z, 0.0)))
}

/// Masking of `wo` alone and of both directions.
#[inline(always)]
fn ggx_masking(wo: Vec3, wi: Vec3, alpha: f32) -> (f32, f32) {
    let lambda_o = ggx_lambda(wo, alpha);
    let lambda_i = ggx_lambda(wi, alpha);
    (1.0 / (1.0 + lambda_o), 1.0 / (1.0 + lambda_o + lambda_i))
}

/// `wo` mirrored about `h`.
#[inline(always)]
fn reflect(wo: Vec3, h: Vec3) -> Vec3 {
    h * (2.0 * dot(wo, h)) - wo
}

/// `wo` refracted at a facet `h`; the zero vector on total internal reflection.
#[inline(always)]
fn refract(wo: Vec3, h: Vec3, eta: f32) -> Vec3 {
    let c = dot(wo, h);
    let sin2_beyond = (1.0 - c * c) / (eta * eta);
    if sin2_beyond >= 1.0 {
        return Vec3::ZERO;
    }
    h * (c / eta - safe_sqrt(1.0 - sin2_beyond)) - wo * (1.0 / eta)
}

/// BSDF times cosine, and the density with which [`sample`] would choose `wi`. Zero for smooth surfaces.
#[inline(always)]
pub fn evaluate(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    if s.is_specular() || wi.z == 0.0 {
        return BLACK;
    }
    if s.kind == MaterialKind::Diffuse as u32 {
        if wi.z < 0.0 {
            return BLACK;
        }
        let pdf = wi.z * INV_PI;
        return Evaluation { value: s.base_color * pdf, pdf };
    }
    if s.kind == MaterialKind::Conductor as u32 {
        if wi.z < 0.0 {
            return BLACK;
        }
        let (d_over_4, g1, g2, cosine) = reflection_terms(wo, wi, s.alpha());
        return Evaluation { value: schlick(s.base_color, cosine) * (d_over_4 * g2), pdf: d_over_4 * g1 };
    }
    if s.kind == MaterialKind::Dielectric as u32 {
        return if wi.z > 0.0 {
            dielectric_reflection(s, wo, wi)
        } else {
            dielectric_transmission(s, wo, wi)
        };
    }
    evaluate_principled(s, wo, wi)
}

/// What reflection off microfacets needs: D / (4 cos wo), masking of one and of both directions, cosine at the facet.
#[inline(always)]
fn reflection_terms(wo: Vec3, wi: Vec3, alpha: f32) -> (f32, f32, f32, f32) {
    let h = normalize(wo + wi);
    let (g1, g2) = ggx_masking(wo, wi, alpha);
    (ggx_d(h, alpha) / (4.0 * wo.z), g1, g2, dot(wo, h))
}

#[inline(always)]
fn dielectric_reflection(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    let (d_over_4, g1, g2, cosine) = reflection_terms(wo, wi, s.alpha());
    let f = fresnel_dielectric(cosine, s.relative_ior());
    Evaluation { value: s.base_color * (f * d_over_4 * g2), pdf: f * d_over_4 * g1 }
}

/// Walter et al. 2007, equation 21, for radiance.
#[inline(always)]
fn dielectric_transmission(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    let eta = s.relative_ior();
    let generalized = normalize(wo + wi * eta);
    let h = if generalized.z < 0.0 { -generalized } else { generalized };
    let (cos_o, cos_i) = (dot(wo, h), dot(wi, h));
    // Facets must face wo from the front and wi from behind.
    if cos_o <= 0.0 || cos_i >= 0.0 {
        return BLACK;
    }
    let alpha = s.alpha();
    let (g1, g2) = ggx_masking(wo, wi, alpha);
    let f = fresnel_dielectric(cos_o, eta);
    let root = cos_i + cos_o / eta;
    let common = (1.0 - f) * ggx_d(h, alpha) * cos_o * -cos_i / (wo.z * root * root);
    Evaluation { value: s.base_color * (common * g2 / (eta * eta)), pdf: common * g1 }
}

/// The three lobes of a principled surface and the probabilities of choosing them.
struct Lobes {
    f0: Vec3,
    /// Dielectric reflectance at normal incidence.
    f0_dielectric: f32,
    diffuse: Vec3,
    transmitted: Vec3,
    p_specular: f32,
    p_diffuse: f32,
    p_transmitted: f32,
}

#[inline(always)]
fn schlick_scalar(f0: f32, cosine: f32) -> f32 {
    let m = saturate(1.0 - cosine);
    let m2 = m * m;
    f0 + (1.0 - f0) * (m2 * m2 * m)
}

impl Lobes {
    #[inline(always)]
    fn new(s: &Surface, wo: Vec3) -> Self {
        let f0_dielectric = sqr((s.ior - 1.0) / (s.ior + 1.0));
        let f0 = lerp(Vec3::splat(f0_dielectric), s.base_color, s.metallic);
        let body = s.base_color * (1.0 - s.metallic);
        let transmitted = body * s.transmission;
        let diffuse = body * (1.0 - s.transmission);
        let below = 1.0 - schlick_scalar(f0_dielectric, wo.z);
        let w_specular = luminance(schlick(f0, wo.z));
        let w_diffuse = luminance(diffuse) * below;
        let w_transmitted = luminance(transmitted) * below;
        let w_body = w_diffuse + w_transmitted;
        // Keep a tenth for the lobe that the estimate undervalues.
        let p_specular = if w_body > 0.0 { 0.1 + 0.8 * (w_specular / (w_specular + w_body)) } else { 1.0 };
        let p_diffuse = if w_body > 0.0 { (1.0 - p_specular) * (w_diffuse / w_body) } else { 0.0 };
        let p_transmitted = if w_body > 0.0 { (1.0 - p_specular) * (w_transmitted / w_body) } else { 0.0 };
        Self { f0, f0_dielectric, diffuse, transmitted, p_specular, p_diffuse, p_transmitted }
    }
}

/// glTF metallic-roughness. The diffuse base is dimmed by the Fresnel loss on the way in and out, a reciprocal coupling
/// that never reflects more than arrives (Ashikhmin and Shirley 2000).
#[inline(always)]
fn evaluate_principled(s: &Surface, wo: Vec3, wi: Vec3) -> Evaluation {
    let lobes = Lobes::new(s, wo);
    if wi.z > 0.0 {
        let (d_over_4, g1, g2, cosine) = reflection_terms(wo, wi, s.alpha());
        let losses = (1.0 - schlick_scalar(lobes.f0_dielectric, wo.z))
            * (1.0 - schlick_scalar(lobes.f0_dielectric, wi.z));
        let specular = schlick(lobes.f0, cosine) * (d_over_4 * g2);
        let cosine_pdf = wi.z * INV_PI;
        return Evaluation {
            value: specular + lobes.diffuse * (losses * cosine_pdf),
            pdf: lobes.p_specular * (d_over_4 * g1) + lobes.p_diffuse * cosine_pdf,
        };
    }
    // A thin wall transmits as if it reflected to the other side.
    let mirrored = vec3(wi.x, wi.y, -wi.z);
    let (d_over_4, g1, g2, cosine) = reflection_terms(wo, mirrored, s.alpha());
    let through = 1.0 - schlick_scalar(lobes.f0_dielectric, cosine);
    Evaluation {
        value: lobes.transmitted * (through * d_over_4 * g2),
        pdf: lobes.p_transmitted * (d_over_4 * g1),
    }
}

/// Chooses a direction for the draws `u` (lobe, direction u, direction v). A zero weight means the path ends.
#[inline(always)]
pub fn sample(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    if s.kind == MaterialKind::Diffuse as u32 {
        let wi = cosine_hemisphere(u[1], u[2]);
        return Scatter { wi, weight: s.base_color, pdf: wi.z * INV_PI };
    }
    if s.kind == MaterialKind::Conductor as u32 {
        return sample_conductor(s, wo, u);
    }
    if s.kind == MaterialKind::Dielectric as u32 {
        return sample_dielectric(s, wo, u);
    }
    sample_principled(s, wo, u)
}

const ABSORBED: Scatter = Scatter { wi: vec3(0.0, 0.0, 1.0), weight: Vec3::ZERO, pdf: 0.0 };

#[inline(always)]
fn sample_conductor(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    if s.is_specular() {
        return Scatter { wi: vec3(-wo.x, -wo.y, wo.z), weight: schlick(s.base_color, wo.z), pdf: 0.0 };
    }
    let alpha = s.alpha();
    let h = ggx_sample(wo, alpha, u[1], u[2]);
    let wi = reflect(wo, h);
    if wi.z <= 0.0 {
        return ABSORBED;
    }
    let (g1, g2) = ggx_masking(wo, wi, alpha);
    let pdf = g1 * ggx_d(h, alpha) / (4.0 * wo.z);
    Scatter { wi, weight: schlick(s.base_color, dot(wo, h)) * (g2 / g1), pdf }
}

#[inline(always)]
fn sample_dielectric(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    let eta = s.relative_ior();
    let smooth = s.is_specular();
    let alpha = s.alpha();
    let h = if smooth { vec3(0.0, 0.0, 1.0) } else { ggx_sample(wo, alpha, u[1], u[2]) };
    let cosine = dot(wo, h);
    let f = fresnel_dielectric(cosine, eta);
    let reflected = u[0] < f;
    let wi = if reflected { reflect(wo, h) } else { refract(wo, h, eta) };
    if (reflected && wi.z <= 0.0) || (!reflected && wi.z >= 0.0) {
        return ABSORBED;
    }
    // Radiance is compressed into a smaller cone on its way into the denser side.
    let compression = if reflected { 1.0 } else { 1.0 / (eta * eta) };
    if smooth {
        return Scatter { wi, weight: s.base_color * compression, pdf: 0.0 };
    }
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

#[inline(always)]
fn sample_principled(s: &Surface, wo: Vec3, u: [f32; 3]) -> Scatter {
    let lobes = Lobes::new(s, wo);
    let wi = if u[0] < lobes.p_diffuse {
        cosine_hemisphere(u[1], u[2])
    } else {
        let r = reflect(wo, ggx_sample(wo, s.alpha(), u[1], u[2]));
        if r.z <= 0.0 {
            return ABSORBED;
        }
        if u[0] < lobes.p_diffuse + lobes.p_transmitted { vec3(r.x, r.y, -r.z) } else { r }
    };
    let e = evaluate_principled(s, wo, wi);
    if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
}

#[cfg(test)]
mod tests;
