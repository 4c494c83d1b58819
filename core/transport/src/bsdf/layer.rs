//! The directional albedo of a dielectric layer: the share of light that a GGX lobe with Schlick Fresnel
//! reflects, in closed form. The counterpart is `kernels/bsdf/layer.h`.
//!
//! The lobe reflects `f0 * (1 - lost) + (1 - f0) * rising` of the light from a direction. `lost` is what single
//! scattering loses. `rising` is the part that Schlick's fifth power adds towards the horizon; roughness turns
//! that power into a third and lowers its limit. The constants are fitted to the lobe's integral from above,
//! so that base and layer never reflect more than arrives: for an index of 1.5 at most 1.2 % too much in the
//! cosine-weighted mean and, off the horizon, a few percent for a direction.

use crate::bsdf::surface::SPECULAR_ROUGHNESS;
use lockstep_core::math::{max, min, saturate, sqr};

/// The quantities that the albedo depends on besides direction and reflectance.
#[derive(Clone, Copy)]
pub(super) struct Layer {
    /// Share of the reflectance that is lost at normal incidence.
    lost: f32,
    /// Limit of the rising part at the horizon.
    grazing: f32,
    /// The rising part's value at normal incidence.
    least: f32,
}

impl Layer {
    /// The layer of this perceptual roughness.
    #[inline(always)]
    pub(super) fn new(roughness: f32) -> Self {
        let r = max(roughness, SPECULAR_ROUGHNESS);
        let r2 = r * r;
        Self { lost: 0.65 * (r2 * r2), grazing: 1.0 / (1.0 + r2 * (12.6 + 3.6 * r)), least: 0.011 * (r - r2) }
    }

    /// Albedo for the reflectance `f0` at normal incidence and the cosine of a direction.
    #[inline(always)]
    pub(super) fn albedo(&self, f0: f32, cosine: f32) -> f32 {
        let m = saturate(1.0 - cosine);
        let m2 = m * m;
        let rising = m2 * m * min(m2, self.grazing) + self.least;
        f0 * (1.0 - self.lost * (1.0 - m2)) + (1.0 - f0) * rising
    }

    /// [`Self::albedo`] of a lobe whose reflectance rises to `f90` at the horizon.
    #[inline(always)]
    pub(super) fn albedo_to(&self, f0: f32, f90: f32, cosine: f32) -> f32 {
        let m = saturate(1.0 - cosine);
        let m2 = m * m;
        let rising = m2 * m * min(m2, self.grazing) + self.least;
        f0 * (1.0 - self.lost * (1.0 - m2)) + max(f90 - f0, 0.0) * rising
    }

    /// The cosine-weighted mean of [`Self::albedo`] over the hemisphere.
    #[inline(always)]
    pub(super) fn mean_albedo(&self, f0: f32) -> f32 {
        // The third power takes over where the square of one minus the cosine is `grazing`.
        let beyond = (4.0 / 35.0) * self.grazing.sqrt() - 1.0 / 6.0;
        let rising = self.grazing * (0.1 + sqr(self.grazing) * beyond) + self.least;
        f0 * (1.0 - self.lost * (5.0 / 6.0)) + (1.0 - f0) * rising
    }
}
