//! Weights of multiple importance sampling for all techniques of a path, by the balance heuristic and the
//! recursion of Georgiev et al. (2012, *Light Transport Simulation with Vertex Connection and Merging*,
//! supplement). The counterpart is `kernels/integrators/bidirectional/weights.h`.
//!
//! The weight of a technique is one over the sum of all techniques' densities over its own. A sub-path
//! carries the part of that sum which its own vertices determine, so a weight takes constant time.
//! [`MergeRatios`] say which techniques there are: without merging, or without connections, one of them is zero.

use lockstep_core::merging::MergeRatios;

/// The part of the sum of density ratios that a sub-path determines so far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PartialWeights {
    /// Density ratio of the technique that ends the sub-path one vertex earlier; d^VCM in the paper of Georgiev et al.
    pub vcm: f32,
    /// Sum of the density ratios of all techniques that end the sub-path still earlier; d^VC in the paper of Georgiev et
    /// al. Their common factor, the density of the last direction but one seen from the other end, is unknown until the
    /// next vertex.
    pub vc: f32,
    /// Sum of the density ratios of all earlier techniques as seen from a merge; d^VM in the paper of Georgiev et al.
    pub vm: f32,
}

impl PartialWeights {
    /// Partial weights at the first vertex of a light sub-path. `direct_pdf` is the density per solid angle with which light
    /// sampling there chooses the point on the light, or its product with the squared distance for a light
    /// without area; `emission_pdf` that of the light's ray. `cosine_at_light` is one for lights without a
    /// surface. Light of a delta light cannot be hit.
    #[inline(always)]
    pub fn of_light(
        direct_pdf: f32,
        emission_pdf: f32,
        cosine_at_light: f32,
        cosine: f32,
        delta: bool,
        ratios: MergeRatios,
    ) -> Self {
        let vc = if delta { 0.0 } else { cosine_at_light / (emission_pdf * cosine) };
        let vcm = direct_pdf * cosine_at_light / (emission_pdf * cosine);
        Self { vcm, vc, vm: vc * ratios.connect }
    }

    /// Partial weights on a camera ray. `importance` is the density per solid angle of its direction, `light_paths` the
    /// number of light sub-paths of a sample index, all of which may reach the pixel.
    #[inline(always)]
    pub fn of_camera(light_paths: f32, importance: f32) -> Self {
        Self { vcm: light_paths / importance, vc: 0.0, vm: 0.0 }
    }

    /// The partial weights after a ray of this squared length has arrived at a surface under a cosine.
    #[inline(always)]
    pub fn arrive(self, distance2: f32, cosine: f32) -> Self {
        Self { vcm: self.vcm * (distance2 / cosine), vc: self.vc / cosine, vm: self.vm / cosine }
    }

    /// The partial weights after scattering by a BSDF with a density: under this cosine, with this density and that of the
    /// opposite direction of travel.
    #[inline(always)]
    pub fn scatter(self, cosine: f32, pdf: f32, reverse_pdf: f32, ratios: MergeRatios) -> Self {
        let vc = cosine / pdf * (self.vc * reverse_pdf + self.vcm + ratios.merge);
        let vm = cosine / pdf * (self.vm * reverse_pdf + self.vcm * ratios.connect + 1.0);
        Self { vcm: 1.0 / pdf, vc, vm }
    }

    /// The partial weights after scattering by a delta distribution, which no connection and no merge can stand in for.
    #[inline(always)]
    pub fn scatter_specular(self, cosine: f32) -> Self {
        Self { vcm: 0.0, vc: self.vc * cosine, vm: self.vm * cosine }
    }

    /// The sum of the density ratios of a sub-path that ends at a surface, where `reverse_pdf` is the density per solid
    /// angle of the direction to its previous vertex for a path that comes from the other end. It includes the merge at the
    /// surface.
    #[inline(always)]
    pub fn sum(self, reverse_pdf: f32, ratios: MergeRatios) -> f32 {
        self.vcm + self.vc * reverse_pdf + ratios.merge
    }

    /// The sum of the density ratios of a sub-path that ends in a merge at a surface, with `reverse_pdf` as in
    /// [`Self::sum`].
    #[inline(always)]
    pub fn sum_of_merge(self, reverse_pdf: f32, ratios: MergeRatios) -> f32 {
        self.vcm * ratios.connect + self.vm * reverse_pdf
    }
}

/// The weight of a camera sub-path that hits a light. `on_ray` is its part before it arrives, the densities
/// are as in [`PartialWeights::of_light`], and the cosine is one for the environment.
#[inline(always)]
pub fn hit_light(on_ray: PartialWeights, direct_pdf: f32, emission_pdf: f32, cosine_at_light: f32) -> f32 {
    1.0 / (1.0 + direct_pdf * on_ray.vcm + emission_pdf * (on_ray.vc / cosine_at_light))
}

/// The weight of light sampling from a vertex. `pdf` is the density of the light's direction under BSDF
/// sampling, zero for a delta light; `emission_ratio` that of [`crate::emission::pdf_ratio`].
#[inline(always)]
pub fn sample_light(
    at: PartialWeights,
    pdf: f32,
    reverse_pdf: f32,
    direct_pdf: f32,
    emission_ratio: f32,
    cosine: f32,
    ratios: MergeRatios,
) -> f32 {
    1.0 / (1.0 + pdf / direct_pdf + emission_ratio * cosine * at.sum(reverse_pdf, ratios))
}

/// The weight of a light sub-path's connection to the camera.
#[inline(always)]
pub fn connect_to_camera(
    at: PartialWeights,
    reverse_pdf: f32,
    importance: f32,
    cosine: f32,
    distance2: f32,
    light_paths: f32,
    ratios: MergeRatios,
) -> f32 {
    1.0 / (1.0 + importance * cosine / distance2 / light_paths * at.sum(reverse_pdf, ratios))
}

/// The weight of a connection of two surfaces. Each end is its part, the density of its own direction to the
/// other end, the density of the direction to its previous vertex for a path that comes from the other end,
/// and its cosine.
#[inline(always)]
pub fn connect(
    light: (PartialWeights, f32, f32, f32),
    camera: (PartialWeights, f32, f32, f32),
    distance2: f32,
    ratios: MergeRatios,
) -> f32 {
    let (at_light, light_pdf, light_reverse, light_cosine) = light;
    let (at_camera, camera_pdf, camera_reverse, camera_cosine) = camera;
    let before = camera_pdf * light_cosine / distance2 * at_light.sum(light_reverse, ratios);
    let behind = light_pdf * camera_cosine / distance2 * at_camera.sum(camera_reverse, ratios);
    1.0 / (1.0 + before + behind)
}

/// The weight of a merge of a photon with a vertex of a camera sub-path. `pdf` is the density with which the
/// camera sub-path chooses the photon's direction there, `reverse_pdf` that with which the light sub-path
/// chooses the direction to the camera sub-path's previous vertex.
#[inline(always)]
pub fn merge(
    photon: PartialWeights,
    camera: PartialWeights,
    pdf: f32,
    reverse_pdf: f32,
    ratios: MergeRatios,
) -> f32 {
    1.0 / (1.0 + photon.sum_of_merge(pdf, ratios) + camera.sum_of_merge(reverse_pdf, ratios))
}
