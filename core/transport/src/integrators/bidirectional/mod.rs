//! Light sub-paths, camera sub-paths, their connections (Veach 1997, chapter 10) and merges (Georgiev et al.
//! 2012), shared by all integrators that splat ([`lockstep_core::Integrator::splats`]). The counterpart is
//! `kernels/integrators/bidirectional/`.
//!
//! A sample of a pixel is a *pair*: one light sub-path, which starts at a light, and one camera sub-path,
//! which starts in the pixel. Every [`lockstep_core::splat::Technique`] takes some vertices of each. What a
//! technique finds lands in the sample's pixel, or, where a vertex of the light sub-path is connected to the
//! lens, in any pixel.
//!
//! A vertex of a camera sub-path *merges* with those vertices of all light sub-paths of its sample index, the
//! [`Photon`]s, that lie within a radius ([`lockstep_core::merging`]).
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

/// The techniques that an integrator combines. `kernels/integrators/bidirectional/techniques.h` chooses in the
/// same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Techniques {
    /// Light tracing: light sub-paths connected to the camera, and light that camera rays hit.
    LightTracing,
    /// All connections, weighted by the balance heuristic.
    Connections,
    /// Merges at the first vertex of a camera sub-path that is not specular, and light seen without a merge.
    FirstMerge,
    /// Merges at every vertex, weighted by the balance heuristic, and light seen without a merge.
    Merges,
    /// All connections and merges, weighted by the balance heuristic.
    All,
}

impl Techniques {
    /// The techniques of an integrator; `None` for one that traces camera paths only.
    pub const fn of(integrator: Integrator) -> Option<Self> {
        match integrator {
            Integrator::Path | Integrator::Ao => None,
            Integrator::Light => Some(Self::LightTracing),
            Integrator::Bpt => Some(Self::Connections),
            Integrator::Ppm => Some(Self::FirstMerge),
            Integrator::Bpm => Some(Self::Merges),
            Integrator::Vcm => Some(Self::All),
        }
    }

    /// Whether light sub-paths are connected to the camera.
    #[inline(always)]
    pub const fn connect_to_camera(self) -> bool {
        matches!(self, Self::LightTracing | Self::Connections | Self::All)
    }

    /// Whether camera sub-paths are connected to lights and to light sub-paths.
    #[inline(always)]
    pub const fn connect(self) -> bool {
        matches!(self, Self::Connections | Self::All)
    }

    /// Whether camera sub-paths merge with photons.
    #[inline(always)]
    pub const fn merge(self) -> bool {
        matches!(self, Self::FirstMerge | Self::Merges | Self::All)
    }

    /// The last bounce of camera sub-paths, where paths have at most `bounces`.
    #[inline(always)]
    pub const fn camera_bounces(self, bounces: u32) -> u32 {
        match self {
            Self::LightTracing => 0,
            _ => bounces,
        }
    }

    /// Whether a camera sub-path can find light beyond its vertex of this bounce, `specular` where all its
    /// vertices are. Without connections only specular sub-paths are of use at the last bounce.
    #[inline(always)]
    pub const fn continue_from(self, bounce: u32, bounces: u32, specular: bool) -> bool {
        match self {
            Self::FirstMerge => specular,
            Self::Merges => specular || bounce + 1 < bounces,
            _ => true,
        }
    }

    /// The weight of a connection, from its weight among all techniques.
    #[inline(always)]
    pub const fn weight(self, among_all: f32) -> f32 {
        match self {
            Self::LightTracing => 1.0,
            _ => among_all,
        }
    }

    /// The weight of light that a camera sub-path hits: `specular` where merges cannot find it.
    #[inline(always)]
    pub const fn emission_weight(self, among_all: f32, specular: bool) -> f32 {
        match self {
            Self::LightTracing => 1.0,
            Self::FirstMerge | Self::Merges => {
                if specular {
                    1.0
                } else {
                    0.0
                }
            }
            _ => among_all,
        }
    }

    /// The weight of a merge.
    #[inline(always)]
    pub const fn merge_weight(self, among_all: f32) -> f32 {
        match self {
            Self::FirstMerge => 1.0,
            _ => among_all,
        }
    }
}
