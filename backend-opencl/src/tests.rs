//! Tests that need a device but not a whole renderer. They are skipped, with the reason printed, where there
//! is none.

use crate::compile::from_source;
use crate::device::{self, DeviceClass, DiscoveredDevice};
use crate::flags::flags;
use crate::launch_shape::LaunchShape;
use crate::renderer::OpenclDevice;
use crate::source::{COMPAT, COMPAT_NAME, options};
use lockstep_bvh::Layout;
use lockstep_conformance::parity;
use lockstep_conformance::{self as conformance, scenes};
use lockstep_core::KernelConfig;
use lockstep_core::Settings;
use lockstep_core::error::{Error, Result};
use lockstep_core::geometry::{FAR, Ray};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::{Mode, Query, Renderer};
use lockstep_gpu::assemble_probes;
use lockstep_gpu::driver::{Device, KernelArg, Wavefront};
use lockstep_gpu::probe::{Call, ProbeDevice};
use ocl::core;
use std::collections::HashMap;

/// Inputs of each function; a full run takes 2^20 (`LOCKSTEP_PARITY_INPUTS`).
const INPUTS: u32 = 1 << 14;

fn present() -> Vec<DiscoveredDevice> {
    device::discover().unwrap_or_else(|unavailable| {
        eprintln!("skipped: {}. {}", unavailable.reason, unavailable.remedy);
        Vec::new()
    })
}

/// The probe kernels of the parity list on one device.
struct Probes {
    device: OpenclDevice,
    program: core::Program,
    kernels: HashMap<&'static str, core::Kernel>,
}

impl Probes {
    fn build(found: DiscoveredDevice) -> Result<Self> {
        let options = options(found.device_type(), Mode::Exact);
        let source = assemble_probes(COMPAT_NAME, COMPAT, &options);
        let flags = flags(&found, Mode::Exact);
        let device = OpenclDevice::open(found.clone(), Mode::Exact)?;
        let program = from_source(&found, device.context(), &source.text, &flags)?;
        Ok(Self { device, program, kernels: HashMap::new() })
    }
}

impl ProbeDevice for Probes {
    fn layout(&self) -> Layout {
        self.device.limits().kind.layout()
    }

    fn probe(&mut self, call: &Call<'_>) -> Result<Vec<u32>> {
        let name = call.kernel.name;
        let device = &mut self.device;
        let mut buffers = Vec::new();
        let zeroes = vec![0u32; call.output_words];
        let arrays = call.scene.iter().flat_map(|(_, arrays)| arrays.iter().map(|array| array.bytes));
        let ours = [bytemuck::cast_slice(call.inputs), bytemuck::cast_slice(&zeroes)];
        for bytes in arrays.chain(ours) {
            let buffer = device.allocate(bytes.len().max(16) as u64, name)?;
            if !bytes.is_empty() {
                device.upload(&buffer, bytes, name)?;
            }
            buffers.push(buffer);
        }
        let (scene_buffers, our_buffers) = buffers.split_at(buffers.len() - ours.len());
        let mut arguments = Vec::new();
        if let Some((constants, _)) = &call.scene {
            arguments.push(KernelArg::Plain(bytemuck::bytes_of(constants)));
        }
        arguments.extend(scene_buffers.iter().map(KernelArg::Buffer));
        arguments.push(KernelArg::Plain(bytemuck::bytes_of(&call.count)));
        arguments.extend(our_buffers.iter().map(KernelArg::Buffer));
        let kernel = match self.kernels.get(name) {
            Some(kernel) => kernel.clone(),
            None => core::create_kernel(&self.program, name).expect("the probe is in the source"),
        };
        self.kernels.insert(name, kernel.clone());
        let shape = LaunchShape::of(device.discovered(), call.count, &KernelConfig::default());
        device.enqueue(&kernel, name, shape, &arguments)?;
        let mut output = zeroes.clone();
        device.download(&our_buffers[1], bytemuck::cast_slice_mut(&mut output), name)?;
        Ok(output)
    }
}

#[test]
fn every_kernel_function_and_record_equals_the_reference() {
    let inputs = std::env::var("LOCKSTEP_PARITY_INPUTS").ok().and_then(|n| n.parse().ok()).unwrap_or(INPUTS);
    for found in present() {
        let target = found.target.clone();
        let mut probes = Probes::build(found).unwrap();
        let mismatches = parity::run(&mut probes, inputs).unwrap();
        let messages: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
        assert!(messages.is_empty(), "{target}:\n{}", messages.join("\n"));
    }
}

#[test]
fn gpu_kernels_give_the_same_bits() {
    let scene = scenes::everything().unwrap();
    let settings = Settings { width: 64, height: 48, ..Settings::default() };
    // PoCL 3.1 miscompiles barriers behind loops of uneven length; none of the kernels for CPUs has barriers.
    for found in present().into_iter().filter(|found| !found.target.contains("pocl")) {
        let film = |class| {
            let mut device = found.clone();
            device.properties.class = class;
            let mut renderer = Wavefront::new(OpenclDevice::open(device, Mode::Exact).unwrap());
            conformance::render(&mut renderer, &scene, &settings, 3).unwrap()
        };
        let ((cpu, counts), (gpu, gpu_counts)) = (film(DeviceClass::Cpu), film(DeviceClass::DiscreteGpu));
        assert_eq!(cpu.pixels_differing(&gpu), 0, "{}", found.target);
        assert_eq!(counts.bounces, gpu_counts.bounces, "{}", found.target);
    }
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
    let scene = scenes::everything().unwrap();
    for found in present().into_iter().filter(|found| !found.target.contains("pocl")) {
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
}

#[test]
fn no_kernel_configuration_for_gpus_changes_a_film() {
    for found in present().into_iter().filter(|found| !found.target.contains("pocl")) {
        let mut open = || -> Result<Box<dyn Renderer>> {
            let mut device = found.clone();
            device.properties.class = DeviceClass::DiscreteGpu;
            Ok(Box::new(Wavefront::new(OpenclDevice::open(device, Mode::Exact)?)))
        };
        let refused = conformance::variants(&mut open, &[]).unwrap();
        assert!(refused.is_empty(), "{}: {refused:?}", found.target);
    }
}

#[test]
fn cpu_runtimes_report_processor_time_of_ray_queries() {
    let scene = scenes::everything().unwrap();
    let rays =
        vec![Ray { origin: Vec3::ZERO, t_min: 0.0, direction: vec3(0.0, 0.0, 1.0), t_max: FAR }; 1 << 18];
    for found in present().into_iter().filter(|found| found.properties.class == DeviceClass::Cpu) {
        let target = found.target.clone();
        let mut renderer = Wavefront::new(OpenclDevice::open(found, Mode::Exact).unwrap());
        renderer.load(&scene, &Settings { width: 8, height: 8, ..Settings::default() }).unwrap();
        let report = renderer.trace_rays(&rays, Query::Closest, 3, None).unwrap();
        assert_eq!(report.busy_ms.len(), 3, "{target}");
        assert!(report.busy_ms.iter().all(|&ms| ms > 0.0), "{target}: {:?}", report.busy_ms);
    }
}

#[test]
fn a_build_error_names_file_and_line() {
    for found in present() {
        let device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
        let source = "#line 41 \"core/gpu/kernels/example.h\"\n__kernel void f(void) { return nothing; }\n";
        let built = from_source(&found, device.context(), source, "-cl-std=CL1.2");
        let Err(Error::Compile { actor, log, .. }) = built else { panic!("{}: it built", found.target) };
        assert_eq!(actor, found.target);
        assert!(log.contains("core/gpu/kernels/example.h") && log.contains("41"), "{log}");
    }
}

#[test]
fn memory_that_a_device_does_not_have_is_an_error() {
    for found in present() {
        let too_much = found.properties.memory.saturating_mul(64);
        let mut device = OpenclDevice::open(found.clone(), Mode::Exact).unwrap();
        // NVIDIA's driver promises any amount and refuses at the first use.
        let used = device.allocate(too_much, "a test").and_then(|b| device.upload(&b, &[1], "a test"));
        assert!(matches!(used, Err(Error::Device { .. })), "{}", found.target);
    }
}
