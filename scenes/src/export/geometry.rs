//! Geometry as other renderers take it: meshes of one material, in object space or in the world.

use super::notes::{Feature, Notes};
use super::ply::Mesh;
use lockstep_core::Scene;
use lockstep_core::math::transform::{Affine, IDENTITY, transform_normal, transform_point};
use lockstep_core::math::vec3::{Vec3, length, normalize};
use lockstep_core::scene::{Instance, Material, NONE, Sphere, Texture, Triangle};
use std::collections::{BTreeMap, HashMap};

/// A placement, with its inverse and whether it mirrors.
#[derive(Clone, Copy)]
pub(super) struct Placement {
    to_world: Affine,
    to_object: Affine,
    mirrored: bool,
}

impl Placement {
    /// Object space.
    pub(super) const NONE: Self = Self { to_world: IDENTITY, to_object: IDENTITY, mirrored: false };

    /// Placement of an instance.
    pub(super) fn of(instance: &Instance) -> Self {
        Self {
            to_world: instance.object_to_world,
            to_object: instance.world_to_object,
            mirrored: instance.flags & Instance::MIRRORED != 0,
        }
    }
}

/// The triangles of a mesh that have a material in common.
#[derive(Debug)]
pub(super) struct Part {
    /// Index of the material.
    pub(super) material: u32,
    /// The triangles. Texture coordinates are transformed, with v downwards, where the material has textures.
    pub(super) mesh: Mesh,
}

impl Part {
    /// A name that is unique in the mesh.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.material, if self.mesh.normals.is_empty() { "" } else { "-smooth" })
    }
}

/// The triangles of a mesh by material, and by whether they have normals of their own.
pub(super) fn parts(scene: &Scene, mesh: u32, placement: &Placement, notes: &mut Notes) -> Vec<Part> {
    let mesh = scene.meshes[mesh as usize];
    let (first, count) = (mesh.first_triangle as usize, mesh.triangle_count as usize);
    let has_normal = |vertex: u32| scene.vertices[vertex as usize].normal != Vec3::ZERO;
    let mut split: BTreeMap<(u32, bool), Vec<Triangle>> = BTreeMap::new();
    for triangle in &scene.triangles[first..first + count] {
        let smooth = triangle.vertices.into_iter().all(has_normal);
        split.entry((triangle.material, smooth)).or_default().push(*triangle);
    }
    let part = |((material, smooth), triangles): ((u32, bool), Vec<Triangle>)| {
        let texture = texture_of(scene, &scene.materials[material as usize], notes);
        Part { material, mesh: part(scene, &triangles, smooth, texture, placement) }
    };
    split.into_iter().map(part).collect()
}

fn part(
    scene: &Scene,
    triangles: &[Triangle],
    smooth: bool,
    texture: Option<Texture>,
    placement: &Placement,
) -> Mesh {
    let mut mesh = Mesh::default();
    let mut vertices: Vec<u32> = Vec::new();
    let mut indices: HashMap<u32, u32> = HashMap::new();
    for triangle in triangles {
        let corners = triangle.vertices.map(|vertex| {
            *indices.entry(vertex).or_insert_with(|| {
                vertices.push(vertex);
                vertices.len() as u32 - 1
            })
        });
        mesh.triangles.push(if placement.mirrored { [corners[0], corners[2], corners[1]] } else { corners });
    }
    let attributes = || vertices.iter().map(|&vertex| &scene.vertices[vertex as usize]);
    let position =
        |&vertex: &u32| transform_point(&placement.to_world, scene.positions[vertex as usize].into());
    mesh.positions = vertices.iter().map(position).collect();
    if smooth {
        let normal = |normal| normalize(transform_normal(&placement.to_object, normal));
        mesh.normals = attributes().map(|vertex| normal(vertex.normal)).collect();
    }
    if let Some(texture) = texture {
        let second = texture.flags & Texture::UV_SET_1 != 0;
        let uv = attributes().map(|vertex| if second { vertex.uv1 } else { vertex.uv0 });
        mesh.uv = uv.map(|uv| mapped(&texture, uv)).collect();
    }
    if attributes().any(|vertex| !vertex.is_white() || vertex.alpha() != 1.0) {
        mesh.colors = attributes()
            .map(|vertex| [vertex.rgb().x, vertex.rgb().y, vertex.rgb().z, vertex.alpha()])
            .collect();
    }
    mesh
}

/// The texture whose coordinates a mesh of a material has.
pub(super) fn texture_of(scene: &Scene, material: &Material, notes: &mut Notes) -> Option<Texture> {
    let all = [material.base_color_texture, material.emission_texture, material.metallic_roughness_texture];
    let mut textures = all.into_iter().filter(|&t| t != NONE).map(|t| scene.textures[t as usize]);
    let first = textures.next()?;
    let is_alike = |t: Texture| {
        (t.transform, t.flags & Texture::UV_SET_1) == (first.transform, first.flags & Texture::UV_SET_1)
    };
    if !textures.all(is_alike) {
        notes.add(Feature::Texture, "all textures of a material have the coordinates of its base colour");
    }
    Some(first)
}

/// A vertex's coordinates as its texture has them.
fn mapped(texture: &Texture, [u, v]: [f32; 2]) -> [f32; 2] {
    let row = |m: &[f32; 4]| m[0] * u + m[1] * v + m[2];
    [row(&texture.transform[0]), row(&texture.transform[1])]
}

/// Whether a material emits.
pub(super) fn emits(scene: &Scene, material: u32) -> bool {
    scene.materials[material as usize].emission != Vec3::ZERO
}

/// The meshes that are placed more than once and `may_be_shared`, in order.
pub(super) fn shared_meshes(scene: &Scene, may_be_shared: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut uses = vec![0u32; scene.meshes.len()];
    scene.instances.iter().for_each(|instance| uses[instance.mesh as usize] += 1);
    (0..scene.meshes.len() as u32).filter(|&mesh| uses[mesh as usize] > 1 && may_be_shared(mesh)).collect()
}

/// Whether a mesh has a triangle that emits.
pub(super) fn has_lamp(scene: &Scene, mesh: u32) -> bool {
    let mesh = &scene.meshes[mesh as usize];
    let (first, count) = (mesh.first_triangle as usize, mesh.triangle_count as usize);
    scene.triangles[first..first + count].iter().any(|triangle| emits(scene, triangle.material))
}

/// The spheres of an instance: centre and radius in the world, and material.
pub(super) fn spheres<'a>(scene: &'a Scene, instance: &'a Instance) -> impl Iterator<Item = Sphere> + 'a {
    let mesh = scene.meshes[instance.mesh as usize];
    let (first, count) = (mesh.first_sphere as usize, mesh.sphere_count as usize);
    scene.spheres[first..first + count].iter().map(|sphere| Sphere {
        center: transform_point(&instance.object_to_world, sphere.center),
        radius: sphere.radius * instance.scale,
        ..*sphere
    })
}

/// Subdivisions of the icosahedron that stands for a sphere: 20,480 triangles.
const SUBDIVISIONS: u32 = 5;

/// Subdivisions for a sphere that emits, each triangle of which is a light: 1,280.
const LAMP_SUBDIVISIONS: u32 = 3;

/// A mesh about the unit sphere, with the sphere's normals and its area in all views' mean: its triangles' area is the
/// sphere's. A quarter of the surface is the mean of the silhouettes of a convex body (Cauchy).
pub(super) fn unit_sphere(is_lamp: bool) -> Mesh {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let mut points: Vec<[f64; 3]> = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        points.extend([[a, b, 0.0], [0.0, a, b], [b, 0.0, a]]);
    }
    let edge2 = |p: &[f64; 3], q: &[f64; 3]| (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>();
    let is_edge = |p: usize, q: usize| (edge2(&points[p], &points[q]) - 4.0).abs() < 1e-9;
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for p in 0..12 {
        for q in p + 1..12 {
            for r in q + 1..12 {
                if is_edge(p, q) && is_edge(q, r) && is_edge(p, r) {
                    triangles.push(outward(&points, [p as u32, q as u32, r as u32]));
                }
            }
        }
    }
    for _ in 0..if is_lamp { LAMP_SUBDIVISIONS } else { SUBDIVISIONS } {
        triangles = subdivided(&mut points, &triangles);
    }
    points.iter_mut().for_each(|p| *p = unit(*p));
    let area: f64 = triangles.iter().map(|t| area(t.map(|i| points[i as usize]))).sum();
    let scale = (4.0 * std::f64::consts::PI / area).sqrt();
    let vector = |p: &[f64; 3], s: f64| Vec3::from(p.map(|v| (v * s) as f32));
    Mesh {
        positions: points.iter().map(|p| vector(p, scale)).collect(),
        normals: points.iter().map(|p| vector(p, 1.0)).collect(),
        triangles,
        ..Mesh::default()
    }
}

fn unit(p: [f64; 3]) -> [f64; 3] {
    let length = p.iter().map(|v| v * v).sum::<f64>().sqrt();
    p.map(|v| v / length)
}

fn cross(p: [f64; 3], q: [f64; 3]) -> [f64; 3] {
    [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
}

/// Twice the area as a vector, by the right-hand rule.
fn normal([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    let to = |p: [f64; 3]| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
    cross(to(b), to(c))
}

fn area(corners: [[f64; 3]; 3]) -> f64 {
    0.5 * normal(corners).iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The triangle with its corners counter-clockwise seen from outside.
fn outward(points: &[[f64; 3]], t: [u32; 3]) -> [u32; 3] {
    let corners = t.map(|i| points[i as usize]);
    let dot: f64 = normal(corners).iter().zip(corners[0]).map(|(n, p)| n * p).sum();
    if dot > 0.0 { t } else { [t[0], t[2], t[1]] }
}

/// Four triangles for each, with new points on the sphere.
fn subdivided(points: &mut Vec<[f64; 3]>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    points.iter_mut().for_each(|p| *p = unit(*p));
    let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
    let mut middle = |p: u32, q: u32| {
        *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
            let (a, b) = (points[p as usize], points[q as usize]);
            points.push(unit([a[0] + b[0], a[1] + b[1], a[2] + b[2]]));
            points.len() as u32 - 1
        })
    };
    let mut out = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        out.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    out
}

/// Names what is different where spheres are meshes.
pub(super) fn name_tessellation(notes: &mut Notes) {
    notes.add(
        Feature::Sphere,
        format!(
            "spheres are meshes of {} triangles, lamps of {}, with the sphere's normals and area",
            20 << (2 * SUBDIVISIONS),
            20 << (2 * LAMP_SUBDIVISIONS)
        ),
    );
}

/// The map of the unit sphere to a sphere.
pub(super) fn sphere_placement(sphere: &Sphere) -> Affine {
    let (r, c) = (sphere.radius, sphere.center);
    [[r, 0.0, 0.0, c.x], [0.0, r, 0.0, c.y], [0.0, 0.0, r, c.z]]
}

/// A distance that nothing lies beyond as seen from the camera.
pub(super) fn reach(scene: &Scene) -> f32 {
    let bounds = scene.bounding_sphere();
    length(bounds.center - scene.camera.eye) + bounds.radius
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::dot;

    #[test]
    fn a_tessellated_sphere_faces_outwards_and_has_the_spheres_area() {
        for (is_lamp, triangles) in [(false, 20_480), (true, 1_280)] {
            let sphere = unit_sphere(is_lamp);
            assert_eq!((sphere.triangles.len(), sphere.positions.len()), (triangles, triangles / 2 + 2));
            let mut area = 0.0;
            for t in &sphere.triangles {
                let corners = t.map(|i| sphere.positions[i as usize].to_array().map(f64::from));
                area += super::area(corners);
                let n = Vec3::from(normal(corners).map(|v| v as f32));
                assert!(dot(normalize(n), sphere.normals[t[0] as usize]) > 0.99);
            }
            assert!((area / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-5, "{area}");
        }
    }
}
