//! Single paths, recorded vertex by vertex.
//!
//! Recording a path runs the functions that renders run, which report to a [`Recorder`]: the CPU's stages to
//! the empty one, which costs nothing, recordings to a [`VertexRecord`]. [`compare`] finds the first field in
//! which two paths differ, [`divergence`] classifies the divergence of two targets over many paths.

pub mod compare;
pub mod divergence;
mod pair_record;
mod pair_step;
mod record;
mod vertex;

pub use pair_record::PairRecord;
pub use pair_step::{PairStep, aligned, first_pair_difference};
pub use record::{Recorder, VertexRecord};
pub use vertex::{
    LightVertex, PathRequest, PathVertex, ScatterVertex, ShadingVertex, ShadowVertex, SurfaceVertex,
};

#[cfg(test)]
mod tests;
