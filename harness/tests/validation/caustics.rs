//! Integrators that merge against `bpt` on a scene whose caustics `path` finds by chance alone.

use crate::tiles::Tiles;
use crate::{full, scene};
use lockstep_conformance::{render, tolerances};
use lockstep_core::merging::MergeRadius;
use lockstep_core::{Backend, Integrator, OpenOptions, Scene, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};

/// The sides of images and of their tiles, in pixels.
const SIDE: u32 = 32;
const TILE: u32 = 8;
const SEEDS: u32 = 32;

/// More light, which must be found.
const BRIGHTER: f64 = 1.12;

/// The light of tiles by an integrator, under seeds that no other has.
fn tiles(scene: &Scene, integrator: Integrator) -> Tiles {
    let spp = if full() { 128 } else { 16 };
    let mut renderer = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
    let mut tiles = Tiles::new(SIDE, TILE);
    let first = 1000 * integrator as u32;
    for seed in first..first + SEEDS {
        let settings = Settings {
            width: SIDE,
            height: SIDE,
            bounces: 4,
            seed,
            integrator,
            merge_radius: MergeRadius::DEFAULT,
            ..Settings::default()
        };
        tiles.push(&render(renderer.as_mut(), scene, &settings, spp).unwrap().0.sums);
    }
    tiles
}

#[test]
fn merges_find_the_caustics_that_connections_find() {
    let Some(scene) = scene("caustic") else { return };
    let by_connections = tiles(&scene, Integrator::Bpt);
    for integrator in [Integrator::Vcm, Integrator::Bpm] {
        let found = tiles(&scene, integrator);
        let [t, biased] = [1.0, BRIGHTER].map(|brighter| found.largest_t(&by_connections, brighter));
        println!(
            "{integrator} against bpt, {} at {SIDE}x{SIDE}, {SEEDS} seeds: largest t {t:.2}, with {BRIGHTER} times the light \
             {biased:.2}",
            scene.name
        );
        assert!(t < tolerances::WELCH_CAUSTICS, "{integrator}: t = {t}");
        assert!(biased > tolerances::WELCH_CAUSTICS, "{integrator}: more light is missed, t = {biased}");
    }
}
