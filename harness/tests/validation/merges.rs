//! The bias of merges: it falls as the square of the radius, and the schedule of radii takes it away.
//!
//! All is measured against `path`, which has no photons, in groups of films whose seeds have nothing in common, so the
//! interval of every figure is Student's over [`GROUPS`] independent values, the noise of the reference included.

use crate::full;
use lockstep_conformance::statistics::mean_and_variance;
use lockstep_conformance::tolerances::{
    BIAS_FOURTH_ORDER, BIAS_SLOPE_HALF_WIDTH, FOUND_BRIGHTER, STUDENT_15_DEGREES,
};
use lockstep_core::math::vec3::vec3;
use lockstep_core::merging::MergeRadius;
use lockstep_core::scene::{Camera, IDENTITY, Material, MeshData, SceneBuilder};
use lockstep_core::{Backend, Film, Integrator, OpenOptions, Renderer, Sampler, Scene, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};
use lockstep_scenes::{LoadOptions, View, load};
use std::fmt;

/// Independent groups of seeds.
const GROUPS: u32 = 16;
/// Seeds of references begin here, those of weights there.
const REFERENCE_SEEDS: u32 = 1_000;
const WEIGHT_SEEDS: u32 = 2_000;

/// A value with half the width of its interval at 1 %.
#[derive(Clone, Copy)]
struct Interval {
    value: f64,
    half: f64,
}

impl Interval {
    /// The mean of one value a group.
    fn of(values: &[f64]) -> Self {
        let (value, variance) = mean_and_variance(values);
        Self { value, half: STUDENT_15_DEGREES * (variance / f64::from(GROUPS)).sqrt() }
    }

    /// A function of means over groups, by the jackknife: it is given the group to leave out, if any.
    fn by_jackknife(function: impl Fn(Option<usize>) -> f64) -> Self {
        let without: Vec<f64> = (0..GROUPS as usize).map(|group| function(Some(group))).collect();
        let (_, variance) = mean_and_variance(&without);
        let n = f64::from(GROUPS);
        Self { value: function(None), half: STUDENT_15_DEGREES * ((n - 1.0) / n.sqrt() * variance.sqrt()) }
    }

    /// Whether a value lies in the interval, or as near to it as this.
    fn is_near(&self, value: f64, margin: f64) -> bool {
        (self.value - value).abs() <= self.half + margin
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.abs() < 1e-2 {
            return write!(f, "{:.2e} ± {:.1e}", self.value, self.half);
        }
        write!(f, "{:.4} ± {:.4}", self.value, self.half)
    }
}

fn renderer() -> Box<dyn Renderer> {
    Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap()
}

/// Channels of the mean image after further samples.
fn image(renderer: &mut dyn Renderer, samples: std::ops::Range<u32>) -> Vec<f64> {
    renderer.accumulate(samples).unwrap();
    let mut film = Film::new(1, 1).unwrap();
    renderer.read(&mut film).unwrap();
    film.mean().into_iter().flatten().map(f64::from).collect()
}

fn render(renderer: &mut dyn Renderer, scene: &Scene, settings: &Settings, spp: u32) -> Vec<f64> {
    renderer.load(scene, settings).unwrap();
    image(renderer, 0..spp)
}

fn radius(millionths: u32) -> MergeRadius {
    MergeRadius::from_millionths(millionths).unwrap()
}

/// A floor below a lamp that faces it, seen from between them: light that is smooth everywhere, without the edges at which
/// a circle of merges reaches beyond a surface.
fn floor_below_lamp() -> Scene {
    let mut b = SceneBuilder::new("floor-below-lamp");
    b.camera = Camera {
        eye: vec3(0.0, 0.9, 0.0),
        direction: vec3(0.0, -1.0, 0.0),
        up: vec3(0.0, 0.0, 1.0),
        vertical_fov: 1.6,
        ..Camera::default()
    };
    let floor = b.material(Material::diffuse([0.5; 3]));
    let lamp = b.material(Material::emitter([10.0; 3]));
    let square = |half: f32, y| [[-half, y, -half], [-half, y, half], [half, y, half], [half, y, -half]];
    let mesh = b.mesh(MeshData {
        positions: [square(2.0, 0.0), square(0.1, 1.2)].concat(),
        triangles: vec![[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]],
        materials: vec![floor, floor, lamp, lamp],
        ..MeshData::default()
    });
    b.instance(mesh, IDENTITY);
    b.build().unwrap()
}

/// Projections of the bias at radii that fall by a half in area each, one of every group. A pattern of weights that is
/// the bias itself, from other seeds, collects it from all pixels.
struct Biases {
    by_radius: [Vec<f64>; 3],
}

impl Biases {
    /// The ratio of one radius to the next.
    const STEP: f64 = std::f64::consts::SQRT_2;

    fn measure(integrator: Integrator, side: u32, spp: u32) -> Self {
        let scene = floor_below_lamp();
        let mut renderer = renderer();
        // Points of light sub-paths that are spread evenly leave a tenth of the noise
        let base = Settings {
            width: side,
            height: side,
            bounces: 1,
            sampler: Sampler::Sobol,
            ..Settings::default()
        };
        let mut of = |integrator, merge_radius, seed, spp| {
            let settings = Settings { integrator, merge_radius, seed, ..base };
            render(renderer.as_mut(), &scene, &settings, spp)
        };
        let mut reference = |group| of(Integrator::Path, MergeRadius::DEFAULT, REFERENCE_SEEDS + group, 64);
        let references: Vec<Vec<f64>> = (0..2 * GROUPS).map(&mut reference).collect();
        let radii = [160_000, 113_137, 80_000].map(radius);
        let mut weights = vec![0.0; references[0].len()];
        for group in 0..GROUPS {
            let film = of(integrator, radii[0], WEIGHT_SEEDS + group, spp);
            let unbiased = &references[(GROUPS + group) as usize];
            weights.iter_mut().zip(film.iter().zip(unbiased)).for_each(|(w, (a, b))| *w += a - b);
        }
        let by_radius = radii.map(|radius| {
            let mut of_group = |group| {
                let film = of(integrator, radius, group, spp);
                let bias = film.iter().zip(&references[group as usize]).map(|(a, b)| a - b);
                weights.iter().zip(bias).map(|(w, bias)| w * bias).sum::<f64>()
            };
            (0..GROUPS).map(&mut of_group).collect()
        });
        Self { by_radius }
    }

    /// Means over all groups but one.
    fn means(&self, skipped: Option<usize>) -> [f64; 3] {
        self.by_radius.each_ref().map(|of| {
            let kept = of.iter().enumerate().filter(|(group, _)| Some(*group) != skipped);
            kept.clone().map(|(_, value)| value).sum::<f64>() / kept.count() as f64
        })
    }

    /// The exponent of the radius. Differences have no reference in them, and photons that are too many or too few by
    /// chance are so at all radii.
    fn slope(&self) -> Interval {
        Interval::by_jackknife(|skipped| {
            let [a, b, c] = self.means(skipped);
            ((a - b) / (b - c)).ln() / Self::STEP.ln()
        })
    }

    /// The bias at radius zero as `c r²` leaves it, over that at the first radius.
    fn at_zero(&self) -> Interval {
        Interval::by_jackknife(|skipped| {
            let [first, second, _] = self.means(skipped);
            let area = Self::STEP * Self::STEP;
            (area * second - first) / (area - 1.0) / first
        })
    }
}

#[test]
fn bias_falls_as_the_square_of_the_radius() {
    let (integrators, side, spp) = if full() {
        (&[Integrator::Ppm, Integrator::Vcm][..], 32, 64)
    } else {
        (&[Integrator::Ppm][..], 24, 32)
    };
    for &integrator in integrators {
        let biases = Biases::measure(integrator, side, spp);
        let (slope, at_zero) = (biases.slope(), biases.at_zero());
        println!(
            "{integrator}, floor-below-lamp at {side}x{side}, {spp} spp, {GROUPS} seeds: bias falls as the radius to the \
             power {slope}; at radius zero it is {at_zero} of that at the largest"
        );
        assert!(slope.half <= BIAS_SLOPE_HALF_WIDTH, "{integrator}: the slope {slope} tells nothing");
        assert!(slope.is_near(2.0, BIAS_FOURTH_ORDER), "{integrator}: slope {slope}, expected 2");
        assert!(
            at_zero.is_near(0.0, BIAS_FOURTH_ORDER),
            "{integrator}: bias at radius zero {at_zero}, expected none"
        );
    }
}

/// The squared error of an image is its noise and a constant: `a v(N) + b` after N samples.
struct Line {
    a: Interval,
    b: Interval,
}

/// The least squares of relative errors: `mse / v` is fitted by `a + b / v`. Points are v and the error.
fn line(points: &[(f64, f64)]) -> [f64; 2] {
    let points: Vec<(f64, f64)> = points.iter().map(|&(v, mse)| (1.0 / v, mse / v)).collect();
    let n = points.len() as f64;
    let [x, y] = points.iter().fold([0.0; 2], |[x, y], p| [x + p.0 / n, y + p.1 / n]);
    let b = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    [y - b * x, b]
}

/// The variance of the mean of `spp` samples over that of the first. A pass merges over a circle whose area falls as
/// the fourth root of its number, so it is noisier by that root where merges alone find the light.
fn noise(spp: u32, connects: bool) -> f64 {
    let of_pass = |pass: u32| if connects { 1.0 } else { f64::from(pass).sqrt().sqrt() };
    (1..=spp).map(of_pass).sum::<f64>() / f64::from(spp).powi(2)
}

/// Films of an integrator against two references a group. Their product has the squared error alone as its mean, since
/// the noise of one has nothing to do with that of the other.
struct Errors {
    /// Samples and squared error of every group, as rendered and with all light brighter by [`FOUND_BRIGHTER`].
    groups: Vec<Vec<(u32, [f64; 2])>>,
}

impl Errors {
    fn measure(scene: &Scene, settings: &Settings, references: &[Vec<f64>], top: u32) -> Self {
        let mut renderer = renderer();
        let groups = (0..GROUPS).zip(references.chunks(2)).map(|(seed, references)| {
            renderer.load(scene, &Settings { seed, ..*settings }).unwrap();
            let levels = (0..=top).map(|level| 1u32 << level);
            let mut done = 0;
            let of_level = |spp| {
                let film = image(renderer.as_mut(), done..spp);
                done = spp;
                let error = |scale: f64| {
                    let pairs = film.iter().zip(references[0].iter().zip(&references[1]));
                    pairs.map(|(x, (a, b))| (x * scale - a) * (x * scale - b)).sum::<f64>()
                        / film.len() as f64
                };
                (spp, [1.0, 1.0 + FOUND_BRIGHTER].map(error))
            };
            levels.map(of_level).collect()
        });
        Self { groups: groups.collect() }
    }

    fn fit(&self, brighter: bool, connects: bool) -> Line {
        let of_group = |levels: &Vec<(u32, [f64; 2])>| {
            let point = |&(spp, mse): &(u32, [f64; 2])| (noise(spp, connects), mse[usize::from(brighter)]);
            line(&levels.iter().map(point).collect::<Vec<_>>())
        };
        let fits: Vec<[f64; 2]> = self.groups.iter().map(of_group).collect();
        let [a, b] = [0, 1].map(|i| Interval::of(&fits.iter().map(|fit| fit[i]).collect::<Vec<_>>()));
        Line { a, b }
    }
}

/// The Cornell box without its lamp, whose edges would be most of the noise.
fn lower_cornell() -> Scene {
    let view = View { look_at: Some([278.0, 140.0, 280.0]), fov: Some(25.0), ..View::default() };
    load("cornell", &LoadOptions { view, ..LoadOptions::default() }).unwrap().scene
}

#[test]
fn the_schedule_of_radii_leaves_no_bias() {
    let (side, top, reference_spp) = if full() { (48, 8, 1024) } else { (20, 6, 64) };
    let scene = lower_cornell();
    let base = Settings { width: side, height: side, ..Settings::default() };
    let mut renderer = renderer();
    let references: Vec<Vec<f64>> = (0..2 * GROUPS)
        .map(|i| {
            render(renderer.as_mut(), &scene, &Settings { seed: REFERENCE_SEEDS + i, ..base }, reference_spp)
        })
        .collect();
    let fit = |integrator: Integrator, merge_radius| {
        let settings = Settings { integrator, merge_radius, ..base };
        let errors = Errors::measure(&scene, &settings, &references, top);
        let connects = integrator.connects();
        let found = [false, true].map(|brighter| errors.fit(brighter, connects));
        let spp = 1 << top;
        println!(
            "{integrator}, radius {merge_radius}, lower half of cornell at {side}x{side}, 1 to {spp} spp, {GROUPS} seeds: \
             MSE = a {} + b, a {}, b {}; with {FOUND_BRIGHTER} more light b {}; of a / N + b, b {}",
            if connects { "/ N" } else { "(1 + 2^1/4 + ... + N^1/4) / N²" },
            found[0].a,
            found[0].b,
            found[1].b,
            errors.fit(false, true).b
        );
        found
    };
    // Merges alone are so noisy that their interval needs the full size
    let integrators =
        if full() { &[Integrator::Vcm, Integrator::Bpm, Integrator::Ppm][..] } else { &[Integrator::Vcm] };
    for &integrator in integrators {
        let [sound, brighter] = fit(integrator, MergeRadius::DEFAULT);
        assert!(sound.b.is_near(0.0, 0.0), "{integrator}: b is {}, expected none", sound.b);
        if integrator.connects() {
            assert!(brighter.b.value > brighter.b.half, "{integrator}: more light is missed: {}", brighter.b);
        }
    }
    // A first radius that is far too large leaves a bias that such a fit finds
    let [wide, _] = fit(Integrator::Vcm, radius(60_000));
    assert!(wide.b.value > wide.b.half, "vcm: the bias of a wide radius is missed: {}", wide.b);
}

#[test]
fn a_line_with_a_constant_is_found_again() {
    let points: Vec<(f64, f64)> =
        (0..7).map(|k| 1.0 / f64::from(1 << k)).map(|v| (v, 3.0 * v + 0.25)).collect();
    let [a, b] = line(&points);
    assert!((a - 3.0).abs() < 1e-12 && (b - 0.25).abs() < 1e-12, "{a} {b}");
    assert_eq!(noise(4, true), 0.25);
    assert!(
        (noise(16, false) - (1..=16).map(|i| f64::from(i).powf(0.25)).sum::<f64>() / 256.0).abs() < 1e-12
    );
}
