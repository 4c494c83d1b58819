//! A principled surface under layers: glTF's `KHR_materials_specular`, `_clearcoat`, `_sheen`, `_anisotropy` and
//! `_iridescence`, all lobes evaluated together. The counterpart is `kernels/bsdf/layered.h`.
//!
//! From the top: a clearcoat (GGX), sheen (Charlie), the specular lobe (GGX, anisotropic, perhaps under a thin film), a
//! diffuse base or a thin transmitting wall. A layer passes the share of light that it does not reflect, by its directional
//! albedo. Lobes below a layer are scaled by the smaller share of both directions, which is reciprocal and never more than
//! arrives. The diffuse base takes the product of both directions' shares over its mean instead (Kelemen and
//! Szirmay-Kalos 2001): a white base gives back all that arrives. Surfaces that keep the light which scatters more than once
//! scale their lobes by the albedos of `wo` alone instead ([`super::albedo_scaling`]): white ones lose nothing.
//!
//! A clearcoat may have a normal of its own. Its lobe and its share are then those of directions in its frame, and it
//! reflects below the horizon of the surface's normal too, as far as the geometry lets it. The mean of the layers' shares
//! stays that of a coat along the surface. It is the upper bound over all normals of the coat, since the integral of two
//! functions that fall with the angle to an axis is largest where the axes coincide. So no coat makes the body reflect more
//! than arrives.

use crate::bsdf::albedo_scaling::{
    charlie_albedo, coat_scaling, mean_fresnel, rising_albedo, sheen_scaling, stretched_missing,
};
use crate::bsdf::anisotropic::{
    ggx_sample_anisotropic, reflection_terms_anisotropic, roughness_of_equal_loss, turned, turned_back,
};
use crate::bsdf::fresnel::{schlick_scalar, schlick_to};
use crate::bsdf::iridescence::{ThinFilm, film_envelope, film_fresnel};
use crate::bsdf::layer::Layer;
use crate::bsdf::microfacet::{ReflectionTerms, ggx_sample, reflect, reflection_terms};
use crate::bsdf::multiscatter::{Recovered, missing_in_plane, scaled_recovered};
use crate::bsdf::sheen::{sheen_albedo, sheen_limit, sheen_value};
use crate::bsdf::surface::{ABSORBED, Evaluation, MIN_ALPHA, MIN_COSINE, Scatter, Surface};
use lockstep_core::math::sampling::{cosine_hemisphere, frame};
use lockstep_core::math::vec3::{Vec3, dot, lerp, luminance, max_component, normalize, vec3};
use lockstep_core::math::{INV_PI, max, min, safe_sqrt, sqr};
use lockstep_core::scene::missing_albedo::MISSING_METAL;

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
    /// The clearcoat's unit shading normal in world space, on the front side; zero where it is the surface's.
    pub coat_normal: Vec3,
}

/// Directions of a surface's layers in its local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerAxes {
    /// Direction of anisotropy, of unit length.
    pub along: [f32; 2],
    /// Normal of the clearcoat on the side of `wo`; the z axis where it is the surface's.
    pub coat: Vec3,
    /// Geometric normal on the side of `wo`; the z axis where the clearcoat has no normal of its own.
    pub geometric: Vec3,
}

impl LayerAxes {
    /// True where the clearcoat's normal is not the surface's.
    #[inline(always)]
    fn is_tilted(&self) -> bool {
        self.coat.z < 1.0
    }

    /// A direction in the clearcoat's frame.
    #[inline(always)]
    pub(super) fn in_coat(&self, v: Vec3) -> Vec3 {
        if !self.is_tilted() {
            return v;
        }
        let (s, t) = frame(self.coat);
        vec3(dot(v, s), dot(v, t), dot(v, self.coat))
    }

    /// `wo` in the clearcoat's frame, never below its horizon.
    #[inline(always)]
    fn wo_in_coat(&self, wo: Vec3) -> Vec3 {
        if !self.is_tilted() {
            return wo;
        }
        let v = self.in_coat(wo);
        vec3(v.x, v.y, max(v.z, MIN_COSINE))
    }

    /// A direction of the clearcoat's frame, to unit length.
    #[inline(always)]
    pub(super) fn out_of_coat(&self, v: Vec3) -> Vec3 {
        if !self.is_tilted() {
            return v;
        }
        let (s, t) = frame(self.coat);
        normalize(s * v.x + t * v.y + self.coat * v.z)
    }

    /// True for a direction below the surface's horizon that only the clearcoat reflects into: it is not below that of
    /// the geometry.
    #[inline(always)]
    pub(super) fn is_of_coat_alone(&self, wi: Vec3) -> bool {
        dot(self.geometric, wi) > 0.0
    }
}

/// The share that is added to a layer's albedo, so that it is nowhere below its lobe's.
pub const ALBEDO_MARGIN: f32 = 2e-3;

/// The share that a clearcoat of this weight and reflectance lets through.
#[inline(always)]
pub(super) fn coat_share(coat: &Layer, clearcoat: f32, f0: f32, cosine: f32) -> f32 {
    if clearcoat > 0.0 {
        let albedo = coat.albedo_to(f0, 1.0, cosine) + ALBEDO_MARGIN;
        max(1.0 - clearcoat * albedo, 0.0)
    } else {
        1.0
    }
}

/// The shares of light that the layers above the body let through.
#[derive(Clone, Copy)]
pub(super) struct Above {
    base: Layer,
    f0: f32,
    f90: f32,
    pub(super) sheen: f32,
    sheen_roughness: f32,
    coat: Layer,
    pub(super) clearcoat: f32,
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
        coat_share(&self.coat, self.clearcoat, self.clearcoat_f0, cosine)
    }

    /// The share that all let through, for the cosines to the surface's and to the clearcoat's normal.
    #[inline(always)]
    pub(super) fn all(&self, cosine: f32, of_coat: f32) -> f32 {
        self.coat(of_coat) * self.sheen(cosine) * self.base(cosine)
    }

    /// [`Self::all`] of a clearcoat along the surface.
    #[inline(always)]
    fn along_surface(&self, cosine: f32) -> f32 {
        self.all(cosine, cosine)
    }

    /// The cosine-weighted mean of [`Self::along_surface`] over the hemisphere, by Gauss-Jacobi quadrature; not below it.
    #[inline(always)]
    fn mean(&self) -> f32 {
        let share = |cosine| self.along_surface(cosine);
        let grazing = 0.062_361_94 * share(0.139_759_86) + 0.259_695_1 * share(0.416_409_57);
        let steep = 0.406_929_14 * share(0.723_157) + 0.271_013_83 * share(0.942_895_8);
        grazing + steep + MEAN_MARGIN
    }
}

/// Margin added to the mean share of light that layers let through, for the error of its quadrature.
pub const MEAN_MARGIN: f32 = 1e-3;

/// The lobes of a layered surface for light that leaves by one direction.
#[derive(Clone, Copy)]
pub(super) struct LobeShapes {
    pub(super) above: Above,
    f0: Vec3,
    f90: f32,
    /// Bounds the thin film's reflectance; black without one.
    envelope: Vec3,
    /// GGX alpha along and across the direction of anisotropy.
    pub(super) alpha: [f32; 2],
    pub(super) transmitted: Vec3,
    /// Shares that the clearcoat and sheen let through on the way out.
    pub(super) coat_out: f32,
    pub(super) sheen_out: f32,
}

/// Estimates of the albedo of each lobe for light that leaves by one direction.
pub(super) struct LobeAlbedos {
    pub(super) coat: f32,
    pub(super) sheen: f32,
    pub(super) specular: f32,
    pub(super) diffuse: f32,
    pub(super) transmitted: f32,
}

/// Reflectance at normal incidence of the dielectric part of the specular lobe.
#[inline(always)]
fn dielectric_f0(s: &Surface, layers: &SurfaceLayers) -> Vec3 {
    let tinted = layers.specular_color * sqr((s.ior - 1.0) / (s.ior + 1.0));
    let limited = vec3(min(tinted.x, 1.0), min(tinted.y, 1.0), min(tinted.z, 1.0));
    limited * layers.specular
}

impl LobeShapes {
    #[inline(always)]
    pub(super) fn new(s: &Surface, layers: &SurfaceLayers, axes: &LayerAxes, wo: Vec3) -> Self {
        let dielectric = dielectric_f0(s, layers);
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
        // Alphas of the specular lobe
        let alpha = specular_alphas(s, layers);
        // Light that layers let through on the way out
        let coat_out = above.coat(axes.wo_in_coat(wo).z);
        let sheen_out = above.sheen(wo.z);
        Self { above, f0, f90, envelope, alpha, transmitted, coat_out, sheen_out }
    }

    /// The share that all layers let through on the way out.
    #[inline(always)]
    fn all_out(&self, wo: Vec3) -> f32 {
        self.coat_out * self.sheen_out * self.above.base(wo.z)
    }

    /// The diffuse colour, dimmed by the layers on the way out.
    #[inline(always)]
    pub(super) fn diffuse(&self, s: &Surface, wo: Vec3) -> Vec3 {
        let body = s.base_color * (1.0 - s.metallic);
        body * ((1.0 - s.transmission) * (self.all_out(wo) / self.above.mean()))
    }

    /// The albedo of each lobe for `wo`.
    #[inline(always)]
    pub(super) fn albedos(&self, s: &Surface, layers: &SurfaceLayers, wo: Vec3) -> LobeAlbedos {
        let body = s.base_color * (1.0 - s.metallic);
        let all_out = self.all_out(wo);
        let reflected = luminance(lerp(self.f0, self.envelope, layers.iridescence));
        let specular = self.above.base.albedo_to(reflected, self.f90, wo.z);
        LobeAlbedos {
            coat: 1.0 - self.coat_out,
            sheen: if self.above.sheen > 0.0 { self.coat_out * (1.0 - self.sheen_out) } else { 0.0 },
            specular: self.coat_out * self.sheen_out * specular,
            diffuse: luminance(body) * ((1.0 - s.transmission) * all_out),
            transmitted: luminance(self.transmitted) * all_out,
        }
    }

    /// The share that the clearcoat lets through for both directions; `up` is `wi` on the side of `wo`.
    #[inline(always)]
    pub(super) fn below_coat(&self, axes: &LayerAxes, up: Vec3) -> f32 {
        min(self.coat_out, self.above.coat(axes.in_coat(up).z))
    }

    /// The share that sheen lets through for both directions.
    #[inline(always)]
    pub(super) fn below_sheen(&self, up: Vec3) -> f32 {
        min(self.sheen_out, self.above.sheen(up.z))
    }

    /// The specular lobe's Fresnel term at this cosine to a microfacet.
    #[inline(always)]
    pub(super) fn fresnel(&self, layers: &SurfaceLayers, cosine: f32) -> Vec3 {
        let fresnel = schlick_to(self.f0, self.f90, cosine);
        if layers.iridescence > 0.0 {
            let of_film = film_fresnel(layers.film, self.f0, self.envelope, cosine);
            return lerp(fresnel, of_film, layers.iridescence);
        }
        fresnel
    }

    /// Transmitted colour of a thin wall at this cosine to a microfacet, for a surface that keeps all light.
    #[inline(always)]
    pub(super) fn scaled_wall(&self, s: &Surface, layers: &SurfaceLayers, cosine: f32) -> Vec3 {
        let body = s.base_color * body_share(s, dielectric_f0(s, layers), self.f0);
        body * (Vec3::ONE - self.fresnel(layers, cosine)) * s.transmission
    }

    /// The share of light that the specular lobe lets into a thin wall at this cosine to a microfacet.
    #[inline(always)]
    pub(super) fn wall_share(&self, cosine: f32) -> f32 {
        1.0 - max_component(schlick_to(Vec3::splat(self.above.f0), self.above.f90, cosine))
    }
}

/// Shares of light that reach the lobes of a surface that keeps all of it, seen from one direction
/// ([`super::albedo_scaling`]).
#[derive(Clone, Copy)]
pub(super) struct Scaling {
    /// The share that the clearcoat lets through.
    pub(super) coat: f32,
    /// The share that clearcoat and sheen let through.
    pub(super) below: f32,
    /// The share that the specular lobe's microfacets lose.
    missing: f32,
    /// The diffuse colour, as seen through all that lies above.
    pub(super) diffuse: Vec3,
}

impl Scaling {
    /// The scaling of a surface, where it keeps all light.
    #[inline(always)]
    pub(super) fn new(
        s: &Surface,
        layers: &SurfaceLayers,
        axes: &LayerAxes,
        shapes: &LobeShapes,
        wo: Vec3,
    ) -> Option<Self> {
        if s.multiscatter { Some(Self::of_all(s, layers, axes, shapes, wo)) } else { None }
    }

    #[inline(never)]
    fn of_all(s: &Surface, layers: &SurfaceLayers, axes: &LayerAxes, shapes: &LobeShapes, wo: Vec3) -> Self {
        // Shares that layers let through
        let of_coat = axes.wo_in_coat(wo).z;
        let coat = coat_scaling(layers.clearcoat, layers.clearcoat_f0, layers.clearcoat_roughness, of_coat);
        let sheen = max_component(layers.sheen_color);
        let below = coat * sheen_scaling(sheen, layers.sheen_roughness, wo.z);
        // Shares that microfacets lose and transmit
        let towards = turned(wo, axes.along);
        let is_stretched = layers.anisotropy > 0.0;
        let missing = if is_stretched {
            stretched_missing(s.roughness, layers.anisotropy, shapes.alpha, towards)
        } else {
            missing_in_plane(MISSING_METAL, s.roughness, wo.z)
        };
        let kept = 1.0 - missing;
        let transmitted = if is_stretched || layers.iridescence > 0.0 {
            let level = vec3(safe_sqrt(1.0 - wo.z * wo.z), 0.0, wo.z);
            let w = if shapes.alpha[0] == shapes.alpha[1] { level } else { towards };
            (Vec3::ONE - mean_fresnel(w, shapes.alpha, |cosine| shapes.fresnel(layers, cosine))) * kept
        } else {
            let rising = rising_albedo(s.roughness, wo.z);
            Vec3::splat(kept - shapes.f90 * rising) - shapes.f0 * (kept - rising)
        };
        // The diffuse colour: a white base has the albedo of what microfacets lose and transmit
        let body = body_share(s, dielectric_f0(s, layers), shapes.f0);
        let white = Vec3::splat((1.0 - s.metallic) * missing) + body * transmitted;
        let diffuse = s.base_color * white * ((1.0 - s.transmission) * below);
        Self { coat, below, missing, diffuse }
    }

    /// BSDF times cosine of what scatters more than once, and its density.
    #[inline(always)]
    pub(super) fn recovered(&self, recovering: &Surface, wi: Vec3) -> Evaluation {
        scaled_recovered(recovering, wi, self.missing, self.below)
    }

    /// Adds light that scatters more than once to lobes that scatter once.
    #[inline(always)]
    fn add(&self, s: &Surface, layers: &SurfaceLayers, wo: Vec3, wi: Vec3, single: Evaluation) -> Evaluation {
        let recovering = recovering_surface(s, layers);
        Recovered::new(&recovering, wo).add_own(wi, self.recovered(&recovering, wi), single)
    }
}

/// Share of the base colour in the light that microfacets transmit: the dielectric's part of all that metal and dielectric
/// together do not reflect.
#[inline(always)]
fn body_share(s: &Surface, dielectric: Vec3, f0: Vec3) -> Vec3 {
    let channel = |dielectric: f32, f0: f32| {
        if f0 < 1.0 { (1.0 - s.metallic) * (1.0 - dielectric) / (1.0 - f0) } else { 0.0 }
    };
    vec3(channel(dielectric.x, f0.x), channel(dielectric.y, f0.y), channel(dielectric.z, f0.z))
}

/// The lobes of a layered surface and the probabilities of choosing them.
struct Lobes {
    shapes: LobeShapes,
    /// Shares that reach the lobes, where the surface keeps all light.
    scaling: Option<Scaling>,
    /// The diffuse colour, dimmed by the layers on the way out.
    diffuse: Vec3,
    p_cosine: f32,
    p_transmitted: f32,
    p_coat: f32,
    p_specular: f32,
}

impl Lobes {
    #[inline(always)]
    fn new(s: &Surface, layers: &SurfaceLayers, axes: &LayerAxes, wo: Vec3) -> Self {
        let shapes = LobeShapes::new(s, layers, axes, wo);
        let w = shapes.albedos(s, layers, wo);
        let w_cosine = w.sheen + w.diffuse;
        let sum = w.coat + w.specular + w_cosine + w.transmitted;
        // Probabilities, with a share kept for every lobe that the estimate undervalues
        let least = LEAST_SHARE * sum;
        let q_coat = if w.coat > 0.0 { w.coat + least } else { 0.0 };
        let q_cosine = if w_cosine > 0.0 { w_cosine + least } else { 0.0 };
        let q_transmitted = if w.transmitted > 0.0 { w.transmitted + least } else { 0.0 };
        let q_specular = w.specular + least;
        let scale = if sum > 0.0 { 1.0 / (q_coat + q_cosine + q_transmitted + q_specular) } else { 0.0 };
        let scaling = Scaling::new(s, layers, axes, &shapes, wo);
        let diffuse = match &scaling {
            Some(scaling) => scaling.diffuse,
            None => shapes.diffuse(s, wo),
        };
        Self {
            diffuse,
            shapes,
            scaling,
            p_cosine: q_cosine * scale,
            p_transmitted: q_transmitted * scale,
            p_coat: q_coat * scale,
            p_specular: q_specular * scale,
        }
    }
}

/// GGX alpha of the specular lobe along and across the direction of anisotropy.
#[inline(always)]
fn specular_alphas(s: &Surface, layers: &SurfaceLayers) -> [f32; 2] {
    let across = s.alpha();
    [across + (1.0 - across) * sqr(layers.anisotropy), across]
}

/// The isotropic surface whose light that scatters more than once stands for that of the specular lobe.
#[inline(always)]
pub(super) fn recovering_surface(s: &Surface, layers: &SurfaceLayers) -> Surface {
    if layers.anisotropy > 0.0 {
        return Surface { roughness: roughness_of_equal_loss(specular_alphas(s, layers)), ..*s };
    }
    *s
}

/// The share of the sum of all lobes' albedos that is added to each lobe's albedo before one is chosen.
pub const LEAST_SHARE: f32 = 0.05;

/// BSDF times cosine of all lobes, and the density of choosing a lobe and then `wi`. The clearcoat's cosine is that to
/// its own normal.
#[inline(never)]
pub fn evaluate_layered(
    s: &Surface,
    layers: &SurfaceLayers,
    axes: &LayerAxes,
    wo: Vec3,
    wi: Vec3,
) -> Evaluation {
    LayeredTerms::new(s, layers, axes, wo).evaluate(wi)
}

/// A layered surface that is seen from `wo`, with the terms of its lobes that depend on that direction alone: computed once
/// for what it evaluates and samples.
pub(crate) struct LayeredTerms<'a> {
    s: &'a Surface,
    layers: &'a SurfaceLayers,
    axes: &'a LayerAxes,
    wo: Vec3,
    lobes: Lobes,
}

impl<'a> LayeredTerms<'a> {
    /// The terms of a surface that is seen from `wo`.
    #[inline(always)]
    pub(crate) fn new(s: &'a Surface, layers: &'a SurfaceLayers, axes: &'a LayerAxes, wo: Vec3) -> Self {
        Self { s, layers, axes, wo, lobes: Lobes::new(s, layers, axes, wo) }
    }

    /// [`evaluate_layered`] by these terms.
    #[inline(always)]
    pub(crate) fn evaluate(&self, wi: Vec3) -> Evaluation {
        let Self { s, layers, axes, wo, ref lobes } = *self;
        let (shapes, above) = (&lobes.shapes, &lobes.shapes.above);
        // A thin wall transmits as if it reflected to the other side
        let up = if wi.z > 0.0 { wi } else { vec3(wi.x, wi.y, -wi.z) };
        let scaling = lobes.scaling.as_ref();
        // Shares of layers: the smaller one of both directions, or by albedo scaling that of `wo`
        let (coat, below, through) = match scaling {
            Some(scaling) => (scaling.coat, scaling.below, 1.0),
            None => {
                let coat_in = above.coat(axes.in_coat(up).z);
                let coat = min(shapes.coat_out, coat_in);
                let through = coat_in * above.sheen(wi.z) * above.base(wi.z);
                (coat, coat * shapes.below_sheen(up), through)
            }
        };
        let ReflectionTerms { d_over_4, g1, g2, cosine } =
            reflection_terms_anisotropic(turned(wo, axes.along), turned(up, axes.along), shapes.alpha);
        if wi.z <= 0.0 {
            let color = match scaling {
                Some(_) => shapes.scaled_wall(s, layers, cosine) * (d_over_4 * g2 * below),
                None => shapes.transmitted * (shapes.wall_share(cosine) * d_over_4 * g2 * below),
            };
            let mut transmitted = Evaluation { value: color, pdf: lobes.p_transmitted * (d_over_4 * g1) };
            // A tilted clearcoat reflects below the surface's horizon too
            let (reflected, pdf) = coat_lobe(above, layers, axes, wo, wi);
            transmitted.pdf += lobes.p_coat * pdf;
            let mut all = self.with_recovered(wi, transmitted);
            if axes.is_of_coat_alone(wi) {
                all.value = Vec3::splat(reflected);
            }
            return all;
        }
        // Specular and diffuse lobe
        let cosine_pdf = wi.z * INV_PI;
        let specular = shapes.fresnel(layers, cosine) * (d_over_4 * g2 * below);
        let mut value = specular + lobes.diffuse * (through * cosine_pdf);
        let mut pdf = lobes.p_specular * (d_over_4 * g1) + lobes.p_cosine * cosine_pdf;
        // Sheen
        if above.sheen > 0.0 {
            value = value + layers.sheen_color * (sheen_lobe(s, layers, wo, wi) * coat);
        }
        // Clearcoat
        if above.clearcoat > 0.0 {
            let (reflected, coat_pdf) = coat_lobe(above, layers, axes, wo, wi);
            value = value + Vec3::splat(reflected);
            pdf += lobes.p_coat * coat_pdf;
        }
        self.with_recovered(wi, Evaluation { value, pdf })
    }

    /// Adds light that scatters more than once, where the surface keeps it.
    #[inline(always)]
    fn with_recovered(&self, wi: Vec3, single: Evaluation) -> Evaluation {
        match &self.lobes.scaling {
            Some(scaling) => scaling.add(self.s, self.layers, self.wo, wi, single),
            None => single,
        }
    }

    /// Samples one lobe that scatters once, weighted by all of them.
    #[inline(always)]
    pub(crate) fn sample(&self, u: [f32; 3]) -> Scatter {
        let Self { layers, axes, wo, ref lobes, .. } = *self;
        // Choose a lobe and sample it
        let above_transmitted = lobes.p_cosine + lobes.p_transmitted;
        let wi = if u[0] < lobes.p_cosine {
            cosine_hemisphere(u[1], u[2])
        } else {
            let coated = u[0] >= above_transmitted && u[0] < above_transmitted + lobes.p_coat;
            let r = if coated {
                coat_reflection(layers, axes, wo, u[1], u[2])
            } else {
                specular_reflection(&lobes.shapes, axes, wo, u[1], u[2])
            };
            if r.z <= 0.0 {
                return ABSORBED;
            }
            let r = if coated { axes.out_of_coat(r) } else { r };
            if u[0] < above_transmitted { vec3(r.x, r.y, -r.z) } else { r }
        };
        self.weighted(wi)
    }

    /// A sampled direction, weighted by the density of all lobes.
    #[inline(always)]
    fn weighted(&self, wi: Vec3) -> Scatter {
        let e = self.evaluate(wi);
        if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
    }
}

/// White sheen times the cosine, limited so that it is nowhere above its albedo.
#[inline(always)]
pub(super) fn sheen_lobe(s: &Surface, layers: &SurfaceLayers, wo: Vec3, wi: Vec3) -> f32 {
    let limit = if s.multiscatter {
        sheen_limit(charlie_albedo(layers.sheen_roughness, wo.z))
    } else {
        min(
            sheen_limit(sheen_albedo(layers.sheen_roughness, wo.z)),
            sheen_limit(sheen_albedo(layers.sheen_roughness, wi.z)),
        )
    };
    sheen_value(layers.sheen_roughness, wo, wi) * limit
}

/// The clearcoat's lobe times its cosine, and the density with which it reflects into `wi`.
#[inline(always)]
pub(super) fn coat_lobe(
    above: &Above,
    layers: &SurfaceLayers,
    axes: &LayerAxes,
    wo: Vec3,
    wi: Vec3,
) -> (f32, f32) {
    let wi = axes.in_coat(wi);
    if above.clearcoat <= 0.0 || wi.z <= 0.0 {
        return (0.0, 0.0);
    }
    let ReflectionTerms { d_over_4, g1, g2, cosine } =
        reflection_terms(axes.wo_in_coat(wo), wi, coat_alpha(layers));
    let reflected = above.clearcoat * schlick_scalar(above.clearcoat_f0, cosine) * d_over_4 * g2;
    (reflected, d_over_4 * g1)
}

/// `wo` mirrored about a microfacet of the clearcoat, in the clearcoat's frame.
#[inline(always)]
pub(super) fn coat_reflection(layers: &SurfaceLayers, axes: &LayerAxes, wo: Vec3, u: f32, v: f32) -> Vec3 {
    let wo = axes.wo_in_coat(wo);
    reflect(wo, ggx_sample(wo, coat_alpha(layers), u, v))
}

/// `wo` mirrored about a microfacet of the specular lobe.
#[inline(always)]
pub(super) fn specular_reflection(shapes: &LobeShapes, axes: &LayerAxes, wo: Vec3, u: f32, v: f32) -> Vec3 {
    let h = ggx_sample_anisotropic(turned(wo, axes.along), shapes.alpha, u, v);
    reflect(wo, turned_back(h, axes.along))
}

/// GGX alpha of the clearcoat.
#[inline(always)]
pub(super) fn coat_alpha(layers: &SurfaceLayers) -> f32 {
    max(layers.clearcoat_roughness * layers.clearcoat_roughness, MIN_ALPHA)
}

/// Samples one lobe, weighted by all of them.
#[inline(never)]
pub fn sample_layered(
    s: &Surface,
    layers: &SurfaceLayers,
    axes: &LayerAxes,
    wo: Vec3,
    mut u: [f32; 3],
) -> Scatter {
    let terms = LayeredTerms::new(s, layers, axes, wo);
    // Light that scatters more than once
    if s.multiscatter {
        let lobe = Recovered::new(&recovering_surface(s, layers), wo);
        if lobe.is_chosen(u[0]) {
            return terms.weighted(lobe.direction(u));
        }
        u[0] = lobe.rest_of(u[0]);
    }
    terms.sample(u)
}

#[cfg(test)]
pub(super) mod tests;
