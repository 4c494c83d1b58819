//! Renders of a small scene, soft shadows on a floor, whose samples are stratified within a pixel or over the
//! whole image: noise that is neither normal nor, over the image, independent between pixels.

use super::noise::Random;
use lockstep_metrics::image_io::LinearImage;

/// Samples per pixel along an axis of a multi-jittered grid.
const GRID: usize = 4;
/// Samples per pixel.
const SAMPLES: usize = GRID * GRID;

/// How the samples of an image are chosen.
#[derive(Clone, Copy)]
pub(crate) enum Sampler {
    /// Uniform and independent.
    Independent,
    /// Correlated multi-jittered (Kensler 2013), a pattern for each pixel.
    MultiJittered,
    /// Points of Sobol with a nested scrambling (Owen 1995) for each pixel.
    SobolByPixel,
    /// One sequence of Sobol over the whole image, scrambled for each image.
    SobolOverImage,
}

/// A place in the pixel and one on the light.
type Sample = [f64; 4];

impl Sampler {
    pub(crate) fn render(self, random: &mut Random, side: usize) -> LinearImage {
        let mut sums = vec![[0.0; 3]; side * side];
        if let Sampler::SobolOverImage = self {
            let scrambles = seeds(random);
            for i in 0..(side * side * SAMPLES) as u32 {
                let [x, y, u, v] = sobol(i, scrambles);
                let (x, y) = (x * side as f64, y * side as f64);
                add(&mut sums[y as usize * side + x as usize], (x, y), (u, v));
            }
        } else {
            for (i, sum) in sums.iter_mut().enumerate() {
                for [x, y, u, v] in self.of_pixel(random) {
                    add(sum, ((i % side) as f64 + x, (i / side) as f64 + y), (u, v));
                }
            }
        }
        LinearImage::from_fn(side as u32, side as u32, |x, y| {
            sums[y as usize * side + x as usize].map(|sum| (sum / SAMPLES as f64) as f32)
        })
    }

    fn of_pixel(self, random: &mut Random) -> Vec<Sample> {
        match self {
            Sampler::MultiJittered => {
                let (pixel, mut light) = (multi_jittered(random), multi_jittered(random));
                shuffle(random, &mut light);
                pixel.into_iter().zip(light).map(|([x, y], [u, v])| [x, y, u, v]).collect()
            }
            Sampler::SobolByPixel => {
                let scrambles = seeds(random);
                (0..SAMPLES as u32).map(|i| sobol(i, scrambles)).collect()
            }
            Sampler::Independent | Sampler::SobolOverImage => {
                (0..SAMPLES).map(|_| [(); 4].map(|()| random.uniform())).collect()
            }
        }
    }
}

fn seeds(random: &mut Random) -> [u32; 4] {
    [(); 4].map(|()| (random.bits() >> 32) as u32)
}

fn shuffle<T>(random: &mut Random, values: &mut [T]) {
    for i in (1..values.len()).rev() {
        values.swap(i, (random.uniform() * (i + 1) as f64) as usize);
    }
}

/// A grid of jittered cells whose rows and columns are each stratified too, by one permutation of either.
fn multi_jittered(random: &mut Random) -> Vec<[f64; 2]> {
    let mut orders = [std::array::from_fn::<usize, GRID, _>(|i| i); 2];
    orders.iter_mut().for_each(|order| shuffle(random, order));
    let grid = GRID as f64;
    let mut point = |i: usize| {
        let (x, y) = (i % GRID, i / GRID);
        let mut within =
            |cell: usize, order: usize| (cell as f64 + (order as f64 + random.uniform()) / grid) / grid;
        [within(x, orders[0][y]), within(y, orders[1][x])]
    };
    (0..SAMPLES).map(&mut point).collect()
}

/// The first four dimensions of a point (direction numbers of Joe and Kuo 2008), scrambled.
fn sobol(index: u32, scrambles: [u32; 4]) -> Sample {
    // Degree, inner coefficients and first numbers of the polynomials of dimensions 2 to 4.
    const POLYNOMIALS: [(usize, u32, [u32; 3]); 3] =
        [(1, 0, [1, 0, 0]), (2, 1, [1, 3, 0]), (3, 1, [1, 3, 1])];
    let of = |dimension: usize| {
        let Some((degree, inner, first)) = dimension.checked_sub(1).map(|i| POLYNOMIALS[i]) else {
            return index.reverse_bits();
        };
        let mut directions = [0u32; 32];
        let mut value = 0;
        for i in 0..32 {
            directions[i] = match i.checked_sub(degree) {
                None => first[i] << (31 - i),
                Some(from) => (1..degree).fold(directions[from] ^ (directions[from] >> degree), |sum, k| {
                    sum ^ (directions[i - k] * ((inner >> (degree - 1 - k)) & 1))
                }),
            };
            value ^= directions[i] * ((index >> i) & 1);
        }
        value
    };
    std::array::from_fn(|d| f64::from(nested(of(d), scrambles[d])) / 4_294_967_296.0)
}

/// Nested uniform scrambling by a hash of the higher digits (Laine and Karras 2011).
fn nested(value: u32, seed: u32) -> u32 {
    let mut v = value.reverse_bits().wrapping_add(seed);
    for factor in [0x6c50_b47c_u32, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6] {
        v ^= v.wrapping_mul(factor);
    }
    v.reverse_bits()
}

/// Adds what a sample sees: a floor of coloured squares, lit by a square above a sphere.
fn add(sum: &mut [f64; 3], (x, y): (f64, f64), (u, v): (f64, f64)) {
    let at = [x / 16.0, y / 16.0];
    let light = [2.5 + u, 1.5 + v, 2.0];
    let away = [light[0] - at[0], light[1] - at[1], light[2]];
    let squared = away.iter().map(|v| v * v).sum::<f64>();
    // Both cosines are the height over the distance.
    let direct = if hits_sphere(at, away) { 0.0 } else { 8.0 * away[2] * away[2] / (squared * squared) };
    let albedo = match (at[0].floor() + at[1].floor()).rem_euclid(2.0) > 0.5 {
        true => [0.8, 0.7, 0.5],
        false => [0.3, 0.2, 0.4],
    };
    sum.iter_mut().zip(albedo).for_each(|(sum, albedo)| *sum += albedo * (0.05 + direct));
}

/// Whether the way from the floor along a vector meets the sphere before its end.
fn hits_sphere(from: [f64; 2], along: [f64; 3]) -> bool {
    const CENTRE: [f64; 3] = [2.0, 2.0, 0.7];
    const RADIUS: f64 = 0.6;
    let to = [CENTRE[0] - from[0], CENTRE[1] - from[1], CENTRE[2]];
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let nearest = (dot(to, along) / dot(along, along)).clamp(0.0, 1.0);
    let apart: [f64; 3] = std::array::from_fn(|i| to[i] - nearest * along[i]);
    dot(apart, apart) < RADIUS * RADIUS
}
