//! Single pixels that stand out alike under every seed.
//!
//! A firefly stands out under one seed; a wrong pixel under all, and by the same amount. With q the share of
//! values of one pair that stand out, pixels that do under k seeds are Poisson with the mean n Π q.

use super::super::family::{Family, adjusted};
use super::super::fields::local_scale;
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
    let mut outstanding = vec![0.0f64; fields.len()];
    let mut found: Vec<(f64, Region)> = Vec::new();
    for pixel in 0..width * height {
        let (x, y) = (pixel % width, pixel / width);
        for channel in 0..3 {
            let over = |(field, scale): (&Vec<[f64; 3]>, &super::super::fields::TileMap)| {
                let scale = scale.at(x, y, channel);
                if scale > 0.0 { field[pixel][channel] / scale } else { 0.0 }
            };
            let z: Vec<f64> = fields.iter().zip(&scales).map(over).collect();
            outstanding.iter_mut().zip(&z).for_each(|(n, z)| *n += f64::from(u8::from(z.abs() > STANDS_OUT)));
            let difference = fields.iter().map(|f| f[pixel][channel]).sum::<f64>() / fields.len() as f64;
            if stands_out_alike(&z) && difference.abs() > setting.margins.of_pixel(x, y, channel) {
                let level = (setting.level)(pixel, channel);
                let relative = if level > 0.0 { difference / level } else { 0.0 };
                let region = Region {
                    x: x as u32,
                    y: y as u32,
                    side: 1,
                    channel,
                    difference,
                    relative,
                    ..Region::NONE
                };
                found.push((z.iter().sum::<f64>().abs(), region));
            }
        }
    }
    let (_, worst) = *found.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let mut pixels: Vec<(u32, u32)> = found.iter().map(|(_, r)| (r.x, r.y)).collect();
    pixels.dedup();
    let expected = values * outstanding.iter().map(|n| n / values).product::<f64>();
    let p = at_least(pixels.len(), expected);
    let region = Region { p, ..worst };
    let amount = (i32::try_from(pixels.len()).unwrap_or(i32::MAX), 0);
    Some(StructureTest { family: Family::Pixels, p: adjusted(p, Family::Pixels), region, amount })
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
    fn fireflies_differ_from_seed_to_seed_and_wrong_pixels_do_not() {
        assert!(stands_out_alike(&[100.0, 98.0, 103.0]));
        assert!(!stands_out_alike(&[100.0, 40.0, 300.0]) && !stands_out_alike(&[20.0, -20.0, 20.0]));
        assert!(!stands_out_alike(&[1.0, 1.1, 0.9]));
    }
}
