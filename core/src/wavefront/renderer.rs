//! A renderer over any [`Device`].

use super::arrays::Array;
use super::batch::{Batch, batches, most_paths, paths_in_flight};
use super::cast::{self, Took};
use super::device::Device;
use super::fit::{self, Demand};
use super::launches::{Launches, SceneOnDevice};
use super::path_state::{BYTES_PER_PATH, PathState};
use super::timeline::Timeline;
use super::tracer;
use super::variants::{lacking, variants};
use crate::bvh::{BvhCache, Fetched};
use crate::error::{Error, Result};
use crate::film::{Film, Flaws};
use crate::intersect::{Hit, Ray};
use crate::kernels::{
    Content, KernelResources, Pass, bounces_of_totals, flaws_of_totals, scene_arrays, scene_constants,
    totals_len,
};
use crate::null::{check_range, nothing_loaded};
use crate::renderer::{
    CastReport, DeviceInfo, LoadReport, PassReport, PathRequest, PathVertex, Query, Renderer, Settings,
    VaryReport,
};
use crate::scene::Scene;
use crate::variant::{Structure, Variant};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The path tracer of `core/kernels` on one device.
pub struct Wavefront<D: Device> {
    device: D,
    hierarchies: BvhCache,
    loaded: Option<Loaded<D>>,
}

/// A scene on the device with its film.
struct Loaded<D: Device> {
    scene: SceneOnDevice<D>,
    content: Content,
    settings: Settings,
    /// What all batches have in common; each fills in its ranges.
    pass: Pass,
    state: PathState<D>,
    /// Paths that `state` has room for.
    room: u32,
    /// Paths in flight, at most.
    capacity: u32,
    variant: Variant,
    film: Array<D>,
    totals: Array<D>,
    /// What `totals` held after the last pass.
    counted: Vec<u64>,
    spp: u32,
    flaws: Flaws,
}

impl<D: Device> Loaded<D> {
    fn pass_over_nothing(&self) -> Pass {
        pass_of(&self.pass, &Batch { pixels: 0..0, samples: 0..0 })
    }

    /// Makes room for the paths that a variant has in flight, and returns how many these are.
    fn make_room(&mut self, device: &mut D, variant: &Variant) -> Result<u32> {
        let limits = device.limits();
        let Some(samples) = variant.samples else {
            return Ok(paths_in_flight(&limits));
        };
        let paths = u64::from(self.pass.pixels) * u64::from(samples.max(1));
        if paths > most_paths(&limits) {
            return Err(Error::Device {
                actor: device.info().target.clone(),
                action: format!("holding {samples} samples of every pixel in flight"),
                reason: format!("they are {paths} paths; the device has room for {}", most_paths(&limits)),
            });
        }
        let paths = paths as u32;
        if paths > self.room {
            self.state = PathState::new(device, paths, self.settings.bounces)?;
            self.room = paths;
        }
        Ok(paths)
    }
}

impl<D: Device> Wavefront<D> {
    /// A renderer without a scene, which keeps no hierarchies.
    pub fn new(device: D) -> Self {
        Self { device, hierarchies: BvhCache::default(), loaded: None }
    }

    /// The same with a place for built hierarchies.
    pub fn keeping(self, hierarchies: BvhCache) -> Self {
        Self { hierarchies, ..self }
    }

    /// Enqueues one batch and lets the device begin.
    fn run(device: &mut D, loaded: &Loaded<D>, batch: &Batch, timeline: &mut Timeline<D>) -> Result<()> {
        let pass = pass_of(&loaded.pass, batch);
        let (scene, state, items) = (&loaded.scene, &loaded.state, batch.paths());
        let structure = loaded.variant.structure;
        let launches =
            Launches { device, scene, state, pass, structure, items }.all(&loaded.film, &loaded.totals)?;
        device.flush()?;
        launches.into_iter().try_for_each(|launch| timeline.push(device, launch))
    }

    /// Runs every kernel over no paths: drivers that finish compiling at a kernel's first launch do it here, where it
    /// is counted as compiling.
    fn warm_up(device: &mut D, loaded: &Loaded<D>, structure: Structure) -> Result<()> {
        let (scene, state, items) = (&loaded.scene, &loaded.state, loaded.capacity);
        let pass = loaded.pass_over_nothing();
        let mut launches = Launches { device, scene, state, pass, structure, items };
        let launches = launches.all(&loaded.film, &loaded.totals)?;
        device.flush()?;
        launches.iter().try_for_each(|(_, event)| device.wait(event).map(drop))
    }

    /// Turns to a variant whose kernels the device has ready.
    fn turn_to(device: &mut D, loaded: &mut Loaded<D>, variant: &Variant) -> Result<()> {
        let capacity = loaded.make_room(device, variant)?;
        // Launches of a variant that was refused halfway may have counted something.
        loaded.state.counters.clear(device)?;
        loaded.state.flaws.clear(device)?;
        Self::warm_up(device, loaded, variant.structure)?;
        loaded.film.clear(device)?;
        (loaded.spp, loaded.flaws) = (0, Flaws::default());
        (loaded.capacity, loaded.variant) = (capacity, *variant);
        Ok(())
    }
}

/// The pass of one batch.
fn pass_of(film: &Pass, batch: &Batch) -> Pass {
    Pass {
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

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        settings.validate()?;
        // The old scene's memory is free before the new one asks for its own.
        self.loaded = None;
        let variant = Variant::in_mode(settings.mode);
        let content = Content::of(scene);
        let mut compile = self.device.prepare(&variant, content)?;
        let Fetched { bvh, report, took } =
            self.hierarchies.hierarchy(scene, self.device.limits().kind.layout());

        let start = Instant::now();
        let device = &mut self.device;
        let pixels = settings.width * settings.height;
        let capacity = paths_in_flight(&device.limits());
        let arrays = scene_arrays(scene, &bvh);
        let film = u64::from(pixels) * size_of::<[i64; 3]>() as u64;
        let state = u64::from(capacity) * BYTES_PER_PATH;
        fit::check(device, &Demand { scene: &scene.name, arrays: &arrays, film, state })?;
        let on_device = SceneOnDevice::upload(device, scene_constants(scene, &bvh), &arrays)?;
        let device_bytes = on_device.bytes();
        let totals = totals_len(settings.bounces);
        let loaded = Loaded {
            scene: on_device,
            content,
            settings: *settings,
            pass: Pass::new(scene, settings, 0, 0),
            state: PathState::new(device, capacity, settings.bounces)?,
            room: capacity,
            capacity,
            variant,
            film: Array::zeroed::<i64>(device, 3 * pixels as usize, "the film")?,
            totals: Array::zeroed::<u64>(device, totals, "ray totals")?,
            counted: vec![0; totals],
            spp: 0,
            flaws: Flaws::default(),
        };
        let upload = start.elapsed();
        if !compile.is_zero() {
            let start = Instant::now();
            Self::warm_up(device, &loaded, variant.structure)?;
            compile += start.elapsed();
        }
        self.loaded = Some(loaded);
        Ok(LoadReport {
            build_ms: ms(took),
            hierarchy: Some(report),
            compile_ms: ms(compile),
            upload_ms: ms(upload),
            device_bytes,
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
        let flaws = flaws_of_totals(&fresh);
        loaded.counted = totals;
        loaded.spp += added;
        loaded.flaws.merge(&flaws);
        Ok(PassReport { stages, bounces: bounces_of_totals(&fresh), flaws })
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let mut fresh = Film::new(loaded.settings.width, loaded.settings.height)?;
        fresh.sums = loaded.film.download(&mut self.device, fresh.sums.len())?;
        fresh.spp = loaded.spp;
        fresh.flaws = loaded.flaws;
        *film = fresh;
        Ok(())
    }

    fn variants(&self) -> Vec<Variant> {
        variants(&self.device.limits())
    }

    fn vary(&mut self, variant: &Variant) -> Result<VaryReport> {
        let Self { device, loaded, .. } = self;
        let loaded = loaded.as_mut().ok_or_else(nothing_loaded)?;
        if let Some(what) = lacking(variant, device.limits().kind) {
            return Err(Error::Unsupported { actor: device.info().target.clone(), what });
        }
        let start = Instant::now();
        device.prepare(variant, loaded.content)?;
        if let Err(refusal) = Self::turn_to(device, loaded, variant) {
            device.prepare(&loaded.variant, loaded.content)?;
            return Err(refusal);
        }
        let group = variant.group.unwrap_or(device.limits().group);
        Ok(VaryReport { compile_ms: ms(start.elapsed()), group: Some(group) })
    }

    fn kernel_resources(&self) -> Vec<KernelResources> {
        self.device.resources()
    }

    fn trace(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PathVertex>>> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Settings { width, height, .. } = loaded.settings;
        PathRequest::check(requests, &self.device.info().target, width, height)?;
        tracer::trace_all(&mut self.device, &loaded.scene, loaded.pass, requests)
    }

    fn cast(
        &mut self,
        rays: &[Ray],
        query: Query,
        passes: u32,
        hits: Option<&mut Vec<Hit>>,
    ) -> Result<CastReport> {
        let loaded = self.loaded.as_ref().ok_or_else(nothing_loaded)?;
        let Took { ms, busy_ms } = cast::cast(&mut self.device, &loaded.scene, rays, query, passes, hits)?;
        Ok(CastReport { ms, busy_ms, layout: self.device.limits().kind.layout().name().into() })
    }
}
