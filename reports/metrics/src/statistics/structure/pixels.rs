//! Single pixels that stand out alike under every seed.
//!
//! A firefly stands out under one seed; a wrong pixel under all, and by the same amount. With q the share of
//! values of one pair that stand out, pixels that do under k seeds are Poisson with the mean n Π q, where all
//! pixels are alike. Pixels on the edge of a shadow are noisier than those around them and stand out under
//! many seeds; how many do under two tells how much more often these few stand out.

use super::super::family::{Family, adjusted};
use super::super::fields::{TileMap, Values, local_scale};
use super::super::test_result::{Region, StructureTest};
use super::super::tile_tests::Setting;

/// Pairs of images that tell a wrong pixel from one that is noisier than others.
pub(super) const LEAST_SEEDS: usize = 3;
/// How many local scales a pixel lies off to stand out.
const STANDS_OUT: f64 = 8.0;
/// How far the seeds may lie apart to be alike: by the noise of all, and a tenth.
const ALIKE: (f64, f64) = (6.0, 0.1);

/// The test; nothing where there are fewer than three pairs.
pub(super) fn test(setting: &Setting<'_>) -> Option<StructureTest> {
    let fields = &setting.differences.fields;
    if fields.len() < LEAST_SEEDS {
        return None;
    }
    let (width, height) = (setting.differences.width, setting.differences.height);
    let scales: Vec<_> = fields.iter().map(|field| local_scale(field, (width, height))).collect();
    let values = (3 * width * height) as f64;
    let mut outstanding = Outstanding::new(fields.len());
    let mut found: Vec<(f64, Region)> = Vec::new();
    for pixel in 0..width * height {
        let (x, y) = (pixel % width, pixel / width);
        let over = |channel: usize| -> Vec<f64> {
            let of_seed = |(field, scale): (&Values, &TileMap)| {
                let scale = scale.at(x, y, channel);
                if scale > 0.0 { field[pixel][channel] / scale } else { 0.0 }
            };
            fields.iter().zip(&scales).map(of_seed).collect()
        };
        let z: [Vec<f64>; 3] = std::array::from_fn(over);
        let difference: [f64; 3] = std::array::from_fn(|channel| {
            fields.iter().map(|f| f[pixel][channel]).sum::<f64>() / fields.len() as f64
        });
        let is_found = |channel: usize| {
            stands_out_alike(&z[channel])
                && difference[channel].abs() > setting.margins.of_pixel(x, y, channel)
        };
        let by_channel = [0, 1, 2].map(is_found);
        // A wrong pixel is wrong in its other channels too, whose noise may hide it.
        let is_wrong = by_channel.contains(&true);
        z.iter().for_each(|z| outstanding.add(z, is_wrong));
        for channel in (0..3).filter(|channel| by_channel[*channel]) {
            let (difference, level) = (difference[channel], (setting.level)(pixel, channel));
            let relative = if level > 0.0 { difference / level } else { 0.0 };
            let place = Region { x: x as u32, y: y as u32, side: 1, channel, ..Region::NONE };
            found.push((z[channel].iter().sum::<f64>().abs(), Region { difference, relative, ..place }));
        }
    }
    let (_, worst) = *found.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let mut pixels: Vec<(u32, u32)> = found.iter().map(|(_, r)| (r.x, r.y)).collect();
    pixels.dedup();
    let p = at_least(pixels.len(), outstanding.expected(values));
    let region = Region { p, ..worst };
    let amount = (i32::try_from(pixels.len()).unwrap_or(i32::MAX), 0);
    Some(StructureTest { family: Family::Pixels, p: adjusted(p, Family::Pixels), region, amount })
}

/// How many values stand out, under each seed and under pairs of seeds.
struct Outstanding {
    /// Values that stand out under each seed.
    by_seed: Vec<f64>,
    /// The sum over seeds of the values that stand out in pixels that were not found.
    others: f64,
    /// The sum over pairs of seeds of the values that stand out under both in pixels that were not found.
    others_twice: f64,
}

impl Outstanding {
    fn new(seeds: usize) -> Self {
        Self { by_seed: vec![0.0; seeds], others: 0.0, others_twice: 0.0 }
    }

    fn add(&mut self, z: &[f64], is_found: bool) {
        let mut count = 0.0;
        for (n, z) in self.by_seed.iter_mut().zip(z) {
            if z.abs() > STANDS_OUT {
                *n += 1.0;
                count += 1.0;
            }
        }
        if !is_found {
            self.others += count;
            self.others_twice += 0.5 * count * (count - 1.0);
        }
    }

    /// How many of `values` values without bias stand out under all seeds, at most.
    ///
    /// Either all values stand out equally often, or few do, m of them with the probability q: then
    /// m q stand out under a seed and m q² under two, which give m q^k.
    fn expected(&self, values: f64) -> f64 {
        let k = self.by_seed.len() as f64;
        let alike = values * self.by_seed.iter().map(|n| n / values).product::<f64>();
        let (once, twice) = (self.others / k, self.others_twice / (0.5 * k * (k - 1.0)));
        if twice > 0.0 { alike.max(once * (twice / once).powf(k - 1.0)) } else { alike }
    }
}

fn stands_out_alike(z: &[f64]) -> bool {
    let (least, most) = z.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), z| (l.min(*z), m.max(*z)));
    let far = least > STANDS_OUT || most < -STANDS_OUT;
    far && most - least <= ALIKE.0 + ALIKE.1 * (0.5 * (least + most)).abs()
}

/// Probability that a Poisson variate is at least `count`.
fn at_least(count: usize, mean: f64) -> f64 {
    // Terms from `count` on: they fall geometrically for means below it.
    let mut term = (-mean).exp();
    for i in 1..=count {
        term *= mean / i as f64;
    }
    let mut sum = 0.0;
    for i in count + 1..count + 200 {
        sum += term;
        term *= mean / i as f64;
    }
    if mean > count as f64 { 1.0 } else { sum.min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_coincidences_are_poisson() {
        assert!((at_least(1, 0.1) - (1.0 - (-0.1f64).exp())).abs() < 1e-12);
        assert!((at_least(3, 1e-3) / 1.665_4e-10 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn few_noisy_pixels_stand_out_together_more_often_than_all_alike_would() {
        let (mut calm, mut edges) = (Outstanding::new(4), Outstanding::new(4));
        // 40 of 10,000 values stand out under each of four seeds: others each time, or half of 80.
        for i in 0..10_000 {
            let one = |seed: usize| if i / 40 == seed { 9.0 } else { 0.0 };
            calm.add(&[one(0), one(1), one(2), one(3)], false);
            let half = |bit: usize| if i < 80 && i >> bit & 1 == 1 { 9.0 } else { 0.0 };
            edges.add(&[half(0), half(1), half(2), half(3)], false);
        }
        assert!((calm.expected(1e4) / 2.56e-6 - 1.0).abs() < 1e-9);
        assert!((edges.expected(1e4) / 5.0 - 1.0).abs() < 1e-9, "{}", edges.expected(1e4));
    }

    #[test]
    fn fireflies_differ_from_seed_to_seed_and_wrong_pixels_do_not() {
        assert!(stands_out_alike(&[100.0, 98.0, 103.0]));
        assert!(!stands_out_alike(&[100.0, 40.0, 300.0]) && !stands_out_alike(&[20.0, -20.0, 20.0]));
        assert!(!stands_out_alike(&[1.0, 1.1, 0.9]));
    }
}
