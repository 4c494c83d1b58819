//! What every backend of Lockstep shares: the [`Renderer`] trait, scenes, the film, the BVH and the reference path
//! tracer.
//!
//! Start at [`renderer`]: it is the contract of a backend. [`null::NullRenderer`] is the smallest complete one.

pub mod backend;
pub mod bsdf;
pub mod bvh;
pub mod cache;
pub mod camera;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod error;
pub mod film;
pub mod folders;
pub mod intersect;
pub mod kernels;
mod lanes;
pub mod lights;
pub mod math;
mod mode;
pub mod null;
#[cfg(feature = "conformance")]
pub mod parity;
pub mod path;
pub mod renderer;
pub mod rng;
pub mod sampling;
pub mod scene;
mod target_id;
pub mod texture;
pub mod trace;
pub mod variant;
pub mod vec3;
pub mod wavefront;

pub use backend::{Absence, Backend, OpenOptions, TargetStatus};
pub use error::{Error, Result};
pub use film::Film;
#[cfg(target_arch = "x86_64")]
pub use lanes::has_avx2;
pub use mode::Mode;
pub use renderer::{DeviceInfo, LoadReport, PassReport, Renderer, Settings};
pub use scene::{Scene, SceneBuilder};
pub use target_id::TargetId;
pub use variant::Variant;
