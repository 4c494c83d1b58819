//! A principled surface under layers: glTF's `KHR_materials_specular`, `_clearcoat`, `_sheen`, `_anisotropy` and
//! `_iridescence`, all lobes evaluated together. The counterpart is `kernels/bsdf/layered.h`.
//!
//! From the top: a clearcoat (GGX), sheen (Charlie), the specular lobe (GGX, anisotropic, perhaps under a thin film), a
//! diffuse base or a thin transmitting wall. A layer passes the share of light that it does not reflect, by its directional albedo. What
//! lies below a layer is scaled by the smaller share of both directions, which is reciprocal and never more than
//! arrives. The diffuse base takes the product of both directions' shares over its mean instead (Kelemen and
//! Szirmay-Kalos 2001): a white base gives back all that arrives. So does the lobe of what scatters more than once
//! ([`super::multiscatter`]), which lies where the specular lobe does; under anisotropy it gives back what the smoother
//! direction loses, which is less than what is lost.

use crate::bsdf::anisotropic::{ggx_sample_anisotropic, reflection_terms_anisotropic, turned, turned_back};
use crate::bsdf::fresnel::{schlick_scalar, schlick_to};
use crate::bsdf::iridescence::{ThinFilm, film_envelope, film_fresnel};
use crate::bsdf::layer::Layer;
use crate::bsdf::microfacet::{ggx_sample, reflect, reflection_terms};
use crate::bsdf::multiscatter::{Recovered, with_recovered};
use crate::bsdf::sheen::{sheen_albedo, sheen_limit, sheen_value};
use crate::bsdf::surface::{ABSORBED, Evaluation, MIN_ALPHA, Scatter, Surface};
use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::{Vec3, lerp, luminance, max_component, vec3};
use lockstep_core::math::{INV_PI, max, min, sqr};

/// The layers of a material at one point, their textures looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceLayers {
    /// Factor on the dielectric reflectance at normal incidence.
    pub specular_color: Vec3,
    /// Weight of the dielectric specular lobe, 0 to 1.
    pub specular: f32,
    /// Albedo of the sheen, 0 to 1.
    pub sheen_color: Vec3,
    /// Perceptual roughness of the sheen.
    pub sheen_roughness: f32,
    /// Weight of the clearcoat, 0 to 1.
    pub clearcoat: f32,
    /// Perceptual roughness of the clearcoat.
    pub clearcoat_roughness: f32,
    /// Reflectance of the clearcoat at normal incidence.
    pub clearcoat_f0: f32,
    /// Weight of the thin film, 0 to 1.
    pub iridescence: f32,
    /// The thin film over the specular lobe.
    pub film: ThinFilm,
    /// Strength of anisotropy, 0 to 1.
    pub anisotropy: f32,
    /// Direction of anisotropy in world space, close to the surface; zero where there is none.
    pub along: Vec3,
}

/// The share that is added to a layer's albedo, so that it is nowhere below its lobe's.
pub const ALBEDO_MARGIN: f32 = 2e-3;

/// The shares of light that the layers above the body let through.
struct Above {
    base: Layer,
    f0: f32,
    f90: f32,
    sheen: f32,
    sheen_roughness: f32,
    coat: Layer,
    clearcoat: f32,
    clearcoat_f0: f32,
}

impl Above {
    /// The share that the specular lobe lets through.
    #[inline(always)]
    fn base(&self, cosine: f32) -> f32 {
        max(1.0 - (self.base.albedo_to(self.f0, self.f90, cosine) + ALBEDO_MARGIN), 0.0)
    }

    /// The share that sheen lets through.
    #[inline(always)]
    fn sheen(&self, cosine: f32) -> f32 {
        if self.sheen > 0.0 {
            1.0 - self.sheen * min(sheen_albedo(self.sheen_roughness, cosine), 1.0)
        } else {
            1.0
        }
    }

    /// The share that the clearcoat lets through.
    #[inline(always)]
    fn coat(&self, cosine: f32) -> f32 {
        if self.clearcoat > 0.0 {
            let albedo = self.coat.albedo_to(self.clearcoat_f0, 1.0, cosine) + ALBEDO_MARGIN;
            max(1.0 - self.clearcoat * albedo, 0.0)
        } else {
            1.0
        }
    }

    /// The share that all let through.
    #[inline(always)]
    fn all(&self, cosine: f32) -> f32 {
        self.coat(cosine) * self.sheen(cosine) * self.base(cosine)
    }

    /// The cosine-weighted mean of [`Self::all`] over the hemisphere, by Gauss-Jacobi quadrature; not below it.
    #[inline(always)]
    fn mean(&self) -> f32 {
        let grazing = 0.062_361_94 * self.all(0.139_759_86) + 0.259_695_1 * self.all(0.416_409_57);
        let steep = 0.406_929_14 * self.all(0.723_157) + 0.271_013_83 * self.all(0.942_895_8);
        grazing + steep + MEAN_MARGIN
    }
}

/// The error of the quadrature of layers' mean share.
pub const MEAN_MARGIN: f32 = 1e-3;

/// The lobes of a layered surface and the probabilities of choosing them.
struct Lobes {
    above: Above,
    f0: Vec3,
    f90: f32,
    /// Bounds the thin film's reflectance; black without one.
    envelope: Vec3,
    /// GGX alpha along and across the direction of anisotropy.
    alpha: [f32; 2],
    /// The diffuse colour, dimmed by the layers on the way out.
    diffuse: Vec3,
    transmitted: Vec3,
    /// Shares that the clearcoat and sheen let through on the way out.
    coat_out: f32,
    sheen_out: f32,
    p_cosine: f32,
    p_transmitted: f32,
    p_coat: f32,
    p_specular: f32,
}

impl Lobes {
    #[inline(always)]
    fn new(s: &Surface, layers: &SurfaceLayers, wo: Vec3) -> Self {
        // Colours of the lobes
        let tinted = layers.specular_color * sqr((s.ior - 1.0) / (s.ior + 1.0));
        let limited = vec3(min(tinted.x, 1.0), min(tinted.y, 1.0), min(tinted.z, 1.0));
        let dielectric = limited * layers.specular;
        let f0 = lerp(dielectric, s.base_color, s.metallic);
        let f90 = layers.specular + (1.0 - layers.specular) * s.metallic;
        let body = s.base_color * (1.0 - s.metallic);
        let transmitted = body * s.transmission;
        let film = layers.iridescence;
        let envelope = if film > 0.0 { film_envelope(layers.film, f0) } else { Vec3::ZERO };
        let without = max_component(dielectric);
        let above = Above {
            base: Layer::new(s.roughness),
            f0: without + (max_component(envelope) - without) * film,
            f90: layers.specular + (1.0 - layers.specular) * film,
            sheen: max_component(layers.sheen_color),
            sheen_roughness: layers.sheen_roughness,
            coat: Layer::new(layers.clearcoat_roughness),
            clearcoat: layers.clearcoat,
            clearcoat_f0: layers.clearcoat_f0,
        };
        // What layers let through on the way out
        let coat_out = above.coat(wo.z);
        let sheen_out = above.sheen(wo.z);
        let base_out = above.base(wo.z);
        let all_out = coat_out * sheen_out * base_out;
        let opaque = 1.0 - s.transmission;
        let diffuse = body * (opaque * (all_out / above.mean()));
        // Alphas of the specular lobe
        let across = s.alpha();
        let alpha = [across + (1.0 - across) * sqr(layers.anisotropy), across];
        // Albedo of each lobe for wo
        let below = coat_out * sheen_out;
        let w_coat = 1.0 - coat_out;
        let w_sheen = if above.sheen > 0.0 { coat_out * (1.0 - sheen_out) } else { 0.0 };
        let w_specular = below * above.base.albedo_to(luminance(lerp(f0, envelope, film)), f90, wo.z);
        let w_cosine = w_sheen + luminance(body) * (opaque * all_out);
        let w_transmitted = luminance(transmitted) * all_out;
        let sum = w_coat + w_specular + w_cosine + w_transmitted;
        // Probabilities, with a share kept for every lobe that the estimate undervalues
        let least = 0.05 * sum;
        let q_coat = if w_coat > 0.0 { w_coat + least } else { 0.0 };
        let q_cosine = if w_cosine > 0.0 { w_cosine + least } else { 0.0 };
        let q_transmitted = if w_transmitted > 0.0 { w_transmitted + least } else { 0.0 };
        let q_specular = w_specular + least;
        let scale = if sum > 0.0 { 1.0 / (q_coat + q_cosine + q_transmitted + q_specular) } else { 0.0 };
        Self {
            above,
            f0,
            f90,
            envelope,
            alpha,
            diffuse,
            transmitted,
            coat_out,
            sheen_out,
            p_cosine: q_cosine * scale,
            p_transmitted: q_transmitted * scale,
            p_coat: q_coat * scale,
            p_specular: q_specular * scale,
        }
    }
}

/// BSDF times cosine of all lobes, and the density of choosing a lobe and then `wi`. `along` is the direction of
/// anisotropy in the local frame, of unit length.
#[inline(never)]
pub fn evaluate_layered(
    s: &Surface,
    layers: &SurfaceLayers,
    along: [f32; 2],
    wo: Vec3,
    wi: Vec3,
) -> Evaluation {
    let lobes = Lobes::new(s, layers, wo);
    let above = &lobes.above;
    // A thin wall transmits as if it reflected to the other side
    let up = if wi.z > 0.0 { wi } else { vec3(wi.x, wi.y, -wi.z) };
    let coat = min(lobes.coat_out, above.coat(up.z));
    let below = coat * min(lobes.sheen_out, above.sheen(up.z));
    let (d_over_4, g1, g2, cosine) =
        reflection_terms_anisotropic(turned(wo, along), turned(up, along), lobes.alpha);
    if wi.z <= 0.0 {
        let through = 1.0 - max_component(schlick_to(Vec3::splat(above.f0), above.f90, cosine));
        let transmitted = Evaluation {
            value: lobes.transmitted * (through * d_over_4 * g2 * below),
            pdf: lobes.p_transmitted * (d_over_4 * g1),
        };
        return with_recovered(s, wo, wi, below, transmitted);
    }
    // Specular and diffuse lobe
    let cosine_pdf = wi.z * INV_PI;
    let mut fresnel = schlick_to(lobes.f0, lobes.f90, cosine);
    if layers.iridescence > 0.0 {
        let of_film = film_fresnel(layers.film, lobes.f0, lobes.envelope, cosine);
        fresnel = lerp(fresnel, of_film, layers.iridescence);
    }
    let specular = fresnel * (d_over_4 * g2 * below);
    let mut value = specular + lobes.diffuse * (above.all(wi.z) * cosine_pdf);
    let mut pdf = lobes.p_specular * (d_over_4 * g1) + lobes.p_cosine * cosine_pdf;
    // Sheen
    if above.sheen > 0.0 {
        let limit = min(
            sheen_limit(sheen_albedo(layers.sheen_roughness, wo.z)),
            sheen_limit(sheen_albedo(layers.sheen_roughness, wi.z)),
        );
        value = value + layers.sheen_color * (sheen_value(layers.sheen_roughness, wo, wi) * limit * coat);
    }
    // Clearcoat
    if above.clearcoat > 0.0 {
        let (d_over_4, g1, g2, cosine) = reflection_terms(wo, wi, coat_alpha(layers));
        let reflected = above.clearcoat * schlick_scalar(above.clearcoat_f0, cosine) * d_over_4 * g2;
        value = value + Vec3::splat(reflected);
        pdf += lobes.p_coat * (d_over_4 * g1);
    }
    with_recovered(s, wo, wi, below, Evaluation { value, pdf })
}

/// GGX alpha of the clearcoat.
#[inline(always)]
fn coat_alpha(layers: &SurfaceLayers) -> f32 {
    max(layers.clearcoat_roughness * layers.clearcoat_roughness, MIN_ALPHA)
}

/// Samples one lobe, weighted by all of them.
#[inline(never)]
pub fn sample_layered(
    s: &Surface,
    layers: &SurfaceLayers,
    along: [f32; 2],
    wo: Vec3,
    mut u: [f32; 3],
) -> Scatter {
    // Light that scatters more than once
    if s.multiscatter {
        let lobe = Recovered::new(s, wo);
        if lobe.is_chosen(u[0]) {
            return weighted(s, layers, along, wo, lobe.direction(u));
        }
        u[0] = lobe.rest_of(u[0]);
    }
    // Choose a lobe and sample it
    let lobes = Lobes::new(s, layers, wo);
    let above_transmitted = lobes.p_cosine + lobes.p_transmitted;
    let wi = if u[0] < lobes.p_cosine {
        cosine_hemisphere(u[1], u[2])
    } else {
        let coated = u[0] >= above_transmitted && u[0] < above_transmitted + lobes.p_coat;
        let r = if coated {
            reflect(wo, ggx_sample(wo, coat_alpha(layers), u[1], u[2]))
        } else {
            let h = ggx_sample_anisotropic(turned(wo, along), lobes.alpha, u[1], u[2]);
            reflect(wo, turned_back(h, along))
        };
        if r.z <= 0.0 {
            return ABSORBED;
        }
        if u[0] < above_transmitted { vec3(r.x, r.y, -r.z) } else { r }
    };
    weighted(s, layers, along, wo, wi)
}

/// A sampled direction, weighted by the density of all lobes.
#[inline(always)]
fn weighted(s: &Surface, layers: &SurfaceLayers, along: [f32; 2], wo: Vec3, wi: Vec3) -> Scatter {
    let e = evaluate_layered(s, layers, along, wo, wi);
    if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
}

#[cfg(test)]
mod tests;
