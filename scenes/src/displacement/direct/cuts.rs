//! The cuts of a surface as binary trees, one for each base triangle, divided into patches.

use super::base::CORNERS;
use super::patches::{Code, Patches, middle, rotated};
use crate::displacement::surface::Surface;
use lockstep_core::{Error, Result};

/// A tree: a triangle, or the number of a cut with how far its corners are rotated so that the cut side comes first.
#[derive(Clone, Copy, Debug)]
struct Tree(u32);

impl Tree {
    const TRIANGLE: Self = Self(u32::MAX);
    const ROTATION_SHIFT: u32 = 29;

    fn of_cut(number: u32, rotation: u32) -> Self {
        Self(rotation << Self::ROTATION_SHIFT | number)
    }

    /// Number and rotation of the cut at the root; none for a triangle.
    fn cut(self) -> Option<(usize, usize)> {
        let number = self.0 & ((1 << Self::ROTATION_SHIFT) - 1);
        (self.0 != u32::MAX).then_some((number as usize, (self.0 >> Self::ROTATION_SHIFT) as usize))
    }
}

/// A triangle while cuts are undone: its nodes, first those of the side that was cut, and its last cut that is undone.
#[derive(Clone, Copy, Debug)]
struct Undone {
    nodes: [u32; 3],
    cut: Option<u32>,
}

impl Undone {
    /// The nodes in the order in which they were made, where `node` was at `place`, and the tree.
    fn as_made(&self, node: u32, place: usize) -> ([u32; 3], Tree) {
        let at = self.nodes.iter().position(|&other| other == node).unwrap_or(place);
        let first = (at + 3 - place) % 3;
        let rotation = ((3 - first) % 3) as u32;
        let tree = self.cut.map_or(Tree::TRIANGLE, |number| Tree::of_cut(number, rotation));
        (rotated(self.nodes, first), tree)
    }
}

/// The trees of all base triangles.
pub(super) struct Cuts {
    roots: Vec<Tree>,
    halves: Vec<[Tree; 2]>,
    /// Number of triangles below each cut.
    triangles: Vec<u32>,
}

impl Cuts {
    /// The trees of a surface. `bases` are the nodes of its triangles before they were cut, `parents` the triangles that
    /// were cut, in order.
    ///
    /// Cuts are undone, the last one first: of the nodes of its second half, that in the middle of the cut side is the
    /// newest.
    pub(super) fn new(surface: &Surface, bases: &[[u32; 3]], parents: &[u32]) -> Self {
        let mut faces: Vec<Undone> =
            surface.faces.iter().map(|face| Undone { nodes: face.nodes, cut: None }).collect();
        let mut out = Self {
            roots: Vec::new(),
            halves: vec![[Tree::TRIANGLE; 2]; parents.len()],
            triangles: vec![0; parents.len()],
        };
        for number in (0..parents.len()).rev() {
            let (f, g) = (parents[number] as usize, bases.len() + number);
            let newest = faces[g].nodes.iter().copied().fold(0, u32::max);
            let ([i, _, o], first) = faces[f].as_made(newest, 1);
            let ([_, j, _], second) = faces[g].as_made(newest, 0);
            out.halves[number] = [first, second];
            out.triangles[number] = out.count(first) + out.count(second);
            faces[f] = Undone { nodes: [i, j, o], cut: Some(number as u32) };
        }
        out.roots = bases.iter().zip(&faces).map(|(nodes, face)| face.as_made(nodes[0], 0).1).collect();
        out
    }

    /// Number of triangles of a tree.
    fn count(&self, tree: Tree) -> u32 {
        tree.cut().map_or(1, |(number, _)| self.triangles[number])
    }

    /// Adds the trees in patches of up to `most` triangles; the first base triangle is number `first`.
    pub(super) fn add_to(&self, patches: &mut Patches, first: u32, most: u32) -> Result<()> {
        let mut open = Vec::new();
        for (base, &root) in (first..).zip(&self.roots) {
            open.push((root, CORNERS));
            while let Some((tree, corners)) = open.pop() {
                match tree.cut() {
                    Some((number, rotation)) if self.triangles[number] > most => {
                        let [i, j, o] = rotated(corners, rotation);
                        let m = middle(i, j).ok_or_else(too_deep)?;
                        let [one, two] = self.halves[number];
                        open.extend([(two, [m, j, o]), (one, [i, m, o])]);
                    }
                    _ => patches.add(base, corners, self.codes(tree)),
                }
            }
        }
        Ok(())
    }

    /// The nodes of a tree, each before its halves.
    fn codes(&self, tree: Tree) -> Vec<Code> {
        let mut codes = Vec::new();
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            codes.push(tree.cut().map_or(Code::TRIANGLE, |(_, rotation)| Code::cut(rotation)));
            if let Some((number, _)) = tree.cut() {
                let [one, two] = self.halves[number];
                open.extend([two, one]);
            }
        }
        codes
    }
}

fn too_deep() -> Error {
    Error::scene("displacement", "cuts", "a side of a base triangle is halved more than 30 times")
}
