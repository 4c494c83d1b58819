//! Glass balls and a metal ring that hang between a small lamp and the floor: caustics, which a path tracer
//! finds only by chance.

use super::random::Random;
use super::shapes::torus;
use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{Camera, IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use lockstep_core::{Result, Scene};

/// The seed of the balls' places and colours.
const SEED: u32 = 34;
/// Half the side of the lamp, a square that faces the floor, and its height.
const LAMP: f32 = 0.03;
const HEIGHT: f32 = 2.2;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("caustic");
    let mut random = Random::new(SEED);
    // It looks down from below the glass, so that no caustic is seen by way of another
    b.camera = Camera {
        eye: vec3(0.0, 0.7, 1.8),
        direction: vec3(0.0, -0.6, -1.0),
        vertical_fov: 0.6,
        ..Camera::default()
    };
    let ground = b.material(Material::diffuse([0.7, 0.68, 0.64]));
    let gold = b.material(Material::conductor([1.0, 0.78, 0.34], 0.0));
    let lamp = b.material(Material::emitter([2000.0, 1800.0, 1600.0]));
    let plane = b.mesh(square(4.0, 0.0, ground));
    b.instance(plane, IDENTITY);
    let mut lamp = square(LAMP, HEIGHT, lamp);
    lamp.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    let lamp = b.mesh(lamp);
    b.instance(lamp, IDENTITY);

    // A metal ring, which throws the heart-shaped caustic of a cup
    let ring = b.mesh(torus(0.12, 256, 32, gold));
    b.instance(ring, [[0.4, 0.0, 0.0, -0.5], [0.0, 1.2, 0.0, 1.0], [0.0, 0.0, 0.4, 0.4]]);

    // Glass balls of several colours
    let mut spheres = Vec::new();
    for i in 0..7u32 {
        let mut tint = || random.between(0.6, 1.0);
        let glass = Material { base_color: vec3(tint(), tint(), tint()), ..Material::dielectric(1.5, 0.0) };
        let material = b.material(glass);
        let radius = random.between(0.12, 0.2);
        let x = 0.1 + 0.4 * (i % 3) as f32 + random.between(-0.1, 0.1);
        let z = 0.6 - 0.5 * (i / 3) as f32 + random.between(-0.1, 0.1);
        spheres.push(Sphere {
            center: vec3(x - 0.2, random.between(0.95, 1.3), z),
            radius,
            material,
            reserved: [0; 3],
        });
    }
    let balls = b.mesh(MeshData { spheres, ..MeshData::default() });
    b.instance(balls, IDENTITY);
    b.build()
}

/// A horizontal square above the origin, facing up.
fn square(half: f32, height: f32, material: u32) -> MeshData {
    MeshData {
        positions: [[-half, -half], [-half, half], [half, half], [half, -half]]
            .map(|[x, z]| [x, height, z])
            .into(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material],
        ..MeshData::default()
    }
}
