//! Input domains of probes.

use lockstep_core::math::rng::pcg4d;
use lockstep_core::math::vec3::{Vec3, normalize, vec3};

/// The domain of one input, or a group of inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Domain {
    /// Any 32 bits read as a float: NaN, infinities and denormals as often as not.
    Bits,
    /// Any 32 bits.
    Word,
    /// An integer below this.
    Below(u32),
    /// A finite float of any size.
    Finite,
    /// A result of [`lockstep_core::math::rng::uniform`], its ends often.
    Unit,
    /// A float between two bounds, the bounds often.
    Range(f32, f32),
    /// Three coordinates: on a small grid, where ties and exact zeros are common, or anywhere near, far or
    /// huge.
    Point,
    /// Three components of a direction of any length: often along an axis or a diagonal, never zero.
    Direction,
    /// Three components of a unit vector with positive z, sometimes grazing.
    Upper,
    /// Three components of a unit vector, often along an axis.
    Unit3,
}

/// Floats at which functions take another branch.
const SPECIAL: [f32; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    0.25,
    0.999_999_94,
    1.000_000_1,
    1e-45,
    -1e-45,
    1.175_494_2e-38,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    8_388_607.5,
    8_388_608.0,
    -16_777_216.0,
    1_048_576.0,
    1_048_576.1,
    1_073_741_824.0,
    -2_147_483_648.0,
];

/// A stream of random words, one stream per input item of a probe.
pub(super) struct Stream {
    probe: u32,
    item: u32,
    next: u32,
}

impl Stream {
    pub(super) fn new(probe: u32, item: u32) -> Self {
        Self { probe, item, next: 0 }
    }

    fn word(&mut self) -> u32 {
        self.next += 1;
        pcg4d([self.probe, self.item, self.next, 0x5eed])[0]
    }

    fn below(&mut self, n: u32) -> u32 {
        lockstep_core::math::rng::index_below(self.word(), n)
    }

    fn unit(&mut self) -> f32 {
        lockstep_core::math::rng::uniform(self.word())
    }

    fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    fn bits(&mut self) -> f32 {
        match self.below(8) {
            0 => SPECIAL[self.below(SPECIAL.len() as u32) as usize],
            1 => self.signed(),
            2 => self.below(65_536) as f32 - 32_768.0,
            _ => f32::from_bits(self.word()),
        }
    }

    fn finite(&mut self) -> f32 {
        loop {
            let v = self.bits();
            if v.is_finite() {
                return v;
            }
        }
    }

    fn point(&mut self, scale: f32) -> Vec3 {
        vec3(self.signed() * scale, self.signed() * scale, self.signed() * scale)
    }

    fn grid(&mut self) -> Vec3 {
        vec3(self.grid_step(), self.grid_step(), self.grid_step())
    }

    fn grid_step(&mut self) -> f32 {
        (self.below(9) as f32 - 4.0) * 0.5
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = match self.below(4) {
                0 => self.grid(),
                1 => self.point(1e-20),
                _ => self.point(1.0),
            };
            if v != Vec3::ZERO {
                return v;
            }
        }
    }

    /// Appends one value, or the three of a group.
    pub(super) fn append(&mut self, domain: Domain, words: &mut Vec<u32>) {
        let three = |v: Vec3| v.to_array().map(f32::to_bits);
        match domain {
            Domain::Bits => words.push(self.bits().to_bits()),
            Domain::Word => {
                let word = match self.below(8) {
                    0 => [0, 1, u32::MAX, 0x8000_0000][self.below(4) as usize],
                    _ => self.word(),
                };
                words.push(word);
            }
            Domain::Below(n) => words.push(self.below(n)),
            Domain::Finite => words.push(self.finite().to_bits()),
            Domain::Unit => {
                let u = match self.below(16) {
                    0 => 0.0,
                    1 => 0.999_999_94,
                    2 => 0.25 * self.below(4) as f32,
                    _ => self.unit(),
                };
                words.push(u.to_bits());
            }
            Domain::Range(lo, hi) => {
                let v = match self.below(16) {
                    0 => lo,
                    1 => hi,
                    _ => lo + (hi - lo) * self.unit(),
                };
                words.push(v.to_bits());
            }
            Domain::Point => {
                let p = match self.below(8) {
                    0..4 => self.grid(),
                    4 | 5 => self.point(4.0),
                    6 => self.point(1e6),
                    _ => vec3(self.finite(), self.finite(), self.finite()),
                };
                words.extend(three(p));
            }
            Domain::Direction => words.extend(three(self.direction())),
            Domain::Unit3 => words.extend(three(normalize(self.direction() * 1.0))),
            Domain::Upper => {
                let d = self.point(1.0);
                let height = if self.below(4) == 0 { 1e-4 } else { self.unit() + 1e-4 };
                words.extend(three(normalize(vec3(d.x, d.y, height))));
            }
        }
    }
}

impl Domain {
    /// Number of words of the domain.
    pub(super) const fn words(self) -> usize {
        match self {
            Self::Point | Self::Direction | Self::Upper | Self::Unit3 => 3,
            _ => 1,
        }
    }
}
