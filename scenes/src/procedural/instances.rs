//! Thousands of instances: turned, stretched, mirrored, overlapping and within one another.

use super::random::Random;
use super::shapes::{bumpy_sphere, cube, icosphere, torus};
use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{
    Affine, Camera, EnvironmentLight, Flatten, IDENTITY, Material, PunctualLight, SceneBuilder,
};
use lockstep_core::{Result, Scene};

/// Instances along each of the two directions of the field.
const SIDE: u32 = 64;
const SEED: u32 = 7;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("instances");
    b.flatten = Flatten::Never;
    b.camera = Camera {
        eye: vec3(26.0, 15.0, 34.0),
        direction: vec3(-0.62, -0.42, -0.80),
        vertical_fov: std::f32::consts::FRAC_PI_4,
        ..Camera::default()
    };
    b.environment = EnvironmentLight::Gradient {
        zenith: vec3(0.35, 0.5, 0.85),
        horizon: vec3(0.9, 0.9, 0.95),
        ground: Vec3::splat(0.3),
    };
    b.light(PunctualLight::Directional {
        direction: vec3(-0.5, -1.0, -0.2),
        irradiance: vec3(2.5, 2.3, 2.0),
    });
    let ground = b.material(Material::diffuse([0.45, 0.44, 0.42]));
    let plane = b.mesh(cube(ground));
    b.instance(plane, scaled_at(vec3(60.0, 0.5, 60.0), vec3(0.0, -4.5, 0.0)));
    let meshes = meshes(&mut b);

    let mut random = Random::new(SEED);
    for i in 0..SIDE * SIDE {
        let x = (i % SIDE) as f32 - (SIDE as f32 - 1.0) * 0.5;
        let z = (i / SIDE) as f32 - (SIDE as f32 - 1.0) * 0.5;
        let wave = sin_cos_turns(x * 0.045).0 + sin_cos_turns(z * 0.06 + 0.1).0;
        let jitter = random.vector(-0.35, 0.35);
        let at = vec3(x * 0.8, wave * 1.6, z * 0.8) + jitter;
        let mesh = meshes[random.below(meshes.len() as u32) as usize];
        let mut size = vec3(random.between(0.15, 0.6), random.between(0.15, 0.6), random.between(0.15, 0.6));
        if random.below(4) == 0 {
            size.x = -size.x;
        }
        let axes = random.rotation();
        b.instance(mesh, placed(axes, size, at));
        // Every eighth one holds a smaller copy of another mesh in its middle.
        if i % 8 == 0 {
            let inner = meshes[random.below(meshes.len() as u32) as usize];
            let axes = random.rotation();
            b.instance(inner, placed(axes, size * 0.5, at));
        }
    }
    b.build()
}

/// Every shape in every material.
fn meshes(b: &mut SceneBuilder) -> Vec<u32> {
    let materials = [
        Material::diffuse([0.75, 0.28, 0.15]),
        Material::principled([0.1, 0.35, 0.6], 0.0, 0.3),
        Material::conductor([0.95, 0.75, 0.4], 0.2),
        Material::diffuse([0.7, 0.7, 0.65]),
    ];
    let mut out = Vec::new();
    for material in materials {
        let material = b.material(material);
        for mesh in [
            icosphere(3, material),
            torus(0.35, 48, 24, material),
            cube(material),
            bumpy_sphere(5, 32, 64, material),
        ] {
            out.push(b.mesh(mesh));
        }
    }
    out
}

fn placed(axes: [Vec3; 3], size: Vec3, at: Vec3) -> Affine {
    let [x, y, z] = [axes[0] * size.x, axes[1] * size.y, axes[2] * size.z];
    [[x.x, y.x, z.x, at.x], [x.y, y.y, z.y, at.y], [x.z, y.z, z.z, at.z]]
}

fn scaled_at(size: Vec3, at: Vec3) -> Affine {
    let mut map = IDENTITY;
    (map[0][0], map[1][1], map[2][2]) = (size.x, size.y, size.z);
    (map[0][3], map[1][3], map[2][3]) = (at.x, at.y, at.z);
    map
}
