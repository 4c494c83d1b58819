//! The driver over a device that computes nothing and logs its calls.

use crate::driver::batch::{Batch, batches, default_paths, paths_in_flight};
use crate::driver::renderer::pass_of;
use crate::driver::*;
use crate::integrators::plan;
use crate::signatures::Kernel;
use crate::{KernelFeatures, Options, Pass, ProgramKind};
use lockstep_core::Integrator;
use lockstep_core::error::{Error, Result};
use lockstep_core::merging::{MergeSchedule, Merging};
use lockstep_core::scene::{Material, MeshData, Scene, SceneBuilder, Sphere};
use lockstep_core::{DeviceInfo, Renderer, Settings};
use lockstep_core::{KernelConfig, LayerSampling, MergeSums, Order, Rays, Scheduling, Structure};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Log of a device's calls.
#[derive(Debug, Default)]
struct Log {
    kernels: Vec<&'static str>,
    allocations: usize,
    downloads: usize,
    waits: usize,
}

struct Recorder {
    info: DeviceInfo,
    limits: Limits,
    log: Rc<RefCell<Log>>,
    clock: u64,
}

impl Recorder {
    fn new(limits: Limits) -> (Self, Rc<RefCell<Log>>) {
        let log = Rc::new(RefCell::new(Log::default()));
        let info = DeviceInfo { target: "recorder".into(), ..DeviceInfo::default() };
        (Self { info, limits, log: log.clone(), clock: 0 }, log)
    }
}

impl Device for Recorder {
    type Buffer = usize;
    type Event = Timestamps;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn prepare(&mut self, _: &KernelConfig, _: KernelFeatures, _pixels: u32) -> Result<Duration> {
        Ok(Duration::ZERO)
    }

    fn prepare_recording(&mut self) -> Result<()> {
        Ok(())
    }

    fn allocate(&mut self, bytes: u64, _what: &str) -> Result<usize> {
        assert!(bytes > 0 && bytes <= self.limits.largest_allocation);
        self.log.borrow_mut().allocations += 1;
        Ok(bytes as usize)
    }

    fn upload(&mut self, buffer: &usize, bytes: &[u8], what: &str) -> Result<()> {
        assert!(bytes.len() <= *buffer, "{what}");
        Ok(())
    }

    fn download(&mut self, buffer: &usize, into: &mut [u8], what: &str) -> Result<()> {
        assert!(into.len() <= *buffer, "{what}");
        self.log.borrow_mut().downloads += 1;
        Ok(())
    }

    fn launch(
        &mut self,
        kernel: &Kernel,
        items: u32,
        _arguments: &[KernelArg<'_, usize>],
    ) -> Result<Timestamps> {
        assert!(items > 0);
        self.log.borrow_mut().kernels.push(kernel.name);
        self.clock += 3_000_000;
        Ok(Timestamps { start: self.clock - 1_000_000, end: self.clock })
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn wait(&mut self, event: &Timestamps) -> Result<Timestamps> {
        self.log.borrow_mut().waits += 1;
        Ok(*event)
    }
}

const WAVEFRONT: Structure = Structure::Wavefront;

const ROOMY: Limits = Limits {
    kind: DeviceType::Cpu,
    largest_allocation: 1 << 30,
    memory: 4 << 30,
    compute_units: 2,
    group: 64,
};

fn scene() -> Scene {
    let mut builder = SceneBuilder::new("ball");
    let material = builder.material(Material::diffuse([0.5; 3]));
    let sphere = Sphere { radius: 1.0, material, ..Sphere::default() };
    let mesh = builder.mesh(MeshData { spheres: vec![sphere], ..MeshData::default() });
    builder.instance(mesh, lockstep_core::scene::IDENTITY);
    builder.build().unwrap()
}

#[test]
fn a_pass_is_one_sequence_of_launches_and_one_wait_for_data() {
    let (device, log) = Recorder::new(Limits { kind: DeviceType::Gpu, ..ROOMY });
    let mut renderer = Wavefront::new(device);
    renderer.load(&scene(), &Settings { width: 8, height: 8, bounces: 2, ..Settings::default() }).unwrap();
    let report = renderer.accumulate(0..4).unwrap();
    let round = ["ls_extend", "ls_shade", "ls_connect"];
    let expected: Vec<&str> = ["ls_generate", "ls_extend_coherent", "ls_shade", "ls_connect"]
        .into_iter()
        .chain(round)
        .chain(["ls_extend", "ls_shade", "ls_resolve", "ls_tally"])
        .collect();
    assert_eq!(log.borrow().kernels, expected);
    assert_eq!(log.borrow().downloads, 1);
    // Each launch takes one millisecond, two after the one before.
    let stages = report.stages;
    assert_eq!((stages.ms("generate"), stages.ms("extend")), (1.0, 3.0));
    assert_eq!((stages.ms("shade"), stages.ms("connect")), (3.0, 2.0));
    assert_eq!(stages.total_ms, 3.0 * expected.len() as f64 - 2.0);
}

#[test]
fn rays_from_the_lens_have_a_kernel_of_their_own_on_gpus_alone() {
    for (kind, expected) in [(DeviceType::Cpu, 0), (DeviceType::Gpu, 1)] {
        for (integrator, own) in
            [(Integrator::Path, "ls_extend_coherent"), (Integrator::Bpt, "ls_extend_lens")]
        {
            let (device, log) = Recorder::new(Limits { kind, ..ROOMY });
            let mut renderer = Wavefront::new(device);
            let settings = Settings { width: 8, height: 8, integrator, ..Settings::default() };
            renderer.load(&scene(), &settings).unwrap();
            renderer.configure(&KernelConfig::default()).unwrap();
            log.take();
            renderer.accumulate(0..1).unwrap();
            let found = log.borrow().kernels.iter().filter(|kernel| **kernel == own).count();
            assert_eq!(found, expected, "{kind:?}: {own}");
        }
    }
}

#[test]
fn a_scene_that_no_allocation_can_hold_is_refused_before_anything_is_copied() {
    let (device, log) = Recorder::new(Limits { largest_allocation: 64, ..ROOMY });
    let refused = Wavefront::new(device).load(&scene(), &Settings::default());
    let Err(Error::Device { action, reason, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(action, "placing the instances of scene ball");
    assert!(reason.contains("112 bytes") && reason.contains("64 bytes"), "{reason}");
    assert_eq!(log.borrow().allocations, 0);
}

#[test]
fn a_film_that_the_memory_cannot_hold_is_refused_before_anything_is_copied() {
    let (device, log) = Recorder::new(Limits { memory: 100 << 20, ..ROOMY });
    let settings = Settings { width: 4000, height: 4000, ..Settings::default() };
    let refused = Wavefront::new(device).load(&scene(), &settings);
    let Err(Error::Device { reason, .. }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("104.9 MB"), "{reason}");
    assert_eq!(log.borrow().allocations, 0);

    let (device, log) = Recorder::new(Limits { largest_allocation: 300 << 20, ..ROOMY });
    let refused = Wavefront::new(device).load(&scene(), &settings);
    let Err(Error::Device { action, reason, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(action, "placing the film");
    assert!(reason.contains("384.0 MB") && reason.contains("314.6 MB"), "{reason}");
    assert_eq!(log.borrow().allocations, 0);
}

#[test]
fn a_photon_map_that_does_not_fit_is_refused_with_its_size_before_anything_is_allocated() {
    let settings = Settings { width: 1000, height: 1000, integrator: Integrator::Bpm, ..Settings::default() };
    let (device, log) = Recorder::new(Limits { largest_allocation: 100 << 20, ..ROOMY });
    let refused = Wavefront::new(device).load(&scene(), &settings);
    let Err(Error::Device { action, reason, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(action, "placing photons");
    // Three photons of 48 bytes a light sub-path
    assert!(reason.contains("144.0 MB") && reason.contains("104.9 MB"), "{reason}");
    assert_eq!(log.borrow().allocations, 0);

    let (device, log) = Recorder::new(Limits { memory: 256 << 20, ..ROOMY });
    let refused = Wavefront::new(device).load(&scene(), &settings);
    let Err(Error::Device { reason, .. }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("photons in flight 348.4 MB") && reason.contains("268.4 MB"), "{reason}");
    assert_eq!(log.borrow().allocations, 0);
}

#[test]
fn the_size_of_a_photon_map_is_known_before_the_load_and_in_its_report() {
    let settings = Settings { width: 100, height: 10, integrator: Integrator::Bpm, ..Settings::default() };
    let (device, log) = Recorder::new(ROOMY);
    let mut renderer = Wavefront::new(device);
    // Three photons of 48 bytes a light sub-path, twice, with their positions, and two words for each of 1024 buckets
    let bytes = 1000 * 3 * (2 * 48 + 16) + 2 * 4 * 1024;
    assert_eq!(renderer.photon_map_bytes(&settings), bytes);
    assert_eq!(log.borrow().allocations, 0);
    assert_eq!(renderer.load(&scene(), &settings).unwrap().photon_map_bytes, bytes);
    let path = Settings { integrator: Integrator::Path, ..settings };
    assert_eq!(renderer.load(&scene(), &path).unwrap().photon_map_bytes, 0);
}

#[test]
fn a_batch_whose_photons_merge_is_of_whole_sample_indices_of_the_film() {
    let (device, log) = Recorder::new(ROOMY);
    let mut renderer = Wavefront::new(device);
    let settings =
        Settings { width: 400, height: 300, bounces: 1, integrator: Integrator::Vcm, ..Settings::default() };
    renderer.load(&scene(), &settings).unwrap();
    log.take();
    renderer.accumulate(0..3).unwrap();
    let whole =
        ["ls_clear_buckets", "ls_light_paths", "ls_place_buckets", "ls_sort_photons", "ls_camera_paths"];
    assert_eq!(log.borrow().kernels, [&whole[..], &["ls_tally"]].concat().repeat(3));
    renderer.configure(&KernelConfig::default()).unwrap();
    log.take();
    renderer.accumulate(0..3).unwrap();
    let light =
        ["ls_clear_buckets", "ls_generate_light", "ls_extend_light", "ls_shade_light", "ls_connect_lens"];
    let photons = ["ls_place_buckets", "ls_sort_photons", "ls_generate_camera"];
    let first = ["ls_extend_camera", "ls_shade_camera", "ls_join", "ls_connect_camera", "ls_merge"];
    let last = ["ls_extend_camera", "ls_shade_camera", "ls_count_pairs", "ls_tally"];
    let pass = [&light[..], &photons, &first, &last].concat();
    assert_eq!(log.borrow().kernels, pass.repeat(3));
    // Several passes in flight are a power of two, so that their tables of buckets are together
    let several = |samples| KernelConfig { samples: Some(samples), ..KernelConfig::default() };
    for refused in [0, 3, 16] {
        assert!(matches!(renderer.configure(&several(refused)), Err(Error::Unsupported { .. })), "{refused}");
    }
    for (samples, batches) in [(1, 6), (2, 3), (4, 2), (8, 1)] {
        renderer.configure(&several(samples)).unwrap();
        log.take();
        renderer.accumulate(0..6).unwrap();
        let maps = log.borrow().kernels.iter().filter(|&&kernel| kernel == "ls_sort_photons").count();
        assert_eq!(maps, batches, "{samples} samples in flight");
        renderer.configure(&several(1)).unwrap();
    }
}

#[test]
fn a_gpu_has_several_passes_with_photon_maps_in_flight_as_its_memory_allows() {
    let settings = Settings { width: 640, height: 360, integrator: Integrator::Vcm, ..Settings::default() };
    let passes = |limits: Limits, settings: &Settings| {
        let plan = plan(settings.integrator);
        default_paths(&limits, plan, WAVEFRONT, settings) / (settings.width * settings.height)
    };
    let gpu = Limits { kind: DeviceType::Gpu, largest_allocation: 8 << 30, memory: 64 << 30, ..ROOMY };
    assert_eq!(passes(gpu, &settings), 8);
    assert_eq!(passes(Limits { memory: 4 << 30, ..gpu }, &settings), 4);
    assert_eq!(passes(Limits { memory: 64 << 20, ..gpu }, &settings), 1);
    assert_eq!(passes(gpu, &Settings { width: 3840, height: 2160, ..settings }), 2);
    assert_eq!(passes(Limits { kind: DeviceType::Cpu, ..gpu }, &settings), 1);
}

#[test]
fn every_pass_in_flight_has_the_merges_of_its_sample_index() {
    let settings = Settings { width: 40, height: 30, integrator: Integrator::Vcm, ..Settings::default() };
    let scene = scene();
    let merges = MergeSchedule::new(&scene, &settings).unwrap();
    let film = Pass::new(&scene, &settings, 0, 0);
    let pass = pass_of(&film, Some(&merges), &Batch { pixels: 0..1200, samples: 5..8 });
    let expected = [merges.pass(5), merges.pass(6), merges.pass(7)];
    assert_eq!(pass.merging[..3], expected);
    assert_eq!(pass.merging[3..], [Merging::NONE; 5]);
    let without = pass_of(&film, None, &Batch { pixels: 0..1200, samples: 5..8 });
    assert_eq!(without.merging, [Merging::NONE; 8]);
}

#[test]
fn a_long_pass_keeps_few_launches_pending_and_loses_none() {
    let (device, log) = Recorder::new(ROOMY);
    let mut renderer = Wavefront::new(device);
    renderer.load(&scene(), &Settings { width: 400, height: 400, ..Settings::default() }).unwrap();
    renderer.accumulate(0..200).unwrap();
    assert!(log.borrow().kernels.len() > 5000);
    assert_eq!(log.borrow().waits, log.borrow().kernels.len());
}

/// A renderer with a scene, and the log of its device since.
fn loaded(limits: Limits) -> (Wavefront<Recorder>, Rc<RefCell<Log>>) {
    let (device, log) = Recorder::new(limits);
    let mut renderer = Wavefront::new(device);
    renderer.load(&scene(), &Settings { width: 8, height: 8, bounces: 1, ..Settings::default() }).unwrap();
    log.take();
    (renderer, log)
}

#[test]
fn a_pass_of_the_megakernel_is_of_no_stage() {
    let (mut renderer, log) = loaded(ROOMY);
    renderer
        .configure(&KernelConfig { structure: Structure::Megakernel, ..KernelConfig::default() })
        .unwrap();
    log.take();
    let stages = renderer.accumulate(0..4).unwrap().stages;
    assert_eq!(log.borrow().kernels, ["ls_megakernel", "ls_resolve", "ls_tally"]);
    assert_eq!((stages.ms("generate"), stages.ms("extend"), stages.total_ms), (0.0, 0.0, 7.0));
}

#[test]
fn samples_in_flight_are_as_many_as_asked_for() {
    let (mut renderer, log) = loaded(ROOMY);
    let launches = |renderer: &mut Wavefront<Recorder>, samples, spp| {
        renderer.configure(&KernelConfig { samples: Some(samples), ..KernelConfig::default() }).unwrap();
        log.take();
        renderer.accumulate(0..spp).unwrap();
        log.borrow().kernels.iter().filter(|&&name| name == "ls_generate").count()
    };
    assert_eq!(launches(&mut renderer, 1, 6), 6);
    assert_eq!(launches(&mut renderer, 4, 6), 2);
    // More than the device has in flight by itself: 32,768 paths.
    assert_eq!(launches(&mut renderer, 1024, 2048), 2);
}

#[test]
fn a_configuration_that_the_device_has_no_room_for_is_refused_and_the_renderer_goes_on() {
    let (mut renderer, log) = loaded(Limits { memory: 64 << 20, ..ROOMY });
    let refused = renderer.configure(&KernelConfig { samples: Some(1 << 20), ..KernelConfig::default() });
    let Err(Error::Device { action, reason, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(action, "holding 1048576 samples of every pixel in flight");
    assert!(reason.contains("67108864 paths"), "{reason}");
    assert_eq!(log.borrow().allocations, 0);
    let unknown = renderer.configure(&KernelConfig { rays: Rays::Single, ..KernelConfig::default() });
    assert!(matches!(unknown, Err(Error::Unsupported { .. })), "{unknown:?}");
    renderer.accumulate(0..1).unwrap();
}

#[test]
fn pairs_of_sub_paths_run_in_stages_on_a_gpu_and_whole_on_a_processor() {
    for (kind, structure) in [(DeviceType::Gpu, WAVEFRONT), (DeviceType::Cpu, Structure::Megakernel)] {
        let first = configs::compared(&Limits { kind, ..ROOMY }, &KernelFeatures::all(Integrator::Bpt))[0];
        assert_eq!(first, KernelConfig { structure, ..KernelConfig::default() });
        assert_eq!(first, kind.default_config(lockstep_core::Mode::Exact, Integrator::Bpt));
    }
}

#[test]
fn the_default_comes_first_among_the_configurations_and_none_twice() {
    for kind in [DeviceType::Cpu, DeviceType::Gpu] {
        let configs = configs::compared(&Limits { kind, ..ROOMY }, &KernelFeatures::all(Integrator::Path));
        assert_eq!(configs[0], KernelConfig::default());
        let labels: std::collections::BTreeSet<String> =
            configs.iter().map(KernelConfig::to_string).collect();
        assert_eq!(labels.len(), configs.len());
        assert!(labels.contains("megakernel/persistent/group=1024"), "{labels:?}");
    }
}

#[test]
fn sums_of_floats_are_compared_where_there_are_merges_alone() {
    for kind in [DeviceType::Cpu, DeviceType::Gpu] {
        for integrator in Integrator::ALL {
            let floats = |config: &KernelConfig| config.merges == MergeSums::Floats;
            let listed = configs::compared(&Limits { kind, ..ROOMY }, &KernelFeatures::all(integrator));
            let wanted = usize::from(integrator.merges());
            assert_eq!(listed.iter().filter(|config| floats(config)).count(), wanted, "{integrator}");
            let config = KernelConfig { merges: MergeSums::Floats, ..listed[0] };
            assert_eq!(
                configs::lacking(&config, kind, &KernelFeatures::all(integrator)).is_none(),
                integrator.merges(),
                "{integrator}"
            );
            let program = ProgramKind::of(&config, integrator);
            let options = Options { features: KernelFeatures::all(integrator), ..Options::default() };
            let text = crate::assemble("compat.h", "", &options, program).text;
            assert!(text.contains("#define LS_FLOAT_MERGES 1"), "{integrator}");
        }
    }
}

/// Features of every scene under path tracing.
const PATH: KernelFeatures = KernelFeatures::all(Integrator::Path);

#[test]
fn one_lobe_is_compared_where_paths_take_all_together() {
    let tree = |config: &KernelConfig| config.layers == LayerSampling::Tree;
    for kind in [DeviceType::Cpu, DeviceType::Gpu] {
        let listed = configs::compared(&Limits { kind, ..ROOMY }, &PATH);
        let config = listed.iter().find(|config| tree(config)).unwrap();
        assert!(PATH.in_config(config).layer_tree && !PATH.in_config(&listed[0]).layer_tree);
        for without in [
            KernelFeatures { layers: false, ..PATH },
            KernelFeatures { layer_tree: true, ..PATH },
            KernelFeatures::all(Integrator::Ao),
        ] {
            assert!(!configs::compared(&Limits { kind, ..ROOMY }, &without).iter().any(tree));
            assert!(
                configs::lacking(config, kind, &without)
                    .is_some_and(|reason| reason.contains("--layers together"))
            );
        }
    }
}

#[test]
fn rays_are_sorted_only_where_several_are_put_into_a_queue_together() {
    let octants = KernelConfig { order: Order::Octants, ..KernelConfig::default() };
    let persistent = KernelConfig { scheduling: Scheduling::PersistentThreads, ..octants };
    for kind in [DeviceType::Cpu, DeviceType::Gpu] {
        assert_eq!(configs::lacking(&persistent, kind, &PATH), None);
        for structure in [Structure::NoCompaction, Structure::Megakernel] {
            assert!(
                configs::lacking(&KernelConfig { structure, ..persistent }, kind, &PATH).is_some(),
                "{structure:?}"
            );
        }
    }
    assert_eq!(configs::lacking(&octants, DeviceType::Gpu, &PATH), None);
    let reason = configs::lacking(&octants, DeviceType::Cpu, &PATH);
    let expected = "the configuration wavefront/octants, which puts no rays into a queue together,";
    assert_eq!(reason.as_deref(), Some(expected));
}

#[test]
fn path_state_fits_the_device() {
    let path = plan(Integrator::Path);
    let small = Limits { largest_allocation: 1 << 20, memory: 8 << 20, ..ROOMY };
    assert!(
        u64::from(paths_in_flight(&small, path, WAVEFRONT, 3)) * path.bytes_per_path(WAVEFRONT, 3)
            <= small.memory / 4
    );
    let narrow = Limits { kind: DeviceType::Gpu, largest_allocation: 1 << 16, ..ROOMY };
    assert!(
        u64::from(paths_in_flight(&narrow, path, WAVEFRONT, 3)) * path.largest_bytes_per_path(WAVEFRONT, 3)
            <= 1 << 16
    );
    assert!(paths_in_flight(&Limits { memory: 0, ..ROOMY }, path, WAVEFRONT, 3) >= 1);
}

proptest! {
    #[test]
    fn batches_cover_every_sample_of_every_pixel_once(
        film in 1u32..500, first in 0u32..1000, count in 0u32..40, capacity in 1u32..600,
    ) {
        let mut seen = std::collections::HashSet::new();
        for batch in batches(film, first..first + count, capacity) {
            prop_assert!(batch.paths() > 0 && batch.paths() <= capacity);
            for pixel in batch.pixels.clone() {
                for sample in batch.samples.clone() {
                    prop_assert!(pixel < film && (first..first + count).contains(&sample));
                    prop_assert!(seen.insert((pixel, sample)));
                }
            }
        }
        prop_assert_eq!(seen.len() as u32, film * count);
    }
}
