//! Patches: up to 64 triangles of a base triangle, as corners and cuts, and expanded to vertices.

use super::base::{Base, Place, VERTICES};
use lockstep_core::geometry::pad_box;
use lockstep_core::math::simd::Array8;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::math::{max, min};

/// The node of a tree of cuts in two bits: a triangle, or a cut with its rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(u8);

impl Code {
    pub(super) const TRIANGLE: Self = Self(0);

    /// A cut of the side that comes first when the corners are rotated this far, 0 to 2.
    pub(super) fn cut(rotation: usize) -> Self {
        Self(1 + rotation as u8)
    }
}

/// Corners from number `first` on.
#[inline(always)]
pub(super) fn rotated<T: Copy>(corners: [T; 3], first: usize) -> [T; 3] {
    let [a, b, c] = corners;
    match first {
        0 => [a, b, c],
        1 => [b, c, a],
        _ => [c, a, b],
    }
}

/// The place halfway; none where the units are too coarse.
pub(super) fn middle(a: Place, b: Place) -> Option<Place> {
    let sums = [a[0] + b[0], a[1] + b[1]];
    (sums[0] & 1 == 0 && sums[1] & 1 == 0).then_some(sums.map(|sum| sum >> 1))
}

/// A patch.
#[derive(Clone, Copy, Debug)]
struct Patch {
    base: u32,
    corners: [Place; 3],
    /// Index of its first code.
    codes: u32,
}

/// The patches of all base triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    patches: Vec<Patch>,
    /// Codes of all patches, four to a byte; each patch begins a byte.
    codes: Vec<u8>,
}

/// Vertices of eight triangles: first, second and third corner by axis. Unused lanes repeat the last triangle.
pub(super) type Group = [[Array8; 3]; 3];

/// A patch of up to `8 * G` triangles with its vertices.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub(super) struct Expanded<const G: usize> {
    pub(super) groups: [Group; G],
    /// Boxes of the groups: lowest, then highest corners. Those of unused groups are missed by every ray.
    pub(super) boxes: [Array8; 6],
    pub(super) used: u32,
}

impl<const G: usize> Default for Expanded<G> {
    fn default() -> Self {
        Self { groups: [[[[0.0; 8]; 3]; 3]; G], boxes: [[0.0; 8]; 6], used: 0 }
    }
}

impl<const G: usize> Expanded<G> {
    /// The box around all groups.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        let used = self.used as usize;
        let least = |plane: usize| self.boxes[plane][..used].iter().copied().fold(f32::MAX, min);
        let most = |plane: usize| self.boxes[plane][..used].iter().copied().fold(f32::MIN, max);
        [Vec3::from([0, 1, 2].map(least)), Vec3::from([3, 4, 5].map(most))]
    }
}

impl Patches {
    pub(super) fn add(&mut self, base: u32, corners: [Place; 3], codes: Vec<Code>) {
        self.patches.push(Patch { base, corners, codes: self.codes.len() as u32 });
        let byte = |four: &[Code]| four.iter().rev().fold(0, |byte, code| byte << 2 | code.0);
        self.codes.extend(codes.chunks(4).map(byte));
    }

    pub(super) fn len(&self) -> usize {
        self.patches.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        (size_of_val(&self.patches[..]) + self.codes.len()) as u64
    }

    /// Makes the vertices of a patch.
    #[inline(always)]
    pub(super) fn expand<const G: usize>(&self, patch: u32, base: &Base, out: &mut Expanded<G>) {
        let patch = &self.patches[patch as usize];
        let mut places = [[0; 2]; VERTICES];
        places[..3].copy_from_slice(&patch.corners);
        let mut triangles = [[0u8; 3]; 64];
        let (vertices, count) =
            decode(&self.codes[patch.codes as usize..], &mut places, &mut triangles[..8 * G]);
        let mut points = [[0.0; VERTICES]; 3];
        base.displace(patch.base, &places, vertices, &mut points);
        out.used = count.div_ceil(8) as u32;
        for number in 0..(out.used as usize).min(G) {
            for lane in 0..8 {
                let triangle = triangles[(8 * number + lane).min(count - 1) & 63];
                for (corner, &vertex) in triangle.iter().enumerate() {
                    let vertex = usize::from(vertex).min(VERTICES - 1);
                    for (axis, of_axis) in points.iter().enumerate() {
                        out.groups[number][corner][axis][lane] = of_axis[vertex];
                    }
                }
            }
        }
        set_boxes(out);
    }
}

/// Walks the codes of a patch from its corners. Returns the numbers of vertices and of triangles.
#[inline(always)]
fn decode(codes: &[u8], places: &mut [Place; VERTICES], triangles: &mut [[u8; 3]]) -> (usize, usize) {
    let mut open = [[0u8; 3]; 64];
    open[0] = [0, 1, 2];
    let (mut depth, mut vertices, mut count, mut at) = (1, 3, 0, 0);
    while depth > 0 {
        depth -= 1;
        let corners = open[depth];
        let code = codes[at / 4] >> (2 * (at % 4)) & 3;
        at += 1;
        if code == Code::TRIANGLE.0 {
            triangles[count] = corners;
            count += 1;
            continue;
        }
        let [i, j, o] = rotated(corners, usize::from(code) - 1);
        let (a, b) = (places[usize::from(i)], places[usize::from(j)]);
        places[vertices] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
        let m = vertices as u8;
        vertices += 1;
        open[depth] = [m, j, o];
        open[depth + 1] = [i, m, o];
        depth += 2;
    }
    (vertices, count)
}

/// Sets the boxes of all groups.
#[inline(always)]
fn set_boxes<const G: usize>(of: &mut Expanded<G>) {
    of.boxes = [[f32::MAX; 8], [f32::MAX; 8], [f32::MAX; 8], [f32::MIN; 8], [f32::MIN; 8], [f32::MIN; 8]];
    for number in 0..(of.used as usize).min(G) {
        let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
        for axis in 0..3 {
            let [a, b, c] = &of.groups[number];
            (low[axis], high[axis]) = extent(&a[axis], &b[axis], &c[axis]);
        }
        let (low, high) = pad_box(Vec3::from(low), Vec3::from(high));
        let (low, high) = (low.to_array(), high.to_array());
        for axis in 0..3 {
            of.boxes[axis][number] = low[axis];
            of.boxes[axis + 3][number] = high[axis];
        }
    }
}

/// The lowest and the highest of three times eight numbers, eight, four and two side by side.
#[inline(always)]
fn extent(a: &Array8, b: &Array8, c: &Array8) -> (f32, f32) {
    let (mut low, mut high) = ([0.0; 8], [0.0; 8]);
    for i in 0..8 {
        low[i] = min(min(a[i], b[i]), c[i]);
        high[i] = max(max(a[i], b[i]), c[i]);
    }
    for width in [4, 2, 1] {
        for i in 0..width {
            low[i] = min(low[i], low[i + width]);
            high[i] = max(high[i], high[i + width]);
        }
    }
    (low[0], high[0])
}
