//! Bounding volume hierarchies: builders, memory layouts, traversal, quality metrics and the cache.
//!
//! The choice of BVH and of traversal never shows in an image: see [`lockstep_core::geometry`].

mod aabb;
mod brute_force;
mod build;
mod bvh;
mod cache;
mod instance_boxes;
mod layout;
mod leaf;
mod memory;
mod metrics;
mod object_ray;
#[cfg(test)]
mod test_cases;
mod traverse;
mod validate;

pub use brute_force::BruteForce;
pub use build::presplit::{PreSplit, SplitReference};
pub use build::{BuildSettings, Split};
pub use bvh::{Bvh, Layout};
pub use cache::{BvhCache, Fetched};
pub use instance_boxes::instance_boxes;
pub use layout::bvh2::{Bvh2, EMPTY, LEAF_BIT, LEAF_COUNT_SHIFT, MAX_LEAF_PRIMITIVES, NODE_WIDENING, Node};
pub use layout::bvh8::{Block8, Bvh8, Node8};
pub use leaf::LeafPrimitive;
pub use memory::check_memory;
pub use metrics::NODE_COST;
pub use object_ray::{ObjectRay, confirm};
pub use traverse::bvh2::Scratch;
pub use traverse::bvh8::Scratch8;
pub use traverse::confirm::{Candidates8, Confirmed8, Rays8};
pub use traverse::small_scene::{RAYS, SmallSceneIntersector, SmallSceneScratch};

/// Entries of the traversal stack; the builder keeps both levels' depth within it.
pub const STACK_SIZE: usize = 96;

#[cfg(test)]
mod tests;
