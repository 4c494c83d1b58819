//! The ways in which a device under the wavefront can run its passes.

use super::device::{Kind, Limits};
use crate::renderer::Mode;
use crate::variant::{Order, Rays, Structure, Threads, Variant};

/// Work-items of a work-group that are compared on GPUs: from their width to the most that any takes.
const GPU_GROUPS: &[u32] = &[32, 64, 128, 256, 512, 1024];

/// The same on CPUs. They are fewer, since some compilers make all kernels anew for each.
const CPU_GROUPS: &[u32] = &[32, 64, 256, 1024];

/// Samples of every pixel in flight that are compared.
const SAMPLES: [u32; 3] = [1, 4, 16];

/// What is worth comparing on a device: every scheduling with every size of a group; then all others one at a time.
pub(super) fn variants(limits: &Limits) -> Vec<Variant> {
    let scheduling = |structure, threads| Variant { structure, threads, ..Variant::default() };
    let schedulings = [
        Variant::default(),
        scheduling(Structure::Wavefront, Threads::Persistent),
        scheduling(Structure::InPlace, Threads::Own),
        scheduling(Structure::Megakernel, Threads::Own),
        scheduling(Structure::Megakernel, Threads::Persistent),
    ];
    let groups = match limits.kind {
        Kind::Cpu => CPU_GROUPS,
        Kind::Gpu => GPU_GROUPS,
    };
    let sized = |scheduling: Variant| {
        // The device's own size comes first, so that the first of all is the default.
        let others = groups.iter().copied().filter(|&group| group != limits.group);
        let sizes = [None].into_iter().chain(others.map(Some));
        sizes.map(move |group| Variant { group, ..scheduling })
    };
    let mut variants: Vec<Variant> = schedulings.into_iter().flat_map(sized).collect();
    // A CPU has a work-item for every ray by itself.
    if limits.kind == Kind::Gpu {
        variants.push(scheduling(Structure::Wavefront, Threads::PerRay));
    }
    variants.push(Variant { order: Order::Scanline, ..Variant::default() });
    let threads = match limits.kind {
        Kind::Cpu => Threads::Persistent,
        Kind::Gpu => Threads::Own,
    };
    variants.push(Variant { threads, order: Order::Octants, ..Variant::default() });
    variants.extend(SAMPLES.map(|n| Variant { samples: Some(n), ..Variant::default() }));
    variants.push(Variant::in_mode(Mode::Fast));
    variants
}

/// What a device under the wavefront lacks for a variant, in words; nothing where it can be tried.
pub(super) fn lacking(variant: &Variant, kind: Kind) -> Option<String> {
    if variant.tile.is_some() || variant.rays == Rays::Single {
        return Some(format!("the variant {variant}"));
    }
    // Rays are sorted among those that are put into a queue together: by a group, or by a work-item that fetched several.
    let together = kind == Kind::Gpu || variant.threads == Threads::Persistent;
    let sorts = variant.structure == Structure::Wavefront && together;
    (variant.order == Order::Octants && !sorts)
        .then(|| format!("the variant {variant}, which puts no rays into a queue together,"))
}
