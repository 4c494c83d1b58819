//! Paths where they go on, and their shadow rays.

use crate::integrators::{Connection, PathState, Shaded};
use crate::simd::steps::{Continuations, ShadowRays};
use crate::simd::{EIGHT, LANES};
use lockstep_core::geometry::{FAR, Ray};
use lockstep_core::math::simd::{Array8, F32x8};
use lockstep_core::math::vec3::{Vec3, vec3};

/// A shadow ray, what it adds if nothing is in its way, and to which path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ShadowRay {
    /// Ray and radiance.
    pub connection: Connection,
    /// Index of the path.
    pub path: u32,
}

/// What shading many paths leads to: shadow rays, and the paths that go on.
///
/// Each path leaves a shadow ray and itself, and what is of no use is overwritten by the next: what does nothing
/// predicts, so it costs less than to ask.
#[derive(Clone, Debug, Default)]
pub struct ShadeOutput {
    shadow_rays: Vec<ShadowRay>,
    connected: usize,
    going: Vec<u32>,
    gone_on: usize,
}

impl ShadeOutput {
    /// Empties it and makes room for what so many paths lead to.
    pub fn begin(&mut self, paths: usize) {
        // One place more, for what the last one leaves that is of no use.
        let connection = Connection { ray: Ray::default(), radiance: Vec3::ZERO };
        self.shadow_rays.resize(paths + 1, ShadowRay { connection, path: 0 });
        self.going.resize(paths + 1, 0);
        (self.connected, self.gone_on) = (0, 0);
    }

    /// Adds what shading a path led to.
    #[inline(always)]
    pub fn push(&mut self, path: u32, shaded: &Shaded) {
        if let Some(connection) = shaded.connection {
            self.shadow_rays[self.connected] = ShadowRay { connection, path };
            self.connected += 1;
        }
        self.go_on(path, shaded.continues);
    }

    #[inline(always)]
    fn go_on(&mut self, path: u32, continues: bool) {
        self.going[self.gone_on] = path;
        self.gone_on += usize::from(continues);
    }

    /// The shadow rays.
    pub fn shadow_rays(&self) -> &[ShadowRay] {
        &self.shadow_rays[..self.connected]
    }

    /// The paths that go on.
    pub fn going(&self) -> &[u32] {
        &self.going[..self.gone_on]
    }

    /// Takes what the first `count` lanes lead to.
    #[inline(always)]
    pub(crate) fn take<L: F32x8>(
        &mut self,
        shadow: &ShadowRays,
        continuations: &Continuations,
        indices: &[u32; LANES],
        count: usize,
        paths: &mut [PathState],
    ) {
        const ZEROS: &Array8 = &[0.0; EIGHT];
        for first in (0..count).step_by(EIGHT) {
            let ([x, y, z], [dx, dy, dz]) =
                (continuations.origin.eight(first), continuations.direction.eight(first));
            let rays = L::transpose([x, y, z, ZEROS, dx, dy, dz, &[FAR; EIGHT]]);
            let ([x, y, z], [dx, dy, dz]) = (shadow.origin.eight(first), shadow.direction.eight(first));
            let shadow_rays = L::transpose([x, y, z, ZEROS, dx, dy, dz, shadow.t_max.eight(first)]);
            let ([r, g, b], [red, green, blue]) =
                (continuations.throughput.eight(first), shadow.radiance.eight(first));
            let rest = L::transpose([r, g, b, continuations.pdf.eight(first), red, green, blue, ZEROS]);
            for i in 0..EIGHT {
                let lane = first + i;
                if lane == count {
                    break;
                }
                let index = indices[lane];
                let [r, g, b, pdf, red, green, blue, _] = rest[i].store();
                let path = &mut paths[index as usize];
                path.ray = bytemuck::cast(rays[i].store());
                path.throughput = vec3(r, g, b);
                path.bsdf_pdf = pdf;
                self.go_on(index, continuations.continues.0[lane] != 0);
                let connection = Connection {
                    ray: bytemuck::cast(shadow_rays[i].store()),
                    radiance: vec3(red, green, blue),
                };
                self.shadow_rays[self.connected] = ShadowRay { connection, path: index };
                self.connected += usize::from(shadow.cast.0[lane] != 0);
            }
        }
    }
}
