//! Leaves: cards of four triangles, cut out by their texture's alpha.

use super::super::random::Random;
use super::architecture::{BAY, GALLERY};
use super::patch::Frame;
use lockstep_core::math::vec3::{Vec3, cross, length, normalize, vec3};
use lockstep_core::scene::{MeshData, Vertex};

/// Triangles of a leaf.
pub(super) const TRIANGLES_PER_LEAF: u64 = 4;

/// Shape of a plant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plant {
    /// A ball of leaves: centre and radius.
    Bush(Vec3, f32),
    /// A crown of several balls about a centre.
    Crown(Vec3),
    /// Strands that hang from a line: its middle, its direction times half its length, and away from the
    /// wall.
    Ivy(Vec3, Vec3, Vec3),
}

impl Plant {
    /// Share of all leaves.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Self::Bush(..) => 2,
            Self::Crown(_) => 20,
            Self::Ivy(..) => 3,
        }
    }

    /// Adds `count` leaves. The more there are, the smaller they get, so that plants keep their looks.
    pub(super) fn grow(&self, count: u64, seed: u32, materials: [u32; 2]) -> MeshData {
        let mut random = Random::new(seed);
        let typical = 60.0 * self.weight() as f32;
        let shrink = (typical / count.max(1) as f32).sqrt().clamp(0.12, 1.7);
        let mut mesh = MeshData::default();
        for _ in 0..count {
            let (at, outwards) = self.spot(&mut random);
            let size = 0.24 * shrink * random.between(0.7, 1.25);
            let tint = materials[random.below(2) as usize];
            leaf(&mut mesh, at, outwards, size, tint, &mut random);
        }
        mesh
    }

    /// A random position for a leaf, and its rough direction.
    fn spot(&self, random: &mut Random) -> (Vec3, Vec3) {
        match *self {
            Self::Bush(center, radius) => {
                let direction = random.direction();
                let depth = random.unit();
                let at = center + direction * (radius * (1.0 - 0.6 * depth * depth));
                (at, direction + vec3(0.0, 0.4, 0.0))
            }
            Self::Crown(center) => {
                // Balls around the centre: the same for every leaf, since they follow from their number.
                let ball = random.below(11);
                let mut shape = Random::new(977 + ball);
                let offset = shape.direction() * 1.05;
                let radius = shape.between(0.55, 0.9);
                let direction = random.direction();
                let depth = random.unit();
                let middle = center + vec3(offset.x, offset.y * 0.62, offset.z);
                (middle + direction * (radius * (1.0 - 0.5 * depth * depth)), direction + vec3(0.0, 0.1, 0.0))
            }
            Self::Ivy(middle, along, away) => {
                let strand = random.below(14);
                let mut shape = Random::new(3001 + strand * 7 + (length(middle) * 16.0) as u32);
                let place = shape.between(-1.0, 1.0);
                let reach = shape.between(0.4, 2.1);
                let fall = random.unit();
                let sway = random.vector(-0.09, 0.09);
                let at = middle
                    + along * place
                    + vec3(0.0, -reach * fall, 0.0)
                    + away * (0.1 + 0.08 * random.unit())
                    + sway;
                (at, away + vec3(0.0, -0.8, 0.0) + random.direction() * 0.6)
            }
        }
    }
}

/// Two quads along the leaf, bent down at its tip.
fn leaf(mesh: &mut MeshData, root: Vec3, towards: Vec3, size: f32, material: u32, random: &mut Random) {
    let along = normalize(towards + random.direction() * 0.7);
    let side = normalize(cross(along, random.direction()));
    let normal = normalize(cross(side, along));
    let half = side * (size * 0.32);
    let base = mesh.positions.len() as u32;
    for (t, drop) in [(0.0, 0.0), (0.5, -0.06), (1.0, -0.28)] {
        let middle = root + along * (size * t) + normal * (size * drop);
        let bent = normalize(normal + along * (0.7 * t));
        for (edge, u) in [(-1.0, 0.0), (1.0, 1.0)] {
            mesh.positions.push((middle + half * edge).to_array());
            mesh.vertices.push(Vertex { normal: bent, uv0: [u, 1.0 - t], ..Vertex::default() });
        }
    }
    for row in 0..2 {
        let a = base + 2 * row;
        mesh.triangles.extend([[a, a + 1, a + 3], [a, a + 3, a + 2]]);
    }
    mesh.materials.extend([material; 4]);
}

/// Ivy on the galleries: every other bay, between the banners.
pub(super) fn ivy(frame: Frame, bays: u32, phase: u32, out: &mut Vec<Plant>) {
    let half = bays as f32 * BAY * 0.5;
    for i in ((phase + 1) % 2..bays).step_by(2) {
        let middle = frame.point(vec3((i as f32 + 0.5) * BAY - half, GALLERY + 0.2, 0.62));
        out.push(Plant::Ivy(
            middle,
            frame.direction(vec3(1.5, 0.0, 0.0)),
            frame.direction(vec3(0.0, 0.0, 1.0)),
        ));
    }
}
