//! A scene as Embree holds it, and the mapping from Embree's IDs to the scene's.
//!
//! Every mesh is an Embree scene of its own, which the top-level scene instances under the instance's number.
//! A mesh with a single instance and the identity transform belongs to the top-level scene itself: that saves
//! rays a level.

use super::candidate::Candidate;
use super::device::Device;
use super::geometry::EmbreeGeometry;
use super::handles::SceneHandle;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::Scene;
use lockstep_embree_sys::{RTC_INVALID_GEOMETRY_ID, RTCHit};

/// A scene with its Embree acceleration structures. Fields are dropped in order, the device last.
pub(super) struct EmbreeScene {
    /// The top-level scene, in which rays are traced.
    pub(super) top: SceneHandle,
    /// The scenes of instanced meshes; they live as long as the instances.
    pub(super) _instanced: Vec<SceneHandle>,
    /// The geometries of all meshes, mesh by mesh. Embree has pointers to them, so they must not move.
    pub(super) geometries: Box<[EmbreeGeometry]>,
    /// Index of the first geometry of every mesh, and the number of all geometries.
    pub(super) first_geometry: Vec<u32>,
    /// In the top-level scene, the first `geomID` of a geometry; lower ones are instances.
    pub(super) first_direct: u32,
    /// Whether any triangle needs an alpha test.
    pub(super) has_alpha: bool,
    pub(super) has_spheres: bool,
    /// Whether any mesh is instanced.
    pub(super) has_instances: bool,
    /// Whether there are so few triangles that rays of one octant visit the same nodes.
    pub(super) is_small: bool,
    pub(super) scene: Scene,
    /// World-space bounding boxes of the instances.
    pub(super) instance_bounds: Vec<[Vec3; 2]>,
    /// The device that owns all of it.
    pub(super) device: Device,
}

impl EmbreeScene {
    /// The candidate of an Embree hit at distance `t`; `None` for a miss.
    #[inline(always)]
    pub(super) fn candidate(&self, t: f32, hit: &RTCHit) -> Option<Candidate<'_>> {
        (hit.geomID != RTC_INVALID_GEOMETRY_ID).then(|| self.candidate_or_any(t, hit))
    }

    /// The candidate of an Embree hit, or an arbitrary primitive for a miss. The scene must not be empty.
    #[inline(always)]
    pub(super) fn candidate_or_any(&self, t: f32, hit: &RTCHit) -> Candidate<'_> {
        let (u, v, inst_id) = (hit.u, hit.v, hit.instID[0]);
        let prim_id = if hit.geomID == RTC_INVALID_GEOMETRY_ID { 0 } else { hit.primID };
        if inst_id == RTC_INVALID_GEOMETRY_ID {
            let last = self.geometries.len() - 1;
            let geometry = &self.geometries[(hit.geomID.wrapping_sub(self.first_direct) as usize).min(last)];
            return Candidate { t, u, v, instance: geometry.instance, geometry, prim_id };
        }
        let mesh = self.scene.instances[inst_id as usize].mesh;
        let geometry = &self.geometries[(self.first_geometry[mesh as usize] + hit.geomID) as usize];
        Candidate { t, u, v, instance: inst_id, geometry, prim_id }
    }

    /// An arbitrary primitive that initialises arrays of candidates; `None` in an empty scene.
    pub(super) fn placeholder(&self) -> Option<Candidate<'_>> {
        let geometry = self.geometries.first()?;
        Some(Candidate { t: 0.0, u: 0.0, v: 0.0, instance: geometry.instance, geometry, prim_id: 0 })
    }
}
