//! The wide layout: eight children a node and eight primitives a leaf, tested at once.

mod collapse;
mod lanes;
mod layout;
mod traverse;

pub use layout::Bvh8;
pub use traverse::Scratch8;
