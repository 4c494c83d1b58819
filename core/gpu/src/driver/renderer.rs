//! A renderer over any [`Device`].

use crate::driver::arrays::Array;
use crate::driver::batch::{Batch, batches, default_paths, most_paths, samples_at_once};
use crate::driver::configs::{compared, lacking};
use crate::driver::device::Device;
use crate::driver::fit::{self, Demand};
use crate::driver::launches::{Launches, SceneOnDevice};
use crate::driver::path_state::PathState;
use crate::driver::record_paths;
use crate::driver::timeline::Timeline;
use crate::driver::trace_rays::{self, Elapsed};
use crate::integrators::{Plan, plan};
use crate::{
    KernelFeatures, KernelResources, Pass, bounces_of_totals, invalid_of_totals, scene_arrays,
    scene_constants, totals_len,
};
use lockstep_bvh::{BvhCache, Fetched};
use lockstep_core::error::{Error, Result};
use lockstep_core::film::{Film, InvalidSamples};
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::merging::{MergeSchedule, Merging};
use lockstep_core::scene::Scene;
use lockstep_core::{
    ConfigureReport, DeviceInfo, Integrator, LoadReport, PairStep, PassReport, PathRequest, PathVertex,
    Query, Renderer, Settings, TraceRaysReport,
};
use lockstep_core::{KernelConfig, Structure};
use lockstep_core::{check_range, nothing_loaded};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The integrators of `core/gpu/kernels` on one device.
pub struct Wavefront<D: Device> {
    device: D,
    bvh_cache: BvhCache,
    loaded: Option<Loaded<D>>,
}

/// A scene on the device with its film.
struct Loaded<D: Device> {
    scene: SceneOnDevice<D>,
    features: KernelFeatures,
    settings: Settings,
    /// Parameters common to all batches; each fills in its ranges and merges.
    pass: Pass,
    /// The merges of every pass, of an integrator that has any.
    merges: Option<MergeSchedule>,
    /// The integrator's buffers and launches.
    plan: &'static Plan,
    state: PathState<D>,
    /// Paths that `state` has room for.
    room: u32,
    /// Upper limit of paths in flight.
    capacity: u32,
    config: KernelConfig,
    film: Array<D>,
    totals: Array<D>,
    /// Contents of `totals` after the last pass.
    counted: Vec<u64>,
    spp: u32,
    invalid: InvalidSamples,
}

impl<D: Device> Loaded<D> {
    fn pass_over_nothing(&self) -> Pass {
        pass_of(&self.pass, None, &Batch { pixels: 0..0, samples: 0..0 })
    }

    /// Allocates path state for a configuration, and returns its number of paths in flight.
    fn make_room(&mut self, device: &mut D, config: &KernelConfig) -> Result<u32> {
        let paths = self.paths_of(device, config)?;
        if paths > self.room || config.structure != self.state.structure {
            self.state = PathState::new(device, self.plan, config.structure, paths, self.settings.bounces)?;
            self.room = paths;
        }
        Ok(paths)
    }

    /// The number of paths in flight of a configuration.
    fn paths_of(&self, device: &D, config: &KernelConfig) -> Result<u32> {
        let (limits, structure, bounces) = (device.limits(), config.structure, self.settings.bounces);
        let Some(samples) = config.samples else {
            return Ok(default_paths(&limits, self.plan, structure, &self.settings));
        };
        let paths = u64::from(self.pass.pixels) * u64::from(samples.max(1));
        let most = most_paths(&limits, self.plan, structure, bounces);
        if paths > most {
            return Err(Error::Device {
                actor: device.info().target.to_string(),
                action: format!("holding {samples} samples of every pixel in flight"),
                reason: format!("they are {paths} paths; the device has room for {most}"),
            });
        }
        Ok(paths as u32)
    }
}

impl<D: Device> Wavefront<D> {
    /// A renderer without a scene and without a BVH cache.
    pub fn new(device: D) -> Self {
        Self { device, bvh_cache: BvhCache::default(), loaded: None }
    }

    /// A renderer with a BVH cache.
    pub fn keeping(self, bvh_cache: BvhCache) -> Self {
        Self { bvh_cache, ..self }
    }

    /// Enqueues one batch and flushes the queue.
    fn run(device: &mut D, loaded: &Loaded<D>, batch: &Batch, timeline: &mut Timeline<D>) -> Result<()> {
        let pass = pass_of(&loaded.pass, loaded.merges.as_ref(), batch);
        let (scene, state, items) = (&loaded.scene, &loaded.state, batch.paths());
        let (film, totals, bounces) = (&loaded.film, &loaded.totals, loaded.settings.bounces);
        let schedule = loaded.plan.schedule(loaded.config.structure);
        let launches =
            Launches { device, scene, state, film, totals, pass, schedule, bounces, items }.all()?;
        device.flush()?;
        launches.into_iter().try_for_each(|launch| timeline.push(device, launch))
    }

    /// Launches every kernel over no paths: drivers that finish compiling at a kernel's first launch do it
    /// here, where it counts as compiling.
    fn warm_up(device: &mut D, loaded: &Loaded<D>, structure: Structure) -> Result<()> {
        let (scene, state, items) = (&loaded.scene, &loaded.state, loaded.capacity);
        let pass = loaded.pass_over_nothing();
        let (film, totals, bounces) = (&loaded.film, &loaded.totals, loaded.settings.bounces);
        let schedule = loaded.plan.schedule(structure);
        let launches =
            Launches { device, scene, state, film, totals, pass, schedule, bounces, items }.all()?;
        device.flush()?;
        launches.iter().try_for_each(|(_, event)| device.wait(event).map(drop))
    }

    /// Activates a configuration whose kernels the device has ready.
    fn turn_to(device: &mut D, loaded: &mut Loaded<D>, config: &KernelConfig) -> Result<()> {
        let capacity = loaded.make_room(device, config)?;
        // Launches of a configuration that was refused halfway may have counted something.
        loaded.state.clear_counters(device)?;
        Self::warm_up(device, loaded, config.structure)?;
        loaded.film.clear(device)?;
        (loaded.spp, loaded.invalid) = (0, InvalidSamples::default());
        (loaded.capacity, loaded.config) = (capacity, *config);
        Ok(())
    }
}

/// The pass of one batch.
pub(super) fn pass_of(film: &Pass, merges: Option<&MergeSchedule>, batch: &Batch) -> Pass {
    let mut merging = film.merging;
    for (of_sample, sample) in merging.iter_mut().zip(batch.samples.clone()) {
        *of_sample = merges.map_or(Merging::NONE, |schedule| schedule.pass(sample));
    }
    Pass {
        merging,
        pixels: batch.pixels.len() as u32,
        first_pixel: batch.pixels.start,
        samples: batch.samples.len() as u32,
        first_sample: batch.samples.start,
        ..*film
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl<D: Device> Renderer for Wavefront<D> {
    fn device(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn photon_map_bytes(&self, settings: &Settings) -> u64 {
        if !settings.integrator.merges() {
            return 0;
        }
        let (limits, plan) = (self.device.limits(), plan(settings.integrator));
        let structure = self.device.default_config(settings.mode, settings.integrator).structure;
        let light_paths = default_paths(&limits, plan, structure, settings);
        plan.bytes_of_photon_map(structure, light_paths, settings.bounces)
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        settings.validate()?;
        settings.check_scene(scene)?;
        // The old scene's memory is free before the new one asks for its own.
        self.loaded = None;
        let config = self.device.default_config(settings.mode, settings.integrator);
        let features = KernelFeatures::of(scene, settings);
        let plan = plan(settings.integrator);
        lockstep_bvh::check_memory(scene)?;
        let pixels = settings.width * settings.height;
        let mut compile = self.device.prepare(&config, features, pixels)?;
        let Fetched { bvh, report, elapsed } = self.bvh_cache.bvh(scene, self.device.limits().kind.layout());

        let start = Instant::now();
        let device = &mut self.device;
        let merges = MergeSchedule::new(scene, settings);
        let capacity = default_paths(&device.limits(), plan, config.structure, settings);
        let arrays = scene_arrays(scene, &bvh);
        let film = u64::from(pixels) * size_of::<[i64; 3]>() as u64;
        let state = plan.bytes_of_buffers(config.structure, capacity, settings.bounces);
        fit::check(device, &Demand { scene: &scene.name, arrays: &arrays, film, state: &state })?;
        let on_device = SceneOnDevice::upload(device, scene_constants(scene, &bvh), &arrays)?;
        let device_bytes = on_device.bytes();
        let totals = totals_len(settings.bounces);
        let loaded = Loaded {
            scene: on_device,
            features,
            settings: *settings,
            pass: Pass::new(scene, settings, 0, 0),
            merges,
            plan,
            state: PathState::new(device, plan, config.structure, capacity, settings.bounces)?,
            room: capacity,
            capacity,
            config,
            film: Array::zeroed::<i64>(device, 3 * pixels as usize, "the film")?,
            totals: Array::zeroed::<u64>(device, totals, "ray totals")?,
            counted: vec![0; totals],
            spp: 0,
            invalid: InvalidSamples::default(),
        };
        let upload = start.elapsed();
        if !compile.is_zero() {
            let start = Instant::now();
            Self::warm_up(device, &loaded, config.structure)?;
            compile += start.elapsed();
        }
        self.loaded = Some(loaded);
        Ok(LoadReport {
            build_ms: ms(elapsed),
            bvh: Some(report),
            compile_ms: ms(compile),
            upload_ms: ms(upload),
            device_bytes,
            photon_map_bytes: self.photon_map_bytes(settings),
            samples_at_once: Some(samples_at_once(settings.width * settings.height, capacity)),
        })
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        let Self { device, loaded, .. } = self;
        let loaded = loaded.as_mut().ok_or_else(nothing_loaded)?;
        let added = check_range(loaded.spp, &samples)?;
        let pixels = loaded.settings.width * loaded.settings.height;
        let mut timeline = Timeline::new();
        for batch in batches(pixels, samples, loaded.capacity) {
            Self::run(device, loaded, &batch, &mut timeline)?;
        }
        let totals: Vec<u64> = loaded.totals.download(device, loaded.counted.len())?;
        let stages = timeline.finish(device)?;
        let fresh: Vec<u64> =
            totals.iter().zip(&loaded.counted).map(|(now, then)| now.wrapping_sub(*then)).collect();
        let invalid = invalid_of_totals(&fresh);
        loaded.counted = totals;
        loaded.spp += added;
        loaded.invalid.merge(&invalid);
        Ok(PassReport { stages, bounces: bounces_of_totals(&fresh), invalid })
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let (width, height) = (loaded.settings.width, loaded.settings.height);
        if (film.width(), film.height()) != (width, height) {
            *film = Film::new(width, height)?;
        }
        loaded.film.download_into(&mut self.device, &mut film.sums)?;
        (film.spp, film.invalid) = (loaded.spp, loaded.invalid);
        film.check_sums()
    }

    fn kernel_configs(&self) -> Vec<KernelConfig> {
        let all = KernelFeatures::all(Integrator::Path);
        let features = self.loaded.as_ref().map_or(all, |loaded| loaded.features);
        compared(&self.device.limits(), &features)
    }

    fn configure(&mut self, config: &KernelConfig) -> Result<ConfigureReport> {
        let Self { device, loaded, .. } = self;
        let loaded = loaded.as_mut().ok_or_else(nothing_loaded)?;
        if let Some(what) = lacking(config, device.limits().kind, &loaded.features) {
            return Err(Error::Unsupported { actor: device.info().target.to_string(), what });
        }
        let start = Instant::now();
        let pixels = loaded.settings.width * loaded.settings.height;
        device.prepare(config, loaded.features.in_config(config), pixels)?;
        if let Err(refusal) = Self::turn_to(device, loaded, config) {
            let before = loaded.config;
            device.prepare(&before, loaded.features.in_config(&before), pixels)?;
            loaded.make_room(device, &before)?;
            return Err(refusal);
        }
        let group = config.group.unwrap_or(device.limits().group);
        Ok(ConfigureReport { compile_ms: ms(start.elapsed()), group: Some(group) })
    }

    fn kernel_resources(&self) -> Vec<KernelResources> {
        self.device.resources()
    }

    fn record_paths(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PathVertex>>> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Settings { width, height, integrator, .. } = loaded.settings;
        if integrator.splats() {
            return Err(self.unsupported(&format!("recording paths of the integrator {integrator}")));
        }
        PathRequest::check(requests, &self.device.info().target, width, height)?;
        record_paths::record_paths(&mut self.device, &loaded.scene, loaded.pass, requests)
    }

    fn record_pairs(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PairStep>>> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Settings { width, height, integrator, .. } = loaded.settings;
        if !integrator.splats() || integrator.merges() {
            return Err(
                self.unsupported(&format!("recording pairs of sub-paths of the integrator {integrator}"))
            );
        }
        PathRequest::check(requests, &self.device.info().target, width, height)?;
        record_paths::record_pairs(&mut self.device, &loaded.scene, loaded.pass, requests)
    }

    fn trace_rays(
        &mut self,
        rays: &[Ray],
        query: Query,
        passes: u32,
        hits: Option<&mut Vec<Hit>>,
    ) -> Result<TraceRaysReport> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Elapsed { ms, busy_ms } =
            trace_rays::trace_rays(&mut self.device, &loaded.scene, rays, query, passes, hits)?;
        Ok(TraceRaysReport { ms, busy_ms, layout: self.device.limits().kind.layout().name().into() })
    }
}
