//! Photons, and their merges with vertices of camera sub-paths. The counterpart is
//! `kernels/integrators/bidirectional/photon.h`.

use super::vertex::Vertex;
use super::weights::{self, PartialWeights};
use bytemuck::{Pod, Zeroable};
use lockstep_core::math::vec3::{Vec3, max_component};
use lockstep_core::merging::Merging;

/// A vertex of a light sub-path as merges need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Photon {
    /// Position in world space.
    pub position: Vec3,
    /// The bounce of the ray that led to it, 0 from the light.
    pub bounce: u32,
    /// Unit direction to the light sub-path's previous vertex.
    pub from: Vec3,
    /// Partial weight on arrival, [`PartialWeights::vcm`].
    pub vcm: f32,
    /// Flux: the throughput of the light sub-path on arrival, emission included.
    pub throughput: Vec3,
    /// Partial weight on arrival, [`PartialWeights::vm`].
    pub vm: f32,
}

/// The radiance that a merge adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// Radiance of merging alone.
    pub value: Vec3,
    /// The weight among all techniques.
    pub weight: f32,
}

impl Photon {
    /// The photon of a vertex of a light sub-path; `None` at specular surfaces, whose BSDF no merge can
    /// evaluate. `bounce` is that of the ray that led to it.
    #[inline(always)]
    pub fn new(vertex: &Vertex, bounce: u32) -> Option<Self> {
        let Vertex { position, from, throughput, partial, .. } = *vertex;
        let photon = Self { position, bounce, from, vcm: partial.vcm, throughput, vm: partial.vm };
        (!vertex.is_specular()).then_some(photon)
    }

    /// Whether the full path of a merge with the vertex of a camera sub-path at `bounce` has at most `bounces` bounces.
    #[inline(always)]
    pub fn is_within(&self, bounce: u32, bounces: u32) -> bool {
        self.bounce + bounce < bounces
    }

    /// Merges with a vertex of a camera sub-path whose position is within the radius; `None` where no light is
    /// scattered. The photon's flux over the area of the circle is irradiance at the vertex, as if the photon had
    /// arrived there: its direction is seen under the vertex's normals.
    #[inline(never)]
    pub fn merge(&self, camera: &Vertex, merging: &Merging) -> Option<Merge> {
        let scattered = camera.evaluate_both(camera.from, self.from);
        if max_component(scattered.value) <= 0.0 {
            return None;
        }
        // The cosine of the incident light is part of the flux
        let density = merging.normalization / camera.cosine(self.from);
        let value = camera.throughput * self.throughput * scattered.value * density;
        let partial = PartialWeights { vcm: self.vcm, vc: 0.0, vm: self.vm };
        let weight =
            weights::merge(partial, camera.partial, scattered.pdf, scattered.reverse_pdf, merging.ratios);
        Some(Merge { value, weight })
    }
}
