//! The kernel dialect: one source for all GPU backends, and how to launch it.
//!
//! The code lies in `core/kernels/*.h`, the twin of this crate's path tracer, in a C99 subset that is OpenCL C 1.2 and
//! CUDA C++ at once. A backend puts its `compat.h` in front, which defines the neutral words; [`assemble()`] does that.
//! [`launch`] declares what each entry kernel takes.
//!
//! # The wavefront
//!
//! Path `sample_in_flight * pass.pixels + i` belongs to one sample of the pixel at position `pass.first_pixel + i` of the
//! film's tiles ([`crate::film::tiled`]). A driver launches [`launch::GENERATE`], then for each bounce from 0 to
//! `pass.bounces` [`launch::EXTEND`] (for the camera's rays [`launch::EXTEND_COHERENT`]), [`launch::SHADE`] and [`launch::CONNECT`], then [`launch::RESOLVE`] and
//! [`launch::TALLY`]. Kernels share out their queue by the global size, up to a length that stays on the device, so any
//! global size is right and the host never waits in between. With [`Options::group_compaction`] the global size must be a
//! multiple of the group's.
//!
//! [`Part`] lists the programs: a pass of another structure launches [`launch::MEGAKERNEL`] in place of all but the last
//! two, or stages that leave paths in their slots.
//!
//! Before the first pass the film, the counters ([`counters_len`]), the flaws (four words) and the totals
//! ([`totals_len`]) are zero.

mod assemble;
mod content;
pub mod launch;
mod listing;
mod part;
mod records;
mod resources;
mod scene;

#[cfg(test)]
pub(crate) use assemble::header_texts;
#[cfg(feature = "conformance")]
pub use assemble::{Edit, assemble_probes};
pub use assemble::{ITEMS_IN_TURN, Options, Source, assemble};
pub use content::Content;
pub use listing::Listing;
pub use part::{Build, Part};
pub use records::{
    BounceCounters, Packed, Pass, SceneConstants, TOTALS_HEADER, bounces_of_totals, counters_len,
    flaws_of_totals, totals_len,
};
pub use resources::{KernelResources, from_ptxas};
pub use scene::{SceneArray, scene_arrays, scene_constants};

#[cfg(test)]
mod tests;
