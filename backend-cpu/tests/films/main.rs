//! Films of whole renderers, which the library's own tests would have to compile a second time.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod far_flat_surfaces;
mod technique_films;

use lockstep_conformance::{render, require, scenes};
use lockstep_core::{Backend, Integrator, OpenOptions, Settings};
use lockstep_cpu::embree::library;
use lockstep_cpu::{BVH_TARGET, Cpu, EMBREE_TARGET};

#[test]
fn films_do_not_depend_on_the_number_of_threads() {
    let scene = scenes::everything().unwrap();
    let settings = Settings { width: 100, height: 70, ..Default::default() };
    let film = |threads| {
        let options = OpenOptions { threads: Some(threads), ..OpenOptions::default() };
        let mut renderer = Cpu.open(BVH_TARGET, &options).unwrap();
        render(renderer.as_mut(), &scene, &settings, 4).unwrap().0
    };
    let one = film(1);
    for threads in [2, 3, 8] {
        assert_eq!(film(threads), one, "{threads} threads");
    }
}

#[test]
fn films_of_both_targets_agree_but_for_few_pixels() {
    if require::present(EMBREE_TARGET, library::load()).is_none() {
        return;
    }
    let scene = scenes::everything().unwrap();
    let settings = Settings { width: 160, height: 120, ..Settings::default() };
    let film = |target, threads| {
        let mut renderer =
            Cpu.open(target, &OpenOptions { threads: Some(threads), ..OpenOptions::default() }).unwrap();
        render(renderer.as_mut(), &scene, &settings, 4).unwrap().0
    };
    let (bvh, embree) = (film(BVH_TARGET, 2), film(EMBREE_TARGET, 2));
    let differing = bvh.pixels_differing(&embree);
    println!("{differing} of {} pixels differ at 4 spp", bvh.sums.len());
    assert!(differing <= bvh.sums.len() / 1_000, "{differing} pixels differ");
    assert!(embree.invalid.is_zero());
    assert_eq!(film(EMBREE_TARGET, 1), embree, "films do not depend on the number of threads");
}

#[test]
fn the_size_of_a_photon_map_is_known_before_the_load_and_in_its_report() {
    let scene = scenes::everything_from_both_sides().unwrap();
    let mut renderer = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
    let of = |integrator| Settings { width: 40, height: 25, integrator, ..Settings::default() };
    let sizes = [Integrator::Path, Integrator::Bpt, Integrator::Bpm, Integrator::Vcm]
        .map(|integrator| renderer.photon_map_bytes(&of(integrator)));
    // 1000 light sub-paths of three photons of 48 bytes, twice, with a position and a source each; 1024 buckets
    assert_eq!(sizes[..3], [0, 0, 3000 * (2 * 48 + 12 + 8) + 4 * 1024]);
    assert!(sizes[3] > sizes[2], "vcm keeps vertices for connections: {sizes:?}");
    let report = renderer.load(&scene, &of(Integrator::Vcm)).unwrap();
    assert_eq!(report.photon_map_bytes, sizes[3]);
    assert_eq!(renderer.load(&scene, &of(Integrator::Path)).unwrap().photon_map_bytes, 0);
}
