//! A side that is moved: B resembles A more at another place.
//!
//! For every lag l up to three pixels along each axis the mean of
//! `2 A(p) B(p+l) − A(p) B(p) − A(p+l) B(p+l)` is tested for being above 0, over the square of the local level
//! and averaged over tiles. Without bias its expectation is `−(S(p+l) − S(p))²`, S being what both sides show, so
//! it is never above 0, whatever the noise of either side: noise of one side is independent of the other's, or,
//! where random numbers are shared, most alike at the same pixel.

use super::super::correction::sidak;
use super::super::family::{Family, adjusted};
use super::super::test_result::{Region, StructureTest};
use super::{Sides, mean_of_tiles};
use rayon::prelude::*;

/// The greatest lag along an axis, in pixels.
const REACH: i32 = 3;

/// The gain, relative to the square of the level, that is rounding: of steps of 0.03 % of the level.
const ROUNDING: f64 = 1e-7;

/// The share of the greatest t from which on a lag does as well.
const ALIKE: f64 = 0.9;

/// The test.
pub(super) fn test(sides: &Sides) -> Option<StructureTest> {
    let lags: Vec<(i32, i32)> = (-REACH..=REACH)
        .flat_map(|dy| (-REACH..=REACH).map(move |dx| (dx, dy)))
        .filter(|lag| *lag != (0, 0))
        .collect();
    let one_sided = |lag: &(i32, i32)| {
        let (p, t) = mean_of_tiles(&gain(sides, *lag), ROUNDING);
        (if t > 0.0 { 0.5 * p } else { 1.0 }, t.max(0.0), *lag)
    };
    let found: Vec<(f64, f64, (i32, i32))> = lags.par_iter().map(one_sided).collect();
    let most = found.iter().map(|f| f.1).fold(0.0, f64::max);
    // Where many lags do about as well, as in a checker, the shortest is meant.
    let alike = found.into_iter().filter(|f| f.1 >= ALIKE * most);
    let (p, t, lag) = alike.min_by_key(|f| f.2.0.abs() + f.2.1.abs())?;
    let side = sides.width.max(sides.height) as u32;
    let region = Region { side, p, t, ..Region::NONE };
    // B(p + l) is like A(p), so B is moved back by l to meet it.
    let amount = (-lag.0, -lag.1);
    Some(StructureTest {
        family: Family::Shift,
        p: adjusted(sidak(p, lags.len()), Family::Shift),
        region,
        amount,
    })
}

/// How much more B at the lag resembles A than B in place: the mean of each tile.
fn gain(sides: &Sides, lag: (i32, i32)) -> Vec<f64> {
    let (a, b) = (&sides.a, &sides.b);
    sides.by_tile(lag, |p, q, (x, y)| {
        let of_channel = |c: usize| {
            let level = sides.level.at(x, y, c);
            let gain = 2.0 * a[p][c] * b[q][c] - a[p][c] * b[p][c] - a[q][c] * b[q][c];
            if level > 0.0 { gain / (level * level) } else { 0.0 }
        };
        (0..3).map(of_channel).sum()
    })
}
