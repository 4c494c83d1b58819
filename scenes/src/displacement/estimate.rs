//! How many triangles a displacement will make, before any is made.

use super::MOST_CUTS;
use super::patch::{Field, Point, halves};
use super::surface::Surface;
use rayon::prelude::*;

/// Triangles that are looked at in each generation; of more, a sample.
const SAMPLES: usize = 1 << 13;

/// All triangles over those that are cut for their own sake: the others are cut for their neighbours'. Measured: 0.98 to
/// 1.1 for 20 thousand to a million triangles, 1.4 for 5 thousand.
const NEIGHBOURS: f64 = 1.1;

/// Expected number of the triangles of a surface that a field moves, once all keep its bound.
///
/// The halves, quarters and so on of all triangles are counted as long as there are few, then sampled: a random way down
/// from a triangle ends after `n` cuts with probability `2^-n`, so that the mean of `2^n` is the number of ends (Knuth,
/// *Estimating the Efficiency of Backtrack Programs*, 1975).
pub(super) fn triangles(surface: &Surface, field: u32, bound: &Field<'_>) -> f64 {
    let faces: Vec<u32> =
        (0..surface.faces.len() as u32).filter(|&f| surface.faces[f as usize].field == field).collect();
    let step = faces.len().div_ceil(SAMPLES).max(1);
    let chosen: Vec<u32> = faces.iter().copied().step_by(step).collect();
    let mut weight = if chosen.is_empty() { 0.0 } else { faces.len() as f64 / chosen.len() as f64 };
    let whole = faces.len() as f64;
    let mut open: Vec<[Point; 3]> = chosen.into_iter().map(|f| surface.corners(f)).collect();
    let (mut ends, mut depth) = (0.0, 0);
    while !open.is_empty() && open.len() < SAMPLES && depth < MOST_CUTS {
        let cut: Vec<bool> = open.par_iter().map(|corners| bound.exceeds(corners)).collect();
        ends += weight * cut.iter().filter(|cut| !**cut).count() as f64;
        open =
            open.iter().zip(cut).filter(|(_, cut)| *cut).flat_map(|(corners, _)| halves(corners)).collect();
        depth += 1;
    }
    if open.len() >= SAMPLES {
        let step = open.len() / SAMPLES;
        let probes: Vec<[Point; 3]> = open.iter().copied().step_by(step).collect();
        weight *= open.len() as f64 / probes.len() as f64;
        let counts: Vec<f64> = probes
            .par_iter()
            .enumerate()
            .map(|(n, corners)| way_down(corners, n as u32, depth, bound))
            .collect();
        ends += weight * counts.iter().sum::<f64>();
    } else {
        ends += weight * open.len() as f64;
    }
    whole + (ends - whole).max(0.0) * NEIGHBOURS
}

/// Two to the number of cuts on a random way down.
fn way_down(corners: &[Point; 3], seed: u32, mut depth: u32, bound: &Field<'_>) -> f64 {
    let (mut corners, mut count) = (*corners, 1.0);
    while depth < MOST_CUTS && bound.exceeds(&corners) {
        let bits = (seed ^ depth.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        let bits = (bits ^ bits >> 15).wrapping_mul(0xc2b2_ae35);
        corners = halves(&corners)[(bits >> 31) as usize];
        count *= 2.0;
        depth += 1;
    }
    count
}
