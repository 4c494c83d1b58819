//! The contract and the data that all of Lockstep shares: the [`Renderer`] trait, scenes, rays and hits, and
//! the film.
//!
//! Start at [`renderer`]: it is the contract of a backend. [`null::NullRenderer`] is the smallest complete
//! one.

pub mod backend;
pub mod cache;
mod config;
mod device_info;
pub mod error;
pub mod film;
pub mod folders;
pub mod geometry;
mod kernel_source;
pub mod leftovers;
pub mod math;
pub mod memory;
mod merge_radius;
pub mod merging;
mod mode;
pub mod null;
pub mod path_record;
mod prefetch;
pub mod renderer;
mod report;
mod sampler;
pub mod scene;
pub mod serde_words;
mod settings;
pub mod splat;
pub mod suggest;
mod target_id;

pub use backend::{Backend, OpenOptions, TargetStatus, Unavailable};
pub use config::*;
pub use device_info::DeviceInfo;
pub use error::{Error, Result};
pub use film::Film;
pub use kernel_source::{KernelSource, TranslationUnit};
#[cfg(target_arch = "x86_64")]
pub use math::simd::{has_avx2, has_avx512};
pub use mode::Mode;
pub use path_record::{PairStep, PathRequest, PathVertex};
pub use prefetch::prefetch;
pub use renderer::{Query, Renderer, check_range, nothing_loaded, ray_query_key};
pub use report::*;
pub use sampler::Sampler;
pub use scene::{Scene, SceneBuilder};
pub use settings::{Integrator, LayerSampling, MAX_BOUNCES, Settings, Strategy};
pub use target_id::TargetId;
