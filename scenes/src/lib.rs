//! Scenes for Lockstep: procedural ones, files of glTF 2.0, Mitsuba, Wavefront OBJ, pbrt and PLY, and `scene.toml` files
//! that add a camera and light to any of them.
//!
//! [`load`] takes a built-in name, with an optional parameter after a colon, or a path. [`builtins`] lists
//! the names. A loader reports everything it ignores, replaces or guesses as a [`Warning`]; a fault that
//! would change the image is an error that names the file and the place in it.
//!
//! Procedural scenes use no functions of the standard library that differ between hosts, so their bits are
//! the same everywhere.

mod access;
mod brightest;
mod displacement;
pub mod export;
mod files;
mod finish;
mod fitted_camera;
mod gltf;
mod limits;
mod loaded;
mod mitsuba;
mod obj;
mod overrides;
mod pbrt;
mod pfm;
mod pixels;
mod ply;
mod procedural;
mod registry;
mod spectrum;
mod tangents;
mod textures;
mod toml_scene;
mod view;
mod warning;

#[cfg(feature = "direct-displacement")]
pub use displacement::direct::{Direct, Scratch};
pub use limits::Limits;
pub use loaded::{Choices, LoadOptions, LoadedScene, Notice};
pub use registry::{Builtin, builtins, load};
pub use view::{EnvironmentOverride, View};
pub use warning::Warning;

use lockstep_core::suggest;
