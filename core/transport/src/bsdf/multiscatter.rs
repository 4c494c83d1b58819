//! Light that scatters more than once between microfacets, which the lobes of rough surfaces lose: a lobe of its own
//! gives it back (Kelemen and Szirmay-Kalos 2001; Kulla and Conty 2017). The counterpart is `kernels/bsdf/multiscatter.h`.
//!
//! Of the light from `wo` the share `missing(wo)` is lost, by the table [`MISSING_ALBEDO`]. The lobe is
//! `missing(wo) missing(wi) / (pi mean)`, where `mean` is the cosine-weighted mean of `missing`: it gives back what is
//! lost, and both directions may be exchanged, so that paths from lights see the same surface. A factor on the single
//! lobe (Turquin 2019) depends on one direction alone.
//!
//! * Metal: coloured by `F^2 E / (1 - F (1 - E))`, with the means `F` of Fresnel's term and `E` of what scatters once, a
//!   geometric series of further reflections.
//! * Glass: `t` of the light that was lost from outside crosses, the rest is reflected. Exchanging directions then leaves
//!   one choice for the other side: `t mean / (ior^2 mean_inside)`. [`crossing`] gives `t`.
//! * Principled: the diffuse base takes what the specular lobe leaves, so it lacks nothing; a metal lacks what a
//!   conductor does, and a thin wall, whose reflection and transmission have the conductor's lobe, as much.

use crate::bsdf::surface::{Evaluation, Surface};
use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::{Vec3, luminance, vec3};
use lockstep_core::math::{INV_PI, clamp, floor_to_i32, max, min, safe_sqrt, saturate, sqr};
use lockstep_core::scene::MaterialKind;
use lockstep_core::scene::missing_albedo::{
    MISSING_ALBEDO, MISSING_COSINES, MISSING_INDICES, MISSING_METAL, MISSING_ROUGHNESSES, MISSING_ROW,
    MISSING_SCALE, SMOOTHEST_ROUGH,
};

/// The place of a roughness among the `count` rows of a table.
#[inline(always)]
pub(super) fn missing_row(roughness: f32, count: u32) -> f32 {
    saturate((roughness - SMOOTHEST_ROUGH) * 1.030_927_8) * (count - 1) as f32
}

/// The place of a cosine among the columns: of smooth surfaces, which lose light close to the horizon alone, most
/// columns are there. Towards the normal the loss falls as the squared tangent does.
#[inline(always)]
fn missing_column(roughness: f32, cosine: f32) -> f32 {
    let r = max(roughness, SMOOTHEST_ROUGH);
    let squared = sqr(2.5 * (r * r));
    let x = (1.0 + squared) * (cosine * cosine) / (cosine * cosine + squared);
    saturate(safe_sqrt(safe_sqrt(x))) * (MISSING_COSINES - 1) as f32
}

/// The place of an index of refraction among the planes of a side. Close to matched indices and to the horizon, what is
/// lost depends on ratios of angles alone: of those of microfacets, of the direction and of total internal reflection,
/// whose measure is the fourth root of the reflectance at normal incidence, 0.7746 at the index 4.
#[inline(always)]
fn missing_plane(roughness: f32, ior: f32) -> f32 {
    let r = max(roughness, SMOOTHEST_ROUGH);
    let width = r * r;
    let root = safe_sqrt(max(ior - 1.0, 0.0) / (ior + 1.0));
    saturate((1.0 + 1.290_994_4 * width) * root / (root + width)) * (MISSING_INDICES - 1) as f32
}

/// The entry before a place of `count`, and the place's distance from it.
#[inline(always)]
pub(super) fn missing_step(place: f32, count: u32) -> (f32, f32) {
    let first = min(floor_to_i32(place) as f32, (count - 2) as f32);
    (first, clamp(place - first, 0.0, 1.0))
}

/// The share of light that one plane of the table loses: bilinear between its entries.
#[inline(always)]
pub fn missing_in_plane(plane: u32, roughness: f32, cosine: f32) -> f32 {
    let (row, fy) = missing_step(missing_row(roughness, MISSING_ROUGHNESSES), MISSING_ROUGHNESSES);
    let (column, fx) = missing_step(missing_column(roughness, cosine), MISSING_COSINES);
    let first = (plane * MISSING_ROUGHNESSES + row as u32) * MISSING_ROW + column as u32;
    let entry = |i: u32| MISSING_ALBEDO[i as usize] as f32;
    let near = entry(first) * (1.0 - fx) + entry(first + 1) * fx;
    let far = entry(first + MISSING_ROW) * (1.0 - fx) + entry(first + MISSING_ROW + 1) * fx;
    (near * (1.0 - fy) + far * fy) * MISSING_SCALE
}

/// The cosine-weighted mean of [`missing_in_plane`] over the hemisphere.
#[inline(always)]
pub fn mean_missing_in_plane(plane: u32, roughness: f32) -> f32 {
    let (row, fy) = missing_step(missing_row(roughness, MISSING_ROUGHNESSES), MISSING_ROUGHNESSES);
    let first = (plane * MISSING_ROUGHNESSES + row as u32) * MISSING_ROW + MISSING_COSINES;
    let entry = |i: u32| MISSING_ALBEDO[i as usize] as f32;
    let r = max(roughness, SMOOTHEST_ROUGH);
    (entry(first) * (1.0 - fy) + entry(first + MISSING_ROW) * fy) * (MISSING_SCALE * (r * r * r))
}

/// Two planes of the table between which a surface lies, seen from one side.
#[derive(Clone, Copy)]
struct Planes {
    first: u32,
    share: f32,
}

impl Planes {
    /// The planes of a surface that is seen from outside or from inside.
    #[inline(always)]
    fn new(s: &Surface, outside: bool) -> Self {
        if s.kind != MaterialKind::Dielectric as u32 {
            return Self { first: MISSING_METAL, share: 0.0 };
        }
        let (first, share) = missing_step(missing_plane(s.roughness, s.ior), MISSING_INDICES);
        let side = if outside { 0 } else { MISSING_INDICES };
        Self { first: side + first as u32, share }
    }

    /// The share of light that is lost.
    #[inline(always)]
    fn missing(&self, roughness: f32, cosine: f32) -> f32 {
        let near = missing_in_plane(self.first, roughness, cosine);
        if self.share > 0.0 {
            let far = missing_in_plane(self.first + 1, roughness, cosine);
            near * (1.0 - self.share) + far * self.share
        } else {
            near
        }
    }

    /// Cosine-weighted mean of [`Self::missing`].
    #[inline(always)]
    fn mean(&self, roughness: f32) -> f32 {
        let near = mean_missing_in_plane(self.first, roughness);
        if self.share > 0.0 {
            let far = mean_missing_in_plane(self.first + 1, roughness);
            near * (1.0 - self.share) + far * self.share
        } else {
            near
        }
    }
}

/// Transmitted share of the light that single scattering at a dielectric's surface loses from outside: one minus the mean
/// Fresnel reflectance (fitted by Kulla and Conty 2017), and more on rougher surfaces. The mean transmission is then within
/// 0.02 of a random walk between microfacets (Heitz and others 2016) up to the index 2.5.
#[inline(always)]
fn crossing(ior: f32, roughness: f32) -> f32 {
    let reflected = max(ior - 1.0, 0.0) / (4.085_67 + 1.000_71 * ior);
    1.0 - reflected / (1.0 + 3.0 * sqr(roughness * roughness))
}

/// The lobe that gives back the light which scatters more than once.
#[derive(Clone, Copy)]
pub(super) struct Recovered {
    roughness: f32,
    here: Planes,
    beyond: Planes,
    /// Factors on the share that is missing at `wi`, for reflection and for transmission.
    reflected: Vec3,
    transmitted: Vec3,
    /// Probabilities of choosing this lobe, by the side that it leaves to.
    p_reflected: f32,
    p_transmitted: f32,
}

impl Recovered {
    /// The lobe of a surface that is not specular, for light that leaves by `wo`.
    #[inline(always)]
    pub(super) fn new(s: &Surface, wo: Vec3) -> Self {
        let here = Planes::new(s, s.outside);
        let beyond = Planes::new(s, !s.outside);
        let missing = here.missing(s.roughness, wo.z);
        let mean = here.mean(s.roughness);
        let share = missing / mean;
        let (reflected, transmitted, w_transmitted, w_single);
        if s.kind == MaterialKind::Dielectric as u32 {
            let mean_beyond = beyond.mean(s.roughness);
            let crosses = crossing(s.ior, s.roughness);
            let squared = s.ior * s.ior;
            let mean_inside = if s.outside { mean_beyond } else { mean };
            let back = crosses * mean_beyond / (squared * mean_inside);
            let t = if s.outside { crosses } else { min(back, 1.0) };
            let compressed = if s.outside { squared } else { 1.0 };
            reflected = s.base_color * ((1.0 - t) * share);
            transmitted = s.base_color * (missing * crosses / (mean_inside * compressed));
            w_transmitted = luminance(s.base_color) * missing * t;
            w_single = luminance(s.base_color) * (1.0 - missing);
        } else if s.kind == MaterialKind::Conductor as u32 {
            reflected = metal_color(s.base_color, mean) * share;
            transmitted = Vec3::ZERO;
            w_transmitted = 0.0;
            w_single = luminance(mean_schlick(s.base_color)) * (1.0 - missing);
        } else {
            let wall = (1.0 - s.metallic) * s.transmission;
            let (up, through_wall) = principled_colors(s, mean);
            reflected = up * share;
            transmitted = s.base_color * (through_wall * share);
            w_transmitted = luminance(transmitted) * mean;
            w_single = 1.0 - (s.metallic + wall) * missing;
        }
        // Probabilities by the light that each lobe scatters
        let w_reflected = luminance(reflected) * mean;
        let sum = w_reflected + w_transmitted + w_single;
        let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        Self {
            roughness: s.roughness,
            here,
            beyond,
            reflected,
            transmitted,
            p_reflected: w_reflected * scale,
            p_transmitted: w_transmitted * scale,
        }
    }

    /// BSDF times cosine of the lobe alone and its density on the side of `wi`; layers above let the share `below` through.
    #[inline(always)]
    pub(super) fn evaluate(&self, wi: Vec3, below: f32) -> Evaluation {
        let up = wi.z > 0.0;
        let cosine = if up { wi.z } else { -wi.z };
        let planes = if up { self.here } else { self.beyond };
        let color = if up { self.reflected } else { self.transmitted };
        let cosine_pdf = cosine * INV_PI;
        let missing = planes.missing(self.roughness, cosine);
        Evaluation { value: color * (missing * cosine_pdf * below), pdf: cosine_pdf }
    }

    /// Adds the lobe, of which the layers above let the share `below` through, to those that scatter once.
    #[inline(always)]
    pub(super) fn add(&self, wi: Vec3, below: f32, single: Evaluation) -> Evaluation {
        self.add_own(wi, self.evaluate(wi, below), single)
    }

    /// Adds the lobe's `own` value and density to those of the lobes that scatter once.
    #[inline(always)]
    pub(super) fn add_own(&self, wi: Vec3, own: Evaluation, single: Evaluation) -> Evaluation {
        let p = self.probability(wi.z > 0.0);
        Evaluation { value: single.value + own.value, pdf: single.pdf * self.once() + p * own.pdf }
    }

    /// The probability of choosing this lobe on one of its sides.
    #[inline(always)]
    pub(super) fn probability(&self, reflects: bool) -> f32 {
        if reflects { self.p_reflected } else { self.p_transmitted }
    }

    /// The probability of choosing the lobes that scatter once.
    #[inline(always)]
    pub(super) fn once(&self) -> f32 {
        1.0 - (self.p_reflected + self.p_transmitted)
    }

    /// True where a draw chooses this lobe.
    #[inline(always)]
    pub(super) fn is_chosen(&self, u: f32) -> bool {
        u < self.p_reflected + self.p_transmitted
    }

    /// True where a draw that chooses this lobe reflects.
    #[inline(always)]
    pub(super) fn reflects(&self, u: f32) -> bool {
        u < self.p_reflected
    }

    /// The direction of this lobe for draws that choose it.
    #[inline(always)]
    pub(super) fn direction(&self, u: [f32; 3]) -> Vec3 {
        let wi = cosine_hemisphere(u[1], u[2]);
        if self.reflects(u[0]) { wi } else { vec3(wi.x, wi.y, -wi.z) }
    }

    /// The draw that chooses among the other lobes, stretched to all of the unit interval.
    #[inline(always)]
    pub(super) fn rest_of(&self, u: f32) -> f32 {
        let p = self.p_reflected + self.p_transmitted;
        clamp((u - p) / (1.0 - p), 0.0, 0.999_999_94)
    }
}

/// The cosine-weighted mean of Schlick's Fresnel term.
#[inline(always)]
fn mean_schlick(f0: Vec3) -> Vec3 {
    (f0 * 20.0 + Vec3::ONE) * 0.047_619_05
}

/// The colour of a metal's light that scatters more than once, where `missing` is the mean of what is lost.
#[inline(always)]
fn metal_color(f0: Vec3, missing: f32) -> Vec3 {
    let f = mean_schlick(f0);
    let of = |f: f32| f * f * (1.0 - missing) / (1.0 - f * missing);
    vec3(of(f.x), of(f.y), of(f.z))
}

/// Colours of a principled surface's light that scatters more than once: of reflection, and the share of the base colour
/// that a thin wall transmits.
#[inline(always)]
fn principled_colors(s: &Surface, mean: f32) -> (Vec3, f32) {
    let wall = (1.0 - s.metallic) * s.transmission;
    let from_wall = (20.0 * sqr((s.ior - 1.0) / (s.ior + 1.0)) + 1.0) * 0.047_619_05;
    let of_metal = metal_color(s.base_color, mean) * s.metallic;
    (of_metal + Vec3::splat(wall * from_wall), wall * (1.0 - from_wall))
}

/// The lobe of a principled surface below layers, whose microfacets lose the share `missing` of the light from `wo` and to
/// whose `wo` layers let the share `below` through: it depends on `wi` by the cosine alone.
#[inline(always)]
pub(super) fn scaled_recovered(s: &Surface, wi: Vec3, missing: f32, below: f32) -> Evaluation {
    let up = wi.z > 0.0;
    let (reflected, through_wall) = principled_colors(s, mean_missing_in_plane(MISSING_METAL, s.roughness));
    let color = if up { reflected } else { s.base_color * through_wall };
    let cosine_pdf = (if up { wi.z } else { -wi.z }) * INV_PI;
    Evaluation { value: color * (missing * cosine_pdf * below), pdf: cosine_pdf }
}

#[cfg(test)]
pub(super) mod tests;
