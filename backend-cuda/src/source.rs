//! Source text of the kernels: the shared headers in this backend's dialect.

use crate::flags::flags;
use lockstep_bvh::Layout;
use lockstep_core::{Integrator, Mode, TranslationUnit};
use lockstep_gpu::{KernelFeatures, KernelSource, Options, ProgramKind, assemble};

/// The kernel dialect's words in CUDA C++.
pub(crate) const COMPAT: &str = include_str!("../kernels/compat.h");

/// The file name of [`COMPAT`] in compile errors.
pub(crate) const COMPAT_NAME: &str = "backend-cuda/kernels/compat.h";

/// The source of a program for all scenes.
pub(crate) fn source(mode: Mode, kind: ProgramKind) -> KernelSource {
    source_for(mode, kind, KernelFeatures::all(Integrator::Path))
}

/// The source of a program for scenes with at most these features.
pub(crate) fn source_for(mode: Mode, kind: ProgramKind, features: KernelFeatures) -> KernelSource {
    assemble(COMPAT_NAME, COMPAT, &Options { features, ..options(mode) }, kind)
}

/// Options of the shared source for a mode, with all scene features.
pub(crate) fn options(mode: Mode) -> Options {
    Options {
        fast: mode == Mode::Fast,
        group_compaction: true,
        layout: Layout::Bvh2,
        features: KernelFeatures::all(Integrator::Path),
    }
}

/// The source of every build.
pub(crate) fn translation_units() -> Vec<TranslationUnit> {
    let unit = |(name, mode): (&str, Mode)| TranslationUnit {
        name: name.into(),
        extension: "cu",
        flags: flags(mode).join(" "),
        source: source(mode, ProgramKind::Render),
    };
    [("cuda-exact", Mode::Exact), ("cuda-fast", Mode::Fast)].map(unit).into()
}
