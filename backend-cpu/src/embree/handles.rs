//! Embree's scenes and geometries, released when dropped.

use super::device::{Device, failure};
use embree4_sys::{
    RTCGeometry, RTCGeometryType, RTCScene, RTCSceneFlags, rtcAttachGeometryByID, rtcCommitGeometry,
    rtcCommitScene, rtcNewGeometry, rtcNewScene, rtcReleaseGeometry, rtcReleaseScene, rtcSetSceneFlags,
};
use lockstep_core::Result;

/// A scene: a set of geometries with the hierarchy over them.
///
/// Not `embree4-rs`'s, which owns its device, so that no two scenes can share one and none can be an instance of
/// another, and keeps its handle private, without which there is no occlusion query.
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

    /// Adds a committed geometry under a number. The scene keeps a reference of its own.
    pub(super) fn attach(&mut self, geometry: RTCGeometry, number: u32) {
        // SAFETY: both handles are live.
        unsafe { rtcAttachGeometryByID(self.0, geometry, number) }
    }

    /// Builds the hierarchy.
    pub(super) fn commit(&mut self) {
        // SAFETY: the scene is live.
        unsafe { rtcCommitScene(self.0) }
    }

    /// For Embree's functions, while `self` lives.
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

/// A geometry of a kind that `embree4-rs` does not make.
pub(super) struct GeometryHandle(RTCGeometry);

// SAFETY: Embree's objects may be used and released by any thread.
unsafe impl Send for GeometryHandle {}
// SAFETY: shared references only hand out the handle.
unsafe impl Sync for GeometryHandle {}

impl GeometryHandle {
    /// A geometry without features.
    pub(super) fn new(device: &Device, kind: RTCGeometryType) -> Result<Self> {
        // SAFETY: the device is live.
        let geometry = unsafe { rtcNewGeometry(device.handle(), kind) };
        if geometry.is_null() {
            let action = format!("making a geometry of kind {kind:?}");
            device.check(&action)?;
            return Err(failure(&action, "no handle"));
        }
        Ok(Self(geometry))
    }

    /// Makes what was set take effect.
    pub(super) fn commit(&self) {
        // SAFETY: the geometry is live.
        unsafe { rtcCommitGeometry(self.0) }
    }

    /// For Embree's functions, while `self` lives.
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
