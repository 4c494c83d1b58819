//! Stands in for the published `find_cuda_helper` 0.2, which the build scripts of `cust` and `cust_raw` call.
//!
//! The published crate stops the build where it finds no CUDA toolkit, and asks the linker for `libcuda`.
//! `lockstep-cuda` defines the driver's functions itself and opens the driver at run time, so neither is
//! needed. `[patch.crates-io]` of the root manifest puts this crate in its place. Cargo applies `[patch]` of the
//! root manifest only; see `backend-cuda/README.md` for a workspace elsewhere.

/// Does nothing: neither a toolkit nor `libcuda` is needed at build time.
pub fn include_cuda() {}
