//! A room lit by a small flame in the glass bulb of a lantern with slits: all light is refracted, so light
//! sampling is in vain everywhere.

use super::random::Random;
use super::shapes::{cube, placed};
use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{Camera, IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use lockstep_core::{Result, Scene};

/// The seed of the slits' widths and of the stones on the floor.
const SEED: u32 = 33;
/// Half the side of the room, whose floor lies at height zero.
const ROOM: f32 = 2.0;
/// Slats of each of the lantern's four walls.
const SLATS: u32 = 6;
/// Centre and half the side of the lantern.
const LANTERN: [f32; 3] = [0.4, 1.3, 0.3];
const HALF: f32 = 0.3;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("lantern");
    let mut random = Random::new(SEED);
    b.camera = Camera {
        eye: vec3(-0.4, 1.4, 1.9),
        direction: vec3(0.15, -0.2, -1.0),
        vertical_fov: 1.2,
        ..Camera::default()
    };
    let plaster = b.material(Material::diffuse([0.75, 0.7, 0.65]));
    let wood = b.material(Material::principled([0.35, 0.2, 0.12], 0.0, 0.5));
    let iron = b.material(Material::diffuse([0.5, 0.5, 0.5]));
    let flame = b.material(Material::emitter([3600.0, 2500.0, 1300.0]));

    // The room: a cube seen from inside, with a wooden floor
    let room = b.mesh(cube(plaster));
    b.instance(room, placed([ROOM; 3], [0.0, ROOM, 0.0]));
    let board = b.mesh(cube(wood));
    b.instance(board, placed([ROOM, 0.02, ROOM], [0.0, 0.02, 0.0]));

    // Stones on the floor
    let stone = b.mesh(cube(plaster));
    for _ in 0..12 {
        let size = random.between(0.06, 0.2);
        let [x, z] = [random.between(-1.6, 1.6), random.between(-1.6, 0.6)];
        b.instance(stone, placed([size; 3], [x, 0.04 + size, z]));
    }

    // The lantern: top, bottom, and slats with slits between them
    let plate = b.mesh(cube(iron));
    let [x, y, z] = LANTERN;
    for side in [-1.0, 1.0] {
        b.instance(plate, placed([HALF, 0.02, HALF], [x, y + side * HALF, z]));
    }
    for wall in 0..4 {
        for slat in 0..SLATS {
            let pitch = 2.0 * HALF / SLATS as f32;
            let along = (slat as f32 + 0.5) * pitch - HALF;
            let half = 0.5 * pitch * random.between(0.7, 0.9);
            let out = if wall % 2 == 0 { HALF } else { -HALF };
            let (size, at) = if wall < 2 {
                ([half, HALF, 0.01], [x + along, y, z + out])
            } else {
                ([0.01, HALF, half], [x + out, y, z + along])
            };
            b.instance(plate, placed(size, at));
        }
    }
    let glass = b.material(Material::dielectric(1.5, 0.0));
    let ball = |radius, material| Sphere { center: vec3(x, y, z), radius, material, reserved: [0; 3] };
    let spheres = vec![ball(0.03, flame), ball(0.12, glass)];
    let lamp = b.mesh(MeshData { spheres, ..MeshData::default() });
    b.instance(lamp, IDENTITY);
    b.build()
}
