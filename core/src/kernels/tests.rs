use super::launch::{Given, KERNELS, Mismatch, Passing};
use super::*;
use crate::bvh::{BuildSettings, Bvh2};
use crate::scene::SceneBuilder;

#[test]
fn a_launch_that_differs_from_the_declaration_is_refused() {
    for kernel in KERNELS {
        let right: Vec<Given> = kernel
            .arguments()
            .map(|a| match a.passing {
                Passing::Value => Given::Value(a.of.size),
                Passing::Input | Passing::Output => Given::Buffer(a.of.size),
            })
            .collect();
        assert_eq!(kernel.check(&right), Ok(()));
        assert!(matches!(kernel.check(&right[1..]), Err(Mismatch::Count { .. })));
        for i in 0..right.len() {
            let mut wrong = right.clone();
            wrong[i] = match wrong[i] {
                Given::Value(size) => Given::Value(size + 4),
                Given::Buffer(size) => Given::Value(size),
            };
            let named = kernel.arguments().nth(i).unwrap().name;
            assert!(
                matches!(kernel.check(&wrong), Err(Mismatch::Argument { argument, .. }) if argument == named)
            );
        }
    }
}

#[test]
fn scene_arrays_hold_whole_elements() {
    let mut builder = SceneBuilder::new("t");
    builder.image(1, 1, &[1, 2, 3, 4]).unwrap();
    let scene = builder.build().unwrap();
    let bvh = Bvh2::build(&scene, &BuildSettings::default());
    for array in scene_arrays(&scene, &bvh) {
        assert_eq!(array.bytes.len() % array.argument.of.size, 0, "{}", array.argument.name);
    }
}
