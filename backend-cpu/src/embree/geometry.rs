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
    rtcSetGeometryIntersectFilterFunction, rtcSetGeometryIntersectFunction,
    rtcSetGeometryOccludedFilterFunction, rtcSetGeometryOccludedFunction, rtcSetGeometryUserData,
    rtcSetGeometryUserPrimitiveCount,
};
use lockstep_core::Result;
use lockstep_core::scene::{Mesh, NONE, SPHERE_BIT, Scene, SceneData, Triangle};
use rayon::prelude::*;
use std::ffi::c_void;
use std::ptr;

/// One geometry and what its primitives are in the scene.
pub(super) struct Part {
    geometry: Shape,
    /// Whether Embree asks us about its candidates.
    pub(super) has_callbacks: bool,
    /// What callbacks need.
    pub(super) scene: Scene,
    /// The mesh it is part of.
    pub(super) mesh: u32,
    /// The instance, for a mesh that is placed once and untransformed and so belongs to the world itself; else
    /// [`NONE`].
    pub(super) instance: u32,
    /// The mesh's index of each primitive; none where they are numbered alike.
    primitives: Option<Vec<u32>>,
    /// Added to the number of a primitive where `primitives` is none.
    base: u32,
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
        match &self.primitives {
            None => self.base | number,
            Some(primitives) => primitives[number as usize],
        }
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
            Shape::Triangles(_) if self.has_callbacks => unsafe {
                rtcSetGeometryIntersectFilterFunction(geometry, Some(callbacks::filter));
                rtcSetGeometryOccludedFilterFunction(geometry, Some(callbacks::filter));
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
pub(super) fn parts(device: &Device, scene: &Scene, mesh: u32, instance: u32) -> Result<Box<[Part]>> {
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
    for (numbers, has_callbacks) in [(opaque, false), (partial, true)] {
        if numbers.is_empty() {
            continue;
        }
        let geometry = Shape::Triangles(triangle_geometry(device, scene, &record, &numbers)?);
        let primitives = (numbers.len() != triangles as usize).then_some(numbers);
        let scene = scene.clone();
        parts.push(Part { geometry, has_callbacks, scene, mesh, instance, primitives, base: 0 });
    }
    if record.sphere_count > 0 {
        let geometry = Shape::Spheres(GeometryHandle::new(device, RTCGeometryType::USER)?);
        let (scene, base) = (scene.clone(), SPHERE_BIT);
        parts.push(Part { geometry, has_callbacks: true, scene, mesh, instance, primitives: None, base });
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
