//! A side with other contrast between neighbours, as another reconstruction filter makes it.
//!
//! For lags l beyond the correlation of the noise, products `A(p) A(p+l)` have the expectation
//! `S_A(p) S_A(p+l)`: the noise of different pixels is independent, however strong and unequal. So the mean of
//! `(A(p) − R)(A(p+l) − R') − (B(p) − R')(B(p+l) − R)`, over the square of the local level and averaged over
//! tiles, is 0 without bias. R and R' are the means of A and of B over a ring around the pixel that holds
//! neither of the two, so that no noise meets itself. Products of skew noise have about the square of its
//! skewness; where that leaves their mean far from normal, there is no test.

use super::super::correction::sidak;
use super::super::family::{Family, adjusted};
use super::super::fields::Values;
use super::super::test_result::{Region, StructureTest};
use super::super::tile_tests::Setting;
use super::{Sides, mean_of_tiles};
use rayon::prelude::*;

/// Lags in pixels, up to [`INNER`].
const LAGS: [(i32, i32); 10] =
    [(1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 2), (3, 0), (0, 3), (4, 0), (0, 4)];
/// How many times less than the square root of its values the skewness of a mean of products must be.
const NORMAL: f64 = 10.0;
/// A ring has the pixels within [`OUTER`] but not within this along both axes.
const INNER: usize = 4;
const OUTER: usize = 12;

/// The test; nothing where noise is correlated at every lag.
pub(super) fn test(sides: &Sides, setting: &Setting<'_>) -> Option<StructureTest> {
    let beyond = setting.correlation.inner_radius;
    let lags: Vec<(i32, i32)> = LAGS.into_iter().filter(|(dx, dy)| dx.abs().max(dy.abs()) > beyond).collect();
    let values = 3.0 * (sides.width * sides.height) as f64;
    if lags.is_empty() || setting.skewness.pooled.powi(2) > values.sqrt() / NORMAL {
        return None;
    }
    let size = (sides.width, sides.height);
    let (ring_a, ring_b) = rayon::join(|| rings(&sides.a, size), || rings(&sides.b, size));
    let two_sided = |lag: &(i32, i32)| {
        let product = |p: usize, q: usize, c: usize| {
            let of_a = (sides.a[p][c] - ring_a[p][c]) * (sides.a[q][c] - ring_b[q][c]);
            let of_b = (sides.b[p][c] - ring_b[p][c]) * (sides.b[q][c] - ring_a[q][c]);
            of_a - of_b
        };
        let sums = sides.by_tile(*lag, |p, q, (x, y)| over_level(sides, (x, y), |c| product(p, q, c)));
        let margins = sides.by_tile(*lag, |p, _, (x, y)| {
            let away = |c: usize| (sides.a[p][c] - ring_a[p][c]).abs() + (sides.b[p][c] - ring_b[p][c]).abs();
            over_level(sides, (x, y), |c| 2.0 * setting.margins.of_pixel(x, y, c) * away(c))
        });
        mean_of_tiles(&sums, margins.iter().sum::<f64>() / margins.len().max(1) as f64)
    };
    let found: Vec<(f64, f64)> = lags.par_iter().map(two_sided).collect();
    let (p, t) = found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let side = sides.width.max(sides.height) as u32;
    let region = Region { side, p, t, difference: t, ..Region::NONE };
    let p = adjusted(sidak(p, lags.len()), Family::Contrast);
    Some(StructureTest { family: Family::Contrast, p, region, amount: (0, 0) })
}

fn over_level(sides: &Sides, (x, y): (usize, usize), value: impl Fn(usize) -> f64) -> f64 {
    let of_channel = |c: usize| {
        let level = sides.level.at(x, y, c);
        if level > 0.0 { value(c) / (level * level) } else { 0.0 }
    };
    (0..3).map(of_channel).sum()
}

/// The mean of the ring around every pixel, by a summed-area table (Crow 1984).
fn rings(values: &Values, (width, height): (usize, usize)) -> Values {
    let columns = width + 1;
    let mut table = vec![[0.0f64; 3]; columns * (height + 1)];
    for y in 0..height {
        let mut row = [0.0; 3];
        for x in 0..width {
            for c in 0..3 {
                row[c] += values[y * width + x][c];
                table[(y + 1) * columns + x + 1][c] = table[y * columns + x + 1][c] + row[c];
            }
        }
    }
    let square = |x: usize, y: usize, reach: usize| {
        let (left, top) = (x.saturating_sub(reach), y.saturating_sub(reach));
        let (right, below) = ((x + reach + 1).min(width), (y + reach + 1).min(height));
        let corner = |x: usize, y: usize| table[y * columns + x];
        let (a, b, c, d) = (corner(right, below), corner(left, below), corner(right, top), corner(left, top));
        let sum: [f64; 3] = std::array::from_fn(|i| a[i] - b[i] - c[i] + d[i]);
        (sum, ((right - left) * (below - top)) as f64)
    };
    (0..width * height)
        .into_par_iter()
        .map(|i| {
            let ((all, n), (inner, m)) =
                (square(i % width, i / width, OUTER), square(i % width, i / width, INNER));
            std::array::from_fn(|c| if n > m { (all[c] - inner[c]) / (n - m) } else { 0.0 })
        })
        .collect()
}
