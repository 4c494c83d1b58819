//! Films of single techniques: they add up to the film, and each alone finds the light of its path length.

use lockstep_conformance::{mean, render, scenes};
use lockstep_core::scene::{Material, Scene};
use lockstep_core::splat::Technique;
use lockstep_core::{Backend, Error, Film, Integrator, OpenOptions, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu, TechniqueFilm, sum_of_weighted, technique_films};
use std::ops::ControlFlow;

fn films_of(scene: &Scene, settings: &Settings) -> Vec<TechniqueFilm> {
    technique_films(scene, settings, 3..19, &OpenOptions::default(), &mut || ControlFlow::Continue(()))
        .unwrap()
}

#[test]
fn weighted_films_of_all_techniques_add_up_to_the_film_to_the_bit() {
    let built = [scenes::small_and_large_light().unwrap(), scenes::everything_from_both_sides().unwrap()];
    for scene in &built {
        for integrator in [Integrator::Bpt, Integrator::Light] {
            let settings =
                Settings { width: 24, height: 16, bounces: 4, seed: 5, integrator, ..Settings::default() };
            let mut renderer = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
            renderer.load(scene, &settings).unwrap();
            renderer.accumulate(3..19).unwrap();
            let mut film = Film::new(1, 1).unwrap();
            renderer.read(&mut film).unwrap();
            let films = films_of(scene, &settings);
            let sum = sum_of_weighted(&films).unwrap();
            assert!(film.sums.iter().flatten().any(|&v| v > 0), "{}, {integrator}", scene.name);
            assert_eq!((sum.sums, sum.invalid), (film.sums, film.invalid), "{}, {integrator}", scene.name);
        }
    }
}

#[test]
fn every_technique_alone_finds_the_light_of_its_path_length() {
    let lamp = Material::emitter([5.0; 3]);
    let scene = scenes::floor_under_lamp(0.8, lamp, 0.7, None).unwrap();
    let integrator = Integrator::Bpt;
    let settings = Settings { width: 16, height: 16, bounces: 1, integrator, ..Settings::default() };
    let films =
        technique_films(
            &scene,
            &settings,
            0..512,
            &OpenOptions::default(),
            &mut || ControlFlow::Continue(()),
        )
        .unwrap();
    let path = Settings { integrator: Integrator::Path, ..settings };
    let mut renderer = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
    let (expected, _) = render(renderer.as_mut(), &scene, &path, 512).unwrap();
    let expected = mean(&expected);
    for (light, camera) in [(0, 3), (1, 2)] {
        let of = films.iter().find(|film| film.technique == Technique { light, camera }).unwrap();
        let found = mean(&of.unweighted);
        assert!((found - expected).abs() < 0.05 * expected, "({light}, {camera}): {found}, path {expected}");
    }
}

#[test]
fn integrators_of_camera_paths_alone_are_refused() {
    let scene = scenes::floor_under_sky(0.8, 2.0).unwrap();
    let refused = technique_films(&scene, &Settings::default(), 0..1, &OpenOptions::default(), &mut || {
        ControlFlow::Continue(())
    });
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}
