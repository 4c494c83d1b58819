//! Scenes for LuxCore: scene.cfg, scene.scn, meshes as PLY, images as OpenEXR.
//!
//! Conventions that differ are matched: no pixel filter, no clamping, no Russian roulette, independent samples, lights in
//! radiometric units without normalisation. The field of view and the environment's axis are turned to ours; size, samples, seed
//! and depth are settings that the script beside the files sets. What has no counterpart is named and replaced by the
//! nearest thing.

mod materials;

use super::geometry::{self, Placement};
use super::notes::{Feature, Notes};
use super::{Exported, images, ply, write_error};
use lockstep_core::math::PI;
use lockstep_core::math::transform::{Affine, IDENTITY};
use lockstep_core::math::vec3::{Vec3, normalize};
use lockstep_core::scene::{Camera, EnvironmentKind, Light, LightKind, Sphere};
use lockstep_core::{Result, Scene};
use std::fmt::{Display, Write};
use std::path::Path;

/// The settings that do not depend on the image asked for.
const SETTINGS: &str = "\
scene.file = \"scene.scn\"
renderengine.type = \"PATHCPU\"
sampler.type = \"RANDOM\"
sampler.random.adaptive.strength = 0
lightstrategy.type = \"POWER\"
film.filter.type = \"NONE\"
film.opencl.enable = 0
path.hybridbackforward.enable = 0
path.russianroulette.depth = 1000000
path.clamping.variance.maxvalue = 0
path.forceblackbackground.enable = 0
";

/// Writes a scene for LuxCore into a folder, which is made where there is none.
///
/// # Errors
/// [`lockstep_core::Error::Io`], naming the file or folder.
pub fn to_luxcore(scene: &Scene, folder: &Path) -> Result<Exported> {
    std::fs::create_dir_all(folder).map_err(write_error(folder))?;
    let mut export = Export { scene, folder, text: String::new(), notes: Notes::default() };
    export.camera(&scene.camera);
    export.materials()?;
    export.objects()?;
    for (index, light) in scene.lights.iter().enumerate() {
        export.punctual(index, light);
    }
    export.environment()?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(write_error(&path))
    };
    write("scene.scn", &export.text)?;
    write("scene.cfg", SETTINGS)?;
    Ok(Exported { file: folder.join("scene.cfg"), differences: export.notes.into_list() })
}

/// A document in the making.
struct Export<'a> {
    scene: &'a Scene,
    folder: &'a Path,
    text: String,
    notes: Notes,
}

impl Export<'_> {
    /// Adds a property.
    fn set(&mut self, name: impl Display, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "scene.{name} = {value}");
    }

    fn camera(&mut self, camera: &Camera) {
        let reach = geometry::reach(self.scene);
        self.set("camera.type", "\"perspective\"");
        self.set("camera.lookat.orig", triple(camera.eye));
        self.set("camera.lookat.target", triple(camera.eye + normalize(camera.direction)));
        self.set("camera.up", triple(camera.up));
        self.set("camera.fieldofview", f64::from(camera.vertical_fov).to_degrees());
        self.set("camera.cliphither", 1e-5 * reach);
        self.set("camera.clipyon", 1e4 * reach.max(camera.focus_distance));
        self.set("camera.autofocus.enable", 0);
        self.set("camera.lensradius", camera.lens_radius);
        self.set("camera.focaldistance", camera.focus_distance);
    }

    fn objects(&mut self) -> Result<()> {
        let scene = self.scene;
        let shared = geometry::shared_meshes(scene, |_| true);
        let mut written = vec![false; scene.meshes.len()];
        for (index, instance) in scene.instances.iter().enumerate() {
            let is_shared = shared.contains(&instance.mesh);
            let placement = if is_shared { Placement::NONE } else { Placement::of(instance) };
            let to_world = if is_shared { &instance.object_to_world } else { &IDENTITY };
            let first = !std::mem::replace(&mut written[instance.mesh as usize], true);
            for part in geometry::parts(scene, instance.mesh, &placement, &mut self.notes) {
                let shape = format!("mesh-{}-{}", instance.mesh, part.name());
                if first {
                    self.shape(&shape, &part.mesh)?;
                }
                self.object(&format!("object-{index}-{}", part.name()), &shape, part.material, to_world);
            }
            for (number, sphere) in geometry::spheres(scene, instance).enumerate() {
                self.sphere(&format!("sphere-{index}-{number}"), &sphere)?;
            }
        }
        Ok(())
    }

    fn shape(&mut self, name: &str, mesh: &ply::Mesh) -> Result<()> {
        let file = format!("{name}.ply");
        ply::write(&self.folder.join(&file), mesh, ["s", "t"])?;
        if !mesh.colors.is_empty() {
            self.notes.add(Feature::VertexColor, "colours of vertices are left out");
        }
        self.set(format_args!("shapes.{name}.type"), "\"mesh\"");
        self.set(format_args!("shapes.{name}.ply"), format_args!("\"{file}\""));
        Ok(())
    }

    fn object(&mut self, name: &str, shape: &str, material: u32, to_world: &Affine) {
        self.set(format_args!("objects.{name}.shape"), format_args!("\"{shape}\""));
        self.set(format_args!("objects.{name}.material"), format_args!("\"material-{material}\""));
        if *to_world != IDENTITY {
            let columns = (0..4).flat_map(|c| (0..4).map(move |r| (r, c)));
            let value = |(r, c): (usize, usize)| match to_world.get(r) {
                Some(row) => row[c].to_string(),
                None => u8::from(c == 3).to_string(),
            };
            let values: Vec<String> = columns.map(value).collect();
            self.set(format_args!("objects.{name}.transformation"), values.join(" "));
        }
    }

    fn sphere(&mut self, name: &str, sphere: &Sphere) -> Result<()> {
        let is_lamp = geometry::emits(self.scene, sphere.material);
        let shape = if is_lamp { "unit-lamp" } else { "unit-sphere" };
        if !self.text.contains(&format!("scene.shapes.{shape}.ply")) {
            self.shape(shape, &geometry::unit_sphere(is_lamp))?;
        }
        geometry::name_tessellation(&mut self.notes);
        let material = &self.scene.materials[sphere.material as usize];
        if geometry::texture_of(self.scene, material, &mut self.notes).is_some() {
            self.notes.add(Feature::Texture, "spheres have the colour of their texture's first texel");
        }
        self.object(name, shape, sphere.material, &geometry::sphere_placement(sphere));
        Ok(())
    }

    /// A light without extent; others are made of shapes and of the environment.
    fn punctual(&mut self, index: usize, light: &Light) {
        let name = format!("lights.light-{index}");
        let kind = if light.kind == LightKind::Point as u32 {
            "point"
        } else if light.kind == LightKind::Directional as u32 {
            "sharpdistant"
        } else if light.kind == LightKind::Spot as u32 {
            "spot"
        } else {
            return;
        };
        self.set(format_args!("{name}.type"), format_args!("\"{kind}\""));
        // Of a point light, gain is the power that goes into all directions together.
        let gain = if kind == "point" { light.intensity * (4.0 * PI) } else { light.intensity };
        self.set(format_args!("{name}.gain"), triple(gain));
        self.set(format_args!("{name}.color"), "1 1 1");
        match kind {
            "sharpdistant" => self.set(format_args!("{name}.direction"), triple(-light.position)),
            "point" => self.set(format_args!("{name}.position"), triple(light.position)),
            _ => {
                self.notes.add(
                    Feature::SpotLight,
                    "spot lights fall off towards the edge of their cone by a fourth power there, by a square here",
                );
                // Scale and offset turn the cosine into 1 at the inner angle and 0 at the outer one.
                let angle = |value: f32| {
                    f64::from((value - light.edge2.y) / light.edge2.x).clamp(-1.0, 1.0).acos().to_degrees()
                };
                self.set(format_args!("{name}.position"), triple(light.position));
                self.set(format_args!("{name}.target"), triple(light.position + light.edge1));
                self.set(format_args!("{name}.coneangle"), angle(0.0));
                self.set(format_args!("{name}.conedeltaangle"), angle(0.0) - angle(1.0));
            }
        }
    }

    fn environment(&mut self) -> Result<()> {
        let environment = self.scene.environment;
        if environment.kind == EnvironmentKind::Constant as u32 {
            if environment.zenith != Vec3::ZERO {
                self.set("lights.sky.type", "\"constantinfinite\"");
                self.set("lights.sky.gain", triple(environment.zenith));
                self.set("lights.sky.color", "1 1 1");
            }
            return Ok(());
        }
        // Its axis is z; the transformation makes it y.
        let (width, pixels) = images::environment(self.scene, |u| 1.0 - u);
        images::write_exr(&self.folder.join("sky.exr"), width, &pixels)?;
        self.set("lights.sky.type", "\"infinite\"");
        self.set("lights.sky.file", "\"sky.exr\"");
        self.set("lights.sky.gamma", 1);
        self.set("lights.sky.storage", "\"float\"");
        self.set("lights.sky.gain", "1 1 1");
        self.set("lights.sky.transformation", "1 0 0 0 0 0 -1 0 0 1 0 0 0 0 0 1");
        Ok(())
    }
}

fn triple(v: Vec3) -> String {
    format!("{} {} {}", v.x, v.y, v.z)
}
