//! Connections of diffuse vertices of light sub-paths to those of camera sub-paths, as [`join`] computes them.

use crate::integrators::bidirectional::weights;
use crate::integrators::bidirectional::{Connection, Vertex, join};
use crate::simd::diffuse_vertices::{Cosines, DiffuseVertices};
use crate::simd::{F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::geometry::{Ray, offset_origin};
use lockstep_core::math::rng::SampleKey;
#[cfg(target_arch = "x86_64")]
use lockstep_core::math::simd;
use lockstep_core::math::simd::{F32x8, PortableF32x8};
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
    /// The technique.
    pub technique: Technique,
}

/// Scratch memory of one thread.
#[derive(Clone, Debug, Default)]
pub struct JoinBatch {
    light: DiffuseVertices,
    camera: DiffuseVertices,
    techniques: Vec<Technique>,
    joined: Joined,
}

/// [`Connection`] of all lanes.
#[derive(Clone, Debug, Default)]
struct Joined {
    /// Not zero where there is a connection.
    active: U32xN,
    origin: Vec3xN,
    direction: Vec3xN,
    t_max: F32xN,
    value: Vec3xN,
    weight: F32xN,
}

/// The vertices of a batch.
#[derive(Clone, Copy, Debug)]
pub struct JoinVertices<'a> {
    /// Vertices of light sub-paths.
    pub light: &'a [Vertex],
    /// Vertices of camera sub-paths.
    pub camera: &'a [Vertex],
    /// Densities of merges.
    pub ratios: MergeRatios,
}

impl JoinBatch {
    /// Adds a connection. `key` tells the sample of a camera sub-path's vertex; `done` receives the index of that vertex with
    /// each connection that is found, in any order, at the latest by [`JoinBatch::finish`].
    #[inline(always)]
    pub fn push(
        &mut self,
        vertices: JoinVertices<'_>,
        Join { light, camera, technique }: Join,
        key: impl Fn(u32) -> SampleKey,
        done: &mut impl FnMut(u32, Connection),
    ) {
        let ends = (&vertices.light[light as usize], &vertices.camera[camera as usize]);
        if !(ends.0.is_diffuse() && ends.1.is_diffuse()) {
            if let Some(connection) = join(key(camera), technique, ends.0, ends.1, vertices.ratios) {
                done(camera, connection);
            }
            return;
        }
        let lane = self.techniques.len();
        self.light.put(lane, light);
        self.camera.put(lane, camera);
        self.techniques.push(technique);
        if lane + 1 == LANES {
            self.finish(vertices, key, done);
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
        if self.techniques.is_empty() {
            return;
        }
        self.step(vertices);
        for (lane, &technique) in self.techniques.iter().enumerate() {
            let lane = lane % LANES;
            let camera = self.camera.indices.0[lane];
            if self.joined.active.0[lane] != 0 {
                done(camera, self.joined.at(lane, key(camera).pixel, technique));
            }
        }
        self.techniques.clear();
    }

    /// Computes all lanes with the widest instructions of the processor.
    fn step(&mut self, vertices: JoinVertices<'_>) {
        #[cfg(target_arch = "x86_64")]
        if simd::has_avx512() {
            // SAFETY: the processor has the features.
            return unsafe { self.step_by_avx512(vertices) };
        } else if simd::has_avx2() {
            // SAFETY: as above.
            return unsafe { self.step_by_avx2(vertices) };
        }
        self.step_by::<PortableF32x8>(vertices);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,avx512f,avx512vl,avx512dq,avx512bw")]
    fn step_by_avx512(&mut self, vertices: JoinVertices<'_>) {
        self.step_by::<simd::Avx2F32x8>(vertices);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn step_by_avx2(&mut self, vertices: JoinVertices<'_>) {
        self.step_by::<simd::Avx2F32x8>(vertices);
    }

    #[inline(always)]
    fn step_by<L: F32x8>(&mut self, JoinVertices { light, camera, ratios }: JoinVertices<'_>) {
        let count = self.techniques.len();
        self.light.look_up::<L>(light, count);
        self.camera.look_up::<L>(camera, count);
        self.joined.compute(&self.light, &self.camera, ratios);
    }
}

impl Joined {
    /// Connects the vertices of all lanes.
    #[inline(always)]
    fn compute(&mut self, light: &DiffuseVertices, camera: &DiffuseVertices, ratios: MergeRatios) {
        for i in 0..LANES {
            // Evaluate both BSDFs
            let between = light.position.at(i) - camera.position.at(i);
            let distance2 = dot(between, between);
            let direction = between * (1.0 / distance2.sqrt());
            let back = -direction;
            let at_camera =
                Cosines::new(camera.geometric.at(i), camera.shading.at(i), camera.from.at(i), direction);
            let at_light = Cosines::new(light.geometric.at(i), light.shading.at(i), back, light.from.at(i));
            let (camera_pdf, light_pdf) = (at_camera.pdf(), at_light.pdf());
            let camera_value = camera.base_color.at(i) * camera_pdf;
            let [light_cosine, light_cosine_from] = at_light.geometric.map(f32::abs);
            let geometry = light_cosine / (light_cosine_from * distance2);
            let value = camera.throughput.at(i)
                * light.throughput.at(i)
                * camera_value
                * (light.base_color.at(i) * light_pdf)
                * geometry;

            // Weigh the connection
            self.weight.0[i] = weights::connect(
                (light.partial(i), at_light.opposite().pdf(), light_pdf, light_cosine),
                (camera.partial(i), camera_pdf, at_camera.opposite().pdf(), at_camera.geometric[1].abs()),
                distance2,
                ratios,
            );

            // Build the shadow ray, between points off both surfaces
            let (from, to) = (camera.position.at(i), light.position.at(i));
            let origin = offset_origin(from, camera.geometric.at(i), direction, camera.scale.0[i]);
            let end = offset_origin(to, light.geometric.at(i), back, light.scale.0[i]);
            let between = end - origin;
            let length2 = dot(between, between);
            let length = length2.sqrt();
            let dark = (max_component(camera_value) <= 0.0) | (max_component(value) <= 0.0);
            self.active.0[i] = u32::from((distance2 > 0.0) & (length2 > 0.0) & !dark);
            self.origin.put(i, origin);
            self.direction.put(i, between * (1.0 / length));
            self.t_max.0[i] = length;
            self.value.put(i, value);
        }
    }

    /// The connection of a lane.
    #[inline(always)]
    fn at(&self, lane: usize, pixel: u32, technique: Technique) -> Connection {
        let (origin, direction) = (self.origin.at(lane), self.direction.at(lane));
        Connection {
            ray: Ray { origin, t_min: 0.0, direction, t_max: self.t_max.0[lane] },
            pixel,
            technique,
            value: self.value.at(lane),
            weight: self.weight.0[lane],
        }
    }
}
