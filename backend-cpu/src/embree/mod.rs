//! Embree 4 as an intersector: the target `cpu-embree`.
//!
//! # The hit rule
//!
//! Embree proposes a primitive; its distance and barycentrics are recomputed with our own test, so that whenever Embree
//! and the built-in BVH choose the same primitive, the hits are the same to the bit. Partial coverage is decided by our
//! own code in filters, and spheres are tested by it. What is left to Embree is which triangle a ray meets first, and
//! whether a shadow ray meets any: rounding makes it differ from the rule on edges, at equal distances and at the ends of
//! rays. A proposal that the rule rejects is not taken: the ray is traced again with the rule deciding about every
//! candidate.
//!
//! # The two packages
//!
//! `embree4-rs` makes the device and the triangle meshes. Its scenes cannot share a device, so there is no instancing;
//! it has no filters and no occlusion queries, hides the handles that would allow them, and asks for errors after every
//! ray, which costs as much as a twentieth of a query. Scenes, spheres, instances, filters and queries therefore go to
//! the functions of `embree4-sys`.

mod callbacks;
mod device;
mod geometry;
mod handles;
mod intersector;
pub mod library;
mod query;
pub(crate) mod target;
mod world;

#[cfg(test)]
mod tests;

/// The target's name.
pub(crate) const TARGET: &str = "cpu-embree";
