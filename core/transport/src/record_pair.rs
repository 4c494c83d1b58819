//! Records every step of one sample's pair of sub-paths. The counterpart is `kernels/record_pairs.h`.

use crate::integrators::bidirectional::{Connection, PairPass, PairSink, Tracer, Vertex, trace_pair};
use bytemuck::Zeroable;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::path_record::PairRecord;
use std::cell::RefCell;

/// Records the pair of sub-paths of a sample, traced by the functions that renders run.
///
/// `closest_hit` and `any_hit` are the target's intersector.
pub fn record_pair(
    pass: &PairPass<'_>,
    key: SampleKey,
    closest_hit: impl FnMut(&Ray, RayKey) -> Hit,
    any_hit: impl FnMut(&Ray, RayKey) -> bool,
) -> Vec<PairRecord> {
    let steps = RefCell::new(Vec::new());
    let mut tracer = RecordedRays { steps: &steps, key, bounces: [0; 2], closest_hit, any_hit };
    let mut sink = RecordedSteps { steps: &steps, vertices: [0; 2] };
    trace_pair(pass, key, &mut tracer, &mut sink);
    steps.into_inner()
}

/// A tracer that records extension rays.
struct RecordedRays<'a, C, A> {
    steps: &'a RefCell<Vec<PairRecord>>,
    key: SampleKey,
    /// Rays of the camera and of the light sub-path so far.
    bounces: [u32; 2],
    closest_hit: C,
    any_hit: A,
}

impl<C: FnMut(&Ray, RayKey) -> Hit, A: FnMut(&Ray, RayKey) -> bool> Tracer for RecordedRays<'_, C, A> {
    fn closest_hit(&mut self, ray: &Ray, key: RayKey) -> Hit {
        let hit = (self.closest_hit)(ray, key);
        let of_light = key == RayKey::light_extension(self.key, self.bounces[1]);
        let bounce = &mut self.bounces[usize::from(of_light)];
        let found = if hit.is_some() { PairRecord::HIT } else { 0 };
        self.steps.borrow_mut().push(PairRecord {
            flags: PairRecord::RAY | side(of_light) | found,
            origin: ray.origin,
            direction: ray.direction,
            light: *bounce,
            instance: hit.instance,
            primitive: hit.primitive,
            t: hit.t,
            u: hit.u,
            v: hit.v,
            ..PairRecord::zeroed()
        });
        *bounce += 1;
        hit
    }

    fn any_hit(&mut self, ray: &Ray, key: RayKey) -> bool {
        (self.any_hit)(ray, key)
    }
}

/// A sink that records vertices and contributions.
struct RecordedSteps<'a> {
    steps: &'a RefCell<Vec<PairRecord>>,
    /// Vertices of the camera and of the light sub-path so far.
    vertices: [u32; 2],
}

impl RecordedSteps<'_> {
    fn vertex(&mut self, vertex: &Vertex, of_light: bool) {
        let bounce = &mut self.vertices[usize::from(of_light)];
        let surface = &vertex.surface;
        self.steps.borrow_mut().push(PairRecord {
            flags: PairRecord::VERTEX | side(of_light),
            origin: vertex.position,
            direction: vertex.from,
            value: vertex.throughput,
            light: *bounce,
            geometric: vertex.geometric,
            shading: vertex.shading,
            base_color: surface.base_color,
            vcm: vertex.partial.vcm,
            vc: vertex.partial.vc,
            scale: vertex.scale,
            roughness: surface.roughness,
            metallic: surface.metallic,
            ior: surface.ior,
            transmission: surface.transmission,
            kind: surface.kind,
            outside: u32::from(surface.outside),
            ..PairRecord::zeroed()
        });
        *bounce += 1;
    }
}

impl PairSink for RecordedSteps<'_> {
    fn light_vertex(&mut self, _bounce: u32, vertex: &Vertex) {
        self.vertex(vertex, true);
    }

    fn camera_vertex(&mut self, _bounce: u32, vertex: &Vertex) {
        self.vertex(vertex, false);
    }

    fn contribution(&mut self, connection: &Connection, reached: bool) {
        let Connection { ray, pixel, technique, value, weight } = *connection;
        self.steps.borrow_mut().push(PairRecord {
            flags: PairRecord::CONTRIBUTION | if reached { PairRecord::REACHED } else { 0 },
            origin: ray.origin,
            direction: ray.direction,
            value,
            light: technique.light,
            camera: technique.camera,
            pixel,
            t: ray.t_max,
            weight,
            ..PairRecord::zeroed()
        });
    }
}

/// The flag of the sub-path that a step is of.
fn side(of_light: bool) -> u32 {
    if of_light { PairRecord::OF_LIGHT } else { 0 }
}
