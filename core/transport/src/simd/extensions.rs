//! Extensions of light and camera sub-paths from vertices, as [`Vertex::extend`] computes them.

use crate::bsdf::{MIN_COSINE, PrincipledTerms};
use crate::integrators::bidirectional::weights::PartialWeights;
use crate::integrators::bidirectional::{Scattered, Vertex};
use crate::simd::due::Due;
use crate::simd::vertex_lanes::{Cosines, Facings, Partial, VertexBatch, VertexLanes};
use crate::simd::widest::{Step, run_widest};
use crate::simd::{LANES, U32xN, Vec3xN};
use lockstep_core::Settings;
use lockstep_core::geometry::{FAR, Ray, offset_origin};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniform};
use lockstep_core::math::sampling::{cosine_hemisphere, frame};
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::{Vec3, dot, max_component, normalize, vec3};
use lockstep_core::math::{INV_PI, max, min};
use lockstep_core::merging::MergeRatios;

/// Constants of the extensions of a bounce.
#[derive(Clone, Copy, Debug)]
pub struct Extension<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The dimensions of the draws.
    pub block: Block,
    /// The bounce of the rays that have led to the vertices.
    pub bounce: u32,
    /// True for light sub-paths.
    pub adjoint: bool,
    /// Densities of merges over those of connections.
    pub ratios: MergeRatios,
}

/// Scratch memory of one thread for extending sub-paths.
#[derive(Clone, Debug, Default)]
pub struct ExtensionBatch {
    /// Indices of vertices, with the samples of their sub-paths.
    queue: Vec<(u32, SampleKey)>,
    /// Diffuse and principled vertices that are due.
    due: [Due; 2],
    vertices: VertexLanes,
    words: [U32xN; 4],
    extended: Extended,
}

/// [`Scattered`] of all lanes.
#[derive(Clone, Debug, Default)]
struct Extended {
    /// [`CONTINUES`] or [`ALONE`]; else the sub-path ends.
    state: U32xN,
    origin: Vec3xN,
    direction: Vec3xN,
    throughput: Vec3xN,
    partial: Partial,
}

/// The state of a lane whose sub-path continues.
const CONTINUES: u32 = 1;
/// The state of a lane that must be computed alone.
const ALONE: u32 = 2;

impl ExtensionBatch {
    /// Queues the sub-path of a sample for extension from a vertex.
    #[inline(always)]
    pub fn push(&mut self, index: usize, key: SampleKey) {
        self.queue.push((index as u32, key));
    }

    /// Extends the queued sub-paths from their vertices. `done` receives each index once, in any order, with the sub-path's
    /// continuation or `None` where it ends.
    #[inline(always)]
    pub fn extend(
        &mut self,
        extension: Extension<'_>,
        vertices: &[Vertex],
        mut done: impl FnMut(usize, Option<Scattered>),
    ) {
        for next in 0..self.queue.len() {
            let (index, key) = self.queue[next];
            let vertex = &vertices[index as usize];
            let batch = VertexBatch::of(vertex);
            if batch == VertexBatch::Alone {
                done(index as usize, extension.of(vertex, key));
                continue;
            }
            if self.due[batch as usize].push(index, key) {
                self.empty(batch, extension, vertices, &mut done);
            }
        }
        for batch in [VertexBatch::Diffuse, VertexBatch::Principled] {
            self.empty(batch, extension, vertices, &mut done);
        }
        self.queue.clear();
    }

    /// Extends the sub-paths of a batch that are due.
    #[inline(never)]
    fn empty(
        &mut self,
        batch: VertexBatch,
        extension: Extension<'_>,
        vertices: &[Vertex],
        done: &mut impl FnMut(usize, Option<Scattered>),
    ) {
        let is_principled = batch == VertexBatch::Principled;
        let count = self.due[usize::from(is_principled)].count();
        if count == 0 {
            return;
        }
        match (is_principled, extension.adjoint) {
            (false, false) => run_widest(ExtensionStep::<false, false> { batch: self, extension, vertices }),
            (false, true) => run_widest(ExtensionStep::<false, true> { batch: self, extension, vertices }),
            (true, false) => run_widest(ExtensionStep::<true, false> { batch: self, extension, vertices }),
            (true, true) => run_widest(ExtensionStep::<true, true> { batch: self, extension, vertices }),
        }
        let due = &mut self.due[usize::from(is_principled)];
        for lane in 0..count {
            let index = due.indices.0[lane] as usize;
            let next = if self.extended.state.0[lane] == ALONE {
                extension.of(&vertices[index], due.keys.at(lane, extension.settings))
            } else {
                self.extended.at(lane)
            };
            done(index, next);
        }
        due.clear();
    }
}

impl Extension<'_> {
    /// The continuation of a single vertex.
    #[inline(always)]
    fn of(&self, vertex: &Vertex, key: SampleKey) -> Option<Scattered> {
        let words = draw(key, self.block, self.bounce);
        vertex.extend(self.settings, self.bounce, words, self.adjoint, self.ratios)
    }

    /// Whether sub-paths play Russian roulette.
    #[inline(always)]
    fn has_roulette(&self) -> bool {
        self.settings.roulette_from.is_some_and(|first| self.bounce >= first)
    }
}

/// Extends all lanes that are due, of principled surfaces if `PRINCIPLED`, else of diffuse ones.
struct ExtensionStep<'a, const PRINCIPLED: bool, const ADJOINT: bool> {
    batch: &'a mut ExtensionBatch,
    extension: Extension<'a>,
    vertices: &'a [Vertex],
}

impl<const PRINCIPLED: bool, const ADJOINT: bool> Step for ExtensionStep<'_, PRINCIPLED, ADJOINT> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Self { batch, extension, vertices: all } = self;
        let ExtensionBatch { due, vertices, words, extended, .. } = batch;
        let due = &due[usize::from(PRINCIPLED)];
        vertices.look_up::<L, PRINCIPLED>(all, &due.indices, due.count());
        due.keys.draw(extension.settings, extension.block.at(extension.bounce), words);
        if PRINCIPLED {
            extended.scatter_principled::<ADJOINT>(extension, vertices, words);
        } else {
            extended.scatter::<ADJOINT>(extension, vertices, words);
        }
    }
}

impl Extended {
    /// Samples the diffuse BSDF and applies Russian roulette.
    #[inline(always)]
    fn scatter<const ADJOINT: bool>(
        &mut self,
        extension: Extension<'_>,
        vertices: &VertexLanes,
        words: &[U32xN; 4],
    ) {
        let roulette = extension.has_roulette();
        for i in 0..LANES {
            // Sample the cosine-weighted hemisphere on the side of the previous vertex
            let (geometric, shading, from) =
                (vertices.geometric.at(i), vertices.shading.at(i), vertices.from.at(i));
            let side = if dot(geometric, from) > 0.0 { 1.0 } else { -1.0 };
            let faced = geometric * side;
            let normal = if dot(shading, from) * side > MIN_COSINE { shading * side } else { faced };
            let (s, t) = frame(normal);
            let wi = cosine_hemisphere(uniform(words[1].0[i]), uniform(words[2].0[i]));
            let direction = normalize(s * wi.x + t * wi.y + normal * wi.z);
            let pdf = wi.z * INV_PI;
            let agrees = dot(faced, direction) * wi.z > 0.0;

            // Factor of the throughput, and the part of weights
            let base_color = vertices.base_color.at(i);
            let cosines = Cosines::new(geometric, shading, direction, from);
            let reverse_pdf = cosines.pdf();
            let [cosine, cosine_from] = cosines.geometric.map(f32::abs);
            let factor =
                if ADJOINT { base_color * reverse_pdf * (cosine / (cosine_from * pdf)) } else { base_color };
            let partial = vertices.partial(i).scatter(cosine, pdf, reverse_pdf, extension.ratios);

            // Russian roulette
            let survival = if roulette { min(max_component(factor), 0.95) } else { 1.0 };
            let throughput = vertices.throughput.at(i) * factor;
            let ends = (max_component(base_color) <= 0.0)
                | (pdf <= 0.0)
                | (max_component(factor) <= 0.0)
                | (roulette & (uniform(words[3].0[i]) >= survival));

            // Store the extension ray
            self.state.0[i] = u32::from(agrees & !ends);
            self.throughput.put(i, if roulette { throughput * (1.0 / survival) } else { throughput });
            self.put_ray(i, vertices, direction, partial);
        }
    }

    /// Samples the BSDF of principled surfaces and applies Russian roulette.
    #[inline(always)]
    fn scatter_principled<const ADJOINT: bool>(
        &mut self,
        extension: Extension<'_>,
        vertices: &VertexLanes,
        words: &[U32xN; 4],
    ) {
        let roulette = extension.has_roulette();
        for i in 0..LANES {
            // Sample a direction in the frame that the previous vertex sees
            let (geometric, shading, from) =
                (vertices.geometric.at(i), vertices.shading.at(i), vertices.from.at(i));
            let (side, normal) = Cosines::new(geometric, shading, from, from).facing(geometric, shading);
            let (s, t) = frame(normal);
            let to_local = |world: Vec3| vec3(dot(world, s), dot(world, t), dot(world, normal));
            let with_cosine = |local: Vec3| vec3(local.x, local.y, max(local.z, MIN_COSINE));
            let (surface, local_from) = (vertices.principled(i), to_local(from));
            let wo = with_cosine(local_from);
            let u = [uniform(words[0].0[i]), uniform(words[1].0[i]), uniform(words[2].0[i])];
            let sampled = PrincipledTerms::new(&surface, wo).sample(&surface, wo, u);
            let direction = normalize(s * sampled.wi.x + t * sampled.wi.y + normal * sampled.wi.z);

            // Evaluate the opposite direction of travel, where it sees the same frame
            let Facings { cosines, is_same, .. } = vertices.facing(i, direction, from);
            let back = with_cosine(to_local(direction));
            let reverse = PrincipledTerms::new(&surface, back).evaluate(back, local_from);
            let is_seen = cosines.geometric[1] * side * local_from.z > 0.0;
            let [cosine, cosine_from] = cosines.geometric.map(f32::abs);
            let seen = |value: f32| if is_seen { value } else { 0.0 };
            let reverse_value = vec3(seen(reverse.value.x), seen(reverse.value.y), seen(reverse.value.z));

            // Factor of the throughput, and the part of weights
            let factor =
                if ADJOINT { reverse_value * (cosine / (cosine_from * sampled.pdf)) } else { sampled.weight };
            let partial =
                vertices.partial(i).scatter(cosine, sampled.pdf, seen(reverse.pdf), extension.ratios);

            // Russian roulette
            let survival = if roulette { min(max_component(factor), 0.95) } else { 1.0 };
            let throughput = vertices.throughput.at(i) * factor;
            let agrees = dot(geometric, direction) * side * sampled.wi.z > 0.0;
            let absorbed = (max_component(sampled.weight) <= 0.0) | !agrees | (sampled.pdf <= 0.0);
            let ends = (max_component(factor) <= 0.0) | (roulette & (uniform(words[3].0[i]) >= survival));

            // Store the extension ray
            let state = if is_same { u32::from(!ends) } else { ALONE };
            self.state.0[i] = if absorbed { 0 } else { state };
            self.throughput.put(i, if roulette { throughput * (1.0 / survival) } else { throughput });
            self.put_ray(i, vertices, direction, partial);
        }
    }

    /// Stores the extension ray of a lane with its part of weights.
    #[inline(always)]
    fn put_ray(&mut self, i: usize, vertices: &VertexLanes, direction: Vec3, partial: PartialWeights) {
        self.partial.vcm.0[i] = partial.vcm;
        self.partial.vc.0[i] = partial.vc;
        self.partial.vm.0[i] = partial.vm;
        self.direction.put(i, direction);
        let (at, geometric) = (vertices.position.at(i), vertices.geometric.at(i));
        self.origin.put(i, offset_origin(at, geometric, direction, vertices.scale.0[i]));
    }

    /// The continuation of a lane.
    #[inline(always)]
    fn at(&self, lane: usize) -> Option<Scattered> {
        let lane = lane % LANES;
        let Self { origin, direction, throughput, partial, .. } = self;
        (self.state.0[lane] == CONTINUES).then(|| Scattered {
            ray: Ray { origin: origin.at(lane), t_min: 0.0, direction: direction.at(lane), t_max: FAR },
            throughput: throughput.at(lane),
            partial: PartialWeights {
                vcm: partial.vcm.0[lane],
                vc: partial.vc.0[lane],
                vm: partial.vm.0[lane],
            },
        })
    }
}
