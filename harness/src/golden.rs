//! `lockstep golden`: images that must not change without someone saying so.
//!
//! A golden is `golden.exr` (f32 means, every bit kept) with `golden.txt` (how it was made) in a folder named
//! for its scene. What it was made with is in the EXR file's attributes, and a check renders with the same.

mod agreement;
mod bless;
mod check;
mod expectations;
mod finding;
mod junit;
mod store;
mod summary;
mod tolerance;
mod triage;
mod verdict;

pub(crate) use bless::run as bless;
pub(crate) use check::run as check;
pub(crate) use expectations::{Expectation, Expectations};
