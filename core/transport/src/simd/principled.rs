//! Batches of principled surfaces, bare or under a clearcoat: their BSDF is evaluated and sampled for all lanes together.
//! Everything before (interactions, textures, lights) and after (MIS weights, rays) is done path by path.

use crate::bsdf::{
    BLACK, Evaluation, LayerAxes, LayeredTerms, PrincipledTerms, Scatter, Surface, SurfaceLayers, ThinFilm,
};
use crate::direct_light::{SampledLight, connect_to_light, sample_light};
use crate::integrators::path::{Arrival, scatter};
use crate::integrators::{PathState, Shaded};
use crate::interaction::{Departure, ShadingFrame};
use crate::simd::{F32xN, LANES, ShadeOutput, Vec3xN};
use lockstep_core::Settings;
use lockstep_core::math::rng::{Block, draw, uniforms};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{MaterialKind, SceneData};

/// A path whose BSDF is due.
#[derive(Clone)]
struct Pending {
    path: u32,
    departure: Departure,
    local: ShadingFrame<'static>,
    light: Option<SampledLight>,
    /// The draw of Russian roulette.
    roulette: f32,
}

/// Layers of one surface per lane: all but sheen, thin film, anisotropy and a normal of the clearcoat's own.
#[derive(Clone, Default)]
struct CoatLanes {
    specular_color: Vec3xN,
    specular: F32xN,
    clearcoat: F32xN,
    clearcoat_roughness: F32xN,
    clearcoat_f0: F32xN,
}

impl CoatLanes {
    #[inline(always)]
    fn put(&mut self, lane: usize, layers: &SurfaceLayers) {
        self.specular_color.put(lane, layers.specular_color);
        self.specular.0[lane] = layers.specular;
        self.clearcoat.0[lane] = layers.clearcoat;
        self.clearcoat_roughness.0[lane] = layers.clearcoat_roughness;
        self.clearcoat_f0.0[lane] = layers.clearcoat_f0;
    }

    #[inline(always)]
    fn at(&self, lane: usize) -> SurfaceLayers {
        SurfaceLayers {
            specular_color: self.specular_color.at(lane),
            specular: self.specular.0[lane],
            sheen_color: Vec3::ZERO,
            sheen_roughness: 0.0,
            clearcoat: self.clearcoat.0[lane],
            clearcoat_roughness: self.clearcoat_roughness.0[lane],
            clearcoat_f0: self.clearcoat_f0.0[lane],
            iridescence: 0.0,
            film: ThinFilm { ior: 1.0, thickness: 0.0 },
            anisotropy: 0.0,
            along: Vec3::ZERO,
            coat_normal: Vec3::ZERO,
        }
    }
}

/// The axes of layers without anisotropy and normals of their own.
const PLAIN_AXES: LayerAxes =
    LayerAxes { along: [1.0, 0.0], coat: vec3(0.0, 0.0, 1.0), geometric: vec3(0.0, 0.0, 1.0) };

/// Surfaces and draws, one per lane, and what their BSDFs return. The surfaces lie under layers if `COATED`.
#[derive(Clone, Default)]
pub(crate) struct PrincipledBatch<const COATED: bool> {
    pending: Vec<Pending>,
    // Surfaces
    wo: Vec3xN,
    base_color: Vec3xN,
    roughness: F32xN,
    metallic: F32xN,
    ior: F32xN,
    transmission: F32xN,
    layers: CoatLanes,
    // Directions of lights, and draws
    light: Vec3xN,
    u: [F32xN; 3],
    // Evaluations
    value: Vec3xN,
    light_pdf: F32xN,
    // Samples
    wi: Vec3xN,
    weight: Vec3xN,
    pdf: F32xN,
}

impl<const COATED: bool> PrincipledBatch<COATED> {
    /// Assigns a path to a lane, with its light and draws; true when all lanes are full.
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        scene: &SceneData,
        settings: &Settings,
        bounce: u32,
        index: u32,
        path: &PathState,
        arrival: &Arrival<'_>,
    ) -> bool {
        let Arrival { at, local, instance, material, .. } = arrival;
        let light = sample_light(scene, settings, bounce, path, at, local, &mut ());
        let u = uniforms(draw(path.key, Block::Bsdf, bounce));
        let lane = self.pending.len() % LANES;
        self.wo.put(lane, local.wo);
        self.base_color.put(lane, local.surface.base_color);
        self.roughness.0[lane] = local.surface.roughness;
        self.metallic.0[lane] = local.surface.metallic;
        self.ior.0[lane] = local.surface.ior;
        self.transmission.0[lane] = local.surface.transmission;
        if COATED && let Some(layers) = at.layers(scene, instance, material) {
            self.layers.put(lane, &layers);
        }
        self.light.put(lane, light.map_or(local.wo, |light| light.wi));
        for (lanes, u) in self.u.iter_mut().zip(u) {
            lanes.0[lane] = u;
        }
        let departure = local.departure(at);
        self.pending.push(Pending { path: index, departure, local: local.clone(), light, roulette: u[3] });
        self.pending.len() == LANES
    }

    /// Evaluates and samples the BSDFs of all lanes.
    #[inline(always)]
    pub(crate) fn evaluate(&mut self) {
        for i in 0..LANES {
            let surface = Surface {
                kind: MaterialKind::Principled as u32,
                base_color: self.base_color.at(i),
                roughness: self.roughness.0[i],
                metallic: self.metallic.0[i],
                ior: self.ior.0[i],
                transmission: self.transmission.0[i],
                outside: true,
                multiscatter: false,
            };
            let wo = self.wo.at(i);
            let (light, u) = (self.light.at(i), [self.u[0].0[i], self.u[1].0[i], self.u[2].0[i]]);
            let (evaluation, scattered) = if COATED {
                scatter_coated(&surface, &self.layers.at(i), wo, light, u)
            } else {
                let terms = PrincipledTerms::new(&surface, wo);
                (terms.evaluate(wo, light), terms.sample(&surface, wo, u))
            };
            self.value.put(i, evaluation.value);
            self.light_pdf.0[i] = evaluation.pdf;
            self.wi.put(i, scattered.wi);
            self.weight.put(i, scattered.weight);
            self.pdf.0[i] = scattered.pdf;
        }
    }

    /// Continues the paths of all lanes by their BSDFs, and empties the lanes.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        settings: &Settings,
        bounce: u32,
        paths: &mut [PathState],
        output: &mut ShadeOutput,
    ) {
        for (i, pending) in self.pending.iter().enumerate() {
            let i = i % LANES;
            let Pending { path: index, departure, local, light, roulette } = pending;
            let path = &mut paths[*index as usize];
            let evaluation = Evaluation { value: self.value.at(i), pdf: self.light_pdf.0[i] };
            let connection = light
                .as_ref()
                .and_then(|light| connect_to_light(settings, path, departure, light, evaluation, &mut ()));
            let scattered = Scatter { wi: self.wi.at(i), weight: self.weight.at(i), pdf: self.pdf.0[i] };
            let continues = scatter(settings, bounce, path, departure, local, scattered, *roulette, &mut ());
            output.push(*index, &Shaded { continues, connection });
        }
        self.pending.clear();
    }

    /// True where no lane is in use.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// The BSDF of a surface under a clearcoat towards a light, and its sample for the draws `u`.
#[inline(always)]
fn scatter_coated(
    surface: &Surface,
    layers: &SurfaceLayers,
    wo: Vec3,
    light: Vec3,
    u: [f32; 3],
) -> (Evaluation, Scatter) {
    let terms = LayeredTerms::new(surface, layers, &PLAIN_AXES, wo);
    let evaluation = if light.z == 0.0 { BLACK } else { terms.evaluate(light) };
    (evaluation, terms.sample(u))
}
