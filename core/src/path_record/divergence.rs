//! The parity ladder: which quantity two targets part at, over many paths.
//!
//! Quantities are compared in the order in which a path computes them, so the first rung that differs is the place to
//! look: what comes after it differs because of it.

use crate::Renderer;
use crate::error::Result;
use crate::path_record::compare::{Divergence, Rung, first_difference, rungs_differing};
use crate::path_record::{PathRequest, PathVertex};
use std::collections::HashMap;
use std::ops::Range;

/// Paths asked for at once, which bounds the memory of a climb.
const PATHS_AT_ONCE: usize = 4096;
/// Worst pixels kept for each rung.
const WORST: usize = 4;

/// What was found at one rung.
#[derive(Clone, Debug, PartialEq)]
pub struct RungFound {
    /// The rung.
    pub rung: Rung,
    /// Paths that were compared.
    pub paths: u64,
    /// Paths whose quantities of this rung differ.
    pub differing: u64,
    /// Paths that part here: whose quantities of all rungs before are equal.
    pub parting: u64,
    /// Pixels with such a path.
    pub pixels_parting: u64,
    /// The largest distance in steps of binary32 at which a number parts here.
    pub largest_ulps: u64,
    /// What the paths part at, by vertex and name, most frequent first.
    pub quantities: Vec<Quantity>,
    /// The worst paths that part here, one for each pixel.
    pub worst: Vec<Worst>,
}

/// A quantity and how many paths part at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The vertex.
    pub bounce: u32,
    /// The quantity's name.
    pub name: &'static str,
    /// Paths that part at it.
    pub paths: u64,
}

/// A path worth looking into.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// Whose path.
    pub request: PathRequest,
    /// What it parts at.
    pub divergence: Divergence,
    /// Greatest difference of a channel of the sample's radiance.
    pub radiance: f32,
}

/// Compares the paths of `samples` of every pixel among `pixels`, as two loaded renderers trace them.
///
/// # Errors
/// As for [`Renderer::record_paths`].
pub fn climb(
    a: &mut dyn Renderer,
    b: &mut dyn Renderer,
    pixels: Range<u32>,
    samples: Range<u32>,
) -> Result<Vec<RungFound>> {
    let mut found = Found::default();
    let requests: Vec<PathRequest> =
        pixels.flat_map(|pixel| samples.clone().map(move |sample| PathRequest { pixel, sample })).collect();
    for some in requests.chunks(PATHS_AT_ONCE) {
        let (paths_a, paths_b) = (a.record_paths(some)?, b.record_paths(some)?);
        for ((request, path_a), path_b) in some.iter().zip(&paths_a).zip(&paths_b) {
            found.add(*request, path_a, path_b);
        }
    }
    Ok(found.finish())
}

/// The first rung at which anything differs.
pub fn first(found: &[RungFound]) -> Option<&RungFound> {
    found.iter().find(|rung| rung.differing > 0)
}

/// The rung at which most paths part.
pub fn main(found: &[RungFound]) -> Option<&RungFound> {
    found.iter().rev().max_by_key(|rung| rung.parting).filter(|rung| rung.parting > 0)
}

#[derive(Default)]
struct Found {
    paths: u64,
    rungs: HashMap<Rung, AtRung>,
}

#[derive(Default)]
struct AtRung {
    differing: u64,
    parting: u64,
    pixels: u64,
    last_pixel: Option<u32>,
    largest_ulps: u64,
    quantities: HashMap<(u32, &'static str), u64>,
    worst: Vec<Worst>,
}

impl Found {
    fn add(&mut self, request: PathRequest, a: &[PathVertex], b: &[PathVertex]) {
        self.paths += 1;
        let Some(divergence) = first_difference(a, b) else { return };
        for rung in rungs_differing(a, b) {
            self.rungs.entry(rung).or_default().differing += 1;
        }
        let radiance = radiance_difference(a, b);
        self.rungs.entry(divergence.rung).or_default().part(Worst { request, divergence, radiance });
    }

    fn finish(mut self) -> Vec<RungFound> {
        let paths = self.paths;
        Rung::ALL.map(|rung| self.rungs.remove(&rung).unwrap_or_default().finish(rung, paths)).into()
    }
}

impl AtRung {
    fn part(&mut self, path: Worst) {
        self.parting += 1;
        let pixel = Some(path.request.pixel);
        self.pixels += u64::from(self.last_pixel != pixel);
        self.last_pixel = pixel;
        let Divergence { bounce, field, distance, .. } = path.divergence;
        self.largest_ulps = self.largest_ulps.max(distance.map_or(0, |d| d.ulps));
        *self.quantities.entry((bounce, field)).or_default() += 1;
        // Of one pixel's paths, which come one after the other, the worst is kept.
        let key = |w: &Worst| (w.radiance, w.divergence.distance.map_or(f32::INFINITY, |d| d.relative));
        match self.worst.iter_mut().find(|w| Some(w.request.pixel) == pixel) {
            Some(same) if key(&path) > key(same) => *same = path,
            Some(_) => {}
            None => self.worst.push(path),
        }
        self.worst.sort_by(|x, y| key(y).partial_cmp(&key(x)).unwrap_or(std::cmp::Ordering::Equal));
        self.worst.truncate(WORST);
    }

    fn finish(self, rung: Rung, paths: u64) -> RungFound {
        let mut quantities: Vec<Quantity> = self
            .quantities
            .into_iter()
            .map(|((bounce, name), paths)| Quantity { bounce, name, paths })
            .collect();
        quantities.sort_by_key(|q| (std::cmp::Reverse(q.paths), q.bounce, q.name));
        RungFound {
            rung,
            paths,
            differing: self.differing,
            parting: self.parting,
            pixels_parting: self.pixels,
            largest_ulps: self.largest_ulps,
            quantities,
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
