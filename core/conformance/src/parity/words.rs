//! Reading inputs and collecting results as words.

use lockstep_core::film::InvalidSamples;
use lockstep_core::geometry::Ray;
use lockstep_core::math::rng::SampleKey;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::camera::CameraFrame;

/// The input words of one item.
#[derive(Clone, Copy)]
pub(super) struct In<'a>(pub(super) &'a [u32]);

impl In<'_> {
    pub(super) fn u(&self, i: usize) -> u32 {
        self.0[i]
    }

    pub(super) fn f(&self, i: usize) -> f32 {
        f32::from_bits(self.0[i])
    }

    pub(super) fn v(&self, i: usize) -> Vec3 {
        vec3(self.f(i), self.f(i + 1), self.f(i + 2))
    }

    pub(super) fn key(&self, i: usize) -> SampleKey {
        SampleKey { pixel: self.u(i), sample: self.u(i + 1), seed: self.u(i + 2), ..SampleKey::default() }
    }

    /// Reads a ray, as `probe_ray` in `kernels/tests/probe.h` does.
    pub(super) fn ray(&self) -> Ray {
        Ray { origin: self.v(0), t_min: 0.0, direction: self.v(3), t_max: self.f(6) }
    }

    /// Reads a camera, as `probe_camera` in `kernels/tests/probe.h` does.
    pub(super) fn camera(&self) -> CameraFrame {
        CameraFrame {
            eye: self.v(0),
            lens_radius: self.f(3),
            right: self.v(4),
            focus_distance: self.f(7),
            up: self.v(8),
            width: self.u(11).wrapping_add(1),
            forward: self.v(12),
            height: self.u(15).wrapping_add(1),
        }
    }
}

/// The result words of one item.
pub(super) struct Out<'a>(pub(super) &'a mut Vec<u32>);

impl Out<'_> {
    pub(super) fn u(&mut self, value: u32) {
        self.0.push(value);
    }

    /// Film units of the channels, low words first, and the counts of invalid samples.
    pub(super) fn units(&mut self, units: [i64; 3], invalid: &InvalidSamples) {
        for channel in units {
            self.u(channel as u32);
            self.u((channel >> 32) as u32);
        }
        for count in [invalid.non_finite, invalid.negative, invalid.clamped] {
            self.u(count as u32);
        }
    }

    pub(super) fn b(&mut self, value: bool) {
        self.0.push(u32::from(value));
    }

    pub(super) fn f(&mut self, value: f32) {
        self.0.push(value.to_bits());
    }

    pub(super) fn v(&mut self, value: Vec3) {
        self.f(value.x);
        self.f(value.y);
        self.f(value.z);
    }
}
