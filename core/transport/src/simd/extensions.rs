//! Extensions of light and camera sub-paths from diffuse vertices, as [`Vertex::extend`] computes them.

use crate::bsdf::MIN_COSINE;
use crate::integrators::bidirectional::weights::PartialWeights;
use crate::integrators::bidirectional::{Scattered, Vertex};
use crate::simd::diffuse_vertices::{Cosines, DiffuseVertices, Partial};
use crate::simd::lane_keys::LaneKeys;
use crate::simd::{LANES, U32xN, Vec3xN};
use lockstep_core::Settings;
use lockstep_core::geometry::{FAR, Ray, offset_origin};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniform};
use lockstep_core::math::sampling::{cosine_hemisphere, frame};
#[cfg(target_arch = "x86_64")]
use lockstep_core::math::simd;
use lockstep_core::math::simd::{F32x8, PortableF32x8};
use lockstep_core::math::vec3::{dot, max_component, normalize};
use lockstep_core::math::{INV_PI, min};
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
    /// Densities of merges.
    pub ratios: MergeRatios,
}

/// Scratch memory of one thread.
#[derive(Clone, Debug, Default)]
pub struct ExtensionBatch {
    /// Indices of vertices, with the samples of their sub-paths.
    queue: Vec<(u32, SampleKey)>,
    keys: LaneKeys,
    vertices: DiffuseVertices,
    words: [U32xN; 4],
    extended: Extended,
}

/// [`Scattered`] of all lanes.
#[derive(Clone, Debug, Default)]
struct Extended {
    /// Not zero where the sub-path continues.
    continues: U32xN,
    origin: Vec3xN,
    direction: Vec3xN,
    throughput: Vec3xN,
    partial: Partial,
}

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
        let Extension { settings, block, bounce, adjoint, ratios } = extension;
        let mut count = 0;
        for next in 0..self.queue.len() {
            let (index, key) = self.queue[next];
            let vertex = &vertices[index as usize];
            if !vertex.is_diffuse() {
                let words = draw(key, block, bounce);
                done(index as usize, vertex.extend(settings, bounce, words, adjoint, ratios));
                continue;
            }
            self.vertices.put(count, index);
            self.keys.put(count % LANES, key);
            count += 1;
            if count == LANES {
                self.finish(extension, vertices, count, &mut done);
                count = 0;
            }
        }
        if count > 0 {
            self.finish(extension, vertices, count, &mut done);
        }
        self.queue.clear();
    }

    /// Extends from the vertices of the first `count` lanes.
    #[inline(always)]
    fn finish(
        &mut self,
        extension: Extension<'_>,
        vertices: &[Vertex],
        count: usize,
        done: &mut impl FnMut(usize, Option<Scattered>),
    ) {
        self.step(extension, vertices, count);
        for lane in 0..count.min(LANES) {
            done(self.vertices.indices.0[lane] as usize, self.extended.at(lane));
        }
    }

    /// Computes all lanes with the widest instructions of the processor.
    fn step(&mut self, extension: Extension<'_>, vertices: &[Vertex], count: usize) {
        #[cfg(target_arch = "x86_64")]
        if simd::has_avx512() {
            // SAFETY: the processor has the features.
            return unsafe { self.step_by_avx512(extension, vertices, count) };
        } else if simd::has_avx2() {
            // SAFETY: as above.
            return unsafe { self.step_by_avx2(extension, vertices, count) };
        }
        self.step_by::<PortableF32x8>(extension, vertices, count);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,avx512f,avx512vl,avx512dq,avx512bw")]
    fn step_by_avx512(&mut self, extension: Extension<'_>, vertices: &[Vertex], count: usize) {
        self.step_by::<simd::Avx2F32x8>(extension, vertices, count);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn step_by_avx2(&mut self, extension: Extension<'_>, vertices: &[Vertex], count: usize) {
        self.step_by::<simd::Avx2F32x8>(extension, vertices, count);
    }

    #[inline(always)]
    fn step_by<L: F32x8>(&mut self, extension: Extension<'_>, vertices: &[Vertex], count: usize) {
        self.vertices.look_up::<L>(vertices, count);
        let dimension = extension.block.at(extension.bounce);
        self.keys.draw(extension.settings, dimension, &mut self.words);
        if extension.adjoint {
            self.extended.scatter::<true>(extension, &self.vertices, &self.words);
        } else {
            self.extended.scatter::<false>(extension, &self.vertices, &self.words);
        }
    }
}

impl Extended {
    /// Samples the diffuse BSDF and applies Russian roulette.
    #[inline(always)]
    fn scatter<const ADJOINT: bool>(
        &mut self,
        extension: Extension<'_>,
        vertices: &DiffuseVertices,
        words: &[U32xN; 4],
    ) {
        let Extension { settings, bounce, ratios, .. } = extension;
        let roulette = settings.roulette_from.is_some_and(|first| bounce >= first);
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
            let partial = vertices.partial(i).scatter(cosine, pdf, reverse_pdf, ratios);

            // Russian roulette
            let survival = if roulette { min(max_component(factor), 0.95) } else { 1.0 };
            let throughput = vertices.throughput.at(i) * factor;
            let ends = (max_component(base_color) <= 0.0)
                | (pdf <= 0.0)
                | (max_component(factor) <= 0.0)
                | (roulette & (uniform(words[3].0[i]) >= survival));

            // Store the extension ray
            self.continues.0[i] = u32::from(agrees & !ends);
            self.throughput.put(i, if roulette { throughput * (1.0 / survival) } else { throughput });
            self.partial.vcm.0[i] = partial.vcm;
            self.partial.vc.0[i] = partial.vc;
            self.partial.vm.0[i] = partial.vm;
            self.direction.put(i, direction);
            let at = vertices.position.at(i);
            self.origin.put(i, offset_origin(at, geometric, direction, vertices.scale.0[i]));
        }
    }

    /// The continuation of a lane.
    #[inline(always)]
    fn at(&self, lane: usize) -> Option<Scattered> {
        let lane = lane % LANES;
        let Self { origin, direction, throughput, partial, .. } = self;
        (self.continues.0[lane] != 0).then(|| Scattered {
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
