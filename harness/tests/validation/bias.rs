//! The verdict on renders: no alarm without bias, and an alarm at one per cent in one material.

use crate::{full, scene};
use lockstep_conformance::require;
use lockstep_core::{Backend, Film, OpenOptions, Renderer, Scene, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu, EMBREE_TARGET};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::statistics::{Agreement, DecisionRule, ImageComparison, Pairing, compare_images};

/// Samples per pixel at which pairs are compared.
const LEVELS: [u32; 3] = [1, 8, 64];

/// The most false alarms in a thousand unbiased pairs.
const ALARMS_IN_A_THOUSAND: f64 = 10.0;

fn seeds() -> u32 {
    if full() { 1_000 } else { 24 }
}

fn settings(side: u32, seed: u32) -> Settings {
    Settings { width: side, height: side, seed, ..Settings::default() }
}

fn film(renderer: &mut dyn Renderer) -> Film {
    let mut film = Film::new(1, 1).unwrap();
    renderer.read(&mut film).unwrap();
    film
}

fn image(film: &Film) -> LinearImage {
    LinearImage::new(film.width(), film.height(), film.mean()).unwrap()
}

/// A scene's films at every level under one seed.
fn render_levels(
    renderer: &mut dyn Renderer,
    scene: &Scene,
    settings: Settings,
    levels: &[u32],
) -> Vec<Film> {
    renderer.load(scene, &settings).unwrap();
    let mut done = 0;
    let mut films = Vec::new();
    for &spp in levels {
        renderer.accumulate(done..spp).unwrap();
        done = spp;
        films.push(film(renderer));
    }
    films
}

/// The samples of `to` that are not in `from`, as an image.
fn between(from: &Film, to: &Film) -> LinearImage {
    let mut rest = to.clone();
    rest.spp -= from.spp;
    rest.sums.iter_mut().flatten().zip(from.sums.iter().flatten()).for_each(|(to, from)| *to -= from);
    image(&rest)
}

fn renderer(target: &str) -> Option<Box<dyn Renderer>> {
    require::present(target, Cpu.open(target, &OpenOptions::default()))
}

/// How many of how many verdicts were false alarms.
#[derive(Default)]
struct Count {
    alarms: u32,
    verdicts: u32,
}

impl Count {
    fn add(&mut self, found: &ImageComparison) {
        assert_ne!(found.agreement, Agreement::Broken, "{}", found.reason);
        self.verdicts += 1;
        self.alarms += u32::from(found.agreement == Agreement::Biased);
    }

    /// Prints the count and fails where there are more than one in a hundred and more than one.
    fn check(&self, what: &str) {
        println!("{what}: {} false alarms in {} unbiased pairs", self.alarms, self.verdicts);
        let allowed = (ALARMS_IN_A_THOUSAND / 1_000.0 * f64::from(self.verdicts)).max(1.0);
        assert!(f64::from(self.alarms) <= allowed, "{what}: {} of {}", self.alarms, self.verdicts);
    }
}

/// Compares each seed with the next as two single images, each two with the next two, and images of one seed that share half of their samples as paired.
fn raises_no_alarm(name: &str) {
    let Some(scene) = scene(name) else { return };
    let Some(mut renderer) = renderer(BVH_TARGET) else { return };
    let rule = DecisionRule::default();
    let mut counts: [[Count; 2]; LEVELS.len()] = Default::default();
    let mut paired = Count::default();
    let mut recent: Vec<Vec<LinearImage>> = vec![Vec::new(); LEVELS.len()];
    for seed in 0..seeds() + 3 {
        let films = render_levels(renderer.as_mut(), &scene, settings(48, seed), &[1, 8, 32, 64, 96]);
        let overlapping =
            compare_images(&[image(&films[3])], &[between(&films[2], &films[4])], Pairing::Paired, &rule);
        paired.add(&overlapping.unwrap());
        for ((film, images), [single, double]) in [0, 1, 3].iter().zip(&mut recent).zip(&mut counts) {
            images.push(image(&films[*film]));
            let n = images.len();
            if n >= 2 {
                single.add(
                    &compare_images(&images[n - 2..n - 1], &images[n - 1..], Pairing::Independent, &rule)
                        .unwrap(),
                );
            }
            if n == 4 {
                double.add(&compare_images(&images[..2], &images[2..], Pairing::Independent, &rule).unwrap());
                images.remove(0);
            }
        }
    }
    for (spp, [single, double]) in LEVELS.iter().zip(&counts) {
        single.check(&format!("{name} at {spp} spp, one image a side"));
        double.check(&format!("{name} at {spp} spp, two images a side"));
    }
    paired.check(&format!("{name} at 64 spp, paired, half of the samples shared"));
}

/// Embree against the built-in intersector, under the same seeds.
fn embree_is_within_noise(name: &str) {
    let Some(scene) = scene(name) else { return };
    let (Some(mut bvh), Some(mut embree)) = (renderer(BVH_TARGET), renderer(EMBREE_TARGET)) else { return };
    let mut count = Count::default();
    for seed in 0..seeds() / 2 {
        let settings = settings(48, seed);
        let a = render_levels(bvh.as_mut(), &scene, settings, &[64]);
        let b = render_levels(embree.as_mut(), &scene, settings, &[64]);
        count.add(
            &compare_images(&[image(&a[0])], &[image(&b[0])], Pairing::Paired, &DecisionRule::default())
                .unwrap(),
        );
    }
    count.check(&format!("{name} at 64 spp, cpu-bvh against cpu-embree, same seeds"));
}

/// Scales one material's base colour by 1.01 and looks for it at 64 samples per pixel: under the same seeds,
/// where it must be found every time, and under other seeds with one and with two images a side, which is
/// printed.
fn finds_one_per_cent(name: &str, material: usize) {
    let Some(sound) = scene(name) else { return };
    let Some(mut renderer) = renderer(BVH_TARGET) else { return };
    let mutant = sound.with_fault(|data| {
        let colour = &mut data.materials[material].base_color;
        *colour = *colour * 1.01;
    });
    let (side, trials) = if full() { (256, 10) } else { (64, 2) };
    let mut render = |scene: &Scene, seed: u32| {
        image(&render_levels(renderer.as_mut(), scene, settings(side, seed), &[64])[0])
    };
    let mut found = [0; 3];
    for trial in 0..trials {
        let a: Vec<_> = (0..2).map(|i| render(&mutant, 4 * trial + i)).collect();
        let b: Vec<_> = (0..4).map(|i| render(&sound, 4 * trial + i)).collect();
        let cases = [
            (&a[..1], &b[..1], Pairing::Paired),
            (&a[..1], &b[2..3], Pairing::Independent),
            (&a[..], &b[2..], Pairing::Independent),
        ];
        for (count, (a, b, seeds)) in found.iter_mut().zip(cases) {
            let comparison = compare_images(a, b, seeds, &DecisionRule::default()).unwrap();
            *count += u32::from(comparison.agreement == Agreement::Biased);
        }
    }
    println!(
        "{name}: material {material} brighter by 1 % at 64 spp, {side}x{side}: found in {} of {trials} under the same \
         seeds, {} under other seeds, {} with two images a side",
        found[0], found[1], found[2]
    );
    assert_eq!(found[0], trials, "{name}: a bias was missed");
}

#[test]
fn unbiased_cornell_boxes_raise_no_alarm() {
    raises_no_alarm("cornell");
}

#[test]
fn unbiased_weekend_spheres_raise_no_alarm() {
    raises_no_alarm("weekend");
}

#[test]
fn embree_is_within_noise_of_the_built_in_intersector() {
    embree_is_within_noise("cornell");
    embree_is_within_noise("weekend");
}

#[test]
fn one_per_cent_in_a_wall_of_the_cornell_box_is_found() {
    finds_one_per_cent("cornell", 1);
}

#[test]
fn one_per_cent_in_the_ground_of_the_weekend_spheres_is_found() {
    finds_one_per_cent("weekend", 0);
}
