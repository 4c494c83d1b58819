//! Films do not depend on the number of threads.

use lockstep_conformance::{render, scenes};
use lockstep_core::{Backend, OpenOptions, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};

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
