//! Integrators as data: the headers, buffers and schedule of launches that the driver runs.
//!
//! A kernel's parameters are bound by name: a parameter `hits` receives the buffer that the integrator
//! declares as `hits`. So a new integrator is its kernels, one file here and one row in [`plan`].

mod ao;
mod bpm;
mod bpt;
mod light;
mod pairs;
mod path;
mod ppm;
mod vcm;

use crate::counters_len;
use crate::header::Header;
use crate::signatures::{ArgumentType, COUNTERS, Kernel, PACKED, PHOTON, U32};
use lockstep_core::merging::buckets_of_passes;
use lockstep_core::{Integrator, Structure};

/// How an integrator runs on a device.
#[derive(Debug)]
pub struct Plan {
    /// The integrator.
    pub integrator: Integrator,
    /// Headers that it needs beside the shared ones, in order.
    pub(crate) headers: &'static [Header],
    /// The shading function, `LS_SHADE` in the kernels that integrators share; `None` for one with kernels of
    /// its own.
    pub(crate) shade: Option<&'static str>,
    /// Lines in front of all headers.
    pub(crate) defines: &'static str,
    /// Kernels beside those that all integrators of pairs of sub-paths launch.
    pub(crate) kernels_of_its_own: &'static [Header],
    /// Buffers of the paths in flight; each structure has those that its kernels take.
    pub(crate) buffers: &'static [Buffer],
    /// Launches of a batch of paths by stages.
    pub stages: &'static [Step],
    /// Launches of a batch by one kernel for whole paths.
    pub megakernel: &'static [Step],
}

/// A device buffer that lives from stage to stage.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The kernel parameter that receives it.
    pub name: &'static str,
    /// The kernel parameter that receives the buffer in the next round where two buffers swap roles; else `name`.
    pub next: &'static str,
    /// The type of its elements.
    pub of: ArgumentType,
    /// Number of elements.
    pub len: Len,
    /// The contents in words, for messages.
    pub what: &'static str,
}

/// Number of elements of a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Len {
    /// One for each path in flight, uninitialised.
    Paths,
    /// For each path in flight, the number that the function gives for the maximum number of bounces; uninitialised.
    OfPaths(fn(u32) -> usize),
    /// Buckets of the photon map of all paths in flight ([`buckets_of_passes`]), uninitialised.
    Buckets,
    /// The number that the function gives for the maximum number of bounces; all zero before the first launch.
    Bounces(fn(u32) -> usize),
}

/// A part of a schedule.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// One launch.
    Launch(Stage),
    /// Rounds of launches; the function gives their number for the maximum number of bounces.
    Rounds(&'static [Stage], fn(u32) -> u32),
}

/// A launch.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// The stage that its time counts for; `None` for film and counters, and for kernels that run several
    /// stages.
    pub name: Option<&'static str>,
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The kernel that replaces `kernel` in the first round on GPUs: for coherent rays, which lanes need not fetch by
    /// themselves; `None` where no kernel does.
    pub first: Option<&'static Kernel>,
    /// False for a stage that the last round omits.
    pub in_last_round: bool,
    /// True for a launch of a single work-item.
    pub single: bool,
}

impl Stage {
    /// A kernel whose time counts for a stage.
    pub(crate) const fn new(name: &'static str, kernel: &'static Kernel) -> Self {
        Self { name: Some(name), kernel, first: None, in_last_round: true, single: false }
    }

    /// A kernel of no stage.
    pub(crate) const fn unnamed(kernel: &'static Kernel) -> Self {
        Self { name: None, kernel, first: None, in_last_round: true, single: false }
    }

    /// Runs another kernel in the first round on GPUs.
    pub(crate) const fn first(self, kernel: &'static Kernel) -> Self {
        Self { first: Some(kernel), ..self }
    }

    /// Leaves the stage out of the last round.
    pub(crate) const fn not_in_last_round(self) -> Self {
        Self { in_last_round: false, ..self }
    }

    /// Runs the stage by one work-item.
    pub(crate) const fn single(self) -> Self {
        Self { single: true, ..self }
    }
}

impl Plan {
    /// The launches of a batch in a kernel structure.
    pub fn schedule(&self, structure: Structure) -> &'static [Step] {
        match structure {
            Structure::Wavefront | Structure::NoCompaction => self.stages,
            Structure::Megakernel => self.megakernel,
        }
    }

    /// The kernels of a schedule, each once, in the order of their first launch.
    pub fn kernels(&self, structure: Structure) -> Vec<&'static Kernel> {
        let mut kernels: Vec<&'static Kernel> = Vec::new();
        for step in self.schedule(structure) {
            let stages = match step {
                Step::Launch(stage) => std::slice::from_ref(stage),
                Step::Rounds(stages, _) => stages,
            };
            for kernel in stages.iter().flat_map(|stage| stage.first.into_iter().chain([stage.kernel])) {
                if !kernels.iter().any(|known| known.name == kernel.name) {
                    kernels.push(kernel);
                }
            }
        }
        kernels
    }

    /// The buffers that the kernels of a schedule take.
    pub(crate) fn buffers(&self, structure: Structure) -> impl Iterator<Item = &'static Buffer> + use<> {
        let kernels = self.kernels(structure);
        self.buffers.iter().filter(move |buffer| {
            let mut parameters = kernels.iter().flat_map(|kernel| kernel.own);
            parameters.any(|parameter| [buffer.name, buffer.next].contains(&parameter.name))
        })
    }

    /// Bytes that one path in flight of up to `bounces` bounces takes in all buffers.
    pub fn bytes_per_path(&self, structure: Structure, bounces: u32) -> u64 {
        self.per_path(structure, bounces).sum()
    }

    /// Bytes that one path takes in the largest of the buffers.
    pub fn largest_bytes_per_path(&self, structure: Structure, bounces: u32) -> u64 {
        self.per_path(structure, bounces).max().unwrap_or(1)
    }

    /// The contents and the bytes of every buffer for `paths` paths in flight.
    pub fn bytes_of_buffers(
        &self,
        structure: Structure,
        paths: u32,
        bounces: u32,
    ) -> Vec<(&'static str, u64)> {
        let bytes = |buffer: &Buffer| {
            let len = match buffer.len {
                Len::Paths => u64::from(paths),
                Len::OfPaths(len) => u64::from(paths) * len(bounces) as u64,
                Len::Buckets => buckets_of_passes(paths),
                Len::Bounces(len) => len(bounces) as u64,
            };
            (buffer.what, len * buffer.of.size as u64)
        };
        self.buffers(structure).map(bytes).collect()
    }

    /// Bytes of the photons of `paths` light sub-paths and of their grid, 0 for integrators without photons.
    pub fn bytes_of_photon_map(&self, structure: Structure, paths: u32, bounces: u32) -> u64 {
        let of_photons = |buffer: &Buffer| {
            buffer.of == PHOTON || buffer.name == PHOTON_POSITIONS || matches!(buffer.len, Len::Buckets)
        };
        let sized = self.buffers(structure).zip(self.bytes_of_buffers(structure, paths, bounces));
        sized.filter(|(buffer, _)| of_photons(buffer)).map(|(_, (_, bytes))| bytes).sum()
    }

    fn per_path(&self, structure: Structure, bounces: u32) -> impl Iterator<Item = u64> {
        self.buffers(structure).filter_map(move |buffer| match buffer.len {
            Len::Paths => Some(buffer.of.size as u64),
            Len::OfPaths(len) => Some((buffer.of.size * len(bounces)) as u64),
            // The next power of two is less than twice as many
            Len::Buckets => Some(2 * buffer.of.size as u64),
            Len::Bounces(_) => None,
        })
    }
}

/// The buffer of the positions of a photon map.
const PHOTON_POSITIONS: &str = "photon_positions";

/// The plan of an integrator.
pub fn plan(integrator: Integrator) -> &'static Plan {
    match integrator {
        Integrator::Path => &path::PLAN,
        Integrator::Ao => &ao::PLAN,
        Integrator::Light => &light::PLAN,
        Integrator::Bpt => &bpt::PLAN,
        Integrator::Bpm => &bpm::PLAN,
        Integrator::Ppm => &ppm::PLAN,
        Integrator::Vcm => &vcm::PLAN,
    }
}

/// A record for each path in flight.
const fn records(name: &'static str, what: &'static str) -> Buffer {
    Buffer { name, next: name, of: PACKED, len: Len::Paths, what }
}

/// An index for each path in flight.
const fn indices(name: &'static str, next: &'static str, what: &'static str) -> Buffer {
    Buffer { name, next, of: U32, len: Len::Paths, what }
}

/// Buffers of camera paths with shadow rays.
pub(crate) const PATH_BUFFERS: [Buffer; 13] = [
    records("path_origin", "path origins"),
    records("path_direction", "path directions"),
    records("path_throughput", "path throughputs"),
    records("path_radiance", "path radiances"),
    records("hits", "hits"),
    records("shadow_origin", "shadow ray origins"),
    records("shadow_direction", "shadow ray directions"),
    records("shadow_radiance", "shadow ray radiances"),
    indices("hit_primitives", "hit_primitives", "hit primitives"),
    indices("queue", "next_queue", "the path queue"),
    indices("next_queue", "queue", "the next path queue"),
    RAY_COUNTERS,
    INVALID_SAMPLES,
];

/// Ray counters of all bounces.
pub(crate) const RAY_COUNTERS: Buffer = Buffer {
    name: "counters",
    next: "counters",
    of: COUNTERS,
    len: Len::Bounces(counters_len),
    what: "ray counters",
};

/// Counters of invalid samples.
pub(crate) const INVALID_SAMPLES: Buffer = Buffer {
    name: "invalid",
    next: "invalid",
    of: U32,
    len: Len::Bounces(|_| 4),
    what: "counters of invalid samples",
};

#[cfg(test)]
mod tests;
