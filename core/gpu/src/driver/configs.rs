//! Kernel configurations of GPU backends.

use crate::driver::device::{DeviceType, Limits};
use crate::features::KernelFeatures;
use crate::records::MERGED_PASSES;
use lockstep_core::Mode;
use lockstep_core::{KernelConfig, LayerSampling, MergeSums, Order, Rays, Scheduling, Structure};

/// Work-group sizes to compare on GPUs: from the warp size to the largest that any GPU takes.
const GPU_GROUPS: &[u32] = &[32, 64, 128, 256, 512, 1024];

/// Work-group sizes to compare on CPUs; fewer, since some compilers make all kernels anew for each.
const CPU_GROUPS: &[u32] = &[32, 64, 256, 1024];

/// Samples in flight per pixel to compare.
const SAMPLES: [u32; 3] = [1, 4, 16];

/// Configurations worth comparing on a device for scenes with these features: the default, every scheduling with every
/// work-group size; then all else one at a time.
pub(super) fn compared(limits: &Limits, features: &KernelFeatures) -> Vec<KernelConfig> {
    let default = limits.kind.default_config(Mode::Exact, features.integrator);
    let scheduling = |structure, scheduling| KernelConfig { structure, scheduling, ..default };
    let schedulings = [
        scheduling(Structure::Wavefront, Scheduling::Default),
        scheduling(Structure::Wavefront, Scheduling::PersistentThreads),
        scheduling(Structure::NoCompaction, Scheduling::Default),
        scheduling(Structure::Megakernel, Scheduling::Default),
        scheduling(Structure::Megakernel, Scheduling::PersistentThreads),
    ];
    let groups = match limits.kind {
        DeviceType::Cpu => CPU_GROUPS,
        DeviceType::Gpu => GPU_GROUPS,
    };
    let sized = |scheduling: KernelConfig| {
        // The device's own size comes first, so that the default is the first of all.
        let others = groups.iter().copied().filter(|&group| group != limits.group);
        let sizes = [None].into_iter().chain(others.map(Some));
        sizes.map(move |group| KernelConfig { group, ..scheduling })
    };
    let mut configs: Vec<KernelConfig> = schedulings.into_iter().flat_map(sized).collect();
    // CPUs always have one work-item per ray.
    if limits.kind == DeviceType::Gpu {
        configs.push(scheduling(Structure::Wavefront, Scheduling::OneThreadPerRay));
    }
    configs.push(KernelConfig { order: Order::Scanline, ..default });
    let scheduling = match limits.kind {
        DeviceType::Cpu => Scheduling::PersistentThreads,
        DeviceType::Gpu => Scheduling::Default,
    };
    configs.push(KernelConfig { scheduling, order: Order::Octants, ..default });
    configs.extend(SAMPLES.map(|n| KernelConfig { samples: Some(n), ..default }));
    configs.push(KernelConfig { merges: MergeSums::Floats, ..default });
    configs.push(KernelConfig { layers: LayerSampling::Tree, ..default });
    configs.push(KernelConfig { mode: Mode::Fast, ..default });
    configs.sort_by_key(|config| *config != default);
    configs.retain(|config| lacking(config, limits.kind, features).is_none());
    configs
}

/// The feature of a configuration that a device, an integrator or a scene lacks, in words; `None` where it can be tried.
pub(super) fn lacking(config: &KernelConfig, kind: DeviceType, features: &KernelFeatures) -> Option<String> {
    let integrator = features.integrator;
    let has_pairs = config.structure != Structure::NoCompaction && config.order != Order::Octants;
    if integrator.splats() && !has_pairs {
        return Some(format!("the configuration {config} of the integrator {integrator}"));
    }
    let is_of_passes = |samples: u32| samples.is_power_of_two() && samples <= MERGED_PASSES;
    if integrator.merges() && !config.samples.is_none_or(is_of_passes) {
        return Some(format!(
            "the configuration {config} of the integrator {integrator}, which has 1, 2, 4 or {MERGED_PASSES} samples in flight"
        ));
    }
    if !integrator.merges() && config.merges == MergeSums::Floats {
        return Some(format!(
            "the configuration {config} of the integrator {integrator}, which merges nothing"
        ));
    }
    if config.layers == LayerSampling::Tree && !features.may_turn_to_tree() {
        return Some(format!(
            "the configuration {config} where no path takes all lobes of layers together (tune a scene with layers by \
             path, with --layers together)"
        ));
    }
    if config.tile.is_some() || config.rays == Rays::Single {
        return Some(format!("the configuration {config}"));
    }
    // Rays are sorted among those reserved together: by a work-group, or by a work-item that fetched several.
    let together = kind == DeviceType::Gpu || config.scheduling == Scheduling::PersistentThreads;
    let sorts = config.structure == Structure::Wavefront && together;
    (config.order == Order::Octants && !sorts)
        .then(|| format!("the configuration {config}, which puts no rays into a queue together,"))
}
