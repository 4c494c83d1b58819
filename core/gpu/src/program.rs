//! Programs that are assembled from the shared source.

use crate::integrators::plan;
use crate::signatures::{Kernel, MEGAKERNEL, QUERIES, RECORD_PAIRS, RECORD_PATHS, RESOLVE, STAGES, TALLY};
use lockstep_core::{Integrator, KernelConfig, MergeSums, Order, Scheduling, Structure};

/// A program: its kernels and how they are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProgramKind {
    /// Renders and ray queries in the default configuration.
    #[default]
    Render,
    /// The kernel that records paths, built on first use.
    RecordPaths,
    /// The kernel that records pairs of sub-paths, built on first use.
    RecordPairs,
    /// Renders in another kernel configuration, built on first use.
    Configured(ProgramOptions),
    /// Renders of an integrator of light and camera sub-paths, in any configuration; in the default order and
    /// scheduling also ray queries.
    Pairs(Integrator, ProgramOptions),
}

/// The part of a kernel configuration that is compiled into a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramOptions {
    /// Kernel structure.
    pub structure: Structure,
    /// Assignment of rays to work-items.
    pub scheduling: Scheduling,
    /// Traversal order of pixels and rays.
    pub order: Order,
    /// Number type of the sum over the photons that merge with a vertex.
    pub merges: MergeSums,
}

impl ProgramKind {
    /// The program that passes of an integrator launch in a configuration.
    pub fn of(config: &KernelConfig, integrator: Integrator) -> Self {
        let KernelConfig { structure, scheduling, order, merges, .. } = *config;
        match (ProgramOptions { structure, scheduling, order, merges }) {
            build if integrator.splats() => Self::Pairs(integrator, build),
            build if build == ProgramOptions::default() => Self::Render,
            build => Self::Configured(build),
        }
    }

    /// The program that records samples of an integrator.
    pub fn recording(integrator: Integrator) -> Self {
        if integrator.splats() { Self::RecordPairs } else { Self::RecordPaths }
    }

    /// Whether the program records samples, and is not built for speed.
    pub fn records(self) -> bool {
        matches!(self, Self::RecordPaths | Self::RecordPairs)
    }

    /// The program's kernels. Those of an integrator of sub-paths are the kernels that its plan launches.
    pub fn kernels(self) -> Vec<&'static Kernel> {
        match self {
            Self::RecordPaths => vec![&RECORD_PATHS],
            Self::RecordPairs => vec![&RECORD_PAIRS],
            _ if self.has_queries() => [self.of_passes(), QUERIES.to_vec()].concat(),
            Self::Render | Self::Configured(_) | Self::Pairs(..) => self.of_passes(),
        }
    }

    /// Kernels that a pass launches; others ignore the configuration.
    pub fn of_passes(self) -> Vec<&'static Kernel> {
        match self {
            Self::Render => STAGES.to_vec(),
            Self::RecordPaths | Self::RecordPairs => Vec::new(),
            Self::Configured(ProgramOptions { structure: Structure::Megakernel, .. }) => {
                vec![&MEGAKERNEL, &RESOLVE, &TALLY]
            }
            Self::Configured(_) => STAGES.to_vec(),
            Self::Pairs(integrator, build) => plan(integrator).kernels(build.structure),
        }
    }

    /// Whether a program has the kernels of ray queries: a render's, and one of pairs in the default order and scheduling.
    pub(crate) fn has_queries(self) -> bool {
        let build = self.build();
        let default = ProgramOptions { structure: build.structure, ..ProgramOptions::default() };
        matches!(self, Self::Render | Self::Pairs(..)) && build == default
    }

    /// The options that the program is built with.
    pub(crate) fn build(self) -> ProgramOptions {
        match self {
            Self::Configured(build) | Self::Pairs(_, build) => build,
            Self::Render | Self::RecordPaths | Self::RecordPairs => ProgramOptions::default(),
        }
    }
}
