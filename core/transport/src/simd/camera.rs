//! Camera rays of a batch.

use crate::simd::{F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::Sampler;
use lockstep_core::math::rng::{Block, SampleKey, draw_at, pcg_draw, uniforms};
use lockstep_core::scene::camera::CameraFrame;

/// Pixels and camera rays, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct CameraRays {
    pub(crate) pixel: U32xN,
    pub(crate) column: F32xN,
    pub(crate) row: F32xN,
    pub(crate) origin: Vec3xN,
    pub(crate) direction: Vec3xN,
}

impl CameraRays {
    /// Computes all camera rays with the widest instructions of the processor.
    #[inline]
    pub(crate) fn aim(&mut self, camera: &CameraFrame, key: SampleKey) {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.aim_by_avx2(camera, key) };
        }
        self.aim_portably(camera, key);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn aim_by_avx2(&mut self, camera: &CameraFrame, key: SampleKey) {
        self.aim_portably(camera, key);
    }

    #[inline(always)]
    fn aim_portably(&mut self, camera: &CameraFrame, key: SampleKey) {
        // The sampler is chosen outside the loop, so that the default's is vectorised
        if key.sampler == Sampler::Pcg {
            self.aim_by(camera, key, pcg_draw);
        } else {
            self.aim_by(camera, key, draw_at);
        }
    }

    #[inline(always)]
    fn aim_by(&mut self, camera: &CameraFrame, key: SampleKey, draw: impl Fn(SampleKey, u32) -> [u32; 4]) {
        for i in 0..LANES {
            let u = uniforms(draw(SampleKey { pixel: self.pixel.0[i], ..key }, Block::Camera.at(0)));
            let (origin, direction) = camera.ray_through([self.column.0[i], self.row.0[i]], u);
            self.origin.put(i, origin);
            self.direction.put(i, direction);
        }
    }
}
