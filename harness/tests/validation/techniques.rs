//! Techniques of bidirectional path tracing against `path`. Each alone, without weights, finds all light of its path
//! length; those of one length, weighted, add up to it. `path` has the light of a length as what its last bounce adds.

use crate::full;
use crate::tiles::Tiles;
use lockstep_conformance::scenes::{self, LitBy};
use lockstep_conformance::{render, tolerances};
use lockstep_core::scene::Scene;
use lockstep_core::{Backend, Integrator, OpenOptions, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu, TechniqueFilm, sum_of_weighted, technique_films};
use std::ops::ControlFlow;

/// The sides of images and of their tiles, in pixels.
const SIDE: u32 = 16;
const TILE: u32 = 8;

/// Vertices of the longest paths, those on light and lens included; the shortest have two.
const LONGEST: u32 = 5;

/// Seeds of a comparison; those of `path` begin where it shares no draw with what is compared.
const SEEDS: u32 = 32;
const FIRST_SEED_OF_PATH: u32 = 1000;

/// A bias that must be found: the error of a light's density in pbrt-v3#179.
const FOUND: f64 = 1.12;

fn settings(integrator: Integrator, longest: u32, seed: u32) -> Settings {
    Settings { width: SIDE, height: SIDE, bounces: longest - 2, seed, integrator, ..Settings::default() }
}

/// The light that `path` finds, by the number of vertices less two.
fn by_path(scene: &Scene, spp: u32) -> Vec<Tiles> {
    let mut renderer = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
    let mut all = vec![Tiles::new(SIDE, TILE); LONGEST as usize - 1];
    for seed in FIRST_SEED_OF_PATH..FIRST_SEED_OF_PATH + SEEDS {
        let mut shorter = vec![[0; 3]; (SIDE * SIDE) as usize];
        for (longest, tiles) in (2..).zip(&mut all) {
            let settings = settings(Integrator::Path, longest, seed);
            let (film, _) = render(renderer.as_mut(), scene, &settings, spp).unwrap();
            let difference = |(long, short): (&[i64; 3], &[i64; 3])| [0, 1, 2].map(|i| long[i] - short[i]);
            tiles.push(&film.sums.iter().zip(&shorter).map(difference).collect::<Vec<_>>());
            shorter = film.sums;
        }
    }
    all
}

/// The films of every technique by path length under each seed.
fn by_techniques(scene: &Scene, spp: u32, mut add: impl FnMut(u32, &[TechniqueFilm])) {
    for seed in 0..SEEDS {
        let settings = settings(Integrator::Bpt, LONGEST, seed);
        let mut films = technique_films(scene, &settings, 0..spp, &OpenOptions::default(), &mut || {
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(films.iter().all(|film| film.unweighted.invalid.is_zero()), "{}", scene.name);
        let vertices = |film: &TechniqueFilm| film.technique.light + film.technique.camera;
        films.sort_by_key(vertices);
        films.chunk_by(|a, b| vertices(a) == vertices(b)).for_each(|of| add(vertices(&of[0]), of));
    }
}

/// Comparisons with `path`, and in how many the bias that must be found is.
#[derive(Default)]
struct Count {
    tests: usize,
    compared: usize,
    found: usize,
}

impl Count {
    /// Asserts that no tile differs from that of `path`.
    fn compare(&mut self, what: &str, found: &Tiles, expected: &Tiles) {
        let [t, biased] = [1.0, FOUND].map(|brighter| found.largest_t(expected, brighter));
        println!("{what}: largest t {t:.2}, with {FOUND} times the light {biased:.2}");
        assert!(t < tolerances::WELCH_TECHNIQUES, "{what}: t = {t}");
        self.tests += found.tests();
        self.compared += 1;
        self.found += usize::from(biased >= tolerances::WELCH_TECHNIQUES);
    }

    /// Prints the counts and asserts that the bias is found in at least `least` comparisons.
    fn check(&self, least: usize) {
        let Self { tests, compared, found } = self;
        println!(
            "{tests} tests in {compared} comparisons, in {found} of which {FOUND} times the light is found"
        );
        assert!(*found >= least, "{FOUND} times the light is found in {found} of {compared} comparisons");
    }
}

/// Whether many rays hit the light, so that camera sub-paths find it alone.
fn is_hit(light: LitBy) -> bool {
    matches!(light, LitBy::Triangles | LitBy::Environment)
}

#[test]
fn every_technique_alone_finds_the_light_of_its_path_length() {
    let spp = if full() { 512 } else { 64 };
    let mut count = Count::default();
    for light in scenes::LIGHTS {
        let scene = scenes::apart(light).unwrap();
        let mut found = std::collections::BTreeMap::new();
        by_techniques(&scene, spp, |vertices, films| {
            for film in films.iter().filter(|film| film.technique.light > 0 || is_hit(light)) {
                let (_, tiles) = found.entry(film.technique).or_insert((vertices, Tiles::new(SIDE, TILE)));
                tiles.push(&film.unweighted.sums);
            }
        });
        let by_path = by_path(&scene, spp);
        for (technique, (vertices, tiles)) in found {
            let what = format!("{}, ({}, {})", scene.name, technique.light, technique.camera);
            count.compare(&what, &tiles, &by_path[vertices as usize - 2]);
        }
    }
    count.check(30);
}

#[test]
fn weighted_techniques_of_a_path_length_add_up_to_its_light() {
    let spp = if full() { 128 } else { 16 };
    let mut count = Count::default();
    for scene in scenes::compared().unwrap() {
        let mut found = vec![Tiles::new(SIDE, TILE); LONGEST as usize - 1];
        by_techniques(&scene, spp, |vertices, films| {
            found[vertices as usize - 2].push(&sum_of_weighted(films).unwrap().sums);
        });
        for ((vertices, found), expected) in (2..).zip(&found).zip(&by_path(&scene, spp)) {
            count.compare(&format!("{}, {vertices} vertices", scene.name), found, expected);
        }
    }
    count.check(20);
}
