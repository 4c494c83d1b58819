//! The cases: images without bias, and mutants with one.

use super::noise::{Field, Random, gaussian, mitchell, tent};
use lockstep_metrics::image_io::{LinearImage, Precision, srgb};

pub(crate) const SIDE: usize = 128;

type Deviation = Box<dyn Fn(usize, usize) -> f64 + Sync>;
type Make = dyn Fn(&mut Random, usize) -> Pair + Sync;
type MakeOne = dyn Fn(&mut Random) -> (LinearImage, LinearImage) + Sync;
type Pair = (Vec<LinearImage>, Vec<LinearImage>);

/// A way of making pairs of images, `seeds` of each side.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) seeds: &'static [usize],
    /// The standard deviation of the noise of one image of B at a pixel and channel, where a test of pixels is
    /// shown beside ours.
    pub(crate) deviation: Option<Deviation>,
    pub(crate) make: Box<Make>,
}

const BOTH: &[usize] = &[1, 4];

/// The scene at a pixel, by channel: smooth shading, panels, and a level for each channel.
fn scene(x: f64, y: f64, channel: usize) -> f64 {
    let panel = f64::from(((x / 32.0).floor() + (y / 32.0).floor()).rem_euclid(2.0) as u32);
    (0.3 + 0.2 * (x / 9.0).sin() * (y / 13.0).cos() + 0.3 * panel) * [1.0, 0.8, 0.5][channel]
}

fn plain(x: usize, y: usize, channel: usize) -> f64 {
    scene(x as f64, y as f64, channel)
}

/// An image: what is shown times a field of noise of mean 1 for each channel.
fn image(show: &dyn Fn(usize, usize, usize) -> f64, noise: &mut dyn FnMut() -> Field) -> LinearImage {
    let fields = [noise(), noise(), noise()];
    LinearImage::from_fn(SIDE as u32, SIDE as u32, |x, y| {
        let (x, y) = (x as usize, y as usize);
        std::array::from_fn(|c| (show(x, y, c) * fields[c].values[y * SIDE + x]) as f32)
    })
}

fn white(random: &mut Random, value: &dyn Fn(&mut Random) -> f64) -> Field {
    Field::from_fn(SIDE, |_, _| value(random))
}

type Noise = Box<dyn Fn(&mut Random) -> Field + Sync>;

fn independent(value: impl Fn(&mut Random) -> f64 + Sync + 'static) -> Noise {
    Box::new(move |random| white(random, &value))
}

fn filtered(half: Vec<f64>, value: impl Fn(&mut Random) -> f64 + Sync + 'static) -> Noise {
    Box::new(move |random| white(random, &value).filtered(&half))
}

fn normal(deviation: f64) -> impl Fn(&mut Random) -> f64 + Sync + Copy + 'static {
    move |random| 1.0 + deviation * random.normal()
}

fn sides(name: &'static str, a: Noise, b: Noise) -> Case {
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let mut side = |noise: &Noise| (0..seeds).map(|_| image(&plain, &mut || noise(random))).collect();
        (side(&a), side(&b))
    };
    Case { name, seeds: BOTH, deviation: None, make: Box::new(make) }
}

fn equal(name: &'static str, noise: fn() -> Noise) -> Case {
    sides(name, noise(), noise())
}

/// 8-bit sRGB, as a file keeps it.
fn coded(image: &LinearImage) -> LinearImage {
    LinearImage::from_fn(SIDE as u32, SIDE as u32, |x, y| {
        image.pixels()[(y * SIDE as u32 + x) as usize].map(|v| srgb::decode8(srgb::encode8(v)))
    })
    .with_precision(Precision::Code8)
}

fn as_coded(case: Case, name: &'static str) -> Case {
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let (a, b) = (case.make)(random, seeds);
        (a.iter().map(coded).collect(), b.iter().map(coded).collect())
    };
    Case { name, make: Box::new(make), ..case }
}

/// Noisy images, each filtered by its own content.
fn denoised(name: &'static str, a: f64, b: f64) -> Case {
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let mut side = |deviation: f64| -> Vec<LinearImage> {
            (0..seeds)
                .map(|_| {
                    let channel = |c: usize, random: &mut Random| {
                        let noisy =
                            Field::from_fn(SIDE, |x, y| plain(x, y, c) * (1.0 + deviation * random.normal()));
                        // Guided by features without noise, as denoisers are by albedo and normals.
                        let guide = Field::from_fn(SIDE, |x, y| plain(x, y, c));
                        noisy.bilateral(&guide, 2.0, 0.1)
                    };
                    let channels = [0, 1, 2].map(|c| channel(c, random));
                    LinearImage::from_fn(SIDE as u32, SIDE as u32, |x, y| {
                        [0, 1, 2].map(|c| channels[c].values[y as usize * SIDE + x as usize] as f32)
                    })
                })
                .collect()
        };
        (side(a), side(b))
    };
    Case { name, seeds: BOTH, deviation: None, make: Box::new(make) }
}

/// Noise without low frequencies: white noise less its Gaussian blur.
fn blue() -> Noise {
    Box::new(|random| {
        let noise = white(random, &|random| random.normal());
        let low = noise.filtered(&gaussian(1.5));
        Field::from_fn(SIDE, |x, y| 1.0 + 0.3 * (noise.at(x as i64, y as i64) - low.at(x as i64, y as i64)))
    })
}

/// The mean of `samples` exponential values.
fn exponential(samples: u32) -> impl Fn(&mut Random) -> f64 + Sync + Copy + 'static {
    move |random| (0..samples).map(|_| -(1.0 - random.uniform()).ln()).sum::<f64>() / f64::from(samples)
}

pub(crate) fn unbiased() -> Vec<Case> {
    let g = |sigma: f64| filtered(gaussian(sigma), normal(0.3));
    vec![
        equal("independent, normal 0.3", || independent(normal(0.3))),
        equal("independent, log-normal 1", || independent(|r: &mut Random| r.log_normal(1.0))),
        equal("independent, log-normal 4", || independent(|r: &mut Random| r.log_normal(4.0))),
        equal("binary", || independent(|r: &mut Random| if r.uniform() < 0.1 { 10.0 } else { 0.0 })),
        equal("tent filter", || filtered(tent(), normal(0.3))),
        sides("Gaussian filter 0.5 px", g(0.5), g(0.5)),
        sides("Gaussian filter 1 px", g(1.0), g(1.0)),
        sides("Gaussian filter 2 px", g(2.0), g(2.0)),
        equal("Mitchell filter", || filtered(mitchell(), normal(0.3))),
        equal("Gaussian filter 1 px, log-normal 1", || {
            filtered(gaussian(1.0), |r: &mut Random| r.log_normal(1.0))
        }),
        sides("Gaussian filter 1 px, normal 0.3 against 0.02", g(1.0), filtered(gaussian(1.0), normal(0.02))),
        sides("Gaussian filter 0.5 px, 0.3 against box 0.02", g(0.5), independent(normal(0.02))),
        sides(
            "Gaussian filter 1 px, log-normal 4 against 0.1",
            filtered(gaussian(1.0), |r: &mut Random| r.log_normal(4.0)),
            filtered(gaussian(1.0), |r: &mut Random| r.log_normal(0.1)),
        ),
        denoised("denoised, 0.3", 0.3, 0.3),
        denoised("denoised, 0.3 against 0.03", 0.3, 0.03),
        equal("blue noise", blue),
        sides(
            "log-normal 4 against 0.1",
            independent(|r: &mut Random| r.log_normal(4.0)),
            independent(|r: &mut Random| r.log_normal(0.1)),
        ),
        sides(
            "log-normal 1 against 0.1",
            independent(|r: &mut Random| r.log_normal(1.0)),
            independent(|r: &mut Random| r.log_normal(0.1)),
        ),
        equal("fireflies", || independent(|r: &mut Random| r.firefly(0.001))),
        sides(
            "fireflies against converged",
            independent(|r: &mut Random| r.firefly(0.001) + 0.1 * r.normal()),
            independent(normal(0.01)),
        ),
        sides("1 against 4 samples", independent(exponential(1)), independent(exponential(4))),
        sides("4 against 64 samples", independent(exponential(4)), independent(exponential(64))),
        sides("1 against 1,024 samples", independent(exponential(1)), independent(normal(1.0 / 32.0))),
        as_coded(sides("", independent(normal(0.3)), independent(normal(0.1))), "8-bit, 0.3 against 0.1"),
        as_coded(sides("", independent(normal(0.3)), independent(normal(0.3))), "8-bit, 0.3"),
        as_coded(
            sides("", independent(normal(0.001)), independent(normal(0.02))),
            "8-bit, 0.001 against 0.02",
        ),
        as_coded(sides("", g(0.5), g(0.5)), "8-bit, Gaussian filter 0.5 px"),
    ]
}

/// The scene as B shows it where A shows it unchanged; noise of both sides alike.
fn mutant(
    name: &'static str,
    noise: f64,
    show_a: impl Fn(usize, usize, usize) -> f64 + Sync + 'static,
    show_b: impl Fn(usize, usize, usize) -> f64 + Sync + Clone + 'static,
) -> Case {
    let shown = show_b.clone();
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let value = normal(noise);
        let mut side = |show: &(dyn Fn(usize, usize, usize) -> f64 + Sync)| {
            (0..seeds).map(|_| image(&show, &mut || white(random, &value))).collect()
        };
        (side(&show_a), side(&show_b))
    };
    Case {
        name,
        seeds: BOTH,
        deviation: Some(Box::new(move |pixel, c| noise * shown(pixel % SIDE, pixel / SIDE, c))),
        make: Box::new(make),
    }
}

/// A texture of smoothed noise, that of every pair.
fn texture() -> Field {
    let mut random = Random::new(77);
    let smooth = white(&mut random, &|random| random.normal()).filtered(&gaussian(1.0));
    let scale = (smooth.values.iter().map(|v| v * v).sum::<f64>() / smooth.values.len() as f64).sqrt();
    Field { values: smooth.values.iter().map(|v| (0.5 + 0.15 * v / scale).max(0.05)).collect(), ..smooth }
}

fn checker(period: usize) -> Field {
    Field::from_fn(SIDE, move |x, y| if (x / period + y / period).is_multiple_of(2) { 0.4 } else { 0.6 })
}

fn shows(field: Field, dx: i64) -> impl Fn(usize, usize, usize) -> f64 + Sync + Clone + 'static {
    move |x, y, _| field.at(x as i64 - dx, y as i64)
}

fn brighter(
    factor: f64,
    inside: impl Fn(usize, usize) -> bool + Sync + 'static,
) -> impl Fn(usize, usize, usize) -> f64 + Sync + 'static {
    move |x, y, c| plain(x, y, c) * if inside(x, y) { factor } else { 1.0 }
}

pub(crate) fn biased() -> Vec<Case> {
    let tile =
        |side: usize| move |x: usize, y: usize| (40..40 + side).contains(&x) && (44..44 + side).contains(&y);
    let panel = |x: usize, y: usize| (x / 32 + y / 32).is_multiple_of(2);
    let three = |x: usize, y: usize| matches!((x, y), (20, 30) | (70, 90) | (110, 15));
    vec![
        mutant("1 % in half the panels, noise 0.02", 0.02, brighter(1.01, panel), plain),
        mutant("1 % in half the panels, noise 0.1", 0.1, brighter(1.01, panel), plain),
        mutant("2 % in 16×16, noise 0.02", 0.02, brighter(1.02, tile(16)), plain),
        mutant("10 % in 16×16, noise 0.2", 0.2, brighter(1.1, tile(16)), plain),
        mutant("2 % everywhere, noise 0.4", 0.4, brighter(1.02, |_, _| true), plain),
        mutant("1 % everywhere, noise 0.4", 0.4, brighter(1.01, |_, _| true), plain),
        mutant("shift of a checker of 1, noise 0.02", 0.02, shows(checker(1), 1), shows(checker(1), 0)),
        mutant("shift of a checker of 4, noise 0.02", 0.02, shows(checker(4), 1), shows(checker(4), 0)),
        mutant("shift of a texture, noise 0.02", 0.02, shows(texture(), 1), shows(texture(), 0)),
        mutant("shift of a checker of 1, noise 0.4", 0.4, shows(checker(1), 1), shows(checker(1), 0)),
        mutant("shift of a checker of 4, noise 0.4", 0.4, shows(checker(4), 1), shows(checker(4), 0)),
        mutant("shift of a texture, noise 0.4", 0.4, shows(texture(), 1), shows(texture(), 0)),
        mutant(
            "filter 0.5 px, checker of 4, noise 0.02",
            0.02,
            shows(checker(4).filtered(&gaussian(0.5)), 0),
            shows(checker(4), 0),
        ),
        mutant(
            "filter 0.5 px, texture, noise 0.02",
            0.02,
            shows(texture().filtered(&gaussian(0.5)), 0),
            shows(texture(), 0),
        ),
        mutant("30 % in 4×4, noise 0.02", 0.02, brighter(1.3, tile(4)), plain),
        mutant("three pixels at three times, noise 0.02", 0.02, brighter(3.0, three), plain),
        mutant("30 % in 4×4, noise 0.1", 0.1, brighter(1.3, tile(4)), plain),
    ]
}

/// A mistake at 5 % noise, with the words that name it.
pub(crate) struct Mistake {
    pub(crate) words: &'static str,
    pub(crate) make: Box<MakeOne>,
}

/// A picture without symmetry, with edges, a texture and colours.
fn picture(field: &Field, x: i64, y: i64) -> [f64; 3] {
    let (u, v) = (x as f64, y as f64);
    let shade =
        0.25 + 0.12 * (u / 7.0).sin() * (v / 11.0 + 0.3).cos() + 0.001 * u + 0.2 * (field.at(x, y) - 0.5);
    let spot = if (u - 40.0).powi(2) + (v - 80.0).powi(2) < 300.0 { 0.3 } else { 0.0 };
    [shade + spot, 0.8 * shade + 0.1 * (v / 5.0).sin().abs(), 0.3 * shade + 0.001 * v]
        .map(|v| v.clamp(0.01, 1.0))
}

fn mistake(
    words: &'static str,
    show_b: impl Fn(&dyn Fn(i64, i64) -> [f64; 3], i64, i64) -> [f64; 3] + Sync + 'static,
) -> Mistake {
    let field = texture();
    let make = move |random: &mut Random| {
        let mut noisy = |show: &dyn Fn(i64, i64) -> [f64; 3]| {
            LinearImage::from_fn(SIDE as u32, SIDE as u32, |x, y| {
                show(i64::from(x), i64::from(y)).map(|v| (v * (1.0 + 0.05 * random.normal())) as f32)
            })
        };
        let shown = |x: i64, y: i64| picture(&field, x, y);
        (noisy(&shown), noisy(&|x, y| show_b(&shown, x, y)))
    };
    Mistake { words, make: Box::new(make) }
}

pub(crate) fn mistakes() -> Vec<Mistake> {
    let last = SIDE as i64 - 1;
    vec![
        mistake("moved by (1, 0) pixels", |show, x, y| show(x - 1, y)),
        mistake("moved by (0, -1) pixels", |show, x, y| show(x, y + 1)),
        mistake("moved by (-17, 6) pixels", |show, x, y| show(x + 17, y - 6)),
        mistake("mirrored left to right", move |show, x, y| show(last - x, y)),
        mistake("upside down", move |show, x, y| show(x, last - y)),
        mistake("turned by 180 degrees", move |show, x, y| show(last - x, last - y)),
        mistake("transposed", |show, x, y| show(y, x)),
        mistake("at gamma 2.2", |show, x, y| show(x, y).map(|v| v.powf(1.0 / 2.2))),
        mistake("encoded as sRGB", |show, x, y| show(x, y).map(srgb::encode)),
        mistake("decoded from sRGB", |show, x, y| show(x, y).map(srgb::decode)),
        mistake("times 1.9|times 2.0", |show, x, y| show(x, y).map(|v| 2.0 * v)),
        mistake("times 0.89|times 0.90", |show, x, y| show(x, y).map(|v| 0.9 * v)),
        mistake("blue, green, red", |show, x, y| {
            let [r, g, b] = show(x, y);
            [b, g, r]
        }),
        mistake("green, red, blue", |show, x, y| {
            let [r, g, b] = show(x, y);
            [g, r, b]
        }),
        mistake("wider reconstruction filter", |show, x, y| {
            // A tent of three pixels.
            let mut sum = [0.0; 3];
            for (dx, dy) in (-1..=1).flat_map(|dy: i64| (-1..=1).map(move |dx: i64| (dx, dy))) {
                let weight = f64::from((2 - dx.abs() as i32) * (2 - dy.abs() as i32)) / 16.0;
                show(x + dx, y + dy).iter().zip(&mut sum).for_each(|(v, sum)| *sum += weight * v);
            }
            sum
        }),
    ]
}
