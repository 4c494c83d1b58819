//! Counter-based random numbers with named dimensions.
//!
//! A draw is a hash of (pixel, sample, dimension, seed): it needs no state, so any sample of any pixel can be
//! computed alone, on any device, in any order. The hash is pcg4d (Jarzynski and Olano, *Hash Functions for
//! GPU Rendering*, JCGT 9(3), 2020), integers only. One call gives the four words of one *block* of
//! dimensions.

use bytemuck::{Pod, Zeroable};

/// Purpose of a block of four draws. Blocks of one path never coincide.
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
    EmissionPosition = 1 << 31,
    /// Direction u, direction v of that ray, or the cell of the environment's importance grid as in
    /// [`Block::Environment`].
    EmissionDirection = (1 << 31) + 1,
    /// As [`Block::Bsdf`] on a light sub-path; per bounce.
    LightBsdf = (1 << 31) + 2,
    /// Key of stochastic alpha along an extension ray of a light sub-path; per bounce.
    LightExtensionAlpha = (1 << 31) + 3,
    /// Lens u, lens v of the connection of a light sub-path's vertex to the camera; per bounce.
    Lens = (1 << 31) + 4,
    /// Key of stochastic alpha along the connection of two sub-paths; per technique.
    ConnectionAlpha = 3 << 30,
    /// Colour channel in dispersive media; one draw a sample.
    Dispersion = (3 << 30) + 1,
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SampleKey {
    /// `y * width + x`.
    pub pixel: u32,
    /// Sample index within the pixel.
    pub sample: u32,
    /// The study's seed.
    pub seed: u32,
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
    pcg4d([key.pixel, key.sample, block.at(bounce), key.seed])
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RayKey {
    /// The sample.
    pub sample: SampleKey,
    /// The dimension counter of [`Block::ExtensionAlpha`] or [`Block::ShadowAlpha`] at the ray's bounce.
    pub dimension: u32,
}

impl RayKey {
    /// The key of a ray by its block and its index there.
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
            for block in
                [Block::Light, Block::Bsdf, Block::ExtensionAlpha, Block::ShadowAlpha, Block::Environment]
            {
                assert!(seen.insert(block.at(bounce)), "{block:?} at bounce {bounce}");
            }
            for block in [
                Block::Film,
                Block::EmissionPosition,
                Block::EmissionDirection,
                Block::LightBsdf,
                Block::LightExtensionAlpha,
                Block::Lens,
                Block::ConnectionAlpha,
                Block::Dispersion,
            ] {
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
    fn uniforms_fill_the_unit_interval_evenly() {
        let n = 1 << 18;
        for word in 0..4 {
            let (mut sum, mut bins) = (0.0f64, [0u32; 64]);
            for sample in 0..n {
                let u = uniform(draw(SampleKey { pixel: 7, sample, seed: 3 }, Block::Bsdf, 1)[word]);
                assert!((0.0..1.0).contains(&u));
                sum += f64::from(u);
                bins[(u * 64.0) as usize] += 1;
            }
            let expected = f64::from(n) / 64.0;
            let chi2: f64 = bins.iter().map(|&b| (f64::from(b) - expected).powi(2) / expected).sum();
            assert!((sum / f64::from(n) - 0.5).abs() < 0.003, "mean of word {word}");
            assert!(chi2 < 120.0, "chi-squared {chi2} of word {word} with 63 degrees of freedom");
        }
    }

    #[test]
    fn index_below_covers_its_range() {
        assert_eq!(index_below(0, 5), 0);
        assert_eq!(index_below(u32::MAX, 5), 4);
        assert_eq!(index_below(u32::MAX, u32::MAX), u32::MAX - 1);
    }
}
