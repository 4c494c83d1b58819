//! A room lit by a lamp with a glass cover: a small flame in a bulb, in a case of four panes between two plates. What is
//! seen through a pane is lit through glass as well, so no connection finds its light: merges do, and by chance a camera
//! path that runs into the flame. Walls that are seen beside the lamp are lit through glass alone, which connections to the
//! lens find.

use super::random::Random;
use super::shapes::{cube, placed};
use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{Camera, IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use lockstep_core::{Result, Scene};

/// The seed of the stones on the floor.
const SEED: u32 = 35;
/// Half the side of the room, whose floor lies at height zero.
const ROOM: f32 = 2.0;
/// Centre of the case, half its width and height, and half the thickness of panes and plates.
const CASE: [f32; 3] = [0.1, 0.95, 0.3];
const HALF: f32 = 0.5;
const HEIGHT: f32 = 0.7;
const THIN: f32 = 0.012;
/// The bulb is higher than the eye, and the eye looks down: neither the flame nor its images in the panes are seen, whose
/// few pixels would be most of every error.
const BULB: f32 = 1.42;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("glass-lamp");
    let mut random = Random::new(SEED);
    b.camera = Camera {
        eye: vec3(-0.5, 1.3, 1.9),
        direction: vec3(0.6, -0.75, -1.6),
        vertical_fov: 0.8,
        ..Camera::default()
    };
    let plaster = b.material(Material::diffuse([0.75, 0.7, 0.65]));
    let clay = b.material(Material::diffuse([0.7, 0.4, 0.25]));
    let iron = b.material(Material::diffuse([0.25, 0.27, 0.3]));
    let glass = b.material(Material::dielectric(1.5, 0.0));
    let flame = b.material(Material::emitter([3600.0, 2500.0, 1300.0]));

    let room = b.mesh(cube(plaster));
    b.instance(room, placed([ROOM; 3], [0.0, ROOM, 0.0]));
    let stone = b.mesh(cube(clay));
    for _ in 0..14 {
        let size = random.between(0.06, 0.2);
        let [x, z] = [random.between(-1.7, 1.7), random.between(-1.7, 0.8)];
        b.instance(stone, placed([size; 3], [x, size, z]));
    }

    // The case: a foot, two plates, and panes between them that touch nothing
    let [x, y, z] = CASE;
    let plate = b.mesh(cube(iron));
    let foot = 0.5 * (y - HEIGHT) - THIN;
    b.instance(plate, placed([0.06, foot, 0.06], [x, foot, z]));
    for side in [-1.0, 1.0] {
        b.instance(plate, placed([HALF + 0.05, THIN, HALF + 0.05], [x, y + side * HEIGHT, z]));
        b.instance(stone, placed([0.07; 3], [x + side * 0.25, y - HEIGHT + THIN + 0.07, z - 0.1]));
    }
    let pane = b.mesh(cube(glass));
    let [width, height] = [HALF - 2.0 * THIN, HEIGHT - 2.0 * THIN];
    for side in [-HALF, HALF] {
        b.instance(pane, placed([width, height, THIN], [x, y, z + side]));
        b.instance(pane, placed([THIN, height, width], [x + side, y, z]));
    }
    let ball = |radius, material| Sphere { center: vec3(x, BULB, z), radius, material, reserved: [0; 3] };
    let spheres = vec![ball(0.03, flame), ball(0.12, glass)];
    let bulb = b.mesh(MeshData { spheres, ..MeshData::default() });
    b.instance(bulb, IDENTITY);
    b.build()
}
