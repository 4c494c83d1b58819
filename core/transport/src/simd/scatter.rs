//! Scatters a batch: surviving paths and shadow rays, compacted.

use crate::integrators::{Connection, PathState, Shaded};
use crate::simd::steps::{Continuations, ShadowRays};
use crate::simd::{EIGHT, LANES};
use lockstep_core::geometry::{FAR, Ray};
use lockstep_core::math::simd::{Array8, F32x8};
use lockstep_core::math::vec3::{Vec3, vec3};

/// A shadow ray, the radiance it adds if unoccluded, and its path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ShadowRay {
    /// Shadow ray and radiance.
    pub connection: Connection,
    /// Index of the path.
    pub path: u32,
}

/// Output of shading: shadow rays and surviving paths.
///
/// Compaction is branch-free: every lane is written, and the cursor advances only past live ones.
#[derive(Clone, Debug, Default)]
pub struct ShadeOutput {
    shadow_rays: Vec<ShadowRay>,
    shadow_ray_count: usize,
    paths: Vec<u32>,
    path_count: usize,
}

impl ShadeOutput {
    /// Clears the output and reserves space for `paths` paths.
    pub fn begin(&mut self, paths: usize) {
        // One entry more, for a dead lane behind the last live one
        let connection = Connection { ray: Ray::default(), radiance: Vec3::ZERO };
        self.shadow_rays.resize(paths + 1, ShadowRay { connection, path: 0 });
        self.paths.resize(paths + 1, 0);
        (self.shadow_ray_count, self.path_count) = (0, 0);
    }

    /// Appends the result of shading one path.
    #[inline(always)]
    pub fn push(&mut self, path: u32, shaded: &Shaded) {
        if let Some(connection) = shaded.connection {
            self.shadow_rays[self.shadow_ray_count] = ShadowRay { connection, path };
            self.shadow_ray_count += 1;
        }
        self.push_path(path, shaded.continues);
    }

    #[inline(always)]
    fn push_path(&mut self, path: u32, continues: bool) {
        self.paths[self.path_count] = path;
        self.path_count += usize::from(continues);
    }

    /// The shadow rays.
    pub fn shadow_rays(&self) -> &[ShadowRay] {
        &self.shadow_rays[..self.shadow_ray_count]
    }

    /// Indices of the paths that continue.
    pub fn surviving_paths(&self) -> &[u32] {
        &self.paths[..self.path_count]
    }

    /// Writes back the first `count` lanes, and appends their shadow rays and surviving paths.
    #[inline(always)]
    pub(crate) fn scatter<L: F32x8>(
        &mut self,
        shadow: &ShadowRays,
        continuations: &Continuations,
        indices: &[u32; LANES],
        count: usize,
        paths: &mut [PathState],
    ) {
        const ZEROS: &Array8 = &[0.0; EIGHT];
        // Transpose eight lanes at a time from arrays to records
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
                // Extension ray
                let path = &mut paths[index as usize];
                path.ray = bytemuck::cast(rays[i].store());
                path.throughput = vec3(r, g, b);
                path.bsdf_pdf = pdf;
                self.push_path(index, continuations.continues.0[lane] != 0);
                // Shadow ray
                let connection = Connection {
                    ray: bytemuck::cast(shadow_rays[i].store()),
                    radiance: vec3(red, green, blue),
                };
                self.shadow_rays[self.shadow_ray_count] = ShadowRay { connection, path: index };
                self.shadow_ray_count += usize::from(shadow.active.0[lane] != 0);
            }
        }
    }
}
