//! Pictures of where two images differ.

use crate::image_io::{LinearImage, srgb};
use crate::metrics::FlipMap;

/// Colours of FLIP from 0 to 1 as 8-bit sRGB, straight lines between: nine points of the colour map "magma"
/// (Smith and van der Walt 2015, CC0), in which lightness rises evenly.
pub const MAGMA: [[u8; 3]; 9] = [
    [0, 0, 4],
    [28, 16, 68],
    [79, 18, 123],
    [129, 37, 129],
    [181, 54, 122],
    [229, 80, 100],
    [251, 135, 97],
    [254, 194, 135],
    [252, 253, 191],
];

/// A FLIP map in colour: black where no difference is seen, bright where it is greatest.
pub fn flip_picture(map: &FlipMap) -> LinearImage {
    LinearImage::from_fn(map.width, map.height, |x, y| {
        let value = map.values[y as usize * map.width as usize + x as usize];
        magma(value).map(srgb::decode8)
    })
}

fn magma(value: f32) -> [u8; 3] {
    let place = value.clamp(0.0, 1.0) * (MAGMA.len() - 1) as f32;
    let low = (place as usize).min(MAGMA.len() - 2);
    let share = place - low as f32;
    std::array::from_fn(|c| {
        let (from, to) = (f32::from(MAGMA[low][c]), f32::from(MAGMA[low + 1][c]));
        (from + share * (to - from)).round() as u8
    })
}

/// The brightness of a median difference in its picture, in linear light: middle grey.
const MIDDLE_GREY: f64 = 0.18;

/// The absolute difference of linear values, multiplied by the power of two that brings the median of the values that
/// differ nearest below middle grey, and that factor; black, and 1, for equal images. A few large differences do not turn
/// the rest black, as they would by the mean. The images have one size.
pub fn difference_picture(a: &LinearImage, b: &LinearImage) -> (LinearImage, f64) {
    let difference =
        |i: usize| -> [f32; 3] { std::array::from_fn(|c| (a.pixels()[i][c] - b.pixels()[i][c]).abs()) };
    let count = a.pixels().len().min(b.pixels().len());
    let mut differing: Vec<f32> =
        (0..count).flat_map(difference).filter(|v| *v > 0.0 && v.is_finite()).collect();
    let middle = differing.len() / 2;
    let gain = match differing.is_empty() {
        true => 1.0,
        false => {
            let median = *differing.select_nth_unstable_by(middle, f32::total_cmp).1;
            (MIDDLE_GREY / f64::from(median)).log2().floor().exp2()
        }
    };
    let picture = LinearImage::from_fn(a.width(), a.height(), |x, y| {
        difference(y as usize * a.width() as usize + x as usize).map(|v| v * gain as f32)
    });
    (picture, gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: f32) -> LinearImage {
        LinearImage::from_fn(16, 12, |_, _| [value; 3])
    }

    #[test]
    fn the_colours_of_flip_run_from_black_to_pale_yellow_through_every_point() {
        assert_eq!((magma(0.0), magma(1.0), magma(2.0)), (MAGMA[0], MAGMA[8], MAGMA[8]));
        assert_eq!(magma(0.5), MAGMA[4]);
        let lightness = |i: i32| magma(i as f32 / 100.0).iter().map(|&c| u32::from(c)).sum::<u32>();
        assert!((1..=100).all(|i| lightness(i) >= lightness(i - 1)));
    }

    #[test]
    fn a_difference_is_exposed_by_a_power_of_two_and_none_is_black() {
        let (picture, gain) = difference_picture(&flat(0.5), &flat(0.501));
        assert_eq!(gain, 128.0);
        assert!((f64::from(picture.pixels()[0][0]) - 0.128).abs() < 1e-4);
        assert_eq!(difference_picture(&flat(0.5), &flat(0.5)), (flat(0.0), 1.0));
    }

    #[test]
    fn an_outlier_does_not_set_the_exposure_of_the_rest() {
        let with_outlier =
            LinearImage::from_fn(16, 12, |x, y| [if (x, y) == (3, 4) { 900.0 } else { 0.501 }; 3]);
        assert_eq!(difference_picture(&flat(0.5), &with_outlier).1, 128.0);
    }
}
