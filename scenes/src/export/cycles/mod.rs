//! Scenes for Cycles in Blender: scene.json, its arrays in geometry.bin, images as OpenEXR; a script makes a scene in
//! Blender of them and renders it.
//!
//! Coordinates are Lockstep's, with y up; Blender's cameras look along -z too, and the script turns the environment. Numbers are
//! in the units of this crate; the script converts to Blender's watts.

mod materials;

use super::geometry::{self, Part, Placement};
use super::images;
use super::notes::{Feature, Notes};
use super::ply::Mesh;
use super::{Exported, write_error};
use lockstep_core::math::transform::{Affine, IDENTITY};
use lockstep_core::math::vec3::{Vec3, normalize};
use lockstep_core::scene::{Camera, EnvironmentKind, Light, LightKind};
use lockstep_core::{Result, Scene};
use serde_json::{Value, json};
use std::path::Path;

/// The name of the document.
const DOCUMENT: &str = "scene.json";

/// The name of the file with its arrays.
const ARRAYS: &str = "geometry.bin";

/// Writes a scene for Cycles into a folder, which is made where there is none.
///
/// # Errors
/// [`lockstep_core::Error::Io`], naming the file or folder.
pub fn to_cycles(scene: &Scene, folder: &Path) -> Result<Exported> {
    std::fs::create_dir_all(folder).map_err(write_error(folder))?;
    let mut export =
        Export { scene, folder, notes: Notes::default(), arrays: Vec::new(), meshes: Vec::new() };
    let objects = export.objects();
    let document = json!({
        "name": scene.name,
        "camera": export.camera(&scene.camera),
        "materials": export.materials()?,
        "objects": objects,
        "meshes": export.meshes,
        "lights": scene.lights.iter().filter_map(punctual).collect::<Vec<_>>(),
        "sky": export.environment()?,
    });
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(write_error(&path))
    };
    write(ARRAYS, &export.arrays)?;
    write(DOCUMENT, format!("{document:#}\n").as_bytes())?;
    Ok(Exported { file: folder.join(DOCUMENT), differences: export.notes.into_list() })
}

/// A document in the making.
struct Export<'a> {
    scene: &'a Scene,
    folder: &'a Path,
    notes: Notes,
    arrays: Vec<u8>,
    meshes: Vec<Value>,
}

impl Export<'_> {
    fn camera(&self, camera: &Camera) -> Value {
        let frame = camera.frame(1, 1);
        let (right, up) = (normalize(frame.right), normalize(frame.up));
        let (back, eye) = (-frame.forward, camera.eye);
        let row = |of: fn(Vec3) -> f32| [of(right), of(up), of(back), of(eye)];
        json!({
            "to_world": [row(|v| v.x), row(|v| v.y), row(|v| v.z)],
            "vertical_fov": camera.vertical_fov,
            "lens_radius": camera.lens_radius,
            "focus_distance": camera.focus_distance,
            "reach": geometry::reach(self.scene),
        })
    }

    /// Every part of a mesh in every place, and the spheres.
    fn objects(&mut self) -> Vec<Value> {
        let scene = self.scene;
        let mut parts: Vec<Option<Vec<(u32, usize)>>> = vec![None; scene.meshes.len()];
        let mut spheres: [Option<usize>; 2] = [None; 2];
        let mut objects = Vec::new();
        for instance in &scene.instances {
            let own = instance.mesh as usize;
            if parts[own].is_none() {
                let all = geometry::parts(scene, instance.mesh, &Placement::NONE, &mut self.notes);
                parts[own] = Some(all.iter().map(|part| (part.material, self.part(part))).collect());
            }
            for &(material, mesh) in parts[own].iter().flatten() {
                objects.push(object(mesh, material, &instance.object_to_world));
            }
            for sphere in geometry::spheres(scene, instance) {
                let is_lamp = geometry::emits(scene, sphere.material);
                let mesh = *spheres[usize::from(is_lamp)]
                    .get_or_insert_with(|| self.mesh(&geometry::unit_sphere(is_lamp)));
                geometry::name_tessellation(&mut self.notes);
                if geometry::texture_of(scene, &scene.materials[sphere.material as usize], &mut self.notes)
                    .is_some()
                {
                    self.notes
                        .add(Feature::Texture, "spheres have the colour of their texture's first texel");
                }
                objects.push(object(mesh, sphere.material, &geometry::sphere_placement(&sphere)));
            }
        }
        objects
    }

    fn part(&mut self, part: &Part) -> usize {
        self.mesh(&part.mesh)
    }

    /// Adds a mesh, and returns its index.
    fn mesh(&mut self, mesh: &Mesh) -> usize {
        let vectors = |list: &[Vec3]| list.iter().flat_map(|v| v.to_array()).collect::<Vec<f32>>();
        let mut document = json!({ "triangles": self.array(&mesh.triangles.concat(), u32::to_le_bytes) });
        let lists = [
            ("positions", vectors(&mesh.positions)),
            ("normals", vectors(&mesh.normals)),
            ("uv", mesh.uv.concat()),
            ("colors", mesh.colors.concat()),
        ];
        for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            document[name] = self.array(list, f32::to_le_bytes);
        }
        self.meshes.push(document);
        self.meshes.len() - 1
    }

    /// Appends numbers of four bytes; the offset in bytes and how many.
    fn array<T: Copy>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; 4]) -> Value {
        let offset = self.arrays.len();
        self.arrays.extend(values.iter().flat_map(|&value| bytes(value)));
        json!([offset, values.len()])
    }

    fn environment(&self) -> Result<Value> {
        let environment = self.scene.environment;
        if environment.kind == EnvironmentKind::Constant as u32 {
            return Ok(json!({ "radiance": environment.zenith.to_array() }));
        }
        let (width, pixels) = images::environment(self.scene, |u| u);
        images::write_exr(&self.folder.join("sky.exr"), width, &pixels)?;
        Ok(json!({ "file": "sky.exr" }))
    }
}

fn object(mesh: usize, material: u32, to_world: &Affine) -> Value {
    let mut object = json!({ "mesh": mesh, "material": material });
    if *to_world != IDENTITY {
        object["to_world"] = json!(to_world);
    }
    object
}

/// A light without extent; others are made of shapes and of the environment.
fn punctual(light: &Light) -> Option<Value> {
    let intensity = light.intensity.to_array();
    let position = light.position.to_array();
    if light.kind == LightKind::Point as u32 {
        Some(json!({ "kind": "point", "position": position, "intensity": intensity }))
    } else if light.kind == LightKind::Directional as u32 {
        Some(json!({ "kind": "directional", "towards": position, "irradiance": intensity }))
    } else if light.kind == LightKind::Spot as u32 {
        // The falloff is the square of `scale * cosine + offset`, between 0 and 1.
        Some(json!({
            "kind": "spot", "position": position, "intensity": intensity, "axis": light.edge1.to_array(),
            "scale": light.edge2.x, "offset": light.edge2.y,
        }))
    } else {
        None
    }
}
