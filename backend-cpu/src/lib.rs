//! Lockstep's CPU backend: the built-in BVH and Embree 4.

pub mod embree;
