//! FLIP, a map of the differences that a person sees when two images are flipped between.
//!
//! For low dynamic range: P. Andersson, J. Nilsson, T. Akenine-Möller, M. Oskarsson, K. Åström and M. D.
//! Fairchild, "FLIP: A Difference Evaluator for Alternating Images", Proc. ACM Comput. Graph. Interact. Tech.
//! 3(2), 2020. For high dynamic range: P. Andersson, J. Nilsson, P. Shirley and T. Akenine-Möller,
//! "Visualizing Errors in Rendered High Dynamic Range Images", Eurographics Short Papers 2021. Written from
//! the papers, in f32.
//!
//! Every map has a value from 0 (no visible difference) to 1 for each pixel; the metric is the map's mean.
//! The viewer sits 0.7 m from a screen 0.7 m wide with 3840 pixels: [`PIXELS_PER_DEGREE`].

mod colour;
mod exposure;
mod filters;
mod perception;
mod screen;

pub use exposure::ExposureRange;

use super::plane::mean;
use super::{MetricError, check_comparable};
use crate::image_io::LinearImage;
use filters::Filters;
use perception::{BAND, Perceived, Scratch, View};
use rayon::prelude::*;
use screen::Screen;

/// Pixels that one degree of the visual field covers: `0.7 m · 3840 px / 0.7 m · π / 180`.
pub const PIXELS_PER_DEGREE: f32 = 67.020_645;

/// Definition of LDR-FLIP and HDR-FLIP in words, to show beside every value.
pub const FLIP_DEFINITION: &str = "FLIP by Andersson et al.: mean over all pixels of a perceived difference from 0 to 1, at 67.02 pixels per \
     degree (0.7 m from a screen 0.7 m wide with 3840 pixels). LDR (2020) clamps linear values to 0 to 1; HDR (2021) \
     is the greatest LDR difference over exposures chosen from image B, through the ACES tone curve.";

/// Exponent of the colour difference, `q_c`.
const COLOUR_EXPONENT: f32 = 0.7;
/// Share of the greatest colour difference, `p_c`, that maps to [`KNEE`].
const KNEE_AT: f32 = 0.4;
/// The error that this share maps to, `p_t`.
const KNEE: f32 = 0.95;

/// The perceived difference of every pixel, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct FlipMap {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Perceived difference of every pixel, 0 to 1, row by row from the top.
    pub values: Vec<f32>,
}

impl FlipMap {
    /// FLIP of the two images: the mean over all pixels, 0 to 1.
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }
}

/// LDR-FLIP of two images, whose linear values are clamped to 0 to 1. Symmetric.
///
/// # Errors
/// [`MetricError`] as for [`super::compare`].
pub fn flip_ldr(a: &LinearImage, b: &LinearImage) -> Result<FlipMap, MetricError> {
    check_comparable(a, b)?;
    Ok(one(b, ldr_maps(&[a], b)))
}

/// HDR-FLIP of two images: the greatest LDR-FLIP of each pixel over the exposures of [`ExposureRange::of`]
/// the reference `b`. Not symmetric, as the exposures are those that suit `b`; where `b` is black they are
/// those of `a`.
///
/// # Errors
/// [`MetricError`] as for [`super::compare`].
pub fn flip_hdr(a: &LinearImage, b: &LinearImage) -> Result<FlipMap, MetricError> {
    check_comparable(a, b)?;
    Ok(one(b, hdr_maps(&[a], b)))
}

/// Values of LDR-FLIP of every image against one reference of the same size.
pub(super) fn ldr_maps(images: &[&LinearImage], reference: &LinearImage) -> Vec<Vec<f32>> {
    greatest_over(images, reference, &[Screen::Clamped])
}

/// Values of HDR-FLIP of every image against one reference of the same size.
pub(super) fn hdr_maps(images: &[&LinearImage], reference: &LinearImage) -> Vec<Vec<f32>> {
    let screens = |range: ExposureRange| -> Vec<Screen> { range.scales().map(Screen::Exposed).collect() };
    match ExposureRange::of(reference) {
        Some(range) => greatest_over(images, reference, &screens(range)),
        None => {
            let own = |image: &&LinearImage| {
                let screens = ExposureRange::of(image).map_or(Vec::new(), screens);
                greatest_over(&[image], reference, &screens).swap_remove(0)
            };
            images.iter().map(own).collect()
        }
    }
}

/// The only map of one image.
fn one(image: &LinearImage, mut maps: Vec<Vec<f32>>) -> FlipMap {
    FlipMap { width: image.width(), height: image.height(), values: maps.pop().unwrap_or_default() }
}

/// For every image the greatest FLIP of each pixel over several screens. The reference is perceived once for
/// all.
fn greatest_over(images: &[&LinearImage], reference: &LinearImage, screens: &[Screen]) -> Vec<Vec<f32>> {
    let filters = Filters::new();
    let greatest_colour = greatest_colour_difference();
    let band = |(i, maps): (usize, Vec<&mut [f32]>), scratch: &mut Scratch| {
        let mut maps = maps;
        for &screen in screens {
            let perceive = |image, scratch: &mut Scratch| {
                View { image, screen, filters: &filters }.perceive(i * BAND, scratch)
            };
            let b = perceive(reference, scratch);
            for (image, map) in images.iter().zip(&mut maps) {
                let a = perceive(image, scratch);
                for (pixel, most) in map.iter_mut().enumerate() {
                    *most = most.max(difference(&a, &b, pixel, greatest_colour));
                }
            }
        }
    };
    let pixels = reference.pixels().len();
    let mut maps = vec![vec![0.0f32; pixels]; images.len()];
    let mut bands: Vec<Vec<&mut [f32]>> = Vec::new();
    for map in &mut maps {
        for (i, rows) in map.chunks_mut(BAND * reference.width() as usize).enumerate() {
            if bands.len() <= i {
                bands.push(Vec::with_capacity(images.len()));
            }
            bands[i].push(rows);
        }
    }
    bands.into_par_iter().enumerate().for_each_init(Scratch::default, |scratch, rows| band(rows, scratch));
    maps
}

/// FLIP of one pixel of a band.
fn difference(a: &Perceived, b: &Perceived, pixel: usize, greatest_colour: f32) -> f32 {
    let lab = |of: &Perceived| [of.lab[0][pixel], of.lab[1][pixel], of.lab[2][pixel]];
    let colour = colour_difference(lab(a), lab(b), greatest_colour);
    colour.powf(1.0 - feature_difference(a, b, pixel))
}

/// The HyAB distance to the power `q_c`, of which the first 40 % of the range are stretched over 0 to 0.95.
fn colour_difference(a: [f32; 3], b: [f32; 3], greatest: f32) -> f32 {
    let distance = colour::hyab(a, b).powf(COLOUR_EXPONENT);
    let knee = KNEE_AT * greatest;
    if distance < knee {
        distance * KNEE / knee
    } else {
        KNEE + (distance - knee) / (greatest - knee) * (1.0 - KNEE)
    }
}

/// The greatest colour difference that a screen can show: between green and blue.
fn greatest_colour_difference() -> f32 {
    let (green, blue) = (colour::hunt_lab([0.0, 1.0, 0.0]), colour::hunt_lab([0.0, 0.0, 1.0]));
    colour::hyab(green, blue).powf(COLOUR_EXPONENT)
}

/// The greater difference of edges and points, to the power 1/2.
fn feature_difference(a: &Perceived, b: &Perceived, i: usize) -> f32 {
    let edges = (a.edges[i] - b.edges[i]).abs();
    let points = (a.points[i] - b.points[i]).abs();
    (edges.max(points) * std::f32::consts::FRAC_1_SQRT_2).sqrt()
}
