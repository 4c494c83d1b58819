//! Starting and shading of many paths at once, for processors with wide registers.
//!
//! What [`super::generate`] does with one pixel, and [`shade`] with one path at a diffuse surface without textures, is done here
//! with [`LANES`] of them step by step: each step is one loop over numbers that lie side by side, which the compiler turns
//! into vector instructions. The operations are the same, so no bit differs. Paths elsewhere go through [`shade`].

use super::{
    Block, Connection, ENDED, FAR, Hit, Instance, MIN_COSINE, Material, MaterialKind, NONE, PathState, Ray,
    SHADOW_SHORTENING, SPHERE_BIT, SceneData, Settings, Shaded, Strategy, Vec3, coordinate_scale, cross, dot,
    frame, max, max_abs_component, max_component, min, normalize, offset_origin, power_heuristic, shade,
    triangle_normal, vec3,
};
use crate::camera::CameraFrame;
use crate::math::INV_PI;
use crate::rng::{SampleKey, draw, pcg4d, uniform, uniforms};
use crate::sampling::{cosine_hemisphere, pick, uniform_triangle};
use crate::scene::{Light, LightKind};

/// Paths of a batch: enough to hide what starting a step costs, and few enough for the first cache.
const LANES: usize = 32;

#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Numbers([f32; LANES]);

#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Words([u32; LANES]);

#[derive(Clone, Copy, Debug, Default)]
struct Vectors {
    x: Numbers,
    y: Numbers,
    z: Numbers,
}

impl Default for Numbers {
    fn default() -> Self {
        Self([0.0; LANES])
    }
}

impl Default for Words {
    fn default() -> Self {
        Self([0; LANES])
    }
}

impl Vectors {
    #[inline(always)]
    fn at(&self, lane: usize) -> Vec3 {
        vec3(self.x.0[lane], self.y.0[lane], self.z.0[lane])
    }

    #[inline(always)]
    fn put(&mut self, lane: usize, v: Vec3) {
        (self.x.0[lane], self.y.0[lane], self.z.0[lane]) = (v.x, v.y, v.z);
    }
}

/// Working memory of one thread.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    started: Started,
    arrived: Arrived,
    surface: Surfaces,
    light: Lights,
    shadow: Shadows,
    onward: Onward,
}

/// Paths where they start.
#[derive(Clone, Debug, Default)]
struct Started {
    pixel: Words,
    column: Numbers,
    row: Numbers,
    origin: Vectors,
    direction: Vectors,
}

/// Paths where they arrive.
#[derive(Clone, Debug, Default)]
struct Arrived {
    direction: Vectors,
    throughput: Vectors,
    pixel: Words,
    sample: Words,
    corners: [Vectors; 3],
    normals: [Vectors; 3],
    u: Numbers,
    v: Numbers,
    base_color: Vectors,
}

/// The surfaces there, as in [`super::Local`].
#[derive(Clone, Debug, Default)]
struct Surfaces {
    position: Vectors,
    scale: Numbers,
    geometric: Vectors,
    normal: Vectors,
    s: Vectors,
    t: Vectors,
}

/// Points on lights.
#[derive(Clone, Debug, Default)]
struct Lights {
    words: [Words; 4],
    position: Vectors,
    edge1: Vectors,
    edge2: Vectors,
    facing: Numbers,
    pdf_area: Numbers,
    two_sided: Words,
    radiance: Vectors,
}

/// Shadow rays.
#[derive(Clone, Debug, Default)]
struct Shadows {
    cast: Words,
    origin: Vectors,
    direction: Vectors,
    t_max: Numbers,
    radiance: Vectors,
}

/// Extension rays.
#[derive(Clone, Debug, Default)]
struct Onward {
    words: [Words; 4],
    continues: Words,
    throughput: Vectors,
    pdf: Numbers,
    origin: Vectors,
    direction: Vectors,
}

/// What shading leads to, as [`Shaded`] says, with a shadow ray even where none `connects`: what does nothing predicts,
/// so it costs less to have one than to ask.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// True when the path goes on along its new extension ray.
    pub continues: bool,
    /// True when there is a shadow ray to trace.
    pub connects: bool,
    /// That shadow ray.
    pub connection: Connection,
}

impl From<Shaded> for Outcome {
    #[inline(always)]
    fn from(Shaded { continues, connection }: Shaded) -> Self {
        let none = Connection { ray: Ray::default(), radiance: Vec3::ZERO };
        Self { continues, connects: connection.is_some(), connection: connection.unwrap_or(none) }
    }
}

/// Who shades a path.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A lane of the batch.
    Lane(u8),
    /// [`shade`].
    Shaded,
    /// Nobody, since it has gone as far as it may and finds no light.
    Ended,
}

/// Whether the lights of a scene are such that paths may be shaded together: triangles without textures.
pub fn can_batch(scene: &SceneData) -> bool {
    let plain = |light: &Light| {
        light.kind == LightKind::Triangle as u32
            && scene.materials[light.material as usize].emission_texture == NONE
    };
    !scene.lights.is_empty() && scene.lights.iter().all(plain)
}

/// The triangle that a path may be shaded at with others.
struct Plain<'a> {
    material: &'a Material,
    corners: [u32; 3],
}

/// Looks a hit up; `None` where only [`shade`] will do.
#[inline(always)]
fn plain<'a>(scene: &'a SceneData, hit: &Hit) -> Option<Plain<'a>> {
    if !hit.is_some() || hit.primitive & SPHERE_BIT != 0 {
        return None;
    }
    let instance = &scene.instances[hit.instance as usize];
    let mesh = &scene.meshes[instance.mesh as usize];
    let triangle = &scene.triangles[(mesh.first_triangle + hit.primitive) as usize];
    let material = &scene.materials[triangle.material as usize];
    let is_plain = instance.flags & Instance::IDENTITY != 0
        && material.kind == MaterialKind::Diffuse as u32
        && material.base_color_texture == NONE
        && material.normal_texture == NONE
        && max_component(material.emission) <= 0.0;
    is_plain.then_some(Plain { material, corners: triangle.vertices })
}

impl Batch {
    /// Starts the paths of one sample of `pixels`, as [`super::generate`] does.
    pub fn generate(
        &mut self,
        camera: &CameraFrame,
        pixels: &[u32],
        key: SampleKey,
        paths: &mut Vec<PathState>,
    ) {
        for chunk in pixels.chunks(LANES) {
            let started = &mut self.started;
            for (lane, &pixel) in chunk.iter().enumerate() {
                started.pixel.0[lane] = pixel;
                [started.column.0[lane], started.row.0[lane]] = camera.column_and_row(pixel);
            }
            started.aim(camera, key);
            paths.extend(chunk.iter().enumerate().map(|(lane, &pixel)| PathState {
                ray: Ray {
                    origin: started.origin.at(lane),
                    t_min: 0.0,
                    direction: started.direction.at(lane),
                    t_max: FAR,
                },
                throughput: Vec3::ONE,
                bsdf_pdf: 0.0,
                radiance: Vec3::ZERO,
                key: SampleKey { pixel, ..key },
            }));
        }
    }

    /// Shades paths `active` at their `hits`, as [`shade`] does; `shaded` takes what each leads to, in order. The scene
    /// is one that [`can_batch`].
    #[inline(always)]
    pub fn shade(
        &mut self,
        scene: &SceneData,
        settings: &Settings,
        bounce: u32,
        paths: &mut [PathState],
        active: &[u32],
        hits: &[Hit],
        mut shaded: impl FnMut(usize, &Outcome),
    ) {
        for (chunk, first) in active.chunks(LANES).zip((0..).step_by(LANES)) {
            let mut places = [Place::Shaded; LANES];
            let mut count = 0;
            for (i, &index) in chunk.iter().enumerate() {
                let (path, hit) = (&paths[index as usize], &hits[first + i]);
                places[i] = match plain(scene, hit) {
                    Some(_) if bounce == settings.bounces => Place::Ended,
                    Some(plain) if self.arrived.put(scene, count, path, hit, &plain) => {
                        count += 1;
                        Place::Lane(count as u8 - 1)
                    }
                    _ => Place::Shaded,
                }
            }
            if count > 0 {
                self.step(scene, settings, bounce, count);
            }
            for (i, &index) in chunk.iter().enumerate() {
                let (path, hit) = (&mut paths[index as usize], &hits[first + i]);
                let outcome = match places[i] {
                    Place::Lane(lane) => self.leave(usize::from(lane) % LANES, path),
                    Place::Ended => Outcome::from(ENDED),
                    Place::Shaded => shade(scene, settings, bounce, path, hit, &mut ()).into(),
                };
                shaded(first + i, &outcome);
            }
        }
    }

    /// Shades the first `count` lanes, by the widest instructions that the processor has.
    #[inline]
    fn step(&mut self, scene: &SceneData, settings: &Settings, bounce: u32, count: usize) {
        #[cfg(target_arch = "x86_64")]
        if crate::bvh::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.step_by_avx2(scene, settings, bounce, count) };
        }
        self.step_portably(scene, settings, bounce, count);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn step_by_avx2(&mut self, scene: &SceneData, settings: &Settings, bounce: u32, count: usize) {
        self.step_portably(scene, settings, bounce, count);
    }

    #[inline(always)]
    fn step_portably(&mut self, scene: &SceneData, settings: &Settings, bounce: u32, count: usize) {
        let Self { arrived, surface, light, shadow, onward, .. } = self;
        surface.place(arrived);
        arrived.draw(settings.seed, Block::Light.at(bounce), &mut light.words);
        arrived.draw(settings.seed, Block::Bsdf.at(bounce), &mut onward.words);
        light.pick(scene, count);
        shadow.connect(settings, arrived, surface, light);
        onward.scatter(settings, bounce, arrived, surface);
    }

    /// What a path's shading leads to.
    #[inline(always)]
    fn leave(&self, lane: usize, path: &mut PathState) -> Outcome {
        let Self { shadow, onward, .. } = self;
        let ray = |origin: &Vectors, direction: &Vectors, t_max: f32| Ray {
            origin: origin.at(lane),
            t_min: 0.0,
            direction: direction.at(lane),
            t_max,
        };
        let connection = Connection {
            ray: ray(&shadow.origin, &shadow.direction, shadow.t_max.0[lane]),
            radiance: shadow.radiance.at(lane),
        };
        path.throughput = onward.throughput.at(lane);
        path.bsdf_pdf = onward.pdf.0[lane];
        path.ray = ray(&onward.origin, &onward.direction, FAR);
        Outcome { continues: onward.continues.0[lane] != 0, connects: shadow.cast.0[lane] != 0, connection }
    }
}

impl Started {
    /// Makes all camera rays, by the widest instructions that the processor has.
    #[inline]
    fn aim(&mut self, camera: &CameraFrame, key: SampleKey) {
        #[cfg(target_arch = "x86_64")]
        if crate::bvh::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.aim_by_avx2(camera, key) };
        }
        self.aim_portably(camera, key);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn aim_by_avx2(&mut self, camera: &CameraFrame, key: SampleKey) {
        self.aim_portably(camera, key);
    }

    #[inline(always)]
    fn aim_portably(&mut self, camera: &CameraFrame, key: SampleKey) {
        for i in 0..LANES {
            let u = uniforms(draw(SampleKey { pixel: self.pixel.0[i], ..key }, Block::Camera, 0));
            let (origin, direction) = camera.ray_through([self.column.0[i], self.row.0[i]], u);
            self.origin.put(i, origin);
            self.direction.put(i, direction);
        }
    }
}

impl Arrived {
    /// Puts a path into a lane; false where its triangle has coloured vertices.
    #[inline(always)]
    fn put(
        &mut self,
        scene: &SceneData,
        lane: usize,
        path: &PathState,
        hit: &Hit,
        plain: &Plain<'_>,
    ) -> bool {
        let lane = lane % LANES;
        let mut color = u32::MAX;
        for (corner, &index) in plain.corners.iter().enumerate() {
            let vertex = &scene.vertices[index as usize];
            color &= vertex.color;
            self.corners[corner].put(lane, Vec3::from(scene.positions[index as usize]));
            self.normals[corner].put(lane, vertex.normal);
        }
        self.direction.put(lane, path.ray.direction);
        self.throughput.put(lane, path.throughput);
        (self.pixel.0[lane], self.sample.0[lane]) = (path.key.pixel, path.key.sample);
        (self.u.0[lane], self.v.0[lane]) = (hit.u, hit.v);
        self.base_color.put(lane, plain.material.base_color);
        color == u32::MAX
    }

    /// The four draws of a dimension for every path.
    #[inline(always)]
    fn draw(&self, seed: u32, dimension: u32, words: &mut [Words; 4]) {
        let [a, b, c, d] = words;
        for i in 0..LANES {
            let drawn = pcg4d([self.pixel.0[i], self.sample.0[i], dimension, seed]);
            (a.0[i], b.0[i], c.0[i], d.0[i]) = (drawn[0], drawn[1], drawn[2], drawn[3]);
        }
    }
}

impl Surfaces {
    /// [`super::Interaction::on_triangle`] of an instance in place, and the frame on the side that the path came from.
    #[inline(always)]
    fn place(&mut self, arrived: &Arrived) {
        let ([p0, p1, p2], [n0, n1, n2]) = (&arrived.corners, &arrived.normals);
        for i in 0..LANES {
            let (u, v) = (arrived.u.0[i], arrived.v.0[i]);
            let b = [1.0 - u - v, u, v];
            let p = [p0.at(i), p1.at(i), p2.at(i)];
            self.position.put(i, p[0] * b[0] + p[1] * b[1] + p[2] * b[2]);
            self.scale.0[i] = max(coordinate_scale(p[0], p[1]), max_abs_component(p[2]));
            self.geometric.put(i, normalize(triangle_normal(p)));
            self.normal.put(i, normalize(n0.at(i) * b[0] + n1.at(i) * b[1] + n2.at(i) * b[2]));
        }
        for i in 0..LANES {
            let (geometric, shading, back) =
                (self.geometric.at(i), self.normal.at(i), -arrived.direction.at(i));
            let shading = if dot(shading, shading) > 0.0 { shading } else { geometric };
            let side = if dot(geometric, back) > 0.0 { 1.0 } else { -1.0 };
            let geometric = geometric * side;
            let bent = shading * side;
            let normal = if dot(bent, back) > MIN_COSINE { bent } else { geometric };
            let (s, t) = frame(normal);
            self.geometric.put(i, geometric);
            self.normal.put(i, normal);
            self.s.put(i, s);
            self.t.put(i, t);
        }
    }
}

impl Lights {
    /// Looks the first `count` paths' lights up.
    #[inline(always)]
    fn pick(&mut self, scene: &SceneData, count: usize) {
        for i in 0..count {
            let i = i % LANES;
            let light =
                &scene.lights[pick(&scene.light_alias, self.words[0].0[i], self.words[1].0[i]) as usize];
            let material = &scene.materials[light.material as usize];
            self.position.put(i, light.position);
            self.edge1.put(i, light.edge1);
            self.edge2.put(i, light.edge2);
            self.facing.0[i] = light.intensity.x;
            self.pdf_area.0[i] = material.light_pdf_area;
            self.two_sided.0[i] = material.flags & Material::TWO_SIDED_EMISSION;
            self.radiance.put(i, material.emission);
        }
    }
}

impl Shadows {
    /// [`super::connect_to_light`] for points of triangles.
    #[inline(always)]
    fn connect(&mut self, settings: &Settings, arrived: &Arrived, surface: &Surfaces, light: &Lights) {
        let with_bsdf = settings.strategy == Strategy::Mis;
        let samples_lights = settings.strategy != Strategy::BsdfOnly;
        for i in 0..LANES {
            let b = uniform_triangle(uniform(light.words[2].0[i]), uniform(light.words[3].0[i]));
            let (edge1, edge2) = (light.edge1.at(i), light.edge2.at(i));
            let to_light = light.position.at(i) + edge1 * b[0] + edge2 * b[1] - surface.position.at(i);
            let distance2 = dot(to_light, to_light);
            let distance = distance2.sqrt();
            let direction = to_light * (1.0 / distance);
            let facing = normalize(cross(edge1, edge2)) * light.facing.0[i];
            let cosine = -dot(facing, direction);
            let cosine = if light.two_sided.0[i] != 0 { cosine.abs() } else { cosine };
            let pdf = light.pdf_area.0[i] * (distance2 / cosine);
            let z = dot(direction, surface.normal.at(i));
            let bsdf_pdf = if z <= 0.0 { 0.0 } else { z * INV_PI };
            let weight = if with_bsdf { power_heuristic(pdf, bsdf_pdf) } else { 1.0 };
            let value = arrived.base_color.at(i) * bsdf_pdf;
            let radiance = arrived.throughput.at(i) * value * light.radiance.at(i) * (weight / pdf);
            let dark = (distance2 == 0.0) | (cosine <= 0.0) | (pdf <= 0.0) | (max_component(radiance) <= 0.0);
            let agrees = dot(surface.geometric.at(i), direction) * z > 0.0;
            self.cast.0[i] = u32::from(samples_lights & agrees & !dark);
            self.direction.put(i, direction);
            self.t_max.0[i] = min(distance * SHADOW_SHORTENING, FAR);
            self.radiance.put(i, radiance);
            let at = surface.position.at(i);
            self.origin.put(i, offset_origin(at, surface.geometric.at(i), direction, surface.scale.0[i]));
        }
    }
}

impl Onward {
    /// [`super::scatter`] at diffuse surfaces.
    #[inline(always)]
    fn scatter(&mut self, settings: &Settings, bounce: u32, arrived: &Arrived, surface: &Surfaces) {
        let roulette = settings.roulette_from.is_some_and(|first| bounce >= first);
        for i in 0..LANES {
            let wi = cosine_hemisphere(uniform(self.words[1].0[i]), uniform(self.words[2].0[i]));
            let along = surface.s.at(i) * wi.x + surface.t.at(i) * wi.y + surface.normal.at(i) * wi.z;
            let direction = normalize(along);
            let throughput = arrived.throughput.at(i) * arrived.base_color.at(i);
            let brightest = max_component(throughput);
            let survival = if roulette { min(brightest, 0.95) } else { 1.0 };
            let agrees = dot(surface.geometric.at(i), direction) * wi.z > 0.0;
            let ends = (brightest <= 0.0) | (roulette & (uniform(self.words[3].0[i]) >= survival));
            self.continues.0[i] = u32::from(agrees & !ends);
            self.throughput.put(i, if roulette { throughput * (1.0 / survival) } else { throughput });
            self.pdf.0[i] = wi.z * INV_PI;
            self.direction.put(i, direction);
            let at = surface.position.at(i);
            self.origin.put(i, offset_origin(at, surface.geometric.at(i), direction, surface.scale.0[i]));
        }
    }
}

#[cfg(test)]
mod tests;
