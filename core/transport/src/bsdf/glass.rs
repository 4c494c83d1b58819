//! Glass under a thin film and a clearcoat: glTF's `KHR_materials_iridescence` and `_clearcoat` on the surface around a
//! volume. The counterpart is `kernels/bsdf/glass.h`.
//!
//! The film changes Fresnel's term: what it does not reflect is transmitted. Its reflectance is that of the angle in air
//! from both sides, so that exchanging directions changes nothing. Of the three channels the mean decides between
//! reflection and transmission, the weight tells them apart.
//!
//! The clearcoat lies on the thinner side, along the surface. Outside, it reflects as in [`super::layered`], and what lies
//! below has the share that it lets through: of reflection the smaller share of both directions, of transmission that of
//! the direction outside. What it reflects of the light that leaves the glass goes back into it, as if the boundary had
//! reflected it; of both directions' shares the smaller one counts. So both directions may be exchanged, and never more
//! comes back than arrives.
//!
//! Glass that keeps all light scales what lies below the clearcoat by its albedo for `wo` alone ([`super::albedo_scaling`]).
//! From inside it is as light as without layers.
//!
//! Smooth glass under a clearcoat is specular in part: light sampling finds the coat's lobe alone.

use crate::bsdf::albedo_scaling::coat_scaling;
use crate::bsdf::fresnel::{fresnel_dielectric, schlick_scalar};
use crate::bsdf::iridescence::thin_film;
use crate::bsdf::layer::Layer;
use crate::bsdf::layered::{LEAST_SHARE, SurfaceLayers, coat_alpha, coat_share};
use crate::bsdf::microfacet::{
    ReflectionTerms, ggx_d, ggx_masking, ggx_sample, reflect, reflection_terms, refract,
};
use crate::bsdf::multiscatter::Recovered;
use crate::bsdf::surface::{ABSORBED, BLACK, Evaluation, Scatter, Surface};
use lockstep_core::math::vec3::{Vec3, dot, lerp, luminance, normalize, vec3};
use lockstep_core::math::{clamp, max, min, safe_sqrt, sqr};

/// Fresnel's term of glass under a film, at a cosine to a microfacet on the side of `wo`.
#[inline(always)]
fn reflectance(s: &Surface, layers: &SurfaceLayers, cosine: f32) -> Vec3 {
    let eta = s.relative_ior();
    let bare = fresnel_dielectric(cosine, eta);
    if layers.iridescence <= 0.0 || bare >= 1.0 {
        return Vec3::splat(bare);
    }
    // The film's model asks for the cosine in air
    let c = clamp(cosine, 0.0, 1.0);
    let beyond = safe_sqrt(1.0 - (1.0 - c * c) / (eta * eta));
    let in_air = if s.outside { c } else { beyond };
    let f0 = sqr((s.ior - 1.0) / (s.ior + 1.0));
    lerp(Vec3::splat(bare), thin_film(layers.film, Vec3::splat(f0), in_air), layers.iridescence)
}

/// Glass with its layers, for light that leaves by one direction.
struct Glass {
    eta: f32,
    alpha: f32,
    coat: Layer,
    /// True where the surface keeps all light: layers are scaled by the albedos of `wo`.
    is_scaled: bool,
    /// The share that the clearcoat lets through on the way out; all from inside.
    coat_out: f32,
    /// The probability of choosing the clearcoat's lobe.
    p_coat: f32,
}

/// The boundary at a microfacet.
struct Boundary {
    /// Fresnel's term.
    reflected: Vec3,
    /// The clearcoat's transmittance for light that is transmitted from inside.
    let_out: f32,
    /// The probability of reflection.
    p_reflected: f32,
}

impl Glass {
    #[inline(always)]
    fn new(s: &Surface, layers: &SurfaceLayers, wo: Vec3) -> Self {
        let mut glass = Self {
            eta: s.relative_ior(),
            alpha: s.alpha(),
            coat: Layer::new(layers.clearcoat_roughness),
            is_scaled: s.multiscatter,
            coat_out: 1.0,
            p_coat: 0.0,
        };
        if s.outside && layers.clearcoat > 0.0 {
            glass.coat_out = glass.passed(layers, wo.z);
            let sum = 1.0 - glass.coat_out + glass.coat_out * luminance(s.base_color);
            let least = LEAST_SHARE * sum;
            glass.p_coat = (1.0 - glass.coat_out + least) / (sum + 2.0 * least);
        }
        glass
    }

    /// The share that the clearcoat lets through of a direction outside.
    #[inline(always)]
    fn passed(&self, layers: &SurfaceLayers, cosine: f32) -> f32 {
        if self.is_scaled {
            return coat_scaling(layers.clearcoat, layers.clearcoat_f0, layers.clearcoat_roughness, cosine);
        }
        coat_share(&self.coat, layers.clearcoat, layers.clearcoat_f0, cosine)
    }

    /// The clearcoat's transmittance for light from a direction inside that a microfacet transmits.
    #[inline(always)]
    fn let_out(&self, layers: &SurfaceLayers, from: Vec3, h: Vec3) -> f32 {
        self.passed(layers, max(-refract(from, h, self.eta).z, 0.0))
    }

    /// The boundary at the microfacet with the normal `h`.
    #[inline(always)]
    fn boundary(&self, s: &Surface, layers: &SurfaceLayers, wo: Vec3, h: Vec3) -> Boundary {
        if self.is_scaled && !self.has_both_sides(wo, h) {
            let bare = fresnel_dielectric(dot(wo, h), self.eta);
            return Boundary { reflected: Vec3::splat(bare), let_out: 1.0, p_reflected: bare };
        }
        let reflected = reflectance(s, layers, dot(wo, h));
        let mean = min((reflected.x + reflected.y + reflected.z) * 0.333_333_34, 1.0);
        let let_out = if s.outside || mean >= 1.0 { 1.0 } else { self.let_out(layers, wo, h) };
        Boundary { reflected, let_out, p_reflected: 1.0 - (1.0 - mean) * let_out }
    }

    /// True for a microfacet that reflects to the side of `wo` and transmits to the other. Others lose one of both, so there
    /// layers cannot move light between them.
    #[inline(always)]
    fn has_both_sides(&self, wo: Vec3, h: Vec3) -> bool {
        reflect(wo, h).z > 0.0 && refract(wo, h, self.eta).z < 0.0
    }

    /// Reflectance with what the clearcoat gives back of light from inside.
    #[inline(always)]
    fn given_back(&self, s: &Surface, layers: &SurfaceLayers, at: &Boundary, wi: Vec3, h: Vec3) -> Vec3 {
        if s.outside || at.let_out >= 1.0 {
            return at.reflected;
        }
        let let_out = if self.is_scaled { at.let_out } else { max(at.let_out, self.let_out(layers, wi, h)) };
        let back = 1.0 - let_out;
        at.reflected + (Vec3::ONE - at.reflected) * back
    }

    /// The share that the clearcoat lets through of light between `wo` and `wi` that the glass reflects or transmits.
    #[inline(always)]
    fn below(&self, s: &Surface, layers: &SurfaceLayers, wi: Vec3) -> f32 {
        if self.is_scaled {
            return self.coat_out;
        }
        if s.outside {
            return if wi.z > 0.0 { min(self.coat_out, self.passed(layers, wi.z)) } else { self.coat_out };
        }
        if wi.z > 0.0 { 1.0 } else { self.passed(layers, -wi.z) }
    }

    /// Reflection by rough glass, below the clearcoat.
    #[inline(always)]
    fn reflection(&self, s: &Surface, layers: &SurfaceLayers, wo: Vec3, wi: Vec3) -> Evaluation {
        let h = normalize(wo + wi);
        let at = self.boundary(s, layers, wo, h);
        let ReflectionTerms { d_over_4, g1, g2, cosine } = reflection_terms(wo, wi, self.alpha);
        let f = self.given_back(s, layers, &at, wi, h);
        let pdf = at.p_reflected * d_over_4 * g1;
        if self.is_scaled {
            let bare = fresnel_dielectric(cosine, self.eta);
            let masked = self.masked(f, bare, wo, h, g2);
            return Evaluation { value: s.base_color * masked * d_over_4, pdf };
        }
        Evaluation { value: s.base_color * f * (d_over_4 * g2), pdf }
    }

    /// Reflection by a microfacet, with its masking `g2`. Film and clearcoat reflect more than the bare boundary, whose share is
    /// `bare`. The surplus is taken from the transmission and has its masking, so that layers leave the energy loss as it is.
    #[inline(always)]
    fn masked(&self, reflected: Vec3, bare: f32, wo: Vec3, h: Vec3, g2: f32) -> Vec3 {
        if bare >= 1.0 {
            return reflected * g2;
        }
        let (_, of_transmission) = ggx_masking(wo, refract(wo, h, self.eta), self.alpha);
        let more = (reflected - Vec3::splat(bare)) * of_transmission + Vec3::splat(bare * g2);
        vec3(max(more.x, 0.0), max(more.y, 0.0), max(more.z, 0.0))
    }

    /// Transmission by rough glass, below the clearcoat (Walter et al. 2007, equation 21, for radiance).
    #[inline(always)]
    fn transmission(&self, s: &Surface, layers: &SurfaceLayers, wo: Vec3, wi: Vec3) -> Evaluation {
        let generalized = normalize(wo + wi * self.eta);
        let h = if generalized.z < 0.0 { -generalized } else { generalized };
        let (cos_o, cos_i) = (dot(wo, h), dot(wi, h));
        if cos_o <= 0.0 || cos_i >= 0.0 {
            return BLACK;
        }
        let at = self.boundary(s, layers, wo, h);
        let (g1, g2) = ggx_masking(wo, wi, self.alpha);
        let root = cos_i + cos_o / self.eta;
        let common = ggx_d(h, self.alpha) * cos_o * -cos_i / (wo.z * root * root);
        let mut value = s.base_color * (Vec3::ONE - at.reflected) * (common * g2 / (self.eta * self.eta));
        if self.is_scaled {
            value = value * at.let_out;
        }
        Evaluation { value, pdf: (1.0 - at.p_reflected) * common * g1 }
    }

    /// The direction in which smooth glass reflects or transmits, and its weight below the clearcoat.
    #[inline(always)]
    fn specular(&self, s: &Surface, layers: &SurfaceLayers, wo: Vec3, u: f32) -> Scatter {
        let h = vec3(0.0, 0.0, 1.0);
        let at = self.boundary(s, layers, wo, h);
        let reflects = u < at.p_reflected;
        let wi = if reflects { reflect(wo, h) } else { refract(wo, h, self.eta) };
        if reflects != (wi.z > 0.0) {
            return ABSORBED;
        }
        let f = if reflects {
            self.given_back(s, layers, &at, wi, h) * (1.0 / at.p_reflected)
        } else {
            let scale = 1.0 / ((1.0 - at.p_reflected) * (self.eta * self.eta));
            (Vec3::ONE - at.reflected) * if self.is_scaled { scale * at.let_out } else { scale }
        };
        Scatter { wi, weight: s.base_color * f * self.below(s, layers, wi), pdf: 0.0 }
    }
}

/// BSDF times cosine of all lobes that are not specular, and the density with which [`sample_glass`] chooses `wi`.
#[inline(never)]
pub fn evaluate_glass(s: &Surface, layers: &SurfaceLayers, wo: Vec3, wi: Vec3) -> Evaluation {
    let glass = Glass::new(s, layers, wo);
    let mut e = BLACK;
    if !s.is_specular() {
        let lobe = if wi.z > 0.0 {
            glass.reflection(s, layers, wo, wi)
        } else {
            glass.transmission(s, layers, wo, wi)
        };
        let below = glass.below(s, layers, wi);
        let single = Evaluation { value: lobe.value * below, pdf: lobe.pdf };
        e = if s.multiscatter {
            let more = Recovered::new(s, wo);
            more.add(wi, glass.coat_out, single)
        } else {
            single
        };
        e.pdf *= 1.0 - glass.p_coat;
    }
    // Clearcoat
    if s.outside && wi.z > 0.0 && layers.clearcoat > 0.0 {
        let ReflectionTerms { d_over_4, g1, g2, cosine } = reflection_terms(wo, wi, coat_alpha(layers));
        let reflected = layers.clearcoat * schlick_scalar(layers.clearcoat_f0, cosine) * d_over_4 * g2;
        e.value = e.value + Vec3::splat(reflected);
        e.pdf += glass.p_coat * (d_over_4 * g1);
    }
    e
}

/// Samples the clearcoat, the light that scatters more than once, or reflection and transmission. A direction of rough
/// lobes is weighted by all of them.
#[inline(never)]
pub fn sample_glass(s: &Surface, layers: &SurfaceLayers, wo: Vec3, u: [f32; 3]) -> Scatter {
    let glass = Glass::new(s, layers, wo);
    let wi;
    if u[0] < glass.p_coat {
        wi = reflect(wo, ggx_sample(wo, coat_alpha(layers), u[1], u[2]));
        if wi.z <= 0.0 {
            return ABSORBED;
        }
    } else {
        let mut rest = clamp((u[0] - glass.p_coat) / (1.0 - glass.p_coat), 0.0, 0.999_999_94);
        if s.is_specular() {
            let scattered = glass.specular(s, layers, wo, rest);
            return Scatter { weight: scattered.weight * (1.0 / (1.0 - glass.p_coat)), ..scattered };
        }
        let recovered = if s.multiscatter { Some(Recovered::new(s, wo)) } else { None };
        match recovered {
            Some(lobe) if lobe.is_chosen(rest) => wi = lobe.direction([rest, u[1], u[2]]),
            _ => {
                rest = recovered.map_or(rest, |lobe| lobe.rest_of(rest));
                let h = ggx_sample(wo, glass.alpha, u[1], u[2]);
                let reflects = rest < glass.boundary(s, layers, wo, h).p_reflected;
                wi = if reflects { reflect(wo, h) } else { refract(wo, h, glass.eta) };
                if reflects != (wi.z > 0.0) || wi.z == 0.0 {
                    return ABSORBED;
                }
            }
        }
    }
    let e = evaluate_glass(s, layers, wo, wi);
    if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
}

#[cfg(test)]
mod tests;
