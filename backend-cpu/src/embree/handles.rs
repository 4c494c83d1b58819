//! Embree's scenes and geometries, released when dropped.

use super::device::{Device, failure};
use lockstep_core::Result;
use lockstep_embree_sys::{
    RTCGeometry, RTCGeometryType, RTCScene, RTCSceneFlags, rtcAttachGeometryByID, rtcCommitGeometry,
    rtcCommitScene, rtcNewGeometry, rtcNewScene, rtcReleaseGeometry, rtcReleaseScene, rtcSetSceneFlags,
};

/// An Embree scene: a set of geometries with the BVH over them.
pub(super) struct SceneHandle(RTCScene);

// SAFETY: Embree's objects may be used and released by any thread.
unsafe impl Send for SceneHandle {}
// SAFETY: a committed scene may be queried by any number of threads, and only `&mut self` changes one.
unsafe impl Sync for SceneHandle {}

impl SceneHandle {
    /// An empty scene.
    pub(super) fn new(device: &Device, flags: RTCSceneFlags) -> Result<Self> {
        // SAFETY: the device is live.
        let scene = unsafe { rtcNewScene(device.handle()) };
        if scene.is_null() {
            device.check("making a scene")?;
            return Err(failure("making a scene", "no handle"));
        }
        let scene = Self(scene);
        // SAFETY: the scene is live.
        unsafe { rtcSetSceneFlags(scene.0, flags) };
        Ok(scene)
    }

    /// Attaches a committed geometry under a `geomID`. The scene keeps a reference of its own.
    pub(super) fn attach(&mut self, geometry: RTCGeometry, geom_id: u32) {
        // SAFETY: both handles are live.
        unsafe { rtcAttachGeometryByID(self.0, geometry, geom_id) }
    }

    /// Builds the BVH.
    pub(super) fn commit(&mut self) {
        // SAFETY: the scene is live.
        unsafe { rtcCommitScene(self.0) }
    }

    /// The raw handle, valid while `self` lives.
    #[inline(always)]
    pub(super) fn raw(&self) -> RTCScene {
        self.0
    }
}

impl Drop for SceneHandle {
    fn drop(&mut self) {
        // SAFETY: made by `new`, released once.
        unsafe { rtcReleaseScene(self.0) }
    }
}

/// An Embree geometry.
pub(super) struct GeometryHandle(RTCGeometry);

// SAFETY: Embree's objects may be used and released by any thread.
unsafe impl Send for GeometryHandle {}
// SAFETY: shared references only hand out the handle.
unsafe impl Sync for GeometryHandle {}

impl GeometryHandle {
    /// An empty geometry.
    pub(super) fn new(device: &Device, geometry_type: RTCGeometryType) -> Result<Self> {
        // SAFETY: the device is live.
        let geometry = unsafe { rtcNewGeometry(device.handle(), geometry_type) };
        if geometry.is_null() {
            let action = format!("making a geometry of type {geometry_type:?}");
            device.check(&action)?;
            return Err(failure(&action, "no handle"));
        }
        Ok(Self(geometry))
    }

    /// Applies all settings of the geometry.
    pub(super) fn commit(&self) {
        // SAFETY: the geometry is live.
        unsafe { rtcCommitGeometry(self.0) }
    }

    /// The raw handle, valid while `self` lives.
    pub(super) fn raw(&self) -> RTCGeometry {
        self.0
    }
}

impl Drop for GeometryHandle {
    fn drop(&mut self) {
        // SAFETY: made by `new`, released once.
        unsafe { rtcReleaseGeometry(self.0) }
    }
}
