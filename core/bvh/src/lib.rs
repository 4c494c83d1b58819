//! Bounding volume hierarchies of the built-in intersector: builders, memory layouts, traversal, metrics and the cache.
//!
//! Which BVH a device uses, and how it traverses it, never shows in an image: see [`lockstep_core::geometry`].

mod aabb;
mod build;
mod bvh;
mod cache;
mod layout;
mod metrics;
mod object_ray;
mod traverse;
mod validate;

pub use build::presplit::{PreSplit, SplitReference};
pub use build::{BuildSettings, Split};
pub use bvh::{Bvh, Layout};
pub use cache::{BvhCache, Fetched};
pub use layout::bvh2::{Bvh2, EMPTY, LEAF_BIT, LEAF_COUNT_SHIFT, MAX_LEAF_PRIMITIVES, NODE_WIDENING, Node};
pub use layout::bvh8::{Block8, Bvh8, Node8};
pub use metrics::NODE_COST;
pub use object_ray::{BruteForce, LeafPrimitive, ObjectRay, confirm, instance_boxes};
pub use traverse::bvh2::Scratch;
pub use traverse::bvh8::Scratch8;
pub use traverse::confirm::{Candidates8, Confirmed8, Rays8};
pub use traverse::small_scene::{RAYS, SmallSceneIntersector, SmallSceneScratch};

/// Entries of the traversal stack; the builder keeps both levels' depth within it.
pub const STACK_SIZE: usize = 96;

#[cfg(test)]
mod tests;
