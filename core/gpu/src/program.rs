//! The programs that are made of the one source.

use crate::signatures::{KERNELS, Kernel, MEGAKERNEL, RESOLVE, STAGES, TALLY, TRACE};
use lockstep_core::{KernelConfig, Order, Scheduling, Structure};

/// The kernels that one program has, and how they are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProgramKind {
    /// All that renders and casts launch.
    #[default]
    Render,
    /// The kernel that records paths, built when the first is asked for.
    Trace,
    /// What a render launches in another way, built when that is asked for.
    Configured(ProgramOptions),
}

/// How the kernels of a render are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramOptions {
    /// The kernels that a path goes through.
    pub structure: Structure,
    /// How work-items come by their rays.
    pub threads: Scheduling,
    /// The order in which pixels and rays are gone through.
    pub order: Order,
}

impl ProgramKind {
    /// The program that a variant's passes launch.
    pub fn of(variant: &KernelConfig) -> Self {
        let KernelConfig { structure, threads, order, .. } = *variant;
        match (ProgramOptions { structure, threads, order }) {
            build if build == ProgramOptions::default() => Self::Render,
            build => Self::Configured(build),
        }
    }

    /// Its kernels.
    pub fn kernels(self) -> &'static [&'static Kernel] {
        match self {
            Self::Render => &KERNELS,
            Self::Trace => &[&TRACE],
            Self::Configured(ProgramOptions { structure: Structure::Megakernel, .. }) => {
                &[&MEGAKERNEL, &RESOLVE, &TALLY]
            }
            Self::Configured(_) => &STAGES,
        }
    }

    /// Those of its kernels that passes launch. The others run as by default, whatever a variant asks for.
    pub fn of_passes(self) -> &'static [&'static Kernel] {
        match self {
            Self::Render => &STAGES,
            Self::Trace => &[],
            Self::Configured(_) => self.kernels(),
        }
    }

    /// How its kernels are built.
    pub(crate) fn build(self) -> ProgramOptions {
        match self {
            Self::Configured(build) => build,
            Self::Render | Self::Trace => ProgramOptions::default(),
        }
    }
}
