//! Function by function: the kernel dialect against this crate.
//!
//! `list.rs` is the one list of what is compared. Each entry has a kernel in `kernels/probe.h`, which reads words and
//! writes the words of a result, and a closure here that computes the same from this crate's functions. [`run`] gives
//! both the same inputs, edge cases included, and compares bits; where both results are NaN, any NaN will do.
//!
//! A backend implements [`lockstep_gpu::probe::ProbeDevice`] and is tested in three lines:
//!
//! ```ignore
//! let source = lockstep_gpu::assemble_probes("backend-x/kernels/compat.h", COMPAT, &Options::default());
//! let mut device = build(&source)?;
//! assert_eq!(parity::run(&mut device, 1 << 20)?, Vec::new());
//! ```
//!
//! Tests of this module scan both sources: a function on one side only fails them.

mod constants;
mod domain;
mod fixtures;
mod group;
mod layout;
mod list;
mod run;
mod words;

pub use run::{Verdict, run};

#[cfg(test)]
mod names;
#[cfg(test)]
mod tests;
