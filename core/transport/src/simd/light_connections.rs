//! Connections of vertices of camera sub-paths to lights, as [`to_light`] computes them.

use crate::integrators::bidirectional::weights;
use crate::integrators::bidirectional::{Connection, Vertex, to_light};
use crate::simd::connection_lanes::{ConnectionLanes, Outcome};
use crate::simd::due::Due;
use crate::simd::vertex_lanes::{VertexBatch, VertexLanes};
use crate::simd::widest::{Step, run_widest};
use crate::simd::{F32xN, LANES, U32xN, Vec3xN};
use crate::{emission, lights};
use lockstep_core::Settings;
use lockstep_core::geometry::offset_origin;
use lockstep_core::math::rng::{Block, SampleKey};
use lockstep_core::math::sampling::pick;
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::max_component;
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::SceneData;
use lockstep_core::splat::Technique;

/// Constants of the connections of a bounce to lights.
#[derive(Clone, Copy, Debug)]
pub struct LightConnections<'a> {
    /// The scene.
    pub scene: &'a SceneData,
    /// The settings.
    pub settings: &'a Settings,
    /// The bounce of the rays that have led to the vertices.
    pub bounce: u32,
    /// Densities of merges over those of connections.
    pub ratios: MergeRatios,
}

/// Scratch memory of one thread for connecting camera sub-paths to lights.
#[derive(Clone, Debug, Default)]
pub struct LightConnectionBatch {
    /// Diffuse and principled vertices that are due.
    due: [Due; 2],
    vertices: VertexLanes,
    words: [U32xN; 4],
    chosen: ChosenLights,
    found: ConnectionLanes,
}

/// Sampled lights, one per lane.
#[derive(Clone, Debug, Default)]
struct ChosenLights {
    direction: Vec3xN,
    shadow_end: F32xN,
    radiance: Vec3xN,
    /// Zero where no light arrives.
    pdf: F32xN,
    /// Not zero for delta lights.
    delta: U32xN,
    /// [`emission::pdf_ratio`].
    ratio: F32xN,
}

impl LightConnectionBatch {
    /// Connects vertices to lights. `key` tells the sample of a vertex; `done` receives the index of the vertex with each
    /// connection that is found, in any order.
    #[inline(always)]
    pub fn connect(
        &mut self,
        constants: LightConnections<'_>,
        vertices: &[Vertex],
        key: impl Fn(usize) -> SampleKey,
        mut done: impl FnMut(usize, Connection),
    ) {
        let LightConnections { scene, bounce, ratios, .. } = constants;
        if scene.lights.is_empty() {
            return;
        }
        for (index, vertex) in vertices.iter().enumerate() {
            let batch = VertexBatch::of(vertex);
            if batch == VertexBatch::Alone {
                if let Some(connection) = to_light(scene, key(index), bounce, vertex, ratios) {
                    done(index, connection);
                }
            } else if self.due[batch as usize].push(index as u32, key(index)) {
                self.empty(batch, constants, vertices, &mut done);
            }
        }
        for batch in [VertexBatch::Diffuse, VertexBatch::Principled] {
            self.empty(batch, constants, vertices, &mut done);
        }
    }

    /// Connects the vertices of a batch that are due.
    #[inline(never)]
    fn empty(
        &mut self,
        batch: VertexBatch,
        constants: LightConnections<'_>,
        vertices: &[Vertex],
        done: &mut impl FnMut(usize, Connection),
    ) {
        let is_principled = batch == VertexBatch::Principled;
        let count = self.due[usize::from(is_principled)].count();
        if count == 0 {
            return;
        }
        if is_principled {
            run_widest(LightStep::<true> { batch: self, constants, vertices });
        } else {
            run_widest(LightStep::<false> { batch: self, constants, vertices });
        }
        let LightConnections { scene, settings, bounce, ratios } = constants;
        let technique = Technique { light: 1, camera: bounce + 2 };
        let due = &mut self.due[usize::from(is_principled)];
        for lane in 0..count {
            let (index, key) = (due.indices.0[lane] as usize, due.keys.at(lane, settings));
            match self.found.outcome(lane) {
                Outcome::Dark => {}
                Outcome::Lit => done(index, self.found.at(lane, key.pixel, technique)),
                Outcome::Alone => {
                    if let Some(connection) = to_light(scene, key, bounce, &vertices[index], ratios) {
                        done(index, connection);
                    }
                }
            }
        }
        due.clear();
    }
}

/// Connects all lanes that are due, of principled surfaces if `PRINCIPLED`, else of diffuse ones.
struct LightStep<'a, const PRINCIPLED: bool> {
    batch: &'a mut LightConnectionBatch,
    constants: LightConnections<'a>,
    vertices: &'a [Vertex],
}

impl<const PRINCIPLED: bool> Step for LightStep<'_, PRINCIPLED> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Self { batch, constants, vertices: all } = self;
        let LightConnectionBatch { due, vertices, words, chosen, found } = batch;
        let due = &due[usize::from(PRINCIPLED)];
        vertices.look_up::<L, PRINCIPLED>(all, &due.indices, due.count());
        due.keys.draw(constants.settings, Block::Light.at(constants.bounce), words);
        chosen.sample(constants, due, vertices, words);
        connect::<PRINCIPLED>(constants, vertices, chosen, found);
    }
}

impl ChosenLights {
    /// Samples a light for each lane in use.
    #[inline(always)]
    fn sample(
        &mut self,
        constants: LightConnections<'_>,
        due: &Due,
        vertices: &VertexLanes,
        words: &[U32xN; 4],
    ) {
        let LightConnections { scene, settings, bounce, .. } = constants;
        for lane in 0..due.count() {
            let (position, scale) = (vertices.position.at(lane), vertices.scale.0[lane]);
            let words = [words[0].0[lane], words[1].0[lane], words[2].0[lane], words[3].0[lane]];
            let key = due.keys.at(lane, settings);
            let light = &scene.lights[pick(&scene.light_alias, words[0], words[1]) as usize];
            let sample = lights::sample_one(scene, light, position, scale, words, key, bounce);
            self.direction.put(lane, sample.direction);
            self.shadow_end.0[lane] = sample.shadow_end;
            self.radiance.put(lane, sample.radiance);
            self.pdf.0[lane] = sample.pdf;
            self.delta.0[lane] = u32::from(sample.delta);
            self.ratio.0[lane] = emission::pdf_ratio(scene, light, position, &sample);
        }
    }
}

/// Connects the vertices of all lanes to their lights.
#[inline(always)]
fn connect<const PRINCIPLED: bool>(
    constants: LightConnections<'_>,
    vertices: &VertexLanes,
    chosen: &ChosenLights,
    found: &mut ConnectionLanes,
) {
    for i in 0..LANES {
        let (direction, light_pdf) = (chosen.direction.at(i), chosen.pdf.0[i]);
        let scattered = vertices.evaluate::<PRINCIPLED>(i, vertices.from.at(i), direction);
        let value = vertices.throughput.at(i) * scattered.value * chosen.radiance.at(i) * (1.0 / light_pdf);

        // Weigh it
        let pdf = if chosen.delta.0[i] != 0 { 0.0 } else { scattered.pdf };
        let (reverse_pdf, ratio, cosine) = (scattered.reverse_pdf, chosen.ratio.0[i], scattered.cosines[1]);
        let partial = vertices.partial(i);
        let weight =
            weights::sample_light(partial, pdf, reverse_pdf, light_pdf, ratio, cosine, constants.ratios);
        found.put_value(i, value, weight);

        // Build the shadow ray
        let (is_unlit, is_dark) = (light_pdf <= 0.0, max_component(value) <= 0.0);
        found.put_outcome(i, !is_unlit & !is_dark, scattered.is_valid | is_unlit);
        let (position, geometric) = (vertices.position.at(i), vertices.geometric.at(i));
        let origin = offset_origin(position, geometric, direction, vertices.scale.0[i]);
        found.put_ray(i, origin, direction, chosen.shadow_end.0[i]);
    }
}
