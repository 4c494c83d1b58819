//! Images and numbers about them; nothing here knows of records.
//!
//! - [`image_io`]: the crate `lockstep-images`: linear images from and to files, and files that are whole or absent.
//! - [`metrics`]: error metrics between two images.
//! - [`maps`]: false-colour pictures of differences.
//! - [`efficiency`]: which of two estimators wins where.
//! - [`error_interval`]: how far an image tells the error of its estimator.
//! - [`statistics`]: tests that tell bias from noise.
//! - [`mod@format`]: numbers as people read them.
//! - [`float`]: numbers that survive JSON.

pub mod efficiency;
pub mod error_interval;
pub mod float;
pub mod format;
pub mod maps;
pub mod metrics;
pub mod statistics;
mod tiles;

pub use lockstep_images as image_io;
