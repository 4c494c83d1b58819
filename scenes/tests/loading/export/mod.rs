//! Exports of scenes.

mod cycles;
mod gltf;
mod luxcore;
mod mitsuba;
mod pbrt;
