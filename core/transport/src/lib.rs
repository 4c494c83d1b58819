//! Light transport in Rust: the reference that the kernels of `core/gpu/kernels` mirror function by function.

pub mod bsdf;
pub mod camera_importance;
pub mod direct_light;
pub mod emission;
pub mod integrators;
pub mod interaction;
pub mod interior_list;
pub mod lights;
pub mod media;
mod prefetch;
mod record_pair;
mod record_path;
pub mod simd;

pub use record_pair::record_pair;
pub use record_path::record_path;
