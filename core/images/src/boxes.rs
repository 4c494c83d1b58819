//! Images reduced by means over boxes of pixels, which are smaller at the right and lower border.

use crate::{LinearImage, srgb};
use half::f16;
use std::ops::Range;

/// The columns and rows of all boxes of `factor × factor` pixels, row by row.
fn boxes(width: usize, height: usize, factor: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let span = move |first: usize, end: usize| first..(first + factor).min(end);
    (0..height).step_by(factor).flat_map(move |top| {
        (0..width).step_by(factor).map(move |left| (span(left, width), span(top, height)))
    })
}

/// Reduces 8-bit sRGB, three codes to a pixel, by a factor of at least 1: codes of the mean linear radiance of every box.
pub fn reduce_rgb8(codes: &[u8], (width, height): (u32, u32), factor: u32) -> Vec<u8> {
    if factor == 1 {
        return codes.to_vec();
    }
    let (width, height) = (width as usize, height as usize);
    let mut reduced = Vec::with_capacity(codes.len() / (factor * factor) as usize + 3);
    for (columns, rows) in boxes(width, height, factor as usize) {
        let count = (columns.len() * rows.len()) as f32;
        for channel in 0..3 {
            let pixels =
                rows.clone().flat_map(|y| columns.clone().map(move |x| (y * width + x) * 3 + channel));
            let sum: f32 = pixels.map(|at| srgb::decode8(codes[at])).sum();
            reduced.push(srgb::encode8(sum / count));
        }
    }
    reduced
}

/// Reduces an image by a factor of at least 1 to the means of boxes, as 16-bit floats (IEEE 754 binary16: 11 significant bits,
/// up to 65504): all high bytes and all low bytes, three of each to a pixel.
pub fn half_bytes(image: &LinearImage, factor: u32) -> [Vec<u8>; 2] {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let mut bytes = [Vec::new(), Vec::new()];
    for (columns, rows) in boxes(width, height, factor as usize) {
        let count = (columns.len() * rows.len()) as f32;
        let mut sum = [0.0; 3];
        for (y, x) in rows.flat_map(|y| columns.clone().map(move |x| (y, x))) {
            sum.iter_mut().zip(image.pixels()[y * width + x]).for_each(|(sum, value)| *sum += value);
        }
        for value in sum {
            let [high, low] = f16::from_f32(value / count).to_be_bytes();
            bytes[0].push(high);
            bytes[1].push(low);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_averages_light_and_not_codes() {
        let reduced = reduce_rgb8(&[0, 0, 0, 255, 255, 255], (2, 1), 2);
        assert_eq!(reduced, [188; 3], "half the light of white is code 188");
        assert_eq!(reduce_rgb8(&[9; 3 * 5 * 3], (5, 3), 2), [9; 3 * 3 * 2]);
        assert_eq!(reduce_rgb8(&[1, 2, 3], (1, 1), 1), [1, 2, 3]);
    }

    #[test]
    fn bytes_of_a_value_make_its_half_and_boxes_are_averaged() {
        let image =
            LinearImage::from_fn(3, 1, |x, _| [[1.0, 0.1, 70_000.0], [3.0, 0.1, 0.0], [5.0; 3]][x as usize]);
        let value = |factor, at: usize| {
            let [high, low] = half_bytes(&image, factor);
            f16::from_be_bytes([high[at], low[at]]).to_f32()
        };
        assert_eq!((value(1, 0), value(1, 3), value(1, 2)), (1.0, 3.0, f32::INFINITY));
        assert!((value(1, 1) - 0.1).abs() < 1e-4);
        assert_eq!((value(2, 0), value(2, 3)), (2.0, 5.0), "the last box is one pixel wide");
    }
}
