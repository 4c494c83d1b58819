//! Programs that are assembled from the shared source.

use crate::signatures::{
    BPT_KERNELS, BPT_STAGES, KERNELS, Kernel, LIGHT_KERNELS, LIGHT_STAGES, MEGAKERNEL, MERGE_KERNELS,
    MERGE_STAGES, RECORD_PAIRS, RECORD_PATHS, RESOLVE, STAGES, TALLY, VCM_KERNELS, VCM_STAGES,
};
use lockstep_core::{Integrator, KernelConfig, Order, Scheduling, Structure};

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
    /// Renders of an integrator of light and camera sub-paths, in any configuration; in the default one also
    /// ray queries.
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
}

impl ProgramKind {
    /// The program that passes of an integrator launch in a configuration.
    pub fn of(config: &KernelConfig, integrator: Integrator) -> Self {
        let KernelConfig { structure, threads, order, .. } = *config;
        match (ProgramOptions { structure, threads, order }) {
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
            Self::Pairs(integrator, build) if build == ProgramOptions::default() => match integrator {
                Integrator::Light => &LIGHT_KERNELS,
                Integrator::Bpm | Integrator::Ppm => &MERGE_KERNELS,
                Integrator::Vcm => &VCM_KERNELS,
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
            Self::Pairs(integrator, _) => match integrator {
                Integrator::Light => &LIGHT_STAGES,
                Integrator::Bpm | Integrator::Ppm => &MERGE_STAGES,
                Integrator::Vcm => &VCM_STAGES,
                _ => &BPT_STAGES,
            },
        }
    }

    /// The options that the program is built with.
    pub(crate) fn build(self) -> ProgramOptions {
        match self {
            Self::Configured(build) | Self::Pairs(_, build) => build,
            Self::Render | Self::RecordPaths | Self::RecordPairs => ProgramOptions::default(),
        }
    }
}
