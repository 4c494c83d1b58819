//! Keys of the samples of all lanes, and their draws.

use crate::simd::{LANES, U32xN};
use lockstep_core::math::rng::{SampleKey, draw_at, pcg_draw};
use lockstep_core::{Sampler, Settings};

/// Pixels and sample indices, one per lane; seed and sampler are those of the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneKeys {
    pixel: U32xN,
    sample: U32xN,
}

impl LaneKeys {
    /// Assigns a sample to a lane.
    #[inline(always)]
    pub(crate) fn put(&mut self, lane: usize, key: SampleKey) {
        (self.pixel.0[lane], self.sample.0[lane]) = (key.pixel, key.sample);
    }

    /// The sample of a lane.
    #[inline(always)]
    pub(crate) fn at(&self, lane: usize, settings: &Settings) -> SampleKey {
        settings.key(self.pixel.0[lane], self.sample.0[lane])
    }

    /// Draws the four random words of a dimension for every lane.
    #[inline(always)]
    pub(crate) fn draw(&self, settings: &Settings, dimension: u32, words: &mut [U32xN; 4]) {
        // The sampler is chosen outside the loop, so that the default's is vectorised
        if settings.sampler == Sampler::Pcg {
            self.draw_by(settings, dimension, words, pcg_draw);
        } else {
            self.draw_by(settings, dimension, words, draw_at);
        }
    }

    #[inline(always)]
    fn draw_by(
        &self,
        settings: &Settings,
        dimension: u32,
        words: &mut [U32xN; 4],
        draw: impl Fn(SampleKey, u32) -> [u32; 4],
    ) {
        let [a, b, c, d] = words;
        for i in 0..LANES {
            let drawn = draw(self.at(i, settings), dimension);
            (a.0[i], b.0[i], c.0[i], d.0[i]) = (drawn[0], drawn[1], drawn[2], drawn[3]);
        }
    }
}
