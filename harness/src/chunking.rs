//! Passes in chunks short enough to be interrupted and watched.
//!
//! A film does not depend on how its samples are split over calls, so a long pass can be rendered chunk by
//! chunk: the same film, the times added up.

use std::ops::Range;
use std::time::Instant;

use lockstep_core::{PassReport, Renderer, TargetId};

use crate::exit::Failure;
use crate::interrupt;
use crate::together;

/// The time that a chunk should take: long enough that starting it costs nothing, short enough to wait for.
const CHUNK_SECONDS: f64 = 0.7;

/// The time that a chunk of a group of targets should take.
const GROUP_SECONDS: f64 = 60.0;

/// A pass that was rendered, or one that the user stopped.
#[derive(Debug)]
pub(crate) enum Pass {
    /// All samples are in the film.
    Done(PassReport),
    /// The user stopped the pass, and the film holds some of its samples.
    Stopped,
}

/// The size of chunks, by the speed of the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunking {
    /// Seconds that a chunk should take.
    chunk_seconds: f64,
    /// Seconds that one sample of every pixel takes; zero before the first chunk.
    seconds_per_spp: f64,
}

impl Default for Chunking {
    fn default() -> Self {
        Self { chunk_seconds: CHUNK_SECONDS, seconds_per_spp: 0.0 }
    }
}

impl Chunking {
    /// Chunks that suit a target. A group shares out each chunk anew, and waits for the last share.
    pub(crate) fn of(target: &TargetId) -> Self {
        let chunk_seconds = if together::is_group(target) { GROUP_SECONDS } else { CHUNK_SECONDS };
        Self { chunk_seconds, ..Self::default() }
    }

    /// Adds samples to a renderer's film, telling `progress` how many are done after each chunk.
    ///
    /// # Errors
    /// [`Failure::Core`] of the renderer.
    pub(crate) fn accumulate(
        &mut self,
        renderer: &mut dyn Renderer,
        samples: Range<u32>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Pass, Failure> {
        let mut sum = PassReport::default();
        let mut next = samples.start;
        while next < samples.end {
            if interrupt::requested() {
                return Ok(Pass::Stopped);
            }
            let chunk = next..samples.end.min(next.saturating_add(self.chunk()));
            let start = Instant::now();
            sum.merge(renderer.accumulate(chunk.clone())?);
            self.seconds_per_spp = start.elapsed().as_secs_f64() / f64::from(chunk.end - chunk.start);
            progress(u64::from(chunk.end - chunk.start));
            next = chunk.end;
        }
        Ok(Pass::Done(sum))
    }

    /// Seconds that `spp` samples of every pixel will take; `None` before the first chunk.
    pub(crate) fn predict(&self, spp: u32) -> Option<f64> {
        (self.seconds_per_spp > 0.0).then(|| self.seconds_per_spp * f64::from(spp))
    }

    /// Samples of every pixel in a chunk; one before the first.
    fn chunk(&self) -> u32 {
        if self.seconds_per_spp > 0.0 {
            (self.chunk_seconds / self.seconds_per_spp).max(1.0) as u32
        } else {
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::read_film;
    use lockstep_core::math::vec3::vec3;
    use lockstep_core::null::NullRenderer;
    use lockstep_core::scene::{EnvironmentLight, SceneBuilder};
    use lockstep_core::{Film, Settings};

    fn film_of(passes: &[Range<u32>]) -> (Film, u64) {
        let mut builder = SceneBuilder::new("sky");
        let (zenith, ground) = (vec3(0.1, 0.2, 0.9), vec3(0.3, 0.2, 0.1));
        builder.environment = EnvironmentLight::Gradient { zenith, horizon: vec3(1.0, 1.0, 1.0), ground };
        let mut renderer = NullRenderer::new();
        let settings = Settings { width: 8, height: 8, ..Settings::default() };
        renderer.load(&builder.build().unwrap(), &settings).unwrap();
        let (mut chunking, mut seen) = (Chunking::default(), 0);
        for pass in passes {
            let done = chunking.accumulate(&mut renderer, pass.clone(), &mut |n| seen += n).unwrap();
            let Pass::Done(report) = done else { panic!("nobody interrupts") };
            assert_eq!(report.extension_rays(), 64 * u64::from(pass.end - pass.start));
        }
        (read_film(&mut renderer).unwrap(), seen)
    }

    #[test]
    fn a_pass_in_chunks_is_the_same_film_as_one_pass() {
        let (whole, seen) = film_of(std::slice::from_ref(&(0..100)));
        assert_eq!((film_of(&[0..1, 1..40, 40..100]).0, seen), (whole, 100));
    }

    #[test]
    fn chunks_grow_with_the_speed_and_stay_at_least_one_sample() {
        assert_eq!(Chunking::default().chunk(), 1);
        assert_eq!(Chunking { seconds_per_spp: CHUNK_SECONDS / 128.0, ..Chunking::default() }.chunk(), 128);
        assert_eq!(Chunking { seconds_per_spp: 60.0, ..Chunking::default() }.chunk(), 1);
    }
}
