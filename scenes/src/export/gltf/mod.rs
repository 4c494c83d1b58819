//! Scenes as glTF 2.0: scene.glb, with a scene.toml beside it for what the format has no place for: the environment light, lenses,
//! spheres, and the scattering models besides metallic-roughness.
//!
//! Numbers are kept to the bit, so a scene that is loaded again renders the same film but where the format has other
//! quantities: angles of spot lights and turned textures.

mod materials;
mod sidecar;
#[cfg(test)]
mod tests;

use super::geometry;
use super::notes::{Feature, Notes};
use super::{Exported, write_error};
use lockstep_core::math::transform::Affine;
use lockstep_core::math::vec3::{Vec3, cross, max_component, normalize, vec3};
use lockstep_core::scene::{Camera, Light, LightKind, Material, NONE, Triangle};
use lockstep_core::{Error, Result, Scene};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the binary glTF file.
const FILE: &str = "scene.glb";

/// Writes a scene as glTF 2.0 into a folder, which is made where there is none.
///
/// # Errors
/// [`Error::Io`], naming the file or folder.
pub fn to_gltf(scene: &Scene, folder: &Path) -> Result<Exported> {
    std::fs::create_dir_all(folder).map_err(write_error(folder))?;
    let mut export = Export::new(scene);
    export.document()?;
    export.name_culling();
    let path = folder.join(FILE);
    std::fs::write(&path, export.container(&path)?).map_err(write_error(&path))?;
    let toml = folder.join("scene.toml");
    std::fs::write(&toml, sidecar::text(scene, folder)?).map_err(write_error(&toml))?;
    Ok(Exported { file: toml, differences: export.notes.into_list() })
}

/// A file in the making.
struct Export<'a> {
    scene: &'a Scene,
    notes: Notes,
    binary: Vec<u8>,
    lists: BTreeMap<&'static str, Vec<Value>>,
    extensions: Vec<&'static str>,
}

impl<'a> Export<'a> {
    fn new(scene: &'a Scene) -> Self {
        let (binary, lists, extensions) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { scene, notes: Notes::default(), binary, lists, extensions }
    }

    /// Appends to an array of the document, and returns the index.
    fn push(&mut self, list: &'static str, value: Value) -> usize {
        let list = self.lists.entry(list).or_default();
        list.push(value);
        list.len() - 1
    }

    /// An extension object, whose name is listed.
    fn extension(&mut self, name: &'static str, value: Value) -> Value {
        if !self.extensions.contains(&name) {
            self.extensions.push(name);
        }
        json!({ name: value })
    }

    fn document(&mut self) -> Result<()> {
        let scene = self.scene;
        self.materials()?;
        for index in 0..scene.meshes.len() as u32 {
            self.mesh(index);
        }
        // Meshes of spheres alone are left out.
        let mut count = 0..;
        let mesh_of: Vec<Option<usize>> = scene
            .meshes
            .iter()
            .map(|mesh| if mesh.triangle_count > 0 { count.next() } else { None })
            .collect();
        for instance in &scene.instances {
            if let Some(mesh) = mesh_of[instance.mesh as usize] {
                self.push("nodes", json!({ "mesh": mesh, "matrix": matrix(&instance.object_to_world) }));
            }
        }
        for light in &scene.lights {
            self.light(light);
        }
        self.camera(&scene.camera);
        Ok(())
    }

    /// Bytes in the buffer, at a multiple of four.
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let offset = self.binary.len();
        self.binary.extend_from_slice(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    fn floats<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = values.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let kind = ["", "SCALAR", "VEC2", "VEC3", "VEC4"][N];
        let view = self.view(&bytes);
        let mut accessor =
            json!({ "bufferView": view, "componentType": 5126, "count": values.len(), "type": kind });
        let fold = |start: f32, pick: fn(f32, f32) -> f32| {
            values.iter().fold([start; N], |all, v| std::array::from_fn(|i| pick(all[i], v[i]))).to_vec()
        };
        accessor["min"] = json!(fold(f32::INFINITY, f32::min));
        accessor["max"] = json!(fold(f32::NEG_INFINITY, f32::max));
        self.push("accessors", accessor)
    }

    fn indices(&mut self, triangles: &[Triangle], first: u32) -> usize {
        let all = triangles.iter().flat_map(|triangle| triangle.vertices);
        let bytes: Vec<u8> = all.flat_map(|vertex| (vertex - first).to_le_bytes()).collect();
        let view = self.view(&bytes);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": 5125, "count": 3 * triangles.len(), "type": "SCALAR" }),
        )
    }

    /// A mesh: vertices that all primitives share, and a primitive for every run of triangles that are alike, so that
    /// triangles keep their order.
    fn mesh(&mut self, index: u32) {
        let scene = self.scene;
        let mesh = scene.meshes[index as usize];
        let range = mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let triangles = &scene.triangles[range];
        let used = || triangles.iter().flat_map(|triangle| triangle.vertices);
        let (Some(first), Some(last)) = (used().min(), used().max()) else { return };
        let vertices = &scene.vertices[first as usize..=last as usize];
        let positions = self.floats(&scene.positions[first as usize..=last as usize]);
        let has_normal = |vertex: u32| scene.vertices[vertex as usize].normal != Vec3::ZERO;
        let is_specular = |triangle: &Triangle| triangle.vertices.into_iter().all(has_normal);
        let normals: Vec<[f32; 3]> = vertices
            .iter()
            .map(|v| if v.normal == Vec3::ZERO { [0.0, 0.0, 1.0] } else { v.normal.to_array() })
            .collect();
        let mut shared: Map<String, Value> = Map::new();
        shared.insert("POSITION".into(), json!(positions));
        let sets =
            |set: fn(&lockstep_core::scene::Vertex) -> [f32; 2]| vertices.iter().map(set).collect::<Vec<_>>();
        let has_textures = triangles.iter().any(|t| has_textures(&scene.materials[t.material as usize]));
        if has_textures {
            shared.insert("TEXCOORD_0".into(), json!(self.floats(&sets(|v| v.uv0))));
            let second = sets(|v| v.uv1);
            if second.iter().any(|uv| *uv != [0.0; 2]) {
                shared.insert("TEXCOORD_1".into(), json!(self.floats(&second)));
            }
        }
        if vertices.iter().any(|v| !v.is_white() || v.alpha() != 1.0) {
            let colors: Vec<[f32; 4]> =
                vertices.iter().map(|v| [v.rgb().x, v.rgb().y, v.rgb().z, v.alpha()]).collect();
            shared.insert("COLOR_0".into(), json!(self.floats(&colors)));
        }
        let normals = triangles.iter().any(is_specular).then(|| self.floats(&normals));
        let needs_tangents = |m: &Material| m.normal_texture != NONE;
        let tangents =
            triangles.iter().any(|t| needs_tangents(&scene.materials[t.material as usize])).then(|| {
                let all: Vec<[f32; 4]> = vertices
                    .iter()
                    .map(|v| {
                        let t = if v.tangent == Vec3::ZERO { vec3(1.0, 0.0, 0.0) } else { v.tangent };
                        [t.x, t.y, t.z, v.tangent_sign()]
                    })
                    .collect();
                self.floats(&all)
            });
        let alike = |a: &Triangle, b: &Triangle| (a.material, is_specular(a)) == (b.material, is_specular(b));
        let mut primitives = Vec::new();
        let mut at = 0;
        for run in triangles.chunk_by(alike) {
            let material = run[0].material;
            let mut attributes = shared.clone();
            if let Some(normals) = normals.filter(|_| is_specular(&run[0])) {
                attributes.insert("NORMAL".into(), json!(normals));
                if let Some(tangents) =
                    tangents.filter(|_| needs_tangents(&scene.materials[material as usize]))
                {
                    attributes.insert("TANGENT".into(), json!(tangents));
                }
            }
            let indices = self.indices(&triangles[at..at + run.len()], first);
            primitives.push(json!({ "attributes": attributes, "indices": indices, "material": material }));
            at += run.len();
        }
        self.push("meshes", json!({ "primitives": primitives }));
    }

    /// A light without extent; others are made of shapes and of the environment.
    fn light(&mut self, light: &Light) {
        let (color, intensity) = split(light.intensity);
        let mut own = json!({ "color": color.to_array(), "intensity": intensity });
        // Lights shine along -z.
        let (axis, position) = if light.kind == LightKind::Point as u32 {
            own["type"] = json!("point");
            (None, light.position)
        } else if light.kind == LightKind::Directional as u32 {
            own["type"] = json!("directional");
            (Some(-light.position), Vec3::ZERO)
        } else if light.kind == LightKind::Spot as u32 {
            // Scale and offset turn the cosine into 1 at the inner angle and 0 at the outer one.
            let angle =
                |value: f32| f64::from((value - light.edge2.y) / light.edge2.x).clamp(0.0, 1.0).acos();
            own["type"] = json!("spot");
            own["spot"] = json!({ "innerConeAngle": angle(1.0) as f32, "outerConeAngle": angle(0.0) as f32 });
            (Some(light.edge1), light.position)
        } else {
            return;
        };
        let index = self.push("lights", own);
        let frame = match axis {
            Some(axis) => frame(-axis, perpendicular(axis), position),
            None => frame(vec3(0.0, 0.0, 1.0), vec3(0.0, 1.0, 0.0), position),
        };
        let extensions = self.extension("KHR_lights_punctual", json!({ "light": index }));
        self.push("nodes", json!({ "extensions": extensions, "matrix": matrix(&frame) }));
    }

    fn camera(&mut self, camera: &Camera) {
        let reach = geometry::reach(self.scene);
        let perspective = json!({ "yfov": camera.vertical_fov, "znear": 1e-4 * reach });
        let index = self.push("cameras", json!({ "type": "perspective", "perspective": perspective }));
        let forward = normalize(camera.direction);
        let up = cross(normalize(cross(forward, camera.up)), forward);
        let frame = frame(-forward, up, camera.eye);
        self.push("nodes", json!({ "camera": index, "matrix": matrix(&frame) }));
    }

    /// Names lamps that the format can only let shine from both sides, or cull from behind.
    fn name_culling(&mut self) {
        let culls = |m: &Material| m.flags & Material::SINGLE_SIDED != 0;
        let one_sided =
            |m: &Material| m.emission != Vec3::ZERO && m.flags & Material::TWO_SIDED_EMISSION == 0;
        let materials = &self.scene.materials;
        if materials.iter().any(culls) && materials.iter().any(|m| one_sided(m) && !culls(m)) {
            self.notes.add(
                Feature::AreaLight,
                "lamps that shine from the front are not seen from behind, as surfaces of one side are not",
            );
        }
    }

    /// The file's bytes.
    fn container(&mut self, path: &Path) -> Result<Vec<u8>> {
        let too_large = |_| {
            let source = std::io::Error::other("the scene is larger than the 4 GiB of a binary glTF file");
            Error::Io { action: "writing", path: path.to_owned(), source }
        };
        let lights = self.lists.remove("lights");
        let nodes = self.lists.get("nodes").map_or(0, Vec::len);
        let mut root = json!({
            "asset": { "version": "2.0", "generator": "Lockstep" },
            "scene": 0,
            "scenes": [{ "nodes": (0..nodes).collect::<Vec<_>>() }],
        });
        for (name, list) in std::mem::take(&mut self.lists) {
            root[name] = Value::Array(list);
        }
        if let Some(lights) = lights {
            root["extensions"] = json!({ "KHR_lights_punctual": { "lights": lights } });
        }
        if !self.extensions.is_empty() {
            root["extensionsUsed"] = json!(self.extensions);
        }
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        if !self.binary.is_empty() {
            root["buffers"] = json!([{ "byteLength": self.binary.len() }]);
        }
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let binary = if self.binary.is_empty() { 0 } else { 8 + self.binary.len() };
        let size = |bytes: usize| u32::try_from(bytes).map_err(too_large);
        let mut out = b"glTF".to_vec();
        for word in [2, size(12 + 8 + text.len() + binary)?, size(text.len())?] {
            out.extend(word.to_le_bytes());
        }
        out.extend(b"JSON");
        out.extend(text);
        if binary > 0 {
            out.extend(size(self.binary.len())?.to_le_bytes());
            out.extend(b"BIN\0");
            out.append(&mut self.binary);
        }
        Ok(out)
    }
}

/// Whether a material needs texture coordinates.
fn has_textures(m: &Material) -> bool {
    let all = [
        m.base_color_texture,
        m.metallic_roughness_texture,
        m.normal_texture,
        m.emission_texture,
        m.transmission_texture,
    ];
    all.into_iter().any(|texture| texture != NONE)
}

/// A colour of at most 1 and a power of two whose product, without rounding, is `value`.
fn split(value: Vec3) -> (Vec3, f32) {
    let most = max_component(value);
    if most <= 0.0 {
        return (Vec3::ZERO, 1.0);
    }
    let mut factor = 1.0f32;
    while most > factor && factor < 1e38 {
        factor *= 2.0;
    }
    (value * (1.0 / factor), factor)
}

/// The map to the world of something that looks along -z.
fn frame(back: Vec3, up: Vec3, position: Vec3) -> Affine {
    let right = cross(up, back);
    let row = |of: fn(Vec3) -> f32| [of(right), of(up), of(back), of(position)];
    [row(|v| v.x), row(|v| v.y), row(|v| v.z)]
}

/// A unit vector at right angles to another.
fn perpendicular(v: Vec3) -> Vec3 {
    let other = if v.y.abs() < 0.9 { vec3(0.0, 1.0, 0.0) } else { vec3(1.0, 0.0, 0.0) };
    normalize(cross(v, other))
}

/// Columns of a map, as glTF has them.
fn matrix(map: &Affine) -> [f32; 16] {
    std::array::from_fn(|i| match (i % 4, i / 4) {
        (3, column) => f32::from(u8::from(column == 3)),
        (row, column) => map[row][column],
    })
}
