//! Claims about loaded scenes and their exports. The library's own tests would have to compile all loaders a second time.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod coincidence;
#[cfg(feature = "direct-displacement")]
mod direct;
mod displacement;
mod export;
mod gltf;
mod mitsuba;
mod obj;
mod pbrt;
mod ply;
mod procedural;
mod toml_scene;
mod view;
