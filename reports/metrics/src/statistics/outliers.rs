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
    /// Value of A minus value of B in the channel that stands out most.
    pub difference: f64,
    /// The difference over the local scale of the differences.
    pub times: f64,
}

/// The outliers of a field of differences.
#[derive(Debug, Clone)]
pub(super) struct Outliers {
    /// The farthest first; at most sixteen.
    pub(super) listed: Vec<Outlier>,
    /// How many there are.
    pub(super) count: usize,
    /// In how many of them A is brighter.
    pub(super) brighter: usize,
}

impl Outliers {
    /// Whether all but a few are of one sign, as those of wrong pixels are, and of fireflies of one side.
    pub(super) fn are_one_sided(&self) -> bool {
        self.count > 0 && 16 * self.brighter.min(self.count - self.brighter) <= self.count
    }
}

/// The outliers of a field of differences.
pub(super) fn of(differences: &Values, size: (usize, usize)) -> Outliers {
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
    let brighter = found.iter().filter(|o| o.difference > 0.0).count();
    found.sort_by(|a, b| b.times.total_cmp(&a.times));
    found.truncate(LISTED);
    Outliers { listed: found, count, brighter }
}
