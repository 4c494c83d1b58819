//! Which units a shard renders.
//!
//! Shards get neighbouring units, since those are of one scene, which is loaded once. Among all ways to cut the list into
//! as many parts, the cut is taken whose most expensive part costs least.

use std::ops::Range;

/// The part of each shard in a list of units of these costs, in order; the last ones may be empty.
pub(crate) fn shares(costs: &[u64], shards: u32) -> Vec<Range<usize>> {
    let total = costs.iter().fold(0, |sum: u64, cost| sum.saturating_add(*cost));
    let (mut least, mut most) = (costs.iter().copied().max().unwrap_or(0), total);
    while least < most {
        let limit = least + (most - least) / 2;
        if cut(costs, limit).len() <= shards as usize { most = limit } else { least = limit + 1 }
    }
    let mut parts = cut(costs, least);
    parts.resize(shards as usize, costs.len()..costs.len());
    parts
}

/// The fewest neighbouring parts that cost no more than a limit each, which no single unit exceeds.
fn cut(costs: &[u64], limit: u64) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut sum) = (0, 0u64);
    for (i, &cost) in costs.iter().enumerate() {
        if sum.saturating_add(cost) > limit && i > start {
            parts.push(start..i);
            (start, sum) = (i, 0);
        }
        sum = sum.saturating_add(cost);
    }
    if start < costs.len() {
        parts.push(start..costs.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most expensive part over all ways to cut the list, by trying them all.
    fn best(costs: &[u64], shards: u32) -> u64 {
        if shards == 1 {
            return costs.iter().sum();
        }
        let rest = |at: usize| costs[..at].iter().sum::<u64>().max(best(&costs[at..], shards - 1));
        (0..=costs.len()).map(rest).min().unwrap_or(0)
    }

    #[test]
    fn every_unit_has_one_shard_and_no_other_cut_ends_sooner() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let costs: Vec<u64> = (0..random(9)).map(|_| 1 + random(100)).collect();
            let shards = 1 + random(4) as u32;
            let found = shares(&costs, shards);
            assert_eq!(found.len(), shards as usize);
            assert_eq!(
                found.iter().cloned().flatten().collect::<Vec<_>>(),
                (0..costs.len()).collect::<Vec<_>>()
            );
            let longest = found.iter().map(|part| costs[part.clone()].iter().sum::<u64>()).max();
            assert_eq!(longest, Some(best(&costs, shards)), "{costs:?} over {shards}");
        }
    }
}
