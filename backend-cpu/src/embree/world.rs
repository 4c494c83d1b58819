//! A scene as Embree holds it, and the way back from Embree's numbers.
//!
//! Every mesh is an Embree scene of its own that the top-level scene instances, under the instance's number. A mesh
//! that is placed once and untransformed needs no instance: its geometries belong to the top-level scene, which saves
//! rays a level.

use super::device::Device;
use super::geometry::{MAX_PARTS, Part, parts};
use super::handles::{GeometryHandle, SceneHandle};
use embree4_sys::{
    RTC_INVALID_GEOMETRY_ID, RTCFormat, RTCGeometryType, RTCHit, RTCSceneFlags, rtcSetGeometryInstancedScene,
    rtcSetGeometryTransform,
};
use lockstep_core::Result;
use lockstep_core::bvh::{LeafPrimitive, instance_boxes};
use lockstep_core::scene::{Instance, Mesh, NONE, Scene};
use lockstep_core::vec3::Vec3;
use rayon::prelude::*;

/// Everything that rays are traced in. Fields are dropped in order, the device last.
pub(super) struct World {
    /// The top-level scene.
    pub(super) top: SceneHandle,
    /// The scene of every mesh that is instanced; they live as long as the instances.
    _instanced: Vec<SceneHandle>,
    /// The parts of every mesh.
    parts: Vec<Box<[Part]>>,
    /// Whether any part has callbacks.
    pub(super) has_callbacks: bool,
    /// The scene that this is.
    pub(super) scene: Scene,
    /// Every triangle of the scene as the hit rule takes it: one line of cache instead of the five that its indices,
    /// vertices and material lie in.
    pub(super) triangles: Vec<LeafPrimitive>,
    /// World boxes of the instances.
    pub(super) boxes: Vec<[Vec3; 2]>,
    /// What all of it was made with.
    pub(super) device: Device,
}

/// Scenes that are watertight, like our own triangle test, and ready for queries that ask us about every candidate.
pub(super) const ROBUST: RTCSceneFlags =
    RTCSceneFlags(RTCSceneFlags::ROBUST.0 | RTCSceneFlags::FILTER_FUNCTION_IN_ARGUMENTS.0);

impl World {
    /// Copies a scene's geometry to Embree and builds its trees, made as `flags` say, with this many threads.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] with Embree's reason.
    pub(super) fn build(scene: &Scene, threads: usize, flags: RTCSceneFlags) -> Result<Self> {
        let device = Device::new(threads)?;
        let mut top = SceneHandle::new(&device, flags)?;
        let (mut instanced, mut all_parts) = (Vec::new(), Vec::new());
        for (mesh, placements) in (0u32..).zip(placements(scene)) {
            let lone = match placements[..] {
                [only] if scene.instances[only as usize].flags & Instance::IDENTITY != 0 => only,
                _ => NONE,
            };
            let parts = parts(&device, scene, mesh, lone)?;
            if lone != NONE {
                for (number, part) in (0..).zip(&parts) {
                    top.attach(part.raw(), first_direct(scene) + mesh * MAX_PARTS + number);
                }
            } else {
                let mut inner = SceneHandle::new(&device, flags)?;
                for (number, part) in (0..).zip(&parts) {
                    inner.attach(part.raw(), number);
                }
                inner.commit();
                device.check(&format!("building the tree of mesh {mesh}"))?;
                for instance in placements {
                    place(&device, &mut top, &inner, instance, &scene.instances[instance as usize])?;
                }
                instanced.push(inner);
            }
            all_parts.push(parts);
        }
        top.commit();
        device.check("building the top-level tree")?;
        let has_callbacks = all_parts.iter().flatten().any(|part| part.has_callbacks);
        let boxes = instance_boxes(scene);
        let triangles = triangles(scene);
        let (scene, parts) = (scene.clone(), all_parts);
        Ok(Self { top, _instanced: instanced, parts, has_callbacks, scene, triangles, boxes, device })
    }

    /// The instance and primitive that Embree names.
    #[inline(always)]
    pub(super) fn resolve(&self, hit: &RTCHit) -> (u32, u32) {
        let instance = hit.instID[0];
        if instance == RTC_INVALID_GEOMETRY_ID {
            let number = hit.geomID - first_direct(&self.scene);
            let part = &self.parts[(number / MAX_PARTS) as usize][(number % MAX_PARTS) as usize];
            return (part.instance, part.primitive(hit.primID));
        }
        let mesh = self.scene.instances[instance as usize].mesh;
        (instance, self.parts[mesh as usize][hit.geomID as usize].primitive(hit.primID))
    }
}

/// The records of all triangles, mesh by mesh.
fn triangles(scene: &Scene) -> Vec<LeafPrimitive> {
    let of = |mesh: &Mesh| {
        let mesh = *mesh;
        (0..mesh.triangle_count).into_par_iter().map(move |i| LeafPrimitive::of(scene, &mesh, i))
    };
    scene.meshes.par_iter().flat_map(of).collect()
}

/// In the top-level scene, the numbers below this are instances, and [`MAX_PARTS`] numbers for each mesh follow.
#[inline(always)]
fn first_direct(scene: &Scene) -> u32 {
    scene.instances.len() as u32
}

/// The instances of every mesh.
fn placements(scene: &Scene) -> Vec<Vec<u32>> {
    let mut placements = vec![Vec::new(); scene.meshes.len()];
    for (number, instance) in scene.instances.iter().enumerate() {
        placements[instance.mesh as usize].push(number as u32);
    }
    placements
}

/// Adds an instance of a committed scene to the top-level scene.
fn place(
    device: &Device,
    top: &mut SceneHandle,
    inner: &SceneHandle,
    number: u32,
    instance: &Instance,
) -> Result<()> {
    let geometry = GeometryHandle::new(device, RTCGeometryType::INSTANCE)?;
    let map = (&raw const instance.object_to_world).cast();
    // SAFETY: the geometry and the scene are live, and the map is three rows of four floats, which Embree copies.
    unsafe {
        rtcSetGeometryInstancedScene(geometry.raw(), inner.raw());
        rtcSetGeometryTransform(geometry.raw(), 0, RTCFormat::FLOAT3X4_ROW_MAJOR, map);
    }
    geometry.commit();
    top.attach(geometry.raw(), number);
    device.check(&format!("placing instance {number}"))
}
