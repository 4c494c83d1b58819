//! Bounding volume hierarchies of the built-in intersector: how they are built, laid out and traversed.
//!
//! Which of them a device uses, and how, never shows in an image: see [`crate::intersect`].

mod binning;
mod bounds;
mod build;
mod bvh2;
mod cache;
mod fold;
mod hierarchy;
mod nodes;
mod optimise;
mod order;
mod pieces;
mod polygon;
mod probe;
mod quality;
mod sound;
mod spatial;
mod traverse;
mod wide;

pub use build::{BuildSettings, Split};
pub use bvh2::{Bvh2, EMPTY, LEAF_BIT, LEAF_COUNT_SHIFT, MAX_LEAF_PRIMITIVES, NODE_WIDENING, Node};
pub use cache::{BvhCache, Fetched, HierarchyReport, Origin};
pub use hierarchy::{Hierarchy, Layout};
pub use pieces::{Piece, Pieces};
pub use probe::{BruteForce, LeafPrimitive, Probe, instance_boxes, judge};
pub use quality::NODE_COST;
pub use traverse::Scratch;
pub use wide::{Block8, Bvh8, Few, FewScratch, Judged8, Node8, Proposals8, RAYS, Rays8, Scratch8};

/// Entries of the traversal stack; the builder keeps both levels' depth within it.
pub const STACK_SIZE: usize = 96;

#[cfg(test)]
mod tests;
