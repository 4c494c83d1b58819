//! Embree finds flat surfaces wherever the built-in BVH does, however far from the origin and however narrow the
//! view is.

use lockstep_conformance::{render, require};
use lockstep_core::film::Film;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::camera::Camera;
use lockstep_core::scene::{EnvironmentLight, Flatten, Material, MeshData, Scene, SceneBuilder};
use lockstep_core::{Backend, OpenOptions, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu, EMBREE_TARGET};

/// Squares along an edge of the floor: more triangles than a leaf of Embree's BVH holds.
const SQUARES: u32 = 16;

/// A black floor that fills a view of `degrees` under a sky of radiance one, everything moved by `shift`.
fn floor_before_sky(shift: Vec3, flatten: Flatten, degrees: f32) -> Scene {
    let mut b = SceneBuilder::new("floor-before-sky");
    b.flatten = flatten;
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = Camera {
        eye: shift + vec3(1.5, 0.5, 1.25),
        direction: vec3(-1.5, -0.5, -1.25),
        vertical_fov: degrees.to_radians(),
        ..Camera::default()
    };
    let black = b.material(Material::BLACK);
    let mut mesh = MeshData { materials: vec![black], ..MeshData::default() };
    let (row, at) = (SQUARES + 1, |i: u32| i as f32 * 0.5 - 4.0);
    for i in 0..row * row {
        mesh.positions.push([at(i % row), 0.0, at(i / row)]);
    }
    for i in (0..SQUARES * row).filter(|i| i % row < SQUARES) {
        mesh.triangles.extend([[i, i + row, i + row + 1], [i, i + row + 1, i + 1]]);
    }
    let mesh = b.mesh(mesh);
    b.instance(mesh, [[1.0, 0.0, 0.0, shift.x], [0.0, 1.0, 0.0, shift.y], [0.0, 0.0, 1.0, shift.z]]);
    b.build().unwrap()
}

fn film(target: &str, scene: &Scene) -> Film {
    let mut renderer = Cpu.open(target, &OpenOptions::default()).unwrap();
    let settings = Settings { width: 32, height: 32, bounces: 1, ..Settings::default() };
    render(renderer.as_mut(), scene, &settings, 4).unwrap().0
}

#[test]
fn packets_of_a_narrow_view_find_flat_surfaces_far_from_the_origin() {
    if require::present(EMBREE_TARGET, lockstep_cpu::embree::library::load()).is_none() {
        return;
    }
    for shift in [Vec3::ZERO, vec3(0.0, 2e3, 0.0), vec3(-2e3, 1e3, 700.0), vec3(0.0, -2e4, 0.0)] {
        for flatten in [Flatten::default(), Flatten::Never] {
            for degrees in [0.02, 0.2, 2.0] {
                let scene = floor_before_sky(shift, flatten, degrees);
                let [bvh, embree] = [BVH_TARGET, EMBREE_TARGET].map(|target| film(target, &scene));
                let sky = embree.mean().iter().filter(|pixel| pixel[0] > 0.0).count();
                assert_eq!(sky, 0, "{shift:?}, {flatten:?}, {degrees}: pixels that see through the floor");
                assert_eq!(embree.pixels_differing(&bvh), 0, "{shift:?}, {flatten:?}, {degrees}");
            }
        }
    }
}
