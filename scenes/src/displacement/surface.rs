//! The base surface of a mesh: positions where vertices meet, vertices, and triangles that are cut in halves.
//!
//! A triangle is cut across its longest side, and with it every triangle of that side, so that no vertex ever lies on
//! the side of another triangle. Where the side is not the longest of one of them, that one is cut first (Rivara, *New
//! Longest-Edge Algorithms for the Refinement and/or Improvement of Unstructured Triangulations*, 1997). No angle falls
//! below half of the smallest of the file.

use super::patch::Point;
use super::vector::{V3, add, corner_normal, cross, dot, length, middle, sub, times, unit, wide};
use crate::tangents::{self, VertexArrays};
use crate::warning::Warnings;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{MeshData, Vertex};
use std::collections::HashMap;

/// The field of triangles that are not displaced.
pub(super) const STILL: u32 = u32::MAX;

/// Cosine of the angle between the planes of two flat triangles up to which their shared side is a crease: that of 30
/// degrees.
const CREASE: f64 = 0.866;

/// A position of the base surface, at which vertices with different attributes may meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weld {
    pub(super) position: V3,
    /// Direction of displacement, shared by all vertices here; no unit vector within a triangle of the file.
    pub(super) normal: V3,
}

/// A vertex of the base surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) weld: u32,
    /// Vertices of one group share their shading normal.
    pub(super) group: u32,
    pub(super) uv: [f64; 2],
    /// Attributes for shading.
    pub(super) attributes: Vertex,
}

/// A triangle of the base surface. Side `k` goes from node `k` to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub(super) nodes: [u32; 3],
    pub(super) material: u32,
    /// Index of the field that displaces it, or [`STILL`].
    pub(super) field: u32,
    /// Number of cuts.
    pub(super) depth: u32,
}

/// A mesh as base of displacement.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    pub(super) welds: Vec<Weld>,
    pub(super) nodes: Vec<Node>,
    /// Tangent and bitangent of each node; none where no field needs them.
    pub(super) frames: Vec<[V3; 2]>,
    pub(super) faces: Vec<Face>,
    /// The next side, as three times its triangle plus its number, of the sides between the same two positions: a ring.
    ring: Vec<u32>,
    groups: u32,
    /// Number of positions without a direction of displacement, since the normals there cancel out.
    pub(super) cancelled: usize,
}

impl Surface {
    /// The base surface of a mesh whose triangles are displaced by the fields of these numbers. `with_frames` asks for
    /// tangents.
    pub(super) fn new(mesh: &MeshData, fields: &[u32], with_frames: bool, warnings: &mut Warnings) -> Self {
        let mut out = Self::default();
        let weld_of = out.weld(mesh);
        let kept: Vec<usize> = (0..mesh.triangles.len())
            .filter(|&t| {
                // Triangles that are lines or points show nothing and cannot be cut.
                let [a, b, c] = mesh.triangles[t].map(|v| weld_of[v as usize]);
                a != b && b != c && c != a
            })
            .collect();
        let corners: Vec<[u32; 3]> =
            kept.iter().map(|&t| mesh.triangles[t].map(|v| weld_of[v as usize])).collect();
        let field = |f: usize| fields[kept[f]];
        let vertex = |f: usize, k: usize| -> Vertex {
            mesh.vertices.get(mesh.triangles[kept[f]][k] as usize).copied().unwrap_or_default()
        };
        out.ring = rings(&corners);
        out.set_directions(&corners, &field, &vertex);
        let groups = out.smoothing_groups(&corners, &field, &vertex);
        let frames = if with_frames { out.corner_frames(&corners, &vertex, warnings) } else { Vec::new() };
        let mut known = HashMap::new();
        for (f, &t) in kept.iter().enumerate() {
            let nodes = std::array::from_fn(|k| {
                let index = mesh.triangles[t][k];
                let group = groups[3 * f + k];
                let frame = frames.get(3 * f + k).copied().unwrap_or_default();
                let key = (index, group, frame.map(|v| v.map(f64::to_bits)));
                *known.entry(key).or_insert_with(|| {
                    let attributes = vertex(f, k);
                    let uv = attributes.uv0.map(f64::from);
                    out.nodes.push(Node { weld: corners[f][k], group, uv, attributes });
                    if with_frames {
                        out.frames.push(frame);
                    }
                    (out.nodes.len() - 1) as u32
                })
            });
            let material = mesh.materials.get(if mesh.materials.len() == 1 { 0 } else { t });
            let material = material.copied().unwrap_or_default();
            out.faces.push(Face { nodes, material, field: field(f), depth: 0 });
        }
        out.groups = groups.iter().max().map_or(0, |most| most + 1);
        out
    }

    /// The position of each vertex: equal ones are one.
    fn weld(&mut self, mesh: &MeshData) -> Vec<u32> {
        let mut known = HashMap::new();
        let of = |&position: &[f32; 3]| {
            // Adding zero makes -0 equal to 0.
            *known.entry(position.map(|v| (v + 0.0).to_bits())).or_insert_with(|| {
                self.welds.push(Weld { position: wide(position), normal: [0.0; 3] });
                (self.welds.len() - 1) as u32
            })
        };
        mesh.positions.iter().map(of).collect()
    }

    /// Directions of displacement: the vertices' normal where all of a position agree, else the mean of their normals,
    /// weighted by corners; those of the faces where vertices have none.
    fn set_directions(
        &mut self,
        corners: &[[u32; 3]],
        field: &impl Fn(usize) -> u32,
        vertex: &impl Fn(usize, usize) -> Vertex,
    ) {
        let mut sums = vec![([0.0; 3], 0.0); self.welds.len()];
        let mut shared: Vec<Option<Vec3>> = vec![None; self.welds.len()];
        let mut differ = vec![false; self.welds.len()];
        for (f, welds) in corners.iter().enumerate().filter(|(f, _)| field(*f) != STILL) {
            let positions = welds.map(|w| self.welds[w as usize].position);
            for k in 0..3 {
                let weld = welds[k] as usize;
                let own = corner_normal(positions[k], positions[(k + 1) % 3], positions[(k + 2) % 3]);
                let normal = vertex(f, k).normal;
                let weight = length(own);
                let along =
                    if normal == Vec3::ZERO { own } else { times(unit(wide(normal.to_array())), weight) };
                sums[weld] = (add(sums[weld].0, along), sums[weld].1 + weight);
                differ[weld] |= normal == Vec3::ZERO || shared[weld].is_some_and(|other| other != normal);
                shared[weld] = Some(normal);
            }
        }
        for (w, weld) in self.welds.iter_mut().enumerate() {
            let (sum, weight) = sums[w];
            weld.normal = match shared[w] {
                Some(normal) if !differ[w] => unit(wide(normal.to_array())),
                Some(_) if length(sum) > 1e-6 * weight => unit(sum),
                Some(_) => {
                    self.cancelled += 1;
                    [0.0; 3]
                }
                None => [0.0; 3],
            };
        }
    }

    /// The smoothing group of each corner. Corners at one position are in one group where a smooth side lies between
    /// their triangles: one at which both vertices have the same normals, or, where they have none, one between planes
    /// of nearly the same direction.
    fn smoothing_groups(
        &self,
        corners: &[[u32; 3]],
        field: &impl Fn(usize) -> u32,
        vertex: &impl Fn(usize, usize) -> Vertex,
    ) -> Vec<u32> {
        let plane = |f: usize| {
            let [a, b, c] = corners[f].map(|w| self.welds[w as usize].position);
            unit(cross(sub(b, a), sub(c, a)))
        };
        let mut parent: Vec<u32> = (0..3 * corners.len() as u32).collect();
        for side in 0..parent.len() {
            let other = self.ring[side] as usize;
            let (f, g) = (side / 3, other / 3);
            if side == other || (field(f) == STILL) != (field(g) == STILL) {
                continue;
            }
            for of_f in [side % 3, (side + 1) % 3] {
                let weld = corners[f][of_f];
                let Some(of_g) = (0..3).find(|&k| corners[g][k] == weld) else { continue };
                let (a, b) = (vertex(f, of_f).normal, vertex(g, of_g).normal);
                let smooth = if a == Vec3::ZERO && b == Vec3::ZERO {
                    dot(plane(f), plane(g)) > CREASE
                } else {
                    a == b
                };
                if smooth {
                    let roots = [3 * f + of_f, 3 * g + of_g].map(|corner| root(&mut parent, corner as u32));
                    parent[roots[0].max(roots[1]) as usize] = roots[0].min(roots[1]);
                }
            }
        }
        (0..parent.len() as u32).map(|corner| root(&mut parent, corner)).collect()
    }

    /// MikkTSpace tangents and bitangents of all corners, by the directions of displacement and the first set of
    /// texture coordinates.
    fn corner_frames(
        &self,
        corners: &[[u32; 3]],
        vertex: &impl Fn(usize, usize) -> Vertex,
        warnings: &mut Warnings,
    ) -> Vec<[V3; 2]> {
        let (mut positions, mut vertices, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for (f, welds) in corners.iter().enumerate() {
            let first = positions.len() as u32;
            triangles.push([first, first + 1, first + 2]);
            for (k, &w) in welds.iter().enumerate() {
                let weld = &self.welds[w as usize];
                positions.push(weld.position.map(|v| v as f32));
                let normal = Vec3::from(weld.normal.map(|v| v as f32));
                vertices.push(Vertex { normal, uv0: vertex(f, k).uv0, ..Vertex::PLAIN });
            }
        }
        let arrays = VertexArrays { positions: &mut positions, vertices: &mut vertices };
        tangents::generate(arrays, &mut triangles, 0, "displacement", warnings);
        let frame = |v: u32| {
            let vertex = &vertices[v as usize];
            let (normal, tangent) = (wide(vertex.normal.to_array()), wide(vertex.tangent.to_array()));
            [unit(tangent), times(unit(cross(normal, tangent)), f64::from(vertex.tangent_sign()))]
        };
        triangles.iter().flatten().map(|&v| frame(v)).collect()
    }

    /// A node as a point.
    pub(super) fn point(&self, node: u32) -> Point {
        let of = &self.nodes[node as usize];
        let weld = &self.welds[of.weld as usize];
        let [tangent, bitangent] = self.frames.get(node as usize).copied().unwrap_or_default();
        Point { position: weld.position, normal: weld.normal, uv: of.uv, tangent, bitangent }
    }

    /// The corners of a triangle.
    pub(super) fn corners(&self, face: u32) -> [Point; 3] {
        self.faces[face as usize].nodes.map(|node| self.point(node))
    }

    /// Cuts a triangle, and before it all that must be cut first. Returns the triangles that were changed.
    pub(super) fn cut(&mut self, face: u32, changed: &mut Vec<u32>) {
        let mut path = vec![(face, self.faces[face as usize].depth)];
        while let Some(&(face, depth)) = path.last() {
            if self.faces[face as usize].depth != depth {
                path.pop();
                continue;
            }
            let side = 3 * face + self.longest_side(face);
            let mut other = self.ring[side as usize];
            while other != side && 3 * (other / 3) + self.longest_side(other / 3) == other {
                other = self.ring[other as usize];
            }
            if other == side {
                self.cut_ring(side, changed);
                path.pop();
            } else {
                path.push((other / 3, self.faces[(other / 3) as usize].depth));
            }
        }
    }

    /// Number of a triangle's longest side. Sides of equal length are told apart by their positions, so that all
    /// triangles agree on which is the longest.
    fn longest_side(&self, face: u32) -> u32 {
        let welds = self.faces[face as usize].nodes.map(|node| self.nodes[node as usize].weld);
        let key = |k: usize| {
            let (a, b) = (welds[k], welds[(k + 1) % 3]);
            let (a, b) = (a.min(b), a.max(b));
            let side = sub(self.welds[a as usize].position, self.welds[b as usize].position);
            (dot(side, side), a, b)
        };
        (1..3).fold(0, |best, k| if key(k) > key(best) { k } else { best }) as u32
    }

    /// Cuts all triangles of a ring of sides in halves.
    fn cut_ring(&mut self, first: u32, changed: &mut Vec<u32>) {
        let weld_at = |s: &Self, side: u32| {
            let node = s.faces[(side / 3) as usize].nodes[(side % 3) as usize];
            s.nodes[node as usize].weld
        };
        let [start, end] = [first, 3 * (first / 3) + (first + 1) % 3].map(|corner| weld_at(self, corner));
        let (a, b) = (self.welds[start as usize], self.welds[end as usize]);
        let weld = self.welds.len() as u32;
        self.welds
            .push(Weld { position: middle(a.position, b.position), normal: middle(a.normal, b.normal) });
        let mut sides = vec![first];
        let mut next = self.ring[first as usize];
        while next != first {
            sides.push(next);
            next = self.ring[next as usize];
        }
        let mut nodes: Vec<([u32; 2], u32)> = Vec::new();
        let mut groups: Vec<([u32; 2], u32)> = Vec::new();
        let (mut of_start, mut of_end) = (Vec::new(), Vec::new());
        for side in sides {
            let (f, k) = (side / 3, (side % 3) as usize);
            let face = self.faces[f as usize];
            let [i, j, o] = [k, (k + 1) % 3, (k + 2) % 3].map(|k| face.nodes[k]);
            let m = self.node_between(i, j, weld, &mut nodes, &mut groups);
            let g = self.faces.len() as u32;
            let depth = face.depth + 1;
            self.faces[f as usize] = Face { nodes: [i, m, o], depth, ..face };
            self.faces.push(Face { nodes: [m, j, o], depth, ..face });
            self.ring.extend([3 * g, 3 * g + 1, 3 * g + 2]);
            // The two whole sides are the third of this half and the second of the other.
            let old = [(k + 1) % 3, (k + 2) % 3].map(|k| 3 * f + k as u32);
            let links = old.map(|old| (self.ring[old as usize], self.before(old)));
            for ((old, new), (after, before)) in old.into_iter().zip([3 * g + 1, 3 * f + 2]).zip(links) {
                if after == old {
                    self.ring[new as usize] = new;
                } else {
                    self.ring[new as usize] = after;
                    self.ring[before as usize] = new;
                }
            }
            self.ring[(3 * f + 1) as usize] = 3 * g + 2;
            self.ring[(3 * g + 2) as usize] = 3 * f + 1;
            let halves = [3 * f, 3 * g];
            let forward = self.nodes[i as usize].weld == start;
            of_start.push(halves[usize::from(!forward)]);
            of_end.push(halves[usize::from(forward)]);
            changed.extend([f, g]);
        }
        for half in [of_start, of_end] {
            for (n, &side) in half.iter().enumerate() {
                self.ring[side as usize] = half[(n + 1) % half.len()];
            }
        }
    }

    /// The side whose next is `side`.
    fn before(&self, side: u32) -> u32 {
        let mut at = side;
        while self.ring[at as usize] != side {
            at = self.ring[at as usize];
        }
        at
    }

    /// The node halfway between two, shared by the triangles of a side that share both.
    fn node_between(
        &mut self,
        i: u32,
        j: u32,
        weld: u32,
        nodes: &mut Vec<([u32; 2], u32)>,
        groups: &mut Vec<([u32; 2], u32)>,
    ) -> u32 {
        let pair = [i.min(j), i.max(j)];
        if let Some((_, node)) = nodes.iter().find(|(known, _)| *known == pair) {
            return *node;
        }
        let (a, b) = (self.nodes[pair[0] as usize], self.nodes[pair[1] as usize]);
        let of_groups = [a.group.min(b.group), a.group.max(b.group)];
        let group = match groups.iter().find(|(known, _)| *known == of_groups) {
            Some((_, group)) => *group,
            None => {
                groups.push((of_groups, self.groups));
                self.groups += 1;
                self.groups - 1
            }
        };
        let uv = [0.5 * (a.uv[0] + b.uv[0]), 0.5 * (a.uv[1] + b.uv[1])];
        let attributes = between(&a.attributes, &b.attributes);
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { weld, group, uv, attributes });
        if !self.frames.is_empty() {
            let (a, b) = (self.frames[pair[0] as usize], self.frames[pair[1] as usize]);
            self.frames.push([middle(a[0], b[0]), middle(a[1], b[1])]);
        }
        nodes.push((pair, node));
        node
    }

    /// Number of smoothing groups.
    pub(super) fn groups(&self) -> usize {
        self.groups as usize
    }
}

/// The attributes halfway between two vertices.
fn between(a: &Vertex, b: &Vertex) -> Vertex {
    let mean2 = |a: [f32; 2], b: [f32; 2]| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
    let (p, q) = (a.rgb(), b.rgb());
    let color = [p.x + q.x, p.y + q.y, p.z + q.z, a.alpha() + b.alpha()].map(|sum| 0.5 * sum);
    let plain = Vertex {
        normal: (a.normal + b.normal) * 0.5,
        uv0: mean2(a.uv0, b.uv0),
        uv1: mean2(a.uv1, b.uv1),
        ..*a
    };
    plain.with_color(color).with_tangent((a.tangent + b.tangent) * 0.5, a.tangent_sign())
}

fn root(parent: &mut [u32], mut corner: u32) -> u32 {
    while parent[corner as usize] != corner {
        let above = parent[parent[corner as usize] as usize];
        parent[corner as usize] = above;
        corner = above;
    }
    corner
}

/// The rings of sides between the same two positions.
fn rings(corners: &[[u32; 3]]) -> Vec<u32> {
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * corners.len());
    for (f, welds) in corners.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (welds[k], welds[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], (3 * f + k) as u32));
        }
    }
    sides.sort_unstable();
    let mut ring = vec![0; sides.len()];
    for run in sides.chunk_by(|a, b| a.0 == b.0) {
        for (n, &(_, side)) in run.iter().enumerate() {
            ring[side as usize] = run[(n + 1) % run.len()].1;
        }
    }
    ring
}
