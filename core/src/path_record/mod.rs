//! Single paths, recorded vertex by vertex.
//!
//! A trace runs the functions that renders run, and these tell a [`Recorder`] what they compute: the CPU's stages the
//! empty one, which costs nothing, a trace a [`VertexRecord`]. [`compare`] finds where two paths part, [`divergence`] what
//! two targets part at over a whole image.

pub mod compare;
pub mod divergence;
mod record;
mod vertex;

pub use record::{Recorder, VertexRecord};
pub use vertex::{
    LightVertex, PathRequest, PathVertex, ScatterVertex, ShadingVertex, ShadowVertex, SurfaceVertex,
};

#[cfg(test)]
mod tests;
