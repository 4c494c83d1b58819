//! `lockstep-embree-sys` under the name that `embree4-rs` asks for.
//!
//! The published `embree4-sys` needs Embree and libclang to build. `[patch.crates-io]` of the workspace puts
//! this package in its place, so that tests can run `embree4-rs`, unmodified, beside Lockstep's own wrapper.
//! Only development dependencies reach it, so packages that depend on Lockstep's crates never do.

pub use lockstep_embree_sys::*;
