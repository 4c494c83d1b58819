//! The ways in which a target can run its passes: what a sweep compares.
//!
//! Which one is best differs from device to device (Laine, Karras and Aila 2013 on wavefront and megakernel; Aila and
//! Laine 2009 on persistent threads). None changes a bit of an exact target's film.

use crate::Mode;
use std::fmt;

/// One way to run passes. The default is what [`crate::Renderer::load`] leaves: every target's own choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelConfig {
    /// The arithmetic. Films of [`Mode::Fast`] are not those of [`Mode::Exact`].
    pub mode: Mode,
    /// The kernels that a path goes through.
    pub structure: Structure,
    /// How work-items come by their rays.
    pub threads: Scheduling,
    /// Work-items of a work-group; the target's own number when `None`.
    pub group: Option<u32>,
    /// The order in which pixels and rays are gone through.
    pub order: Order,
    /// Samples of every pixel in flight at once, at most; as many as the target has room for when `None`.
    pub samples: Option<u32>,
    /// Pixels along a tile's side on targets that render tiles; the target's own number when `None`.
    pub tile: Option<u32>,
    /// How many rays are traced together on targets that can trace packets.
    pub rays: Rays,
}

/// The kernels that a path goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Structure {
    /// A kernel for each stage, over queues from which ended paths have gone.
    #[default]
    Wavefront,
    /// A kernel for each stage, without compaction: paths stay in their slots, and those that have ended are passed over.
    NoCompaction,
    /// One kernel for whole paths.
    Megakernel,
}

/// How work-items come by their rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// The target's own choice: on a GPU a few groups for each that the device runs at once, every work-item striding
    /// through the queue by the number of them all, but for rays that are not a camera's: a work-item whose ray has ended
    /// takes another from a counter while its neighbours go on; on a CPU a work-item for every few neighbouring rays.
    #[default]
    Default,
    /// A work-item for every ray, on a GPU, which waits for its neighbours; on a CPU the same as [`Scheduling::Default`].
    OneThreadPerRay,
    /// As many groups as the device runs at once, each fetching rays from a counter until none is left.
    PersistentThreads,
}

/// The order in which pixels and rays are gone through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// In small tiles, so that neighbouring work-items see neighbouring pixels.
    #[default]
    Tiles,
    /// Row by row.
    Scanline,
    /// In small tiles; the extension rays after a bounce by the octants of their directions, among those that are put into
    /// the queue together: those of a work-group, of what a work-item fetches on a CPU, or of a tile.
    Octants,
}

/// How many rays are traced together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rays {
    /// In packets where the target has any.
    #[default]
    Packets,
    /// One by one.
    Single,
}

impl KernelConfig {
    /// Every way at its default, in a mode.
    pub fn in_mode(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// The scheduling alone, of which a group's size is independent: structure and threads.
    pub fn scheduling(&self) -> Self {
        Self { structure: self.structure, threads: self.threads, ..Self::default() }
    }
}

impl fmt::Display for KernelConfig {
    /// The label: the structure, then what differs from the default, as in `wavefront/group=256`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.structure {
            Structure::Wavefront => "wavefront",
            Structure::NoCompaction => "in-place",
            Structure::Megakernel => "megakernel",
        })?;
        match self.threads {
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
            threads: Scheduling::PersistentThreads,
            group: Some(256),
            order: Order::Scanline,
            samples: Some(4),
            tile: Some(8),
            rays: Rays::Single,
        };
        let label = "megakernel/persistent/group=256/scanline/samples=4/tile=8/single-rays/fast";
        assert_eq!(all.to_string(), label);
        assert_eq!(KernelConfig::default().to_string(), "wavefront");
        assert_eq!(all.scheduling().to_string(), "megakernel/persistent");
    }
}
