//! The diffuse base of Mitsuba's plastics, in terms of the base of a metallic-roughness surface.
//!
//! Both bases lie under a dielectric layer. Ours reflects its colour times what enters the layer, whatever its
//! roughness. Mitsuba's `roughplastic` takes single scattering for transmittance and reflectance of the layer,
//! so it loses light: of a white base 15 % at an alpha of 0.15. The colour is scaled so that the cosine-weighted
//! means of both albedos agree.

use std::f64::consts::PI;

/// Directions at which Mitsuba tabulates transmittance and reflectance.
const DIRECTIONS: u32 = 64;
/// Microfacets for each direction, along an axis of the square that they are chosen from.
const MICROFACETS: u32 = 24;

/// How the colour of a base is changed.
pub(super) struct Base {
    scale: f64,
    /// Share of the light from the base that the layer throws back to it.
    back: f64,
}

impl Base {
    /// Under a smooth layer of this relative index of refraction, at least 1.
    pub(super) fn smooth(index: f32) -> Self {
        let back = inner_reflectance(index.into());
        Self { scale: 1.0 - back, back }
    }

    /// Under a layer of GGX microfacets of this alpha and relative index of refraction.
    pub(super) fn rough(alpha: f32, index: f32) -> Self {
        let (alpha, index) = (f64::from(alpha), f64::from(index));
        let (mut enters, mut reflects, mut back) = (0.0, 0.0, 0.0);
        for step in 0..DIRECTIONS {
            let cos = (f64::from(step) + 0.5) / f64::from(DIRECTIONS);
            let (r, t) = reflected_and_transmitted(cos, alpha, index, step);
            reflects += 2.0 * cos * r / f64::from(DIRECTIONS);
            enters += 2.0 * cos * t / f64::from(DIRECTIONS);
            // Mitsuba's table includes both ends, and each counts in full.
            let cos = (f64::from(step) / f64::from(DIRECTIONS - 1)).max(1e-6);
            let (r, _) = reflected_and_transmitted(cos, alpha, 1.0 / index, step);
            back += 2.0 * cos * r / f64::from(DIRECTIONS);
        }
        Self { scale: enters * enters / (index * index * (1.0 - reflects)), back }
    }

    /// The colour for Mitsuba's diffuse reflectance. Where the plastic is `nonlinear`, light that the layer
    /// throws back takes on the colour at each bounce.
    pub(super) fn color(&self, reflectance: f32, nonlinear: bool) -> f32 {
        let c = f64::from(reflectance);
        (c * self.scale / (1.0 - self.back * if nonlinear { c } else { 1.0 })) as f32
    }
}

/// Mean share, over the hemisphere, of the light that a smooth boundary throws back inside: that from outside by
/// quadrature, and 1 - (1 - outer) / index² by reciprocity.
fn inner_reflectance(index: f64) -> f64 {
    const STEPS: u32 = 1024;
    let mut outer = 0.0;
    for step in 0..STEPS {
        let cos = (f64::from(step) + 0.5) / f64::from(STEPS);
        outer += 2.0 * fresnel(cos, index).0 * cos / f64::from(STEPS);
    }
    1.0 - (1.0 - outer) / (index * index)
}

/// Fresnel's reflectance at a cosine, and the cosine beyond the boundary; `index` is that beyond over this side's.
fn fresnel(cos: f64, index: f64) -> (f64, f64) {
    let sin2 = (1.0 - cos * cos) / (index * index);
    if sin2 >= 1.0 {
        return (1.0, 0.0);
    }
    let beyond = (1.0 - sin2).sqrt();
    let parallel = (index * cos - beyond) / (index * cos + beyond);
    let perpendicular = (cos - index * beyond) / (cos + index * beyond);
    (0.5 * (parallel * parallel + perpendicular * perpendicular), beyond)
}

/// Shares of the light from a direction that GGX microfacets reflect and transmit by single scattering: the mean
/// over normals that are visible from there (Heitz 2018) of Fresnel's term and Smith's masking of the way out.
///
/// The grid of normals is shifted by `number`, so that the edge of total reflection lies elsewhere in each.
fn reflected_and_transmitted(cos: f64, alpha: f64, index: f64, number: u32) -> (f64, f64) {
    let sin = (1.0 - cos * cos).max(0.0).sqrt();
    // The direction where the ellipsoid of normals is a sphere; the second axis of its frame is (0, 1, 0).
    let length = (alpha * sin).hypot(cos);
    let (vx, vz) = (alpha * sin / length, cos / length);
    let (mut reflected, mut transmitted) = (0.0, 0.0);
    let count = f64::from(MICROFACETS);
    // The plastic number's powers (Roberts 2018).
    let shift = [0.754_877_666, 0.569_840_291].map(|a| (0.5 + a * f64::from(number)).fract());
    for i in 0..MICROFACETS * MICROFACETS {
        let radius = ((f64::from(i / MICROFACETS) + shift[0]) / count).sqrt();
        let angle = 2.0 * PI * (f64::from(i % MICROFACETS) + shift[1]) / count;
        let (across, along) = (radius * angle.cos(), radius * angle.sin());
        let half = 0.5 * (1.0 + vz);
        let along = (1.0 - half) * (1.0 - across * across).sqrt() + half * along;
        let up = (1.0 - across * across - along * along).max(0.0).sqrt();
        // `along` lies on the axis from the direction's foot to the pole.
        let normal = [alpha * (up * vx - along * vz), alpha * across, (up * vz + along * vx).max(0.0)];
        let norm = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
        let [nx, _, nz] = normal.map(|n| n / norm);
        let dot = nx * sin + nz * cos;
        let (fresnel, beyond) = fresnel(dot, index);
        let up = 2.0 * dot * nz - cos;
        if up > 0.0 {
            reflected += fresnel * masking(up, alpha);
        }
        let down = (dot / index - beyond) * nz - cos / index;
        if down < 0.0 {
            transmitted += (1.0 - fresnel) * masking(down, alpha);
        }
    }
    (reflected / (count * count), transmitted / (count * count))
}

/// Smith's masking of GGX microfacets in one direction.
fn masking(cos: f64, alpha: f64) -> f64 {
    let cos2 = (cos * cos).clamp(1e-12, 1.0);
    2.0 / (1.0 + (1.0 + alpha * alpha * (1.0 - cos2) / cos2).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_reflectance_of_plastic_is_that_of_mitsuba_3() {
        // `fdr_int` of a plastic of this index, as Mitsuba 3.9.1 prints it; its quadrature has fewer points.
        assert!((inner_reflectance(1.5) - 0.596_811).abs() < 1e-3, "{}", inner_reflectance(1.5));
        assert!(inner_reflectance(1.0).abs() < 1e-6);
    }

    #[test]
    fn a_smooth_layer_is_the_limit_of_rough_ones() {
        let (smooth, rough) = (Base::smooth(1.5), Base::rough(1e-3, 1.5));
        for nonlinear in [false, true] {
            let (s, r) = (smooth.color(0.5, nonlinear), rough.color(0.5, nonlinear));
            // Mitsuba's mean over its table is 2 % off.
            assert!((s / r - 1.0).abs() < 0.025, "{s} {r}");
        }
    }

    /// Mitsuba 3.9.1's `roughplastic` of alpha 0.15 under a white sky, seen from above: a reflectance of 0.8 gives
    /// 0.4069 more than one of 0.3, and 0.5 of a `nonlinear` one 0.8 and 0.1 are 0.4936 apart.
    #[test]
    fn rough_plastic_has_the_albedo_of_mitsuba_3() {
        let (alpha, index) = (0.15, 1.5);
        let base = Base::rough(alpha, index);
        let enters = reflected_and_transmitted(1.0, alpha.into(), index.into(), 0).1;
        let mean = |f: &dyn Fn(f64, u32) -> f64| {
            (0..256)
                .map(|i| ((f64::from(i) + 0.5) / 256.0, i))
                .map(|(c, i)| 2.0 * c * f(c, i) / 256.0)
                .sum::<f64>()
        };
        let reflects = mean(&|c, i| reflected_and_transmitted(c, alpha.into(), index.into(), i).0);
        let entering = mean(&|c, i| reflected_and_transmitted(c, alpha.into(), index.into(), i).1);
        // Towards one direction the base sends its mean albedo times what that direction's light enters by.
        let above =
            |c: f32, nonlinear| f64::from(base.color(c, nonlinear)) * (1.0 - reflects) * enters / entering;
        let linear = above(0.8, false) - above(0.3, false);
        assert!((linear / 0.4069 - 1.0).abs() < 0.005, "{linear}");
        let nonlinear = above(0.8, true) - above(0.1, true);
        assert!((nonlinear / 0.4936 - 1.0).abs() < 0.005, "{nonlinear}");
    }
}
