use super::*;
use lockstep_core::math::vec3::dot;
use proptest::prelude::*;
use std::f32::consts::{PI, TAU};

/// A mesh of a test.
#[derive(Clone, Debug, Default, PartialEq)]
struct Mesh {
    positions: Vec<[f32; 3]>,
    vertices: Vec<Vertex>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// A grid of `columns` times `rows` quads; `at` gives position, normal and texture coordinates at `(s,
    /// t)`.
    fn grid(columns: u32, rows: u32, at: impl Fn(f32, f32) -> (Vec3, Vec3, [f32; 2])) -> Self {
        let mut mesh = Self::default();
        for row in 0..=rows {
            for column in 0..=columns {
                let (position, normal, uv0) = at(column as f32 / columns as f32, row as f32 / rows as f32);
                mesh.positions.push(position.to_array());
                mesh.vertices.push(Vertex { normal, uv0, ..Vertex::default() });
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let a = row * (columns + 1) + column;
                let (b, c, d) = (a + 1, a + columns + 2, a + columns + 1);
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        mesh
    }

    fn with_tangents(mut self) -> Self {
        assert_eq!(self.generate(), 0);
        self
    }

    /// Generates tangents and counts the warnings.
    fn generate(&mut self) -> usize {
        let mut warnings = Warnings::new("test");
        let arrays = VertexArrays { positions: &mut self.positions, vertices: &mut self.vertices };
        generate(arrays, &mut self.triangles, 0, "mesh", &mut warnings);
        warnings.finish().len()
    }

    /// All corners have this tangent, up to rounding, and sign.
    #[track_caller]
    fn assert_tangents(&self, tangent: Vec3, sign: f32) {
        for vertex in self.corners() {
            assert!(dot(vertex.tangent, tangent) > 0.999_999, "{vertex:?}");
            assert_eq!(vertex.tangent_sign(), sign);
        }
    }

    /// The vertices of all corners in order.
    fn corners(&self) -> impl Iterator<Item = &Vertex> {
        self.triangles.iter().flatten().map(|&v| &self.vertices[v as usize])
    }
}

const UP: Vec3 = vec3(0.0, 0.0, 1.0);

fn plane(uv: impl Fn(f32, f32) -> [f32; 2]) -> Mesh {
    Mesh::grid(4, 3, |s, t| (vec3(s - 0.5, t, 0.0), UP, uv(s - 0.5, t)))
}

/// Closed form: the surface is `(x, y, 0)` and the image's up direction is +y.
#[test]
fn tangents_of_a_plane_point_along_u() {
    let mesh = plane(|x, y| [x, 1.0 - y]).with_tangents();
    assert_eq!(mesh.vertices.len(), 20);
    mesh.assert_tangents(vec3(1.0, 0.0, 0.0), 1.0);
}

#[test]
fn mirrored_coordinates_flip_the_sign() {
    plane(|x, y| [-x, 1.0 - y]).with_tangents().assert_tangents(vec3(-1.0, 0.0, 0.0), -1.0);
}

/// The halves of a plane with `u = |x|` share the vertices of the seam but not their tangents.
#[test]
fn a_mirror_seam_splits_its_vertices() {
    let before = plane(|x, y| [x.abs(), 1.0 - y]);
    let mesh = before.clone().with_tangents();
    assert_eq!(mesh.vertices.len(), before.vertices.len() + 4);
    for (triangle, original) in mesh.triangles.iter().zip(&before.triangles) {
        let center: f32 = triangle.iter().map(|&v| mesh.positions[v as usize][0]).sum();
        let side = center.signum();
        for (&v, &o) in triangle.iter().zip(original) {
            let vertex = mesh.vertices[v as usize];
            assert!(dot(vertex.tangent, vec3(side, 0.0, 0.0)) > 0.999_999, "{vertex:?}");
            assert_eq!(vertex.tangent_sign(), side);
            assert_eq!(mesh.positions[v as usize], before.positions[o as usize]);
            assert_eq!(vertex.uv0, before.vertices[o as usize].uv0);
        }
    }
}

/// Closed form: on a sphere with longitude and latitude as coordinates, tangents point east.
#[test]
fn tangents_of_a_sphere_point_east() {
    let sphere = Mesh::grid(64, 32, |s, t| {
        let (longitude, colatitude) = (s * TAU, (0.9 - 0.8 * t) * PI);
        let n =
            vec3(colatitude.sin() * longitude.cos(), colatitude.sin() * longitude.sin(), colatitude.cos());
        (n, n, [s, 1.0 - t])
    });
    let count = sphere.vertices.len();
    let mesh = sphere.with_tangents();
    assert_eq!(mesh.vertices.len(), count);
    for vertex in mesh.corners() {
        let east = normalize(cross(UP, vertex.normal));
        // At the seam only one side contributes, at half a column's angle from the exact direction.
        assert!(dot(vertex.tangent, east) > (PI / 64.0).cos() - 1e-4, "{vertex:?}");
        assert_eq!(vertex.tangent_sign(), 1.0);
        if vertex.uv0[0] > 0.0 && vertex.uv0[0] < 1.0 {
            assert!(dot(vertex.tangent, east) > 0.9999, "{vertex:?}");
        }
    }
}

#[test]
fn without_texture_area_any_orthogonal_direction_serves() {
    for vertex in plane(|_, _| [0.5, 0.5]).with_tangents().corners() {
        assert!(
            dot(vertex.tangent, UP).abs() < 1e-6 && (dot(vertex.tangent, vertex.tangent) - 1.0).abs() < 1e-6
        );
    }
}

#[test]
fn triangles_without_area_change_no_tangent() {
    let mut mesh = plane(|x, y| [x, 1.0 - y]);
    mesh.triangles.insert(0, [0, 0, 1]);
    mesh.triangles.push([5, 6, 5]);
    mesh.with_tangents().assert_tangents(vec3(1.0, 0.0, 0.0), 1.0);
}

#[test]
fn vertices_without_normals_stay_without_tangents() {
    let mut mesh = plane(|x, y| [x, 1.0 - y]);
    mesh.vertices[0].normal = Vec3::ZERO;
    let mesh = mesh.with_tangents();
    assert_eq!(mesh.vertices[0].tangent, Vec3::ZERO);
}

#[test]
fn a_crowded_vertex_is_reported_and_takes_bounded_time() {
    let rim = 20_000;
    let mut mesh = Mesh::default();
    let mut push = |p: Vec3| {
        mesh.positions.push(p.to_array());
        mesh.vertices.push(Vertex { normal: UP, uv0: [p.x, 1.0 - p.y], ..Vertex::default() });
    };
    push(Vec3::ZERO);
    for i in 0..=rim {
        let angle = i as f32 / rim as f32 * TAU;
        push(vec3(angle.cos(), angle.sin(), 0.0));
    }
    mesh.triangles = (1..=rim).map(|i| [0, i, i + 1]).collect();
    assert_eq!(mesh.generate(), 1);
    for vertex in mesh.corners() {
        assert!(vertex.tangent.x > 0.999, "{vertex:?}");
    }
}

/// A height field over the unit square with bent texture coordinates.
fn height_field(heights: &[f32], bend: f32) -> Mesh {
    let height = |i: u32, j: u32| heights[(i + 5 * j) as usize];
    Mesh::grid(4, 4, |s, t| {
        let (i, j) = ((s * 4.0) as u32, (t * 4.0) as u32);
        let difference = |i: [u32; 2], j: [u32; 2]| height(i[1], j[1]) - height(i[0], j[0]);
        let slope_x = difference([i.saturating_sub(1), (i + 1).min(4)], [j; 2]);
        let slope_y = difference([i; 2], [j.saturating_sub(1), (j + 1).min(4)]);
        let normal = normalize(vec3(-slope_x, -slope_y, 1.0));
        (vec3(s, t, height(i, j)), normal, [s + bend * t, 1.0 - t + 0.3 * bend * s * s])
    })
}

/// MikkTSpace's definition without its bookkeeping: the mean of the triangles' u directions in the tangent
/// plane, weighted by the angle at the vertex in that plane.
fn by_definition(mesh: &Mesh, vertex: u32) -> Vec3 {
    let n = mesh.vertices[vertex as usize].normal;
    let project = |v: Vec3| normalize(v - n * dot(n, v));
    let mut sum = Vec3::ZERO;
    for triangle in mesh.triangles.iter().filter(|t| t.contains(&vertex)) {
        let [a, b, c] = triangle.map(|v| Vec3::from(mesh.positions[v as usize]));
        let [ta, tb, tc] = triangle.map(|v| mesh.vertices[v as usize].uv0);
        let (v1, v2) = (tb[1] - ta[1], tc[1] - ta[1]);
        let area = (tb[0] - ta[0]) * v2 - (tc[0] - ta[0]) * v1;
        let along_u = ((b - a) * v2 - (c - a) * v1) * area.signum();
        let here = triangle.iter().position(|&v| v == vertex).unwrap();
        let p = [a, b, c];
        let edges = [1, 2].map(|k| project(p[(here + k) % 3] - p[here]));
        let angle = dot(edges[0], edges[1]).clamp(-1.0, 1.0).acos();
        sum = sum + project(along_u) * angle;
    }
    normalize(sum)
}

proptest! {
    #[test]
    fn tangents_follow_the_definition(
        heights in proptest::collection::vec(-0.1f32..0.1, 25),
        bend in -0.5f32..0.5,
    ) {
        let before = height_field(&heights, bend);
        let mesh = before.clone().with_tangents();
        prop_assert_eq!(mesh.vertices.len(), before.vertices.len());
        for (index, vertex) in mesh.vertices.iter().enumerate() {
            let expected = by_definition(&before, index as u32);
            prop_assert!(dot(vertex.tangent, expected) > 0.9999, "{} {:?}", index, vertex);
            prop_assert!(dot(vertex.tangent, vertex.normal).abs() < 1e-5);
        }
    }

    /// Equal corners are welded: sharing vertices or not changes no tangent's bits.
    #[test]
    fn unindexed_meshes_get_the_same_tangents(
        heights in proptest::collection::vec(-0.1f32..0.1, 25),
        bend in -0.5f32..0.5,
    ) {
        let indexed = height_field(&heights, bend);
        let mut unindexed = Mesh::default();
        for &v in indexed.triangles.iter().flatten() {
            unindexed.positions.push(indexed.positions[v as usize]);
            unindexed.vertices.push(indexed.vertices[v as usize]);
        }
        unindexed.triangles =
            (0..indexed.triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let (a, b) = (indexed.with_tangents(), unindexed.with_tangents());
        prop_assert!(a.corners().eq(b.corners()));
    }

    /// Any triangles at all, with shared, crossing and mirrored faces, get usable tangents and keep their
    /// corners.
    #[test]
    fn arbitrary_meshes_get_unit_tangents(
        points in proptest::collection::vec((0u8..4, 0u8..4, 0u8..3, 0u8..4, 0u8..4), 1..12),
        indices in proptest::collection::vec((0u32..12, 0u32..12, 0u32..12), 0..40),
    ) {
        let mut mesh = Mesh::default();
        for &(x, y, z, u, v) in &points {
            mesh.positions.push([x, y, z].map(f32::from));
            let normal = normalize(vec3(f32::from(x) - 1.5, f32::from(y) - 1.5, f32::from(z)));
            mesh.vertices.push(Vertex { normal, uv0: [f32::from(u), f32::from(v)], ..Vertex::default() });
        }
        let count = points.len() as u32;
        mesh.triangles = indices.iter().map(|&(a, b, c)| [a % count, b % count, c % count]).collect();
        let before = mesh.clone();
        let mesh = mesh.with_tangents();
        for (&v, &o) in mesh.triangles.iter().flatten().zip(before.triangles.iter().flatten()) {
            let vertex = mesh.vertices[v as usize];
            prop_assert_eq!(mesh.positions[v as usize], before.positions[o as usize]);
            prop_assert_eq!(vertex.uv0, before.vertices[o as usize].uv0);
            prop_assert!((length_squared(vertex.tangent) - 1.0).abs() < 1e-5);
            prop_assert!(vertex.tangent_sign().abs() == 1.0);
        }
    }
}

fn length_squared(v: Vec3) -> f32 {
    dot(v, v)
}
