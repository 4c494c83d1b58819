//! One lobe of a layered surface in place of all: a walk down the binary tree of layers, each of whose nodes passes to
//! its layer or to what lies below by a random number weighted with albedos (Harada 2014, *Layered materials in a
//! heterogeneous GPU path tracer*). The counterpart is `kernels/bsdf/layer_tree.h`.
//!
//! The lobes are those of [`super::layered`]. Divided by its probability the one that is picked has their sum as its
//! mean, whatever the two directions, since it is picked before `wi` is known. All that a vertex does takes this lobe
//! alone: light sampling, BSDF sampling and the weight between both by its own density.

use crate::bsdf::anisotropic::{reflection_terms_anisotropic, turned};
use crate::bsdf::layered::{
    LEAST_SHARE, LayerAxes, LobeShapes, Scaling, SurfaceLayers, coat_lobe, coat_reflection,
    recovering_surface, sheen_lobe, specular_reflection,
};
use crate::bsdf::microfacet::ReflectionTerms;
use crate::bsdf::multiscatter::Recovered;
use crate::bsdf::surface::{ABSORBED, BLACK, Evaluation, Scatter, Surface};
use lockstep_core::math::INV_PI;
use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::{Vec3, luminance, vec3};

/// A leaf of the tree of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LayerLobe {
    /// The clearcoat.
    Coat = 0,
    /// Sheen.
    Sheen = 1,
    /// The specular lobe, anisotropic and perhaps under a thin film.
    Specular = 2,
    /// The diffuse base.
    Diffuse = 3,
    /// A thin wall's transmission.
    Transmitted = 4,
    /// Reflection of light that scatters more than once.
    RecoveredReflected = 5,
    /// Transmission of light that scatters more than once.
    RecoveredTransmitted = 6,
}

impl LayerLobe {
    /// Every lobe, from the top.
    pub const ALL: [Self; 7] = [
        Self::Coat,
        Self::Sheen,
        Self::Specular,
        Self::Diffuse,
        Self::Transmitted,
        Self::RecoveredReflected,
        Self::RecoveredTransmitted,
    ];
}

/// Probabilities of the lobes that scatter once. Those of the three lowest count what scatters more often too.
#[derive(Clone, Copy)]
struct LayerTree {
    coat: f32,
    sheen: f32,
    transmitted: f32,
    diffuse: f32,
    specular: f32,
}

impl LayerTree {
    /// The tree of a surface. Every lobe that there is has a share, even where its estimated albedo is zero: one that is
    /// never picked would be missing from the mean.
    #[inline(always)]
    fn new(shapes: &LobeShapes, s: &Surface, layers: &SurfaceLayers, wo: Vec3) -> Self {
        let w = shapes.albedos(s, layers, wo);
        let sum = w.coat + w.sheen + w.specular + w.diffuse + w.transmitted;
        let least = LEAST_SHARE * sum;
        let coat = if shapes.above.clearcoat > 0.0 { w.coat + least } else { 0.0 };
        let sheen = if shapes.above.sheen > 0.0 { w.sheen + least } else { 0.0 };
        let transmitted = if luminance(shapes.transmitted) > 0.0 { w.transmitted + least } else { 0.0 };
        let diffuse = if w.diffuse > 0.0 { w.diffuse + least } else { 0.0 };
        let specular = w.specular + least;
        let scale = if sum > 0.0 { 1.0 / (coat + sheen + transmitted + diffuse + specular) } else { 0.0 };
        Self {
            coat: coat * scale,
            sheen: sheen * scale,
            transmitted: transmitted * scale,
            diffuse: diffuse * scale,
            specular: specular * scale,
        }
    }

    /// The lobe at the end of a walk from the top, and its probability. The last branch takes what rounding leaves.
    #[inline(always)]
    fn walk(&self, u: f32) -> (LayerLobe, f32) {
        // Coat or below
        if u < self.coat {
            return (LayerLobe::Coat, self.coat);
        }
        // Sheen or below
        let above_base = self.coat + self.sheen;
        if u < above_base {
            return (LayerLobe::Sheen, self.sheen);
        }
        // Body or specular lobe
        if u < above_base + (self.transmitted + self.diffuse) {
            // Transmission or diffuse base
            if u < above_base + self.transmitted {
                return (LayerLobe::Transmitted, self.transmitted);
            }
            return (LayerLobe::Diffuse, self.diffuse);
        }
        (LayerLobe::Specular, self.specular)
    }
}

/// The lobe picked for a vertex on a surface with layers.
#[derive(Clone, Copy)]
pub struct PickedLobe {
    lobe: LayerLobe,
    /// One over its probability; zero for a surface without any light.
    weight: f32,
    shapes: LobeShapes,
    /// Shares that reach the lobes, where the surface keeps all light.
    scaling: Option<Scaling>,
    /// The diffuse colour where that lobe is picked.
    diffuse: Vec3,
}

impl PickedLobe {
    /// Walks down the tree by the draws `u`: layer, and scattering once or more often below.
    #[inline(never)]
    pub fn new(s: &Surface, layers: &SurfaceLayers, axes: &LayerAxes, wo: Vec3, u: [f32; 2]) -> Self {
        let shapes = LobeShapes::new(s, layers, axes, wo);
        let tree = LayerTree::new(&shapes, s, layers, wo);
        let (mut lobe, mut probability) = tree.walk(u[0]);
        let is_base = lobe != LayerLobe::Coat && lobe != LayerLobe::Sheen;
        if s.multiscatter && is_base {
            let recovered = Recovered::new(&recovering_surface(s, layers), wo);
            if recovered.is_chosen(u[1]) {
                let reflects = recovered.reflects(u[1]);
                lobe = if reflects { LayerLobe::RecoveredReflected } else { LayerLobe::RecoveredTransmitted };
                let base = tree.transmitted + tree.diffuse + tree.specular;
                probability = base * recovered.probability(reflects);
            } else {
                probability *= recovered.once();
            }
        }
        let weight = if probability > 0.0 { 1.0 / probability } else { 0.0 };
        let scaling = Scaling::new(s, layers, axes, &shapes, wo);
        let diffuse = match &scaling {
            _ if lobe != LayerLobe::Diffuse => Vec3::ZERO,
            Some(scaling) => scaling.diffuse,
            None => shapes.diffuse(s, wo),
        };
        Self { lobe, weight, shapes, scaling, diffuse }
    }

    /// The kind of the picked lobe.
    pub fn lobe(&self) -> LayerLobe {
        self.lobe
    }

    /// One over the lobe's probability; zero for a surface without any light.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    /// BSDF times cosine of this lobe over its probability, and the lobe's own density.
    #[inline(never)]
    pub fn evaluate(
        &self,
        s: &Surface,
        layers: &SurfaceLayers,
        axes: &LayerAxes,
        wo: Vec3,
        wi: Vec3,
    ) -> Evaluation {
        let mut e = self.unweighted(s, layers, axes, wo, wi);
        // Only a tilted clearcoat reflects below the surface's horizon, and there it is all that does
        if wi.z <= 0.0 && axes.is_of_coat_alone(wi) != (self.lobe == LayerLobe::Coat) {
            e.value = Vec3::ZERO;
        }
        Evaluation { value: e.value * self.weight, pdf: e.pdf }
    }

    /// BSDF times cosine of this lobe, and its density.
    #[inline(always)]
    fn unweighted(
        &self,
        s: &Surface,
        layers: &SurfaceLayers,
        axes: &LayerAxes,
        wo: Vec3,
        wi: Vec3,
    ) -> Evaluation {
        let (shapes, lobe) = (&self.shapes, self.lobe);
        if lobe == LayerLobe::Coat {
            let (reflected, pdf) = coat_lobe(&shapes.above, layers, axes, wo, wi);
            return Evaluation { value: Vec3::splat(reflected), pdf };
        }
        let leaves_below = lobe == LayerLobe::Transmitted || lobe == LayerLobe::RecoveredTransmitted;
        if (wi.z <= 0.0) != leaves_below {
            return BLACK;
        }
        let cosine_pdf = wi.z * INV_PI;
        if lobe == LayerLobe::Diffuse {
            let through = match self.scaling {
                Some(_) => 1.0,
                None => shapes.above.all(wi.z, axes.in_coat(wi).z),
            };
            return Evaluation { value: self.diffuse * (through * cosine_pdf), pdf: cosine_pdf };
        }
        // A thin wall transmits as if it reflected to the other side
        let up = if leaves_below { vec3(wi.x, wi.y, -wi.z) } else { wi };
        let coat = match &self.scaling {
            Some(scaling) => scaling.coat,
            None => shapes.below_coat(axes, up),
        };
        if lobe == LayerLobe::Sheen {
            let value = layers.sheen_color * (sheen_lobe(s, layers, wo, wi) * coat);
            return Evaluation { value, pdf: cosine_pdf };
        }
        if lobe == LayerLobe::RecoveredReflected || lobe == LayerLobe::RecoveredTransmitted {
            return self
                .scaling
                .map_or(BLACK, |scaling| scaling.recovered(&recovering_surface(s, layers), wi));
        }
        let below = match &self.scaling {
            Some(scaling) => scaling.below,
            None => coat * shapes.below_sheen(up),
        };
        let ReflectionTerms { d_over_4, g1, g2, cosine } =
            reflection_terms_anisotropic(turned(wo, axes.along), turned(up, axes.along), shapes.alpha);
        let color = match &self.scaling {
            _ if !leaves_below => shapes.fresnel(layers, cosine),
            Some(_) => shapes.scaled_wall(s, layers, cosine),
            None => shapes.transmitted * shapes.wall_share(cosine),
        };
        Evaluation { value: color * (d_over_4 * g2 * below), pdf: d_over_4 * g1 }
    }

    /// Samples this lobe for the draws `u` and `v`. A zero weight ends the path.
    #[inline(never)]
    pub fn sample(
        &self,
        s: &Surface,
        layers: &SurfaceLayers,
        axes: &LayerAxes,
        wo: Vec3,
        u: f32,
        v: f32,
    ) -> Scatter {
        let lobe = self.lobe;
        let mut wi;
        if lobe == LayerLobe::Coat {
            wi = coat_reflection(layers, axes, wo, u, v);
        } else if lobe == LayerLobe::Specular || lobe == LayerLobe::Transmitted {
            wi = specular_reflection(&self.shapes, axes, wo, u, v);
        } else {
            wi = cosine_hemisphere(u, v);
        }
        if wi.z <= 0.0 {
            return ABSORBED;
        }
        if lobe == LayerLobe::Coat {
            wi = axes.out_of_coat(wi);
        } else if lobe == LayerLobe::Transmitted || lobe == LayerLobe::RecoveredTransmitted {
            wi = vec3(wi.x, wi.y, -wi.z);
        }
        let e = self.evaluate(s, layers, axes, wo, wi);
        if e.pdf > 0.0 { Scatter { wi, weight: e.value * (1.0 / e.pdf), pdf: e.pdf } } else { ABSORBED }
    }
}

#[cfg(test)]
mod tests;
