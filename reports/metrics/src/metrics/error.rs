//! Which images have a difference in numbers.

use crate::image_io::LinearImage;

/// Which of the two images of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first image.
    A,
    /// The second image.
    B,
}

/// Why two images have no difference in numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum MetricError {
    /// The sizes of the images differ.
    #[error("cannot compare images of different sizes: {}×{} and {}×{}", a.0, a.1, b.0, b.1)]
    SizesDiffer {
        /// Width and height of the first image, in pixels.
        a: (u32, u32),
        /// Width and height of the second image, in pixels.
        b: (u32, u32),
    },
    /// The images have no pixels.
    #[error("cannot compare images without pixels")]
    Empty,
    /// An image has a NaN or an infinity. Such an image is broken: a mean over it would say nothing.
    #[error(
        "cannot compare: image {side:?} has {value} in channel {channel} of pixel ({x}, {y}), and {count} such pixels in all"
    )]
    NonFinite {
        /// The image with a NaN or an infinity.
        side: Side,
        /// Column of the first pixel with a NaN or an infinity, from 0 at the left.
        x: u32,
        /// Row of the first pixel with a NaN or an infinity, from 0 at the top.
        y: u32,
        /// Channel of the first NaN or infinity: 0 red, 1 green, 2 blue.
        channel: usize,
        /// The first NaN or infinity.
        value: f32,
        /// Number of the image's pixels with a NaN or an infinity.
        count: u64,
    },
}

/// Whether the images have equal sizes, pixels, and finite values only.
pub(super) fn check_comparable(a: &LinearImage, b: &LinearImage) -> Result<(), MetricError> {
    let (size_a, size_b) = ((a.width(), a.height()), (b.width(), b.height()));
    if size_a != size_b {
        return Err(MetricError::SizesDiffer { a: size_a, b: size_b });
    }
    if a.pixels().is_empty() {
        return Err(MetricError::Empty);
    }
    check_finite(a, Side::A)?;
    check_finite(b, Side::B)
}

fn check_finite(image: &LinearImage, side: Side) -> Result<(), MetricError> {
    let is_broken = |pixel: &[f32; 3]| pixel.iter().any(|v| !v.is_finite());
    let Some(first) = image.pixels().iter().position(is_broken) else {
        return Ok(());
    };
    let pixel = image.pixels()[first];
    let channel = pixel.iter().position(|v| !v.is_finite()).unwrap_or(0);
    Err(MetricError::NonFinite {
        side,
        x: (first % image.width() as usize) as u32,
        y: (first / image.width() as usize) as u32,
        channel,
        value: pixel[channel],
        count: image.pixels().iter().filter(|p| is_broken(p)).count() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(width: u32, height: u32) -> LinearImage {
        LinearImage::from_fn(width, height, |_, _| [0.0; 3])
    }

    #[test]
    fn sizes_that_differ_are_an_error() {
        let error = check_comparable(&flat(4, 4), &flat(4, 5)).unwrap_err();
        assert_eq!(error, MetricError::SizesDiffer { a: (4, 4), b: (4, 5) });
        assert_eq!(check_comparable(&flat(0, 3), &flat(0, 3)).unwrap_err(), MetricError::Empty);
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let broken = LinearImage::from_fn(4, 3, |x, y| match (x, y) {
            (3, 1) => [0.0, f32::INFINITY, f32::NAN],
            (0, 2) => [f32::NAN; 3],
            _ => [0.0; 3],
        });
        let error = check_comparable(&flat(4, 3), &broken).unwrap_err();
        assert_eq!(
            error,
            MetricError::NonFinite { side: Side::B, x: 3, y: 1, channel: 1, value: f32::INFINITY, count: 2 }
        );
        assert!(error.to_string().contains("(3, 1)"));
    }
}
