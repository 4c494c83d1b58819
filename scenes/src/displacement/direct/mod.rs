//! Displaced surfaces that are traced without storing their triangles.
//!
//! Smits, Shirley and Stark (*Direct Ray Tracing of Displacement Mapped Triangles*, 2000) walk the micro-triangles of a
//! base triangle and make each from the map as a ray comes by; Thonat, Beaune, Sun, Carr and Boubekeur
//! (*Tessellation-Free Displacement Mapping for Ray Tracing*, 2021) bound them by heights in a tree. Here the
//! micro-triangles are those of tessellation, so that hits are equal. A patch of them is stored as its corners within the
//! base triangle and the tree of its cuts, two bits a node; a BVH has its bounding box, from its own heights. Patches
//! that rays enter are expanded, and the last ones kept. Where copies of a vertex differ, at seams of texture coordinates,
//! tessellation takes their mean, and here the surface tears.

mod base;
mod cuts;
mod nodes;
mod patches;
mod traverse;

pub use traverse::Scratch;

use super::{Displacement, jobs};
use crate::limits::Limits;
use crate::loaded::LoadOptions;
use crate::toml_scene::load_file_with;
use crate::warning::Warnings;
use base::Base;
use cuts::Cuts;
use lockstep_core::Result;
use lockstep_core::scene::{Camera, SceneBuilder};
use nodes::Node;
use patches::{Expanded, Patches};
use std::path::Path;

/// The displaced surfaces of a scene, in patches of up to `8 * G` triangles; `G` is 1 to 8.
#[derive(Clone, Debug)]
pub struct Direct<const G: usize> {
    base: Base,
    patches: Patches,
    nodes: Vec<Node>,
    root: u32,
    triangles: usize,
}

impl<const G: usize> Direct<G> {
    /// Loads the displaced surfaces of a `scene.toml`, and its camera.
    ///
    /// # Errors
    /// Those of [`crate::load`]; a scene in which not every triangle is displaced along its normal, or with instances
    /// that are moved, is refused.
    pub fn load(path: &Path, options: &LoadOptions) -> Result<(Self, Camera)> {
        let mut made = None;
        let loaded = load_file_with(path, options, &mut |list, builder, warnings| {
            made = Some(Self::new(list, builder, &options.limits, warnings)?);
            Ok(())
        })?;
        let direct = made.ok_or_else(|| {
            lockstep_core::Error::scene(path.to_string_lossy(), "displacement", "nothing is displaced")
        })?;
        Ok((direct, loaded.scene.camera))
    }

    /// The displaced meshes of a scene that is being built.
    fn new(
        list: &[Displacement],
        builder: &SceneBuilder,
        limits: &Limits,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        base::check(list, builder, warnings)?;
        let mut base = Base::new(list);
        let mut patches = Patches::default();
        let mut made = vec![0; list.len()];
        let mut triangles = 0;
        for mut job in jobs(list, builder, warnings)? {
            let first = base.triangles();
            base.add(&job.surface);
            let whole: Vec<[u32; 3]> = job.surface.faces.iter().map(|face| face.nodes).collect();
            let mut parents = Vec::new();
            job.refine(list, limits, &mut made, warnings, |face| parents.push(face))?;
            triangles += job.surface.faces.len();
            let cuts = Cuts::new(&job.surface, &whole, &parents);
            drop(job);
            cuts.add_to(&mut patches, first, 8 * G as u32)?;
        }
        let mut expanded = Expanded::<G>::default();
        let boxes: Vec<_> = (0..patches.len() as u32)
            .map(|patch| {
                patches.expand(patch, &base, &mut expanded);
                expanded.bounds()
            })
            .collect();
        let (nodes, root) = nodes::build(&boxes);
        Ok(Self { base, patches, nodes, root, triangles })
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.triangles
    }

    /// Number of patches.
    pub fn patches(&self) -> usize {
        self.patches.len()
    }

    /// Bytes of everything that is kept: base triangles, maps, patches and the BVH over them.
    pub fn bytes(&self) -> u64 {
        self.base.bytes() + self.patches.bytes() + size_of_val(&self.nodes[..]) as u64
    }
}
