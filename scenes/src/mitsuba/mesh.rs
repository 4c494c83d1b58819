//! Meshes from files, and as the scene has them: placed, with normals, oriented by them.

use super::matrix::{Matrix, cross, dot, normalize, single};
use crate::access::FileAccess;
use crate::obj;
use crate::ply;
use crate::tangents::{self, VertexArrays};
use crate::warning::Warnings;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{MeshData, Vertex};
use std::path::{Path, PathBuf};

/// A mesh before it is placed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Raw {
    pub(super) positions: Vec<[f32; 3]>,
    /// As many as positions, zero where there is none; empty where there are none at all.
    pub(super) normals: Vec<[f32; 3]>,
    /// As many as positions, or none; v grows downwards.
    pub(super) uv: Vec<[f32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Whether the mesh asks for normals of its faces.
    pub(super) flat: bool,
}

/// The format of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Format {
    Obj,
    Ply,
    Serialized,
}

/// A mesh of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FilePart {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Which of a serialized file's meshes.
    pub(super) index: u32,
}

/// The file's meshes of some indices, with what was repaired or left out. The error is a sentence.
pub(super) fn read(
    path: &Path,
    format: Format,
    indices: &[u32],
    access: &FileAccess<'_>,
) -> Result<(Vec<Raw>, Vec<String>), String> {
    let bytes = access.read(path).map_err(|error| error.to_string())?;
    let name = path.display();
    match format {
        Format::Serialized => {
            let of = |&index: &u32| super::serialized::read(&bytes, index, access.limits);
            let meshes: Result<_, _> = indices.iter().map(of).collect();
            meshes.map(|meshes| (meshes, Vec::new())).map_err(|message| format!("{name}: {message}"))
        }
        Format::Obj => {
            let mut warnings = Warnings::new(name.to_string());
            let mesh =
                obj::geometry(&bytes, access.limits, &mut warnings).map_err(|error| error.to_string())?;
            let raw = Raw {
                positions: mesh.positions,
                normals: mesh.normals,
                uv: mesh.uv,
                triangles: mesh.triangles,
                flat: false,
            };
            let notes = warnings.finish().iter().map(ToString::to_string).collect();
            Ok((vec![raw], notes))
        }
        Format::Ply => {
            let mesh =
                ply::read(&bytes, access.limits.triangles).map_err(|error| format!("{name}: {error}"))?;
            let notes = mesh.notes.iter().map(|note| format!("{name}: {note}")).collect();
            let raw = Raw {
                positions: mesh.positions,
                normals: mesh.normals,
                uv: mesh.uv,
                triangles: mesh.triangles,
                flat: false,
            };
            Ok((vec![raw], notes))
        }
    }
}

/// How a mesh is to be made ready.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    pub(super) to_world: Matrix,
    /// Normals of the faces in place of those of vertices.
    pub(super) face_normals: bool,
    /// Front and back change places.
    pub(super) flipped: bool,
    /// Texture coordinates with v upwards.
    pub(super) flip_v: bool,
    /// A normal map needs tangents.
    pub(super) tangents: bool,
    /// The normal map's green points along the normal cross the tangent, whatever way v grows.
    pub(super) right_handed: bool,
    pub(super) material: u32,
}

/// The mesh in world space. Triangles wind counter-clockwise on the side that their normals point to, which is
/// the front in Mitsuba.
pub(super) fn placed(raw: &Raw, placement: &Placement, place: &str, warnings: &mut Warnings) -> MeshData {
    let map = &placement.to_world;
    let double = |v: &[f32; 3]| v.map(f64::from);
    let positions: Vec<[f32; 3]> = if *map == Matrix::IDENTITY {
        raw.positions.clone()
    } else {
        raw.positions.iter().map(|p| map.point(double(p)).map(|v| v as f32)).collect()
    };
    let mut triangles = raw.triangles.clone();
    let flat = placement.face_normals || raw.flat;
    let mut normals: Vec<Vec3> = if flat {
        Vec::new()
    } else if raw.normals.is_empty() {
        smooth_normals(&positions, &triangles)
    } else {
        let side = if map.determinant() < 0.0 { -1.0 } else { 1.0 };
        let cofactors = map.cofactors();
        let turned = |n: &[f32; 3]| {
            let n = cofactors.vector(double(n));
            normalize(n).map_or(Vec3::ZERO, |n| single(n.map(|v| v * side)))
        };
        raw.normals.iter().map(turned).collect()
    };
    if !normals.is_empty() {
        orient(&positions, &normals, &mut triangles);
    }
    if placement.flipped {
        triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        normals.iter_mut().for_each(|n| *n = -*n);
    }
    let vertex = |i: usize| Vertex {
        normal: normals.get(i).copied().unwrap_or(Vec3::ZERO),
        uv0: raw.uv.get(i).map_or([0.0; 2], |&[u, v]| [u, if placement.flip_v { 1.0 - v } else { v }]),
        ..Vertex::default()
    };
    let vertices = if normals.is_empty() && raw.uv.is_empty() && !placement.tangents {
        Vec::new()
    } else {
        (0..positions.len()).map(vertex).collect()
    };
    let materials = vec![placement.material];
    let mut out = MeshData { positions, vertices, triangles, materials, ..MeshData::default() };
    if placement.tangents {
        add_tangents(&mut out, place, warnings);
    }
    if placement.right_handed {
        out.vertices.iter_mut().for_each(|vertex| *vertex = vertex.with_tangent(vertex.tangent, 1.0));
    }
    out
}

/// Normals of vertices: the sum of their triangles', weighted by the angle there (Thürmer and Wüthrich 1998).
fn smooth_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![[0.0f64; 3]; positions.len()];
    for triangle in triangles {
        let p = triangle.map(|corner| positions[corner as usize].map(f64::from));
        let edge = |from: usize, to: usize| std::array::from_fn(|i| p[to][i] - p[from][i]);
        let Some(normal) = normalize(cross(edge(0, 1), edge(0, 2))) else { continue };
        for (i, &corner) in triangle.iter().enumerate() {
            let (Some(a), Some(b)) = (normalize(edge(i, (i + 1) % 3)), normalize(edge(i, (i + 2) % 3)))
            else {
                continue;
            };
            let angle = f64::from(lockstep_core::math::acos(dot(a, b).clamp(-1.0, 1.0) as f32));
            let sum = &mut sums[corner as usize];
            sum.iter_mut().zip(normal).for_each(|(total, n)| *total += n * angle);
        }
    }
    sums.into_iter().map(|sum| normalize(sum).map_or(Vec3::ZERO, single)).collect()
}

/// Turns the triangles whose vertices' normals all point to their back.
fn orient(positions: &[[f32; 3]], normals: &[Vec3], triangles: &mut [[u32; 3]]) {
    for triangle in triangles {
        let p = triangle.map(|corner| Vec3::from(positions[corner as usize]));
        let normal = lockstep_core::math::vec3::cross(p[1] - p[0], p[2] - p[0]);
        let behind = |corner: &u32| lockstep_core::math::vec3::dot(normals[*corner as usize], normal) < 0.0;
        if triangle.iter().all(behind) {
            triangle.swap(1, 2);
        }
    }
}

fn add_tangents(mesh: &mut MeshData, place: &str, warnings: &mut Warnings) {
    let flat: Vec<usize> = (0..mesh.triangles.len())
        .filter(|&i| {
            mesh.triangles[i].iter().any(|&corner| mesh.vertices[corner as usize].normal == Vec3::ZERO)
        })
        .collect();
    // A normal map needs normals, so that flat triangles get vertices of their own.
    for i in flat {
        let corners = mesh.triangles[i].map(|corner| corner as usize);
        let p = corners.map(|corner| mesh.positions[corner].map(f64::from));
        let edge = |to: usize| std::array::from_fn(|i| p[to][i] - p[0][i]);
        let normal = normalize(cross(edge(1), edge(2))).map_or(Vec3::ZERO, single);
        let base = mesh.positions.len() as u32;
        for corner in corners {
            mesh.positions.push(mesh.positions[corner]);
            mesh.vertices.push(Vertex { normal, ..mesh.vertices[corner] });
        }
        mesh.triangles[i] = [base, base + 1, base + 2];
    }
    let arrays = VertexArrays { positions: &mut mesh.positions, vertices: &mut mesh.vertices };
    tangents::generate(arrays, &mut mesh.triangles, 0, place, warnings);
}

/// How far a unit of u and of v reaches on a placed mesh, in the mean over its area; one where it has no
/// texture coordinates.
pub(super) fn stretch(raw: &Raw, to_world: &Matrix) -> [f32; 2] {
    let (mut sums, mut areas) = ([0.0f64; 2], 0.0f64);
    for triangle in raw.triangles.iter().filter(|_| !raw.uv.is_empty()) {
        let p = triangle.map(|corner| to_world.point(raw.positions[corner as usize].map(f64::from)));
        let t = triangle.map(|corner| raw.uv[corner as usize].map(f64::from));
        let edge = |to: usize| std::array::from_fn(|i| p[to][i] - p[0][i]);
        let (e1, e2): ([f64; 3], [f64; 3]) = (edge(1), edge(2));
        let (du1, dv1) = (t[1][0] - t[0][0], t[1][1] - t[0][1]);
        let (du2, dv2) = (t[2][0] - t[0][0], t[2][1] - t[0][1]);
        let determinant = du1 * dv2 - du2 * dv1;
        let normal = cross(e1, e2);
        let area = dot(normal, normal).sqrt();
        if determinant == 0.0 || area == 0.0 {
            continue;
        }
        let length = |a: f64, b: f64| {
            let d: [f64; 3] = std::array::from_fn(|i| (a * e1[i] + b * e2[i]) / determinant);
            dot(d, d).sqrt()
        };
        sums[0] += area * length(dv2, -dv1);
        sums[1] += area * length(-du2, du1);
        areas += area;
    }
    if areas > 0.0 { sums.map(|sum| ((sum / areas) as f32).max(1e-6)) } else { [1.0; 2] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::vec3;

    fn quad() -> Raw {
        Raw {
            positions: vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
            normals: vec![],
            uv: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            flat: false,
        }
    }

    fn plain() -> Placement {
        Placement {
            to_world: Matrix::IDENTITY,
            face_normals: false,
            flipped: false,
            flip_v: false,
            tangents: false,
            right_handed: false,
            material: 0,
        }
    }

    fn made(raw: &Raw, placement: &Placement) -> MeshData {
        placed(raw, placement, "line 1", &mut Warnings::new("s"))
    }

    #[test]
    fn normals_are_smooth_where_a_file_has_none_and_absent_where_faces_are_asked_for() {
        // The fold of Mitsuba 3.9.1 with the same points: its vertex normals.
        let fold =
            Raw { positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], ..quad() };
        let mesh = made(&fold, &plain());
        let wanted = [
            [0.370_482_8, -0.370_482_8, 0.851_754_1],
            [0.0, 0.0, 1.0],
            [0.370_482_8, -0.370_482_8, 0.851_754_1],
            [0.577_350_3, -0.577_350_3, 0.577_350_3],
        ];
        for (vertex, wanted) in mesh.vertices.iter().zip(wanted) {
            let d = vertex.normal - wanted.into();
            assert!(d.x.abs() + d.y.abs() + d.z.abs() < 1e-5, "{:?}", vertex.normal);
        }
        let flat = made(&fold, &Placement { face_normals: true, ..plain() });
        assert!(flat.vertices.iter().all(|vertex| vertex.normal == Vec3::ZERO));
    }

    #[test]
    fn the_front_is_where_normals_point() {
        let raw = Raw { normals: vec![[0.0, 0.0, -1.0]; 4], ..quad() };
        let mesh = made(&raw, &plain());
        assert_eq!(mesh.triangles, [[0, 2, 1], [0, 3, 2]]);
        let mirrored = Placement { to_world: Matrix::scale([-1.0, 1.0, 1.0]), ..plain() };
        assert_eq!(made(&raw, &mirrored).vertices[0].normal, vec3(0.0, 0.0, -1.0));
        assert_eq!(made(&raw, &mirrored).triangles, raw.triangles);
        let flipped = made(&raw, &Placement { flipped: true, ..plain() });
        assert_eq!((flipped.triangles, flipped.vertices[0].normal), (raw.triangles, vec3(0.0, 0.0, 1.0)));
    }

    #[test]
    fn a_mirrored_mesh_without_normals_shows_its_back() {
        let mirrored = Placement { to_world: Matrix::scale([-1.0, 1.0, 1.0]), face_normals: true, ..plain() };
        let mesh = made(&quad(), &mirrored);
        // The winding stays, and with it the front turns to -z.
        assert_eq!((mesh.triangles, mesh.positions[1]), (quad().triangles, [-2.0, 0.0, 0.0]));
    }

    #[test]
    fn normal_maps_get_normals_and_tangents() {
        let placement = Placement { tangents: true, right_handed: true, face_normals: true, ..plain() };
        let mesh = made(&quad(), &placement);
        let used: Vec<&Vertex> =
            mesh.triangles.iter().flatten().map(|&i| &mesh.vertices[i as usize]).collect();
        let is_right =
            |v: &&Vertex| v.normal == vec3(0.0, 0.0, 1.0) && v.tangent.x > 0.9999 && v.tangent_sign() == 1.0;
        assert!(used.iter().all(is_right), "{used:?}");
    }

    #[test]
    fn the_stretch_of_texture_coordinates_is_that_of_the_placed_mesh() {
        assert_eq!(stretch(&quad(), &Matrix::IDENTITY), [2.0, 1.0]);
        assert_eq!(stretch(&quad(), &Matrix::scale([1.0, 5.0, 1.0])), [2.0, 5.0]);
        assert_eq!(stretch(&Raw { uv: vec![], ..quad() }, &Matrix::IDENTITY), [1.0, 1.0]);
    }
}
