//! Films are the same to the bit however the samples are dealt over targets: intervals of them at random, each
//! rendered by any exact target, add up to the film of one.

use crate::{full, scene};
use lockstep_conformance::{require, scenes};
use lockstep_core::math::rng::pcg4d;
use lockstep_core::{Backend, Error, Film, Integrator, OpenOptions, Renderer, Scene, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};
use lockstep_cuda::Cuda;
use lockstep_opencl::Opencl;
use std::ops::Range;

/// Integrators whose samples are whole passes, the photons of all pixels included.
const INTEGRATORS: [Integrator; 3] = [Integrator::Vcm, Integrator::Ppm, Integrator::Bpm];

/// Targets that may take part beside the processor, each with its backend.
const TARGETS: [(&str, &dyn Backend); 4] =
    [("opencl@pocl", &Opencl), ("opencl@intel", &Opencl), ("opencl@nvidia", &Opencl), ("cuda@0", &Cuda)];

/// Scenes that the full form renders at every level of samples.
const LEVEL_SCENES: [&str; 5] = ["cornell", "weekend", "caustic", "lantern", "looking-glass"];

/// The most intervals of a partition.
const MOST_INTERVALS: u32 = 9;

/// The targets that share a film, with the samples that each has rendered of partitions.
struct Group {
    targets: Vec<(&'static str, Box<dyn Renderer>)>,
    rendered: Vec<u64>,
}

/// An interval of sample indices and the target that renders it.
#[derive(Debug)]
struct Part {
    samples: Range<u32>,
    target: usize,
}

impl Group {
    /// The processor and every other target that is here; `None` without any, since a group has several targets.
    fn open() -> Option<Self> {
        let options = OpenOptions::default();
        let mut targets = vec![(BVH_TARGET, Cpu.open(BVH_TARGET, &options).unwrap())];
        for (name, backend) in TARGETS {
            targets.extend(require::present(name, backend.open(name, &options)).map(|found| (name, found)));
        }
        let rendered = vec![0; targets.len()];
        (targets.len() > 1).then_some(Self { targets, rendered })
    }

    /// The film of a target that renders these intervals of the samples, one after another.
    fn film(&mut self, target: usize, scene: &Scene, settings: &Settings, parts: &[Range<u32>]) -> Film {
        let (name, renderer) = &mut self.targets[target];
        let film = (|| -> Result<Film, Error> {
            renderer.load(scene, settings)?;
            parts.iter().try_for_each(|samples| renderer.accumulate(samples.clone()).map(drop))?;
            let mut film = Film::new(1, 1)?;
            renderer.read(&mut film)?;
            Ok(film)
        })();
        film.unwrap_or_else(|error| panic!("{name}: rendering {parts:?} of {}: {error}", scene.name))
    }

    /// The film of a partition: those of all targets that take part, added up.
    fn film_of(&mut self, scene: &Scene, settings: &Settings, partition: &[Part]) -> Film {
        let mut sum = Film::new(settings.width, settings.height).unwrap();
        for target in 0..self.targets.len() {
            let own = partition.iter().filter(|part| part.target == target);
            let samples: Vec<Range<u32>> = own.map(|part| part.samples.clone()).collect();
            if !samples.is_empty() {
                self.rendered[target] += samples.iter().map(|part| part.len() as u64).sum::<u64>();
                sum.merge(&self.film(target, scene, settings, &samples)).unwrap();
            }
        }
        sum
    }

    /// Asserts that a random partition of the first samples has the film of one target.
    fn check(&mut self, scene: &Scene, settings: &Settings, whole: &Film, seed: u32) {
        let seed = seed ^ (settings.integrator as u32) << 16;
        let partition = partition(whole.spp, self.targets.len(), seed);
        let found = self.film_of(scene, settings, &partition);
        let what = || {
            let name = |part: &Part| format!("{} {:?}", self.targets[part.target].0, part.samples);
            let parts: Vec<String> = partition.iter().map(name).collect();
            format!("{}, {}, partition {seed}: {}", scene.name, settings.integrator, parts.join(", "))
        };
        let differing = found.pixels_differing(whole);
        assert_eq!(differing, 0, "{}: pixels that differ from one target's film", what());
        assert_eq!(found.spp, whole.spp, "{}: samples per pixel", what());
        assert_eq!(found.invalid, whole.invalid, "{}: invalid samples", what());
    }

    /// Asserts that every target has taken part, and says with how many samples of every pixel.
    fn shares(&self) -> String {
        let share = |((name, _), samples): (&(&str, Box<dyn Renderer>), &u64)| {
            assert!(*samples > 0, "{name} has rendered nothing");
            format!("{name} {samples}")
        };
        let shares: Vec<String> = self.targets.iter().zip(&self.rendered).map(share).collect();
        shares.join(", ")
    }
}

/// A partition of `0..spp` into intervals in random order, each with a random target.
fn partition(spp: u32, targets: usize, seed: u32) -> Vec<Part> {
    let random = |index: u32| pcg4d([seed, index, spp, 0x7061_7274]);
    let intervals = 1 + random(0)[0] % MOST_INTERVALS.min(spp);
    let mut cuts: Vec<u32> = (1..intervals).map(|i| random(i)[1] % spp).chain([0, spp]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let part = |(i, ends): (usize, &[u32])| {
        let [place, target, ..] = random(i as u32).map(|word| word >> 8);
        (place, Part { samples: ends[0]..ends[1], target: target as usize % targets })
    };
    let mut parts: Vec<(u32, Part)> = cuts.windows(2).enumerate().map(part).collect();
    parts.sort_by_key(|(place, _)| *place);
    parts.into_iter().map(|(_, part)| part).collect()
}

#[test]
fn a_partition_has_every_sample_once() {
    let mut sizes = std::collections::BTreeSet::new();
    for seed in 0..500 {
        let spp = 1 + seed % 40;
        let mut all = partition(spp, 3, seed);
        assert!(all.iter().all(|part| part.target < 3 && !part.samples.is_empty()), "{all:?}");
        sizes.insert(all.len());
        all.sort_by_key(|part| part.samples.start);
        let ends = all.iter().fold(0, |end, part| {
            assert_eq!(part.samples.start, end, "{all:?}");
            part.samples.end
        });
        assert_eq!(ends, spp);
    }
    assert!(sizes.len() >= 8, "partitions of many sizes: {sizes:?}");
}

#[test]
fn random_partitions_of_passes_leave_the_film_of_one_target() {
    let Some(mut group) = Group::open() else { return };
    let scene = scenes::everything_from_both_sides().unwrap();
    let (partitions, spp) = if full() { (1_000, 16) } else { (8, 12) };
    for integrator in INTEGRATORS {
        let settings =
            Settings { width: 24, height: 16, bounces: 4, seed: 9, integrator, ..Settings::default() };
        let whole = group.film(0, &scene, &settings, std::slice::from_ref(&(0..spp)));
        group.rendered.fill(0);
        for seed in 0..partitions {
            group.check(&scene, &settings, &whole, seed);
        }
        println!(
            "{integrator}, {} at 24x16: {partitions} partitions of {spp} samples, all films identical; samples by \
             target: {}",
            scene.name,
            group.shares()
        );
    }
}

#[test]
fn every_level_leaves_the_film_of_one_target() {
    let (scenes, [width, height], top, partitions, integrators) = if full() {
        (LEVEL_SCENES.map(scene).to_vec(), [32, 24], 1024, 3, &INTEGRATORS[..])
    } else {
        (vec![scenes::everything_from_both_sides().ok()], [16, 12], 32, 1, &INTEGRATORS[..1])
    };
    let Some(mut group) = Group::open() else { return };
    for scene in scenes.into_iter().map(Option::unwrap) {
        for &integrator in integrators {
            let settings = Settings { width, height, integrator, ..Settings::default() };
            group.rendered.fill(0);
            let mut spp = 1;
            while spp <= top {
                let whole = group.film(0, &scene, &settings, std::slice::from_ref(&(0..spp)));
                for seed in 0..partitions {
                    group.check(&scene, &settings, &whole, seed);
                }
                spp *= 2;
            }
            println!(
                "{integrator}, {} at {width}x{height}: 1 to {top} spp, {partitions} partitions of each, all films identical; samples by target: {}",
                scene.name,
                group.shares()
            );
        }
    }
}
