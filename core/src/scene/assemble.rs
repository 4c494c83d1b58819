//! From instances of meshes to a scene's flat arrays.

use crate::error::{Error, Result};
use crate::math;
use crate::math::transform::{
    Affine, IDENTITY, determinant, inverse, similarity_scale, transform_normal, transform_point,
    transform_vector,
};
use crate::math::vec3::{Vec3, normalize, vec3};
use crate::scene::SceneData;
use crate::scene::mesh::{Flatten, MeshData};
use crate::scene::types::*;
use crate::scene::vertex::Vertex;

/// Meshes with several instances are baked while all their copies together stay below this many triangles.
const BAKED_COPIES: u64 = 65_536;

/// Upper limit of vertices: references to them have 31 bits.
const MOST_VERTICES: usize = (1 << 31) - 1;

/// Upper limit of primitives: leaves of a BVH number 2^28 references, and pre-splitting adds up to half as
/// many.
const MOST_PRIMITIVES: usize = 5 << 25;

/// The error of a scene with more vertices or primitives than its limits.
fn fits(vertices: usize, primitives: usize) -> std::result::Result<(), String> {
    if vertices > MOST_VERTICES {
        return Err(format!("{vertices} vertices are more than the {MOST_VERTICES} that are possible"));
    }
    if primitives > MOST_PRIMITIVES {
        return Err(format!(
            "{primitives} triangles and spheres are more than the {MOST_PRIMITIVES} that are possible; place a mesh \
             several times in place of copies, or simplify it"
        ));
    }
    Ok(())
}

/// Grows to include points.
pub(super) struct Bounds {
    lo: Vec3,
    hi: Vec3,
}

impl Bounds {
    pub(super) const EMPTY: Self =
        Self { lo: Vec3::splat(f32::INFINITY), hi: Vec3::splat(f32::NEG_INFINITY) };

    fn include(&mut self, p: Vec3) {
        self.lo = vec3(math::min(self.lo.x, p.x), math::min(self.lo.y, p.y), math::min(self.lo.z, p.z));
        self.hi = vec3(math::max(self.hi.x, p.x), math::max(self.hi.y, p.y), math::max(self.hi.z, p.z));
    }

    pub(super) fn include_mesh(&mut self, mesh: &MeshData, map: &Affine) {
        for &p in &mesh.positions {
            self.include(transform_point(map, p.into()));
        }
        let scale = similarity_scale(map).unwrap_or(1.0);
        for sphere in &mesh.spheres {
            let center = transform_point(map, sphere.center);
            self.include(center - Vec3::splat(sphere.radius * scale));
            self.include(center + Vec3::splat(sphere.radius * scale));
        }
    }

    pub(super) fn get(self) -> Option<[Vec3; 2]> {
        (self.lo.x <= self.hi.x).then_some([self.lo, self.hi])
    }
}

/// Copies meshes and instances into a scene, baking static instances.
pub(super) struct Assembler<'a> {
    scene: &'a mut SceneData,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(scene: &'a mut SceneData) -> Self {
        Self { scene }
    }

    pub(super) fn place(
        &mut self,
        flatten: Flatten,
        meshes: Vec<MeshData>,
        instances: &[(u32, Affine)],
    ) -> Result<()> {
        let mut uses = vec![0u64; meshes.len()];
        for (mesh, _) in instances {
            uses[*mesh as usize] += 1;
        }
        let baked: Vec<bool> = meshes
            .iter()
            .zip(&uses)
            .map(|(mesh, &uses)| {
                let copies = uses * (mesh.triangles.len() + mesh.spheres.len()) as u64;
                flatten == Flatten::Auto && (uses == 1 || copies <= BAKED_COPIES)
            })
            .collect();
        // The static mesh comes first, then one mesh for each that stays instanced.
        let first = self.open_mesh();
        for (mesh, map) in instances.iter().filter(|(mesh, _)| baked[*mesh as usize]) {
            self.append(&meshes[*mesh as usize], (*map != IDENTITY).then_some(map))?;
        }
        if self.close_mesh(first) {
            self.instance(IDENTITY)?;
        }
        for (index, mesh) in meshes.iter().enumerate() {
            if baked[index] || uses[index] == 0 || (mesh.triangles.is_empty() && mesh.spheres.is_empty()) {
                continue;
            }
            let first = self.open_mesh();
            self.append(mesh, None)?;
            if self.close_mesh(first) {
                for (_, map) in instances.iter().filter(|(m, _)| *m as usize == index) {
                    self.instance(*map)?;
                }
            }
        }
        Ok(())
    }

    fn open_mesh(&self) -> (usize, usize) {
        (self.scene.triangles.len(), self.scene.spheres.len())
    }

    /// Records the mesh opened at `first`; false when it is empty.
    fn close_mesh(&mut self, first: (usize, usize)) -> bool {
        let mesh = Mesh {
            first_triangle: first.0 as u32,
            triangle_count: (self.scene.triangles.len() - first.0) as u32,
            first_sphere: first.1 as u32,
            sphere_count: (self.scene.spheres.len() - first.1) as u32,
        };
        let filled = mesh.triangle_count > 0 || mesh.sphere_count > 0;
        if filled {
            self.scene.meshes.push(mesh);
        }
        filled
    }

    /// Appends a mesh's primitives, transformed by `map` where there is one.
    fn append(&mut self, mesh: &MeshData, map: Option<&Affine>) -> Result<()> {
        let base = self.scene.positions.len();
        let primitives = self.scene.triangles.len() + self.scene.spheres.len();
        let more = mesh.triangles.len() + mesh.spheres.len();
        fits(base + mesh.positions.len(), primitives + more)
            .map_err(|why| Error::scene(&self.scene.name, "geometry", why))?;
        let defaults = std::iter::repeat_n(Vertex::default(), mesh.positions.len());
        match map {
            None => {
                self.scene.positions.extend_from_slice(&mesh.positions);
                if mesh.vertices.is_empty() {
                    self.scene.vertices.extend(defaults);
                } else {
                    self.scene.vertices.extend_from_slice(&mesh.vertices);
                }
            }
            Some(map) => {
                let back = self.inverse_of(map)?;
                let moved = |p: &[f32; 3]| transform_point(map, (*p).into()).to_array();
                self.scene.positions.extend(mesh.positions.iter().map(moved));
                let moved = |v: &Vertex| Vertex {
                    normal: normalize(transform_normal(&back, v.normal)),
                    tangent: normalize(transform_vector(map, v.tangent)),
                    ..*v
                };
                if mesh.vertices.is_empty() {
                    self.scene.vertices.extend(defaults);
                } else {
                    self.scene.vertices.extend(mesh.vertices.iter().map(moved));
                }
            }
        }
        // Triangles of mirrored meshes are reversed to keep their front.
        let mirrored = map.is_some_and(|m| determinant(m) < 0.0);
        for (i, t) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|v| v + base as u32);
            let material = mesh.materials[if mesh.materials.len() == 1 { 0 } else { i }];
            let vertices = if mirrored { [a, c, b] } else { [a, b, c] };
            self.scene.triangles.push(Triangle { vertices, material });
        }
        let scale = map.and_then(similarity_scale).unwrap_or(1.0);
        for sphere in &mesh.spheres {
            let center = map.map_or(sphere.center, |m| transform_point(m, sphere.center));
            self.scene.spheres.push(Sphere { center, radius: sphere.radius * scale, ..*sphere });
        }
        Ok(())
    }

    /// Places the last mesh.
    fn instance(&mut self, object_to_world: Affine) -> Result<()> {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let record = Instance {
            object_to_world,
            world_to_object: self.inverse_of(&object_to_world)?,
            mesh: (self.scene.meshes.len() - 1) as u32,
            flags: flag(object_to_world == IDENTITY, Instance::IDENTITY)
                | flag(determinant(&object_to_world) < 0.0, Instance::MIRRORED),
            scale: similarity_scale(&object_to_world).unwrap_or(1.0),
            reserved: 0,
        };
        self.scene.instances.push(record);
        Ok(())
    }

    fn inverse_of(&self, map: &Affine) -> Result<Affine> {
        inverse(map)
            .ok_or_else(|| Error::scene(&self.scene.name, "instance", "the transform is not invertible"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_cannot_number_is_refused_and_said() {
        assert_eq!(fits(MOST_VERTICES, MOST_PRIMITIVES), Ok(()));
        assert!(fits(MOST_VERTICES + 1, 0).unwrap_err().starts_with("2147483648 vertices"));
        assert!(fits(0, MOST_PRIMITIVES + 1).unwrap_err().contains("167772161 triangles and spheres"));
    }
}
