//! Random numbers for building scenes, from the core's hash.

use lockstep_core::math::rng::{index_below, pcg4d, uniform};
use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::{Vec3, vec3};

/// A stream of draws; streams of different seeds are independent.
#[derive(Clone, Debug)]
pub(super) struct Random {
    seed: u32,
    counter: u32,
}

impl Random {
    pub(super) fn new(seed: u32) -> Self {
        Self { seed, counter: 0 }
    }

    /// 32 random bits.
    pub(super) fn word(&mut self) -> u32 {
        let word = pcg4d([self.counter, self.seed, 0x5ce7_e5ee, 0])[0];
        self.counter = self.counter.wrapping_add(1);
        word
    }

    /// Uniform in `[0, 1)`.
    pub(super) fn unit(&mut self) -> f32 {
        uniform(self.word())
    }

    /// Uniform in `[low, high)`.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Uniform below `n`.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        index_below(self.word(), n)
    }

    /// A point with coordinates uniform in `[low, high)`.
    pub(super) fn vector(&mut self, low: f32, high: f32) -> Vec3 {
        let x = self.between(low, high);
        let y = self.between(low, high);
        let z = self.between(low, high);
        vec3(x, y, z)
    }

    /// A direction uniform over the sphere.
    pub(super) fn direction(&mut self) -> Vec3 {
        let height = self.between(-1.0, 1.0);
        let (sin, cos) = sin_cos_turns(self.unit());
        let ring = (1.0 - height * height).max(0.0).sqrt();
        vec3(ring * cos, height, ring * sin)
    }

    /// Columns of a uniformly random rotation (Shoemake, *Graphics Gems III*, 1992).
    pub(super) fn rotation(&mut self) -> [Vec3; 3] {
        let (u, turn_1, turn_2) = (self.unit(), self.unit(), self.unit());
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        let (s1, c1) = sin_cos_turns(turn_1);
        let (s2, c2) = sin_cos_turns(turn_2);
        let (x, y, z, w) = (a * s1, a * c1, b * s2, b * c2);
        [
            vec3(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)),
            vec3(2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)),
            vec3(2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::{cross, dot, length};

    #[test]
    fn rotations_are_right_handed_and_orthonormal() {
        let mut random = Random::new(1);
        for _ in 0..100 {
            let [x, y, z] = random.rotation();
            assert!(length(cross(x, y) - z) < 1e-5);
            assert!(dot(x, y).abs() < 1e-5 && (length(x) - 1.0).abs() < 1e-5);
        }
    }
}
