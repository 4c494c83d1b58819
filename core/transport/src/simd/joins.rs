//! Connections of vertices of light sub-paths to those of camera sub-paths, as [`join`] computes them.

use crate::integrators::bidirectional::weights;
use crate::integrators::bidirectional::{Connection, Vertex, join};
use crate::simd::connection_lanes::{ConnectionLanes, Outcome};
use crate::simd::vertex_lanes::{BATCHES, VertexBatch, VertexLanes};
use crate::simd::widest::{Step, run_widest};
use crate::simd::{LANES, U32xN};
use lockstep_core::geometry::offset_origin;
use lockstep_core::math::rng::SampleKey;
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::{dot, max_component};
use lockstep_core::merging::MergeRatios;
use lockstep_core::splat::Technique;

/// A connection to compute.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// Index of the vertex of the light sub-path.
    pub light: u32,
    /// Index of the vertex of the camera sub-path.
    pub camera: u32,
    /// The batch that computes both vertices: the later of the two that they belong to.
    pub batch: VertexBatch,
    /// The technique.
    pub technique: Technique,
}

/// Connections to compute together, one per lane.
#[derive(Clone, Debug, Default)]
struct Queue {
    light: U32xN,
    camera: U32xN,
    techniques: [Technique; LANES],
    count: usize,
}

/// Scratch memory of one thread for connecting light and camera sub-paths.
#[derive(Clone, Debug, Default)]
pub struct JoinBatch {
    queues: [Queue; BATCHES],
    light: VertexLanes,
    camera: VertexLanes,
    joined: ConnectionLanes,
}

/// The vertices of a batch.
#[derive(Clone, Copy, Debug)]
pub struct JoinVertices<'a> {
    /// Vertices of light sub-paths.
    pub light: &'a [Vertex],
    /// Vertices of camera sub-paths.
    pub camera: &'a [Vertex],
    /// Densities of merges over those of connections.
    pub ratios: MergeRatios,
}

impl JoinBatch {
    /// Adds a connection. `key` tells the sample of a camera sub-path's vertex; `done` receives the index of that vertex with
    /// each connection that is found, in any order, at the latest by [`JoinBatch::finish`].
    #[inline(always)]
    pub fn push(
        &mut self,
        vertices: JoinVertices<'_>,
        Join { light, camera, batch, technique }: Join,
        key: impl Fn(u32) -> SampleKey,
        done: &mut impl FnMut(u32, Connection),
    ) {
        // A queue is chosen without a branch, since kinds of surfaces are hard to predict
        let queue = &mut self.queues[batch as usize];
        let lane = queue.count % LANES;
        (queue.light.0[lane], queue.camera.0[lane], queue.techniques[lane]) = (light, camera, technique);
        queue.count = lane + 1;
        if queue.count == LANES {
            self.empty(batch, vertices, key, done);
        }
    }

    /// Computes the connections that have been added.
    #[inline(always)]
    pub fn finish(
        &mut self,
        vertices: JoinVertices<'_>,
        key: impl Fn(u32) -> SampleKey,
        done: &mut impl FnMut(u32, Connection),
    ) {
        for batch in [VertexBatch::Diffuse, VertexBatch::Principled, VertexBatch::Alone] {
            self.empty(batch, vertices, &key, done);
        }
    }

    /// Computes the connections of one queue.
    #[inline(never)]
    fn empty(
        &mut self,
        batch: VertexBatch,
        vertices: JoinVertices<'_>,
        key: impl Fn(u32) -> SampleKey,
        done: &mut impl FnMut(u32, Connection),
    ) {
        let count = self.queues[batch as usize].count.min(LANES);
        if count == 0 {
            return;
        }
        match batch {
            VertexBatch::Diffuse => run_widest(JoinStep::<false> { batch: self, vertices, count }),
            VertexBatch::Principled => run_widest(JoinStep::<true> { batch: self, vertices, count }),
            VertexBatch::Alone => {}
        }
        let Self { queues, joined, .. } = self;
        let queue = &mut queues[batch as usize];
        for lane in 0..count {
            let (light, camera, technique) =
                (queue.light.0[lane], queue.camera.0[lane], queue.techniques[lane]);
            let outcome = if batch == VertexBatch::Alone { Outcome::Alone } else { joined.outcome(lane) };
            match outcome {
                Outcome::Dark => {}
                Outcome::Lit => done(camera, joined.at(lane, key(camera).pixel, technique)),
                Outcome::Alone => {
                    let ends = (&vertices.light[light as usize], &vertices.camera[camera as usize]);
                    if let Some(found) = join(key(camera), technique, ends.0, ends.1, vertices.ratios) {
                        done(camera, found);
                    }
                }
            }
        }
        queue.count = 0;
    }
}

/// Computes the first `count` lanes, of which some are of principled surfaces if `PRINCIPLED`.
struct JoinStep<'a, const PRINCIPLED: bool> {
    batch: &'a mut JoinBatch,
    vertices: JoinVertices<'a>,
    count: usize,
}

impl<const PRINCIPLED: bool> Step for JoinStep<'_, PRINCIPLED> {
    #[inline(always)]
    fn run<L: F32x8>(self) {
        let Self { batch: JoinBatch { queues, light, camera, joined }, vertices, count } = self;
        let queue = &queues[PRINCIPLED as usize];
        light.look_up::<L, PRINCIPLED>(vertices.light, &queue.light, count);
        camera.look_up::<L, PRINCIPLED>(vertices.camera, &queue.camera, count);
        connect::<PRINCIPLED>(joined, light, camera, vertices.ratios);
    }
}

/// Connects the vertices of all lanes.
#[inline(always)]
fn connect<const PRINCIPLED: bool>(
    joined: &mut ConnectionLanes,
    light: &VertexLanes,
    camera: &VertexLanes,
    ratios: MergeRatios,
) {
    for i in 0..LANES {
        // Evaluate both BSDFs
        let between = light.position.at(i) - camera.position.at(i);
        let distance2 = dot(between, between);
        let direction = between * (1.0 / distance2.sqrt());
        let back = -direction;
        let at_camera = camera.evaluate::<PRINCIPLED>(i, camera.from.at(i), direction);
        let at_light = light.evaluate::<PRINCIPLED>(i, back, light.from.at(i));
        let [light_cosine, light_cosine_from] = at_light.cosines;
        let geometry = light_cosine / (light_cosine_from * distance2);
        let value =
            camera.throughput.at(i) * light.throughput.at(i) * at_camera.value * at_light.value * geometry;

        // Weigh the connection
        let weight = weights::connect(
            (light.partial(i), at_light.reverse_pdf, at_light.pdf, light_cosine),
            (camera.partial(i), at_camera.pdf, at_camera.reverse_pdf, at_camera.cosines[1]),
            distance2,
            ratios,
        );
        joined.put_value(i, value, weight);

        // Build the shadow ray, between points off both surfaces
        let (from, to) = (camera.position.at(i), light.position.at(i));
        let origin = offset_origin(from, camera.geometric.at(i), direction, camera.scale.0[i]);
        let end = offset_origin(to, light.geometric.at(i), back, light.scale.0[i]);
        let between = end - origin;
        let length2 = dot(between, between);
        let length = length2.sqrt();
        joined.put_ray(i, origin, between * (1.0 / length), length);

        // Find out whether it adds anything
        let is_dark = max_component(at_camera.value) <= 0.0;
        let is_black = is_dark | (max_component(value) <= 0.0);
        let is_valid = at_camera.is_valid & (at_light.is_valid | is_dark);
        let is_apart = distance2 > 0.0;
        joined.put_outcome(i, is_apart & (length2 > 0.0) & !is_black, is_valid | !is_apart);
    }
}
