//! The pair renderer: light and camera sub-paths of one tile's samples, their connections and their merges, in
//! stages run by one thread.

use crate::intersector::Intersector;
use crate::photon_map::{PhotonMap, Search};
use crate::splat_film::SplatFilm;
use crate::tally::Tally;
use crate::tile_renderer::{PassJob, prefix_mut};
use lockstep_core::film::InvalidSamples;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::{Block, RayKey, SampleKey};
use lockstep_core::math::vec3::{Vec3, max_component};
use lockstep_core::merging::Merging;
use lockstep_core::splat::{MERGED, MergeSum, Technique, quantize};
use lockstep_core::{MergeSums, Rays};
use lockstep_transport::integrators::bidirectional::{
    CameraPath, Connection, LightPath, Photon, Techniques, Vertex,
};
use lockstep_transport::simd::{
    Extension, ExtensionBatch, Join, JoinBatch, JoinVertices, LensConnectionBatch, LensConnections,
    LightConnectionBatch, LightConnections, VertexBatch,
};
use std::time::{Duration, Instant};

/// Pairs that each step of shading takes together: enough to fill the lanes of most batches and that reads of photons do not
/// wait for each other, few enough that their vertices stay in the L1 cache.
const BATCH: usize = 128;

/// Connections from one whose pixel is asked for to the one that adds to it.
const AHEAD: usize = 16;

/// The queues of one thread, reused from tile to tile. A pair is a pixel of the tile.
pub(crate) struct PairRenderer<S> {
    /// `None` where no light leaves.
    light_paths: Vec<Option<LightPath>>,
    camera_paths: Vec<CameraPath>,
    /// Pairs whose sub-path is still traced.
    active: Vec<u32>,
    /// Extension rays of the active pairs.
    rays: Vec<(Ray, RayKey)>,
    /// The closest hits of the rays.
    hits: Vec<Hit>,
    /// Pairs whose extension rays have reached a vertex, of the batch in hand.
    arrived: Vec<u32>,
    /// Vertices of the camera sub-paths among them, or of light sub-paths that are not kept.
    vertices: Vec<Vertex>,
    /// Working memory of extensions.
    batch: ExtensionBatch,
    /// Working memory of connections between sub-paths, to lights and to the lens.
    joins: JoinBatch,
    lights: LightConnectionBatch,
    lens: LensConnectionBatch,
    /// Vertices and photons of the light sub-paths.
    lit: LitTile,
    /// Sums of the pairs for their own pixels, which no other thread adds to meanwhile.
    own: Vec<[i64; 3]>,
    /// Shadow rays of the stage.
    shadow_rays: Vec<ShadowRay>,
    /// Answers to them.
    occluded: Vec<bool>,
    /// Positions of vertices that merge with photons.
    points: Vec<Vec3>,
    /// Working memory of searches for photons.
    search: Search,
    /// Working memory of the intersector.
    scratch: S,
}

/// Vertices and photons that the light sub-paths of a tile's pixels leave for camera sub-paths.
#[derive(Debug, Default)]
pub(crate) struct LitTile {
    /// Vertices of all pairs, one after another as they were reached; empty where sub-paths are not connected.
    vertices: Vec<Vertex>,
    /// Vertices that can be connected, in order, each pair's from a place of its own on. Entries behind a pair's last are of
    /// earlier samples.
    ends: Vec<LightEnd>,
    /// Numbers of such vertices, by pair.
    end_counts: Vec<u32>,
    /// Photons; empty where there are no merges.
    pub(crate) photons: Vec<Photon>,
}

impl LitTile {
    /// Bytes of a pair of up to `bounces` bounces.
    pub(crate) fn bytes_per_pair(techniques: Techniques, bounces: u32) -> u64 {
        let vertex = if techniques.connect() { size_of::<Vertex>() + size_of::<LightEnd>() } else { 0 };
        u64::from(bounces) * vertex as u64
    }

    /// The vertices of a pair's light sub-path that can be connected, in a tile of sub-paths of up to `bounces` bounces.
    #[inline(always)]
    fn of_pair(&self, pair: u32, bounces: u32) -> &[LightEnd] {
        let first = (pair * bounces) as usize;
        &self.ends[first..first + self.end_counts[pair as usize] as usize]
    }

    /// Notes a vertex that can be connected.
    #[inline(always)]
    fn push_end(&mut self, pair: u32, bounces: u32, end: LightEnd) {
        let count = &mut self.end_counts[pair as usize];
        self.ends[(pair * bounces + *count) as usize] = end;
        *count += 1;
    }
}

/// A vertex of a light sub-path that can be connected, as the choice of its connections needs it.
#[derive(Clone, Copy, Debug, Default)]
struct LightEnd {
    /// The vertex's index among the tile's.
    vertex: u32,
    /// The bounce of the ray that led to it.
    bounce: u16,
    batch: VertexBatch,
}

/// A connection to be tested for occlusion.
#[derive(Clone, Copy)]
struct ShadowRay {
    ray: Ray,
    key: RayKey,
    target: SplatTarget,
    technique: Technique,
    radiance: Vec3,
}

/// The pixel that a connection adds to.
#[derive(Clone, Copy)]
enum SplatTarget {
    /// The pair's own.
    Own(u32),
    /// Any pixel of the film.
    Film(u32),
}

impl<S: Default> Default for PairRenderer<S> {
    fn default() -> Self {
        Self {
            light_paths: Vec::new(),
            camera_paths: Vec::new(),
            active: Vec::new(),
            rays: Vec::new(),
            hits: Vec::new(),
            arrived: Vec::new(),
            vertices: Vec::new(),
            batch: ExtensionBatch::default(),
            joins: JoinBatch::default(),
            lights: LightConnectionBatch::default(),
            lens: LensConnectionBatch::default(),
            lit: LitTile::default(),
            own: Vec::new(),
            shadow_rays: Vec::new(),
            occluded: Vec::new(),
            points: Vec::new(),
            search: Search::default(),
            scratch: S::default(),
        }
    }
}

/// The work of a pass of pairs, the same for all tiles.
pub(crate) struct PairJob<'a, I> {
    pub(crate) pass: &'a PassJob<'a, I>,
    pub(crate) techniques: Techniques,
    pub(crate) film: &'a SplatFilm,
    pub(crate) merging: Merging,
    pub(crate) merge_sums: MergeSums,
}

/// A sum over the photons that merge with one vertex.
trait Sum: Default {
    fn add(&mut self, radiance: Vec3, invalid: &mut InvalidSamples);

    fn film_units(&self, key: SampleKey, technique: Technique, invalid: &mut InvalidSamples) -> [i64; 3];
}

impl Sum for MergeSum {
    #[inline(always)]
    fn add(&mut self, radiance: Vec3, invalid: &mut InvalidSamples) {
        self.add(radiance, invalid);
    }

    #[inline(always)]
    fn film_units(&self, key: SampleKey, technique: Technique, invalid: &mut InvalidSamples) -> [i64; 3] {
        self.film_units(key, technique, invalid)
    }
}

/// The sum of [`MergeSums::Floats`].
#[derive(Default)]
struct FloatSum(Vec3);

impl Sum for FloatSum {
    #[inline(always)]
    fn add(&mut self, radiance: Vec3, _: &mut InvalidSamples) {
        self.0 = self.0 + radiance;
    }

    #[inline(always)]
    fn film_units(&self, key: SampleKey, technique: Technique, invalid: &mut InvalidSamples) -> [i64; 3] {
        quantize(self.0, key, technique, invalid)
    }
}

impl<S: Default> PairRenderer<S> {
    /// Adds the pass's pairs of a tile to the film. Traversal has builds of its own for the processor's
    /// instructions, and the rest runs pair by pair, so this needs none.
    pub(crate) fn render<I: Intersector<Scratch = S>>(
        &mut self,
        job: &PairJob<'_, I>,
        pixels: &[u32],
    ) -> Tally {
        let mut tally = Tally::default();
        for sample in job.pass.samples.clone() {
            self.trace_light_paths(job, pixels, sample, &mut tally);
            self.trace_camera_paths(job, pixels, sample, None, &mut tally);
        }
        self.add_own(job, pixels);
        tally
    }

    /// The light sub-paths of a sample of the tile's pixels alone, for a pass that merges their photons with
    /// those of all tiles.
    pub(crate) fn light<I: Intersector<Scratch = S>>(
        &mut self,
        job: &PairJob<'_, I>,
        pixels: &[u32],
        sample: u32,
    ) -> (LitTile, Tally) {
        let mut tally = Tally::default();
        self.trace_light_paths(job, pixels, sample, &mut tally);
        (std::mem::take(&mut self.lit), tally)
    }

    /// The camera sub-paths of a sample of the tile's pixels, after [`PairRenderer::light`].
    pub(crate) fn gather<I: Intersector<Scratch = S>>(
        &mut self,
        job: &PairJob<'_, I>,
        pixels: &[u32],
        sample: u32,
        lit: LitTile,
        photons: &PhotonMap,
    ) -> Tally {
        let mut tally = Tally::default();
        self.lit = lit;
        self.trace_camera_paths(job, pixels, sample, Some(photons), &mut tally);
        self.add_own(job, pixels);
        tally
    }

    /// Adds what the pairs of a tile have added to their own pixels to the film.
    fn add_own<I>(&mut self, job: &PairJob<'_, I>, pixels: &[u32]) {
        pixels.iter().zip(self.own.drain(..)).for_each(|(&pixel, units)| job.film.add(pixel, units));
    }

    /// Light sub-paths, connected to the camera vertex by vertex.
    fn trace_light_paths<I: Intersector<Scratch = S>>(
        &mut self,
        job: &PairJob<'_, I>,
        pixels: &[u32],
        sample: u32,
        tally: &mut Tally,
    ) {
        self.start_light_paths(job, pixels, sample, tally);
        for bounce in 0..job.pass.settings.bounces {
            if self.active.is_empty() {
                break;
            }
            // Gather the extension rays of the active sub-paths
            let Self { light_paths, active, rays, .. } = self;
            let ray = |&pair: &u32| {
                let path = light_paths[pair as usize].as_ref()?;
                Some((path.ray, RayKey::light_extension(path.key, bounce)))
            };
            rays.clear();
            rays.extend(active.iter().filter_map(ray));

            // Trace them, shade the hits, and connect the new vertices to the camera
            self.extend(job.pass, bounce, tally);
            self.shade_light_paths(job, bounce, tally);
            self.connect(job, bounce, tally);
        }
    }

    /// Camera sub-paths, connected to lights and to light sub-paths, and merged with photons.
    fn trace_camera_paths<I: Intersector<Scratch = S>>(
        &mut self,
        job: &PairJob<'_, I>,
        pixels: &[u32],
        sample: u32,
        photons: Option<&PhotonMap>,
        tally: &mut Tally,
    ) {
        self.start_camera_paths(job, pixels, sample, tally);
        for bounce in 0..=job.techniques.camera_bounces(job.pass.settings.bounces) {
            if self.active.is_empty() {
                break;
            }
            // Gather the extension rays of the active sub-paths
            let Self { camera_paths, active, rays, .. } = self;
            let ray = |&pair: &u32| {
                let path = &camera_paths[pair as usize];
                (path.ray, RayKey::extension(path.key, bounce))
            };
            rays.clear();
            rays.extend(active.iter().map(ray));

            // Trace them, shade the hits, and connect the new vertices to lights and light sub-paths
            self.extend(job.pass, bounce, tally);
            self.shade_camera_paths(job, bounce, photons, tally);
            self.connect(job, bounce, tally);
        }
    }

    /// Starts a light sub-path for every pixel of the tile.
    fn start_light_paths<I>(&mut self, job: &PairJob<'_, I>, pixels: &[u32], sample: u32, tally: &mut Tally) {
        let start = Instant::now();
        // Empty the vertices and photons of the tile before
        self.light_paths.clear();
        self.active.clear();
        self.lit.photons.clear();
        self.lit.vertices.clear();
        if job.techniques.connect() {
            let ends = pixels.len() * job.pass.settings.bounces as usize;
            self.lit.ends.resize(ends, LightEnd::default());
            self.lit.end_counts.clear();
            self.lit.end_counts.resize(pixels.len(), 0);
        }
        // Sample emission for every pixel; pairs without light stay inactive
        for (pair, &pixel) in (0..).zip(pixels) {
            let key = job.pass.settings.key(pixel, sample);
            let path = LightPath::start(job.pass.scene, key);
            if path.is_some() {
                self.active.push(pair);
            }
            self.light_paths.push(path);
        }
        tally.generate += start.elapsed();
    }

    /// Starts the camera sub-path of every pixel of the tile.
    fn start_camera_paths<I>(
        &mut self,
        job: &PairJob<'_, I>,
        pixels: &[u32],
        sample: u32,
        tally: &mut Tally,
    ) {
        let start = Instant::now();
        let key = |pixel| job.pass.settings.key(pixel, sample);
        self.own.resize(pixels.len(), [0; 3]);
        self.camera_paths.clear();
        self.camera_paths.extend(pixels.iter().map(|&p| CameraPath::start(&job.pass.camera, key(p))));
        self.active.clear();
        self.active.extend(0..pixels.len() as u32);
        tally.generate += start.elapsed();
    }

    /// Turns hits of light sub-paths into vertices, queues their connections to the camera, and keeps the
    /// surviving sub-paths active.
    fn shade_light_paths<I>(&mut self, job: &PairJob<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        let Self { light_paths, active, hits, arrived, vertices, batch, lens, lit, shadow_rays, .. } = self;
        let (settings, ratios) = (&job.pass.settings, job.merging.ratios);
        let mut kept = 0;
        for first in (0..active.len()).step_by(BATCH) {
            // Compute the vertices at the hits, where they are kept for connections
            arrived.clear();
            if !job.techniques.connect() {
                vertices.clear();
            }
            let all = if job.techniques.connect() { &mut lit.vertices } else { &mut *vertices };
            let before = all.len();
            for i in first..active.len().min(first + BATCH) {
                let pair = active[i];
                let Some(path) = &light_paths[pair as usize] else { continue };
                if path.arrive(job.pass.scene, bounce, &hits[i], ratios, all) {
                    arrived.push(pair);
                }
            }

            // Queue the connections to the camera
            if job.techniques.connect_to_camera() {
                let key =
                    |i: usize| light_paths[arrived[i] as usize].map(|path| path.key).unwrap_or_default();
                let camera = &job.pass.camera;
                let constants = LensConnections { camera, settings, bounce, ratios };
                lens.connect(constants, &all[before..], key, |i, connection| {
                    let ray_key = RayKey::connection(key(i), connection.technique.index());
                    let target = SplatTarget::Film(connection.pixel);
                    shadow_rays.push(ShadowRay::new(&connection, target, ray_key, job.techniques));
                });
            }

            // Note the vertices for connections, and keep the photons for merges
            if job.techniques.connect() {
                for (index, &pair) in (before..).zip(arrived.iter()) {
                    let vertex = &lit.vertices[index];
                    if !vertex.is_specular() {
                        let (vertex, batch) = (index as u32, VertexBatch::of(vertex));
                        let end = LightEnd { vertex, bounce: bounce as u16, batch };
                        lit.push_end(pair, settings.bounces, end);
                    }
                }
            }
            let vertices = if job.techniques.connect() { &lit.vertices } else { &*vertices };
            if job.techniques.merge() {
                lit.photons
                    .extend(vertices[before..].iter().filter_map(|vertex| Photon::new(vertex, bounce)));
            }

            // Sample the BSDF, and compact the surviving sub-paths
            if bounce + 1 < settings.bounces {
                let extension =
                    Extension { settings, block: Block::LightBsdf, bounce, adjoint: true, ratios };
                for (i, &pair) in arrived.iter().enumerate() {
                    if let Some(path) = &light_paths[pair as usize] {
                        batch.push(i, path.key);
                    }
                }
                batch.extend(extension, &vertices[before..], |i, next| {
                    if let (Some(path), Some(next)) = (&mut light_paths[arrived[i] as usize], next) {
                        path.go_on(next);
                        active[kept] = arrived[i];
                        kept += 1;
                    }
                });
            }
        }
        active.truncate(kept);
        tally.shade += start.elapsed();
    }

    /// Adds the emission that camera sub-paths hit, queues their connections, merges them with photons, and keeps
    /// the surviving sub-paths active.
    fn shade_camera_paths<I>(
        &mut self,
        job: &PairJob<'_, I>,
        bounce: u32,
        photons: Option<&PhotonMap>,
        tally: &mut Tally,
    ) {
        let start = Instant::now();
        let Self { camera_paths, active, hits, arrived, vertices, lit, own, shadow_rays, .. } = self;
        let Self { batch, joins, lights, points, search, .. } = self;
        let (scene, settings) = (job.pass.scene, &job.pass.settings);
        let last = bounce == job.techniques.camera_bounces(settings.bounces);
        let mut kept = 0;
        let mut merges = Duration::ZERO;
        for first in (0..active.len()).step_by(BATCH) {
            arrived.clear();
            vertices.clear();
            for i in first..active.len().min(first + BATCH) {
                let pair = active[i];
                let path = &camera_paths[pair as usize];

                // Add the emission of the hit, weighted against the other techniques
                let (emitted, goes_on) = path.arrive(scene, bounce, last, &hits[i], vertices);
                if max_component(emitted.value) > 0.0 {
                    let technique = Technique { light: 0, camera: bounce + 2 };
                    let weight = job.techniques.emission_weight(emitted.weight, path.specular);
                    let radiance = emitted.value * weight;
                    add(&mut own[pair as usize], quantize(radiance, path.key, technique, &mut tally.invalid));
                }
                if goes_on {
                    arrived.push(pair);
                }
            }

            // Queue the connections to lights and to light sub-paths
            if job.techniques.connect() {
                let ratios = job.merging.ratios;
                let key = |camera: u32| camera_paths[arrived[camera as usize] as usize].key;
                let constants = LightConnections { scene, settings, bounce, ratios };
                lights.connect(
                    constants,
                    vertices,
                    |i| key(i as u32),
                    |i, connection| {
                        let (key, target) =
                            (RayKey::shadow(key(i as u32), bounce), SplatTarget::Own(arrived[i]));
                        shadow_rays.push(ShadowRay::new(&connection, target, key, job.techniques));
                    },
                );
                let ends = JoinVertices { light: &lit.vertices, camera: vertices, ratios };
                let mut queue = |camera: u32, connection: Connection| {
                    let ray_key = RayKey::connection(key(camera), connection.technique.index());
                    let target = SplatTarget::Own(arrived[camera as usize]);
                    shadow_rays.push(ShadowRay::new(&connection, target, ray_key, job.techniques));
                };
                for (camera, &pair) in (0..).zip(arrived.iter()) {
                    let vertex = &vertices[camera as usize];
                    if vertex.is_specular() {
                        continue;
                    }
                    let batch = VertexBatch::of(vertex);
                    for end in lit.of_pair(pair, settings.bounces) {
                        let technique = Technique { light: u32::from(end.bounce) + 2, camera: bounce + 2 };
                        if technique.light + bounce > settings.bounces {
                            break;
                        }
                        let (light, batch) = (end.vertex, end.batch.max(batch));
                        joins.push(ends, Join { light, camera, batch, technique }, key, &mut queue);
                    }
                }
                joins.finish(ends, key, &mut queue);
            }

            // Merge with photons
            if let Some(photons) = photons {
                let start = Instant::now();
                let merging = |vertex: &&Vertex| !vertex.is_specular();
                points.clear();
                points.extend(vertices.iter().filter(merging).map(|vertex| vertex.position));
                photons.search(&job.merging, points, search);
                let reached = arrived.iter().zip(vertices.iter()).filter(|(_, vertex)| merging(vertex));
                for (point, (&pair, vertex)) in reached.enumerate() {
                    let (key, found) = (camera_paths[pair as usize].key, photons.found(search, point));
                    let units = match job.merge_sums {
                        MergeSums::Integers => job.merge::<MergeSum>(key, bounce, vertex, found, tally),
                        MergeSums::Floats => job.merge::<FloatSum>(key, bounce, vertex, found, tally),
                    };
                    add(&mut own[pair as usize], units);
                }
                merges += start.elapsed();
            }

            // Sample the BSDF, and compact the surviving sub-paths
            for (i, (&pair, vertex)) in arrived.iter().zip(vertices.iter()).enumerate() {
                let path = &camera_paths[pair as usize];
                let specular = path.specular && vertex.is_specular();
                if job.techniques.continue_from(bounce, settings.bounces, specular) {
                    batch.push(i, path.key);
                }
            }
            let ratios = job.merging.ratios;
            let extension = Extension { settings, block: Block::Bsdf, bounce, adjoint: false, ratios };
            batch.extend(extension, vertices, |i, next| {
                if let Some(next) = next {
                    camera_paths[arrived[i] as usize].go_on(&vertices[i], next);
                    active[kept] = arrived[i];
                    kept += 1;
                }
            });
        }
        active.truncate(kept);
        tally.shade += start.elapsed().saturating_sub(merges);
        tally.merges += merges;
    }

    /// Finds the closest hits of the extension rays and counts them.
    fn extend<I: Intersector<Scratch = S>>(&mut self, job: &PassJob<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        // Trace closest hits, in packets where the configuration asks for no single rays
        let Self { rays, hits, scratch, .. } = self;
        let hits = prefix_mut(hits, rays.len(), Hit::none(0.0));
        let ray = |i: usize| (&rays[i].0, rays[i].1);
        if job.rays == Rays::Single {
            job.intersector.closest_hits_singly(rays.len(), ray, scratch, |i, hit| hits[i] = hit);
        } else {
            job.intersector.closest_hits(rays.len(), ray, scratch, |i, hit| hits[i] = hit);
        }

        // Count rays and hits
        let counts = tally.bounce(bounce);
        counts.extension_rays += rays.len() as u64;
        counts.hits += hits.iter().filter(|hit| hit.is_some()).count() as u64;
        tally.extend += start.elapsed();
    }

    /// Traces the shadow rays and adds the unoccluded connections to the film.
    fn connect<I: Intersector<Scratch = S>>(&mut self, job: &PairJob<'_, I>, bounce: u32, tally: &mut Tally) {
        let start = Instant::now();
        // Trace any hits
        let Self { shadow_rays, occluded, own, scratch, .. } = self;
        let occluded = prefix_mut(occluded, shadow_rays.len(), false);
        let ray = |i: usize| (&shadow_rays[i].ray, shadow_rays[i].key);
        if job.pass.rays == Rays::Single {
            let found = |i: usize, found| occluded[i] = found;
            job.pass.intersector.any_hits_singly(shadow_rays.len(), ray, scratch, found);
        } else {
            job.pass.intersector.any_hits(shadow_rays.len(), ray, scratch, |i, found| occluded[i] = found);
        }

        // Add unoccluded connections to the pair's pixel or to the film
        let mut unoccluded = 0;
        for (i, ray) in shadow_rays.iter().enumerate() {
            // Ask for the pixel of a connection further on
            if let Some(ShadowRay { target: SplatTarget::Film(pixel), .. }) = shadow_rays.get(i + AHEAD) {
                job.film.fetch(*pixel);
            }
            if occluded[i] {
                continue;
            }
            let units = quantize(ray.radiance, ray.key.sample, ray.technique, &mut tally.invalid);
            match ray.target {
                SplatTarget::Own(pair) => add(&mut own[pair as usize], units),
                SplatTarget::Film(pixel) => job.film.add(pixel, units),
            }
            unoccluded += 1;
        }

        // Count rays, and empty the queue
        let counts = tally.bounce(bounce);
        counts.shadow_rays += shadow_rays.len() as u64;
        counts.unoccluded += unoccluded;
        shadow_rays.clear();
        tally.connect += start.elapsed();
    }
}

impl<I> PairJob<'_, I> {
    /// The sum, in film units, of the merges of all photons within the radius with a vertex of a camera sub-path.
    #[inline(always)]
    fn merge<'p, S: Sum>(
        &self,
        key: SampleKey,
        bounce: u32,
        vertex: &Vertex,
        found: impl Iterator<Item = &'p Photon>,
        tally: &mut Tally,
    ) -> [i64; 3] {
        // In any order
        let mut sum = S::default();
        for photon in found {
            if photon.is_within(bounce, self.pass.settings.bounces)
                && let Some(merge) = photon.merge(vertex, &self.merging)
            {
                let radiance = merge.value * self.techniques.merge_weight(merge.weight);
                sum.add(radiance, &mut tally.invalid);
            }
        }

        // Quantise the sum
        let technique = Technique { light: MERGED, camera: bounce + 2 };
        sum.film_units(key, technique, &mut tally.invalid)
    }
}

impl ShadowRay {
    #[inline(always)]
    fn new(connection: &Connection, target: SplatTarget, key: RayKey, techniques: Techniques) -> Self {
        let Connection { ray, technique, value, weight, .. } = *connection;
        Self { ray, key, target, technique, radiance: value * techniques.weight(weight) }
    }
}

/// Adds film units to a sum.
#[inline(always)]
fn add(sum: &mut [i64; 3], units: [i64; 3]) {
    sum.iter_mut().zip(units).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
}
