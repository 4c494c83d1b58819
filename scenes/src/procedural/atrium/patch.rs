//! Parametric patches, tessellated to quadrilaterals.

use super::tangents;
use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::{Vec3, cross, normalize, vec3};
use lockstep_core::scene::{MeshData, Vertex};

/// A point of a surface: position in its frame, and texture coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) at: Vec3,
    pub(super) uv: [f32; 2],
}

/// A place and an orientation about the vertical.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) origin: Vec3,
    pub(super) x: Vec3,
    pub(super) z: Vec3,
}

impl Frame {
    /// The world itself.
    pub(super) const WORLD: Self =
        Self { origin: Vec3::ZERO, x: vec3(1.0, 0.0, 0.0), z: vec3(0.0, 0.0, 1.0) };

    /// Moves the origin by an offset in the frame, keeping the orientation.
    pub(super) fn moved(self, x: f32, y: f32, z: f32) -> Self {
        Self { origin: self.point(vec3(x, y, z)), ..self }
    }

    /// A point of this frame in the world.
    pub(super) fn point(&self, p: Vec3) -> Vec3 {
        self.origin + self.direction(p)
    }

    /// A direction of this frame in the world.
    pub(super) fn direction(&self, v: Vec3) -> Vec3 {
        self.x * v.x + vec3(0.0, v.y, 0.0) + self.z * v.z
    }
}

type Surface = Box<dyn Fn(f32, f32) -> Point + Send + Sync>;

/// A surface with its resolution. The front is where `d/du x d/dv` points.
pub(super) struct Patch {
    nu: u32,
    nv: u32,
    material: u32,
    /// The material has a normal map.
    tangents: bool,
    frame: Frame,
    surface: Surface,
}

/// The patches of a scene.
pub(super) struct Plan {
    /// Factor on the divisions of every patch in each direction.
    density: f32,
    pub(super) patches: Vec<Patch>,
}

impl Plan {
    pub(super) fn new(density: f32) -> Self {
        Self { density, patches: Vec::new() }
    }

    /// The number of divisions for `n` at density one.
    pub(super) fn divisions(&self, n: f32) -> u32 {
        ((n * self.density + 0.5) as u32).max(1)
    }

    /// Triangles of all patches.
    pub(super) fn triangles(&self) -> u64 {
        self.patches.iter().map(|p| 2 * u64::from(p.nu) * u64::from(p.nv)).sum()
    }

    /// Adds a surface with `divisions` at density one, at least `least` of them.
    pub(super) fn surface(
        &mut self,
        frame: Frame,
        divisions: [f32; 2],
        least: [u32; 2],
        material: Finish,
        surface: impl Fn(f32, f32) -> Point + Send + Sync + 'static,
    ) {
        self.patches.push(Patch {
            nu: self.divisions(divisions[0]).max(least[0]),
            nv: self.divisions(divisions[1]).max(least[1]),
            material: material.index,
            tangents: material.tangents,
            frame,
            surface: Box::new(surface),
        });
    }

    /// A parallelogram. Texture coordinates are lengths along its edges times the finish's scale.
    pub(super) fn quad(
        &mut self,
        frame: Frame,
        corner: Vec3,
        u: Vec3,
        v: Vec3,
        divisions: [f32; 2],
        finish: Finish,
    ) {
        let length = |e: Vec3| lockstep_core::math::vec3::length(e);
        let (lu, lv) = (length(u) * finish.scale, length(v) * finish.scale);
        self.surface(frame, divisions, [1, 1], finish, move |s, t| Point {
            at: corner + u * s + v * t,
            uv: [s * lu, (1.0 - t) * lv],
        });
    }

    /// A box from `low` to `high` without its underside, unless that is asked for.
    pub(super) fn cuboid(&mut self, frame: Frame, low: Vec3, high: Vec3, finish: Finish, underside: bool) {
        let d = high - low;
        let (x, y, z) = (vec3(d.x, 0.0, 0.0), vec3(0.0, d.y, 0.0), vec3(0.0, 0.0, d.z));
        let cuts = |a: f32, b: f32| [(a * 0.7).max(1.0), (b * 0.7).max(1.0)];
        self.quad(frame, low + z, x, y, cuts(d.x, d.y), finish);
        self.quad(frame, low + x, -x, y, cuts(d.x, d.y), finish);
        self.quad(frame, low + x + z, -z, y, cuts(d.z, d.y), finish);
        self.quad(frame, low, z, y, cuts(d.z, d.y), finish);
        self.quad(frame, low + y + z, x, -z, cuts(d.x, d.z), finish);
        if underside {
            self.quad(frame, low, x, z, cuts(d.x, d.z), finish);
        }
    }

    /// A surface of revolution about the frame's vertical: `profile` gives radius and height from bottom to
    /// top.
    pub(super) fn revolved(
        &mut self,
        frame: Frame,
        divisions: [f32; 2],
        finish: Finish,
        profile: impl Fn(f32) -> [f32; 2] + Send + Sync + 'static,
    ) {
        let [_, low] = profile(0.0);
        self.surface(frame, divisions, [6, 1], finish, move |u, v| {
            let (sin, cos) = sin_cos_turns(u);
            let [radius, height] = profile(v);
            Point {
                at: vec3(radius * cos, height, -radius * sin),
                uv: [u * finish.around, (low - height) * finish.scale],
            }
        });
    }
}

/// A material as patches use it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finish {
    /// Index in the scene.
    pub(super) index: u32,
    /// Texture repeats a metre.
    pub(super) scale: f32,
    /// Texture repeats around a surface of revolution.
    pub(super) around: f32,
    /// Whether the material has a normal map.
    pub(super) tangents: bool,
}

impl Patch {
    /// Tessellates the patch. Normals are finite differences in the patch's own frame, where numbers are
    /// small.
    pub(super) fn cut(&self) -> MeshData {
        const STEP: f32 = 1.0 / 1024.0;
        let mut mesh = MeshData { materials: vec![self.material], ..MeshData::default() };
        let count = (self.nu as usize + 1) * (self.nv as usize + 1);
        mesh.positions.reserve_exact(count);
        mesh.vertices.reserve_exact(count);
        mesh.triangles.reserve_exact(2 * self.nu as usize * self.nv as usize);
        for j in 0..=self.nv {
            let v = j as f32 / self.nv as f32;
            for i in 0..=self.nu {
                let u = i as f32 / self.nu as f32;
                let point = (self.surface)(u, v);
                let along = (self.surface)(u + STEP, v).at - (self.surface)(u - STEP, v).at;
                // Surfaces may close or end at their upper and lower edge, but go on sideways.
                let up =
                    (self.surface)(u, (v + STEP).min(1.0)).at - (self.surface)(u, (v - STEP).max(0.0)).at;
                let normal = normalize(self.frame.direction(cross(along, up)));
                mesh.positions.push(self.frame.point(point.at).to_array());
                mesh.vertices.push(Vertex { normal, uv0: point.uv, ..Vertex::default() });
            }
        }
        let row = self.nu + 1;
        for j in 0..self.nv {
            for i in 0..self.nu {
                let a = j * row + i;
                let (b, c, d) = (a + 1, a + row + 1, a + row);
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        if self.tangents {
            tangents::compute(&mesh.positions, &mut mesh.vertices, &mesh.triangles);
        }
        mesh
    }
}
