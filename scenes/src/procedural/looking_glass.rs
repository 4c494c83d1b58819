//! A room seen in a mirror, lit by a small flame in a glass globe. Light that is refracted, scattered by a wall
//! and mirrored to the eye has no two neighbouring vertices that a connection could join: only a merge, or a camera
//! path that runs into the flame by chance, finds it.

use super::random::Random;
use super::shapes::{cube, placed};
use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{Camera, IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use lockstep_core::{Result, Scene};

/// The seed of the stones on the floor.
const SEED: u32 = 34;
/// Half the side of the room, whose floor lies at height zero.
const ROOM: f32 = 2.0;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("looking-glass");
    let mut random = Random::new(SEED);
    b.camera = Camera {
        eye: vec3(0.0, 1.7, 0.2),
        direction: vec3(0.0, -0.3, -1.0),
        vertical_fov: 0.9,
        ..Camera::default()
    };
    let plaster = b.material(Material::diffuse([0.75, 0.7, 0.65]));
    let clay = b.material(Material::diffuse([0.7, 0.4, 0.25]));
    let silver = b.material(Material::conductor([0.95; 3], 0.0));
    let flame = b.material(Material::emitter([3600.0, 2500.0, 1300.0]));

    // The room: a cube seen from inside, with a mirror before one wall
    let room = b.mesh(cube(plaster));
    b.instance(room, placed([ROOM; 3], [0.0, ROOM, 0.0]));
    let mirror = b.mesh(cube(silver));
    b.instance(mirror, placed([0.95 * ROOM, 0.95 * ROOM, 0.02], [0.0, ROOM, 0.05 - ROOM]));

    // Stones on the floor
    let stone = b.mesh(cube(clay));
    for _ in 0..16 {
        let size = random.between(0.06, 0.22);
        let [x, z] = [random.between(-1.6, 1.6), random.between(-1.3, 1.6)];
        b.instance(stone, placed([size; 3], [x, size, z]));
    }

    // The lamp, above what the mirror shows
    let glass = b.material(Material::dielectric(1.5, 0.0));
    let center = vec3(0.8, 3.2, 0.6);
    let ball = |radius, material| Sphere { center, radius, material, reserved: [0; 3] };
    let lamp =
        b.mesh(MeshData { spheres: vec![ball(0.03, flame), ball(0.12, glass)], ..MeshData::default() });
    b.instance(lamp, IDENTITY);
    b.build()
}
