//! Metrics of layers that hold no colour.

use crate::image_io::LinearImage;

/// Mean angle between the directions of two images, in degrees: 0 where both are 0, 90 where one is.
pub fn mean_angle(a: &LinearImage, b: &LinearImage) -> f64 {
    mean(a, b, angle)
}

/// Mean of `|a − b| / max(|a|, |b|)` over the first channels of two images, from 0 to 2; 0 where both are equal.
pub fn mean_relative_error(a: &LinearImage, b: &LinearImage) -> f64 {
    mean(a, b, |a, b| relative(a[0], b[0]))
}

fn mean(a: &LinearImage, b: &LinearImage, of: impl Fn(&[f32; 3], &[f32; 3]) -> f64) -> f64 {
    let sum: f64 = a.pixels().iter().zip(b.pixels()).map(|(a, b)| of(a, b)).sum();
    sum / a.pixels().len().max(1) as f64
}

fn angle(a: &[f32; 3], b: &[f32; 3]) -> f64 {
    let dot = |a: &[f32; 3], b: &[f32; 3]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
    let lengths = dot(a, a) * dot(b, b);
    if a == b {
        0.0
    } else if lengths > 0.0 {
        (dot(a, b) / lengths.sqrt()).clamp(-1.0, 1.0).acos().to_degrees()
    } else {
        90.0
    }
}

fn relative(a: f32, b: f32) -> f64 {
    let (a, b) = (f64::from(a), f64::from(b));
    if a == b { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_compared_by_angle_and_numbers_relatively() {
        assert!((angle(&[1.0, 0.0, 0.0], &[0.0, 2.0, 0.0]) - 90.0).abs() < 1e-9);
        assert!((angle(&[1.0, 1.0, 0.0], &[1.0, 0.0, 0.0]) - 45.0).abs() < 1e-9);
        assert_eq!((angle(&[0.0; 3], &[0.0; 3]), angle(&[0.0; 3], &[1.0, 0.0, 0.0])), (0.0, 90.0));
        assert_eq!((relative(0.0, 0.0), relative(2.0, 1.0), relative(0.0, 1e9)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn means_are_over_all_pixels() {
        let image =
            |second: f32| LinearImage::from_fn(2, 1, |x, _| if x == 0 { [1.0; 3] } else { [second; 3] });
        assert_eq!(mean_relative_error(&image(2.0), &image(1.0)), 0.25);
        assert!((mean_angle(&image(2.0), &image(-1.0)) - 90.0).abs() < 1e-9);
    }
}
