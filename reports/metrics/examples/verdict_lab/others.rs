//! Mitsuba's z-test and the χ² of all pixels, with the true variances.

use lockstep_metrics::image_io::LinearImage;
use lockstep_metrics::statistics::correction::sidak_threshold;
use lockstep_metrics::statistics::student::two_sided_p;

/// Whether the greatest z-score of any pixel rejects, and whether the sum of all squares does; `deviation` is
/// that of the noise of one image at a pixel and channel.
pub(crate) fn rejections(
    a: &[LinearImage],
    b: &[LinearImage],
    deviation: &dyn Fn(usize, usize) -> f64,
    alpha: f64,
) -> (bool, bool) {
    let values = a[0].pixels().len() * 3;
    let seeds = a.len() as f64;
    let (mut greatest, mut squares) = (0.0f64, 0.0);
    for pixel in 0..a[0].pixels().len() {
        for c in 0..3 {
            let mean = |images: &[LinearImage]| {
                images.iter().map(|i| f64::from(i.pixels()[pixel][c])).sum::<f64>() / images.len() as f64
            };
            let (x, y) = (mean(a), mean(b));
            let z = (x - y) / (deviation(pixel, c) * (2.0 / seeds).sqrt());
            greatest = greatest.max(z.abs());
            squares += z * z;
        }
    }
    // χ² of n degrees of freedom, for large n, is normal: mean n, variance 2n.
    let n = values as f64;
    let chi = (squares - n) / (2.0 * n).sqrt();
    let normal = 1e9;
    (
        two_sided_p(greatest, normal) < sidak_threshold(alpha, values),
        chi > 0.0 && 0.5 * two_sided_p(chi, normal) < alpha,
    )
}
