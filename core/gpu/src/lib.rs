//! The kernel dialect: one source for all GPU backends, and how to launch it.
//!
//! The code lies in `core/gpu/kernels`, the counterpart of `core/transport` and `core/bvh`, in a C99 subset
//! that is OpenCL C 1.2 and CUDA C++ at once. A backend's `compat.h` defines the dialect's words;
//! [`assemble()`] puts it in front. [`signatures`] declares the parameters of each entry kernel.
//!
//! # The wavefront
//!
//! Path `sample_in_flight * pass.pixels + i` belongs to one sample of the pixel at position `pass.first_pixel
//! + i` of the film's tiles ([`lockstep_core::film::tiled`]). An integrator declares its stages and buffers
//! ([`integrators`]), and the [`driver`] launches them: [`signatures::GENERATE`]; in each round
//! [`signatures::EXTEND`] (for camera rays [`signatures::EXTEND_COHERENT`]), [`signatures::SHADE`] and
//! [`signatures::CONNECT`]; then [`signatures::RESOLVE`] and [`signatures::TALLY`]. Kernels are grid-stride
//! loops over queues whose lengths stay on the device, so any global size is right and the host never waits
//! in between. With [`Options::group_compaction`] the global size must be a multiple of the work-group size.
//!
//! [`ProgramKind`] lists the programs: other kernel structures launch [`signatures::MEGAKERNEL`] in place of
//! all but the last two, or stages without compaction.
//!
//! Before the first pass the film, the counters ([`counters_len`]), the invalid samples (four words) and the
//! totals ([`totals_len`]) are zero.

mod assemble;
mod called_bodies;
pub mod canary;
mod contents;
pub mod driver;
mod features;
mod header;
pub mod integrators;
pub mod probe;
mod program;
mod ptxas;
mod records;
mod scene_buffers;
pub mod signatures;

pub use assemble::{
    ITEMS_IN_TURN, Options, SourcePatch, assemble, assemble_canary, assemble_probes, header_texts, patched,
};
pub use contents::{Contents, KnownBits};
pub use features::KernelFeatures;
pub use lockstep_core::{KernelResources, KernelSource, TranslationUnit};
pub use program::{ProgramKind, ProgramOptions};
pub use ptxas::from_ptxas;
pub use records::{
    BounceCounters, MERGED_PASSES, Packed, Pass, SceneConstants, TOTALS_HEADER, bounces_of_totals,
    counters_len, invalid_of_totals, totals_len,
};
pub use scene_buffers::{SceneArray, scene_arrays, scene_constants};

#[cfg(test)]
mod tests;
