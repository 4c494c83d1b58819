//! The divergence of two targets over many paths, classified by the first quantity in which each path
//! differs.
//!
//! Quantities are compared in the order in which a path computes them, so the first that differs is the place
//! to look: those after it differ as a consequence.

use crate::Renderer;
use crate::error::Result;
use crate::path_record::compare::{Divergence, Quantity, first_difference, quantities_differing};
use crate::path_record::pair_step::{pair_quantities_differing, pair_radiance_difference};
use crate::path_record::{PairStep, PathRequest, PathVertex, first_pair_difference};
use std::collections::HashMap;
use std::ops::Range;

/// Paths recorded at once, which bounds the memory of a comparison.
const PATHS_AT_ONCE: usize = 4096;
/// Worst pixels kept for each quantity.
const WORST: usize = 4;

/// The divergence of many paths in one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantityDivergence {
    /// The quantity.
    pub quantity: Quantity,
    /// Paths that were compared.
    pub paths: u64,
    /// Paths in which this quantity differs.
    pub differing: u64,
    /// Paths that diverge here: all quantities before are equal to the bit.
    pub diverging: u64,
    /// Pixels with a path that diverges here.
    pub pixels_diverging: u64,
    /// The largest distance in steps of binary32 at which a number diverges here.
    pub largest_ulps: u64,
    /// The fields at which paths diverge, most frequent first.
    pub fields: Vec<FieldCount>,
    /// The worst paths that diverge here, one for each pixel.
    pub worst: Vec<DivergingPath>,
}

/// A field of a vertex and the paths that diverge at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCount {
    /// Bounce of the vertex, or of the step of a pair of sub-paths, counted from 0.
    pub bounce: u32,
    /// The field's name.
    pub name: &'static str,
    /// Paths that diverge at it.
    pub paths: u64,
}

/// A path on which two targets diverge.
#[derive(Clone, Debug, PartialEq)]
pub struct DivergingPath {
    /// The pixel and sample.
    pub request: PathRequest,
    /// The first difference.
    pub divergence: Divergence,
    /// Greatest difference of a channel of the sample's radiance.
    pub radiance: f32,
}

/// Every sample in `samples` of every pixel in `pixels`.
pub fn all_paths(pixels: Range<u32>, samples: Range<u32>) -> Vec<PathRequest> {
    pixels.flat_map(|pixel| samples.clone().map(move |sample| PathRequest { pixel, sample })).collect()
}

/// Compares the paths of these samples, as two loaded renderers record them: one row for each of
/// [`Quantity::OF_PATHS`]. Samples of one pixel must follow each other.
///
/// # Errors
/// As [`Renderer::record_paths`].
pub fn compare_paths(
    a: &mut dyn Renderer,
    b: &mut dyn Renderer,
    requests: &[PathRequest],
) -> Result<Vec<QuantityDivergence>> {
    let compare = |a: &Vec<PathVertex>, b: &Vec<PathVertex>| {
        let first = first_difference(a, b)?;
        Some((first, quantities_differing(a, b), radiance_difference(a, b)))
    };
    let record = |renderer: &mut dyn Renderer, some: &[PathRequest]| renderer.record_paths(some);
    tally(a, b, requests, (record, compare), &Quantity::OF_PATHS)
}

/// Compares the pairs of light and camera sub-paths of these samples: one row for each of [`Quantity::OF_PAIRS`].
///
/// # Errors
/// As [`Renderer::record_pairs`].
pub fn compare_pairs(
    a: &mut dyn Renderer,
    b: &mut dyn Renderer,
    requests: &[PathRequest],
) -> Result<Vec<QuantityDivergence>> {
    let compare = |a: &Vec<PairStep>, b: &Vec<PairStep>| {
        let first = first_pair_difference(a, b)?;
        Some((first, pair_quantities_differing(a, b), pair_radiance_difference(a, b)))
    };
    let record = |renderer: &mut dyn Renderer, some: &[PathRequest]| renderer.record_pairs(some);
    tally(a, b, requests, (record, compare), &Quantity::OF_PAIRS)
}

/// The first divergence of two records, all quantities that differ, and the difference of radiance.
type Differing = (Divergence, Vec<Quantity>, f32);

/// Counts the divergences of what two renderers record of the same samples.
fn tally<T>(
    a: &mut dyn Renderer,
    b: &mut dyn Renderer,
    requests: &[PathRequest],
    (record, compare): (
        impl Fn(&mut dyn Renderer, &[PathRequest]) -> Result<Vec<T>>,
        impl Fn(&T, &T) -> Option<Differing>,
    ),
    quantities: &[Quantity],
) -> Result<Vec<QuantityDivergence>> {
    let mut tally = Tally::default();
    for some in requests.chunks(PATHS_AT_ONCE) {
        let (records_a, records_b) = (record(a, some)?, record(b, some)?);
        for ((request, a), b) in some.iter().zip(&records_a).zip(&records_b) {
            tally.add(*request, compare(a, b));
        }
    }
    Ok(tally.finish(quantities))
}

/// The first quantity in which anything differs.
pub fn first(found: &[QuantityDivergence]) -> Option<&QuantityDivergence> {
    found.iter().find(|row| row.differing > 0)
}

#[derive(Default)]
struct Tally {
    paths: u64,
    quantities: HashMap<Quantity, QuantityTally>,
}

#[derive(Default)]
struct QuantityTally {
    differing: u64,
    diverging: u64,
    pixels: u64,
    last_pixel: Option<u32>,
    largest_ulps: u64,
    fields: HashMap<(u32, &'static str), u64>,
    worst: Vec<DivergingPath>,
}

impl Tally {
    fn add(&mut self, request: PathRequest, differing: Option<Differing>) {
        self.paths += 1;
        let Some((divergence, differing, radiance)) = differing else { return };
        for quantity in differing {
            self.quantities.entry(quantity).or_default().differing += 1;
        }
        let path = DivergingPath { request, divergence, radiance };
        self.quantities.entry(path.divergence.quantity).or_default().add(path);
    }

    fn finish(mut self, quantities: &[Quantity]) -> Vec<QuantityDivergence> {
        let paths = self.paths;
        let row = |&quantity: &Quantity| {
            self.quantities.remove(&quantity).unwrap_or_default().finish(quantity, paths)
        };
        quantities.iter().map(row).collect()
    }
}

impl QuantityTally {
    fn add(&mut self, path: DivergingPath) {
        self.diverging += 1;
        let pixel = Some(path.request.pixel);
        self.pixels += u64::from(self.last_pixel != pixel);
        self.last_pixel = pixel;
        let Divergence { bounce, field, distance, .. } = path.divergence;
        self.largest_ulps = self.largest_ulps.max(distance.map_or(0, |d| d.ulps));
        *self.fields.entry((bounce, field)).or_default() += 1;
        // Of one pixel's paths, which come one after the other, the worst is kept.
        let key =
            |w: &DivergingPath| (w.radiance, w.divergence.distance.map_or(f32::INFINITY, |d| d.relative));
        match self.worst.iter_mut().find(|w| Some(w.request.pixel) == pixel) {
            Some(same) if key(&path) > key(same) => *same = path,
            Some(_) => {}
            None => self.worst.push(path),
        }
        self.worst.sort_by(|x, y| key(y).partial_cmp(&key(x)).unwrap_or(std::cmp::Ordering::Equal));
        self.worst.truncate(WORST);
    }

    fn finish(self, quantity: Quantity, paths: u64) -> QuantityDivergence {
        let fields = self.fields.into_iter();
        let mut fields: Vec<FieldCount> =
            fields.map(|((bounce, name), paths)| FieldCount { bounce, name, paths }).collect();
        fields.sort_by_key(|field| (std::cmp::Reverse(field.paths), field.bounce, field.name));
        QuantityDivergence {
            quantity,
            paths,
            differing: self.differing,
            diverging: self.diverging,
            pixels_diverging: self.pixels,
            largest_ulps: self.largest_ulps,
            fields,
            worst: self.worst,
        }
    }
}

/// Greatest difference of a channel of two paths' radiance; infinite where one is not a number.
fn radiance_difference(a: &[PathVertex], b: &[PathVertex]) -> f32 {
    let (Some(a), Some(b)) = (a.last(), b.last()) else { return 0.0 };
    let differences = a.radiance.iter().zip(&b.radiance).map(|(x, y)| (x - y).abs());
    differences.fold(0.0, |most, d| if d.is_nan() { f32::INFINITY } else { d.max(most) })
}
