//! Tests that need a device and this crate's internals. They are skipped, with the reason printed, where
//! there is none. Those that build programs have processes of their own: beside threads that build or run other programs,
//! by PoCL or by its own runtime, Intel's compiler has been seen in an endless search of its own tables, even where it
//! worked in one thread at a time.

use crate::compile::from_source;
use crate::device::{DeviceClass, DiscoveredDevice};
use crate::probes::{canary_source, check_arithmetic};
use crate::renderer::{OpenclDevice, features_of_passes};
use crate::source::COMPAT_NAME;
use crate::{Opencl, find_device};
use lockstep_conformance::{self as conformance, Subject, in_own_process, require, scenes};
use lockstep_core::error::Error;
use lockstep_core::geometry::{FAR, Ray};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::Material;
use lockstep_core::{Integrator, Settings};
use lockstep_core::{Mode, Query, Renderer};
use lockstep_gpu::driver::{Device, DeviceType, Wavefront};
use lockstep_gpu::{Contents, KernelFeatures, SourcePatch};

/// The devices that are present.
fn present() -> Vec<DiscoveredDevice> {
    let targets = conformance::present_targets(&Opencl);
    targets.iter().map(|target| find_device(target).unwrap()).collect()
}

/// The devices that run the kernels for GPUs. PoCL 3.1 miscompiles barriers behind loops of uneven length;
/// none of the kernels for CPUs has barriers.
fn with_barriers() -> Vec<DiscoveredDevice> {
    let all = present();
    let others: Vec<DiscoveredDevice> =
        all.iter().filter(|found| !found.target.contains("pocl")).cloned().collect();
    if others.is_empty() && !all.is_empty() {
        require::skip(&"PoCL miscompiles barriers. Run `lockstep setup opencl-intel` for another runtime.");
    }
    others
}

/// The processors among the devices.
fn processors() -> Vec<DiscoveredDevice> {
    let all = present();
    let is_processor = |found: &&DiscoveredDevice| found.properties.class == DeviceClass::Cpu;
    let processors: Vec<DiscoveredDevice> = all.iter().filter(is_processor).cloned().collect();
    if processors.is_empty() && !all.is_empty() {
        require::skip(&"OpenCL lists no processor. Run `lockstep setup opencl-pocl`.");
    }
    processors
}

#[test]
fn small_images_share_programs_on_processors_and_large_ones_have_their_scene_s_features() {
    let scene = scenes::furnace(Material::diffuse([0.5; 3])).unwrap();
    let own = KernelFeatures::of(&scene, &Settings::default());
    let (cpu, gpu) = (DeviceType::Cpu, DeviceType::Gpu);
    assert_ne!(own, own.shared());
    assert_eq!(features_of_passes(cpu, own, 320 * 240), own.shared());
    assert_eq!(
        [(cpu, 640 * 360), (gpu, 1)].map(|(device, pixels)| features_of_passes(device, own, pixels)),
        [own; 2]
    );
}

#[test]
fn gpu_kernels_give_the_same_bits() {
    in_own_process(|| {
        for integrator in Integrator::ALL {
            gpu_kernels_of(integrator);
        }
    });
}

fn gpu_kernels_of(integrator: Integrator) {
    let scene = scenes::everything_from_both_sides().unwrap();
    let settings = Settings { width: 64, height: 48, integrator, ..Settings::default() };
    for found in with_barriers() {
        let film = |class| {
            let mut device = found.clone();
            device.properties.class = class;
            let mut renderer = Wavefront::new(OpenclDevice::open(device, Mode::Exact).unwrap());
            conformance::render(&mut renderer, &scene, &settings, 3).unwrap()
        };
        let ((cpu, counts), (gpu, gpu_counts)) = (film(DeviceClass::Cpu), film(DeviceClass::DiscreteGpu));
        assert_eq!(cpu.pixels_differing(&gpu), 0, "{} by {integrator}", found.target);
        assert_eq!(counts.bounces, gpu_counts.bounces, "{} by {integrator}", found.target);
    }
}

#[test]
fn sums_by_32_bit_halves_are_those_by_64_bit_atomics() {
    in_own_process(|| {
        let scene = scenes::everything_from_both_sides().unwrap();
        let settings = Settings { width: 16, height: 12, integrator: Integrator::Bpt, ..Settings::default() };
        let halves = SourcePatch { file: COMPAT_NAME, from: "#ifdef cl_khr_int64_base_atomics", to: "#if 0" };
        for found in present() {
            let film = |patches: Vec<SourcePatch>| {
                let mut device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
                device.patches = patches;
                conformance::render(&mut Wavefront::new(device), &scene, &settings, 1024).unwrap().0
            };
            let whole = film(Vec::new());
            let carries = whole.sums.iter().flatten().filter(|&&sum| sum > i64::from(u32::MAX)).count();
            assert!(carries > 100, "only {carries} sums need their upper half");
            assert_eq!(film(vec![halves]), whole, "{}", found.target);
        }
    });
}

#[test]
fn programs_of_a_scenes_contents_leave_the_film_of_programs_of_all_scenes() {
    in_own_process(|| {
        let lamp = Material::emitter([3.0; 3]);
        let settings = Settings { width: 16, height: 12, ..Settings::default() };
        // A patch that changes no code: patched programs have the contents of their scene on processors too.
        let words = "/* Where `kind` may be `k`:";
        let patch = SourcePatch { file: "kernels/scene/contents.h", from: words, to: "/* Where:" };
        let scene = scenes::floor_under_lamp(0.5, lamp, 1.0, Some([64, 192])).unwrap();
        assert_ne!(Contents::of(&scene), Contents::ALL);
        for found in present() {
            let film = |patches: Vec<SourcePatch>| {
                let mut device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
                device.patches = patches;
                conformance::render(&mut Wavefront::new(device), &scene, &settings, 16).unwrap().0
            };
            assert_eq!(film(vec![patch]), film(Vec::new()), "{}", found.target);
        }
    });
}

/// Rays from one origin, as a camera's; or from random origins in random directions.
fn rays(incoherent: bool) -> Vec<Ray> {
    let ray = |i: u16| {
        let turn = f32::from(i) * if incoherent { 2.4 } else { 0.001 };
        let height = f32::from(i % 7) * if incoherent { 0.3 } else { 0.0 } - 0.5;
        let origin = if incoherent { vec3(height, 0.5 - height, turn.sin()) } else { vec3(0.1, 0.2, 4.0) };
        Ray { origin, t_min: 0.0, direction: vec3(turn.sin(), height, -turn.cos()), t_max: FAR }
    };
    (0..3001).map(ray).collect()
}

#[test]
fn gpu_kernels_trace_rays_to_the_same_hits() {
    in_own_process(|| {
        let scene = scenes::everything().unwrap();
        for found in with_barriers() {
            let trace = |class, rays: &[Ray], query| {
                let mut device = found.clone();
                device.properties.class = class;
                let mut renderer = Wavefront::new(OpenclDevice::open(device, Mode::Exact).unwrap());
                renderer.load(&scene, &Settings { width: 8, height: 8, ..Settings::default() }).unwrap();
                let mut hits = Vec::new();
                renderer.trace_rays(rays, query, 3, Some(&mut hits)).unwrap();
                hits
            };
            for (incoherent, query) in
                [(false, Query::Closest), (true, Query::Closest), (false, Query::Any), (true, Query::Any)]
            {
                let rays = rays(incoherent);
                let expected = trace(DeviceClass::Cpu, &rays, query);
                let found_some = expected.iter().filter(|hit| hit.is_some()).count();
                assert!(found_some > rays.len() / 10, "{found_some} rays hit, incoherent: {incoherent}");
                assert_eq!(
                    trace(DeviceClass::DiscreteGpu, &rays, query),
                    expected,
                    "{}: {query:?}",
                    found.target
                );
            }
        }
    });
}

#[test]
fn no_kernel_configuration_for_gpus_changes_a_film() {
    in_own_process(|| {
        for found in with_barriers() {
            let subject = Subject::new(|| {
                let mut device = found.clone();
                device.properties.class = DeviceClass::DiscreteGpu;
                Ok(Box::new(Wavefront::new(OpenclDevice::open(device, Mode::Exact)?)))
            });
            let refused = conformance::kernel_configs(&subject).unwrap();
            assert!(refused.is_empty(), "{}: {refused:?}", found.target);
        }
    });
}

#[test]
fn cpu_runtimes_report_processor_time_of_ray_queries() {
    in_own_process(|| {
        let scene = scenes::everything().unwrap();
        let rays =
            vec![Ray { origin: Vec3::ZERO, t_min: 0.0, direction: vec3(0.0, 0.0, 1.0), t_max: FAR }; 1 << 18];
        for found in processors() {
            let target = found.target.clone();
            let mut renderer = Wavefront::new(OpenclDevice::open(found, Mode::Exact).unwrap());
            renderer.load(&scene, &Settings { width: 8, height: 8, ..Settings::default() }).unwrap();
            let report = renderer.trace_rays(&rays, Query::Closest, 3, None).unwrap();
            assert_eq!(report.busy_ms.len(), 3, "{target}");
            assert!(report.busy_ms.iter().all(|&ms| ms > 0.0), "{target}: {:?}", report.busy_ms);
        }
    });
}

#[test]
fn a_build_error_names_file_and_line() {
    in_own_process(|| {
        for found in present() {
            let device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
            let source =
                "#line 41 \"core/gpu/kernels/example.h\"\n__kernel void f(void) { return nothing; }\n";
            let built = from_source(&found, device.context(), source, "-cl-std=CL1.2");
            let Err(Error::Compile { actor, log, .. }) = built else { panic!("{}: it built", found.target) };
            assert_eq!(actor, found.target);
            assert!(log.contains("core/gpu/kernels/example.h") && log.contains("41"), "{log}");
        }
    });
}

#[test]
fn memory_that_a_device_does_not_have_is_an_error() {
    in_own_process(|| {
        for found in present() {
            let too_much = found.properties.memory.saturating_mul(64);
            let mut device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
            // NVIDIA's driver promises any amount and refuses at the first use.
            let used = device.allocate(too_much, "a test").and_then(|b| device.upload(&b, &[1], "a test"));
            assert!(matches!(used, Err(Error::Device { .. })), "{}", found.target);
        }
    });
}

#[test]
fn exact_arithmetic_is_checked_from_source_and_from_the_cache() {
    in_own_process(|| {
        for found in present() {
            for _ in 0..2 {
                let device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
                let source = canary_source(&device);
                check_arithmetic(device, &source).unwrap();
            }
        }
    });
}

#[test]
fn a_compiler_that_contracts_or_approximates_is_refused_by_the_name_of_the_operation() {
    in_own_process(|| {
        let file = "core/gpu/kernels/canary.h";
        let mutants = [
            ("y[3] = LS_AS_U32(a * b + c)", "y[3] = LS_AS_U32(LS_FMA(a, b, c))", "in two roundings"),
            ("y[5] = LS_AS_U32(LS_DIV(a, b))", "y[5] = LS_AS_U32(a * LS_DIV(1.0f, b))", "division"),
            ("LS_SQRT(LS_ABS(a))", "(LS_ABS(a) * native_rsqrt(LS_ABS(a)))", "square root"),
            ("LS_AS_U32(turned.s)", "LS_AS_U32(sin(u * MATH_TWO_PI))", "sine"),
        ];
        for found in present() {
            for (from, to, name) in mutants {
                let device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
                let source =
                    lockstep_gpu::patched(canary_source(&device), &SourcePatch { file, from, to }).unwrap();
                let message = check_arithmetic(device, &source).unwrap_err().to_string();
                assert!(message.contains(&format!("{name} failed")), "{}: {message}", found.target);
            }
        }
    });
}
