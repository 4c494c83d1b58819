//! Counter-based random numbers with named dimensions.
//!
//! A draw is a hash of (pixel, sample, dimension, seed): it needs no state, so any sample of any pixel can be
//! computed alone, on any device, in any order. The hash is pcg4d (Jarzynski and Olano, *Hash Functions for
//! GPU Rendering*, JCGT 9(3), 2020), integers only. One call gives the four words of one *block* of
//! dimensions. Other samplers ([`super::sobol`], [`super::xorwow`]) take the hash's place by
//! [`SampleKey::sampler`]; alpha and the film's rounding are hashed by all.

use crate::math::sobol;
use crate::math::xorwow::Xorwow;
use crate::sampler::Sampler;

/// Purpose of a block of four draws. Blocks of one path never coincide. Blocks that differ in the counter's highest bits
/// alone share words in up to a quarter of all keys, since pcg4d hardly spreads those bits: bases differ in lower bits too.
/// [`Block::Film`] does not; it rounds to units of 2^-23 of a sample, without a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Block {
    /// Film x, film y, lens u, lens v.
    Camera = 0,
    /// Light index, alias choice, position u, position v; per bounce.
    Light = 1,
    /// Lobe, direction u, direction v, Russian roulette; per bounce.
    Bsdf = 2,
    /// Key of stochastic alpha along the extension ray; per bounce.
    ExtensionAlpha = 3,
    /// Key of stochastic alpha along the shadow ray; per bounce.
    ShadowAlpha = 4,
    /// Cell index, alias choice, position in the cell of the environment's importance grid; per bounce.
    Environment = 5,
    /// Rounding of red, green and blue to film units; per contribution of the sample.
    Film = 1 << 30,
    /// Light index, alias choice, position u, position v of the ray that starts a light sub-path.
    EmissionPosition = LIGHT_SUB_PATHS,
    /// Direction u, direction v of the ray that starts a light sub-path, or the cell of the environment's importance grid
    /// as in [`Block::Environment`].
    EmissionDirection = LIGHT_SUB_PATHS + 1,
    /// The BSDF on a light sub-path, per bounce, with the dimensions of [`Block::Bsdf`].
    LightBsdf = LIGHT_SUB_PATHS + 2,
    /// Key of stochastic alpha along an extension ray of a light sub-path; per bounce.
    LightExtensionAlpha = LIGHT_SUB_PATHS + 3,
    /// Lens u, lens v of the connection of a light sub-path's vertex to the camera; per bounce.
    Lens = LIGHT_SUB_PATHS + 4,
    /// Key of stochastic alpha along the connection of two sub-paths; per technique.
    ConnectionAlpha = FURTHER,
    /// Colour channel in dispersive media; one draw a sample.
    Dispersion = FURTHER + 1,
    /// Layer, and scattering once or more often below, where one lobe of a surface with layers is picked; per bounce.
    Layer = FURTHER + 2,
}

/// The first counter of light sub-paths, away from those of camera paths in a low bit as well.
const LIGHT_SUB_PATHS: u32 = (1 << 31) + (1 << 12);
/// The first counter of connections, media and layers.
const FURTHER: u32 = (3 << 30) + (1 << 13);

/// Dimension blocks from one bounce to the next.
pub const BLOCKS_PER_BOUNCE: u32 = 5;

impl Block {
    /// The dimension counter of this block at `bounce`; bounce 0 starts at the camera ray.
    #[inline(always)]
    pub const fn at(self, bounce: u32) -> u32 {
        self as u32 + bounce * BLOCKS_PER_BOUNCE
    }
}

/// Identity of one sample of one pixel, the key of every draw along its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleKey {
    /// Film index of the pixel, `y * width + x`.
    pub pixel: u32,
    /// Sample index within the pixel.
    pub sample: u32,
    /// The study's seed.
    pub seed: u32,
    /// The sampler that makes the draws. Kernels are built for one.
    pub sampler: Sampler,
}

/// Four 32-bit hash words of a counter.
#[inline(always)]
pub fn pcg4d(mut v: [u32; 4]) -> [u32; 4] {
    for word in &mut v {
        *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    v = mix(v);
    for word in &mut v {
        *word ^= *word >> 16;
    }
    mix(v)
}

#[inline(always)]
fn mix(mut v: [u32; 4]) -> [u32; 4] {
    v[0] = v[0].wrapping_add(v[1].wrapping_mul(v[3]));
    v[1] = v[1].wrapping_add(v[2].wrapping_mul(v[0]));
    v[2] = v[2].wrapping_add(v[0].wrapping_mul(v[1]));
    v[3] = v[3].wrapping_add(v[1].wrapping_mul(v[2]));
    v
}

/// The four draws of `block` at `bounce`.
#[inline(always)]
pub fn draw(key: SampleKey, block: Block, bounce: u32) -> [u32; 4] {
    draw_at(key, block.at(bounce))
}

/// The four draws of a dimension counter.
#[inline(always)]
pub fn draw_at(key: SampleKey, dimension: u32) -> [u32; 4] {
    if key.sampler == Sampler::Pcg { pcg_draw(key, dimension) } else { other_draw(key, dimension) }
}

/// Not inlined, so that what other samplers need is no burden on the default.
#[inline(never)]
fn other_draw(key: SampleKey, dimension: u32) -> [u32; 4] {
    if key.sampler == Sampler::Sobol { sobol_draw(key, dimension) } else { xorwow_draw(key, dimension) }
}

/// The draws of a dimension counter by hash.
#[inline(always)]
pub fn pcg_draw(key: SampleKey, dimension: u32) -> [u32; 4] {
    pcg4d([key.pixel, key.sample, dimension, key.seed])
}

/// The draws of a dimension counter by Owen-scrambled Sobol: a group of the sample's point, scrambled anew for every pixel,
/// counter and seed. Counters without a group of their own also shuffle the samples.
#[inline(always)]
pub fn sobol_draw(key: SampleKey, dimension: u32) -> [u32; 4] {
    let order = pcg4d([key.pixel, dimension, key.seed, SOBOL_STREAM]);
    sobol::scrambled(key.sample, sobol_group(dimension), order[0], pcg4d(order))
}

/// Number of bounces whose blocks have groups of Sobol's sequence, not counting the camera's block.
pub const JOINT_BOUNCES: u32 = 3;

/// The group of Sobol's sequence that a dimension counter has for itself; [`sobol::GROUPS`] for none. By bounce, groups
/// are those of light, environment and BSDF.
#[inline(always)]
pub fn sobol_group(dimension: u32) -> u32 {
    if dimension == Block::Camera as u32 {
        return 0;
    }
    let bounce = (dimension - 1) / BLOCKS_PER_BOUNCE;
    let block = dimension - bounce * BLOCKS_PER_BOUNCE;
    let mut group = 0;
    if block == Block::Light as u32 {
        group = 1;
    } else if block == Block::Environment as u32 {
        group = 2;
    } else if block == Block::Bsdf as u32 {
        group = 3;
    }
    if group == 0 || bounce >= JOINT_BOUNCES { sobol::GROUPS } else { group + 3 * bounce }
}

/// The draws of a dimension counter by xorwow. A sample's sequence is seeded by a hash of its key; counter `n` draws the
/// words `4 n` to `4 n + 3` of it. Every [`XORWOW_RUN`] counters begin a sequence of their own, so that no draw is
/// further than that from a seed: a path of up to eleven bounces has one.
#[inline(always)]
pub fn xorwow_draw(key: SampleKey, dimension: u32) -> [u32; 4] {
    let seed = pcg4d([key.pixel, key.sample, dimension / XORWOW_RUN, key.seed ^ XORWOW_STREAM]);
    Xorwow::seeded(seed).four_after(4 * (dimension % XORWOW_RUN))
}

/// Sets the hashes of the Sobol sampler apart from other uses.
pub const SOBOL_STREAM: u32 = 0x736f_626f;

/// Sets the seeds of the xorwow sampler apart from other uses.
pub const XORWOW_STREAM: u32 = 0x786f_7277;

/// Dimension counters that draw from one sequence of xorwow.
pub const XORWOW_RUN: u32 = 64;

/// Words for rounding the contribution of this technique to film units, by hash whatever the sampler.
#[inline(always)]
pub fn dither(key: SampleKey, technique: u32) -> [u32; 4] {
    pcg_draw(key, Block::Film.at(technique))
}

/// A uniform in `[0, 1)` with 24 bits.
#[inline(always)]
pub fn uniform(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// [`uniform`] of each word.
#[inline(always)]
pub fn uniforms(words: [u32; 4]) -> [f32; 4] {
    [uniform(words[0]), uniform(words[1]), uniform(words[2]), uniform(words[3])]
}

/// `word * n / 2^32`: an index below `n`, biased by at most `n / 2^32`.
#[inline(always)]
pub fn index_below(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

/// Identity of one ray of one sample, the key of stochastic alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RayKey {
    /// The sample.
    pub sample: SampleKey,
    /// The dimension counter of [`Block::ExtensionAlpha`] or [`Block::ShadowAlpha`] at the ray's bounce.
    pub dimension: u32,
}

impl RayKey {
    /// The key of a ray, from the block of its draws and its bounce or technique in that block.
    #[inline(always)]
    pub const fn new(sample: SampleKey, block: Block, index: u32) -> Self {
        Self { sample, dimension: block.at(index) }
    }

    /// The key of an extension ray.
    #[inline(always)]
    pub const fn extension(sample: SampleKey, bounce: u32) -> Self {
        Self::new(sample, Block::ExtensionAlpha, bounce)
    }

    /// The key of a shadow ray.
    #[inline(always)]
    pub const fn shadow(sample: SampleKey, bounce: u32) -> Self {
        Self::new(sample, Block::ShadowAlpha, bounce)
    }

    /// The key of an extension ray of a light sub-path; bounce 0 leaves the light.
    #[inline(always)]
    pub const fn light_extension(sample: SampleKey, bounce: u32) -> Self {
        Self::new(sample, Block::LightExtensionAlpha, bounce)
    }

    /// The key of the connection of two sub-paths by a [`crate::splat::Technique`] of this index.
    #[inline(always)]
    pub const fn connection(sample: SampleKey, technique: u32) -> Self {
        Self::new(sample, Block::ConnectionAlpha, technique)
    }
}

/// A uniform for a ray and a hit candidate, so that stochastic alpha does not depend on traversal order.
#[inline(always)]
pub fn alpha_uniform(key: RayKey, instance: u32, primitive: u32) -> f32 {
    let of_ray = pcg4d([key.sample.pixel, key.sample.sample, key.dimension, key.sample.seed]);
    uniform(pcg4d([of_ray[0], of_ray[1], instance, primitive])[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More vertices than a sub-path has at the most bounces.
    const MAX_VERTICES: u32 = crate::MAX_BOUNCES + 2;

    /// Blocks of camera paths, drawn at every bounce.
    const OF_BOUNCES: [Block; 5] =
        [Block::Light, Block::Bsdf, Block::ExtensionAlpha, Block::ShadowAlpha, Block::Environment];
    /// Blocks of light sub-paths, connections, media and layers.
    const OF_OTHERS: [Block; 8] = [
        Block::EmissionPosition,
        Block::EmissionDirection,
        Block::LightBsdf,
        Block::LightExtensionAlpha,
        Block::Lens,
        Block::ConnectionAlpha,
        Block::Dispersion,
        Block::Layer,
    ];

    #[test]
    fn hash_is_frozen() {
        // Goldens depend on these words; computed from the published definition with 64-bit integers reduced
        // mod 2^32.
        let m = |x: u64| x & 0xffff_ffff;
        let mut v = [1u64, 2, 3, 4].map(|w| m(w * 1_664_525 + 1_013_904_223));
        for round in 0..2 {
            v[0] = m(v[0] + v[1] * v[3]);
            v[1] = m(v[1] + v[2] * v[0]);
            v[2] = m(v[2] + v[0] * v[1]);
            v[3] = m(v[3] + v[1] * v[2]);
            if round == 0 {
                v = v.map(|w| w ^ (w >> 16));
            }
        }
        assert_eq!(pcg4d([1, 2, 3, 4]), v.map(|w| w as u32));
    }

    #[test]
    fn blocks_of_a_path_are_distinct() {
        let mut seen = std::collections::HashSet::new();
        seen.insert(Block::Camera.at(0));
        for bounce in 0..64 {
            for block in OF_BOUNCES {
                assert!(seen.insert(block.at(bounce)), "{block:?} at bounce {bounce}");
            }
            for block in [&[Block::Film][..], &OF_OTHERS].concat() {
                assert!(seen.insert(block.at(bounce)), "{block:?} at bounce or technique {bounce}");
            }
        }
        let last = crate::splat::Technique { light: MAX_VERTICES, camera: MAX_VERTICES }.index();
        for (block, next) in [(Block::Film, 1 << 31), (Block::EmissionPosition, 3 << 30)] {
            assert!(block.at(last) < next, "the last technique stays within the range of {block:?}");
        }
        assert!(Block::ConnectionAlpha.at(last) > Block::ConnectionAlpha as u32, "no wrap around");
    }

    #[test]
    fn no_two_blocks_share_words() {
        let keys = 1 << 14;
        let blocks = [&[Block::Camera][..], &OF_BOUNCES, &OF_OTHERS].concat();
        let sampled = [Sampler::Pcg, Sampler::Xorwow].into_iter();
        for (sampler, bounce) in sampled.flat_map(|sampler| [0, 1, 7].map(|bounce| (sampler, bounce))) {
            let of_block = |&block: &Block| {
                let key = |i: u32| SampleKey { pixel: i & 1023, sample: i >> 10, seed: 3, sampler };
                (0..keys).map(|i| draw(key(i), block, bounce)).collect::<Vec<_>>()
            };
            let words: Vec<_> = blocks.iter().map(of_block).collect();
            for (i, j) in (0..blocks.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                for word in 0..4 {
                    let pairs = words[i].iter().zip(&words[j]);
                    let equal = pairs.filter(|(a, b)| a[word] == b[word]).count();
                    let of = format!("{:?} and {:?} at bounce {bounce} by {sampler}", blocks[i], blocks[j]);
                    assert!(equal <= 4, "word {word} of {of} is equal for {equal} of {keys} keys");
                }
            }
        }
    }

    #[test]
    fn uniforms_fill_the_unit_interval_evenly() {
        let n = 1 << 18;
        for (word, sampler) in (0..4).flat_map(|word| Sampler::ALL.map(|sampler| (word, sampler))) {
            let (mut sum, mut bins) = (0.0f64, [0u32; 64]);
            for sample in 0..n {
                let key = SampleKey { pixel: 7, sample, seed: 3, sampler };
                let u = uniform(draw(key, Block::Bsdf, 1)[word]);
                assert!((0.0..1.0).contains(&u));
                sum += f64::from(u);
                bins[(u * 64.0) as usize] += 1;
            }
            let expected = f64::from(n) / 64.0;
            let chi2: f64 = bins.iter().map(|&b| (f64::from(b) - expected).powi(2) / expected).sum();
            let of = format!("word {word} of {sampler}");
            assert!((sum / f64::from(n) - 0.5).abs() < 0.003, "mean of {of}");
            assert!(chi2 < 120.0, "chi-squared {chi2} of {of} with 63 degrees of freedom");
        }
    }

    #[test]
    fn the_words_of_every_sampler_are_frozen() {
        // A golden depends on its sampler's words.
        let words = |sampler| {
            let mut hasher = blake3::Hasher::new();
            for i in 0..4096 {
                let key = SampleKey { pixel: i * 7, sample: i / 3, seed: i % 5, sampler };
                for word in draw_at(key, i % 97).into_iter().chain(draw(key, Block::EmissionPosition, i % 9))
                {
                    hasher.update(&word.to_le_bytes());
                }
            }
            hasher.finalize().to_hex()[..16].to_owned()
        };
        assert_eq!(Sampler::ALL.map(words), ["1e6554299cc2eff5", "322a8fb3d63f9f8b", "3537f0599cafac58"]);
    }

    #[test]
    fn blocks_of_the_first_bounces_have_groups_of_their_own() {
        let of = |block: Block, bounce| sobol_group(block.at(bounce));
        let mut seen = std::collections::HashSet::from([sobol_group(Block::Camera.at(0))]);
        for bounce in 0..JOINT_BOUNCES {
            for block in [Block::Light, Block::Environment, Block::Bsdf] {
                assert!(
                    of(block, bounce) < sobol::GROUPS && seen.insert(of(block, bounce)),
                    "{block:?} {bounce}"
                );
            }
            assert_eq!(of(Block::ExtensionAlpha, bounce), sobol::GROUPS);
        }
        assert_eq!(seen.len(), sobol::GROUPS as usize);
        let others = [(Block::Light, JOINT_BOUNCES), (Block::Layer, 0), (Block::EmissionPosition, 0)];
        assert!(others.into_iter().all(|(block, bounce)| of(block, bounce) == sobol::GROUPS));
    }

    /// Squared error falls as one over the samples to a power beyond 1.2 for a smooth product over the blocks of two
    /// bounces, by the straight line through its logarithms from 1 to 1,024 samples. Of independent numbers the power is 1.
    #[test]
    fn the_error_of_what_depends_on_many_blocks_falls_faster_than_one_over_n() {
        let blocks = [
            (Block::Camera, 0),
            (Block::Light, 0),
            (Block::Environment, 0),
            (Block::Bsdf, 0),
            (Block::Light, 1),
            (Block::Environment, 1),
        ];
        let power = |sampler| {
            let mut errors = [0.0f64; 11];
            for pixel in 0..128 {
                let mut sum = 0.0;
                for sample in 0..1024u32 {
                    let key = SampleKey { pixel, sample, seed: 1, sampler };
                    let factor = |(block, bounce)| 0.5 + f64::from(uniform(draw(key, block, bounce)[2]));
                    sum += blocks.into_iter().map(factor).product::<f64>();
                    if (sample + 1).is_power_of_two() {
                        errors[(sample + 1).ilog2() as usize] += (sum / f64::from(sample + 1) - 1.0).powi(2);
                    }
                }
            }
            let moment = |i: usize| i as f64 - 5.0;
            -(0..11).map(|i| moment(i) * errors[i].log2()).sum::<f64>() / 110.0
        };
        let [pcg, sobol] = [Sampler::Pcg, Sampler::Sobol].map(power);
        assert!((pcg - 1.0).abs() < 0.1, "pcg: {pcg}");
        assert!(sobol > 1.2, "sobol: {sobol}");
    }

    /// A (0, 2)-sequence in base 2: every elementary interval of the first 2^k points holds one. So do the first two words
    /// of the first group; of others, every word alone.
    #[test]
    fn the_first_samples_of_a_pixel_are_nets_in_every_block() {
        for (block, bounce, pixel) in
            [(Block::Camera, 0, 0), (Block::Light, 3, 9), (Block::Bsdf, 9, 1234), (Block::Bsdf, 1, 7)]
        {
            for k in 0..=10u32 {
                let key = |sample| SampleKey { pixel, sample, seed: 5, sampler: Sampler::Sobol };
                let points: Vec<[u32; 4]> = (0..1 << k).map(|i| draw(key(i), block, bounce)).collect();
                let of_first = [0, sobol::GROUPS].contains(&sobol_group(block.at(bounce)));
                for columns in (0..=k).filter(|_| of_first) {
                    let rows = k - columns;
                    let cell = |word: u32, bits: u32| word.checked_shr(32 - bits).unwrap_or(0);
                    let cells = |p: &[u32; 4]| cell(p[0], columns) << rows | cell(p[1], rows);
                    let filled: std::collections::HashSet<u32> = points.iter().map(cells).collect();
                    assert_eq!(filled.len(), points.len(), "{block:?}: 2^{k} points, 2^{columns} columns");
                }
                for word in 0..4 {
                    let strata = points.iter().map(|p| p[word].checked_shr(32 - k).unwrap_or(0));
                    assert_eq!(strata.collect::<std::collections::HashSet<_>>().len(), points.len());
                }
            }
        }
    }

    #[test]
    fn blocks_pixels_and_seeds_have_orders_of_their_own() {
        let at = |pixel, seed, block| {
            let key = |sample| SampleKey { pixel, sample, seed, sampler: Sampler::Sobol };
            let centered = |i| f64::from(uniform(draw(key(i), block, JOINT_BOUNCES)[0])) - 0.5;
            (0..64).map(centered).collect::<Vec<_>>()
        };
        let base = at(1, 1, Block::Light);
        for other in [at(2, 1, Block::Light), at(1, 2, Block::Light), at(1, 1, Block::Bsdf)] {
            let correlation: f64 = base.iter().zip(&other).map(|(a, b)| a * b * 12.0 / 64.0).sum();
            // A standard deviation of an eighth for independent numbers.
            assert!(correlation.abs() < 0.5, "{correlation}");
        }
        // Blocks with groups share the order, and are scrambled each by itself
        let error = |pixel| {
            let key = |sample| SampleKey { pixel, sample, seed: 1, sampler: Sampler::Sobol };
            (0..16).map(|i| f64::from(uniform(draw(key(i), Block::Light, 0)[0]))).sum::<f64>() / 16.0 - 0.5
        };
        let errors: Vec<f64> = (0..4096).map(error).collect();
        let product = |apart: usize| errors.iter().zip(&errors[apart..]).map(|(a, b)| a * b).sum::<f64>();
        for apart in [1, 64] {
            let correlation = product(apart) / product(0);
            assert!(correlation.abs() < 0.08, "{correlation} between pixels {apart} apart");
        }
    }

    #[test]
    fn index_below_covers_its_range() {
        assert_eq!(index_below(0, 5), 0);
        assert_eq!(index_below(u32::MAX, 5), 4);
        assert_eq!(index_below(u32::MAX, u32::MAX), u32::MAX - 1);
    }
}
