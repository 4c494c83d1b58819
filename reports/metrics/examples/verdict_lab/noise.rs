//! Random numbers and fields of noise.

/// Random numbers that every machine repeats (splitmix64, Steele, Lea and Flood 2014).
pub(crate) struct Random {
    state: u64,
    /// The second of two normal values.
    kept: Option<f64>,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x5851_F42D_4C95_7F2D;
        let mut made = Self { state, kept: None };
        made.bits();
        made
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.kept = Some(radius * sin);
        radius * cos
    }

    /// Log-normal of mean 1 and this standard deviation.
    pub(crate) fn log_normal(&mut self, deviation: f64) -> f64 {
        let variance = (1.0 + deviation * deviation).ln();
        (variance.sqrt() * self.normal() - 0.5 * variance).exp()
    }

    /// Gamma of this shape, 1 or more, and of scale 1 (Marsaglia and Tsang 2000).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Half everywhere, and the other half of the mean once in `1/share` times.
    pub(crate) fn firefly(&mut self, share: f64) -> f64 {
        if self.uniform() < share { 0.5 + 0.5 / share } else { 0.5 }
    }

    /// Three times its value once in `1/share` times, and less by as much as that adds to the mean else.
    pub(crate) fn spike(&mut self, share: f64) -> f64 {
        1.0 + 2.0 * (f64::from(u8::from(self.uniform() < share)) - share)
    }
}

/// A field of one channel.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) side: usize,
    pub(crate) values: Vec<f64>,
}

impl Field {
    pub(crate) fn from_fn(side: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        Self { side, values: (0..side * side).map(|i| value(i % side, i / side)).collect() }
    }

    pub(crate) fn at(&self, x: i64, y: i64) -> f64 {
        let wrap = |v: i64| v.rem_euclid(self.side as i64) as usize;
        self.values[wrap(y) * self.side + wrap(x)]
    }

    /// Convolved with a separable kernel, of which this is the half from the centre on; wraps around.
    pub(crate) fn filtered(&self, half: &[f64]) -> Self {
        let sum = half[0] + 2.0 * half[1..].iter().sum::<f64>();
        let reach = half.len() as i64 - 1;
        let tap = |d: i64| half[d.unsigned_abs() as usize] / sum;
        let along = |field: &Self, dx: i64, dy: i64| {
            Self::from_fn(self.side, |x, y| {
                (-reach..=reach).map(|d| tap(d) * field.at(x as i64 + d * dx, y as i64 + d * dy)).sum()
            })
        };
        along(&along(self, 1, 0), 0, 1)
    }
}

/// A cross-bilateral filter over 7×7 pixels, its weights known from a guide.
pub(crate) struct Bilateral(Vec<[f64; 49]>);

impl Bilateral {
    /// A bilateral filter of these standard deviations in space and in the values of the guide.
    pub(crate) fn of(guide: &Field, space: f64, range: f64) -> Self {
        let of_pixel = |i: usize| {
            let (x, y) = ((i % guide.side) as i64, (i / guide.side) as i64);
            let weights: [f64; 49] = std::array::from_fn(|k| {
                let (dx, dy) = lag(k);
                let away = (guide.at(x + dx, y + dy) - guide.at(x, y)) / range;
                let distance = (dx * dx + dy * dy) as f64 / (2.0 * space * space);
                (-distance - 0.5 * away * away).exp()
            });
            let sum: f64 = weights.iter().sum();
            weights.map(|w| w / sum)
        };
        Self((0..guide.values.len()).map(of_pixel).collect())
    }

    pub(crate) fn filter(&self, noisy: &Field) -> Field {
        Field::from_fn(noisy.side, |x, y| {
            let at = |k: usize| noisy.at(x as i64 + lag(k).0, y as i64 + lag(k).1);
            self.0[y * noisy.side + x].iter().enumerate().map(|(k, w)| w * at(k)).sum()
        })
    }
}

fn lag(k: usize) -> (i64, i64) {
    ((k % 7) as i64 - 3, (k / 7) as i64 - 3)
}

/// The half kernel of a Gaussian.
pub(crate) fn gaussian(sigma: f64) -> Vec<f64> {
    (0..=(4.0 * sigma).ceil() as i32).map(|d| (-0.5 * (f64::from(d) / sigma).powi(2)).exp()).collect()
}

/// The half kernel of noise under a filter that pixels share samples by: the filter's values at the samples'
/// mean distances.
pub(crate) fn tent() -> Vec<f64> {
    vec![0.5, 0.25]
}

/// Mitchell and Netravali's filter (1988), B = C = 1/3, of radius 2, averaged over a pixel.
pub(crate) fn mitchell() -> Vec<f64> {
    let value = |x: f64| {
        let x = x.abs();
        if x < 1.0 {
            (7.0 * x * x * x - 12.0 * x * x + 16.0 / 3.0) / 6.0
        } else if x < 2.0 {
            (-7.0 / 3.0 * x * x * x + 12.0 * x * x - 20.0 * x + 32.0 / 3.0) / 6.0
        } else {
            0.0
        }
    };
    let mean =
        |d: i32| (0..64).map(|i| value(f64::from(d) - 0.5 + (f64::from(i) + 0.5) / 64.0)).sum::<f64>() / 64.0;
    (0..=2).map(mean).collect()
}
