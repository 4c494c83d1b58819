//! A mesh's primitives as Embree's geometries.
//!
//! A mesh has up to three parts: its opaque triangles, which Embree decides about alone; triangles with partial
//! coverage, where Embree asks us through a filter; and spheres, which are user geometry with our own test, because
//! Embree's spheres would take the wrong one of two near hits for rays that start on a surface.

use super::callbacks;
use super::device::{Device, failure};
use super::handles::GeometryHandle;
use embree4_rs::geometry::{Geometry, TriangleMeshGeometry};
use embree4_sys::{
    RTCGeometry, RTCGeometryType, rtcCommitGeometry, rtcSetGeometryBoundsFunction,
    rtcSetGeometryEnableFilterFunctionFromArguments, rtcSetGeometryIntersectFilterFunction,
    rtcSetGeometryIntersectFunction, rtcSetGeometryOccludedFilterFunction, rtcSetGeometryOccludedFunction,
    rtcSetGeometryUserData, rtcSetGeometryUserPrimitiveCount,
};
use lockstep_core::Result;
use lockstep_core::bvh::LeafPrimitive;
use lockstep_core::scene::{Mesh, NONE, SPHERE_BIT, Scene, SceneData, Triangle};
use rayon::prelude::*;
use std::ffi::c_void;
use std::ptr;

/// One geometry and what its primitives are in the scene.
pub(super) struct Part {
    geometry: Shape,
    /// What Embree asks us about.
    pub(super) asks: Asks,
    /// What callbacks need.
    pub(super) scene: Scene,
    /// The mesh it is part of.
    pub(super) mesh: u32,
    /// The instance, for a mesh that is placed once and untransformed and so belongs to the world itself; else
    /// [`NONE`].
    pub(super) instance: u32,
    /// Every triangle as the hit rule takes it: one line of cache instead of the five that its indices, vertices and
    /// material lie in. Empty for spheres.
    triangles: Vec<LeafPrimitive>,
}

/// What Embree asks us about while it traces a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Nothing: opaque triangles.
    Nothing,
    /// Whether a triangle with partial coverage counts, by the geometry's own filter.
    Always,
    /// The same, by the query's filter where it has one.
    WithFilter,
    /// Where a sphere is met.
    Spheres,
}

enum Shape {
    Triangles(TriangleMeshGeometry),
    Spheres(GeometryHandle),
}

// SAFETY: Embree's geometries may be used and released by any thread, and the rest is plain data.
unsafe impl Send for Part {}
// SAFETY: shared references only read the data and hand out the geometry's handle.
unsafe impl Sync for Part {}

impl Part {
    /// The mesh's index of a primitive of the geometry.
    #[inline(always)]
    pub(super) fn primitive(&self, number: u32) -> u32 {
        match self.geometry {
            Shape::Triangles(_) => self.triangles[number as usize].primitive,
            Shape::Spheres(_) => SPHERE_BIT | number,
        }
    }

    /// A primitive of the geometry as the hit rule takes it.
    #[inline(always)]
    pub(super) fn record(&self, number: u32) -> LeafPrimitive {
        match self.geometry {
            Shape::Triangles(_) => self.triangles[number as usize],
            Shape::Spheres(_) => LeafPrimitive::of(&self.scene, self.mesh(), SPHERE_BIT | number),
        }
    }

    /// Asks for the line of cache in which [`Self::record`] will look.
    #[inline(always)]
    pub(super) fn prefetch(&self, number: u32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every processor of this architecture has the instruction, and prefetching cannot fault.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.triangles.as_ptr().wrapping_add(number as usize).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = number;
    }

    /// The mesh's record.
    #[inline(always)]
    pub(super) fn mesh(&self) -> &Mesh {
        &self.scene.meshes[self.mesh as usize]
    }

    /// For Embree's functions, while `self` lives.
    pub(super) fn raw(&self) -> RTCGeometry {
        match &self.geometry {
            Shape::Triangles(triangles) => *triangles.handle(),
            Shape::Spheres(spheres) => spheres.raw(),
        }
    }

    /// Points the geometry back at `self`, which must not move from now on and outlive all scenes with the geometry.
    fn register(&self) {
        let data = ptr::from_ref(self).cast_mut().cast::<c_void>();
        let geometry = self.raw();
        // SAFETY: the geometry is live; callbacks only read the part.
        unsafe { rtcSetGeometryUserData(geometry, data) };
        match &self.geometry {
            // SAFETY: as above; the filters are made for parts.
            Shape::Triangles(_) if self.asks == Asks::Always => unsafe {
                rtcSetGeometryIntersectFilterFunction(geometry, Some(callbacks::filter));
                rtcSetGeometryOccludedFilterFunction(geometry, Some(callbacks::filter));
            },
            // SAFETY: the geometry is live.
            Shape::Triangles(_) if self.asks == Asks::WithFilter => unsafe {
                rtcSetGeometryEnableFilterFunctionFromArguments(geometry, true);
            },
            Shape::Triangles(_) => {}
            // SAFETY: as above; the callbacks are made for parts.
            Shape::Spheres(_) => unsafe {
                rtcSetGeometryUserPrimitiveCount(geometry, self.mesh().sphere_count);
                rtcSetGeometryBoundsFunction(geometry, Some(callbacks::bounds), data);
                rtcSetGeometryIntersectFunction(geometry, Some(callbacks::intersect));
                rtcSetGeometryOccludedFunction(geometry, Some(callbacks::occluded));
            },
        }
        // SAFETY: the geometry is live.
        unsafe { rtcCommitGeometry(geometry) };
    }
}

/// The most parts of a mesh, a power of two.
pub(super) const MAX_PARTS: u32 = 4;

/// The parts of a mesh, in a slice that must outlive all scenes with their geometries: these point into it. `instance` is
/// [`NONE`] unless the mesh belongs to the world itself.
///
/// # Errors
/// [`lockstep_core::Error::Device`] when Embree runs out of memory.
pub(super) fn parts(
    device: &Device,
    scene: &Scene,
    mesh: u32,
    instance: u32,
    partial_asks: Asks,
) -> Result<Box<[Part]>> {
    let record = scene.meshes[mesh as usize];
    let triangles = record.triangle_count;
    let of = |i: u32| &scene.triangles[(record.first_triangle + i) as usize];
    let has_alpha = |i: u32| scene.materials[of(i).material as usize].has_alpha();
    let (partial, opaque): (Vec<u32>, Vec<u32>) = if scene.materials.iter().any(|m| m.has_alpha()) {
        (0..triangles).partition(|&i| has_alpha(i))
    } else {
        (Vec::new(), (0..triangles).collect())
    };
    let mut parts = Vec::new();
    for (numbers, asks) in [(opaque, Asks::Nothing), (partial, partial_asks)] {
        if numbers.is_empty() {
            continue;
        }
        let geometry = Shape::Triangles(triangle_geometry(device, scene, &record, &numbers)?);
        let triangles = numbers.par_iter().map(|&i| LeafPrimitive::of(scene, &record, i)).collect();
        parts.push(Part { geometry, asks, scene: scene.clone(), mesh, instance, triangles });
    }
    if record.sphere_count > 0 {
        let geometry = Shape::Spheres(GeometryHandle::new(device, RTCGeometryType::USER)?);
        let (asks, scene, triangles) = (Asks::Spheres, scene.clone(), Vec::new());
        parts.push(Part { geometry, asks, scene, mesh, instance, triangles });
    }
    let parts = parts.into_boxed_slice();
    parts.iter().for_each(Part::register);
    device.check("copying geometry")?;
    Ok(parts)
}

/// Triangles of a mesh by their numbers, with the vertices that they use.
fn triangle_geometry(
    device: &Device,
    scene: &SceneData,
    mesh: &Mesh,
    numbers: &[u32],
) -> Result<TriangleMeshGeometry> {
    let of = |&i: &u32| -> &Triangle { &scene.triangles[(mesh.first_triangle + i) as usize] };
    let range = |i: &u32| of(i).vertices.map(|v| (v, v));
    let widest = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
    let (first, last) = numbers.par_iter().flat_map_iter(range).reduce(|| (NONE, 0), widest);
    let positions = &scene.positions[first as usize..=last as usize];
    let vertices: Vec<(f32, f32, f32)> = positions.par_iter().map(|p| (p[0], p[1], p[2])).collect();
    let corners = |i: &u32| {
        let [a, b, c] = of(i).vertices.map(|v| v - first);
        (a, b, c)
    };
    let indices: Vec<(u32, u32, u32)> = numbers.par_iter().map(corners).collect();
    TriangleMeshGeometry::try_new(device.wrapper(), &vertices, &indices)
        .map_err(|e| failure(&format!("copying {} triangles", indices.len()), &e.to_string()))
}
