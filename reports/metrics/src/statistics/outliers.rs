//! Pixels that stand out from their surroundings, such as fireflies.

use super::fields::{Values, local_scale};

/// How many local scales a difference lies off to stand out.
const STANDS_OUT: f64 = 25.0;
/// Outliers that are listed.
const LISTED: usize = 16;

/// A pixel in which the sides differ far more than around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Column from the left.
    pub x: u32,
    /// Row from the top.
    pub y: u32,
    /// 0 red, 1 green, 2 blue: the channel that stands out most.
    pub channel: usize,
    /// A minus B there.
    pub difference: f64,
    /// How many times the local scale of the differences that is.
    pub times: f64,
}

/// The outliers of a field of differences, the farthest first; at most sixteen, and how many there are.
pub(super) fn of(differences: &Values, size: (usize, usize)) -> (Vec<Outlier>, usize) {
    let scale = local_scale(differences, size);
    let mut found: Vec<Outlier> = Vec::new();
    for (pixel, value) in differences.iter().enumerate() {
        let (x, y) = (pixel % size.0, pixel / size.0);
        let outlier = |channel: usize| {
            let (difference, scale) = (value[channel], scale.at(x, y, channel));
            let times = if scale > 0.0 { difference.abs() / scale } else { 0.0 };
            Outlier { x: x as u32, y: y as u32, channel, difference, times }
        };
        let most = (0..3).map(outlier).max_by(|a, b| a.times.total_cmp(&b.times));
        found.extend(most.filter(|o| o.times > STANDS_OUT));
    }
    let count = found.len();
    found.sort_by(|a, b| b.times.total_cmp(&a.times));
    found.truncate(LISTED);
    (found, count)
}
