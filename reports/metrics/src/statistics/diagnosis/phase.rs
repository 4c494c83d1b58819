//! Phase correlation (Kuglin and Hines 1975), with a radix-2 Fourier transform (Cooley and Tukey 1965).

use crate::image_io::LinearImage;
use std::f64::consts::{PI, TAU};

/// The greatest side that is transformed; of larger images the middle is.
const MOST: usize = 1024;

/// The shift by which B lies to the right of and below A, by the peak of the phase correlation; nothing for
/// images of other sizes or of fewer than eight pixels a side.
pub(super) fn phase_shift(a: &LinearImage, b: &LinearImage) -> Option<(i32, i32)> {
    let power_below = |v: u32| (1usize << v.max(1).ilog2()).min(MOST);
    let (width, height) = (power_below(a.width()), power_below(a.height()));
    if (a.width(), a.height()) != (b.width(), b.height()) || width < 8 || height < 8 {
        return None;
    }
    let (mut one, mut two) = (windowed(a, width, height), windowed(b, width, height));
    transform(&mut one, width, height);
    transform(&mut two, width, height);
    let mut phase: Vec<Complex> =
        one.iter().zip(&two).map(|(a, b)| unit(product(*a, conjugate(*b)))).collect();
    // Of the conjugate: the inverse of a real correlation up to its sign of direction.
    transform(&mut phase, width, height);
    let (peak, _) = phase.iter().enumerate().max_by(|p, q| p.1.0.total_cmp(&q.1.0))?;
    let signed = |v: usize, n: usize| if v > n / 2 { v as i32 - n as i32 } else { v as i32 };
    Some((signed(peak % width, width), signed(peak / width, height)))
}

/// Real and imaginary part.
type Complex = (f64, f64);

fn product(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn conjugate(a: Complex) -> Complex {
    (a.0, -a.1)
}

fn unit(a: Complex) -> Complex {
    let length = a.0.hypot(a.1);
    if length > 0.0 { (a.0 / length, a.1 / length) } else { (0.0, 0.0) }
}

/// The sum of channels of the middle of an image, less its mean, under a Hann window.
fn windowed(image: &LinearImage, width: usize, height: usize) -> Vec<Complex> {
    let (left, top) = ((image.width() as usize - width) / 2, (image.height() as usize - height) / 2);
    let value = |x: usize, y: usize| {
        let pixel = image.pixels()[(top + y) * image.width() as usize + left + x];
        pixel.iter().map(|v| f64::from(*v)).sum::<f64>()
    };
    let all = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let mean = all().map(|(x, y)| value(x, y)).sum::<f64>() / (width * height) as f64;
    let hann = |i: usize, n: usize| 0.5 - 0.5 * (TAU * (i as f64 + 0.5) / n as f64).cos();
    all().map(|(x, y)| ((value(x, y) - mean) * hann(x, width) * hann(y, height), 0.0)).collect()
}

/// The Fourier transform of rows, then of columns; both sides are powers of two.
fn transform(values: &mut [Complex], width: usize, height: usize) {
    values.chunks_mut(width).for_each(fourier);
    let mut column = vec![(0.0, 0.0); height];
    for x in 0..width {
        for (y, value) in column.iter_mut().enumerate() {
            *value = values[y * width + x];
        }
        fourier(&mut column);
        for (y, value) in column.iter().enumerate() {
            values[y * width + x] = *value;
        }
    }
}

fn fourier(values: &mut [Complex]) {
    let n = values.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            values.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for start in (0..n).step_by(2 * half) {
            for k in 0..half {
                let angle = -PI * k as f64 / half as f64;
                let turned = product(values[start + k + half], (angle.cos(), angle.sin()));
                let kept = values[start + k];
                values[start + k] = (kept.0 + turned.0, kept.1 + turned.1);
                values[start + k + half] = (kept.0 - turned.0, kept.1 - turned.1);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_wave_has_a_single_frequency() {
        let mut wave: Vec<Complex> =
            (0..16).map(|i| ((TAU * 3.0 * f64::from(i) / 16.0).cos(), 0.0)).collect();
        fourier(&mut wave);
        let size: Vec<i64> = wave.iter().map(|v| v.0.hypot(v.1).round() as i64).collect();
        assert_eq!(size.iter().sum::<i64>(), 16);
        assert_eq!((size[3], size[13]), (8, 8));
    }

    #[test]
    fn the_peak_lies_at_the_shift() {
        let value = |x: i64, y: i64| (((x * 7919 + y * 104_729) ^ (x * y)) % 251) as f32 / 251.0;
        let image = |dx: i64, dy: i64| {
            LinearImage::from_fn(70, 40, |x, y| [value(i64::from(x) + 50 - dx, i64::from(y) + 50 - dy); 3])
        };
        assert_eq!(phase_shift(&image(0, 0), &image(5, -3)), Some((5, -3)));
        assert_eq!(phase_shift(&image(0, 0), &image(0, 0)), Some((0, 0)));
    }
}
