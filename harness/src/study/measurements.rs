//! The measurements of a study, each in a file of its own.

mod aa_control;
mod convergence;
mod equal_time;
mod image_pruning;
mod noise_floor;
mod path_divergence;
mod shared_render;
mod speedups;
mod spp_level;
mod thread_scaling;
pub(crate) mod tuning;

pub(crate) use aa_control::AaControl;
pub(crate) use convergence::Convergence;
pub(crate) use equal_time::EqualTime;
pub(crate) use image_pruning::ImagePruning;
pub(crate) use noise_floor::NoiseFloor;
pub(crate) use path_divergence::PathDivergence;
pub(crate) use shared_render::{Group, SharedRender};
pub(crate) use speedups::Speedups;
pub(crate) use spp_level::SppLevel;
pub(crate) use thread_scaling::{Pool, ThreadScaling};
