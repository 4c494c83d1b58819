//! The state of a camera path between two stages, which integrators share. The counterpart is
//! `kernels/integrators/state.h`.

use crate::interior_list::InteriorList;
use lockstep_core::geometry::{FAR, Ray};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniforms};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::camera::CameraFrame;

/// A path between two stages.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PathState {
    /// The extension ray.
    pub ray: Ray,
    /// Product of scattering weights so far.
    pub throughput: Vec3,
    /// Density of the ray's direction under BSDF sampling; zero from the camera or a smooth surface.
    pub bsdf_pdf: f32,
    /// Radiance gathered so far.
    pub radiance: Vec3,
    /// The key of all draws of this path.
    pub key: SampleKey,
    /// The medium of the ray ([`crate::media`]); zero in air.
    pub medium: u32,
    /// Dielectrics with a priority that the ray is in.
    pub interiors: InteriorList,
}

/// A shadow ray and the radiance it adds if unoccluded.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Connection {
    /// Shadow ray from the surface to just before the light.
    pub ray: Ray,
    /// Radiance to add to the path.
    pub radiance: Vec3,
}

/// Result of shading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaded {
    /// True when the path continues along its new extension ray.
    pub continues: bool,
    /// A shadow ray to trace.
    pub connection: Option<Connection>,
}

/// A path that terminates without a shadow ray.
pub const ENDED: Shaded = Shaded { continues: false, connection: None };

/// Starts the path of a sample.
#[inline(always)]
pub fn generate(camera: &CameraFrame, key: SampleKey) -> PathState {
    let u = uniforms(draw(key, Block::Camera, 0));
    let (origin, direction) = camera.ray(key.pixel, u);
    PathState {
        ray: Ray { origin, t_min: 0.0, direction, t_max: FAR },
        throughput: Vec3::ONE,
        bsdf_pdf: 0.0,
        radiance: Vec3::ZERO,
        key,
        medium: 0,
        interiors: 0,
    }
}
