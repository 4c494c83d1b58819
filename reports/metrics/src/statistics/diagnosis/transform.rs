//! Transforms of one image into another, and the error that each leaves.

use super::phase::phase_shift;
use crate::format::number;
use crate::image_io::{LinearImage, srgb};

/// A change that may have been made to an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// Moved to the right and down by a number of pixels.
    Moved(i32, i32),
    /// Rows and columns exchanged if `transposed`, then the image mirrored left to right if `mirrored` and top to bottom if
    /// `flipped`.
    Turned {
        /// Rows and columns are exchanged.
        transposed: bool,
        /// Left and right are exchanged.
        mirrored: bool,
        /// Top and bottom are exchanged.
        flipped: bool,
    },
    /// Red, green and blue are these channels of the original.
    Channels([usize; 3]),
    /// All values multiplied by a factor.
    Scaled(f64),
    /// All values raised to a power, then multiplied by a factor.
    Gamma(f64, f64),
    /// Linear values encoded as sRGB.
    Encoded,
    /// sRGB values decoded to linear ones.
    Decoded,
    /// Colours multiplied by alpha.
    Premultiplied,
    /// Colours divided by alpha.
    Unmultiplied,
}

const fn turned(transposed: bool, mirrored: bool, flipped: bool) -> Transform {
    Transform::Turned { transposed, mirrored, flipped }
}

/// All that mirror or turn.
pub(super) const TURNS: [Transform; 7] = [
    turned(false, true, false),
    turned(false, false, true),
    turned(false, true, true),
    turned(true, false, false),
    turned(true, true, false),
    turned(true, false, true),
    turned(true, true, true),
];

/// Greatest shift that is tried besides the peak of the phase correlation.
const NEAR: i32 = 2;

/// All candidates for a pair, simpler ones first.
pub(super) fn candidates(a: &LinearImage, b: &LinearImage) -> Vec<Transform> {
    let near = (-NEAR..=NEAR).flat_map(|y| (-NEAR..=NEAR).map(move |x| (x, y)));
    let mut shifts: Vec<(i32, i32)> = near.filter(|shift| *shift != (0, 0)).collect();
    shifts.extend(phase_shift(a, b).filter(|shift| !shifts.contains(shift) && *shift != (0, 0)));
    shifts.sort_by_key(|(x, y)| x.abs() + y.abs());
    let channels = [[2, 1, 0], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1]];
    let mut all = vec![Transform::Scaled(scale(a, b))];
    all.extend(shifts.into_iter().map(|(x, y)| Transform::Moved(x, y)));
    all.extend(TURNS);
    all.extend(channels.map(Transform::Channels));
    all.extend([Transform::Premultiplied, Transform::Unmultiplied, Transform::Encoded, Transform::Decoded]);
    all.extend(power(a, b).map(|(power, factor)| Transform::Gamma(power, factor)));
    all
}

impl Transform {
    /// Whether width becomes height.
    pub(super) fn exchanges_sides(&self) -> bool {
        matches!(self, Transform::Turned { transposed: true, .. })
    }

    /// Whether values go through a curve: none of these is simpler than another.
    pub(super) fn is_curve(&self) -> bool {
        matches!(self, Transform::Gamma(..) | Transform::Encoded | Transform::Decoded)
    }

    /// Whether values keep their size and only change places.
    pub(super) fn keeps_values(&self) -> bool {
        matches!(self, Transform::Moved(..) | Transform::Turned { .. } | Transform::Channels(_))
    }

    /// A transformed, and B, both cut to what they share; nothing where that does not fit.
    pub(super) fn apply(&self, a: &LinearImage, b: &LinearImage) -> Option<(LinearImage, LinearImage)> {
        let at = |image: &LinearImage, x: u32, y: u32| {
            image.pixels()[y as usize * image.width() as usize + x as usize]
        };
        let pixelwise = |value: &dyn Fn([f32; 3]) -> [f32; 3]| {
            let made = LinearImage::from_fn(a.width(), a.height(), |x, y| value(at(a, x, y)));
            same_size(a, b).then(|| (made, b.clone()))
        };
        let each = |value: &dyn Fn(f64) -> f64| pixelwise(&|p| p.map(|v| value(f64::from(v)) as f32));
        match *self {
            Transform::Moved(dx, dy) => moved(a, b, dx, dy),
            Transform::Turned { transposed, mirrored, flipped } => {
                let (width, height) =
                    if transposed { (a.height(), a.width()) } else { (a.width(), a.height()) };
                if (width, height) != (b.width(), b.height()) {
                    return None;
                }
                let made = LinearImage::from_fn(width, height, |x, y| {
                    let x = if mirrored { width - 1 - x } else { x };
                    let y = if flipped { height - 1 - y } else { y };
                    if transposed { at(a, y, x) } else { at(a, x, y) }
                });
                Some((made, b.clone()))
            }
            Transform::Channels(order) => pixelwise(&|p| order.map(|c| p[c])),
            Transform::Scaled(factor) => each(&|v| v * factor),
            Transform::Gamma(power, factor) => each(&|v| v.max(0.0).powf(power) * factor),
            Transform::Encoded => each(&|v| srgb::encode(v.clamp(0.0, 1.0))),
            Transform::Decoded => each(&|v| srgb::decode(v.clamp(0.0, 1.0))),
            Transform::Premultiplied => with_alpha(a, b, |v, alpha| v * alpha),
            Transform::Unmultiplied => with_alpha(a, b, |v, alpha| if alpha > 0.0 { v / alpha } else { v }),
        }
    }

    /// The change of an image, in words.
    pub(super) fn of_in_words(&self, name: &str) -> String {
        let what = match *self {
            Transform::Moved(dx, dy) => format!("moved by ({dx}, {dy}) pixels"),
            Transform::Turned { transposed, mirrored, flipped } => match (transposed, mirrored, flipped) {
                (false, true, false) => "mirrored left to right".to_owned(),
                (false, false, _) => "upside down".to_owned(),
                (false, true, true) => "turned by 180 degrees".to_owned(),
                (true, false, false) => "transposed".to_owned(),
                (true, true, false) => "turned by 90 degrees clockwise".to_owned(),
                (true, false, true) => "turned by 90 degrees anticlockwise".to_owned(),
                (true, true, true) => "transposed along its other diagonal".to_owned(),
            },
            Transform::Channels(order) => {
                let names = order.map(|c| ["red", "green", "blue"][c]);
                format!("with its channels as {}", names.join(", "))
            }
            Transform::Scaled(factor) if (1e-3..1e5).contains(&factor) => {
                format!("times {factor:.4} ({:+.2} stops)", factor.log2())
            }
            Transform::Scaled(factor) => format!("times {} ({:+.2} stops)", number(factor), factor.log2()),
            Transform::Gamma(power, factor) if (factor - 1.0).abs() < 0.03 => {
                format!("at gamma {:.1}", 1.0 / power)
            }
            Transform::Gamma(power, factor) => format!("at gamma {:.1}, times {factor:.3}", 1.0 / power),
            Transform::Encoded => "encoded as sRGB".to_owned(),
            Transform::Decoded => "decoded from sRGB".to_owned(),
            Transform::Premultiplied => "multiplied by its alpha".to_owned(),
            Transform::Unmultiplied => "divided by its alpha".to_owned(),
        };
        format!("{name} {what}")
    }
}

fn same_size(a: &LinearImage, b: &LinearImage) -> bool {
    (a.width(), a.height()) == (b.width(), b.height())
}

/// A moved by (dx, dy), and B, where both are.
fn moved(a: &LinearImage, b: &LinearImage, dx: i32, dy: i32) -> Option<(LinearImage, LinearImage)> {
    let (width, height) =
        (a.width().checked_sub(dx.unsigned_abs())?, a.height().checked_sub(dy.unsigned_abs())?);
    if width == 0 || height == 0 || !same_size(a, b) {
        return None;
    }
    let part = |image: &LinearImage, left: i32, top: i32| {
        let (left, top) = (left.max(0) as u32, top.max(0) as u32);
        LinearImage::from_fn(width, height, |x, y| {
            image.pixels()[(y + top) as usize * image.width() as usize + (x + left) as usize]
        })
    };
    Some((part(a, -dx, -dy), part(b, dx, dy)))
}

fn with_alpha(
    a: &LinearImage,
    b: &LinearImage,
    value: impl Fn(f32, f32) -> f32,
) -> Option<(LinearImage, LinearImage)> {
    let alpha = a.alpha().filter(|_| same_size(a, b))?;
    let made = LinearImage::from_fn(a.width(), a.height(), |x, y| {
        let i = y as usize * a.width() as usize + x as usize;
        a.pixels()[i].map(|v| value(v, alpha[i]))
    });
    Some((made, b.clone()))
}

/// The mean squared difference relative to the mean square of both, of two images of one size.
pub(super) fn error(a: &LinearImage, b: &LinearImage) -> f64 {
    let pairs = || a.pixels().iter().flatten().zip(b.pixels().iter().flatten());
    let count = (3 * a.pixels().len()).max(1) as f64;
    let level = pairs().map(|(a, b)| 0.5 * f64::from(a.abs() + b.abs())).sum::<f64>() / count;
    // A hundredth of the image's level keeps dark pixels from weighing infinitely.
    let floor = (0.01 * level).powi(2).max(f64::MIN_POSITIVE);
    let of_pair = |(&a, &b): (&f32, &f32)| {
        let (a, b) = (f64::from(a), f64::from(b));
        (a - b).powi(2) / (0.5 * (a * a + b * b) + floor)
    };
    pairs().map(of_pair).sum::<f64>() / count
}

/// The factor that gives A the mean of B: noise does not bend it.
fn scale(a: &LinearImage, b: &LinearImage) -> f64 {
    let sum = |image: &LinearImage| image.pixels().iter().flatten().map(|v| f64::from(*v)).sum::<f64>();
    let (a, b) = (sum(a), sum(b));
    if a > 0.0 && b > 0.0 { b / a } else { 1.0 }
}

/// Powers that programs apply: no display has a gamma beyond 4.
const POWERS: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// The power and factor that give the logarithms of A the spread and mean of those of B. The spread is by the
/// covariance of neighbours, which noise does not raise.
fn power(a: &LinearImage, b: &LinearImage) -> Option<(f64, f64)> {
    if !same_size(a, b) {
        return None;
    }
    let width = a.width() as usize;
    let logs = |image: &LinearImage, i: usize, c: usize| f64::from(image.pixels()[i][c]).ln();
    let values =
        (0..a.pixels().len()).filter(|i| i % width + 1 < width).flat_map(|i| (0..3).map(move |c| (i, c)));
    let all: Vec<[f64; 4]> = values
        .map(|(i, c)| [logs(a, i, c), logs(a, i + 1, c), logs(b, i, c), logs(b, i + 1, c)])
        .filter(|l| l.iter().all(|v| v.is_finite()))
        .collect();
    let n = all.len() as f64;
    let mean = |k: usize| all.iter().map(|l| l[k]).sum::<f64>() / n;
    let means = [mean(0), mean(1), mean(2), mean(3)];
    let covariance =
        |k: usize| all.iter().map(|l| (l[k] - means[k]) * (l[k + 1] - means[k + 1])).sum::<f64>();
    let power = (covariance(2) / covariance(0)).sqrt();
    POWERS.contains(&power).then(|| (power, (means[2] - power * means[0]).exp()))
}
