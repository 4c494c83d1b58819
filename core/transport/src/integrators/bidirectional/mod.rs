//! Light sub-paths, camera sub-paths and their connections (Veach 1997, chapter 10), shared by the
//! integrators [`lockstep_core::Integrator::Light`] and [`lockstep_core::Integrator::Bpt`]. The counterpart is
//! `kernels/integrators/bidirectional/`.
//!
//! A sample of a pixel is a *pair*: one light sub-path, which starts at a light, and one camera sub-path,
//! which starts in the pixel. Every [`lockstep_core::splat::Technique`] takes some vertices of each. What a
//! technique finds lands in the sample's pixel, or, where a vertex of the light sub-path is connected to the
//! lens, in any pixel.
//!
//! A path from light to lens has the same measurement contribution whatever technique found it: the BSDF at
//! every vertex is the one that a camera path would evaluate, its cosine of the shading normal included
//! ([`Vertex::evaluate`]). This implies the adjoint BSDF with the correction for shading normals of Veach
//! (1997, section 5.3), and also holds where a shading normal is replaced by the geometric one.

mod camera_path;
mod connections;
mod light_path;
mod pair;
mod photon;
mod vertex;
pub mod weights;

pub use camera_path::{CameraPath, Emitted};
pub use connections::{join, to_camera, to_light};
pub use light_path::LightPath;
pub use pair::{PairPass, PairSink, Tracer, trace_pair};
pub use photon::{Merge, Photon};
pub use vertex::{Connection, Scattered, Vertex, direction_between};

use lockstep_core::Integrator;

/// The techniques that an integrator combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Techniques {
    /// Light tracing: light sub-paths connected to the camera, and light that camera rays hit.
    LightTracing,
    /// All, weighted by the balance heuristic.
    All,
}

impl Techniques {
    /// The techniques of an integrator; `None` for one that traces camera paths only.
    pub const fn of(integrator: Integrator) -> Option<Self> {
        match integrator {
            Integrator::Path | Integrator::Ao => None,
            Integrator::Light => Some(Self::LightTracing),
            Integrator::Bpt => Some(Self::All),
        }
    }

    /// The last bounce of camera sub-paths, where paths have at most `bounces`.
    #[inline(always)]
    pub const fn camera_bounces(self, bounces: u32) -> u32 {
        match self {
            Self::LightTracing => 0,
            Self::All => bounces,
        }
    }

    /// The weight of a contribution whose weight among all techniques is given.
    #[inline(always)]
    pub const fn weight(self, among_all: f32) -> f32 {
        match self {
            Self::LightTracing => 1.0,
            Self::All => among_all,
        }
    }
}
