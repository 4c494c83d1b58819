//! The reconstruction filter that makes one side the other.

use super::transform;
use crate::image_io::LinearImage;
use crate::metrics::Side;
use rayon::prelude::*;

/// Standard deviations in pixels of the Gaussians that are tried.
const DEVIATIONS: [f64; 11] = [0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.25, 1.6, 2.0];
/// Standard deviations to which a Gaussian is cut off.
const REACH: f64 = 3.0;
/// The greatest side that is filtered; of larger images the middle is.
const MOST: u32 = 1024;

/// A filter that one side went through and the other did not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Filter {
    /// The side that went through it.
    pub(super) side: Side,
    /// Standard deviation of the Gaussian like it, in pixels.
    pub(super) deviation: f64,
    /// The share of the error that is left when the other side goes through it too.
    pub(super) left: f64,
}

/// The filter that leaves the least error, of two images of one size; nothing where every one adds to it. A filter
/// takes noise away from either side alike, so the side is right where the noise of both is.
pub(super) fn best(a: &LinearImage, b: &LinearImage) -> Option<Filter> {
    let (a, b) = (middle(a), middle(b));
    let tried: Vec<Filter> = DEVIATIONS
        .par_iter()
        .flat_map_iter(|&deviation| {
            // No file tells the pixels beyond the edge.
            let edge = (reach(deviation) as u32).min(a.width().min(a.height()) / 4);
            let inner = |image: &LinearImage| {
                image.cut((edge, edge), (image.width() - 2 * edge, image.height() - 2 * edge))
            };
            let (inner_a, inner_b) = (inner(&a), inner(&b));
            let same = transform::error(&inner_a, &inner_b);
            [(Side::B, &a, inner_b), (Side::A, &b, inner_a)].map(|(side, sharp, soft)| Filter {
                side,
                deviation,
                left: transform::error(&inner(&filtered(sharp, deviation)), &soft) / same,
            })
        })
        .collect();
    tried.into_iter().min_by(|f, g| f.left.total_cmp(&g.left)).filter(|filter| filter.left < 1.0)
}

/// Pixels from its middle up to which a Gaussian counts.
fn reach(deviation: f64) -> i64 {
    (REACH * deviation).ceil() as i64
}

fn middle(image: &LinearImage) -> LinearImage {
    let (width, height) = (image.width().min(MOST), image.height().min(MOST));
    image.cut(((image.width() - width) / 2, (image.height() - height) / 2), (width, height))
}

/// An image through a Gaussian, along rows and then along columns.
fn filtered(image: &LinearImage, deviation: f64) -> LinearImage {
    let reach = reach(deviation);
    let taps: Vec<(i64, f64)> =
        (-reach..=reach).map(|d| (d, (-0.5 * (d as f64 / deviation).powi(2)).exp())).collect();
    let along = |image: &LinearImage, dx: i64, dy: i64| {
        let (width, height) = (i64::from(image.width()), i64::from(image.height()));
        LinearImage::from_fn(image.width(), image.height(), |x, y| {
            let (mut sum, mut weights) = ([0.0; 3], 0.0);
            for (d, weight) in &taps {
                let (x, y) = (i64::from(x) + d * dx, i64::from(y) + d * dy);
                if (0..width).contains(&x) && (0..height).contains(&y) {
                    let pixel = image.pixels()[(y * width + x) as usize];
                    sum.iter_mut().zip(pixel).for_each(|(sum, v)| *sum += weight * f64::from(v));
                    weights += weight;
                }
            }
            sum.map(|v| (v / weights) as f32)
        })
    };
    along(&along(image, 1, 0), 0, 1)
}

#[cfg(test)]
mod tests {
    use super::super::super::random_numbers::Noise;
    use super::*;

    #[test]
    fn the_side_that_went_through_the_filter_is_told_whatever_the_scale_of_the_texture() {
        let mut noise = Noise(21);
        let rough = LinearImage::from_fn(64, 64, |_, _| [(0.2 + 0.6 * noise.uniform()) as f32; 3]);
        let checker =
            LinearImage::from_fn(64, 64, |x, y| [if (x / 2 + y / 2) % 2 == 0 { 0.2 } else { 0.8 }; 3]);
        let mut noisy = |image: &LinearImage| {
            LinearImage::from_fn(64, 64, |x, y| {
                image.pixels()[(y * 64 + x) as usize].map(|v| v * (1.0 + 0.02 * noise.normal() as f32))
            })
        };
        for texture in [rough, checker] {
            let (sharp, soft) = (noisy(&texture), noisy(&filtered(&texture, 0.5)));
            for (a, b, side) in [(&sharp, &soft, Side::B), (&soft, &sharp, Side::A)] {
                let found = best(a, b).unwrap();
                assert_eq!((found.side, found.deviation), (side, 0.5), "{found:?}");
                assert!(found.left < 0.2, "{found:?}");
            }
        }
    }
}
