//! Connections of vertices of light sub-paths to the lens, as [`to_camera`] computes them.

use crate::camera_importance;
use crate::integrators::bidirectional::weights;
use crate::integrators::bidirectional::{Connection, Vertex, to_camera};
use crate::simd::connection_lanes::{ConnectionLanes, Outcome};
use crate::simd::due::Due;
use crate::simd::vertex_lanes::{VertexBatch, VertexLanes};
use crate::simd::widest::{Step, run_widest};
use crate::simd::{F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::Settings;
use lockstep_core::geometry::offset_origin;
use lockstep_core::math::rng::{Block, SampleKey, uniform};
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::max_component;
use lockstep_core::merging::MergeRatios;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::splat::Technique;

/// Constants of the connections of a bounce to the lens.
#[derive(Clone, Copy, Debug)]
pub struct LensConnections<'a> {
    /// The camera.
    pub camera: &'a CameraFrame,
    /// The settings.
    pub settings: &'a Settings,
    /// The bounce of the rays that have led to the vertices.
    pub bounce: u32,
    /// Densities of merges over those of connections.
    pub ratios: MergeRatios,
}

/// Scratch memory of one thread for connecting light sub-paths to the lens.
#[derive(Clone, Debug, Default)]
pub struct LensConnectionBatch {
    /// Diffuse and principled vertices that are due.
    due: [Due; 2],
    vertices: VertexLanes,
    words: [U32xN; 4],
    lens: LensSamples,
    found: ConnectionLanes,
}

/// Sampled points of the lens, one per lane, as in [`camera_importance::CameraSample`].
#[derive(Clone, Debug, Default)]
struct LensSamples {
    /// Not zero where the film shows the vertex.
    is_shown: U32xN,
    pixel: U32xN,
    direction: Vec3xN,
    distance: F32xN,
    importance: F32xN,
}

impl LensConnectionBatch {
    /// Connects vertices to the lens. `key` tells the sample of a vertex; `done` receives the index of the vertex with each
    /// connection that is found, in any order.
    #[inline(always)]
    pub fn connect(
        &mut self,
        constants: LensConnections<'_>,
        vertices: &[Vertex],
        key: impl Fn(usize) -> SampleKey,
        mut done: impl FnMut(usize, Connection),
    ) {
        let LensConnections { camera, bounce, ratios, .. } = constants;
        for (index, vertex) in vertices.iter().enumerate() {
            let batch = VertexBatch::of(vertex);
            if batch == VertexBatch::Alone {
                if let Some(connection) = to_camera(camera, key(index), bounce, vertex, ratios) {
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
        constants: LensConnections<'_>,
        vertices: &[Vertex],
        done: &mut impl FnMut(usize, Connection),
    ) {
        let is_principled = batch == VertexBatch::Principled;
        let count = self.due[usize::from(is_principled)].count();
        if count == 0 {
            return;
        }
        if is_principled {
            run_widest(LensStep::<true> { batch: self, constants, vertices });
        } else {
            run_widest(LensStep::<false> { batch: self, constants, vertices });
        }
        let LensConnections { camera, settings, bounce, ratios } = constants;
        let technique = Technique { light: bounce + 2, camera: 1 };
        let due = &mut self.due[usize::from(is_principled)];
        for lane in 0..count {
            let index = due.indices.0[lane] as usize;
            match self.found.outcome(lane) {
                Outcome::Dark => {}
                Outcome::Lit => done(index, self.found.at(lane, self.lens.pixel.0[lane], technique)),
                Outcome::Alone => {
                    let key = due.keys.at(lane, settings);
                    if let Some(connection) = to_camera(camera, key, bounce, &vertices[index], ratios) {
                        done(index, connection);
                    }
                }
            }
        }
        due.clear();
    }
}

/// Connects all lanes that are due, of principled surfaces if `PRINCIPLED`, else of diffuse ones.
struct LensStep<'a, const PRINCIPLED: bool> {
    batch: &'a mut LensConnectionBatch,
    constants: LensConnections<'a>,
    vertices: &'a [Vertex],
}

impl<const PRINCIPLED: bool> Step for LensStep<'_, PRINCIPLED> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Self { batch, constants, vertices: all } = self;
        let LensConnectionBatch { due, vertices, words, lens, found } = batch;
        let due = &due[usize::from(PRINCIPLED)];
        vertices.look_up::<L, PRINCIPLED>(all, &due.indices, due.count());
        // A pinhole needs no draws
        if constants.camera.lens_radius > 0.0 {
            due.keys.draw(constants.settings, Block::Lens.at(constants.bounce), words);
        }
        lens.sample(constants, due.count(), vertices, words);
        connect::<PRINCIPLED>(constants, vertices, lens, found);
    }
}

impl LensSamples {
    /// Samples the lens for the first `count` lanes.
    #[inline(always)]
    fn sample(
        &mut self,
        constants: LensConnections<'_>,
        count: usize,
        vertices: &VertexLanes,
        words: &[U32xN; 4],
    ) {
        for lane in 0..count {
            let u = [uniform(words[0].0[lane]), uniform(words[1].0[lane])];
            let sample = camera_importance::connect(constants.camera, vertices.position.at(lane), u);
            self.is_shown.0[lane] = u32::from(sample.is_some());
            if let Some(sample) = sample {
                self.pixel.0[lane] = sample.pixel;
                self.direction.put(lane, sample.direction);
                self.distance.0[lane] = sample.distance;
                self.importance.0[lane] = sample.importance;
            }
        }
    }
}

/// Connects the vertices of all lanes to their points of the lens.
#[inline(always)]
fn connect<const PRINCIPLED: bool>(
    constants: LensConnections<'_>,
    vertices: &VertexLanes,
    lens: &LensSamples,
    found: &mut ConnectionLanes,
) {
    let light_paths = camera_importance::pixels(constants.camera);
    for i in 0..LANES {
        let (direction, distance, importance) =
            (lens.direction.at(i), lens.distance.0[i], lens.importance.0[i]);
        let scattered = vertices.evaluate::<PRINCIPLED>(i, direction, vertices.from.at(i));
        let [cosine, cosine_from] = scattered.cosines;
        let distance2 = distance * distance;
        let geometry = cosine / (cosine_from * distance2);
        let value = vertices.throughput.at(i) * scattered.value * (geometry * (importance / light_paths));
        let weight = weights::connect_to_camera(
            vertices.partial(i),
            scattered.pdf,
            importance,
            cosine,
            distance2,
            light_paths,
            constants.ratios,
        );
        found.put_value(i, value, weight);

        // Build the shadow ray
        let is_dark = max_component(value) <= 0.0;
        let is_shown = lens.is_shown.0[i] != 0;
        found.put_outcome(i, is_shown & !is_dark, scattered.is_valid | !is_shown);
        let (position, geometric) = (vertices.position.at(i), vertices.geometric.at(i));
        let origin = offset_origin(position, geometric, direction, vertices.scale.0[i]);
        found.put_ray(i, origin, direction, distance);
    }
}
