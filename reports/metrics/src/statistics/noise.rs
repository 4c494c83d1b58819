//! The noise floor: how far a renderer is from itself under another seed.

use crate::image_io::LinearImage;

/// Mean squared errors over linear radiance between two stacks of images, and between images of one stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseFloor {
    /// Between an image of A and one of B: the mean over the pairs i, i, or over all pairs where the sides
    /// have different numbers of images.
    pub between: f64,
    /// Between two images of A, the mean over all pairs; nothing for one image.
    pub within_a: Option<f64>,
    /// Between two images of B.
    pub within_b: Option<f64>,
    /// Variances of the noise of one image of either side, by the differences of neighbours.
    single: Option<(f64, f64)>,
}

impl NoiseFloor {
    /// The variance of the noise of one image of A and of one of B, on average over pixels and channels; where
    /// a side has one image an estimate that needs independent seeds. Nothing where the sides share so much
    /// noise, or differ so much, that it cannot be told.
    pub fn variances(&self) -> Option<(f64, f64)> {
        match (self.within_a, self.within_b) {
            (Some(a), Some(b)) => Some((0.5 * a, 0.5 * b)),
            _ => self.single,
        }
    }

    pub(super) fn of(a: &[LinearImage], b: &[LinearImage]) -> Self {
        let between = if a.len() == b.len() {
            mean(a.iter().zip(b).map(|(a, b)| squared_error(a, b)))
        } else {
            mean(a.iter().flat_map(|a| b.iter().map(move |b| squared_error(a, b))))
        };
        Self {
            between: between.unwrap_or(0.0),
            within_a: within(a),
            within_b: within(b),
            single: single(&a[0], &b[0]),
        }
    }

    /// The floor: the mean of what is known of `within_a` and `within_b`. Two images of different renderers
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

/// The variances of the noise of two images of independent seeds. Squared differences of neighbours hold noise
/// and texture; those of A − B the noise of both, and those of A less those of B the difference of their noise,
/// since their texture is the same.
fn single(a: &LinearImage, b: &LinearImage) -> Option<(f64, f64)> {
    let width = a.width() as usize;
    let (mut of_a, mut of_b, mut of_both) = (0.0, 0.0, 0.0);
    for i in (1..a.pixels().len()).filter(|i| i % width > 0) {
        for c in 0..3 {
            let step =
                |image: &LinearImage| f64::from(image.pixels()[i][c]) - f64::from(image.pixels()[i - 1][c]);
            let (x, y) = (step(a), step(b));
            of_a += x * x;
            of_b += y * y;
            of_both += (x - y) * (x - y);
        }
    }
    // Independent noise of neighbours has twice the variance of a pixel's.
    let count = 2.0 * 3.0 * (a.pixels().len() - a.height() as usize) as f64;
    let share = |difference: f64| (of_both + difference) / (2.0 * count);
    let (va, vb) = (share(of_a - of_b), share(of_b - of_a));
    let both = of_both / count;
    (both.is_finite() && va > 0.02 * both && vb > 0.02 * both).then_some((va, vb))
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
