//! The CPU renderer: rayon tasks over tiles, a wavefront path tracer per tile.

use crate::device;
use crate::intersector::{Built, Intersector};
use crate::pair_renderer::{LitTile, PairJob, PairRenderer};
use crate::photon_map::PhotonMap;
use crate::splat_film::SplatFilm;
use crate::tally::Tally;
use crate::tile_renderer::{PassJob, TileRenderer, traces_packets};
use crate::tiling::{Tile, split_into_tiles, tile_size};
use crate::trace_rays::trace_rays;
use lockstep_bvh::BvhCache;
use lockstep_core::film::InvalidSamples;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::memory;
use lockstep_core::merging::{MergeSchedule, Merging};
use lockstep_core::scene::Scene;
use lockstep_core::{
    ConfigureReport, Mode, PairStep, PathRequest, PathVertex, Query, StageTimes, TraceRaysReport, stage,
};
use lockstep_core::{DeviceInfo, Error, Film, LoadReport, PassReport, Renderer, Result, Settings};
use lockstep_core::{Integrator, KernelConfig, LayerSampling, MergeSums, Order, Rays};
use lockstep_core::{check_range, nothing_loaded};
use lockstep_transport::integrators::bidirectional::{PairPass, Photon, Techniques};
use lockstep_transport::simd::Batching;
use lockstep_transport::{record_pair, record_path};
use rayon::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Tile sides in pixels that tuning compares with the default.
const TUNED_TILE_SIDES: [u32; 4] = [8, 16, 64, 128];

/// A renderer over one kind of intersector.
pub(crate) struct CpuRenderer<I> {
    info: DeviceInfo,
    pool: rayon::ThreadPool,
    bvh_cache: BvhCache,
    loaded: Option<Loaded<I>>,
}

struct Loaded<I> {
    scene: Scene,
    settings: Settings,
    intersector: I,
    batching: Batching,
    tiles: Vec<Tile>,
    /// The techniques of an integrator of light and camera sub-paths, and its film.
    pairs: Option<(Techniques, SplatFilm)>,
    /// The merges of its passes.
    merges: Option<MergeSchedule>,
    merge_sums: MergeSums,
    /// How layers are sampled, where a kernel configuration picks one lobe.
    layers: LayerSampling,
    rays: Rays,
    order: Order,
    spp: u32,
    invalid: InvalidSamples,
}

impl<I: Intersector> CpuRenderer<I> {
    /// A renderer with its own pool of `info.compute_units` threads, and a cache of BVHs.
    ///
    /// # Errors
    /// [`Error::Device`] when the system refuses the threads.
    pub(crate) fn new(info: DeviceInfo, bvh_cache: BvhCache) -> Result<Self> {
        let pool = device::start_threads(&info.target, info.compute_units as usize)?;
        Ok(Self { info, pool, bvh_cache, loaded: None })
    }
}

impl<I: Intersector> Loaded<I> {
    /// Whether rays can be traced in packets, and singly instead.
    fn traces_packets(&self) -> bool {
        self.intersector.has_packets() && (self.pairs.is_some() || traces_packets())
    }

    /// Whether a kernel configuration may pick one lobe where paths take all lobes of layers together.
    fn may_turn_to_tree(&self) -> bool {
        let has_layers = self.scene.materials.iter().any(|material| material.layers != 0);
        self.settings.integrator == Integrator::Path && self.settings.layers.is_default() && has_layers
    }
}

/// The techniques and an empty film of an integrator of light and camera sub-paths; `None` for one of camera
/// paths, whose film is that of its tiles.
fn pairs_of(settings: &Settings) -> Option<(Techniques, SplatFilm)> {
    let pixels = settings.width as usize * settings.height as usize;
    Techniques::of(settings.integrator).map(|techniques| (techniques, SplatFilm::new(pixels)))
}

/// Bytes that the photons of a pass, their grid and the vertices that wait with them take at most, by settings that
/// [`Settings::validate`] accepts; 0 without merges.
fn photon_map_bytes(settings: &Settings) -> u64 {
    let Settings { width, height, bounces, integrator, .. } = *settings;
    let Some(techniques) = Techniques::of(integrator).filter(|techniques| techniques.merge()) else {
        return 0;
    };
    let light_paths = width.saturating_mul(height);
    let of_tiles = u64::from(light_paths) * LitTile::bytes_per_pair(techniques, bounces);
    of_tiles + PhotonMap::bytes(light_paths, bounces)
}

/// Refuses a photon map that does not fit into memory.
fn check_photons(settings: &Settings) -> Result<()> {
    let Settings { width, height, bounces, integrator, .. } = *settings;
    let what =
        || format!("the photon map of {width}x{height} light sub-paths of {bounces} bounces ({integrator})");
    memory::check(what, photon_map_bytes(settings))
}

/// Renders the pass's pairs of all tiles.
fn render_pairs<I: Intersector>(job: &PairJob<'_, I>, tiles: &[Tile]) -> Tally {
    tiles
        .par_iter()
        .map_init(PairRenderer::default, |renderer, tile| renderer.render(job, &tile.pixels))
        .reduce(Tally::default, Tally::merge)
}

/// Renders the pairs of one sample index, whose photons merge with camera sub-paths of all tiles.
fn render_merging<I: Intersector>(job: &PairJob<'_, I>, tiles: &[Tile], sample: u32) -> Tally {
    let (lit, tallies): (Vec<LitTile>, Vec<Tally>) = tiles
        .par_iter()
        .map_init(PairRenderer::default, |renderer, tile| renderer.light(job, &tile.pixels, sample))
        .unzip();
    let start = Instant::now();
    let parts: Vec<&[Photon]> = lit.iter().map(|tile| tile.photons.as_slice()).collect();
    let photons = PhotonMap::build(&job.merging, &parts);
    let built = Tally { photon_map: start.elapsed(), ..Tally::default() };
    let gathered = tiles
        .par_iter()
        .zip(lit)
        .map_init(PairRenderer::default, |renderer, (tile, lit)| {
            renderer.gather(job, &tile.pixels, sample, lit, &photons)
        })
        .reduce(Tally::default, Tally::merge);
    tallies.into_iter().fold(gathered.merge(built), Tally::merge)
}

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

impl<I: Intersector + Send> Renderer for CpuRenderer<I> {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn photon_map_bytes(&self, settings: &Settings) -> u64 {
        photon_map_bytes(settings)
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        settings.validate()?;
        settings.check_scene(scene)?;
        if settings.mode == Mode::Fast {
            return Err(Error::Unsupported { actor: self.info.target.to_string(), what: "fast mode".into() });
        }
        check_photons(settings)?;
        self.loaded = None;
        lockstep_bvh::check_memory(scene)?;
        let Built { intersector, bvh_report, elapsed } =
            self.pool.install(|| I::build(scene, &self.bvh_cache))?;
        let device_bytes = scene.bytes() + intersector.bytes();
        self.loaded = Some(Loaded {
            scene: scene.clone(),
            settings: *settings,
            intersector,
            batching: Batching::new(scene, settings),
            tiles: split_into_tiles(
                settings.width,
                settings.height,
                tile_size(&KernelConfig::default(), settings.width),
            ),
            pairs: pairs_of(settings),
            merges: MergeSchedule::new(scene, settings),
            merge_sums: MergeSums::default(),
            layers: settings.layers,
            rays: Rays::default(),
            order: Order::default(),
            spp: 0,
            invalid: InvalidSamples::default(),
        });
        Ok(LoadReport {
            build_ms: ms(elapsed),
            bvh: bvh_report,
            compile_ms: 0.0,
            upload_ms: 0.0,
            device_bytes,
            photon_map_bytes: photon_map_bytes(settings),
            samples_at_once: None,
        })
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        if !I::RENDERS {
            return Err(Error::Unsupported { actor: self.info.target.to_string(), what: "rendering".into() });
        }
        let loaded = self.loaded.as_mut().ok_or_else(nothing_loaded)?;
        let Loaded {
            scene,
            settings,
            intersector,
            batching,
            tiles,
            pairs,
            merges,
            merge_sums,
            layers,
            rays,
            order,
            spp,
            invalid,
        } = loaded;
        let added = check_range(*spp, &samples)?;
        let camera = scene.camera.frame(settings.width, settings.height);
        let settings = Settings { layers: *layers, ..*settings };
        let (rays, order) = (*rays, *order);
        let pass = PassJob { scene, intersector, camera, settings, samples, rays, batching, order };
        let start = Instant::now();
        let tally = self.pool.install(|| match pairs {
            None => tiles
                .par_iter_mut()
                .map_init(TileRenderer::default, |renderer, tile| renderer.render(&pass, tile))
                .reduce(Tally::default, Tally::merge),
            Some((techniques, film)) => {
                let merge_sums = *merge_sums;
                let job =
                    |merging| PairJob { pass: &pass, techniques: *techniques, film, merging, merge_sums };
                match merges {
                    None => render_pairs(&job(Merging::NONE), tiles),
                    Some(schedule) => {
                        let sample = |sample| render_merging(&job(schedule.pass(sample)), tiles, sample);
                        pass.samples.clone().map(sample).fold(Tally::default(), Tally::merge)
                    }
                }
            }
        });
        let total = start.elapsed();
        intersector.check()?;
        *spp += added;
        invalid.merge(&tally.invalid);
        // Threads run different stages at once: a stage's time is its share of all threads' time.
        let share = |d: Duration| ms(d) / f64::from(self.info.compute_units);
        let mut stages = StageTimes { total_ms: ms(total), ..StageTimes::default() };
        stages.add(stage::GENERATE, share(tally.generate));
        stages.add(stage::EXTEND, share(tally.extend));
        stages.add(stage::SHADE, share(tally.shade));
        stages.add(stage::CONNECT, share(tally.connect));
        if merges.is_some() {
            stages.add(stage::PHOTON_MAP, ms(tally.photon_map));
            stages.add(stage::MERGE, share(tally.merges));
        }
        Ok(PassReport { stages, bounces: tally.bounces, invalid: tally.invalid })
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        *film = Film::new(loaded.settings.width, loaded.settings.height)?;
        film.spp = loaded.spp;
        film.invalid = loaded.invalid;
        if let Some((_, splats)) = &loaded.pairs {
            film.sums = splats.sums();
            return film.check_sums();
        }
        for tile in &loaded.tiles {
            for (&pixel, sum) in tile.pixels.iter().zip(&tile.sums) {
                film.sums[pixel as usize] = *sum;
            }
        }
        Ok(())
    }

    fn kernel_configs(&self) -> Vec<KernelConfig> {
        let mut configs = vec![KernelConfig::default()];
        configs.extend(
            TUNED_TILE_SIDES.map(|side| KernelConfig { tile: Some(side), ..KernelConfig::default() }),
        );
        configs.extend(
            [Order::Scanline, Order::Octants].map(|order| KernelConfig { order, ..KernelConfig::default() }),
        );
        if self.loaded.as_ref().is_some_and(Loaded::traces_packets) {
            configs.push(KernelConfig { rays: Rays::Single, ..KernelConfig::default() });
        }
        if self.loaded.as_ref().is_some_and(|loaded| loaded.merges.is_some()) {
            configs.push(KernelConfig { merges: MergeSums::Floats, ..KernelConfig::default() });
        }
        if self.loaded.as_ref().is_some_and(Loaded::may_turn_to_tree) {
            configs.push(KernelConfig { layers: LayerSampling::Tree, ..KernelConfig::default() });
        }
        configs
    }

    fn configure(&mut self, config: &KernelConfig) -> Result<ConfigureReport> {
        let loaded = self.loaded.as_mut().ok_or_else(nothing_loaded)?;
        let KernelConfig { order, tile, rays, merges, layers, .. } = *config;
        let known = KernelConfig { order, tile, rays, merges, layers, ..KernelConfig::default() };
        let lacking = (rays == Rays::Single && !loaded.traces_packets())
            || (merges == MergeSums::Floats && loaded.merges.is_none())
            || (layers == LayerSampling::Tree && !loaded.may_turn_to_tree());
        if *config != known || tile == Some(0) || lacking {
            let (actor, what) = (self.info.target.to_string(), format!("the kernel configuration {config}"));
            return Err(Error::Unsupported { actor, what });
        }
        let Settings { width, height, .. } = loaded.settings;
        loaded.tiles = split_into_tiles(width, height, tile_size(config, width));
        loaded.pairs = pairs_of(&loaded.settings);
        (loaded.rays, loaded.order, loaded.merge_sums) = (rays, order, merges);
        loaded.layers = if layers == LayerSampling::Tree { layers } else { loaded.settings.layers };
        (loaded.spp, loaded.invalid) = (0, InvalidSamples::default());
        Ok(ConfigureReport::default())
    }

    fn record_paths(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PathVertex>>> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Loaded { scene, settings, intersector, pairs, .. } = loaded;
        if pairs.is_some() {
            return Err(
                self.unsupported(&format!("recording paths of the integrator {}", settings.integrator))
            );
        }
        PathRequest::check(requests, &self.info.target, settings.width, settings.height)?;
        let camera = scene.camera.frame(settings.width, settings.height);
        let path = |scratch: &mut [I::Scratch; 2], request: &PathRequest| {
            let key = settings.key(request.pixel, request.sample);
            let [closest, any] = scratch;
            let records = record_path(
                scene,
                settings,
                &camera,
                key,
                |ray, key| intersector.closest_hit(ray, key, closest),
                |ray, key| intersector.any_hit(ray, key, any),
            );
            PathVertex::path(&records)
        };
        let paths = self.pool.install(|| requests.par_iter().map_init(Default::default, path).collect());
        intersector.check()?;
        Ok(paths)
    }

    fn record_pairs(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PairStep>>> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Loaded { scene, settings, intersector, .. } = loaded;
        // Merges are with the photons of all pairs
        let techniques = Techniques::of(settings.integrator).filter(|techniques| !techniques.merge());
        let Some(techniques) = techniques else {
            let what = format!("recording pairs of sub-paths of the integrator {}", settings.integrator);
            return Err(self.unsupported(&what));
        };
        PathRequest::check(requests, &self.info.target, settings.width, settings.height)?;
        let camera = scene.camera.frame(settings.width, settings.height);
        let pass = PairPass { scene, settings, techniques, camera, merging: Merging::NONE };
        let pair = |scratch: &mut [I::Scratch; 2], request: &PathRequest| {
            let key = settings.key(request.pixel, request.sample);
            let [closest, any] = scratch;
            let records = record_pair(
                &pass,
                key,
                |ray, key| intersector.closest_hit(ray, key, closest),
                |ray, key| intersector.any_hit(ray, key, any),
            );
            PairStep::pair(&records)
        };
        let pairs = self.pool.install(|| requests.par_iter().map_init(Default::default, pair).collect());
        intersector.check()?;
        Ok(pairs)
    }

    fn trace_rays(
        &mut self,
        rays: &[Ray],
        query: Query,
        passes: u32,
        hits: Option<&mut Vec<Hit>>,
    ) -> Result<TraceRaysReport> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let mut found = vec![Hit::none(0.0); rays.len()];
        let once = |_| self.pool.install(|| trace_rays(&loaded.intersector, rays, query, &mut found));
        let elapsed: Vec<_> = (0..passes).map(once).collect();
        loaded.intersector.check()?;
        if let Some(hits) = hits {
            *hits = found;
        }
        Ok(TraceRaysReport {
            ms: elapsed.iter().map(|e| ms(e.wall)).collect(),
            busy_ms: elapsed.iter().map(|e| ms(e.busy)).collect(),
            layout: loaded.intersector.layout(),
        })
    }
}
