//! Scenes for pbrt-v4: scene.pbrt, meshes as PLY, images as OpenEXR.
//!
//! Conventions that differ are matched: a box filter, a left-handed camera whose field of view is given for the shorter
//! side, a depth that counts scatterings, images of the environment in equal-area octahedral squares about the z axis. Colours are
//! made spectra by pbrt, which is named as a difference of every scene.

mod environment;
mod materials;

use super::geometry::{self, Part, Placement};
use super::notes::{Feature, Notes};
use super::{Exported, ply, write_error};
use lockstep_core::math::transform::Affine;
use lockstep_core::math::vec3::{Vec3, normalize};
use lockstep_core::scene::{AlphaMode, Camera, Instance, Light, LightKind};
use lockstep_core::{Result, Scene};
use std::fmt::{Display, Write};
use std::path::Path;

/// Width and height that the file asks for.
const SIZE: (u32, u32) = (640, 360);

/// Writes a scene for pbrt-v4 into a folder, which is made where there is none.
///
/// # Errors
/// [`lockstep_core::Error::Io`], naming the file or folder.
pub fn to_pbrt(scene: &Scene, folder: &Path) -> Result<Exported> {
    std::fs::create_dir_all(folder).map_err(write_error(folder))?;
    let mut export = Export { scene, folder, text: String::new(), notes: Notes::default() };
    export.notes.add(
        Feature::Color,
        "colours are made spectra and back, which alters products of colours that are not grey",
    );
    export.camera(&scene.camera);
    export.line("WorldBegin");
    for light in &scene.lights {
        export.punctual(light);
    }
    export.environment()?;
    export.materials()?;
    export.objects()?;
    let file = folder.join("scene.pbrt");
    std::fs::write(&file, &export.text).map_err(write_error(&file))?;
    Ok(Exported { file, differences: export.notes.into_list() })
}

/// A document in the making.
struct Export<'a> {
    scene: &'a Scene,
    folder: &'a Path,
    text: String,
    notes: Notes,
}

impl Export<'_> {
    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn camera(&mut self, camera: &Camera) {
        let aspect = f64::from(SIZE.0) / f64::from(SIZE.1);
        let target = camera.eye + normalize(camera.direction);
        let [eye, target, up] = [camera.eye, target, camera.up].map(triple);
        // Coordinates of a camera are left-handed there.
        self.line("Scale -1 1 1");
        self.line(format_args!("LookAt {eye}  {target}  {up}"));
        self.line("Camera \"perspective\"");
        self.line(format_args!("    \"float fov\" [ {} ]", f64::from(camera.vertical_fov).to_degrees()));
        self.line(format_args!("    \"float screenwindow\" [ -{aspect} {aspect} -1 1 ]"));
        if camera.lens_radius > 0.0 {
            self.line(format_args!("    \"float lensradius\" [ {} ]", camera.lens_radius));
            self.line(format_args!("    \"float focaldistance\" [ {} ]", camera.focus_distance));
        }
        self.line("PixelFilter \"box\" \"float xradius\" [ 0.5 ] \"float yradius\" [ 0.5 ]");
        self.line("Film \"rgb\" \"string filename\" [ \"render.exr\" ] \"string sensor\" [ \"cie1931\" ]");
        self.line(format_args!(
            "    \"integer xresolution\" [ {} ] \"integer yresolution\" [ {} ]",
            SIZE.0, SIZE.1
        ));
        self.line("Sampler \"independent\" \"integer pixelsamples\" [ 16 ]");
        self.line("Integrator \"path\" \"integer maxdepth\" [ 3 ]");
        self.line("ColorSpace \"srgb\"");
    }

    fn objects(&mut self) -> Result<()> {
        let scene = self.scene;
        // A lamp may be part of no instance.
        let shared = geometry::shared_meshes(scene, |mesh| !geometry::has_lamp(scene, mesh));
        for &mesh in &shared {
            self.line(format_args!("ObjectBegin \"mesh-{mesh}\""));
            self.mesh(mesh, &format!("mesh-{mesh}"), &Placement::NONE)?;
            self.line("ObjectEnd");
        }
        for (index, instance) in scene.instances.iter().enumerate() {
            if shared.contains(&instance.mesh) {
                self.line("AttributeBegin");
                self.line(format_args!("    Transform [ {} ]", columns(&instance.object_to_world)));
                self.line(format_args!("    ObjectInstance \"mesh-{}\"", instance.mesh));
                self.line("AttributeEnd");
            } else {
                self.mesh(instance.mesh, &format!("object-{index}"), &Placement::of(instance))?;
            }
            self.spheres(instance)?;
        }
        Ok(())
    }

    fn mesh(&mut self, mesh: u32, name: &str, placement: &Placement) -> Result<()> {
        for part in geometry::parts(self.scene, mesh, placement, &mut self.notes) {
            self.part(part, name)?;
        }
        Ok(())
    }

    fn part(&mut self, mut part: Part, name: &str) -> Result<()> {
        let file = format!("{name}-{}.ply", part.name());
        // Rows of images go upwards in v.
        part.mesh.uv.iter_mut().for_each(|uv| uv[1] = 1.0 - uv[1]);
        ply::write(&self.folder.join(&file), &part.mesh, ["u", "v"])?;
        if !part.mesh.colors.is_empty() {
            self.notes.add(Feature::VertexColor, "colours of vertices are left out");
        }
        self.line("AttributeBegin");
        self.surface(part.material)?;
        self.line(format_args!(
            "    Shape \"plymesh\" \"string filename\" [ \"{file}\" ]{}",
            self.alpha(part.material)
        ));
        self.line("AttributeEnd");
        Ok(())
    }

    /// Material and emission of the shape that follows.
    fn surface(&mut self, material: u32) -> Result<()> {
        self.line(format_args!("    NamedMaterial \"material-{material}\""));
        if geometry::emits(self.scene, material) {
            let own = self.scene.materials[material as usize];
            let both = own.flags & lockstep_core::scene::Material::TWO_SIDED_EMISSION != 0;
            if own.emission_texture != lockstep_core::scene::NONE {
                self.notes.add(Feature::AreaLight, "images on lamps are left out");
            }
            let radiance = triple(own.emission);
            self.line(format_args!(
                "    AreaLightSource \"diffuse\" \"rgb L\" [ {radiance} ] \"bool twosided\" [ {both} ]"
            ));
        }
        Ok(())
    }

    /// The parameter of a shape for the opacity of its material; nothing for an opaque one.
    fn alpha(&self, material: u32) -> String {
        let own = &self.scene.materials[material as usize];
        if own.alpha_mode == AlphaMode::Opaque as u32 {
            String::new()
        } else if own.base_color_texture == lockstep_core::scene::NONE {
            format!(" \"float alpha\" [ {} ]", super::images::opacity(own, own.alpha))
        } else {
            format!(" \"texture alpha\" [ \"alpha-{material}\" ]")
        }
    }

    fn spheres(&mut self, instance: &Instance) -> Result<()> {
        let scene = self.scene;
        for sphere in geometry::spheres(scene, instance) {
            if geometry::texture_of(scene, &scene.materials[sphere.material as usize], &mut self.notes)
                .is_some()
            {
                self.notes.add(Feature::Texture, "textures on spheres lie otherwise");
            }
            self.line("AttributeBegin");
            self.line(format_args!("    Translate {}", triple(sphere.center)));
            self.surface(sphere.material)?;
            self.line(format_args!("    Shape \"sphere\" \"float radius\" [ {} ]", sphere.radius));
            self.line("AttributeEnd");
        }
        Ok(())
    }

    /// A light without extent; others are made of shapes and of the environment.
    fn punctual(&mut self, light: &Light) {
        let (position, intensity) = (triple(light.position), triple(light.intensity));
        if light.kind == LightKind::Point as u32 {
            self.line(format_args!(
                "LightSource \"point\" \"rgb I\" [ {intensity} ] \"point3 from\" [ {position} ]"
            ));
        } else if light.kind == LightKind::Directional as u32 {
            self.line(format_args!(
                "LightSource \"distant\" \"rgb L\" [ {intensity} ] \"point3 from\" [ {position} ] \"point3 to\" [ 0 0 0 ]"
            ));
        } else if light.kind == LightKind::Spot as u32 {
            self.notes.add(
                Feature::SpotLight,
                "spot lights fall off towards the edge of their cone by a cubic there, by a square here",
            );
            // Scale and offset turn the cosine into 1 at the inner angle and 0 at the outer one.
            let angle = |value: f32| {
                f64::from((value - light.edge2.y) / light.edge2.x).clamp(-1.0, 1.0).acos().to_degrees()
            };
            let target = triple(light.position + light.edge1);
            self.line(format_args!(
                "LightSource \"spot\" \"rgb I\" [ {intensity} ] \"point3 from\" [ {position} ] \"point3 to\" [ {target} ]"
            ));
            let (outer, width) = (angle(0.0), angle(0.0) - angle(1.0));
            self.line(format_args!(
                "    \"float coneangle\" [ {outer} ] \"float conedeltaangle\" [ {width} ]"
            ));
        }
    }
}

/// Columns of a map, as pbrt has them.
fn columns(map: &Affine) -> String {
    let value = |i: usize| match (map.get(i % 4), i / 4) {
        (Some(row), column) => row[column].to_string(),
        (None, column) => u8::from(column == 3).to_string(),
    };
    (0..16).map(value).collect::<Vec<_>>().join(" ")
}

fn triple(v: Vec3) -> String {
    format!("{} {} {}", v.x, v.y, v.z)
}
