//! Lights of all kinds.

use super::*;
use lockstep_core::math::vec3::{cross, normalize};
use lockstep_core::scene::{Light, LightKind, environment_radiance};
use std::f32::consts::PI;

/// The only light of a world.
fn light(text: &str) -> Light {
    let scene = world(text).scene;
    assert_eq!(scene.lights.len(), 1, "{text}");
    scene.lights[0]
}

/// Parameters by which a file is of version 4.
const FOUR: &str = "MakeNamedMaterial \"x\" \"string type\" \"diffuse\"";
const THREE: &str = "MakeNamedMaterial \"x\" \"string type\" \"matte\"";

#[test]
fn point_lights_have_a_place_and_an_intensity() {
    let text = "LightSource \"point\" \"point from\" [1 2 3] \"rgb I\" [4 5 6] \"float scale\" 2";
    let found = light(&format!("{THREE} Translate 1 0 0 {text}"));
    assert_eq!(found.kind, LightKind::Point as u32);
    near(found.position, [-2.0, 2.0, 3.0], 1e-6);
    near(found.intensity, [8.0, 10.0, 12.0], 1e-5);
    near(light("LightSource \"point\" \"rgb scale\" [1 2 3]").intensity, [1.0, 2.0, 3.0], 1e-6);
    let power = light(&format!("{FOUR} LightSource \"point\" \"rgb I\" [3 3 3] \"float power\" 100"));
    near(power.intensity, [300.0 / (4.0 * PI); 3], 1e-3);
    assert!(warns(&world("LightSource \"goniometric\""), "the same in all directions"));
}

#[test]
fn light_that_is_not_rgb_has_unit_luminance_in_version_4() {
    let of =
        |version: &str, value: &str| light(&format!("{version} LightSource \"point\" {value}")).intensity;
    let luminance = |c: Vec3| 0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z;
    let near = |a: f32, b: f32| assert!((a / b - 1.0).abs() < 0.02, "{a} is not {b}");
    near(luminance(of(FOUR, "\"blackbody I\" 3000 \"float scale\" 5")), 5.0);
    near(luminance(of(FOUR, "\"spectrum I\" [400 7 700 7]")), 1.0);
    near(luminance(of(FOUR, "\"spectrum I\" \"stdillum-A\"")), 1.0);
    let warm = of(FOUR, "\"blackbody I\" 3000");
    assert!(warm.x > warm.y && warm.y > warm.z, "{warm:?}");
    // In version 3 a black body is 1 at its peak, and has a factor of its own.
    let (once, twice) = (of(THREE, "\"blackbody I\" [5000 1]"), of(THREE, "\"blackbody I\" [5000 2]"));
    near(twice.x, 2.0 * once.x);
    assert!(luminance(once) > 0.8 && luminance(once) < 1.1, "{once:?}");
    near(of(THREE, "\"xyz I\" [0.9505 1 1.089]").y, 1.0);
}

#[test]
fn spot_lights_have_an_axis_and_a_cone() {
    let text = "LightSource \"spot\" \"point from\" [1 2 3] \"point to\" [1 2 4] \"rgb I\" [3 3 3] \"float coneangle\" 40 \
                \"float conedeltaangle\" 10";
    let found = light(text);
    assert_eq!(found.kind, LightKind::Spot as u32);
    near(found.position, [-1.0, 2.0, 3.0], 1e-6);
    near(found.edge1, [0.0, 0.0, 1.0], 1e-6);
    // Full at 30 degrees and gone at 40.
    let falloff = |degrees: f32| degrees.to_radians().cos() * found.edge2.x + found.edge2.y;
    assert!((falloff(30.0) - 1.0).abs() < 1e-4 && falloff(40.0).abs() < 1e-4);
    assert!(warns(&world(text), "a spot light falls off"));
    let (inner, outer) = (30f32.to_radians().cos(), 40f32.to_radians().cos());
    let each = 2.0 * PI * (1.0 - inner + 0.5 * (inner - outer));
    near(light(&format!("{FOUR} {text} \"float power\" 50")).intensity, [150.0 / each; 3], 1e-2);
}

#[test]
fn distant_lights_shine_from_where_they_are() {
    let found =
        light("LightSource \"distant\" \"point from\" [3 4 0] \"point to\" [0 0 0] \"rgb L\" [2 2 2]");
    assert_eq!(found.kind, LightKind::Directional as u32);
    near(found.position, [-0.6, 0.8, 0.0], 1e-6);
    near(found.intensity, [2.0; 3], 1e-6);
    let lux = light(&format!("{FOUR} LightSource \"distant\" \"rgb L\" [1 1 1] \"float illuminance\" 500"));
    near(lux.intensity, [500.0; 3], 1e-3);
}

#[test]
fn infinite_lights_are_the_sky() {
    let sky = |text: &str, files: &[(&str, Vec<u8>)], direction: [f32; 3]| {
        let scene = world_with(text, files).scene;
        environment_radiance(&scene.environment, &scene.environment_texels, direction.into())
    };
    let up = [0.0, 1.0, 0.0];
    near(sky("LightSource \"infinite\" \"rgb L\" [1 2 3] \"float scale\" 2", &[], up), [2.0, 4.0, 6.0], 1e-5);
    let two = "LightSource \"infinite\" \"rgb L\" [1 2 3] LightSource \"infinite\" \"rgb L\" [1 1 1]";
    near(sky(two, &[], up), [2.0, 3.0, 4.0], 1e-5);
    near(
        sky(&format!("{FOUR} LightSource \"infinite\" \"float illuminance\" 6"), &[], up),
        [6.0 / PI; 3],
        1e-4,
    );
    // Rows: bright about the light's +z, dark about -z.
    let mut pfm = b"PF\n64 32\n-1\n".to_vec();
    for i in 0..64 * 32 {
        pfm.extend([if i < 64 * 16 { 0.25f32 } else { 8.0 }; 3].iter().flat_map(|v| v.to_le_bytes()));
    }
    let upright = format!("{THREE} Rotate -90 1 0 0 LightSource \"infinite\" \"string mapname\" \"sky.pfm\"");
    let files = [("sky.pfm", pfm)];
    near(sky(&upright, &files, up), [8.0; 3], 1e-5);
    near(sky(&upright, &files, [0.0, -1.0, 0.0]), [0.25; 3], 1e-5);
    let tinted = format!("{upright} \"rgb L\" [1 .5 2]");
    near(sky(&tinted, &files, up), [8.0, 4.0, 16.0], 1e-4);
    let lying = format!("{THREE} LightSource \"infinite\" \"string mapname\" \"sky.pfm\"");
    near(sky(&lying, &files, [0.0, 0.0, 1.0]), [8.0; 3], 1e-5);
    let four = format!("{FOUR} LightSource \"infinite\" \"string filename\" \"sky.pfm\"");
    let error = load_with("t.pbrt", four.as_bytes(), &files).unwrap_err().to_string();
    assert!(error.contains("square"), "{error}");
    assert!(
        refused("LightSource \"infinite\" \"string mapname\" \"none.exr\"")
            .contains("line 1: the light's image")
    );
}

/// The front of the only triangle of light.
fn lamp_front(text: &str) -> Vec3 {
    let found = light(text);
    normalize(cross(found.edge1, found.edge2) * found.intensity.x)
}

#[test]
fn area_lights_shine_from_their_front() {
    let lamp = "AreaLightSource \"diffuse\" \"rgb L\" [1 2 3] \"float scale\" 2";
    near(lamp_front(&format!("{lamp} {TRIANGLE}")), [0.0, 0.0, 1.0], 1e-6);
    near(lamp_front(&format!("{lamp} ReverseOrientation {TRIANGLE}")), [0.0, 0.0, -1.0], 1e-6);
    near(lamp_front(&format!("{lamp} Scale 1 1 -1 {TRIANGLE}")), [0.0, 0.0, -1.0], 1e-6);
    let (material, loaded) = material(lamp);
    near(material.emission, [2.0, 4.0, 6.0], 1e-6);
    assert_eq!(material.flags & Material::TWO_SIDED_EMISSION, 0);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let both = self::material(&format!("{lamp} \"bool twosided\" \"true\"")).0;
    assert_ne!(both.flags & Material::TWO_SIDED_EMISSION, 0);
    assert_eq!(light(&format!("{lamp} Shape \"sphere\"")).kind, LightKind::Sphere as u32);
}

#[test]
fn power_is_shared_by_the_area_of_each_light() {
    let of = |rest: &str| {
        let scene =
            world(&format!("{FOUR} Scale 2 2 2 AreaLightSource \"diffuse\" \"float power\" 60 {rest}")).scene;
        let emissions = scene.triangles.iter().map(|t| scene.materials[t.material as usize].emission.x);
        let mut all: Vec<f32> = emissions
            .chain(scene.spheres.iter().map(|s| scene.materials[s.material as usize].emission.x))
            .collect();
        all.dedup();
        all
    };
    // A triangle of area 2, and each of two.
    let near = |found: Vec<f32>, wanted: f32| {
        assert!(found.len() == 1 && (found[0] / wanted - 1.0).abs() < 1e-3, "{found:?} is not {wanted}");
    };
    near(of(TRIANGLE), 60.0 / (2.0 * PI));
    near(of(SQUARE), 60.0 / (2.0 * PI));
    near(of(&format!("\"bool twosided\" true {TRIANGLE}")), 30.0 / (2.0 * PI));
    near(of("Shape \"bilinearmesh\" \"point3 P\" [0 0 0  1 0 0  0 1 0  1 1 0]"), 60.0 / (4.0 * PI));
    near(of("Shape \"sphere\""), 60.0 / (16.0 * PI * PI));
    near(of("Shape \"disk\""), 60.0 / (4.0 * PI * PI));
}

#[test]
fn the_image_of_an_area_light_is_its_emission() {
    let mut pfm = b"PF\n1 1\n-1\n".to_vec();
    pfm.extend([2.0f32, 4.0, 8.0].iter().flat_map(|v| v.to_le_bytes()));
    let text = format!(
        "{FOUR} AreaLightSource \"diffuse\" \"string filename\" \"a.pfm\" \"float scale\" 3 {SQUARE}"
    );
    let scene = world_with(&text, &[("a.pfm", pfm)]).scene;
    let material = scene.materials[scene.triangles[0].material as usize];
    // The factor holds the largest value, texels the rest.
    assert_eq!(material.emission, Vec3::splat(24.0));
    let texture = &scene.textures[material.emission_texture as usize];
    let texel = lockstep_core::scene::texture::sample(&scene, texture, [0.5; 2]).rgb;
    near(texel, [0.25, 0.5, 1.0], 5e-3);
}
