//! Embree 4 as an intersector: the target `cpu-embree`.
//!
//! # Confirmation of candidates
//!
//! Embree finds a candidate primitive; Lockstep's own intersection predicate then recomputes its distance and
//! barycentrics. So whenever Embree and the built-in BVH choose the same primitive, the hits are identical to
//! the bit. Alpha tests run in Embree's filter functions and spheres are user geometry; both use Lockstep's
//! own code, so scenes of spheres agree to the bit.
//!
//! Embree's fast triangle test is not watertight: rays slip through between neighbours. Triangles are
//! therefore enlarged until they overlap slightly, so that Embree finds one of them wherever the predicate
//! sees a hit. A candidate that the predicate rejects has the ray traced again, this time with every
//! candidate confirmed in a filter.
//!
//! Where triangles of one mesh coincide, and where a ray meets an edge, rounding decides which triangle
//! Embree finds nearer. There the ray is traced again over a short interval, and the predicate chooses among
//! all candidates. Two cases remain with Embree's rounding, together less than one ray in a million: surfaces
//! that cross exactly where a ray meets them, and two meshes that coincide. Shadow rays are occluded by
//! confirmed hits alone.
//!
//! Packets are marked as coherent only where rounding cannot make Embree miss a flat box.
//!
//! # Bindings
//!
//! `lockstep-embree-sys` binds Embree's C interface and opens the library at run time; `Device`,
//! `GeometryHandle` and `SceneHandle` own its objects. The published `embree4-rs` 0.0.16 serves as an
//! independent check in tests: the same triangles must give the same hits through both.

mod build;
mod build_options;
mod callbacks;
mod candidate;
mod coincident;
mod confirm;
mod device;
mod enlarge;
mod frustum;
mod geometry;
mod handles;
mod intersector;
pub mod library;
mod mesh_geometries;
mod octants;
mod overlap;
mod packet;
mod plain;
mod query;
mod scene;
pub(crate) mod target;
mod triangle_mesh;

#[cfg(test)]
mod tests;

/// The target's name.
pub(crate) const TARGET: &str = "cpu-embree";

/// Name of the target that calls Embree from a plain loop: a baseline for benchmarks that answers ray queries
/// only.
pub(crate) const PLAIN_TARGET: &str = "embree-plain";
