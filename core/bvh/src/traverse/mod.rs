//! Traversal of both layouts, the brute-force intersector of small scenes, and the confirmation of candidate hits.

mod axis_permute;
pub mod bvh2;
pub mod bvh8;
pub mod confirm;
pub mod small_scene;
mod triangles8;
