//! Filters of FLIP: the eye's contrast sensitivity, and detectors of edges and points. All are sums of
//! separable ones.

use super::PIXELS_PER_DEGREE;
use std::f64::consts::PI;

/// A Gaussian in the spatial form of Andersson et al.: `a √(π / b) exp(−π² x² / b)`, x in degrees.
struct Term {
    a: f64,
    b: f64,
}

/// Contrast sensitivity to luminance, red-green and blue-yellow: the sum of two Gaussians each, after Mullen
/// (1985), fitted by Johnson and Fairchild (2003). The second term of the first two is 0.
const SENSITIVITY: [&[Term]; 3] = [
    &[Term { a: 1.0, b: 0.0047 }],
    &[Term { a: 1.0, b: 0.0053 }],
    &[Term { a: 34.1, b: 0.04 }, Term { a: 13.5, b: 0.025 }],
];

/// Width in degrees of the features that are detected.
const FEATURE_WIDTH: f64 = 0.082;

/// Taps below this share of the middle one change nothing in f32.
const NEGLIGIBLE: f64 = 1e-9;

/// A filter that is one vector of taps along rows and one along columns; numbers of taps are odd.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Separable {
    pub(super) across: Vec<f32>,
    pub(super) down: Vec<f32>,
}

/// Every filter of FLIP.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filters {
    /// Contrast sensitivity filters of Y, C_x and C_z: each the sum of these, with sum 1 in all.
    pub(super) contrast: [Vec<Separable>; 3],
    /// First derivatives of a Gaussian of half the feature width along rows and along columns.
    pub(super) edges: [Separable; 2],
    /// The second derivatives.
    pub(super) points: [Separable; 2],
}

impl Filters {
    /// The filters at [`PIXELS_PER_DEGREE`].
    pub(super) fn new() -> Self {
        let [smooth, first, second] = feature_taps();
        let both = |taps: &[f32]| {
            let separable =
                |across: &[f32], down: &[f32]| Separable { across: across.to_vec(), down: down.to_vec() };
            [separable(taps, &smooth), separable(&smooth, taps)]
        };
        Self { contrast: SENSITIVITY.map(sum_of_gaussians), edges: both(&first), points: both(&second) }
    }

    /// Pixels that the widest filter reaches to each side.
    pub(super) fn radius(&self) -> usize {
        let all = self.contrast.iter().flatten().chain(&self.edges).chain(&self.points);
        all.map(|filter| filter.across.len().max(filter.down.len()) / 2).max().unwrap_or(0)
    }
}

fn sum_of_gaussians(terms: &[Term]) -> Vec<Separable> {
    let radius = sensitivity_radius();
    let taps: Vec<Vec<f64>> = terms.iter().map(|term| term.taps(radius)).collect();
    let sums: Vec<f64> = taps.iter().map(|taps| taps.iter().sum()).collect();
    let height = |term: &Term| term.a * (PI / term.b).sqrt();
    let total: f64 = terms.iter().zip(&sums).map(|(term, sum)| height(term) * sum * sum).sum();
    let filter = |(term, taps): (&Term, &Vec<f64>)| Separable {
        // The weights of the rows carry the term's share of the sum.
        across: trimmed(taps).iter().map(|tap| (tap * height(term) / total) as f32).collect(),
        down: trimmed(taps).iter().map(|&tap| tap as f32).collect(),
    };
    terms.iter().zip(&taps).map(filter).collect()
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

/// A Gaussian with sum 1, and its first and second derivatives, whose positive taps have sum 1 and whose
/// negative taps −1.
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

    #[test]
    fn contrast_filters_have_sum_one() {
        for terms in Filters::new().contrast {
            let sum = |taps: &[f32]| taps.iter().map(|&tap| f64::from(tap)).sum::<f64>();
            let total: f64 = terms.iter().map(|filter| sum(&filter.across) * sum(&filter.down)).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
        }
    }

    #[test]
    fn filters_have_the_radii_of_the_papers() {
        assert_eq!(sensitivity_radius(), 10);
        assert_eq!(feature_taps()[0].len(), 2 * 9 + 1);
        assert_eq!(Filters::new().radius(), 10);
    }
}
