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
}

impl NoiseFloor {
    /// How many times B's variance of noise A's is, where both sides have several images.
    pub fn variance_ratio(&self) -> Option<f64> {
        self.within_a.zip(self.within_b).filter(|(_, b)| *b > 0.0).map(|(a, b)| a / b)
    }

    pub(super) fn of(a: &[LinearImage], b: &[LinearImage]) -> Self {
        let between = if a.len() == b.len() {
            mean(a.iter().zip(b).map(|(a, b)| squared_error(a, b)))
        } else {
            mean(a.iter().flat_map(|a| b.iter().map(move |b| squared_error(a, b))))
        };
        Self { between: between.unwrap_or(0.0), within_a: within(a), within_b: within(b) }
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
