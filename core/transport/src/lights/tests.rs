use crate::lights::*;
use lockstep_core::math::rng::pcg4d;
use lockstep_core::scene::{EnvironmentLight, MeshData, PunctualLight, SceneBuilder, Sphere};

fn key(sample: u32) -> SampleKey {
    SampleKey { pixel: 3, sample, seed: 11, ..SampleKey::default() }
}

fn anywhere(i: u32) -> Vec3 {
    let r = pcg4d([i, 1, 2, 3]).map(uniform);
    unit_sphere(r[0], r[1])
}

/// The three kinds of environment light; the image has a bright spot.
fn environments() -> Vec<EnvironmentLight> {
    let texels = (0..64 * 32).map(|i| if i == 64 * 9 + 20 { [500.0; 3] } else { [0.3, 0.4, 0.5] }).collect();
    vec![
        EnvironmentLight::Constant(vec3(0.5, 0.6, 0.7)),
        EnvironmentLight::Gradient {
            zenith: vec3(0.1, 0.3, 1.0),
            horizon: vec3(1.0, 0.9, 0.8),
            ground: vec3(0.05, 0.04, 0.03),
        },
        EnvironmentLight::Image { width: 64, height: 32, texels, scale: Vec3::ONE, rotation: 0.3 },
    ]
}

fn under(light: EnvironmentLight) -> lockstep_core::Scene {
    let mut b = SceneBuilder::new("sky");
    b.environment = light;
    b.build().unwrap()
}

#[test]
fn environment_densities_integrate_to_one() {
    for light in environments() {
        let scene = under(light);
        let n = 200_000;
        let sum: f64 = (0..n).map(|i| f64::from(environment_pdf(&scene, anywhere(i)))).sum();
        let integral = sum / f64::from(n) * 4.0 * std::f64::consts::PI;
        assert!((integral - 1.0).abs() < 0.05, "{integral}");
    }
}

#[test]
fn environment_samples_report_the_density_of_their_direction() {
    for light in environments() {
        let scene = under(light);
        let mut disagreeing = 0;
        for i in 0..20_000 {
            let s = sample(&scene, Vec3::ZERO, 1.0, key(i), 0, &mut ());
            let pdf = environment_pdf(&scene, s.direction);
            disagreeing += u32::from((pdf - s.pdf).abs() > 1e-3 * s.pdf);
        }
        // Directions on a cell's border may round into its neighbour.
        assert!(disagreeing < 20, "{disagreeing}");
    }
}

#[test]
fn environment_sampling_and_uniform_sampling_agree_on_irradiance() {
    for light in environments() {
        let scene = under(light);
        let n = 400_000;
        let (mut sampled, mut uniform_sum) = (0.0f64, 0.0f64);
        for i in 0..n {
            let s = sample(&scene, Vec3::ZERO, 1.0, key(i), 0, &mut ());
            sampled += f64::from(s.radiance.y * max(s.direction.y, 0.0) / s.pdf);
            let d = anywhere(i);
            let radiance = environment_radiance(&scene.environment, &scene.environment_texels, d);
            uniform_sum += f64::from(radiance.y * max(d.y, 0.0) / INV_FOUR_PI);
        }
        assert!((sampled / uniform_sum - 1.0).abs() < 0.03, "{sampled} {uniform_sum}");
    }
}

#[test]
fn sphere_samples_lie_on_the_sphere_and_report_its_density() {
    for center_distance in [1.5f32, 4.0, 100.0] {
        let mut b = SceneBuilder::new("ball");
        let m = b.material(Material::emitter([2.0; 3]));
        let center = vec3(0.0, center_distance, 0.0);
        let spheres = vec![Sphere { center, radius: 1.0, material: m, reserved: [0; 3] }];
        let mesh = b.mesh(MeshData { spheres, ..MeshData::default() });
        b.instance(mesh, lockstep_core::scene::IDENTITY);
        let scene = b.build().unwrap();
        for i in 0..5_000 {
            let s = sample(&scene, Vec3::ZERO, 1.0, key(i), 0, &mut ());
            let p = s.direction * s.distance;
            assert!(
                (lockstep_core::math::vec3::length(p - center) - 1.0).abs() < 2e-3 * center_distance,
                "{s:?}"
            );
            let pdf = sphere_pdf(&scene.materials[0], center, 1.0, Vec3::ZERO, s.distance * s.distance, 0.5);
            assert!((pdf / s.pdf - 1.0).abs() < 1e-4);
        }
    }
}

#[test]
fn triangle_samples_integrate_the_solid_angle() {
    let mut b = SceneBuilder::new("triangle");
    let m = b.material(Material::emitter([1.0; 3]));
    let mesh = b.mesh(MeshData {
        positions: vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        triangles: vec![[0, 2, 1]],
        materials: vec![m],
        ..MeshData::default()
    });
    b.instance(mesh, lockstep_core::scene::IDENTITY);
    let scene = b.build().unwrap();
    let n = 200_000;
    let solid: f64 = (0..n)
        .map(|i| sample(&scene, Vec3::ZERO, 1.0, key(i), 0, &mut ()))
        .map(|s| if s.pdf > 0.0 { 1.0 / f64::from(s.pdf) } else { 0.0 })
        .sum::<f64>()
        / f64::from(n);
    // The triangle covers one octant.
    assert!((solid - std::f64::consts::FRAC_PI_2).abs() < 5e-3, "{solid}");
}

#[test]
fn punctual_lights_follow_their_formulas() {
    let build = |light| {
        let mut b = SceneBuilder::new("punctual");
        b.light(light);
        b.build().unwrap()
    };
    let white = Vec3::splat(8.0);
    let at = vec3(0.0, 2.0, 0.0);
    let s = sample(
        &build(PunctualLight::Point { position: at, intensity: white }),
        Vec3::ZERO,
        1.0,
        key(0),
        0,
        &mut (),
    );
    assert_eq!((s.radiance.x, s.distance, s.pdf, s.delta), (2.0, 2.0, 1.0, true));
    let down = vec3(0.0, -3.0, 0.0);
    let spot = PunctualLight::Spot {
        position: at,
        direction: down,
        intensity: white,
        inner_cos: 0.9,
        outer_cos: 0.5,
    };
    assert_eq!(sample(&build(spot), Vec3::ZERO, 1.0, key(0), 0, &mut ()).radiance.x, 2.0);
    assert_eq!(sample(&build(spot), vec3(10.0, 0.0, 0.0), 1.0, key(0), 0, &mut ()).radiance.x, 0.0);
    let s = sample(
        &build(PunctualLight::Directional { direction: down, irradiance: white }),
        at,
        1.0,
        key(0),
        0,
        &mut (),
    );
    assert_eq!((s.direction, s.radiance.x, s.distance), (vec3(0.0, 1.0, 0.0), 8.0, FAR));
}

#[test]
fn lights_are_picked_by_power() {
    let mut b = SceneBuilder::new("two");
    for (x, intensity) in [(0.0, 1.0), (1.0, 3.0)] {
        b.light(PunctualLight::Point { position: vec3(x, 0.0, 0.0), intensity: Vec3::splat(intensity) });
    }
    let scene = b.build().unwrap();
    let n = 40_000;
    let far = vec3(0.0, 5.0, 0.0);
    let second =
        (0..n).filter(|&i| sample(&scene, far, 1.0, key(i), 0, &mut ()).pdf == scene.lights[1].pmf).count();
    assert_eq!(scene.lights[1].pmf, 0.75);
    assert!((second as f32 / n as f32 - 0.75).abs() < 0.01);
}
