//! Programs that are assembled from the shared source.

use crate::signatures::{KERNELS, Kernel, MEGAKERNEL, RECORD_PATHS, RESOLVE, STAGES, TALLY};
use lockstep_core::{KernelConfig, Order, Scheduling, Structure};

/// A program: its kernels and how they are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProgramKind {
    /// Renders and ray queries in the default configuration.
    #[default]
    Render,
    /// The kernel that records paths, built on first use.
    RecordPaths,
    /// Renders in another kernel configuration, built on first use.
    Configured(ProgramOptions),
}

/// The part of a kernel configuration that is compiled into a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramOptions {
    /// Kernel structure.
    pub structure: Structure,
    /// Assignment of rays to work-items.
    pub threads: Scheduling,
    /// Traversal order of pixels and rays.
    pub order: Order,
}

impl ProgramKind {
    /// The program that passes of a configuration launch.
    pub fn of(config: &KernelConfig) -> Self {
        let KernelConfig { structure, threads, order, .. } = *config;
        match (ProgramOptions { structure, threads, order }) {
            build if build == ProgramOptions::default() => Self::Render,
            build => Self::Configured(build),
        }
    }

    /// The program's kernels.
    pub fn kernels(self) -> &'static [&'static Kernel] {
        match self {
            Self::Render => &KERNELS,
            Self::RecordPaths => &[&RECORD_PATHS],
            Self::Configured(ProgramOptions { structure: Structure::Megakernel, .. }) => {
                &[&MEGAKERNEL, &RESOLVE, &TALLY]
            }
            Self::Configured(_) => &STAGES,
        }
    }

    /// Kernels that a pass launches; others ignore the configuration.
    pub fn of_passes(self) -> &'static [&'static Kernel] {
        match self {
            Self::Render => &STAGES,
            Self::RecordPaths => &[],
            Self::Configured(_) => self.kernels(),
        }
    }

    /// The options that the program is built with.
    pub(crate) fn build(self) -> ProgramOptions {
        match self {
            Self::Configured(build) => build,
            Self::Render | Self::RecordPaths => ProgramOptions::default(),
        }
    }
}
