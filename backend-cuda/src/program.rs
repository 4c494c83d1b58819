//! The shared kernels as a program of one device.

use crate::device::Found;
use crate::error::device_error;
use crate::nvrtc::{Architecture, Compiler, Image, Refusal};
use cust::error::CudaResult;
use cust::function::{BlockSize, Function, FunctionAttribute};
use cust::module::Module;
use lockstep_bvh::Layout;
use lockstep_core::cache::{self, Key};
use lockstep_core::error::{Error, Result};
use lockstep_core::folders;
use lockstep_core::{Integrator, Mode};
use lockstep_core::{KernelConfig, Scheduling};
use lockstep_gpu::signatures::Kernel;
use lockstep_gpu::{
    KernelFeatures, KernelResources, KernelSource, Listing, Options, ProgramKind, assemble, from_ptxas,
};
use std::collections::HashMap;

/// This backend's words of the kernel dialect, and the name that compile errors give the file.
pub(crate) const COMPAT: &str = include_str!("../kernels/compat.h");
pub(crate) const COMPAT_NAME: &str = "backend-cuda/kernels/compat.h";

/// IEEE arithmetic as written.
pub(crate) const EXACT_FLAGS: [&str; 4] =
    ["--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"];
/// Contraction, approximate division, roots and functions, denormals flushed.
pub(crate) const FAST_FLAGS: [&str; 1] = ["--use_fast_math"];

/// Makes the assembler log what kernels take; it changes no code, so it is no part of a program's name.
const VERBOSE_FLAG: &str = "--ptxas-options=-v";

/// The most threads of a block: neighbouring rays differ in length, and a block holds its registers until its last ray
/// ends.
pub(crate) const LARGEST_BLOCK: u32 = 128;

/// Blocks of a launch for each that the device runs at once: enough to even out rays of different lengths. Kernels loop
/// over the rest of their queue.
const BLOCKS_PER_RESIDENT_BLOCK: u32 = 16;

/// The most threads of a block that a program's kernels are built for, where it is not the usual: kernels for larger
/// blocks get fewer registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bound {
    /// Up to 512 threads.
    Wide,
    /// Up to 1,024 threads, the most that any device takes.
    Widest,
}

impl Bound {
    /// What a variant's blocks ask for; nothing for the usual program.
    pub(crate) fn of(variant: &KernelConfig) -> Option<Self> {
        let block = variant.group.unwrap_or(LARGEST_BLOCK);
        if block <= LARGEST_BLOCK {
            return None;
        }
        Some(if block <= 512 { Self::Wide } else { Self::Widest })
    }

    /// The compiler's flag for it.
    fn flag(self) -> &'static str {
        match self {
            Self::Wide => "--define-macro=LS_GROUP=512",
            Self::Widest => "--define-macro=LS_GROUP=1024",
        }
    }
}

/// The source for a mode, of kernels that take every scene.
pub(crate) fn source(mode: Mode, part: ProgramKind) -> KernelSource {
    source_for(mode, part, KernelFeatures::all(Integrator::Path))
}

/// The source for a mode and scenes with no more than this features.
pub(crate) fn source_for(mode: Mode, part: ProgramKind, features: KernelFeatures) -> KernelSource {
    assemble(COMPAT_NAME, COMPAT, &Options { features, ..options(mode) }, part)
}

/// The source of every build.
pub(crate) fn listings() -> Vec<Listing> {
    let listing = |(name, mode): (&str, Mode)| Listing {
        name: name.into(),
        extension: "cu",
        flags: flags(mode).join(" "),
        source: source(mode, ProgramKind::Render),
    };
    [("cuda-exact", Mode::Exact), ("cuda-fast", Mode::Fast)].map(listing).into()
}

/// What to build from the shared source for a mode.
pub(crate) fn options(mode: Mode) -> Options {
    Options {
        fast: mode == Mode::Fast,
        group_compaction: true,
        layout: Layout::Bvh2,
        features: KernelFeatures::all(Integrator::Path),
    }
}

/// The compiler's flags for a program, without the architecture.
pub(crate) fn all_flags(mode: Mode, bound: Option<Bound>) -> Vec<&'static str> {
    flags(mode).iter().copied().chain(bound.map(Bound::flag)).collect()
}

/// The compiler's flags for a mode, without the architecture.
pub(crate) fn flags(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Exact => &EXACT_FLAGS,
        Mode::Fast => &FAST_FLAGS,
    }
}

/// Scheduling that run in step on every device so far.
const WARP: u64 = 32;

/// What tells programs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey {
    pub(crate) mode: Mode,
    pub(crate) part: ProgramKind,
    pub(crate) bound: Option<Bound>,
    pub(crate) features: KernelFeatures,
}

impl ProgramKey {
    /// The program that a variant's passes launch over scenes with no more than this features.
    pub(crate) fn of(variant: &KernelConfig, features: KernelFeatures) -> Self {
        Self { mode: variant.mode, part: ProgramKind::of(variant), bound: Bound::of(variant), features }
    }

    /// The program that records paths, which takes every scene.
    pub(crate) fn trace(mode: Mode, integrator: Integrator) -> Self {
        Self { mode, part: ProgramKind::Trace, bound: None, features: KernelFeatures::all(integrator) }
    }
}

/// How a kernel is launched, and what it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Scheduling of a block.
    pub(crate) block: u32,
    /// Blocks that the device runs at once.
    pub(crate) resident_blocks: u32,
    /// Blocks of a launch, at most.
    pub(crate) most_blocks: u32,
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Bytes of a thread's local memory: its stack, and registers that were spilled.
    pub(crate) local_bytes: u32,
    /// Bytes of memory that a block shares.
    pub(crate) shared_bytes: u32,
}

impl Shape {
    /// Asks the driver, which knows how many blocks fit.
    pub(crate) fn of(function: &Function<'_>) -> CudaResult<Self> {
        let (resident_blocks, block) =
            function.suggested_launch_configuration(0, BlockSize::x(LARGEST_BLOCK))?;
        let number = |attribute| function.get_attribute(attribute).map(|value| value.max(0) as u32);
        let resident_blocks = resident_blocks.max(1);
        Ok(Self {
            block: block.max(1),
            resident_blocks,
            most_blocks: resident_blocks.saturating_mul(BLOCKS_PER_RESIDENT_BLOCK),
            registers: number(FunctionAttribute::NumRegisters)?,
            local_bytes: number(FunctionAttribute::LocalSizeBytes)?,
            shared_bytes: number(FunctionAttribute::SharedMemorySizeBytes)?,
        })
    }

    /// The same as a variant asks for it.
    fn as_varied(
        self,
        found: &Found,
        name: &str,
        function: &Function<'_>,
        variant: &KernelConfig,
    ) -> Result<Self> {
        let mut shape = self;
        if let Some(block) = variant.group {
            shape.block = block;
            shape.resident_blocks = resident_blocks(found, name, function, block)?;
        }
        shape.most_blocks = match variant.threads {
            Scheduling::Default => shape.resident_blocks.saturating_mul(BLOCKS_PER_RESIDENT_BLOCK),
            Scheduling::OneThreadPerRay => u32::MAX,
            Scheduling::PersistentThreads => shape.resident_blocks,
        };
        Ok(shape)
    }
}

/// How many blocks of so many threads a device runs at once.
///
/// # Errors
/// [`Error::Device`] when it runs none.
fn resident_blocks(found: &Found, name: &str, function: &Function<'_>, block: u32) -> Result<u32> {
    let action = || format!("running blocks of {block} threads");
    let ask = || -> CudaResult<(u32, u32)> {
        let most = function.get_attribute(FunctionAttribute::MaxThreadsPerBlock)?.max(0) as u32;
        if block == 0 || block > most {
            return Ok((most, 0));
        }
        Ok((most, function.max_active_blocks_per_multiprocessor(BlockSize::x(block), 0)?))
    };
    let (most, of_multiprocessor) = ask().map_err(|e| device_error(&found.target, action(), e))?;
    if of_multiprocessor == 0 {
        let reason = format!("the device takes 1 to {most} of {name}, as its registers and memory allow");
        return Err(Error::Device { actor: found.target.clone(), action: action(), reason });
    }
    Ok(of_multiprocessor.saturating_mul(found.facts.compute_units.max(1)))
}

/// The kernels of one part in one mode, ready to launch.
pub(crate) struct Program {
    part: ProgramKind,
    module: Module,
    shapes: HashMap<&'static str, Shape>,
    /// What the compiler's log told.
    told: Vec<KernelResources>,
}

impl Program {
    /// Takes the program from the cache, or compiles it and puts it there. The device's context is current.
    pub(crate) fn build(
        found: &Found,
        compiler: &Compiler,
        architecture: Architecture,
        ProgramKey { mode, part, bound, features }: ProgramKey,
    ) -> Result<Self> {
        let source = source_for(mode, part, features);
        let flags = all_flags(mode, bound);
        let made_by = format!("NVRTC {}", compiler.version);
        let made_for = architecture.to_string();
        let joined = flags.join(" ");
        let device = [made_by.as_str(), made_for.as_str()];
        let key = Key { backend: crate::NAME, source: &source.hash, device: &device, flags: &joined };
        let folder = folders::cache_folder();

        if let Some(folder) = &folder
            && let Some(entry) = cache::read(folder, &key)
        {
            match unpack(&entry).map(|image| Self::of(found, &image, part)) {
                Some(Ok(program)) => return Ok(program),
                // It is damaged, or the driver refuses it: compile again.
                _ => cache::remove(folder, &key),
            }
        }
        let image = compile_telling(&found.target, compiler, architecture, &source.text, &flags)?;
        let program = Self::of(found, &image, part)?;
        if let Some(folder) = &folder {
            // A cache that cannot be written costs time, nothing else.
            let _ = cache::write(folder, &key, &pack(&image));
        }
        Ok(program)
    }

    fn of(found: &Found, image: &Image, part: ProgramKind) -> Result<Self> {
        let module = load(found, &image.bytes)?;
        let mut shapes = HashMap::new();
        for kernel in part.kernels() {
            let shape = module.get_function(kernel.name).and_then(|function| Shape::of(&function));
            let shape = shape
                .map_err(|e| device_error(&found.target, format!("finding kernel {}", kernel.name), e))?;
            shapes.insert(kernel.name, shape);
        }
        Ok(Self { part, module, shapes, told: from_ptxas(&image.log) })
    }

    /// How the kernels of a pass are launched as a variant asks for it.
    ///
    /// # Errors
    /// [`Error::Device`] for blocks that the device does not take.
    pub(crate) fn shapes_of(
        &self,
        found: &Found,
        variant: &KernelConfig,
    ) -> Result<HashMap<&'static str, Shape>> {
        let of = |kernel: &&'static Kernel| {
            let name = kernel.name;
            let failed = |e| device_error(&found.target, format!("finding kernel {name}"), e);
            let function = self.module.get_function(name).map_err(failed)?;
            let shape = Shape::of(&function).map_err(failed)?;
            Ok((name, shape.as_varied(found, name, &function, variant)?))
        };
        self.part.of_passes().iter().map(of).collect()
    }

    /// A kernel by its name.
    pub(crate) fn kernel(&self, name: &str) -> Option<(CudaResult<Function<'_>>, Shape)> {
        let shape = self.shapes.get(name)?;
        Some((self.module.get_function(name), *shape))
    }

    /// What every kernel takes: by the driver, and spilled registers by the compiler's log.
    pub(crate) fn kernel_resources(&self) -> Vec<KernelResources> {
        let of = |name: &str, shape: &Shape| KernelResources {
            kernel: name.into(),
            registers: Some(shape.registers.into()),
            spill_bytes: self.told.iter().find(|told| told.kernel == name).and_then(|told| told.spill_bytes),
            stack_bytes: Some(shape.local_bytes.into()),
            shared_bytes: Some(shape.shared_bytes.into()),
            width: Some(WARP),
        };
        let kernels = self.part.kernels().iter();
        kernels.filter_map(|k| self.shapes.get(k.name).map(|shape| of(k.name, shape))).collect()
    }

    /// Registers and local bytes of every kernel, in words.
    pub(crate) fn resources(&self) -> String {
        let words = self.part.kernels().iter().filter_map(|kernel| {
            let shape = self.shapes.get(kernel.name)?;
            let name = kernel.name.strip_prefix("ls_").unwrap_or(kernel.name);
            Some(format!("{name} {}/{}", shape.registers, shape.local_bytes))
        });
        format!("registers/local bytes a thread: {}", words.collect::<Vec<_>>().join(", "))
    }
}

/// Compiles a source.
///
/// # Errors
/// [`Error::Compile`] with the log, whose places are our files' names and lines.
pub(crate) fn compile(
    target: &str,
    compiler: &Compiler,
    architecture: Architecture,
    text: &str,
    flags: &[&str],
) -> Result<Image> {
    compiler.compile(text, architecture, flags).map_err(|refusal| match refusal {
        Refusal::Log(log) => Error::Compile { actor: target.into(), kernel: "core/kernels".into(), log },
        Refusal::Compiler(words) => Error::Device {
            actor: target.into(),
            action: "compiling the kernels".into(),
            reason: format!("NVRTC {} at {}: {words}", compiler.version, compiler.library.display()),
        },
    })
}

/// Compiles a source to machine code with a log of what kernels take, or without it where the compiler cannot tell.
fn compile_telling(
    target: &str,
    compiler: &Compiler,
    architecture: Architecture,
    text: &str,
    flags: &[&str],
) -> Result<Image> {
    if let Architecture::Native(_) = architecture {
        let telling: Vec<&str> = flags.iter().copied().chain([VERBOSE_FLAG]).collect();
        if let Ok(image) = compiler.compile(text, architecture, &telling) {
            return Ok(image);
        }
    }
    compile(target, compiler, architecture, text, flags)
}

/// A program as the cache keeps it: the log's length in eight bytes, the log, the machine code.
fn pack(image: &Image) -> Vec<u8> {
    [&(image.log.len() as u64).to_le_bytes(), image.log.as_bytes(), &image.bytes].concat()
}

/// The inverse of [`pack`]; nothing for what it did not make.
fn unpack(entry: &[u8]) -> Option<Image> {
    let (len, rest) = entry.split_first_chunk()?;
    let (log, bytes) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    Some(Image { bytes: bytes.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
}

/// Hands a compiled program to the driver.
pub(crate) fn load(found: &Found, image: &[u8]) -> Result<Module> {
    Module::from_cubin(image, &[]).map_err(|e| device_error(&found.target, "loading the kernels", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_program_reads_back_with_its_log() {
        let image = Image { bytes: vec![1, 2, 3], log: "ptxas info".into() };
        assert_eq!(unpack(&pack(&image)), Some(image));
        assert_eq!(unpack(b"no program"), None);
        assert_eq!(unpack(b""), None);
    }
}
