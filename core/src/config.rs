//! Kernel configurations: the tuning parameters that `lockstep tune` compares.
//!
//! The best configuration differs from device to device (Laine, Karras and Aila 2013 on wavefront and
//! megakernel; Aila and Laine 2009 on persistent threads). None changes a bit of an exact target's film, but for
//! those that measure what exactness or another estimator costs ([`KernelConfig::keeps_film`]).

use crate::{LayerSampling, Mode};
use std::fmt;

/// A kernel configuration. The default is the active one after [`crate::Renderer::load`]: every target's own
/// choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelConfig {
    /// Arithmetic. Films of [`Mode::Fast`] are not those of [`Mode::Exact`].
    pub mode: Mode,
    /// Kernel structure.
    pub structure: Structure,
    /// Assignment of rays to work-items.
    pub scheduling: Scheduling,
    /// Work-group size; the target's own when `None`.
    pub group: Option<u32>,
    /// Traversal order of pixels and rays.
    pub order: Order,
    /// Upper limit of samples in flight per pixel; the most that the target has room for when `None`.
    pub samples: Option<u32>,
    /// Side of a tile in pixels on targets that render tiles; the target's own when `None`.
    pub tile: Option<u32>,
    /// Ray packets or single rays, on targets that can trace packets.
    pub rays: Rays,
    /// Number type of the sum over the photons that merge with a vertex, of integrators that merge.
    pub merges: MergeSums,
    /// Layer sampling on scenes with layers: [`LayerSampling::Tree`] picks one lobe where the settings take all together.
    /// Its film is that of [`LayerSampling::Tree`] in the settings.
    pub layers: LayerSampling,
}

/// Kernel structure of a render.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Structure {
    /// Wavefront: a kernel per stage, over compacted queues.
    #[default]
    Wavefront,
    /// Wavefront without compaction: paths stay in their slots, and terminated ones are skipped.
    NoCompaction,
    /// Megakernel: one kernel for whole paths.
    Megakernel,
}

/// Assignment of rays to work-items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// The target's own choice. GPU: a grid-stride loop, a few work-groups per resident group; for secondary
    /// rays, lanes whose ray has terminated fetch a new one (dynamic ray fetch). CPU: one work-item for
    /// several neighbouring rays.
    #[default]
    Default,
    /// One work-item per ray on a GPU, where each waits for its neighbours; on a CPU the same as
    /// [`Scheduling::Default`].
    OneThreadPerRay,
    /// Persistent threads: the work-groups that the device holds at once, each fetching rays from a counter until none is
    /// left.
    PersistentThreads,
}

/// Traversal order of pixels and rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Small tiles, so that neighbouring work-items have neighbouring pixels.
    #[default]
    Tiles,
    /// Row by row.
    Scanline,
    /// Small tiles, and secondary rays sorted by the octants of their directions, among those put into the
    /// queue together: by a work-group, by a CPU work-item's fetch, or in a tile.
    Octants,
}

/// Ray packets or single rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rays {
    /// Packets where the target has them.
    #[default]
    Packets,
    /// Single rays.
    Single,
}

/// Number type of the sum over the photons that merge with one vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MergeSums {
    /// A sum of integers, whatever the order of photons ([`crate::splat::MergeSum`]).
    #[default]
    Integers,
    /// A sum of floats in the order in which photons are found, which differs from device to device and from run to
    /// run. For measuring what the integers cost, and for nothing else.
    Floats,
}

impl KernelConfig {
    /// The default configuration in a mode.
    pub fn in_mode(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Whether an exact target renders, to the bit, the film of the default configuration.
    pub fn keeps_film(&self) -> bool {
        self.mode == Mode::Exact && self.merges == MergeSums::Integers && self.layers.is_default()
    }

    /// Structure and scheduling alone, without the work-group size.
    pub fn structure_and_scheduling(&self) -> Self {
        Self { structure: self.structure, scheduling: self.scheduling, ..Self::default() }
    }
}

impl fmt::Display for KernelConfig {
    /// The label: the structure, then all that differs from the default, as in `wavefront/group=256`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.structure {
            Structure::Wavefront => "wavefront",
            Structure::NoCompaction => "no-compaction",
            Structure::Megakernel => "megakernel",
        })?;
        match self.scheduling {
            Scheduling::Default => {}
            Scheduling::OneThreadPerRay => f.write_str("/per-ray")?,
            Scheduling::PersistentThreads => f.write_str("/persistent")?,
        }
        if let Some(group) = self.group {
            write!(f, "/group={group}")?;
        }
        match self.order {
            Order::Tiles => {}
            Order::Scanline => f.write_str("/scanline")?,
            Order::Octants => f.write_str("/octants")?,
        }
        if let Some(samples) = self.samples {
            write!(f, "/samples={samples}")?;
        }
        if let Some(tile) = self.tile {
            write!(f, "/tile={tile}")?;
        }
        if self.rays == Rays::Single {
            f.write_str("/single-rays")?;
        }
        if self.merges == MergeSums::Floats {
            f.write_str("/float-merges")?;
        }
        if self.layers == LayerSampling::Tree {
            f.write_str("/layer-tree")?;
        }
        if self.mode == Mode::Fast {
            f.write_str("/fast")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_the_structure_and_what_differs_from_the_default() {
        let all = KernelConfig {
            mode: Mode::Fast,
            structure: Structure::Megakernel,
            scheduling: Scheduling::PersistentThreads,
            group: Some(256),
            order: Order::Scanline,
            samples: Some(4),
            tile: Some(8),
            rays: Rays::Single,
            merges: MergeSums::Floats,
            layers: LayerSampling::Tree,
        };
        let label = "megakernel/persistent/group=256/scanline/samples=4/tile=8/single-rays/float-merges/layer-tree/fast";
        assert_eq!(all.to_string(), label);
        assert_eq!(KernelConfig::default().to_string(), "wavefront");
        assert_eq!(all.structure_and_scheduling().to_string(), "megakernel/persistent");
        let floats = KernelConfig { merges: MergeSums::Floats, ..KernelConfig::default() };
        let tree = KernelConfig { layers: LayerSampling::Tree, ..KernelConfig::default() };
        assert_eq!(
            [KernelConfig::default(), floats, tree, KernelConfig::in_mode(Mode::Fast)]
                .map(|c| c.keeps_film()),
            [true, false, false, false]
        );
    }
}
