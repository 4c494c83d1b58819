//! Distribution and tests against SciPy's figures; verdicts on made-up images. Verdicts on renders are in
//! `harness/tests/validation/bias.rs`.

use crate::random_numbers::Noise;
use lockstep_metrics::image_io::{LinearImage, Precision, srgb};
use lockstep_metrics::metrics::Side;
use lockstep_metrics::statistics::student::{quantile, two_sided_p};
use lockstep_metrics::statistics::{
    Agreement, ComparisonError, DecisionRule, Family, Pairing, StructureTest, compare_images, p_value_map,
};

/// An image whose pixel at (x, y) is `scene(x, y)` times the mean of `spp` random values of mean 1.
fn render(
    noise: &mut Noise,
    spp: u32,
    value: fn(&mut Noise) -> f64,
    scene: fn(u32, u32) -> f64,
) -> LinearImage {
    LinearImage::from_fn(64, 48, |x, y| {
        let mut channel = || (0..spp).map(|_| value(noise)).sum::<f64>() / f64::from(spp);
        [channel(), channel(), channel()].map(|v| (v * scene(x, y)) as f32)
    })
}

/// A value of mean 1 that is 0.5 nearly always and 500 once in a thousand times.
fn firefly(noise: &mut Noise) -> f64 {
    if noise.uniform() < 0.001 { 500.5 } else { 0.5 }
}

fn exponential(noise: &mut Noise) -> f64 {
    -(1.0 - noise.uniform()).ln()
}

fn gradient(x: u32, y: u32) -> f64 {
    0.1 + 0.02 * f64::from(x) + if y > 20 { 0.5 } else { 0.0 }
}

/// One quarter of the image brighter by a tenth.
fn bright_corner(x: u32, y: u32) -> f64 {
    gradient(x, y) * if x < 32 && y < 24 { 1.1 } else { 1.0 }
}

fn verdict(a: &[LinearImage], b: &[LinearImage], pairing: Pairing) -> Agreement {
    compare_images(a, b, pairing, &DecisionRule::default()).unwrap().agreement
}

/// Made by SciPy 1.17.1: `2 * scipy.stats.t.sf(t, freedom)`.
#[test]
fn p_values_are_those_of_scipy() {
    let table = [
        (0.5, 1.0, 0.7048327646991335),
        (2.0, 3.0, 0.13932596855884305),
        (4.5, 7.5, 0.002354323279302138),
        (6.0, 63.0, 1.0614928055298541e-07),
        (5.1, 1_000.0, 4.061926099092861e-07),
        (5.1, 123_456.7, 3.401543461898171e-07),
        (8.0, 2.5, 0.007656644131043447),
        (30.0, 255.0, 1.2782224864675055e-85),
        (0.001, 50.0, 0.9992060947755017),
        (5.5, 1e6, 3.798838113818054e-08),
    ];
    for (t, freedom, p) in table {
        let found = two_sided_p(t, freedom);
        assert!((found / p - 1.0).abs() < 1e-9, "t {t}, {freedom} degrees of freedom: {found}, SciPy {p}");
        assert_eq!(found, two_sided_p(-t, freedom));
    }
    assert_eq!((two_sided_p(f64::INFINITY, 3.0), two_sided_p(0.0, 3.0)), (0.0, 1.0));
    assert!(two_sided_p(1.0, f64::NAN).is_nan() && two_sided_p(f64::NAN, 3.0).is_nan());
}

/// Made by SciPy 1.17.1: `scipy.stats.t.ppf(q, freedom)`.
#[test]
fn quantiles_are_those_of_scipy() {
    let table = [
        (0.975, 1.0, 12.706204736174694),
        (0.975, 2.0, 4.302652729749462),
        (0.975, 8.0, 2.306004135204166),
        (0.975, 100.0, 1.9839715185235518),
        (0.995, 4.0, 4.604094871349992),
        (0.9, 3.0, 1.637744353696209),
    ];
    for (q, freedom, t) in table {
        assert!((quantile(q, freedom) / t - 1.0).abs() < 1e-9, "{q} {freedom}: {}", quantile(q, freedom));
    }
}

/// Made by SciPy 1.17.1: `scipy.stats.ttest_rel(a, b)`; an image of one row has one tile that is tested.
#[test]
fn statistics_are_those_of_scipy() {
    let a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
    let b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4];
    let row = |values: [f32; 15]| LinearImage::from_fn(15, 1, |x, _| [values[x as usize]; 3]);
    let rule = DecisionRule { margin: 0.0, ..DecisionRule::default() };
    let found = compare_images(&[row(a)], &[row(b)], Pairing::Paired, &rule).unwrap().test.unwrap();
    assert_eq!(found.tests, 3);
    assert!((found.worst.t / -3.219208719948254 - 1.0).abs() < 1e-5, "{:?}", found.worst);
    assert!((found.worst.p / 0.006179872550863293 - 1.0).abs() < 1e-5, "{:?}", found.worst);
}

#[test]
fn a_local_bias_is_found_where_it_is_with_any_number_of_images() {
    let mut noise = Noise(1);
    let mut images =
        |scene| -> Vec<_> { (0..2).map(|_| render(&mut noise, 64, exponential, scene)).collect() };
    let (a, b) = (images(bright_corner), images(gradient));
    for (a, b, seeds) in [
        (&a[..], &b[..], Pairing::Independent),
        (&a[..1], &b[..1], Pairing::Independent),
        (&a[..], &b[..1], Pairing::Independent),
        (&a[..], &b[..], Pairing::Paired),
    ] {
        let found = compare_images(a, b, seeds, &DecisionRule::default()).unwrap();
        let result = found.test.unwrap();
        assert_eq!(found.agreement, Agreement::Biased, "{}", found.reason);
        let worst = result.worst;
        assert!(worst.difference > 0.0 && worst.x + worst.side <= 32 && worst.y < 24, "{worst:?}");
        let map = p_value_map(&result);
        let [red, _, blue] = map.pixels()[(64 * (worst.y + 1) + worst.x + 1) as usize];
        assert!(red > 2.0 * blue, "A is brighter there");
        let corner = map.pixels()[(64 * worst.y + worst.x) as usize];
        assert!(corner.iter().all(|v| *v < 0.02), "the tile that decided has an outline");
        assert!(map.pixels()[64 * 48 - 1][2] > 0.5, "and nothing is the matter at the other end");
    }
}

#[test]
fn shared_random_numbers_show_a_bias_that_independent_ones_cannot() {
    let a = render(&mut Noise(5), 4, exponential, gradient);
    let darker =
        |x: u32, y: u32| a.pixels()[(y * 64 + x) as usize].map(|v| v * if x < 16 { 0.99 } else { 1.0 });
    let b = LinearImage::from_fn(64, 48, darker);
    assert_eq!(verdict(&[a], std::slice::from_ref(&b), Pairing::Paired), Agreement::Biased);
    let other = render(&mut Noise(6), 4, exponential, gradient);
    assert_eq!(verdict(&[other], &[b], Pairing::Paired), Agreement::WithinNoise);
}

#[test]
fn rounding_is_not_called_bias() {
    let a = render(&mut Noise(5), 4, exponential, gradient);
    let nudged = |x: u32, y: u32| a.pixels()[(y * 64 + x) as usize].map(|v| v * (1.0 + 3e-6));
    let b = LinearImage::from_fn(64, 48, nudged);
    assert_eq!(verdict(&[a], &[b], Pairing::Paired), Agreement::WithinNoise);
}

#[test]
fn a_difference_without_any_noise_is_a_bias() {
    let flat = |value: f32| LinearImage::from_fn(16, 16, |_, _| [value; 3]);
    assert_eq!(verdict(&[flat(0.5)], &[flat(0.505)], Pairing::Paired), Agreement::Biased);
}

#[test]
fn false_alarms_are_as_rare_as_the_rule_says_even_with_fireflies() {
    // 1,000 pairs at alpha 0.001: one is expected; six or more have a probability below 0.0006.
    for (value, name) in [(exponential as fn(&mut Noise) -> f64, "exponential"), (firefly, "fireflies")] {
        let mut noise = Noise(11);
        let mut alarms = [0u32; 2];
        for _ in 0..500 {
            let images: Vec<_> = (0..4).map(|_| render(&mut noise, 2, value, gradient)).collect();
            let (a, b) = images.split_at(2);
            alarms[0] += u32::from(verdict(a, b, Pairing::Independent) == Agreement::Biased);
            alarms[1] += u32::from(verdict(&a[..1], &b[..1], Pairing::Independent) == Agreement::Biased);
            alarms[1] += u32::from(verdict(&a[1..], &b[1..], Pairing::Independent) == Agreement::Biased);
        }
        assert!(
            alarms[0] <= 4 && alarms[1] <= 5,
            "{name}: two images a side {} of 500, one {} of 1000",
            alarms[0],
            alarms[1]
        );
    }
}

#[test]
fn the_noise_floor_is_the_error_between_seeds_of_one_side() {
    let mut noise = Noise(3);
    let images: Vec<_> = (0..4).map(|_| render(&mut noise, 8, exponential, gradient)).collect();
    let found =
        compare_images(&images[..2], &images[2..], Pairing::Independent, &DecisionRule::default()).unwrap();
    let noise = found.test.unwrap().noise;
    assert!((noise.ratio().unwrap() - 1.0).abs() < 0.1, "{noise:?}");
    let found =
        compare_images(&images[..1], &images[1..2], Pairing::Paired, &DecisionRule::default()).unwrap();
    assert_eq!(found.test.unwrap().noise.ratio(), None);
}

#[test]
fn equal_and_broken_images_are_told() {
    let image = |value: f32| LinearImage::from_fn(9, 9, |x, _| [value * x as f32; 3]);
    let one = |a: LinearImage, b: LinearImage| {
        compare_images(&[a], &[b], Pairing::Paired, &DecisionRule::default()).unwrap()
    };
    assert_eq!(one(image(1.0), image(1.0)).agreement, Agreement::Identical);
    assert_eq!(one(image(0.0), image(0.0)).agreement, Agreement::Identical);
    let empty = LinearImage::from_fn(0, 0, |_, _| [0.0; 3]);
    let small = LinearImage::from_fn(3, 4, |_, _| [0.0; 3]);
    for (a, b, words) in [
        (image(1.0), image(f32::NAN), "81 pixels of an image of B are not finite"),
        (image(1.0), image(0.0), "B is black and A is not"),
        (image(1.0), small, "3×4 pixels, the first of A 9×9"),
        (empty.clone(), empty, "no pixels"),
    ] {
        let found = one(a, b);
        assert_eq!(found.agreement, Agreement::Broken);
        assert!(found.reason.contains(words), "{}", found.reason);
    }
}

#[test]
fn stacks_that_are_none_are_refused() {
    let rule = DecisionRule::default();
    let image = |value: f32| LinearImage::from_fn(9, 9, |x, _| [value * x as f32; 3]);
    let twice = [image(1.0), image(2.0), image(1.0)];
    let error = compare_images(&twice, &[image(3.0)], Pairing::Independent, &rule).unwrap_err();
    assert_eq!(error, ComparisonError::SameImageTwice { side: Side::A, first: 0, second: 2 });
    let error = compare_images(&[image(1.0)], &[], Pairing::Independent, &rule).unwrap_err();
    assert_eq!(error, ComparisonError::NoImages { side: Side::B });
    let error = compare_images(&[image(1.0)], &twice, Pairing::Paired, &rule).unwrap_err();
    assert_eq!(error, ComparisonError::CountsDiffer { a: 1, b: 3 });
}

#[test]
fn an_image_smaller_than_a_tile_is_one_tile() {
    let mut noise = Noise(9);
    let mut image =
        |level: f64| LinearImage::from_fn(5, 3, |_, _| [(level + 0.01 * noise.normal()) as f32; 3]);
    let (a, b, c) = (image(1.0), image(1.0), image(1.5));
    assert_eq!(verdict(std::slice::from_ref(&a), &[b], Pairing::Paired), Agreement::WithinNoise);
    assert_eq!(verdict(&[a], &[c], Pairing::Paired), Agreement::Biased);
}

/// An image of 96×96 pixels that shows `show` times noise of mean 1, which a Gaussian filter of `sigma` pixels
/// correlates.
fn filtered(noise: &mut Noise, sigma: f64, show: impl Fn(u32, u32) -> f64) -> LinearImage {
    const SIDE: usize = 96;
    let white: Vec<f64> = (0..SIDE * SIDE).map(|_| noise.normal()).collect();
    let weight = |d: i64| {
        if sigma > 0.0 { (-0.5 * (d as f64 / sigma).powi(2)).exp() } else { f64::from(u8::from(d == 0)) }
    };
    let sum: f64 = (-6..=6i64).map(weight).sum();
    let along = |values: &[f64], dx: i64, dy: i64| -> Vec<f64> {
        let wrap = |v: i64| v.rem_euclid(SIDE as i64) as usize;
        let at =
            |x: usize, y: usize, d: i64| values[wrap(y as i64 + d * dy) * SIDE + wrap(x as i64 + d * dx)];
        (0..SIDE * SIDE)
            .map(|i| (-6..=6).map(|d| weight(d) / sum * at(i % SIDE, i / SIDE, d)).sum())
            .collect()
    };
    let smooth = along(&along(&white, 1, 0), 0, 1);
    LinearImage::from_fn(SIDE as u32, SIDE as u32, |x, y| {
        [((1.0 + 0.3 * smooth[y as usize * SIDE + x as usize]) * show(x, y)) as f32; 3]
    })
}

#[test]
fn correlated_noise_is_no_bias_and_a_bias_under_it_is_found() {
    let mut noise = Noise(21);
    for sigma in [0.0, 0.5, 1.0, 2.0] {
        for seeds in [1, 2] {
            let mut side = |bright: f64| -> Vec<LinearImage> {
                (0..seeds).map(|_| filtered(&mut noise, sigma, |x, y| bright * gradient(x, y))).collect()
            };
            for _ in 0..4 {
                let (a, b) = (side(1.0), side(1.0));
                assert_eq!(
                    verdict(&a, &b, Pairing::Independent),
                    Agreement::WithinNoise,
                    "{sigma} px, {seeds} seeds"
                );
            }
            let (a, b) = (side(1.0), side(1.1));
            assert_eq!(verdict(&a, &b, Pairing::Independent), Agreement::Biased, "{sigma} px, {seeds} seeds");
        }
    }
}

#[test]
fn heavy_tails_of_one_side_are_inconclusive_and_what_would_tell_is_said() {
    let mut noise = Noise(22);
    let mut heavy = || render(&mut noise, 1, firefly, gradient);
    let (a, b) = (heavy(), LinearImage::from_fn(64, 48, |x, y| [gradient(x, y) as f32; 3]));
    let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
    assert_eq!(found.agreement, Agreement::Inconclusive, "{}", found.reason);
    assert!(found.reason.contains("times the samples or seeds of A would decide"), "{}", found.reason);
    let test = found.test.unwrap();
    assert!(test.outlier_count > 0 && test.outliers[0].difference > 0.0, "{:?}", test.outliers);
}

/// The value of an image at a pixel.
type Show<'a> = &'a dyn Fn(i64, i64) -> f64;

/// Stripes and spots of a few pixels.
fn texture(x: i64, y: i64) -> f64 {
    0.5 + 0.2 * f64::from(u8::from((x / 3 + y / 5) % 2 == 0)) + 0.05 * ((x * x + 3 * y) % 7) as f64
}

#[test]
fn what_keeps_means_is_found_by_its_structure() {
    let mut noise = Noise(23);
    let mut image = |show: &dyn Fn(i64, i64) -> f64| {
        LinearImage::from_fn(96, 96, |x, y| {
            [0; 3].map(|_: i32| {
                (show(i64::from(x) + 20, i64::from(y) + 20) * (1.0 + 0.02 * noise.normal())) as f32
            })
        })
    };
    let blurred = |x, y| 0.5 * texture(x, y) + 0.25 * (texture(x - 1, y) + texture(x + 1, y));
    let spot = |x: i64, y: i64| {
        texture(x, y) * if (50..54).contains(&x) && (61..65).contains(&y) { 1.3 } else { 1.0 }
    };
    let moved = |x, y| texture(x - 1, y);
    let cases: [(Show<'_>, Family); 3] =
        [(&moved, Family::Shift), (&blurred, Family::Contrast), (&spot, Family::Windows)];
    for (show, family) in cases {
        let (a, b) = (image(&texture), image(show));
        let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
        assert_eq!(found.agreement, Agreement::Biased, "{family:?}: {}", found.reason);
        let test = found.test.unwrap();
        let rejects = |s: &StructureTest| s.family == family && s.p < 0.001;
        assert!(test.structure.iter().any(rejects), "{family:?}: {:?}", test.structure);
    }
    let pixel = |x: i64, y: i64| texture(x, y) * if (x, y) == (70, 44) { 3.0 } else { 1.0 };
    let mut side = |show: &dyn Fn(i64, i64) -> f64| (0..4).map(|_| image(show)).collect::<Vec<_>>();
    let (a, b) = (side(&texture), side(&pixel));
    let found = compare_images(&a, &b, Pairing::Independent, &DecisionRule::default()).unwrap();
    assert_eq!(found.agreement, Agreement::Biased, "{}", found.reason);
    assert!(found.reason.contains("1 pixel stands out alike under every seed"), "{}", found.reason);
}

#[test]
fn a_half_float_file_without_noise_is_within_its_rounding() {
    let exact = LinearImage::from_fn(64, 48, |x, y| [gradient(x, y) as f32; 3]);
    let rounded = LinearImage::from_fn(64, 48, |x, y| {
        // Ten bits of mantissa, cut off.
        exact.pixels()[(y * 64 + x) as usize].map(|v| f32::from_bits(v.to_bits() & !0x1fff))
    });
    let half = rounded.clone().with_precision(Precision::Half);
    let one = std::slice::from_ref;
    assert_ne!(verdict(one(&exact), one(&rounded), Pairing::Paired), Agreement::WithinNoise);
    assert_eq!(verdict(one(&exact), one(&half), Pairing::Paired), Agreement::WithinNoise);
}

#[test]
fn a_lone_pixel_is_inconclusive_under_one_seed_and_named() {
    let mut noise = Noise(31);
    let mut image = |bright: f64| {
        LinearImage::from_fn(64, 48, |x, y| {
            let factor = if (x, y) == (30, 36) { bright } else { 1.0 };
            [0; 3].map(|_: i32| (factor * gradient(x, y) * (1.0 + 0.02 * noise.normal())) as f32)
        })
    };
    let (a, b) = (image(3.0), image(1.0));
    let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
    assert_eq!(found.agreement, Agreement::Inconclusive, "{}", found.reason);
    assert!(found.reason.contains("(30, 36) brighter in A"), "{}", found.reason);
    let side = |image: &mut dyn FnMut(f64) -> LinearImage, bright: f64| -> Vec<LinearImage> {
        (0..4).map(|_| image(bright)).collect()
    };
    let (fireflies, calm) = ([vec![image(3.0)], side(&mut image, 1.0)].concat(), side(&mut image, 1.0));
    let found =
        compare_images(&fireflies[..4], &calm, Pairing::Independent, &DecisionRule::default()).unwrap();
    assert_eq!(found.agreement, Agreement::WithinNoise, "one of four seeds: {}", found.reason);
}

#[test]
fn a_pixel_that_differs_where_there_is_no_noise_is_inconclusive_and_placed() {
    let image = |factor: f32| {
        LinearImage::from_fn(64, 48, |x, y| {
            [gradient(x, y) as f32 * if (x, y) == (30, 36) { factor } else { 1.0 }; 3]
        })
    };
    let verdict_of = |factor: f32, rule: &DecisionRule| {
        compare_images(&[image(1.0)], &[image(factor)], Pairing::Paired, rule).unwrap()
    };
    let found = verdict_of(1.2, &DecisionRule::default());
    assert_eq!(found.agreement, Agreement::Inconclusive, "{}", found.reason);
    assert!(found.reason.contains("1 pixel differs") && found.reason.contains("(30, 36) darker in A"));
    assert_eq!(verdict_of(1.0001, &DecisionRule::default()).agreement, Agreement::WithinNoise, "rounding");
    assert_eq!(verdict_of(1.2, &DecisionRule::of_films()).agreement, Agreement::WithinNoise, "a path parted");
}

#[test]
fn a_few_fireflies_of_one_side_do_not_make_the_rest_a_bias() {
    // Three or so among 3,072 pixels, and half of the light.
    for seed in 0..20 {
        let mut noise = Noise(1000 + seed);
        let mut render = |fireflies: bool| {
            LinearImage::from_fn(64, 48, |x, y| {
                let light = if fireflies { firefly(&mut noise) } else { 1.0 };
                let shown = gradient(x, y) * (light + 0.1 * noise.normal());
                [0; 3].map(|_: i32| (shown * (1.0 + 0.01 * noise.normal())) as f32)
            })
        };
        let (a, b) = (render(true), render(false));
        let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
        let seen = found.test.as_ref().is_some_and(|test| test.outlier_count > 0);
        assert!(!seen || found.agreement == Agreement::Inconclusive, "{seed}: {}", found.reason);
    }
}

#[test]
fn clipped_noise_of_heavy_tails_is_inconclusive() {
    let mut noise = Noise(33);
    let mut coded = |spp: u32| {
        let exact = render(&mut noise, spp, exponential, |x, y| 0.7 * gradient(x, y));
        LinearImage::from_fn(64, 48, |x, y| {
            exact.pixels()[(y * 64 + x) as usize].map(|v| srgb::decode8(srgb::encode8(v)))
        })
        .with_precision(Precision::Code8)
    };
    let (a, b) = (coded(1), coded(256));
    let found = compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap();
    assert_eq!(found.agreement, Agreement::Inconclusive, "{}", found.reason);
    assert!(found.reason.contains("more values of A are clipped at 1"), "{}", found.reason);
}

/// Four images of each side: noise of every pixel, a pattern that has a size of its own in every image, and one
/// that all images of A have.
fn patterned(noise: &mut Noise, own: f64, of_a: f64) -> [Vec<LinearImage>; 2] {
    let pattern = |x: u32, y: u32| if (x / 2 + y).is_multiple_of(2) { 1.0 } else { -1.0 };
    [of_a, 0.0].map(|bias| {
        let mut image = || {
            let size = bias + own * noise.normal();
            LinearImage::from_fn(64, 64, |x, y| {
                [0; 3].map(|_: i32| (1.0 + size * pattern(x, y) + 0.03 * noise.normal()) as f32)
            })
        };
        (0..4).map(|_| image()).collect()
    })
}

#[test]
fn patterns_that_change_with_the_seed_are_noise_and_one_that_stays_is_not() {
    let mut noise = Noise(34);
    for _ in 0..20 {
        let [a, b] = patterned(&mut noise, 0.03, 0.0);
        let found = compare_images(&a, &b, Pairing::Independent, &DecisionRule::default()).unwrap();
        let product = |s: &&StructureTest| s.family == Family::Product;
        let p = found.test.as_ref().and_then(|t| t.structure.iter().find(product)).map_or(1.0, |s| s.p);
        assert!(p >= 0.001, "{}", found.reason);
    }
    let [a, b] = patterned(&mut noise, 0.0, 0.02);
    let found = compare_images(&a, &b, Pairing::Independent, &DecisionRule::default()).unwrap();
    let test = found.test.unwrap();
    assert!(test.structure.iter().any(|s| s.family == Family::Product && s.p < 0.001), "{}", found.reason);
}
