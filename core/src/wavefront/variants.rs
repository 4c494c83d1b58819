//! The ways in which a device under the wavefront can run its passes.

use super::device::{Kind, Limits};
use crate::renderer::Mode;
use crate::variant::{Order, Structure, Threads, Variant};

/// Work-items of a work-group that are compared: from a GPU's width to the most that any takes.
const GROUPS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

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
    let sized = |scheduling: Variant| {
        // The device's own size comes first, so that the first of all is the default.
        let others = GROUPS.into_iter().filter(|&group| group != limits.group);
        let sizes = [None].into_iter().chain(others.map(Some));
        sizes.map(move |group| Variant { group, ..scheduling })
    };
    let mut variants: Vec<Variant> = schedulings.into_iter().flat_map(sized).collect();
    // A CPU has a work-item for every ray by itself.
    if limits.kind == Kind::Gpu {
        variants.push(scheduling(Structure::Wavefront, Threads::PerRay));
    }
    variants.push(Variant { order: Order::Scanline, ..Variant::default() });
    variants.extend(SAMPLES.map(|n| Variant { samples: Some(n), ..Variant::default() }));
    variants.push(Variant::in_mode(Mode::Fast));
    variants
}
