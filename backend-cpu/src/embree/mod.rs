//! Embree 4 as an intersector: the target `cpu-embree`.
//!
//! # The hit rule
//!
//! Embree proposes a primitive; its distance and barycentrics are recomputed with our own test, so that whenever Embree
//! and the built-in BVH choose the same primitive, the hits are the same to the bit. Partial coverage is decided by our
//! own code in filters, and spheres are tested by it, so scenes of spheres agree to the bit.
//!
//! Embree's triangles overlap a little, so that its fast test, which lets rays through between neighbours, proposes one
//! of them wherever the rule sees a hit; a candidate that the rule turns away has the ray traced again with the rule
//! having a say in every candidate.
//!
//! Where triangles of one mesh coincide, and where a ray meets an edge, rounding decides which of them Embree finds
//! nearer: there the rule chooses among all that are as near. What is left to Embree are surfaces that cross just where
//! a ray meets them, and two meshes that coincide: less than a ray in a million. Shadow rays are blocked by what the
//! rule takes alone.
//!
//! # The two packages
//!
//! `embree4-rs` makes the device and the triangle meshes. Its scenes cannot share a device, so there is no instancing;
//! it has no filters and no occlusion queries, hides the handles that would allow them, and asks for errors after every
//! ray, which costs as much as a twentieth of a query. Scenes, spheres, instances, filters and queries therefore go to
//! the functions of `embree4-sys`.

mod callbacks;
mod coincident;
mod device;
mod geometry;
mod handles;
mod intersector;
pub mod library;
mod octants;
mod packet;
mod plain;
mod query;
pub(crate) mod target;
mod world;

#[cfg(test)]
mod tests;

/// The target's name.
pub(crate) const TARGET: &str = "cpu-embree";

/// The name of Embree in a plain loop, a yardstick for benchmarks: it casts rays and renders nothing.
pub(crate) const PLAIN_TARGET: &str = "embree-plain";
