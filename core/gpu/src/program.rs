//! Programs that are assembled from the shared source.

use crate::signatures::{
    BPT_KERNELS, BPT_STAGES, KERNELS, Kernel, LIGHT_KERNELS, LIGHT_STAGES, MEGAKERNEL, MERGE_KERNELS,
    MERGE_STAGES, RECORD_PAIRS, RECORD_PATHS, RESOLVE, STAGES, SUB_PATH_KERNELS, SUB_PATH_MERGE_KERNELS,
    SUB_PATH_MERGE_STAGES, SUB_PATH_STAGES, TALLY, VCM_KERNELS, VCM_STAGES,
};
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
    pub threads: Scheduling,
    /// Traversal order of pixels and rays.
    pub order: Order,
    /// The sum over photons.
    pub merges: MergeSums,
}

impl ProgramKind {
    /// The program that passes of an integrator launch in a configuration.
    pub fn of(config: &KernelConfig, integrator: Integrator) -> Self {
        let KernelConfig { structure, threads, order, merges, .. } = *config;
        match (ProgramOptions { structure, threads, order, merges }) {
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

    /// The program's kernels.
    pub fn kernels(self) -> &'static [&'static Kernel] {
        match self {
            Self::Render => &KERNELS,
            Self::RecordPaths => &[&RECORD_PATHS],
            Self::RecordPairs => &[&RECORD_PAIRS],
            Self::Configured(ProgramOptions { structure: Structure::Megakernel, .. }) => {
                &[&MEGAKERNEL, &RESOLVE, &TALLY]
            }
            Self::Configured(_) => &STAGES,
            Self::Pairs(integrator, build) if self.has_queries() => match (build.structure, integrator) {
                (Structure::Megakernel, _) if integrator.merges() => &SUB_PATH_MERGE_KERNELS,
                (Structure::Megakernel, _) => &SUB_PATH_KERNELS,
                (_, Integrator::Light) => &LIGHT_KERNELS,
                (_, Integrator::Bpm | Integrator::Ppm) => &MERGE_KERNELS,
                (_, Integrator::Vcm) => &VCM_KERNELS,
                _ => &BPT_KERNELS,
            },
            Self::Pairs(..) => self.of_passes(),
        }
    }

    /// Kernels that a pass launches; others ignore the configuration.
    pub fn of_passes(self) -> &'static [&'static Kernel] {
        match self {
            Self::Render => &STAGES,
            Self::RecordPaths | Self::RecordPairs => &[],
            Self::Configured(_) => self.kernels(),
            Self::Pairs(integrator, build) => match (build.structure, integrator) {
                (Structure::Megakernel, _) if integrator.merges() => &SUB_PATH_MERGE_STAGES,
                (Structure::Megakernel, _) => &SUB_PATH_STAGES,
                (_, Integrator::Light) => &LIGHT_STAGES,
                (_, Integrator::Bpm | Integrator::Ppm) => &MERGE_STAGES,
                (_, Integrator::Vcm) => &VCM_STAGES,
                _ => &BPT_STAGES,
            },
        }
    }

    /// Whether a program of pairs has the kernels of ray queries: one in the default order and scheduling.
    pub(crate) fn has_queries(self) -> bool {
        let build = self.build();
        let default = ProgramOptions { structure: build.structure, ..ProgramOptions::default() };
        matches!(self, Self::Pairs(..)) && build == default
    }

    /// The options that the program is built with.
    pub(crate) fn build(self) -> ProgramOptions {
        match self {
            Self::Configured(build) | Self::Pairs(_, build) => build,
            Self::Render | Self::RecordPaths | Self::RecordPairs => ProgramOptions::default(),
        }
    }
}
