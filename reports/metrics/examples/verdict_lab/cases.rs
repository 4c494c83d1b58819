//! The cases: images without bias, and mutants with one.

use super::noise::{Bilateral, Field, Random, gaussian, mitchell, tent};
use super::samplers::Sampler;
use lockstep_metrics::image_io::{LinearImage, Precision, srgb};

/// The side of mutants and mistakes in pixels.
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

/// The scene of each channel over an image.
fn scenes(side: usize) -> [Field; 3] {
    [0, 1, 2].map(|c| Field::from_fn(side, |x, y| plain(x, y, c)))
}

fn plain(x: usize, y: usize, channel: usize) -> f64 {
    scene(x as f64, y as f64, channel)
}

/// An image: what is shown times a field of noise of mean 1 for each channel.
fn image(show: &dyn Fn(usize, usize, usize) -> f64, fields: &[Field; 3]) -> LinearImage {
    let side = fields[0].side;
    LinearImage::from_fn(side as u32, side as u32, |x, y| {
        let (x, y) = (x as usize, y as usize);
        std::array::from_fn(|c| (show(x, y, c) * fields[c].values[y * side + x]) as f32)
    })
}

fn white(random: &mut Random, side: usize, value: &dyn Fn(&mut Random) -> f64) -> Field {
    Field::from_fn(side, |_, _| value(random))
}

/// Noise of mean 1 over an image of a side, for each channel.
type Noise = Box<dyn Fn(&mut Random, usize) -> [Field; 3] + Send + Sync>;

/// A field of its own for each channel.
fn by_channel(field: impl Fn(&mut Random, usize) -> Field + Send + Sync + 'static) -> Noise {
    Box::new(move |random, side| [(); 3].map(|()| field(random, side)))
}

fn independent(value: impl Fn(&mut Random) -> f64 + Send + Sync + 'static) -> Noise {
    by_channel(move |random, side| white(random, side, &value))
}

/// Noise that is the same in all channels, as of light without colour.
fn grey(value: impl Fn(&mut Random) -> f64 + Send + Sync + 'static) -> Noise {
    Box::new(move |random, side| {
        let field = white(random, side, &value);
        [field.clone(), field.clone(), field]
    })
}

fn filtered(half: Vec<f64>, value: impl Fn(&mut Random) -> f64 + Send + Sync + 'static) -> Noise {
    by_channel(move |random, side| white(random, side, &value).filtered(&half))
}

fn normal(deviation: f64) -> impl Fn(&mut Random) -> f64 + Send + Sync + Copy + 'static {
    move |random| 1.0 + deviation * random.normal()
}

fn log_normal(deviation: f64) -> impl Fn(&mut Random) -> f64 + Send + Sync + Copy + 'static {
    move |random| random.log_normal(deviation)
}

fn sides(name: &'static str, side: usize, a: Noise, b: Noise) -> Case {
    let scenes = scenes(side);
    let show = move |x: usize, y: usize, c: usize| scenes[c].values[y * side + x];
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let mut of = |noise: &Noise| (0..seeds).map(|_| image(&show, &noise(random, side))).collect();
        (of(&a), of(&b))
    };
    Case { name, seeds: BOTH, deviation: None, make: Box::new(make) }
}

/// Noise of the same kind on both sides.
fn equal(name: &'static str, side: usize, noise: Noise) -> Case {
    let noise = std::sync::Arc::new(noise);
    let other = noise.clone();
    sides(name, side, Box::new(move |r, side| noise(r, side)), Box::new(move |r, side| other(r, side)))
}

/// 8-bit sRGB, as a file keeps it.
fn coded(image: &LinearImage) -> LinearImage {
    LinearImage::from_fn(image.width(), image.height(), |x, y| {
        image.pixels()[(y * image.width() + x) as usize].map(|v| srgb::decode8(srgb::encode8(v)))
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
fn denoised(name: &'static str, side: usize, a: f64, b: f64) -> Case {
    let scenes = scenes(side);
    // Guided by features without noise, as denoisers are by albedo and normals.
    let filters = scenes.each_ref().map(|scene| Bilateral::of(scene, 2.0, 0.1));
    let channel = move |random: &mut Random, deviation: f64, c: usize| {
        let noise = |x: usize, y: usize| scenes[c].values[y * side + x] * (1.0 + deviation * random.normal());
        filters[c].filter(&Field::from_fn(side, noise))
    };
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let mut one =
            |deviation: f64| image(&|_, _, _| 1.0, &[0, 1, 2].map(|c| channel(random, deviation, c)));
        ((0..seeds).map(|_| one(a)).collect(), (0..seeds).map(|_| one(b)).collect())
    };
    Case { name, seeds: BOTH, deviation: None, make: Box::new(make) }
}

/// Noise without low frequencies: white noise less its Gaussian blur.
fn blue() -> Noise {
    by_channel(|random, side| {
        let noise = white(random, side, &|random| random.normal());
        let low = noise.filtered(&gaussian(1.5));
        Field::from_fn(side, |x, y| 1.0 + 0.3 * (noise.at(x as i64, y as i64) - low.at(x as i64, y as i64)))
    })
}

/// The mean of `samples` exponential values.
fn exponential(samples: u32) -> impl Fn(&mut Random) -> f64 + Send + Sync + Copy + 'static {
    move |random| random.gamma(f64::from(samples)) / f64::from(samples)
}

/// Renders of a small scene under samplers of their own.
fn rendered(name: &'static str, side: usize, a: Sampler, b: Sampler) -> Case {
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let mut of = |sampler: Sampler| (0..seeds).map(|_| sampler.render(random, side)).collect();
        (of(a), of(b))
    };
    Case { name, seeds: BOTH, deviation: None, make: Box::new(make) }
}

/// Independent and filtered noise, alike on both sides.
fn alike(side: usize) -> Vec<Case> {
    let normally = |half: Vec<f64>| filtered(half, normal(0.3));
    vec![
        equal("independent, normal 0.3", side, independent(normal(0.3))),
        equal("independent, log-normal 1", side, independent(log_normal(1.0))),
        equal("independent, log-normal 4", side, independent(log_normal(4.0))),
        equal("grey, normal 0.3", side, grey(normal(0.3))),
        equal("grey, log-normal 1", side, grey(log_normal(1.0))),
        equal("binary", side, independent(|r: &mut Random| if r.uniform() < 0.1 { 10.0 } else { 0.0 })),
        equal("fireflies", side, independent(|r: &mut Random| r.firefly(0.001))),
        equal("grey fireflies", side, grey(|r: &mut Random| r.firefly(0.001) + 0.1 * r.normal())),
        equal("blue noise", side, blue()),
        equal("box filter of 3 px", side, normally(vec![1.0, 1.0])),
        equal("tent filter", side, normally(tent())),
        equal("Gaussian filter 0.5 px", side, normally(gaussian(0.5))),
        equal("Gaussian filter 1 px", side, normally(gaussian(1.0))),
        equal("Gaussian filter 1.5 px", side, normally(gaussian(1.5))),
        equal("Gaussian filter 2 px", side, normally(gaussian(2.0))),
        equal("Mitchell filter", side, normally(mitchell())),
        equal("Gaussian filter 1 px, log-normal 1", side, filtered(gaussian(1.0), log_normal(1.0))),
        denoised("denoised, 0.3", side, 0.3, 0.3),
        rendered("multi-jittered", side, Sampler::MultiJittered, Sampler::MultiJittered),
        rendered("Sobol by pixel", side, Sampler::SobolByPixel, Sampler::SobolByPixel),
        rendered("Sobol over the image", side, Sampler::SobolOverImage, Sampler::SobolOverImage),
    ]
}

/// One side noisier than the other, or of another kind.
fn unequal(side: usize) -> Vec<Case> {
    let of = |name, a, b| sides(name, side, a, b);
    let wide = || gaussian(1.0);
    vec![
        of("Gaussian 1 px, 0.3 against 0.02", filtered(wide(), normal(0.3)), filtered(wide(), normal(0.02))),
        of(
            "Gaussian 0.5 px, 0.3 against box 0.02",
            filtered(gaussian(0.5), normal(0.3)),
            independent(normal(0.02)),
        ),
        of(
            "Gaussian 1 px, log-normal 4 against 0.1",
            filtered(wide(), log_normal(4.0)),
            filtered(wide(), log_normal(0.1)),
        ),
        denoised("denoised, 0.3 against 0.03", side, 0.3, 0.03),
        of("log-normal 4 against 0.1", independent(log_normal(4.0)), independent(log_normal(0.1))),
        of("log-normal 1 against 0.1", independent(log_normal(1.0)), independent(log_normal(0.1))),
        of("grey log-normal 1 against 0.1", grey(log_normal(1.0)), grey(log_normal(0.1))),
        of(
            "fireflies against converged",
            independent(|r: &mut Random| r.firefly(0.001) + 0.1 * r.normal()),
            independent(normal(0.01)),
        ),
        of(
            "rare grey fireflies against none",
            grey(|r: &mut Random| r.spike(0.0005) + 0.02 * r.normal()),
            grey(normal(0.02)),
        ),
        of("1 against 4 samples", independent(exponential(1)), independent(exponential(4))),
        of("4 against 64 samples", independent(exponential(4)), independent(exponential(64))),
        of("1 against 1,024 samples", independent(exponential(1)), independent(exponential(1024))),
        of("16 against 1,024 samples", independent(exponential(16)), independent(exponential(1024))),
        rendered("multi-jittered against independent", side, Sampler::MultiJittered, Sampler::Independent),
        rendered(
            "Sobol over the image against independent",
            side,
            Sampler::SobolOverImage,
            Sampler::Independent,
        ),
    ]
}

/// 8-bit files.
fn codes(side: usize) -> Vec<Case> {
    let of = |name, a: Noise, b: Noise| as_coded(sides("", side, a, b), name);
    let noise = |deviation: f64| independent(normal(deviation));
    let soft = || filtered(gaussian(0.5), normal(0.3));
    vec![
        of("8-bit, 0.3 against 0.1", noise(0.3), noise(0.1)),
        of("8-bit, 0.3", noise(0.3), noise(0.3)),
        of("8-bit, 0.001 against 0.02", noise(0.001), noise(0.02)),
        of("8-bit, Gaussian filter 0.5 px", soft(), soft()),
        of("8-bit, 1 against 64 samples", independent(exponential(1)), independent(exponential(64))),
        of("8-bit, log-normal 1 against 0.1", independent(log_normal(1.0)), independent(log_normal(0.1))),
    ]
}

/// Images of this side without bias.
pub(crate) fn unbiased(side: usize) -> Vec<Case> {
    [alike(side), unequal(side), codes(side)].into_iter().flatten().collect()
}

/// The scene as B shows it where A shows it unchanged; noise of both sides alike.
fn mutant(
    name: &'static str,
    noise: f64,
    show_a: impl Fn(usize, usize, usize) -> f64 + Sync + 'static,
    show_b: impl Fn(usize, usize, usize) -> f64 + Sync + Clone + 'static,
) -> Case {
    mutant_of(name, SIDE, noise, show_a, show_b)
}

/// A [`mutant`] of another side in pixels.
fn mutant_of(
    name: &'static str,
    side: usize,
    noise: f64,
    show_a: impl Fn(usize, usize, usize) -> f64 + Sync + 'static,
    show_b: impl Fn(usize, usize, usize) -> f64 + Sync + Clone + 'static,
) -> Case {
    let shown = show_b.clone();
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let value = normal(noise);
        let mut of = |show: &(dyn Fn(usize, usize, usize) -> f64 + Sync)| {
            (0..seeds).map(|_| image(&show, &[(); 3].map(|()| white(random, side, &value)))).collect()
        };
        (of(&show_a), of(&show_b))
    };
    Case {
        name,
        seeds: BOTH,
        deviation: Some(Box::new(move |pixel, c| noise * shown(pixel % side, pixel / side, c))),
        make: Box::new(make),
    }
}

/// Four seeds of A against one reference of B, of the same noise.
fn against_one(case: Case, name: &'static str) -> Case {
    let make = move |random: &mut Random, seeds: usize| -> Pair {
        let (a, b) = (case.make)(random, seeds);
        (a, b.into_iter().take(1).collect())
    };
    Case { name, seeds: &[4], deviation: None, make: Box::new(make) }
}

/// A checker of 0.2 and 0.8, whose tiles of 8×8 pixels are nearly alike: moved, or filtered.
fn two_levels(side: usize, period: usize) -> Field {
    Field::from_fn(side, move |x, y| if (x / period + y / period).is_multiple_of(2) { 0.2 } else { 0.8 })
}

/// [`two_levels`] at 2 % noise, moved by a pixel.
fn moved_levels(name: &'static str, side: usize, period: usize) -> Case {
    let show_a = move |x: usize, y: usize, _: usize| {
        if ((x + 1) / period + y / period).is_multiple_of(2) { 0.2 } else { 0.8 }
    };
    mutant_of(name, side, 0.02, show_a, shows(two_levels(side, period), 0))
}

/// [`two_levels`] at 2 % noise, filtered.
fn filtered_levels(name: &'static str, side: usize, period: usize, sigma: f64) -> Case {
    let plain = two_levels(side, period);
    let soft = plain.filtered(&gaussian(sigma));
    mutant_of(name, side, 0.02, shows(soft, 0), shows(plain, 0))
}

/// Images of which one tile of 8×8 pixels is like the other.
fn periodic() -> Vec<Case> {
    vec![
        moved_levels("shift of two levels of 4, 64×64, noise 0.02", 64, 4),
        moved_levels("shift of two levels of 4, 100×100, noise 0.02", 100, 4),
        moved_levels("shift of two levels of 4, 128×128, noise 0.02", 128, 4),
        moved_levels("shift of two levels of 4, 256×256, noise 0.02", 256, 4),
        moved_levels("shift of two levels of 2, 128×128, noise 0.02", 128, 2),
        moved_levels("shift of two levels of 8, 128×128, noise 0.02", 128, 8),
        against_one(
            moved_levels("", 128, 4),
            "shift of two levels of 4, four seeds against one reference, noise 0.02",
        ),
        filtered_levels("filter 0.5 px, two levels of 1, 128×128, noise 0.02", 128, 1, 0.5),
        filtered_levels("filter 0.5 px, two levels of 2, 64×64, noise 0.02", 64, 2, 0.5),
        filtered_levels("filter 0.5 px, two levels of 2, 128×128, noise 0.02", 128, 2, 0.5),
        filtered_levels("filter 0.7 px, two levels of 2, 128×128, noise 0.02", 128, 2, 0.7),
        filtered_levels("filter 0.5 px, two levels of 3, 128×128, noise 0.02", 128, 3, 0.5),
        filtered_levels("filter 0.5 px, two levels of 4, 100×100, noise 0.02", 100, 4, 0.5),
        against_one(
            filtered_levels("", 128, 2, 0.5),
            "filter 0.5 px, two levels of 2, four seeds against one reference, noise 0.02",
        ),
    ]
}

/// A texture of smoothed noise, that of every pair.
fn texture() -> Field {
    let mut random = Random::new(77);
    let smooth = white(&mut random, SIDE, &|random| random.normal()).filtered(&gaussian(1.0));
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
    let mut all = vec![
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
    ];
    all.extend(periodic());
    all
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

/// B multiplied by the alpha that A has and B's program has applied: a soft disc.
fn premultiplied() -> Mistake {
    let alpha = |x: i64, y: i64| {
        let away = ((x - 60) as f64).hypot((y - 70) as f64);
        ((50.0 - away) / 20.0).clamp(0.0, 1.0)
    };
    let plain = mistake("multiplied by its alpha", move |show, x, y| show(x, y).map(|v| v * alpha(x, y)));
    let make = move |random: &mut Random| {
        let (a, b) = (plain.make)(random);
        let side = SIDE as i64;
        let values = (0..side * side).map(|i| alpha(i % side, i / side) as f32).collect();
        (a.with_alpha(values), b)
    };
    Mistake { words: "multiplied by its alpha", make: Box::new(make) }
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
        mistake("turned by 90 degrees clockwise", move |show, x, y| show(y, last - x)),
        premultiplied(),
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
