//! The ways in which a device under the wavefront can run its passes.

use crate::driver::device::{DeviceType, Limits};
use lockstep_core::Mode;
use lockstep_core::{KernelConfig, Order, Rays, Scheduling, Structure};

/// Work-items of a work-group that are compared on GPUs: from their width to the most that any takes.
const GPU_GROUPS: &[u32] = &[32, 64, 128, 256, 512, 1024];

/// The same on CPUs. They are fewer, since some compilers make all kernels anew for each.
const CPU_GROUPS: &[u32] = &[32, 64, 256, 1024];

/// Samples of every pixel in flight that are compared.
const SAMPLES: [u32; 3] = [1, 4, 16];

/// What is worth comparing on a device: every scheduling with every size of a group; then all others one at a time.
pub(super) fn variants(limits: &Limits) -> Vec<KernelConfig> {
    let scheduling = |structure, threads| KernelConfig { structure, threads, ..KernelConfig::default() };
    let schedulings = [
        KernelConfig::default(),
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
        // The device's own size comes first, so that the first of all is the default.
        let others = groups.iter().copied().filter(|&group| group != limits.group);
        let sizes = [None].into_iter().chain(others.map(Some));
        sizes.map(move |group| KernelConfig { group, ..scheduling })
    };
    let mut variants: Vec<KernelConfig> = schedulings.into_iter().flat_map(sized).collect();
    // A CPU has a work-item for every ray by itself.
    if limits.kind == DeviceType::Gpu {
        variants.push(scheduling(Structure::Wavefront, Scheduling::OneThreadPerRay));
    }
    variants.push(KernelConfig { order: Order::Scanline, ..KernelConfig::default() });
    let threads = match limits.kind {
        DeviceType::Cpu => Scheduling::PersistentThreads,
        DeviceType::Gpu => Scheduling::Default,
    };
    variants.push(KernelConfig { threads, order: Order::Octants, ..KernelConfig::default() });
    variants.extend(SAMPLES.map(|n| KernelConfig { samples: Some(n), ..KernelConfig::default() }));
    variants.push(KernelConfig::in_mode(Mode::Fast));
    variants
}

/// What a device under the wavefront lacks for a variant, in words; nothing where it can be tried.
pub(super) fn lacking(variant: &KernelConfig, kind: DeviceType) -> Option<String> {
    if variant.tile.is_some() || variant.rays == Rays::Single {
        return Some(format!("the variant {variant}"));
    }
    // Rays are sorted among those that are put into a queue together: by a group, or by a work-item that fetched several.
    let together = kind == DeviceType::Gpu || variant.threads == Scheduling::PersistentThreads;
    let sorts = variant.structure == Structure::Wavefront && together;
    (variant.order == Order::Octants && !sorts)
        .then(|| format!("the variant {variant}, which puts no rays into a queue together,"))
}
