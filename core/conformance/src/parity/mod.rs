//! Parity by function: the device code against its Rust counterparts.
//!
//! `list.rs` is the one list of compared functions. Each entry has a kernel in `kernels/tests/probe.h`, which
//! reads input words and writes result words, and a closure that computes the same with the Rust functions.
//! [`run()`] gives both the same inputs, edge cases included, and compares bits; where both results are NaN,
//! any NaN will do.
//!
//! A backend implements [`lockstep_gpu::probe::ProbeDevice`] with the kernels of
//! [`lockstep_gpu::assemble_probes`] and gives it to [`crate::conformance_suite!`] as `probes`.
//!
//! Tests of this module scan both sources: a function on one side only fails them.

mod constants;
mod domain;
mod fixtures;
mod group;
mod layout;
mod list;
mod mismatch;
mod run;
mod words;

pub use mismatch::Mismatch;
pub use run::run;

use crate::{Checked, During, Outcome, Subject};

/// Every function, record and constant of the kernels equals that of the reference.
pub(crate) fn every_function_and_record_agrees(subject: &Subject<'_>) -> Checked<Outcome> {
    let mut device = subject.probes()?;
    let inputs = subject.parity_inputs();
    let mismatches = run(device.as_mut(), inputs).during(|| "running the probes".into())?;
    let words: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    assert!(words.is_empty(), "functions that differ:\n{}", words.join("\n"));
    Ok(Outcome::Passed(format!("{} functions agree on {inputs} inputs each", list::PROBES.len())))
}

#[cfg(test)]
mod names;
#[cfg(test)]
mod tests;
