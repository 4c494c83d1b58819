//! Which of two estimators is the more efficient, tile by tile.
//!
//! The efficiency of an estimator is one over its variance times its time (Pharr, Jakob and Humphreys 2023, section
//! 2.1.3). Here the mean squared error against a reference stands for the variance, so a biased estimator loses by its
//! bias too, and the reference's own error is part of both and brings their ratio nearer to that of their times.

use crate::image_io::{LinearImage, srgb};
use crate::tiles::squared_errors;

/// Side of a tile in pixels: 768 values of an estimator's error.
pub const TILE: u32 = 16;

/// Ratio of efficiencies from which on a tile has its full colour, 32 or 1/32: five doublings.
pub const FULL_COLOUR: f64 = 32.0;

/// The colours of a tile where A wins by [`FULL_COLOUR`], where both are equal, and where B does, as 8-bit sRGB: the
/// ends and the middle of ColorBrewer's "RdBu" (Harrower and Brewer 2003).
pub const ENDS: [[u8; 3]; 3] = [[178, 24, 43], [247, 247, 247], [33, 102, 172]];

/// Efficiency of B over that of A in every tile of an image, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct TileEfficiency {
    width: u32,
    height: u32,
    /// The ratios: above 1 where B wins; infinite where B alone has no error.
    pub ratios: Vec<f64>,
    /// Mean squared errors of A and of B over the linear values of the whole image.
    pub mse: [f64; 2],
}

impl TileEfficiency {
    /// Compares two images, which took these times, with a reference. All have one size; times are positive, in any
    /// unit.
    pub fn new(
        (a, a_time): (&LinearImage, f64),
        (b, b_time): (&LinearImage, f64),
        reference: &LinearImage,
    ) -> Self {
        let (width, height) = (reference.width(), reference.height());
        let [of_a, of_b] = [a, b].map(|image| squared_errors(image, reference, TILE));
        let errors: Vec<[f64; 2]> = of_a.into_iter().zip(of_b).map(|(a, b)| [a, b]).collect();
        let ratio = |&[a, b]: &[f64; 2]| match (a * a_time, b * b_time) {
            (0.0, 0.0) => 1.0,
            (a, b) => a / b,
        };
        let values = (3 * reference.pixels().len()).max(1) as f64;
        let mse = [0, 1].map(|side| errors.iter().map(|both| both[side]).sum::<f64>() / values);
        Self { width, height, ratios: errors.iter().map(ratio).collect(), mse }
    }

    /// Tiles in which B is the more efficient.
    pub fn won_by_b(&self) -> usize {
        self.ratios.iter().filter(|&&ratio| ratio > 1.0).count()
    }

    /// The ratio that a share of the tiles, 0 to 1, is not above.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.ratios.clone();
        sorted.sort_by(f64::total_cmp);
        let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
        sorted.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The tiles in colour: red where A is the more efficient, white where neither, blue where B is; full colour from
    /// [`FULL_COLOUR`] on.
    pub fn picture(&self) -> LinearImage {
        let columns = self.width.div_ceil(TILE) as usize;
        LinearImage::from_fn(self.width, self.height, |x, y| {
            let ratio = self.ratios[(y / TILE) as usize * columns + (x / TILE) as usize];
            colour(ratio).map(srgb::decode8)
        })
    }
}

fn colour(ratio: f64) -> [u8; 3] {
    let place = (ratio.log2() / FULL_COLOUR.log2()).clamp(-1.0, 1.0);
    let end = if place < 0.0 { ENDS[0] } else { ENDS[2] };
    std::array::from_fn(|c| {
        let (middle, end) = (f64::from(ENDS[1][c]), f64::from(end[c]));
        (middle + place.abs() * (end - middle)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of two and a half tiles in a row, each of one value.
    fn tiles(values: [f32; 3]) -> LinearImage {
        LinearImage::from_fn(40, 8, |x, _| [values[(x / TILE) as usize]; 3])
    }

    #[test]
    fn a_tile_is_won_by_the_lesser_squared_error_times_time() {
        let reference = tiles([1.0, 1.0, 1.0]);
        let (a, b) = (tiles([1.4, 1.2, 1.0]), tiles([1.2, 1.4, 1.0]));
        let equal_time = TileEfficiency::new((&a, 2.0), (&b, 2.0), &reference);
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-5;
        assert!(near(equal_time.ratios[0], 4.0) && near(equal_time.ratios[1], 0.25), "{equal_time:?}");
        assert_eq!((equal_time.ratios[2], equal_time.won_by_b()), (1.0, 1));
        // Two tiles of 16 columns and one of 8, in 40.
        let mse = [0.16 * 0.4 + 0.04 * 0.4, 0.04 * 0.4 + 0.16 * 0.4];
        assert!((0..2).all(|side| near(equal_time.mse[side], mse[side])), "{:?}", equal_time.mse);
        let slow_b = TileEfficiency::new((&a, 1.0), (&b, 8.0), &reference);
        assert!(near(slow_b.ratios[0], 0.5) && slow_b.won_by_b() == 0);
        let exact_b = TileEfficiency::new((&a, 1.0), (&reference, 1.0), &reference);
        assert_eq!(exact_b.quantile(1.0), f64::INFINITY);
        assert_eq!(equal_time.quantile(0.5), 1.0);
    }

    #[test]
    fn the_picture_is_red_where_a_wins_blue_where_b_does_and_white_where_neither() {
        let reference = tiles([1.0, 1.0, 1.0]);
        let (a, b) = (tiles([1.1, 2.0, 1.5]), tiles([2.0, 1.1, 1.5]));
        let picture = TileEfficiency::new((&a, 1.0), (&b, 1.0), &reference).picture();
        let at = |x: usize| picture.pixels()[x].map(srgb::encode8);
        assert_eq!([at(0), at(20), at(39)], [ENDS[0], ENDS[2], ENDS[1]]);
    }
}
