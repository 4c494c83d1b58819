//! The noise floor: how far a renderer is from itself under another seed.

use crate::image_io::LinearImage;
use crate::metrics::Side;

/// Mean squared errors over linear radiance between two stacks of images, and between images of one stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseFloor {
    /// Mean squared error between an image of A and one of B: the mean over the pairs i, i, or over all pairs where the
    /// sides have different numbers of images.
    pub between: f64,
    /// Mean squared error between two images of A, the mean over all pairs; nothing for one image.
    pub within_a: Option<f64>,
    /// Mean squared error between two images of B, the mean over all pairs; nothing for one image.
    pub within_b: Option<f64>,
    /// Variances of the noise of one image of A and of B beyond the rounding of their files.
    variances: (f64, f64),
    /// How far each may be off.
    uncertainties: (f64, f64),
}

/// How the noise of the sides compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noisier {
    /// The variances differ by less than a tenth.
    Alike,
    /// The noisier side, and the ratio of its variance to the other side's.
    By(Side, f64),
    /// The noisier side, and a lower bound of the ratio of its variance to the other side's, which is too low to be
    /// measured.
    ByMoreThan(Side, f64),
}

/// The greatest ratio of variances that is told.
const MOST: f64 = 50.0;
/// The ratio of variances from which on they differ.
const DIFFERENT: f64 = 1.1;
/// How many times its uncertainty a variance is that is known.
const KNOWN: f64 = 4.0;

impl NoiseFloor {
    /// The variance of the noise of one image of A and of one of B, on average over pixels and channels; where
    /// a side has one image an estimate that needs independent seeds. Nothing where the sides share so much
    /// noise, or differ so much, that it cannot be told, or where one has too little noise.
    pub fn variances(&self) -> Option<(f64, f64)> {
        let ((a, b), (of_a, of_b)) = (self.variances, self.uncertainties);
        (a > KNOWN * of_a && b > KNOWN * of_b && a.max(b) < MOST * a.min(b)).then_some((a, b))
    }

    /// Which side is noisier, by the variances of one image of each; nothing where that cannot be told.
    pub fn noisier(&self) -> Option<Noisier> {
        let ((a, b), (of_a, of_b)) = (self.variances, self.uncertainties);
        let (more, less, side) =
            if a >= b { ((a, of_a), (b, of_b), Side::A) } else { ((b, of_b), (a, of_a), Side::B) };
        if self.variances().is_some() {
            let times = more.0 / less.0;
            return Some(if times < DIFFERENT { Noisier::Alike } else { Noisier::By(side, times) });
        }
        let is_known = more.0 > KNOWN * more.1 && less.0 > -KNOWN * less.1;
        let times = (more.0 / (less.0.max(0.0) + 0.5 * KNOWN * less.1)).min(MOST).floor();
        (is_known && times >= 2.0).then_some(Noisier::ByMoreThan(side, times))
    }

    pub(super) fn of(a: &[LinearImage], b: &[LinearImage]) -> Self {
        let between = if a.len() == b.len() {
            mean(a.iter().zip(b).map(|(a, b)| squared_error(a, b)))
        } else {
            mean(a.iter().flat_map(|a| b.iter().map(move |b| squared_error(a, b))))
        };
        let (within_a, within_b) = (within(a), within(b));
        let single = Single::of(&a[0], &b[0]);
        let rounding = (rounding(&a[0]), rounding(&b[0]));
        let known = |within: f64| (0.5 * within, single.of_both - 0.5 * within);
        let ((of_a, of_b), errors) = match (within_a, within_b) {
            (Some(a), Some(b)) => ((0.5 * a, 0.5 * b), (0.0, 0.0)),
            (Some(a), None) => (known(a), (0.0, single.error_of_both)),
            (None, Some(b)) => {
                let (of_b, of_a) = known(b);
                ((of_a, of_b), (single.error_of_both, 0.0))
            }
            (None, None) => {
                let half = 0.5 * single.of_a_less_b;
                let both = 0.5 * single.of_both;
                let error = 0.5 * (single.error_of_both + single.error_of_a_less_b);
                ((both + half, both - half), (error, error))
            }
        };
        Self {
            between: between.unwrap_or(0.0),
            within_a,
            within_b,
            variances: (of_a - rounding.0, of_b - rounding.1),
            uncertainties: (errors.0 + 0.5 * rounding.0, errors.1 + 0.5 * rounding.1),
        }
    }

    /// The noise floor: the mean of those known of `within_a` and `within_b`. Two images of different renderers
    /// without bias and with independent seeds are as far apart as this.
    pub fn floor(&self) -> Option<f64> {
        mean(self.within_a.into_iter().chain(self.within_b))
    }

    /// `between` over the floor: near 1 for independent seeds without bias, below 1 for shared seeds, above 1
    /// for bias.
    pub fn ratio(&self) -> Option<f64> {
        self.floor().filter(|floor| *floor > 0.0).map(|floor| self.between / floor)
    }
}

/// Variances of the noise of two images of independent seeds, with their standard errors. Squared differences of
/// neighbours hold noise and texture; those of A − B the noise of both, and those of A less those of B the difference
/// of their noise, since their texture is the same.
struct Single {
    of_both: f64,
    error_of_both: f64,
    of_a_less_b: f64,
    error_of_a_less_b: f64,
}

impl Single {
    fn of(a: &LinearImage, b: &LinearImage) -> Self {
        let width = a.width() as usize;
        let (mut both, mut less) = (Moments::default(), Moments::default());
        for i in (1..a.pixels().len()).filter(|i| i % width > 0) {
            for c in 0..3 {
                let step = |image: &LinearImage| {
                    f64::from(image.pixels()[i][c]) - f64::from(image.pixels()[i - 1][c])
                };
                let (x, y) = (step(a), step(b));
                // Independent noise of neighbours has twice the variance of a pixel's.
                both.add(0.5 * (x - y) * (x - y));
                less.add(0.5 * (x * x - y * y));
            }
        }
        let ((of_both, error_of_both), (of_a_less_b, error_of_a_less_b)) = (both.mean(), less.mean());
        Self { of_both, error_of_both, of_a_less_b, error_of_a_less_b }
    }
}

/// The first two moments of some values.
#[derive(Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// The mean and its standard error; steps share pixels with their neighbours.
    fn mean(&self) -> (f64, f64) {
        let n = self.count.max(1.0);
        let mean = self.sum / n;
        let variance = (self.squares / n - mean * mean).max(0.0);
        (mean, (2.0 * variance / n).sqrt())
    }
}

/// The mean variance that rounding to a file's precision adds.
fn rounding(image: &LinearImage) -> f64 {
    let of =
        |pixel: &[f32; 3]| (0..3).map(|c| image.precision().rounding(*pixel, c).powi(2) / 3.0).sum::<f64>();
    mean(image.pixels().iter().map(|pixel| of(pixel) / 3.0)).unwrap_or(0.0)
}

fn within(images: &[LinearImage]) -> Option<f64> {
    let later = |i: usize| images[i + 1..].iter();
    mean(images.iter().enumerate().flat_map(|(i, a)| later(i).map(move |b| squared_error(a, b))))
}

fn squared_error(a: &LinearImage, b: &LinearImage) -> f64 {
    let values = a.pixels().iter().flatten().zip(b.pixels().iter().flatten());
    mean(values.map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2))).unwrap_or(0.0)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u64), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::super::random_numbers::Noise;
    use super::*;
    use crate::image_io::{Precision, srgb};

    fn noisier(sigma: [f64; 2], seeds: usize) -> Option<Noisier> {
        let mut noise = Noise(40);
        let mut side = |sigma: f64, seeds: usize| -> Vec<LinearImage> {
            let pixel = |noise: &mut Noise| [0; 3].map(|_: i32| (0.5 + sigma * noise.normal()) as f32);
            (0..seeds).map(|_| LinearImage::from_fn(48, 48, |_, _| pixel(&mut noise))).collect()
        };
        let (a, b) = (side(sigma[0], seeds), side(sigma[1], 1));
        NoiseFloor::of(&a, &b).noisier()
    }

    #[test]
    fn the_noisier_side_is_told_with_its_ratio_or_a_bound_of_it() {
        assert!(
            matches!(noisier([0.1, 0.05], 1), Some(Noisier::By(Side::A, times)) if (3.4..4.6).contains(&times))
        );
        for seeds in [1, 4] {
            let far = noisier([0.1, 0.0001], seeds);
            assert!(matches!(far, Some(Noisier::ByMoreThan(Side::A, times)) if times >= 10.0), "{far:?}");
        }
        assert!(
            matches!(noisier([0.02, 0.1], 4), Some(Noisier::By(Side::B, times)) if (22.0..28.0).contains(&times))
        );
    }

    #[test]
    fn rounding_is_no_noise() {
        let exact = LinearImage::from_fn(48, 48, |x, y| [0.2 + 0.01 * x as f32 + 0.003 * y as f32; 3]);
        let coded = LinearImage::from_fn(48, 48, |x, y| {
            exact.pixels()[(y * 48 + x) as usize].map(|v| srgb::decode8(srgb::encode8(v)))
        });
        let (exact, coded) = ([exact], [coded.with_precision(Precision::Code8)]);
        assert_eq!(NoiseFloor::of(&exact, &coded).noisier(), None);
    }
}
