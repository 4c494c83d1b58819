//! Correlation of noise between pixels, as reconstruction filters and denoisers leave it.
//!
//! The autocorrelation ρ(l) of the noise is estimated from differences over their local scale, clipped at
//! three of it. The variance of the mean of n pixels of a square tile is then `σ²/n · V` with
//!
//! `V = Σ ρ(dx, dy) (1 − |dx|/side) (1 − |dy|/side)`,
//!
//! and n pixels are worth `n/V` independent ones. V below 1, as of blue noise, counts as 1.
//!
//! With several seeds the differences between seeds hold no bias: lags are taken ring by ring (Chebyshev
//! distance 1, 2, …) as long as a ring's mean exceeds three of its standard errors. With one seed there is
//! only the difference of the sides, and a bias that is smooth or has edges is correlated as well. It differs
//! from filtered noise by its range: the correlation of a filter ends within some pixels, that of a bias goes on
//! and falls about linearly. So the correlation of the noise is what exceeds the straight line through the four
//! rings outside of it, and the level there is taken off. Where no ring exceeds it and less than a quarter of
//! the variance is left to independent pixels, all of the correlation counts, and its reach is unknown.

use super::fields::{Values, local_scale};
use rayon::prelude::*;

/// The greatest lag that is looked at, in pixels along each axis.
pub(super) const REACH: i32 = 12;
const WIDTH: usize = 2 * REACH as usize + 1;

/// Side of the tiles whose means are subtracted where there is one seed.
const CENTRED: usize = 32;
/// Values are clipped at this many of their local scale.
const CLIP: f64 = 3.0;
/// How many standard errors a ring lies above what it is compared with to count as correlation.
const SIGNIFICANT: f64 = 3.0;
/// Rings that the straight line goes through.
const OUTSIDE: i32 = 4;
/// How far a ring must exceed the line at least.
const EXCESS: f64 = 0.01;
/// How far from straight the line may be, by its level.
const CURVED: f64 = 0.05;
/// The least share of the variance of independent pixels where all correlation is taken for bias.
const INDEPENDENT: f64 = 0.25;
/// Below this variance of values over their local scale there is no noise.
const NOISELESS: f64 = 1e-5;
/// Pixels that are looked at; larger images are looked at in bands.
const MOST_PIXELS: usize = 1 << 18;

/// The autocorrelation of noise.
#[derive(Debug, Clone)]
pub(super) struct Correlation {
    /// The last ring of those that are all correlated from the first on.
    pub(super) inner_radius: i32,
    /// Whether the correlation may go on beyond all lags that were looked at.
    pub(super) is_endless: bool,
    /// By lag, rows of dy; 0 beyond the radius.
    rho: Vec<f64>,
}

impl Correlation {
    /// No correlation, as of pixels that share no sample.
    pub(super) fn none() -> Self {
        Self::within(0, &[1.0; WIDTH * WIDTH], 0.0)
    }

    /// The correlation of residuals without bias, such as differences of one side's images.
    pub(super) fn of_residuals(fields: &[Values], size: (usize, usize)) -> Self {
        let sums = fields.iter().map(|field| lags(&normalised(field, size, false), size));
        let rho = sums.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect());
        let rho: Vec<f64> = rho.unwrap_or_default().iter().map(|v| v / fields.len() as f64).collect();
        let error = |r: i32| standard_error(r, size.0 * size.1 * fields.len());
        let radius =
            (1..=REACH).take_while(|&r| ring_mean(&rho, r) > SIGNIFICANT * error(r)).last().unwrap_or(0);
        Self::within(radius, &rho, 0.0)
    }

    /// The correlation of the differences of two sides, which may hold bias.
    pub(super) fn of_differences(fields: &[Values], size: (usize, usize)) -> Self {
        let values = normalised(&fields[0], size, true);
        // Pixels without any difference tell nothing.
        let telling = fields[0].iter().flatten().filter(|v| **v != 0.0).count().div_ceil(3);
        let rho = lags(&values, size);
        let ring = |r: i32| ring_mean(&rho, r);
        let line = |r: i32| {
            straight_line(&(r + 1..=r + OUTSIDE).map(|r| (f64::from(r), ring(r))).collect::<Vec<_>>())
        };
        let exceeds = |r: &i32| {
            let error = standard_error(*r, telling) + standard_error(*r + 1, telling);
            let level = line(*r)(f64::from(*r));
            ring(*r) - level > (SIGNIFICANT * error).max(EXCESS) + CURVED * level.abs()
        };
        let correlated = |r: &i32| ring(*r) > SIGNIFICANT * standard_error(*r, telling);
        let inner_radius = (1..=REACH).take_while(correlated).last().unwrap_or(0);
        let found = match (1..=REACH - OUTSIDE).rev().find(exceeds) {
            Some(radius) => Self::within(radius, &rho, 0.5 * (ring(radius + 1) + ring(radius + 2))),
            None if 1.0 - line(0)(0.0) >= INDEPENDENT => Self::within(0, &rho, 0.0),
            None => Self { is_endless: true, ..Self::within(REACH, &rho, 0.0) },
        };
        Self { inner_radius, ..found }
    }

    /// The more correlated of two estimates.
    pub(super) fn or_more(self, other: Self) -> Self {
        if other.sum() > self.sum() { other } else { self }
    }

    /// Keeps the rings up to a radius of raw estimates, less a level that bias makes.
    fn within(radius: i32, raw: &[f64], level: f64) -> Self {
        let left = (1.0 - level).max(INDEPENDENT * INDEPENDENT);
        let kept = |(i, v): (usize, &f64)| match ring_of(i) {
            0 => 1.0,
            r if r <= radius => (v - level) / left,
            _ => 0.0,
        };
        Self { inner_radius: radius, is_endless: false, rho: raw.iter().enumerate().map(kept).collect() }
    }

    fn weighted(&self, side: f64, value: impl Fn(f64) -> f64) -> f64 {
        let weight = |lag: i32| (1.0 - f64::from(lag.abs()) / side).max(0.0);
        let all = self.rho.iter().enumerate().map(|(i, &rho)| {
            let (dx, dy) = lag_of(i);
            value(rho) * weight(dx) * weight(dy)
        });
        all.sum::<f64>().max(1.0)
    }

    fn sum(&self) -> f64 {
        self.weighted(f64::INFINITY, |rho| rho)
    }

    /// V for square tiles of this side: pixels per independent pixel, 1 or more.
    pub(super) fn variance_factor(&self, side: f64) -> f64 {
        self.weighted(side, |rho| rho)
    }

    /// V for products of independent values of this correlation, and for the scatter of squares.
    pub(super) fn square_factor(&self, side: f64) -> f64 {
        self.weighted(side, |rho| rho * rho)
    }
}

fn lag_of(index: usize) -> (i32, i32) {
    ((index % WIDTH) as i32 - REACH, (index / WIDTH) as i32 - REACH)
}

fn ring_of(index: usize) -> i32 {
    let (dx, dy) = lag_of(index);
    dx.abs().max(dy.abs())
}

/// The mean of the lags at one Chebyshev distance.
fn ring_mean(rho: &[f64], r: i32) -> f64 {
    let of_ring = rho.iter().enumerate().filter(|(i, _)| ring_of(*i) == r);
    of_ring.map(|(_, v)| v).sum::<f64>() / f64::from(8 * r.max(1))
}

/// The standard error of the mean of a ring of independent values.
fn standard_error(r: i32, pixels: usize) -> f64 {
    // Opposite lags are equal, so half of them are independent.
    (2.0 / (pixels.max(1) as f64 * f64::from(8 * r))).sqrt()
}

/// The straight line with the least squares of residuals through some points.
fn straight_line(points: &[(f64, f64)]) -> impl Fn(f64) -> f64 + use<> {
    let n = points.len().max(1) as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
    move |at| y + slope * (at - x)
}

/// Values over their local scale, clipped; where `centred`, less their means over tiles.
fn normalised(values: &Values, size: (usize, usize), centred: bool) -> Vec<[f32; 3]> {
    let scale = local_scale(values, size);
    let width = size.0;
    let value = |(pixel, v): (usize, &[f64; 3])| -> [f32; 3] {
        std::array::from_fn(|c| {
            let scale = scale.at(pixel % width, pixel / width, c);
            if scale > 0.0 { (v[c] / scale).clamp(-CLIP, CLIP) as f32 } else { 0.0 }
        })
    };
    let mut values: Vec<[f32; 3]> = values.par_iter().enumerate().map(value).collect();
    if centred {
        centre(&mut values, size);
    }
    values
}

fn centre(values: &mut [[f32; 3]], (width, height): (usize, usize)) {
    for y in (0..height).step_by(CENTRED) {
        for x in (0..width).step_by(CENTRED) {
            let rows = y..(y + CENTRED).min(height);
            let row = |row: usize| row * width + x..row * width + (x + CENTRED).min(width);
            let (mut sum, mut count) = ([0.0f32; 3], 0.0f32);
            for v in rows.clone().flat_map(row).map(|i| values[i]) {
                sum.iter_mut().zip(v).for_each(|(sum, v)| *sum += v);
                count += 1.0;
            }
            for i in rows.flat_map(row) {
                values[i].iter_mut().zip(sum).for_each(|(v, sum)| *v -= sum / count);
            }
        }
    }
}

/// Raw autocorrelation at every lag.
fn lags(values: &[[f32; 3]], (width, height): (usize, usize)) -> Vec<f64> {
    let bands = height.div_ceil(CENTRED);
    let step = (width * height).div_ceil(MOST_PIXELS).min(bands.max(1));
    let product = |dx: i32, dy: i32| {
        let (mut sum, mut count) = (0.0f64, 0usize);
        for band in (0..bands).step_by(step.max(1)) {
            let end = ((band + 1) * CENTRED).min(height);
            let last = end.saturating_sub(dy as usize);
            let (left, right) = ((-dx).max(0) as usize, width.saturating_sub(dx.max(0) as usize));
            for y in band * CENTRED..last {
                if left >= right {
                    break;
                }
                let here = &values[y * width + left..y * width + right];
                let from = (y + dy as usize) * width + (left as i64 + i64::from(dx)) as usize;
                let there = &values[from..from + right - left];
                let of_row: f32 =
                    here.iter().zip(there).map(|(a, b)| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).sum();
                sum += f64::from(of_row);
                count += right - left;
            }
        }
        sum / count.max(1) as f64
    };
    let variance = product(0, 0);
    let half: Vec<f64> = (0..WIDTH * WIDTH / 2 + 1)
        .into_par_iter()
        .map(|i| {
            // The first half of the lags has dy ≤ 0; its opposite is as good.
            let (dx, dy) = lag_of(i);
            if variance > NOISELESS { product(-dx, -dy) / variance } else { 0.0 }
        })
        .collect();
    let last = WIDTH * WIDTH - 1;
    (0..=last).map(|i| half[i.min(last - i)]).collect()
}
