use crate::emission::*;
use lockstep_core::Scene;
use lockstep_core::math::rng::pcg4d;
use lockstep_core::math::vec3::{dot, length, vec3};
use lockstep_core::scene::{EnvironmentLight, IDENTITY, MeshData, PunctualLight, SceneBuilder, Sphere};

const PI: f64 = std::f64::consts::PI;

/// Mean throughput of `n` rays: an estimate of the scene's emitted power in the first channel.
fn power(scene: &Scene, n: u32) -> f64 {
    let sum: f64 = (0..n)
        .map(|i| sample(scene, pcg4d([i, 1, 2, 3]), pcg4d([i, 4, 5, 6])))
        .map(|s| f64::from(s.radiance.x * s.cosine) / f64::from(s.pdf_position * s.pdf_direction))
        .sum();
    sum / f64::from(n)
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() < relative, "found {found}, expected {expected}");
}

fn emitters(flags: u32) -> (SceneBuilder, u32) {
    let mut b = SceneBuilder::new("emitters");
    let material = b.material(Material { flags, ..Material::emitter([3.0; 3]) });
    (b, material)
}

fn triangle(material: u32) -> MeshData {
    MeshData {
        positions: vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]],
        triangles: vec![[0, 1, 2]],
        materials: vec![material],
        ..MeshData::default()
    }
}

/// A floor, so that a scene whose lights are at infinity has an extent: a bounding sphere of radius sqrt(2).
fn floor(b: &mut SceneBuilder) {
    let black = b.material(Material::BLACK);
    let mesh = b.mesh(triangle(black));
    b.instance(mesh, IDENTITY);
}

#[test]
fn the_power_of_area_lights_is_radiance_times_area_times_pi() {
    for (flags, sides) in [(0, 1.0), (Material::TWO_SIDED_EMISSION, 2.0)] {
        let (mut b, material) = emitters(flags);
        let mesh = b.mesh(triangle(material));
        b.instance(mesh, IDENTITY);
        // Cosine-weighted sampling leaves no variance.
        close(power(&b.build().unwrap(), 1000), sides * 3.0 * 2.0 * PI, 1e-4);

        let (mut b, material) = emitters(flags);
        let ball = Sphere { center: vec3(1.0, 2.0, 3.0), radius: 0.5, material, reserved: [0; 3] };
        let mesh = b.mesh(MeshData { spheres: vec![ball], ..MeshData::default() });
        b.instance(mesh, IDENTITY);
        close(power(&b.build().unwrap(), 1000), sides * 3.0 * PI * PI, 1e-4);
    }
}

#[test]
fn the_power_of_lights_without_a_surface_has_a_closed_form() {
    let of = |light: PunctualLight| {
        let mut b = SceneBuilder::new("punctual");
        floor(&mut b);
        b.light(light);
        power(&b.build().unwrap(), 100_000)
    };
    let (position, intensity) = (vec3(0.0, 3.0, 0.0), vec3(2.0, 2.0, 2.0));
    let direction = vec3(0.3, -1.0, 0.2);
    close(of(PunctualLight::Point { position, intensity }), 8.0 * PI, 1e-4);
    // The falloff is one inside and the square of a line of the cosine between: a third of the ring.
    let spot = PunctualLight::Spot { position, direction, intensity, inner_cos: 0.9, outer_cos: 0.6 };
    close(of(spot), 2.0 * 2.0 * PI * (0.1 + 0.3 / 3.0), 1e-2);
    close(of(PunctualLight::Directional { direction, irradiance: intensity }), 2.0 * 2.0 * PI, 1e-4);
}

#[test]
fn the_power_through_the_scenes_disk_of_a_constant_environment_has_a_closed_form() {
    let mut b = SceneBuilder::new("sky");
    floor(&mut b);
    b.environment = EnvironmentLight::Constant(Vec3::splat(0.5));
    close(power(&b.build().unwrap(), 1000), 0.5 * 4.0 * PI * 2.0 * PI, 1e-3);
}

#[test]
fn rays_leave_on_the_side_of_their_normal_and_those_from_infinity_meet_the_bounding_sphere() {
    let (mut b, material) = emitters(Material::TWO_SIDED_EMISSION);
    let mesh = b.mesh(triangle(material));
    b.instance(mesh, IDENTITY);
    b.light(PunctualLight::Directional { direction: vec3(0.0, -1.0, 1.0), irradiance: Vec3::splat(9.0) });
    b.environment = EnvironmentLight::Constant(Vec3::splat(0.5));
    let scene = b.build().unwrap();
    let bounds = scene.bounding_sphere();
    let mut sides = [0u32; 3];
    for i in 0..10_000 {
        let s = sample(&scene, pcg4d([i, 1, 2, 3]), pcg4d([i, 4, 5, 6]));
        assert!((length(s.direction) - 1.0).abs() < 1e-5 && s.pdf_direction > 0.0, "{s:?}");
        assert!((dot(s.normal, s.direction) - s.cosine).abs() < 1e-4, "{s:?}");
        if scene.lights[s.light as usize].kind == LightKind::Triangle as u32 {
            sides[usize::from(s.normal.y > 0.0)] += 1;
        } else {
            let to_center = bounds.center - s.origin;
            let along = dot(to_center, s.direction);
            let miss = length(to_center - s.direction * along);
            assert!((along - bounds.radius).abs() < 1e-4 && miss < bounds.radius * 1.0001, "{s:?}");
            sides[2] += 1;
        }
    }
    assert!(sides.iter().all(|&n| n > 500), "{sides:?}");
}

#[test]
fn directions_are_chosen_with_the_density_that_is_reported() {
    let one_sided = Material::emitter([1.0; 3]);
    let two_sided = Material { flags: Material::TWO_SIDED_EMISSION, ..one_sided };
    for material in [one_sided, two_sided] {
        // The density depends on the cosine alone: the integral over the sphere is 2 pi times that over the
        // cosine.
        let n = 10_000;
        let cosine = |i: u32| 2.0 * (i as f32 + 0.5) / n as f32 - 1.0;
        let sum: f64 = (0..n).map(|i| f64::from(direction_pdf(&material, cosine(i)))).sum();
        close(sum / f64::from(n) * 4.0 * PI, 1.0, 1e-4);
    }
}
