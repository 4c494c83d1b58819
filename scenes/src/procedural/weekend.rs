//! The final scene of Shirley, Black and Hollasch, *Ray Tracing in One Weekend* (version 4), from a fixed
//! seed.

use super::random::Random;
use lockstep_core::math::vec3::{Vec3, length, vec3};
use lockstep_core::scene::{Camera, EnvironmentLight, IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use lockstep_core::{Result, Scene};

const SEED: u32 = 1;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("weekend");
    let eye = vec3(13.0, 2.0, 3.0);
    b.camera = Camera {
        eye,
        direction: -eye,
        vertical_fov: 20.0 * (std::f32::consts::PI / 180.0),
        // A defocus angle of 0.6 degrees: 10 tan(0.3 degrees).
        lens_radius: 0.052_360_31,
        focus_distance: 10.0,
        ..Camera::default()
    };
    // The book blends white into blue from straight down to straight up.
    let blue = vec3(0.5, 0.7, 1.0);
    b.environment =
        EnvironmentLight::Gradient { zenith: blue, horizon: (blue + Vec3::ONE) * 0.5, ground: Vec3::ONE };

    let mut spheres = Vec::new();
    let mut add = |b: &mut SceneBuilder, center: Vec3, radius: f32, material: Material| {
        spheres.push(Sphere { center, radius, material: b.material(material), ..Sphere::default() });
    };
    add(&mut b, vec3(0.0, -1000.0, 0.0), 1000.0, Material::diffuse([0.5; 3]));
    let mut random = Random::new(SEED);
    for a in -11..11 {
        for c in -11..11 {
            let choice = random.unit();
            let x = a as f32 + 0.9 * random.unit();
            let z = c as f32 + 0.9 * random.unit();
            let center = vec3(x, 0.2, z);
            let material = small_material(choice, &mut random);
            if length(center - vec3(4.0, 0.2, 0.0)) > 0.9 {
                add(&mut b, center, 0.2, material);
            }
        }
    }
    add(&mut b, vec3(0.0, 1.0, 0.0), 1.0, Material::dielectric(1.5, 0.0));
    add(&mut b, vec3(-4.0, 1.0, 0.0), 1.0, Material::diffuse([0.4, 0.2, 0.1]));
    add(&mut b, vec3(4.0, 1.0, 0.0), 1.0, Material::conductor([0.7, 0.6, 0.5], 0.0));
    let mesh = b.mesh(MeshData { spheres, ..MeshData::default() });
    b.instance(mesh, IDENTITY);
    b.build()
}

fn small_material(choice: f32, random: &mut Random) -> Material {
    if choice < 0.8 {
        let albedo = random.vector(0.0, 1.0) * random.vector(0.0, 1.0);
        Material::diffuse(albedo.to_array())
    } else if choice < 0.95 {
        let albedo = random.vector(0.5, 1.0);
        let fuzz = random.between(0.0, 0.5);
        Material::conductor(albedo.to_array(), roughness_of_fuzz(fuzz))
    } else {
        Material::dielectric(1.5, 0.0)
    }
}

/// The book adds a point of a sphere of radius `fuzz` to the mirrored direction. That turns the half vector
/// by about `0.4 fuzz` (half of the sphere's root mean square extent across the direction), which is the
/// slope a microfacet distribution of that width has; perceptual roughness is its square root.
fn roughness_of_fuzz(fuzz: f32) -> f32 {
    (0.4 * fuzz).sqrt()
}
