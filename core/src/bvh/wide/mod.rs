//! The wide layout: eight children a node and eight primitives a leaf, tested at once.

mod build;
mod collapse;
mod few;
mod layout;
mod proposals;
mod traverse;
mod triangles;
mod turn;

pub use few::{Few, FewScratch, RAYS};
pub use layout::{Block8, Bvh8, Node8};
pub use proposals::{Judged8, Proposals8, Rays8};
pub use traverse::Scratch8;
