//! Every OpenCL target keeps the contract, gets the light right and equals `cpu-bvh` to the bit.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use lockstep_conformance::{self as conformance, scenes};
use lockstep_core::path_record::divergence;
use lockstep_core::{Backend, KernelConfig, OpenOptions, Renderer, Scene, Settings};
use lockstep_core::{Mode, Strategy};
use lockstep_cpu::{BVH_TARGET, Cpu};
use support::{open, present};

fn reference() -> Box<dyn Renderer> {
    Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap()
}

#[test]
fn every_target_keeps_the_contract() {
    for target in present() {
        conformance::contract(&mut || open(&target)).unwrap();
    }
}

#[test]
fn every_target_gets_the_light_right() {
    for target in present() {
        conformance::physics(&mut || open(&target)).unwrap();
    }
}

/// Films and ray counts of every target and of the reference.
fn assert_identical(scene: &Scene, settings: &Settings, spp: u32) {
    let (film, report) = conformance::render(reference().as_mut(), scene, settings, spp).unwrap();
    for target in present() {
        let (other, counts) =
            conformance::render(open(&target).unwrap().as_mut(), scene, settings, spp).unwrap();
        let differing = film.pixels_differing(&other);
        assert_eq!(differing, 0, "{target} on {} under {settings:?}", scene.name);
        assert_eq!(film.invalid, other.invalid, "{target} on {}", scene.name);
        assert_eq!(report.bounces, counts.bounces, "{target} on {}", scene.name);
    }
}

#[test]
fn a_scene_with_every_feature_is_identical_under_all_settings() {
    let scene = scenes::everything().unwrap();
    let base = Settings { width: 120, height: 80, ..Settings::default() };
    let variants = [
        base,
        Settings { strategy: Strategy::LightOnly, seed: 7, ..base },
        Settings { strategy: Strategy::BsdfOnly, seed: 8, ..base },
        Settings { bounces: 12, roulette_from: Some(2), seed: 9, ..base },
        Settings { bounces: 0, ..base },
    ];
    for settings in variants {
        assert_identical(&scene, &settings, 4);
    }
}

#[test]
fn built_in_scenes_are_identical() {
    let settings = Settings { width: 96, height: 54, ..Settings::default() };
    for name in ["cornell", "weekend", "atrium:10k", "furnace", "instances"] {
        let loaded = lockstep_scenes::load(name, &lockstep_scenes::LoadOptions::default()).unwrap();
        assert_identical(&loaded.scene, &settings, 2);
    }
}

#[test]
fn a_film_larger_than_the_path_state_is_identical() {
    // 400,000 paths of one sample; a device with many cores still needs two batches for the four samples.
    let settings = Settings { width: 800, height: 500, bounces: 1, ..Settings::default() };
    assert_identical(&scenes::everything().unwrap(), &settings, 4);
}

#[test]
fn traced_paths_are_those_of_the_reference() {
    let scene = scenes::everything().unwrap();
    let settings = Settings { width: 60, height: 40, ..Settings::default() };
    let mut reference = reference();
    reference.load(&scene, &settings).unwrap();
    for target in present() {
        let mut renderer = open(&target).unwrap();
        renderer.load(&scene, &settings).unwrap();
        let found = divergence::climb(renderer.as_mut(), reference.as_mut(), 0..60 * 40, 0..2).unwrap();
        assert!(found.iter().all(|rung| rung.paths == 60 * 40 * 2));
        assert_eq!(divergence::first(&found), None, "{target}");
    }
}

#[test]
fn the_fast_build_agrees_with_the_exact_one_and_a_darker_one_would_not() {
    for target in present() {
        for mut means in conformance::fast_means(&mut || open(&target)).unwrap() {
            assert_eq!(means.disagreement(), None, "{target}");
            means.fast.iter_mut().for_each(|mean| *mean *= 0.99);
            assert!(means.disagreement().is_some(), "{target} on {}: one percent is seen", means.scene);
        }
    }
}

#[test]
fn the_fast_mode_is_labelled_and_its_mean_is_the_exact_one() {
    let scene = scenes::everything().unwrap();
    let exact = Settings { width: 96, height: 54, ..Settings::default() };
    let fast = Settings { mode: Mode::Fast, ..exact };
    for target in present() {
        let mut renderer = open(&target).unwrap();
        let (film, _) = conformance::render(renderer.as_mut(), &scene, &exact, 64).unwrap();
        let (promised, flags) = (renderer.device().exact, renderer.device().flags.clone());
        let (other, _) = conformance::render(renderer.as_mut(), &scene, &fast, 64).unwrap();
        assert!(!renderer.device().exact, "{target}: the fast mode promises no identity");
        assert_ne!(renderer.device().flags, flags, "{target}: the fast mode has flags of its own");
        let (mean, fast_mean) = (conformance::mean(&film), conformance::mean(&other));
        let off = (fast_mean - mean).abs() / mean;
        assert!(off < 1e-3, "{target}: the fast mean {fast_mean} is {off} off the exact mean {mean}");
        // The exact build is still the exact one after the fast one ran.
        let (again, _) = conformance::render(renderer.as_mut(), &scene, &exact, 64).unwrap();
        assert_eq!(again, film, "{target}");
        assert_eq!(renderer.device().exact, promised, "{target}");
    }
}

#[test]
fn no_way_to_run_passes_changes_a_film_and_impossible_groups_are_refused() {
    let impossible = [
        KernelConfig { group: Some(1 << 20), ..KernelConfig::default() },
        KernelConfig { tile: Some(8), ..KernelConfig::default() },
    ];
    for target in present() {
        let refused = conformance::variants(&mut || open(&target), &impossible).unwrap();
        let asked =
            impossible.iter().filter(|variant| refused.iter().any(|(refused, _)| refused == *variant));
        assert_eq!(asked.count(), impossible.len(), "{target}: {refused:?}");
        let most =
            refused.iter().find(|(variant, _)| *variant == impossible[0]).map(|(_, reason)| reason.as_str());
        assert!(most.is_some_and(|reason| reason.contains("1 to ")), "{target}: {refused:?}");
    }
}
