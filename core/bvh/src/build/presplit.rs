//! Triangle pre-splitting: large triangles get several references, each with a clip box (Ernst and Greiner
//! 2007).
//!
//! The splits are those of a spatial-split BVH over the mesh (see [`super::sbvh`]), and so depend on the mesh
//! alone. They are part of the intersection predicate (see [`lockstep_core::geometry`]): every intersector
//! has the same, and hits do not depend on the BVH.

use crate::aabb::{Aabb, Reference};
use crate::build::Top;
use crate::build::sbvh::spatial_splits;
use crate::leaf::LeafPrimitive;
use lockstep_core::geometry::{ClipBox, box_of, clip_box};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Mesh, SPHERE_BIT, SceneData};
use rayon::prelude::*;

/// One of several references to a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitReference {
    /// The triangle, by its index within the mesh.
    pub triangle: u32,
    /// The part of the triangle's box that the reference covers.
    pub clip: ClipBox,
}

/// The split references of a mesh, sorted by triangle. Triangles that stay whole have none.
#[derive(Clone, Debug, Default)]
pub struct PreSplit {
    all: Vec<SplitReference>,
    /// A bit for each triangle up to the last split one. It saves the search for the many that are whole.
    is_split: Vec<u64>,
}

/// Meshes with fewer triangles are not split.
pub(crate) const LEAST_TRIANGLES: u32 = 64;

/// The references that a mesh's BVH is built over.
pub(crate) struct MeshReferences {
    /// Primitives and split references; `index` is the number that [`Self::record`] takes.
    pub(crate) references: Vec<Reference>,
    /// The splits already decided at the top of the tree.
    pub(crate) top: Top,
    split: PreSplit,
}

impl PreSplit {
    /// Takes references sorted by triangle.
    fn new(all: Vec<SplitReference>) -> Self {
        let words = all.last().map_or(0, |last| last.triangle as usize / 64 + 1);
        let mut is_split = vec![0; words];
        for reference in &all {
            is_split[reference.triangle as usize / 64] |= 1 << (reference.triangle % 64);
        }
        Self { all, is_split }
    }

    /// Splits the triangles of a mesh.
    pub fn of(scene: &SceneData, mesh: &Mesh) -> Self {
        let Some((triangles, mut references, _)) = split_mesh(scene, mesh) else { return Self::default() };
        number(&mut references, &triangles, 0)
    }

    /// The split references of a triangle; empty where it is whole.
    pub fn of_triangle(&self, triangle: u32) -> &[SplitReference] {
        let word = self.is_split.get(triangle as usize / 64);
        let is_split = word.is_some_and(|bits| bits >> (triangle % 64) & 1 != 0);
        if !is_split {
            return &[];
        }
        let first = self.all.partition_point(|reference| reference.triangle < triangle);
        let count = self.all[first..].partition_point(|reference| reference.triangle == triangle);
        &self.all[first..first + count]
    }

    /// The padded boxes of a triangle's split references with their clip boxes, the largest first.
    pub fn boxes(&self, whole: &LeafPrimitive) -> Vec<([Vec3; 2], ClipBox)> {
        let boxed =
            |reference: &SplitReference| (whole.clipped(reference.clip).bounds().into(), reference.clip);
        let mut boxes: Vec<([Vec3; 2], ClipBox)> =
            self.of_triangle(whole.primitive).iter().map(boxed).collect();
        let half_area = |(corners, _): &([Vec3; 2], ClipBox)| Aabb::from(*corners).half_area();
        boxes.sort_by(|a, b| half_area(b).total_cmp(&half_area(a)));
        boxes
    }
}

impl MeshReferences {
    /// The primitives of a mesh, split triangles replaced by their references.
    pub(crate) fn of(scene: &SceneData, mesh: &Mesh) -> Self {
        let Some((triangles, mut references, top)) = split_mesh(scene, mesh) else {
            return Self::unsplit(scene, mesh);
        };
        let split = number(&mut references, &triangles, mesh.triangle_count + mesh.sphere_count);
        Self { references, top, split }.boxed(scene, mesh)
    }

    /// The primitives of a mesh, all whole, and the split references of its triangles.
    ///
    /// A split triangle goes where the first of its references went at the top of the tree.
    pub(crate) fn whole(scene: &SceneData, mesh: &Mesh) -> (Self, PreSplit) {
        let Some((triangles, mut references, top)) = split_mesh(scene, mesh) else {
            return (Self::unsplit(scene, mesh), PreSplit::default());
        };
        // Keep the first reference of each triangle, in the order of the tree
        let mut is_new = vec![true; triangles.len()];
        let is_first: Vec<bool> =
            references.iter().map(|r| std::mem::take(&mut is_new[r.index as usize])).collect();
        let (_, top) = top.retain(&mut is_first.iter().copied(), is_first.len());
        let first = |(reference, &is_first): (&Reference, &bool)| is_first.then_some(*reference);
        let kept: Vec<Reference> = references.iter().zip(&is_first).filter_map(first).collect();
        let split = number(&mut references, &triangles, mesh.triangle_count + mesh.sphere_count);
        drop((references, triangles));
        (Self { references: kept, top, split: PreSplit::default() }.boxed(scene, mesh), split)
    }

    /// The primitives of a mesh that is not split.
    fn unsplit(scene: &SceneData, mesh: &Mesh) -> Self {
        let whole = |index| Reference { bounds: Aabb::EMPTY, index };
        let references = (0..mesh.triangle_count).map(whole).collect();
        Self { references, top: Top::Open, split: PreSplit::default() }.boxed(scene, mesh)
    }

    /// Adds spheres, and gives all references their padded boxes.
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

    /// The leaf record of a reference by its number: triangles, then spheres, then split references.
    #[inline]
    pub(crate) fn record(&self, scene: &SceneData, mesh: &Mesh, number: u32) -> LeafPrimitive {
        let triangles = mesh.triangle_count;
        if number < triangles {
            return LeafPrimitive::of(scene, mesh, number);
        }
        match self.split.all.get(number.wrapping_sub(triangles + mesh.sphere_count) as usize) {
            Some(reference) => LeafPrimitive::of(scene, mesh, reference.triangle).clipped(reference.clip),
            None => LeafPrimitive::of(scene, mesh, (number - triangles) | SPHERE_BIT),
        }
    }

    /// The numbers of all references.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.references.iter().map(|r| r.index).collect()
    }

    /// The leaf records of references by their numbers.
    pub(crate) fn records(&self, scene: &SceneData, mesh: &Mesh, numbers: &[u32]) -> Vec<LeafPrimitive> {
        numbers.par_iter().map(|&number| self.record(scene, mesh, number)).collect()
    }
}

/// The triangles of a mesh, its references after spatial splits, and the splits at the top of the tree.
///
/// `None` where all triangles stay whole.
fn split_mesh(scene: &SceneData, mesh: &Mesh) -> Option<(Vec<[Vec3; 3]>, Vec<Reference>, Top)> {
    if mesh.triangle_count < LEAST_TRIANGLES {
        return None;
    }
    let triangles: Vec<[Vec3; 3]> =
        (0..mesh.triangle_count).into_par_iter().map(|i| corners(scene, mesh, i)).collect();
    let tight = |(i, &corners): (usize, &[Vec3; 3])| {
        let (lo, hi) = box_of(corners);
        Reference { bounds: Aabb { lo, hi }, index: i as u32 }
    };
    let (references, top) = spatial_splits(&triangles, triangles.par_iter().enumerate().map(tight).collect());
    Some((triangles, references, top))
}

fn corners(scene: &SceneData, mesh: &Mesh, triangle: u32) -> [Vec3; 3] {
    let LeafPrimitive { p0, p1, p2, .. } = LeafPrimitive::of(scene, mesh, triangle);
    [p0, p1, p2]
}

/// Numbers the references of split triangles from `first` on, and returns them sorted by triangle.
fn number(references: &mut [Reference], triangles: &[[Vec3; 3]], first: u32) -> PreSplit {
    // Count the references of each triangle
    let mut counts = vec![0u32; triangles.len()];
    for reference in &*references {
        counts[reference.index as usize] += 1;
    }
    // Prefix sum over split triangles; whole ones get no range
    let mut next = counts;
    let mut total = 0;
    for count in &mut next {
        let own = if *count > 1 { *count } else { 0 };
        *count = if own > 0 { total } else { u32::MAX };
        total += own;
    }
    // Scatter references to the ranges of their triangles
    let mut all = vec![SplitReference { triangle: 0, clip: ClipBox::NONE }; total as usize];
    for reference in references {
        let triangle = reference.index;
        let slot = &mut next[triangle as usize];
        if *slot != u32::MAX {
            let clip = enclosing_clip_box(triangles[triangle as usize], &reference.bounds);
            all[*slot as usize] = SplitReference { triangle, clip };
            reference.index = first + *slot;
            *slot += 1;
        }
    }
    PreSplit::new(all)
}

/// Steps of a clip box along an axis.
const STEPS: f32 = 1024.0;

/// The smallest clip box of a triangle's box that encloses `bounds`.
fn enclosing_clip_box(triangle: [Vec3; 3], bounds: &Aabb) -> ClipBox {
    let whole = box_of(triangle);
    let (lowest, highest) = (whole.0.to_array(), whole.1.to_array());
    let (lo, hi) = (bounds.lo.to_array(), bounds.hi.to_array());
    let steps = |cut_off: f32, axis: usize| {
        let extent = highest[axis] - lowest[axis];
        if extent > 0.0 { (cut_off / extent * STEPS).min(STEPS - 1.0) as u32 } else { 0 }
    };
    let mut below = [0, 1, 2].map(|axis| steps(lo[axis] - lowest[axis], axis));
    let mut above = [0, 1, 2].map(|axis| steps(highest[axis] - hi[axis], axis));
    loop {
        let clip = ClipBox::new(below, above);
        let (clip_lo, clip_hi) = clip_box(whole, clip);
        let (clip_lo, clip_hi) = (clip_lo.to_array(), clip_hi.to_array());
        let mut encloses = true;
        for axis in 0..3 {
            // Rounding may have moved a plane into the bounds.
            if below[axis] > 0 && clip_lo[axis] > lo[axis] {
                (below[axis], encloses) = (below[axis] - 1, false);
            }
            if above[axis] > 0 && clip_hi[axis] < hi[axis] {
                (above[axis], encloses) = (above[axis] - 1, false);
            }
        }
        if encloses {
            return clip;
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
    fn split_references_cover_their_triangle() {
        for scale in [1.0, 1e-12, 1e14] {
            let scene = scene(2_000, scale);
            let mesh = &scene.meshes[0];
            let split = PreSplit::of(&scene, mesh);
            let mut presplit = 0;
            for i in 0..mesh.triangle_count {
                let of_it = split.of_triangle(i);
                assert_ne!(of_it.len(), 1, "a triangle with one reference is whole");
                presplit += u32::from(!of_it.is_empty());
                let whole = LeafPrimitive::of(&scene, mesh, i);
                let boxes: Vec<_> =
                    of_it.iter().map(|reference| whole.clipped(reference.clip).bounds()).collect();
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
            assert!(presplit > 50, "{presplit} triangles split at scale {scale}");
        }
    }

    #[test]
    fn split_references_have_smaller_boxes_and_are_few() {
        let scene = scene(2_000, 1.0);
        let mesh = &scene.meshes[0];
        let references = MeshReferences::of(&scene, mesh);
        let area = |records: &[LeafPrimitive]| -> f64 {
            let of_one = |record: &LeafPrimitive| {
                let (lo, hi) = record.bounds();
                f64::from(Aabb { lo, hi }.half_area())
            };
            records.iter().map(of_one).sum()
        };
        let whole: Vec<_> = (0..mesh.triangle_count).map(|i| LeafPrimitive::of(&scene, mesh, i)).collect();
        let records = references.records(&scene, mesh, &references.numbers());
        assert!(records.len() > 2_100 && records.len() <= 3_000, "{} references", records.len());
        assert!(area(&records) < 0.9 * area(&whole), "{} of {}", area(&records), area(&whole));
    }

    #[test]
    fn splits_do_not_depend_on_the_number_of_threads() {
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
