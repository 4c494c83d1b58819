//! Prefetches of the geometry that shading reads, for hits that a loop reaches soon.

use lockstep_core::geometry::Hit;
use lockstep_core::prefetch;
use lockstep_core::scene::{SPHERE_BIT, SceneData};

/// Hits between a prefetch and the use of what it fetched.
const DISTANCE: usize = 8;

/// Triangles whose geometry caches hold without prefetches.
const CACHED: usize = 4096;

/// True where shading a scene gains by [`prefetch_hits`].
#[inline(always)]
pub(crate) fn should_prefetch(scene: &SceneData) -> bool {
    scene.triangles.len() > CACHED
}

/// Prefetches for a loop over `hits` that is about to shade the one at `next`: vertices of a later hit, and the triangle
/// of one later still.
#[inline(always)]
pub(crate) fn prefetch_hits(scene: &SceneData, hits: &[Hit], next: usize) {
    if let Some(index) = hits.get(next + 2 * DISTANCE).and_then(|hit| triangle_of(scene, hit)) {
        prefetch(&scene.triangles, index);
    }
    let triangle = hits.get(next + DISTANCE).and_then(|hit| triangle_of(scene, hit));
    if let Some(triangle) = triangle.and_then(|index| scene.triangles.get(index)) {
        for vertex in triangle.vertices {
            prefetch(&scene.positions, vertex as usize);
            prefetch(&scene.vertices, vertex as usize);
        }
    }
}

/// Index of the triangle that was hit.
#[inline(always)]
fn triangle_of(scene: &SceneData, hit: &Hit) -> Option<usize> {
    if !hit.is_some() || hit.primitive & SPHERE_BIT != 0 {
        return None;
    }
    let instance = &scene.instances[hit.instance as usize];
    Some((scene.meshes[instance.mesh as usize].first_triangle + hit.primitive) as usize)
}
