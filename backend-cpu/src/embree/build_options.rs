//! Options of an Embree scene.

use lockstep_embree_sys::RTCSceneFlags;

/// How a scene is copied to Embree.
#[derive(Clone, Copy)]
pub(super) struct BuildOptions {
    /// Flags of all Embree scenes.
    pub(super) flags: RTCSceneFlags,
    /// How triangles with alpha are filtered.
    pub(super) alpha_callback: CallbackKind,
    /// Distance by which triangles are enlarged on all sides, as a share of the largest coordinate of rays
    /// that reach their mesh.
    pub(super) enlargement: f32,
    /// Whether triangles are marked on which others lie.
    pub(super) marks_coincident: bool,
}

/// The callback that Embree makes for a geometry's primitives while it traces a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallbackKind {
    /// No callback: opaque triangles.
    None,
    /// The geometry's own filter function, for triangles with alpha.
    GeometryFilter,
    /// The filter function among a query's arguments, if it has one, for triangles with alpha.
    ArgumentFilter,
    /// The intersection functions of user geometry: spheres.
    UserGeometry,
}
