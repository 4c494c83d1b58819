//! The shared kernels as a program of one device.

use crate::device::{Found, vendor_word};
use crate::error::device_error;
use lockstep_core::KernelConfig;
use lockstep_core::cache::{self, Key};
use lockstep_core::error::{Error, Result};
use lockstep_core::folders;
use lockstep_core::{Integrator, Mode};
use lockstep_gpu::driver::DeviceType;
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{
    KernelFeatures, KernelResources, KernelSource, Listing, Options, ProgramKind, assemble, from_ptxas,
};
use ocl::Context;
use ocl::core::{self, KernelWorkGroupInfo, KernelWorkGroupInfoResult, ProgramBuildInfo};
use ocl::core::{ProgramBuildInfoResult, ProgramInfo, ProgramInfoResult};
use std::collections::HashMap;
use std::ffi::CString;

/// This backend's words of the kernel dialect, and the name that compile errors give the file.
pub(crate) const COMPAT: &str = include_str!("../kernels/compat.h");
pub(crate) const COMPAT_NAME: &str = "backend-opencl/kernels/compat.h";

/// Flags that every build has.
const COMMON_FLAGS: &str = "-cl-std=CL1.2";
/// The flag for IEEE division and square root, which a device may lack.
const ROUNDED_FLAG: &str = "-cl-fp32-correctly-rounded-divide-sqrt";
/// The flag that makes NVIDIA's compiler log what kernels take; it changes no code, so it is no part of a program's name.
const NVIDIA_VERBOSE_FLAG: &str = "-cl-nv-verbose";
/// Flags of the fast build.
const FAST_FLAGS: &str = "-cl-fast-relaxed-math -cl-mad-enable";

/// What tells programs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey {
    pub(crate) mode: Mode,
    pub(crate) part: ProgramKind,
    pub(crate) features: KernelFeatures,
}

impl ProgramKey {
    /// The program that a variant's passes launch over scenes with this features. On CPUs, whose compilers take seconds,
    /// one program takes every scene.
    pub(crate) fn of(variant: &KernelConfig, kind: DeviceType, features: KernelFeatures) -> Self {
        let features =
            if kind == DeviceType::Gpu { features } else { KernelFeatures::all(features.integrator) };
        Self { mode: variant.mode, part: ProgramKind::of(variant), features }
    }

    /// The program that records paths, which takes every scene.
    pub(crate) fn trace(mode: Mode, integrator: Integrator) -> Self {
        Self { mode, part: ProgramKind::Trace, features: KernelFeatures::all(integrator) }
    }
}

/// The source of a device's program.
pub(crate) fn source(found: &Found, key: ProgramKey) -> KernelSource {
    let options = Options { features: key.features, ..options(found.kind(), key.mode) };
    assemble(COMPAT_NAME, COMPAT, &options, key.part)
}

/// What to build from the shared source.
pub(crate) fn options(kind: DeviceType, mode: Mode) -> Options {
    Options {
        fast: mode == Mode::Fast,
        group_compaction: kind == DeviceType::Gpu,
        layout: kind.layout(),
        features: KernelFeatures::all(Integrator::Path),
    }
}

/// The source of every build, for CPUs and for GPUs.
pub(crate) fn listings() -> Vec<Listing> {
    let builds = [
        ("opencl-exact-cpu", DeviceType::Cpu, Mode::Exact),
        ("opencl-exact-gpu", DeviceType::Gpu, Mode::Exact),
        ("opencl-fast-cpu", DeviceType::Cpu, Mode::Fast),
        ("opencl-fast-gpu", DeviceType::Gpu, Mode::Fast),
    ];
    let flags = |mode| match mode {
        Mode::Fast => format!("{COMMON_FLAGS} {FAST_FLAGS}"),
        Mode::Exact => format!("{COMMON_FLAGS}, and {ROUNDED_FLAG} where the device knows it"),
    };
    let listing = |(name, kind, mode): (&str, DeviceType, Mode)| Listing {
        name: name.into(),
        extension: "cl",
        flags: flags(mode),
        source: assemble(COMPAT_NAME, COMPAT, &options(kind, mode), ProgramKind::Render),
    };
    builds.map(listing).into()
}

/// The compiler's flags for a device and a mode.
pub(crate) fn flags(found: &Found, mode: Mode) -> String {
    match mode {
        Mode::Fast => format!("{COMMON_FLAGS} {FAST_FLAGS}"),
        Mode::Exact if found.facts.rounds_division() => format!("{COMMON_FLAGS} {ROUNDED_FLAG}"),
        Mode::Exact => COMMON_FLAGS.into(),
    }
}

/// What builds of kernels that walk the BVH have besides on a device, if they are built apart: NVIDIA's compiler takes all
/// the registers it likes, and traversal needs work-items in flight more. CUDA's `LS_TRAVERSAL` asks for the same.
fn traversal_flag(found: &Found) -> Option<&'static str> {
    (vendor_word(&found.facts.platform_name) == "nvidia").then_some("-cl-nv-maxrregcount=64")
}

/// The flags of every build for a device and a mode, as the environment of a study names them.
pub(crate) fn all_flags(found: &Found, mode: Mode) -> String {
    let flags = flags(found, mode);
    match traversal_flag(found) {
        Some(flag) => format!("{flags}; traversal {flag}"),
        None => flags,
    }
}

/// The kernels of one part in one mode, ready to launch.
pub(crate) struct Program {
    part: ProgramKind,
    kernels: Kernels,
    /// Kernels that do not walk the BVH with as few registers as if they did, for groups that are too large otherwise;
    /// empty where flags do not choose.
    lean: Kernels,
}

impl Program {
    /// Takes the programs from the cache, or compiles them and puts them there.
    pub(crate) fn build(
        found: &Found,
        context: &Context,
        source: &KernelSource,
        ProgramKey { mode, part, .. }: ProgramKey,
    ) -> Result<Self> {
        let flags = flags(found, mode);
        let build =
            |flags: &str, wanted: fn(&Kernel) -> bool| kernels(found, context, source, flags, part, wanted);
        let Some(flag) = traversal_flag(found).filter(|_| part != ProgramKind::Trace) else {
            return Ok(Self { part, kernels: build(&flags, |_| true)?, lean: Kernels::new() });
        };
        let mut kernels = build(&flags, |kernel| !kernel.traverses)?;
        let (traversing, lean) = build(&format!("{flags} {flag}"), |_| true)?
            .into_iter()
            .partition(|(name, _)| !kernels.contains_key(name));
        kernels.extend::<Kernels>(traversing);
        Ok(Self { part, kernels, lean })
    }

    /// What every kernel takes.
    pub(crate) fn resources(&self) -> Vec<KernelResources> {
        let of = |name| self.kernels.get(name).map(|compiled| compiled.takes.clone());
        self.part.kernels().iter().filter_map(|kernel| of(kernel.name)).collect()
    }

    /// A kernel by its name, such that it runs in groups of this size where there is such a one.
    pub(crate) fn kernel(&self, name: &str, group: usize) -> Option<&core::Kernel> {
        let usual = self.kernels.get(name)?;
        let lean = self.lean.get(name).filter(|lean| usual.most < group && lean.most >= group);
        Some(&lean.unwrap_or(usual).kernel)
    }

    /// The kernel of a pass that takes the smallest groups at most, with their size.
    pub(crate) fn tightest(&self) -> Option<(&'static str, usize)> {
        let most = |name| {
            let lean = self.lean.get(name).map_or(0, |lean| lean.most);
            Some((name, self.kernels.get(name)?.most.max(lean)))
        };
        let of_passes = self.part.of_passes().iter().filter_map(|kernel| most(kernel.name));
        of_passes.min_by_key(|(name, most)| (*most, *name))
    }
}

/// Kernels by name.
type Kernels = HashMap<&'static str, Compiled>;

/// A kernel ready to launch, and what it takes.
struct Compiled {
    kernel: core::Kernel,
    takes: KernelResources,
    /// Work-items of a group, at most, with the registers that it takes.
    most: usize,
}

/// Whether the driver keeps on disk what it compiles. PoCL does, and to give a binary away it compiles every kernel once more,
/// for groups of any size, which takes as long as all else.
fn keeps_programs(found: &Found) -> bool {
    vendor_word(&found.facts.platform_name) == "pocl"
}

/// Some kernels of a source built with some flags, from the cache if it has them.
fn kernels(
    found: &Found,
    context: &Context,
    source: &KernelSource,
    flags: &str,
    part: ProgramKind,
    wanted: fn(&Kernel) -> bool,
) -> Result<Kernels> {
    let facts = &found.facts;
    let device = [&facts.name, &facts.platform_name, &facts.platform_version, &facts.version, &facts.driver];
    let device = device.map(String::as_str);
    let key = Key { backend: crate::NAME, source: &source.hash, device: &device, flags };
    let folder = folders::cache_folder().filter(|_| !keeps_programs(found));

    if let Some(folder) = &folder
        && let Some(binary) = cache::read(folder, &key)
    {
        match from_binary(found, context, &binary, flags)
            .and_then(|program| made_of(found, &program, part, wanted))
        {
            Ok(kernels) => return Ok(kernels),
            // The driver refuses its own binary: compile again.
            Err(_) => cache::remove(folder, &key),
        }
    }
    let program = from_source(found, context, &source.text, flags)?;
    if let Some(folder) = &folder
        && let Some(binary) = binary_of(&program)
    {
        // A cache that cannot be written costs time, nothing else.
        let _ = cache::write(folder, &key, &binary);
    }
    made_of(found, &program, part, wanted)
}

fn made_of(
    found: &Found,
    program: &core::Program,
    part: ProgramKind,
    wanted: fn(&Kernel) -> bool,
) -> Result<Kernels> {
    let told = from_ptxas(&log_of(found, program));
    let make = |name: &'static str| {
        let kernel = core::create_kernel(program, name)
            .map_err(|e| device_error(&found.target, format!("creating kernel {name}"), &e))?;
        let told = told.iter().find(|told| told.kernel == name).cloned().unwrap_or_default();
        let takes = resources(found, name, &kernel, told);
        let most =
            match core::get_kernel_work_group_info(&kernel, found.device, KernelWorkGroupInfo::WorkGroupSize)
            {
                Ok(KernelWorkGroupInfoResult::WorkGroupSize(most)) => most,
                _ => found.facts.max_group,
            };
        Ok((name, Compiled { kernel, takes, most }))
    };
    part.kernels().iter().filter(|kernel| wanted(kernel)).map(|kernel| make(kernel.name)).collect()
}

/// What the driver says a kernel takes, and what the compiler's log told besides.
fn resources(found: &Found, name: &str, compiled: &core::Kernel, told: KernelResources) -> KernelResources {
    let ask = |what| match core::get_kernel_work_group_info(compiled, found.device, what) {
        Ok(KernelWorkGroupInfoResult::PrivateMemSize(n) | KernelWorkGroupInfoResult::LocalMemSize(n)) => {
            Some(n)
        }
        Ok(KernelWorkGroupInfoResult::PreferredWorkGroupSizeMultiple(n)) => Some(n as u64),
        _ => None,
    };
    KernelResources {
        kernel: name.into(),
        stack_bytes: told.stack_bytes.or_else(|| ask(KernelWorkGroupInfo::PrivateMemSize)),
        shared_bytes: ask(KernelWorkGroupInfo::LocalMemSize),
        width: ask(KernelWorkGroupInfo::PreferredWorkGroupSizeMultiple),
        ..told
    }
}

/// The compiler's log of a program that was built; empty where there is none.
fn log_of(found: &Found, program: &core::Program) -> String {
    match core::get_program_build_info(program, found.device, ProgramBuildInfo::BuildLog) {
        Ok(ProgramBuildInfoResult::BuildLog(log)) => log,
        _ => String::new(),
    }
}

/// Compiles a source.
///
/// # Errors
/// [`Error::Compile`] with the log, whose places are our files' names and lines.
pub(crate) fn from_source(
    found: &Found,
    context: &Context,
    source: &str,
    flags: &str,
) -> Result<core::Program> {
    let text = CString::new(source).map_err(|e| failed(found, e.to_string()))?;
    let program = core::create_program_with_source(context, &[text])
        .map_err(|e| device_error(&found.target, "handing over the kernels' source", &e))?;
    build(found, &program, flags).map_err(|error| match error {
        Error::Compile { log, .. } => failed(found, with_our_places(&log, source)),
        other => other,
    })?;
    Ok(program)
}

fn from_binary(found: &Found, context: &Context, binary: &[u8], flags: &str) -> Result<core::Program> {
    let program = core::create_program_with_binary(context, &[found.device], &[binary])
        .map_err(|e| device_error(&found.target, "loading the kernels from the cache", &e))?;
    build(found, &program, flags)?;
    Ok(program)
}

fn failed(found: &Found, log: String) -> Error {
    Error::Compile { actor: found.target.clone(), kernel: "core/kernels".into(), log }
}

fn build(found: &Found, program: &core::Program, flags: &str) -> Result<()> {
    let nvidia = found.facts.platform_name.to_lowercase().contains("nvidia");
    let verbose = if nvidia { NVIDIA_VERBOSE_FLAG } else { "" };
    let flags = format!("{flags} {verbose}");
    let flags = CString::new(flags.trim_end()).map_err(|e| failed(found, e.to_string()))?;
    let result = core::build_program(program, Some(&[found.device]), &flags, None, None);
    // `ocl` takes a failure without a log for a success, so the status is asked for.
    let ask = |what| core::get_program_build_info(program, found.device, what);
    let succeeded = matches!(
        ask(ProgramBuildInfo::BuildStatus),
        Ok(ProgramBuildInfoResult::BuildStatus(core::ProgramBuildStatus::Success))
    );
    if result.is_ok() && succeeded {
        return Ok(());
    }
    match ask(ProgramBuildInfo::BuildLog) {
        Ok(ProgramBuildInfoResult::BuildLog(log)) if !log.trim().is_empty() => Err(failed(found, log)),
        _ => match result {
            Err(error) => Err(device_error(&found.target, "building the kernels", &error)),
            Ok(()) => Err(failed(found, "the compiler left no log".into())),
        },
    }
}

fn binary_of(program: &core::Program) -> Option<Vec<u8>> {
    match core::get_program_info(program, ProgramInfo::Binaries) {
        Ok(ProgramInfoResult::Binaries(binaries)) => binaries.into_iter().next().filter(|b| !b.is_empty()),
        _ => None,
    }
}

/// What NVIDIA's compiler, which does not heed `#line`, calls the source; a line number of the whole text follows.
const WHOLE_TEXT: &str = "<kernel>:";

/// A compiler's log with our files' names and lines in place of the whole text's.
fn with_our_places(log: &str, source: &str) -> String {
    let mut parts = log.split(WHOLE_TEXT);
    let mut ours = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse().ok().and_then(|line| our_place(source, line)) {
            Some((file, line)) => ours.push_str(&format!("{file}:{line}{}", &part[digits..])),
            None => ours.extend([WHOLE_TEXT, part]),
        }
    }
    ours
}

/// The file and line that a line of the whole text, counted from one, came from.
fn our_place(source: &str, line: usize) -> Option<(&str, usize)> {
    let before: Vec<&str> = source.lines().take(line).collect();
    let marker = before.iter().rposition(|text| text.starts_with("#line "))?;
    let (number, file) = before[marker].strip_prefix("#line ")?.split_once(' ')?;
    let offset = line.checked_sub(marker + 2)?;
    Some((file.trim_matches('"'), number.parse::<usize>().ok()? + offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_counts_lines_of_the_whole_text_is_given_our_places() {
        let source = "#line 1 \"a.h\"\nint a;\n\n#line 10 \"b.h\"\nint b;\nint c\n";
        let log = "<kernel>:6:6: error: expected ';'\n<kernel>:2:1: note: like here\n<kernel>:x";
        let ours = "b.h:11:6: error: expected ';'\na.h:1:1: note: like here\n<kernel>:x";
        assert_eq!(with_our_places(log, source), ours);
        assert_eq!(with_our_places("b.h:11: error", source), "b.h:11: error");
    }
}
