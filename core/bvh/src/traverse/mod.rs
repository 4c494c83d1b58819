//! Traversal of both layouts, the brute-force intersector of small scenes, and the confirmation of candidate
//! hits.

mod axis_permute;
pub(crate) mod bvh2;
pub(crate) mod bvh8;
pub(crate) mod confirm;
pub(crate) mod small_scene;
mod triangles8;
