//! Merges with photons: films against brute force, to the bit, and against a closed form of their bias.

use super::for_these;
use crate::{
    Checked, During, Extent, Outcome, Subject, accumulate, film_of, identity, made, mean, render, scenes,
    tolerances,
};
use lockstep_bvh::{BuildSettings, Bvh2, Scratch};
use lockstep_core::film::{Film, InvalidSamples};
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::merging::{MergeRadius, MergeSchedule};
use lockstep_core::scene::Scene;
use lockstep_core::splat::{self, MERGED, MergeSum, Technique};
use lockstep_core::{Integrator, KernelConfig, MergeSums, Settings};
use lockstep_transport::integrators::bidirectional::{
    Connection, PairPass, PairSink, Photon, Techniques, Tracer, Vertex, trace_pair,
};

/// The integrators that merge.
const INTEGRATORS: [Integrator; 3] = [Integrator::Vcm, Integrator::Bpm, Integrator::Ppm];

/// A radius within which merges are many.
fn wide() -> Checked<MergeRadius> {
    radius(60_000)
}

pub(super) fn radius(millionths: u32) -> Checked<MergeRadius> {
    MergeRadius::from_millionths(millionths).during(|| "choosing a radius".into())
}

/// The built-in BVH, ray by ray.
pub(super) struct Traced<'a> {
    pub(super) scene: &'a Scene,
    pub(super) bvh: &'a Bvh2,
    pub(super) scratch: Scratch,
}

impl Tracer for Traced<'_> {
    fn closest_hit(&mut self, ray: &Ray, key: RayKey) -> Hit {
        self.bvh.closest_hit(self.scene, ray, key, &mut self.scratch)
    }

    fn any_hit(&mut self, ray: &Ray, key: RayKey) -> bool {
        self.bvh.any_hit(self.scene, ray, key, &mut self.scratch)
    }
}

/// Everything that the pairs of a pass leave.
#[derive(Default)]
struct Recorded {
    key: SampleKey,
    photons: Vec<Photon>,
    /// Vertices of camera sub-paths, each with its bounce.
    camera: Vec<(SampleKey, u32, Vertex)>,
    sums: Vec<[i64; 3]>,
    invalid: InvalidSamples,
}

impl PairSink for Recorded {
    fn light_vertex(&mut self, bounce: u32, vertex: &Vertex) {
        self.photons.extend(Photon::new(vertex, bounce));
    }

    fn camera_vertex(&mut self, bounce: u32, vertex: &Vertex) {
        self.camera.push((self.key, bounce, vertex.clone()));
    }

    fn contribution(&mut self, connection: &Connection, reached: bool) {
        if reached {
            let radiance = connection.value * connection.weight;
            let units = splat::quantize(radiance, self.key, connection.technique, &mut self.invalid);
            add(&mut self.sums[connection.pixel as usize], units);
        }
    }
}

fn add(sum: &mut [i64; 3], units: [i64; 3]) {
    sum.iter_mut().zip(units).for_each(|(sum, units)| *sum += units);
}

/// The film without a grid: every photon of a pass is held against every vertex. Also the number of merges.
fn by_brute_force(
    scene: &Scene,
    settings: &Settings,
    samples: u32,
) -> Option<(Vec<[i64; 3]>, InvalidSamples, u64)> {
    let techniques = Techniques::of(settings.integrator)?;
    let schedule = MergeSchedule::new(scene, settings)?;
    let bvh = Bvh2::build(scene, &BuildSettings::default());
    let camera = scene.camera.frame(settings.width, settings.height);
    let pixels = settings.width * settings.height;
    let mut recorded = Recorded { sums: vec![[0; 3]; pixels as usize], ..Recorded::default() };
    let mut merges = 0;
    for sample in 0..samples {
        let merging = schedule.pass(sample);
        let pass = PairPass { scene, settings, techniques, camera, merging };
        let mut tracer = Traced { scene, bvh: &bvh, scratch: Scratch::default() };
        recorded.photons.clear();
        recorded.camera.clear();
        for pixel in 0..pixels {
            recorded.key = settings.key(pixel, sample);
            trace_pair(&pass, recorded.key, &mut tracer, &mut recorded);
        }
        let Recorded { photons, camera, sums, invalid, .. } = &mut recorded;
        for (key, bounce, vertex) in camera.iter().filter(|(.., vertex)| !vertex.is_specular()) {
            let mut sum = MergeSum::default();
            for photon in photons.iter().filter(|p| merging.contains(p.position, vertex.position)) {
                if photon.bounce + bounce < settings.bounces
                    && let Some(merge) = photon.merge(vertex, &merging)
                {
                    sum.add(merge.value * techniques.merge_weight(merge.weight), invalid);
                    merges += 1;
                }
            }
            let technique = Technique { light: MERGED, camera: bounce + 2 };
            add(&mut sums[key.pixel as usize], sum.film_units(*key, technique, invalid));
        }
    }
    Some((recorded.sums, recorded.invalid, merges))
}

/// The photons that a target finds are those within the radius of the pass, each once: its film is that of brute
/// force, to the bit.
pub(crate) fn merges_are_those_of_brute_force(subject: &Subject<'_>) -> Checked<Outcome> {
    let built = [made(scenes::everything_from_both_sides())?, made(scenes::small_and_large_light())?];
    for_these(subject, &INTEGRATORS, |integrator| {
        let base = Settings { width: 24, height: 16, bounces: 4, integrator, ..Settings::default() };
        for (scene, merge_radius, seed, samples) in [
            (&built[0], wide()?, 1, 3),
            (&built[1], wide()?, 2, 2),
            // Cells of a single photon, and one cell for all
            (&built[1], radius(10_000)?, 3, 2),
            (&built[0], radius(1_000_000)?, 4, 1),
        ] {
            let settings = Settings { merge_radius, seed, roulette_from: Some(2), ..base };
            let Some((sums, invalid, merges)) = by_brute_force(scene, &settings, samples) else {
                return Ok(());
            };
            let (film, _) = render(subject.open()?.as_mut(), scene, &settings, samples)?;
            let what = format!("{integrator}, {}, radius {merge_radius}", scene.name);
            assert!(merges > 0, "{what}: there are merges");
            let differing = film.sums.iter().zip(&sums).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 0, "{what}: pixels that differ from brute force over {merges} merges");
            assert_eq!(film.invalid, invalid, "{what}: invalid samples");
        }
        Ok(())
    })
}

/// A photon's flux is spread over the circle of merges. Under a point light at height h the mean irradiance of a
/// circle of radius r about the foot is `2 I / r² (1 - h / sqrt(h² + r²))`, so the bias of every pass is known, and
/// falls as r².
pub(crate) fn merges_average_irradiance_over_their_circle(subject: &Subject<'_>) -> Checked<Outcome> {
    const ALBEDO: f64 = 0.5;
    const INTENSITY: f64 = 3.0;
    const HEIGHT: f64 = 1.0;
    let scene = made(scenes::floor_under_point(ALBEDO as f32, INTENSITY as f32, HEIGHT as f32))?;
    for_these(subject, &INTEGRATORS, |integrator| {
        // Connections find the same light without bias
        if integrator == Integrator::Vcm {
            return Ok(());
        }
        // All vertices lie under the light, where as many photons in passes of fewer vertices take fewer merges
        for millionths in [141_421, 70_711] {
            let merge_radius = radius(millionths)?;
            let settings = Settings {
                width: 16,
                height: 16,
                bounces: 1,
                integrator,
                merge_radius,
                ..Settings::default()
            };
            if identity::carries_over(subject, &scene, &settings)? {
                continue;
            }
            let samples = 8192;
            let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, samples)?;
            let Some(schedule) = MergeSchedule::new(&scene, &settings) else { return Ok(()) };
            let of_pass = |sample| {
                let r2 = schedule.radius(sample).powi(2);
                2.0 * INTENSITY / r2 * (1.0 - HEIGHT / (HEIGHT * HEIGHT + r2).sqrt())
            };
            let irradiance = (0..samples).map(of_pass).sum::<f64>() / f64::from(samples);
            let expected = ALBEDO * std::f64::consts::FRAC_1_PI * irradiance;
            let found = mean(&film);
            assert!(
                (found / expected - 1.0).abs() < tolerances::MERGED_IRRADIANCE,
                "{integrator}, radius {merge_radius}: {found}, expected {expected}"
            );
        }
        Ok(())
    })
}

/// Sums of floats in place of integers, for `lockstep tune` to measure, leave another film of the same image up to their
/// rounding, and the default leaves its own film again afterwards.
pub(crate) fn float_merges_differ_by_their_rounding(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::everything_from_both_sides())?;
    for_these(subject, &[Integrator::Ppm], |integrator| {
        let base = Settings { width: 60, height: 40, bounces: 4, integrator, ..Settings::default() };
        let settings = Settings { merge_radius: wide()?, ..base };
        let mut renderer = subject.open()?;
        let loaded = renderer.load(&scene, &settings).during(|| format!("loading {}", scene.name))?;
        if loaded.compile_ms > 0.0 && subject.extent() == Extent::Quick {
            // Compilers of kernels take minutes for one more program
            return Ok(());
        }
        let (expected, _) = render(renderer.as_mut(), &scene, &settings, 2)?;
        let configs = renderer.kernel_configs();
        let Some(floats) = configs.iter().find(|config| config.merges == MergeSums::Floats) else {
            // Configurations are an optional power
            return Ok(());
        };
        let mut by = |config: &KernelConfig| -> Checked<Film> {
            renderer.configure(config).during(|| format!("selecting {config}"))?;
            accumulate(renderer.as_mut(), &scene, 0..2)?;
            film_of(renderer.as_mut(), &scene)
        };
        let found = by(floats)?;
        assert!(found.pixels_differing(&expected) > 0, "{floats}: merges add up as floats");
        for (pixel, (found, expected)) in found.mean().iter().zip(expected.mean()).enumerate() {
            for (a, b) in found.iter().zip(expected) {
                let allowed = tolerances::FLOAT_MERGES * b.max(1.0);
                assert!((a - b).abs() <= allowed, "{floats}: pixel {pixel} is {a}, expected {b}");
            }
        }
        assert_eq!(by(&configs[0])?.sums, expected.sums, "{}: the default's film", configs[0]);
        Ok(())
    })
}
