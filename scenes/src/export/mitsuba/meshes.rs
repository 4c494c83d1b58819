//! Geometry: meshes in world space, or groups of shapes where a mesh is placed several times.

use super::{Export, triple};
use crate::export::ply;
use lockstep_core::Result;
use lockstep_core::math::transform::{Affine, IDENTITY, transform_normal, transform_point};
use lockstep_core::math::vec3::{Vec3, normalize};
use lockstep_core::scene::{Instance, Material, NONE, Texture, Triangle};
use std::collections::{BTreeMap, HashMap};

/// A placement, with its inverse and whether it mirrors.
#[derive(Clone, Copy)]
struct Placement {
    to_world: Affine,
    to_object: Affine,
    mirrored: bool,
}

const UNPLACED: Placement = Placement { to_world: IDENTITY, to_object: IDENTITY, mirrored: false };

impl Export<'_> {
    pub(super) fn meshes(&mut self) -> Result<()> {
        let scene = self.scene;
        let mut uses: HashMap<u32, usize> = HashMap::new();
        scene.instances.iter().for_each(|instance| *uses.entry(instance.mesh).or_default() += 1);
        // A lamp may be part of no group, and a sphere is simple enough to be written again.
        let is_group = |mesh: u32| {
            let own = &scene.meshes[mesh as usize];
            let emits = self.parts(mesh).keys().any(|(material, _)| self.emits(*material));
            uses.get(&mesh).is_some_and(|&count| count > 1) && own.sphere_count == 0 && !emits
        };
        let mut groups: Vec<u32> = uses.keys().copied().filter(|&mesh| is_group(mesh)).collect();
        groups.sort_unstable();
        for &mesh in &groups {
            self.line(format!("  <shape type=\"shapegroup\" id=\"mesh-{mesh}\">"));
            self.triangles(mesh, &format!("mesh-{mesh}"), UNPLACED)?;
            self.line("  </shape>");
        }
        for (index, instance) in scene.instances.iter().enumerate() {
            let placement = Placement {
                to_world: instance.object_to_world,
                to_object: instance.world_to_object,
                mirrored: instance.flags & Instance::MIRRORED != 0,
            };
            if groups.contains(&instance.mesh) {
                self.instance(instance);
            } else {
                self.triangles(instance.mesh, &format!("object-{index}"), placement)?;
                self.spheres(instance)?;
            }
        }
        Ok(())
    }

    fn emits(&self, material: u32) -> bool {
        self.scene.materials[material as usize].emission != Vec3::ZERO
    }

    /// Triangles of a mesh by their material and whether they have normals of their own.
    fn parts(&self, mesh: u32) -> BTreeMap<(u32, bool), Vec<Triangle>> {
        let mesh = self.scene.meshes[mesh as usize];
        let (first, count) = (mesh.first_triangle as usize, mesh.triangle_count as usize);
        let has_normal = |vertex: u32| self.scene.vertices[vertex as usize].normal != Vec3::ZERO;
        let mut parts: BTreeMap<(u32, bool), Vec<Triangle>> = BTreeMap::new();
        for triangle in &self.scene.triangles[first..first + count] {
            let smooth = triangle.vertices.into_iter().all(has_normal);
            parts.entry((triangle.material, smooth)).or_default().push(*triangle);
        }
        parts
    }

    /// The triangles of a mesh, one shape for each material.
    fn triangles(&mut self, mesh: u32, name: &str, placement: Placement) -> Result<()> {
        for ((material, smooth), triangles) in self.parts(mesh) {
            let part = self.part(&triangles, smooth, material, placement);
            let file = format!("{name}-{material}{}.ply", if smooth { "-smooth" } else { "" });
            ply::write(&self.folder.join(&file), &part)?;
            self.line("  <shape type=\"ply\">");
            self.line(format!("    <string name=\"filename\" value=\"{file}\"/>"));
            if !smooth {
                self.line("    <boolean name=\"face_normals\" value=\"true\"/>");
            }
            self.surface(material)?;
            self.line("  </shape>");
        }
        Ok(())
    }

    fn part(
        &mut self,
        triangles: &[Triangle],
        smooth: bool,
        material: u32,
        placement: Placement,
    ) -> ply::Mesh {
        let scene = self.scene;
        let texture = self.texture_of(&scene.materials[material as usize]);
        let mut mesh = ply::Mesh::default();
        let mut indices: HashMap<u32, u32> = HashMap::new();
        for triangle in triangles {
            let corners = triangle.vertices.map(|vertex| {
                *indices.entry(vertex).or_insert_with(|| {
                    let [x, y, z] = scene.positions[vertex as usize];
                    let attributes = &scene.vertices[vertex as usize];
                    mesh.positions.push(transform_point(&placement.to_world, Vec3 { x, y, z }));
                    if smooth {
                        mesh.normals
                            .push(normalize(transform_normal(&placement.to_object, attributes.normal)));
                    }
                    if let Some(texture) = &texture {
                        let uv = if texture.flags & Texture::UV_SET_1 != 0 {
                            attributes.uv1
                        } else {
                            attributes.uv0
                        };
                        mesh.uv.push(mapped(texture, uv));
                    }
                    mesh.positions.len() as u32 - 1
                })
            });
            mesh.triangles.push(if placement.mirrored {
                [corners[0], corners[2], corners[1]]
            } else {
                corners
            });
        }
        let is_white = |vertex: &u32| scene.vertices[*vertex as usize].is_white();
        if !indices.keys().all(is_white) {
            self.differs("colours of vertices are left out");
        }
        mesh
    }

    /// The texture whose coordinates a mesh of a material has.
    fn texture_of(&mut self, material: &Material) -> Option<Texture> {
        let all = [material.base_color_texture, material.emission_texture];
        let mut textures = all.into_iter().filter(|&t| t != NONE).map(|t| self.scene.textures[t as usize]);
        let first = textures.next()?;
        let is_alike = |t: Texture| {
            (t.transform, t.flags & Texture::UV_SET_1) == (first.transform, first.flags & Texture::UV_SET_1)
        };
        if !textures.all(is_alike) {
            self.differs("all textures of a material have the coordinates of its base colour");
        }
        Some(first)
    }

    /// Material and emission of a shape.
    fn surface(&mut self, material: u32) -> Result<()> {
        self.line(format!("    <ref id=\"material-{material}\"/>"));
        if self.emits(material) {
            let own = self.scene.materials[material as usize];
            let radiance = self.color(material as usize, "emission", own.emission, own.emission_texture)?;
            self.line("    <emitter type=\"area\">");
            self.line(format!("      {}", radiance.named("radiance")));
            self.line("    </emitter>");
        }
        Ok(())
    }

    fn instance(&mut self, instance: &Instance) {
        let rows =
            instance.object_to_world.iter().flatten().map(|value| value.to_string()).collect::<Vec<_>>();
        self.line("  <shape type=\"instance\">");
        self.line(format!("    <ref id=\"mesh-{}\"/>", instance.mesh));
        self.line("    <transform name=\"to_world\">");
        self.line(format!("      <matrix value=\"{} 0 0 0 1\"/>", rows.join(" ")));
        self.line("    </transform>");
        self.line("  </shape>");
    }

    fn spheres(&mut self, instance: &Instance) -> Result<()> {
        let mesh = self.scene.meshes[instance.mesh as usize];
        let (first, count) = (mesh.first_sphere as usize, mesh.sphere_count as usize);
        for sphere in &self.scene.spheres[first..first + count] {
            let center = transform_point(&instance.object_to_world, sphere.center);
            self.line("  <shape type=\"sphere\">");
            self.line(format!("    <point name=\"center\" value=\"{}\"/>", triple(center)));
            self.line(format!("    <float name=\"radius\" value=\"{}\"/>", sphere.radius * instance.scale));
            if self.texture_of(&self.scene.materials[sphere.material as usize]).is_some() {
                self.differs("textures on spheres lie otherwise");
            }
            self.surface(sphere.material)?;
            self.line("  </shape>");
        }
        Ok(())
    }
}

/// A vertex's coordinates as its texture has them; v grows downwards in both renderers.
fn mapped(texture: &Texture, [u, v]: [f32; 2]) -> [f32; 2] {
    let row = |m: &[f32; 4]| m[0] * u + m[1] * v + m[2];
    [row(&texture.transform[0]), row(&texture.transform[1])]
}
