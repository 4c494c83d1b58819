//! The CPU targets keep the contract and get the light right.

use lockstep_conformance as conformance;
use lockstep_core::Mode;
use lockstep_core::Structure;
use lockstep_core::{Backend, KernelConfig, OpenOptions};
use lockstep_cpu::{BVH_TARGET, Cpu, EMBREE_TARGET};

#[test]
fn the_built_in_bvh_keeps_the_contract() {
    conformance::contract(&mut || Cpu.open(BVH_TARGET, &OpenOptions::default())).unwrap();
}

#[test]
fn the_built_in_bvh_gets_the_light_right() {
    conformance::physics(&mut || Cpu.open(BVH_TARGET, &OpenOptions::default())).unwrap();
}

#[test]
fn no_way_to_run_passes_changes_a_film_and_those_of_kernels_are_refused() {
    let of_kernels = [
        KernelConfig { group: Some(128), ..KernelConfig::default() },
        KernelConfig { structure: Structure::Megakernel, ..KernelConfig::default() },
        KernelConfig::in_mode(Mode::Fast),
    ];
    let refused =
        conformance::variants(&mut || Cpu.open(BVH_TARGET, &OpenOptions::default()), &of_kernels).unwrap();
    assert_eq!(refused.iter().map(|(variant, _)| *variant).collect::<Vec<_>>(), of_kernels);
}

#[test]
fn films_do_not_depend_on_the_number_of_threads() {
    let scene = conformance::scenes::everything().unwrap();
    let settings = lockstep_core::Settings { width: 100, height: 70, ..Default::default() };
    let film = |threads| {
        let mut renderer =
            Cpu.open(BVH_TARGET, &OpenOptions { threads: Some(threads), ..OpenOptions::default() }).unwrap();
        conformance::render(renderer.as_mut(), &scene, &settings, 4).unwrap().0
    };
    let one = film(1);
    for threads in [2, 3, 8] {
        assert_eq!(film(threads), one, "{threads} threads");
    }
}

/// False, with a printed reason, where Embree is not installed.
fn embree_is_here() -> bool {
    match lockstep_cpu::embree::library::load() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

#[test]
fn embree_keeps_the_contract() {
    if embree_is_here() {
        conformance::contract(&mut || Cpu.open(EMBREE_TARGET, &OpenOptions::default())).unwrap();
    }
}

#[test]
fn embree_gets_the_light_right() {
    if embree_is_here() {
        conformance::physics(&mut || Cpu.open(EMBREE_TARGET, &OpenOptions::default())).unwrap();
    }
}
