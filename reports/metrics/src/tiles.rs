//! Errors by square tiles of an image, smaller at the right and lower border.

use crate::image_io::LinearImage;

/// The sums of squared differences of the values of all tiles of `side × side` pixels, row by row. Both images have one size.
pub(crate) fn squared_errors(image: &LinearImage, reference: &LinearImage, side: u32) -> Vec<f64> {
    let (width, height) = (reference.width(), reference.height());
    let tiles = (0..height.div_ceil(side)).flat_map(|y| (0..width.div_ceil(side)).map(move |x| (x, y)));
    let of_tile = |(x, y): (u32, u32)| -> f64 {
        let columns = x * side..((x + 1) * side).min(width);
        let rows = y * side..((y + 1) * side).min(height);
        let pixels = rows.flat_map(|row| columns.clone().map(move |column| (row * width + column) as usize));
        pixels.map(|pixel| squared_difference(image.pixels()[pixel], reference.pixels()[pixel])).sum()
    };
    tiles.map(of_tile).collect()
}

fn squared_difference(a: [f32; 3], b: [f32; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_at_the_border_are_smaller_and_come_row_by_row() {
        let black = LinearImage::from_fn(3, 3, |_, _| [0.0; 3]);
        let image = LinearImage::from_fn(3, 3, |x, y| [(x + 10 * y) as f32, 0.0, 0.0]);
        assert_eq!(squared_errors(&image, &black, 2), [222.0, 148.0, 841.0, 484.0]);
    }
}
