//! Filters of FLIP: the eye's contrast sensitivity, and detectors of edges and points.

use super::super::plane::Plane;
use super::PIXELS_PER_DEGREE;
use rayon::prelude::*;
use std::f64::consts::PI;

/// A Gaussian in the spatial form of Andersson et al.: `a √(π / b) exp(−π² x² / b)`, x in degrees.
struct Term {
    a: f64,
    b: f64,
}

/// Contrast sensitivity to luminance, red-green and blue-yellow: the sum of two Gaussians each, after Mullen (1985),
/// fitted by Johnson and Fairchild (2003). The second term of the first two is 0.
const SENSITIVITY: [&[Term]; 3] = [
    &[Term { a: 1.0, b: 0.0047 }],
    &[Term { a: 1.0, b: 0.0053 }],
    &[Term { a: 34.1, b: 0.04 }, Term { a: 13.5, b: 0.025 }],
];

/// Width in degrees of the features that are detected.
const FEATURE_WIDTH: f64 = 0.082;

/// Taps below this share of the middle one change nothing in f32.
const NEGLIGIBLE: f64 = 1e-9;

/// Strength of edges and points for each pixel.
pub(super) struct Features {
    pub(super) edges: Vec<f32>,
    pub(super) points: Vec<f32>,
}

/// Filters Y, C_x and C_z by what the eye resolves of them.
pub(super) fn contrast_filtered(planes: [Plane; 3]) -> [Plane; 3] {
    let mut terms = SENSITIVITY.iter();
    planes.map(|plane| match terms.next() {
        Some(terms) => sum_of_gaussians(&plane, terms),
        None => plane,
    })
}

fn sum_of_gaussians(plane: &Plane, terms: &[Term]) -> Plane {
    let radius = sensitivity_radius();
    let taps: Vec<Vec<f64>> = terms.iter().map(|term| term.taps(radius)).collect();
    let sums: Vec<f64> = taps.iter().map(|taps| taps.iter().sum()).collect();
    let height = |term: &Term| term.a * (PI / term.b).sqrt();
    let total: f64 = terms.iter().zip(&sums).map(|(term, sum)| height(term) * sum * sum).sum();
    let mut result: Option<Plane> = None;
    for (term, taps) in terms.iter().zip(&taps) {
        // The weights of the rows carry the term's share of the sum.
        let rows: Vec<f32> = trimmed(taps).iter().map(|tap| (tap * height(term) / total) as f32).collect();
        let columns: Vec<f32> = trimmed(taps).iter().map(|&tap| tap as f32).collect();
        let filtered = plane.filtered(&rows, &columns);
        match &mut result {
            None => result = Some(filtered),
            Some(sum) => sum.data.iter_mut().zip(filtered.data).for_each(|(sum, value)| *sum += value),
        }
    }
    result.unwrap_or_else(|| plane.clone())
}

impl Term {
    /// `exp(−π² x² / b)` at every pixel up to `radius` from the middle.
    fn taps(&self, radius: i32) -> Vec<f64> {
        let degrees = |i: i32| f64::from(i) / f64::from(PIXELS_PER_DEGREE);
        (-radius..=radius).map(|i| (-PI * PI * degrees(i).powi(2) / self.b).exp()).collect()
    }
}

/// Three standard deviations of the widest Gaussian, in pixels.
fn sensitivity_radius() -> i32 {
    let widest = SENSITIVITY.iter().flat_map(|terms| terms.iter()).map(|term| term.b).fold(0.0, f64::max);
    (3.0 * (widest / (2.0 * PI * PI)).sqrt() * f64::from(PIXELS_PER_DEGREE)).ceil() as i32
}

/// The taps without those at both ends that weigh nothing.
fn trimmed(taps: &[f64]) -> &[f64] {
    let greatest = taps.iter().fold(0.0f64, |most, tap| most.max(tap.abs()));
    let skip = taps.iter().take_while(|tap| tap.abs() < NEGLIGIBLE * greatest).count();
    &taps[skip..taps.len() - skip]
}

/// Lengths of the first derivative (edges) and of the second (points) of a Gaussian of half the feature width,
/// filtered over luminance from 0 to 1.
pub(super) fn features_of(luminance: &Plane) -> Features {
    let [smooth, first, second] = feature_taps();
    let length = |x: Plane, y: Plane| -> Vec<f32> {
        x.data.par_iter().zip(&y.data).map(|(x, y)| (x * x + y * y).sqrt()).collect()
    };
    let edges = length(luminance.filtered(&first, &smooth), luminance.filtered(&smooth, &first));
    let points = length(luminance.filtered(&second, &smooth), luminance.filtered(&smooth, &second));
    Features { edges, points }
}

/// A Gaussian with sum 1, and its first and second derivatives, whose positive taps have sum 1 and whose negative
/// taps −1.
fn feature_taps() -> [Vec<f32>; 3] {
    let sigma = 0.5 * FEATURE_WIDTH * f64::from(PIXELS_PER_DEGREE);
    let radius = (3.0 * sigma).ceil() as i32;
    let taps = |weight: fn(f64) -> f64| -> Vec<f64> {
        let at = |i: i32| f64::from(i) / sigma;
        (-radius..=radius).map(|i| weight(at(i)) * (-0.5 * at(i).powi(2)).exp()).collect()
    };
    [balanced(&taps(|_| 1.0)), balanced(&taps(|x| -x)), balanced(&taps(|x| x * x - 1.0))]
}

fn balanced(taps: &[f64]) -> Vec<f32> {
    let positive: f64 = taps.iter().filter(|tap| **tap > 0.0).sum();
    let negative: f64 = -taps.iter().filter(|tap| **tap < 0.0).sum::<f64>();
    taps.iter().map(|&tap| (tap / if tap < 0.0 { negative } else { positive }) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: f32) -> Plane {
        Plane::from_index(40, 30, |_| value)
    }

    #[test]
    fn what_is_flat_stays_as_it_is_and_has_no_features() {
        let filtered = contrast_filtered([flat(3.0), flat(-2.0), flat(5.0)]);
        for (plane, value) in filtered.iter().zip([3.0, -2.0, 5.0]) {
            assert!(plane.data.iter().all(|v| (v - value).abs() < 1e-5));
        }
        let features = features_of(&flat(0.7));
        assert!(features.edges.iter().chain(&features.points).all(|v| *v < 1e-6));
    }

    #[test]
    fn a_step_is_an_edge_of_strength_one_and_a_line_a_point() {
        let step = Plane::from_index(60, 30, |i| if i % 60 < 30 { 0.0 } else { 1.0 });
        let edges = features_of(&step).edges;
        let strongest = edges.iter().fold(0.0f32, |a, &b| a.max(b));
        assert!((strongest - 1.0).abs() < 1e-5, "{strongest}");
        let line = Plane::from_index(60, 30, |i| if i % 60 == 30 { 1.0 } else { 0.0 });
        let features = features_of(&line);
        assert!(features.edges[15 * 60 + 30] < 1e-6 && features.points[15 * 60 + 30] > 0.1);
    }

    #[test]
    fn filters_have_the_radii_of_the_papers() {
        assert_eq!(sensitivity_radius(), 10);
        assert_eq!(feature_taps()[0].len(), 2 * 9 + 1);
    }
}
