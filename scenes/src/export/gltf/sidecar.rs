//! The scene.toml beside a glTF file.

use super::FILE;
use super::materials;
use crate::export::{geometry, images};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Camera, EnvironmentKind, Material, MaterialKind};
use lockstep_core::{Result, Scene};
use std::fmt::Write;
use std::path::Path;

/// The document's text; writes the image of the environment where there is one.
pub(super) fn text(scene: &Scene, folder: &Path) -> Result<String> {
    let mut out = format!("name = {}\n", quoted(&scene.name));
    let culls = |m: &Material| m.flags & Material::SINGLE_SIDED != 0;
    // Writing to a string cannot fail.
    if scene.triangles.is_empty() {
        let _ = writeln!(out, "# There are no triangles, so {FILE} has nothing but lights and the camera.");
    }
    let _ = writeln!(out, "file = \"{FILE}\"");
    let _ = writeln!(out, "both_sides = {}", !scene.materials.iter().any(culls));
    camera(&mut out, &scene.camera);
    environment(&mut out, scene, folder)?;
    for (index, material) in scene.materials.iter().enumerate() {
        if material.kind != MaterialKind::Principled as u32 || keeps_all(material) {
            let _ = write!(out, "\n[[materials]]\nname = \"{}\"\n", materials::name(index));
            let _ = writeln!(out, "kind = \"{}\"", kind(material));
            if keeps_all(material) {
                let _ = writeln!(out, "multiscatter = true");
            }
            if let Some(priority) = material.priority.checked_sub(1) {
                let _ = writeln!(out, "priority = {priority}");
            }
        }
    }
    for instance in &scene.instances {
        for sphere in geometry::spheres(scene, instance) {
            let m = &scene.materials[sphere.material as usize];
            let _ = write!(
                out,
                "\n[[spheres]]\ncenter = {}\nradius = {}\n",
                triple(sphere.center),
                number(sphere.radius)
            );
            let mut own = vec![
                format!("kind = \"{}\"", kind(m)),
                format!("base_color = {}", triple(m.base_color)),
                format!("emission = {}", triple(m.emission)),
                format!("roughness = {}", number(m.roughness)),
                format!("metallic = {}", number(m.metallic)),
                format!("ior = {}", number(m.ior)),
                format!("transmission = {}", number(m.transmission)),
            ];
            own.extend(keeps_all(m).then(|| "multiscatter = true".to_owned()));
            own.extend(m.priority.checked_sub(1).map(|priority| format!("priority = {priority}")));
            let _ = writeln!(out, "material = {{ {} }}", own.join(", "));
        }
    }
    Ok(out)
}

/// True for a surface that keeps the light which scatters more than once.
fn keeps_all(m: &Material) -> bool {
    m.flags & Material::MULTISCATTER != 0
}

fn camera(out: &mut String, camera: &Camera) {
    let _ = writeln!(out, "\n[camera]");
    let _ = writeln!(out, "eye = {}", triple(camera.eye));
    let _ = writeln!(out, "direction = {}", triple(camera.direction));
    let _ = writeln!(out, "up = {}", triple(camera.up));
    let _ = writeln!(out, "fov = {}", number(degrees(camera.vertical_fov)));
    let _ = writeln!(out, "lens_radius = {}", number(camera.lens_radius));
    let _ = writeln!(out, "focus_distance = {}", number(camera.focus_distance));
}

/// The number of degrees that a scene.toml's reader turns into these radians, or the nearest to it.
fn degrees(radians: f32) -> f32 {
    let near = radians.to_degrees().to_bits();
    let error =
        |bits: &u32| (f32::from_bits(*bits) * (std::f32::consts::PI / 180.0) - radians).abs().to_bits();
    f32::from_bits((near.saturating_sub(4)..=near + 4).min_by_key(error).unwrap_or(near))
}

fn environment(out: &mut String, scene: &Scene, folder: &Path) -> Result<()> {
    let environment = &scene.environment;
    let _ = writeln!(out, "\n[sky]");
    if environment.kind == EnvironmentKind::Image as u32 {
        let texels: Vec<[f32; 3]> = scene.environment_texels.iter().map(|t| [t[0], t[1], t[2]]).collect();
        images::write_exr(&folder.join("sky.exr"), environment.image_width as usize, &texels)?;
        let _ = writeln!(out, "kind = \"image\"\nfile = \"sky.exr\"");
        let _ = writeln!(
            out,
            "scale = {}\nrotation = {}",
            triple(environment.zenith),
            number(environment.rotation * 360.0)
        );
    } else if environment.kind == EnvironmentKind::Gradient as u32 {
        let _ = writeln!(out, "kind = \"gradient\"\nzenith = {}", triple(environment.zenith));
        let _ = writeln!(
            out,
            "horizon = {}\nground = {}",
            triple(environment.horizon),
            triple(environment.ground)
        );
    } else {
        let _ = writeln!(out, "kind = \"constant\"\nradiance = {}", triple(environment.zenith));
    }
    Ok(())
}

fn kind(material: &Material) -> &'static str {
    let all = [
        (MaterialKind::Diffuse, "diffuse"),
        (MaterialKind::Conductor, "conductor"),
        (MaterialKind::Dielectric, "dielectric"),
    ];
    let found = all.into_iter().find(|(kind, _)| *kind as u32 == material.kind);
    found.map_or("principled", |(_, name)| name)
}

/// A number as TOML has it, which is read as the same.
fn number(value: f32) -> String {
    format!("{value:?}")
}

fn triple(v: Vec3) -> String {
    let [x, y, z] = v.to_array().map(number);
    format!("[{x}, {y}, {z}]")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
