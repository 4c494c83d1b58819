//! Error falls as one over the number of samples.

use crate::{full, scene};
use lockstep_conformance::statistics::log_log_slope;
use lockstep_core::{Backend, Film, OpenOptions, Renderer, Scene, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};

/// Size, independent schedules that are averaged, and samples of the reference.
struct Effort {
    side: u32,
    schedules: u32,
    reference_spp: u32,
}

fn effort() -> Effort {
    if full() {
        Effort { side: 96, schedules: 32, reference_spp: 16_384 }
    } else {
        Effort { side: 24, schedules: 64, reference_spp: 16_384 }
    }
}

fn renderer() -> Box<dyn Renderer> {
    Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap()
}

fn mean_image(renderer: &mut dyn Renderer) -> Vec<[f32; 3]> {
    let mut film = Film::new(1, 1).unwrap();
    renderer.read(&mut film).unwrap();
    film.mean()
}

fn mse(a: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
    let sum: f64 = a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| f64::from(x - y).powi(2)).sum();
    sum / (3 * a.len()) as f64
}

/// The slope of log MSE over log spp from 1 to 256, over seeds that share nothing with the reference's.
fn slope(scene: &Scene, effort: &Effort) -> f64 {
    let settings =
        Settings { width: effort.side, height: effort.side, seed: u32::MAX, ..Settings::default() };
    let mut renderer = renderer();
    renderer.load(scene, &settings).unwrap();
    renderer.accumulate(0..effort.reference_spp).unwrap();
    let reference = mean_image(renderer.as_mut());
    let levels: Vec<u32> = (0..=8).map(|k| 1 << k).collect();
    let mut errors = vec![0.0; levels.len()];
    for seed in 0..effort.schedules {
        renderer.load(scene, &Settings { seed, ..settings }).unwrap();
        let mut done = 0;
        for (error, &spp) in errors.iter_mut().zip(&levels) {
            renderer.accumulate(done..spp).unwrap();
            done = spp;
            *error += mse(&mean_image(renderer.as_mut()), &reference) / f64::from(effort.schedules);
        }
    }
    let points: Vec<(f64, f64)> = levels.iter().zip(&errors).map(|(&n, &e)| (f64::from(n), e)).collect();
    log_log_slope(&points)
}

fn converges(name: &str) {
    let Some(scene) = scene(name) else { return };
    let effort = effort();
    let found = slope(&scene, &effort);
    println!(
        "{name}: slope {found:.4} from 1 to 256 spp over {} schedules of {}x{} against {} spp",
        effort.schedules, effort.side, effort.side, effort.reference_spp
    );
    assert!((found + 1.0).abs() <= 0.05, "{name}: slope {found}, expected -1 within 0.05");
}

#[test]
fn the_cornell_box_converges_as_one_over_n() {
    converges("cornell");
}

#[test]
fn the_weekend_spheres_converge_as_one_over_n() {
    converges("weekend");
}
