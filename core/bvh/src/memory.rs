//! Memory that building a BVH takes.

use lockstep_core::scene::SceneData;
use lockstep_core::{Result, memory};

/// Bytes of a primitive while a BVH is built over it: measured 250 to 315, with its copy for the renderer.
const BYTES: u64 = 320;

/// Refuses a scene whose BVH does not fit into memory, before it is built.
///
/// # Errors
/// [`lockstep_core::Error::Memory`] with the numbers of primitives and bytes.
pub fn check_memory(scene: &SceneData) -> Result<()> {
    check_counts([scene.triangles.len(), scene.spheres.len()], memory::available())
}

/// [`check_memory`] against a figure for the memory that is available, in bytes.
fn check_counts([triangles, spheres]: [usize; 2], available: Option<u64>) -> Result<()> {
    let primitives = (triangles + spheres) as u64;
    let what = || match spheres {
        0 => format!("the BVH of {triangles} triangles"),
        _ => format!("the BVH of {triangles} triangles and {spheres} spheres"),
    };
    memory::check_against(what, primitives * BYTES, available)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_beyond_the_memory_is_refused_by_its_number_of_triangles() {
        assert!(check_counts([10_000_000, 0], Some(4_000_000_000)).is_ok());
        assert!(check_counts([10_000_000, 0], None).is_ok());
        let refused = check_counts([10_000_000, 0], Some(3_000_000_000)).unwrap_err().to_string();
        assert!(refused.starts_with("the BVH of 10000000 triangles needs 3.2 GB of memory"), "{refused}");
        assert!(check_counts([1, 10_000_000], Some(3_000_000_000)).is_err());
    }
}
