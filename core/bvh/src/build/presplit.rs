//! Triangles in pieces: those whose boxes would overlap many others are put into the hierarchies several times, each time
//! with the box of a part of them.
//!
//! Which triangles are in pieces depends on nothing but their mesh. So pieces are part of the hit rule (see
//! [`lockstep_core::geometry`]): whatever traces a ray has the same, and hits still do not depend on the hierarchy.

use crate::aabb::{Aabb, Reference};
use crate::build::Top;
use crate::build::sbvh::divide;
use crate::object_ray::LeafPrimitive;
use lockstep_core::geometry::{ClipBox, box_of, clip_box};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Mesh, SPHERE_BIT, SceneData};
use rayon::prelude::*;

/// A part of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitReference {
    /// The triangle, by its index within the mesh.
    pub triangle: u32,
    /// The part of its box that holds the piece.
    pub cut: ClipBox,
}

/// The pieces of a mesh's triangles that are in pieces, by triangle.
#[derive(Clone, Debug, Default)]
pub struct PreSplit {
    all: Vec<SplitReference>,
    /// A bit for each triangle up to the last that is in pieces, which few are: most need not be looked for.
    is_cut: Vec<u64>,
}

/// Triangles of meshes with fewer stay whole.
pub(crate) const LEAST_TRIANGLES: u32 = 64;

/// What a mesh's tree is built over.
pub(crate) struct Parts {
    /// Its primitives and pieces of them; `index` is the number that [`Self::record`] takes.
    pub(crate) references: Vec<Reference>,
    /// How the references are divided at the top.
    pub(crate) top: Top,
    pieces: PreSplit,
}

impl PreSplit {
    /// PreSplit in the order of their triangles.
    fn new(all: Vec<SplitReference>) -> Self {
        let words = all.last().map_or(0, |last| last.triangle as usize / 64 + 1);
        let mut is_cut = vec![0; words];
        for piece in &all {
            is_cut[piece.triangle as usize / 64] |= 1 << (piece.triangle % 64);
        }
        Self { all, is_cut }
    }

    /// The pieces of a mesh's triangles.
    pub fn of(scene: &SceneData, mesh: &Mesh) -> Self {
        divided(scene, mesh)
            .map_or_else(Self::default, |(triangles, mut parts, _)| number(&mut parts, &triangles, 0))
    }

    /// The pieces of a triangle; none where it is whole.
    pub fn of_triangle(&self, triangle: u32) -> &[SplitReference] {
        let is_cut =
            self.is_cut.get(triangle as usize / 64).is_some_and(|bits| bits >> (triangle % 64) & 1 != 0);
        if !is_cut {
            return &[];
        }
        let first = self.all.partition_point(|piece| piece.triangle < triangle);
        let count = self.all[first..].partition_point(|piece| piece.triangle == triangle);
        &self.all[first..first + count]
    }

    /// The padded boxes of a whole triangle's pieces, the largest first, and what makes them.
    pub fn boxes(&self, whole: &LeafPrimitive) -> Vec<([Vec3; 2], ClipBox)> {
        let boxed = |piece: &SplitReference| (whole.with(piece.cut).bounds().into(), piece.cut);
        let mut boxes: Vec<([Vec3; 2], ClipBox)> =
            self.of_triangle(whole.primitive).iter().map(boxed).collect();
        let half_area = |(corners, _): &([Vec3; 2], ClipBox)| Aabb::from(*corners).half_area();
        boxes.sort_by(|a, b| half_area(b).total_cmp(&half_area(a)));
        boxes
    }
}

impl Parts {
    /// The primitives of a mesh and the pieces that are in the place of some.
    pub(crate) fn of(scene: &SceneData, mesh: &Mesh) -> Self {
        let Some((triangles, mut parts, top)) = divided(scene, mesh) else {
            return Self::undivided(scene, mesh);
        };
        let pieces = number(&mut parts, &triangles, mesh.triangle_count + mesh.sphere_count);
        Self { references: parts, top, pieces }.boxed(scene, mesh)
    }

    /// The primitives of a mesh, all whole, and the pieces of its triangles. Those that are in pieces are divided with the
    /// first of them.
    pub(crate) fn whole(scene: &SceneData, mesh: &Mesh) -> (Self, PreSplit) {
        let Some((triangles, mut parts, top)) = divided(scene, mesh) else {
            return (Self::undivided(scene, mesh), PreSplit::default());
        };
        let mut is_new = vec![true; triangles.len()];
        let is_first: Vec<bool> =
            parts.iter().map(|part| std::mem::take(&mut is_new[part.index as usize])).collect();
        let (_, top) = top.of_those(&mut is_first.iter().copied(), is_first.len());
        let first = |(part, &is_first): (&Reference, &bool)| is_first.then_some(*part);
        let references: Vec<Reference> = parts.iter().zip(&is_first).filter_map(first).collect();
        let pieces = number(&mut parts, &triangles, mesh.triangle_count + mesh.sphere_count);
        drop((parts, triangles));
        (Self { references, top, pieces: PreSplit::default() }.boxed(scene, mesh), pieces)
    }

    /// The primitives of a mesh whose triangles stay whole.
    fn undivided(scene: &SceneData, mesh: &Mesh) -> Self {
        let whole = |index| Reference { bounds: Aabb::EMPTY, index };
        let references = (0..mesh.triangle_count).map(whole).collect();
        Self { references, top: Top::Open, pieces: PreSplit::default() }.boxed(scene, mesh)
    }

    /// The same with spheres, and all in their padded boxes.
    fn boxed(mut self, scene: &SceneData, mesh: &Mesh) -> Self {
        if mesh.sphere_count > 0 {
            let spheres = mesh.triangle_count..mesh.triangle_count + mesh.sphere_count;
            self.references.extend(spheres.map(|index| Reference { bounds: Aabb::EMPTY, index }));
            self.top = Top::Open;
        }
        let mut references = std::mem::take(&mut self.references);
        references.par_iter_mut().for_each(|r| *r = self.reference(scene, mesh, r.index));
        Self { references, ..self }
    }

    fn reference(&self, scene: &SceneData, mesh: &Mesh, index: u32) -> Reference {
        let (lo, hi) = self.record(scene, mesh, index).bounds();
        Reference { bounds: Aabb { lo, hi }, index }
    }

    /// The record of what a reference stands for, by its number: triangles, then spheres, then pieces.
    #[inline]
    pub(crate) fn record(&self, scene: &SceneData, mesh: &Mesh, number: u32) -> LeafPrimitive {
        let triangles = mesh.triangle_count;
        if number < triangles {
            return LeafPrimitive::of(scene, mesh, number);
        }
        match self.pieces.all.get(number.wrapping_sub(triangles + mesh.sphere_count) as usize) {
            Some(piece) => LeafPrimitive::of(scene, mesh, piece.triangle).with(piece.cut),
            None => LeafPrimitive::of(scene, mesh, (number - triangles) | SPHERE_BIT),
        }
    }

    /// The numbers of all references.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.references.iter().map(|r| r.index).collect()
    }

    /// The records of references by their numbers.
    pub(crate) fn records(&self, scene: &SceneData, mesh: &Mesh, numbers: &[u32]) -> Vec<LeafPrimitive> {
        numbers.par_iter().map(|&number| self.record(scene, mesh, number)).collect()
    }
}

/// The triangles of a mesh, their parts, and how these are divided; `None` where all stay whole.
fn divided(scene: &SceneData, mesh: &Mesh) -> Option<(Vec<[Vec3; 3]>, Vec<Reference>, Top)> {
    if mesh.triangle_count < LEAST_TRIANGLES {
        return None;
    }
    let triangles: Vec<[Vec3; 3]> =
        (0..mesh.triangle_count).into_par_iter().map(|i| corners(scene, mesh, i)).collect();
    let tight = |(i, &corners): (usize, &[Vec3; 3])| {
        let (lo, hi) = box_of(corners);
        Reference { bounds: Aabb { lo, hi }, index: i as u32 }
    };
    let (parts, top) = divide(&triangles, triangles.par_iter().enumerate().map(tight).collect());
    Some((triangles, parts, top))
}

fn corners(scene: &SceneData, mesh: &Mesh, triangle: u32) -> [Vec3; 3] {
    let LeafPrimitive { p0, p1, p2, .. } = LeafPrimitive::of(scene, mesh, triangle);
    [p0, p1, p2]
}

/// Gives the parts of triangles that have several the numbers from `first` on, and returns these pieces in order.
fn number(parts: &mut [Reference], triangles: &[[Vec3; 3]], first: u32) -> PreSplit {
    let mut counts = vec![0u32; triangles.len()];
    for part in &*parts {
        counts[part.index as usize] += 1;
    }
    let mut next = counts;
    let mut total = 0;
    for count in &mut next {
        // A triangle without pieces has no place.
        let own = if *count > 1 { *count } else { 0 };
        *count = if own > 0 { total } else { u32::MAX };
        total += own;
    }
    let mut all = vec![SplitReference { triangle: 0, cut: ClipBox::NONE }; total as usize];
    for part in parts {
        let triangle = part.index;
        let place = &mut next[triangle as usize];
        if *place != u32::MAX {
            let cut = around(triangles[triangle as usize], &part.bounds);
            all[*place as usize] = SplitReference { triangle, cut };
            part.index = first + *place;
            *place += 1;
        }
    }
    PreSplit::new(all)
}

/// Steps of a cut along an axis.
const STEPS: f32 = 1024.0;

/// The cut that takes most away from a triangle's box and leaves a part of it.
fn around(triangle: [Vec3; 3], part: &Aabb) -> ClipBox {
    let whole = box_of(triangle);
    let (lowest, highest) = (whole.0.to_array(), whole.1.to_array());
    let (lo, hi) = (part.lo.to_array(), part.hi.to_array());
    let steps = |cut_off: f32, axis: usize| {
        let extent = highest[axis] - lowest[axis];
        if extent > 0.0 { (cut_off / extent * STEPS).min(STEPS - 1.0) as u32 } else { 0 }
    };
    let mut below = [0, 1, 2].map(|axis| steps(lo[axis] - lowest[axis], axis));
    let mut above = [0, 1, 2].map(|axis| steps(highest[axis] - hi[axis], axis));
    loop {
        let cut = ClipBox::new(below, above);
        let (left_lo, left_hi) = clip_box(whole, cut);
        let (left_lo, left_hi) = (left_lo.to_array(), left_hi.to_array());
        let mut holds = true;
        for axis in 0..3 {
            // Rounding may have moved a plane into the part.
            if below[axis] > 0 && left_lo[axis] > lo[axis] {
                (below[axis], holds) = (below[axis] - 1, false);
            }
            if above[axis] > 0 && left_hi[axis] < hi[axis] {
                (above[axis], holds) = (above[axis] - 1, false);
            }
        }
        if holds {
            return cut;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::polygon::point;
    use lockstep_core::math::rng::{pcg4d, uniform};
    use lockstep_core::scene::{Material, MeshData, Scene, SceneBuilder};

    /// Triangles around a ring, most of them small, every eighth long and askew.
    fn scene(triangles: u32, scale: f32) -> Scene {
        let mut b = SceneBuilder::new("spiral");
        let material = b.material(Material::diffuse([0.5; 3]));
        let mut data = MeshData { materials: vec![material], ..MeshData::default() };
        for i in 0..triangles {
            let r = pcg4d([i, 3, 5, 7]).map(uniform);
            let (sin, cos) = lockstep_core::math::sin_cos_turns(r[0]);
            let from = [3.0 + cos, sin, r[1] * 4.0 - 2.0].map(|x| x * scale);
            let length = if i % 8 == 0 { scale } else { 0.02 * scale };
            let along = [r[2] * 4.0 - 2.0, r[3] * 4.0 - 2.0, cos].map(|x| x * length);
            data.positions.push(from);
            data.positions.push([from[0] + along[0], from[1] + along[1], from[2] + along[2]]);
            data.positions.push([from[0] + 0.1 * length, from[1] + along[0] * 0.1, from[2]]);
            data.triangles.push([3 * i, 3 * i + 1, 3 * i + 2]);
        }
        let mesh = b.mesh(data);
        b.instance(mesh, lockstep_core::scene::IDENTITY);
        b.build().unwrap()
    }

    fn is_inside(p: [f64; 3], (lo, hi): (Vec3, Vec3)) -> bool {
        let (lo, hi) = (point(lo), point(hi));
        (0..3).all(|k| lo[k] <= p[k] && p[k] <= hi[k])
    }

    #[test]
    fn every_point_of_a_triangle_in_pieces_is_in_the_box_of_one() {
        for scale in [1.0, 1e-12, 1e14] {
            let scene = scene(2_000, scale);
            let mesh = &scene.meshes[0];
            let pieces = PreSplit::of(&scene, mesh);
            let mut in_pieces = 0;
            for i in 0..mesh.triangle_count {
                let of_it = pieces.of_triangle(i);
                assert_ne!(of_it.len(), 1, "a triangle with one piece is whole");
                in_pieces += u32::from(!of_it.is_empty());
                let whole = LeafPrimitive::of(&scene, mesh, i);
                let boxes: Vec<_> = of_it.iter().map(|piece| whole.with(piece.cut).bounds()).collect();
                let [a, b, c] = [whole.p0, whole.p1, whole.p2].map(point);
                for sample in 0..if boxes.is_empty() { 0 } else { 300 } {
                    let [u, v, ..] = pcg4d([i, sample, 11, 13]).map(uniform).map(f64::from);
                    // Every third on an edge, every ninth at a corner.
                    let u = if sample % 3 == 0 { 0.0 } else { u };
                    let v = if sample % 9 == 0 { 1.0 } else { v * (1.0 - u) };
                    let p = [0, 1, 2].map(|k| a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]));
                    assert!(boxes.iter().any(|b| is_inside(p, *b)), "triangle {i}, {u}, {v}, {boxes:?}");
                }
                for (lo, hi) in boxes {
                    let around = whole.bounds();
                    assert!(is_inside(point(lo), around) && is_inside(point(hi), around));
                }
            }
            assert!(in_pieces > 50, "{in_pieces} triangles in pieces at scale {scale}");
        }
    }

    #[test]
    fn pieces_have_smaller_boxes_and_are_few() {
        let scene = scene(2_000, 1.0);
        let mesh = &scene.meshes[0];
        let parts = Parts::of(&scene, mesh);
        let area = |records: &[LeafPrimitive]| -> f64 {
            let of_one = |record: &LeafPrimitive| {
                let (lo, hi) = record.bounds();
                f64::from(Aabb { lo, hi }.half_area())
            };
            records.iter().map(of_one).sum()
        };
        let whole: Vec<_> = (0..mesh.triangle_count).map(|i| LeafPrimitive::of(&scene, mesh, i)).collect();
        let records = parts.records(&scene, mesh, &parts.numbers());
        assert!(records.len() > 2_100 && records.len() <= 3_000, "{} references", records.len());
        assert!(area(&records) < 0.9 * area(&whole), "{} of {}", area(&records), area(&whole));
    }

    #[test]
    fn pieces_do_not_depend_on_the_number_of_threads() {
        let scene = scene(40_000, 1.0);
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| PreSplit::of(&scene, &scene.meshes[0]).all)
        };
        let one = of(1);
        assert!(one.len() > 1_000);
        assert_eq!(one, of(4));
    }

    #[test]
    fn few_triangles_stay_whole() {
        let scene = scene(LEAST_TRIANGLES - 1, 1.0);
        assert!(PreSplit::of(&scene, &scene.meshes[0]).all.is_empty());
    }
}
