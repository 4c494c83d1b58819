//! NVRTC, the compiler of CUDA C++, opened at run time.
//!
//! The choice among a machine's libraries depends on the driver, which runs no machine code of a newer major
//! version than its own, and on the device, since compilers drop old architectures and do not know later
//! ones. [`choose`] takes both.

mod functions;
mod search_paths;

use crate::loader;
use crate::version::Version;
use functions::{Functions, Handle, bytes, message, text};
use libloading::Library;
use lockstep_core::Unavailable;
use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use search_paths::{INSTALLED_AS, VARIABLE};

/// The architecture that a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// Machine code for this compute capability, as in `sm_90`.
    Native(u32),
    /// PTX for this compute capability, which the driver compiles for the device: `compute_90`.
    Ptx(u32),
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native(capability) => write!(f, "sm_{capability}"),
            Self::Ptx(capability) => write!(f, "compute_{capability}"),
        }
    }
}

/// An NVRTC library.
#[derive(Debug)]
pub struct Compiler {
    /// The file or name it was opened by.
    pub library: PathBuf,
    /// The CUDA version of its toolkit.
    pub version: Version,
    /// The compute capabilities that it knows, in ascending order: 90 is 9.0.
    pub capabilities: Vec<u32>,
    functions: Functions,
}

/// A failed compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The source has errors: the compiler's log, which names the kernels' files and lines.
    Log(String),
    /// The compiler failed: its action and its message.
    Compiler(String),
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Machine code, or PTX as text that ends with a NUL.
    pub bytes: Vec<u8>,
    /// The compiler's log: warnings, and each kernel's resources if flags ask for them.
    pub log: String,
}

/// Compilers by the file they were opened from. Libraries stay mapped, since compilers keep threads and
/// caches.
static OPENED: Mutex<Option<HashMap<PathBuf, Arc<Compiler>>>> = Mutex::new(None);

/// The compiler for a device of this compute capability under this driver: the first that knows the device,
/// else the first whose PTX the driver can compile for it.
///
/// # Errors
/// [`Unavailable`] with the libraries tried, the reasons and the remedy.
pub fn choose(driver: Version, capability: u32) -> Result<(Arc<Compiler>, Architecture), Unavailable> {
    let mut failures = Vec::new();
    let mut ptx_compiler = None;
    for path in search_paths::search_paths() {
        let compiler = match open(&path) {
            Ok(compiler) => compiler,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        match architecture_for(compiler.version, &compiler.capabilities, driver, capability) {
            Ok(native @ Architecture::Native(_)) => return Ok((compiler, native)),
            Ok(ptx) => ptx_compiler = ptx_compiler.or(Some((compiler, ptx))),
            Err(reason) => failures.push(format!("{}: {reason}", compiler.library.display())),
        }
    }
    ptx_compiler.ok_or_else(|| unavailable(&failures))
}

/// The first compiler that can be opened, for work that needs no device.
///
/// # Errors
/// [`Unavailable`] with the libraries tried, the reasons and the remedy.
pub fn any() -> Result<Arc<Compiler>, Unavailable> {
    let mut failures = Vec::new();
    for path in search_paths::search_paths() {
        match open(&path) {
            Ok(compiler) => return Ok(compiler),
            Err(failure) => failures.push(failure),
        }
    }
    Err(unavailable(&failures))
}

/// The architecture by which a compiler serves a device under a driver, or the reason that it cannot.
fn architecture_for(
    compiler: Version,
    known: &[u32],
    driver: Version,
    capability: u32,
) -> Result<Architecture, String> {
    if compiler.major > driver.major {
        return Err(format!("NVRTC {compiler} is too new for the driver, which supports CUDA {driver}"));
    }
    if known.contains(&capability) {
        return Ok(Architecture::Native(capability));
    }
    let newest = known.iter().copied().filter(|&known| known < capability).max();
    match newest {
        Some(_) if compiler > driver => Err(format!(
            "NVRTC {compiler} does not know compute capability {capability}, and the driver, which supports \
             CUDA {driver}, cannot compile its PTX"
        )),
        Some(newest) => Ok(Architecture::Ptx(newest)),
        None => Err(format!("NVRTC {compiler} no longer knows compute capability {capability}")),
    }
}

fn unavailable(failures: &[String]) -> Unavailable {
    Unavailable {
        reason: format!("no NVRTC, the compiler of CUDA kernels, serves here: {}", failures.join("; ")),
        remedy: format!(
            "Run `lockstep setup nvrtc`, or set {VARIABLE} to the libnvrtc of a CUDA toolkit that knows the \
             device and is no newer than the driver."
        ),
    }
}

fn open(path: &Path) -> Result<Arc<Compiler>, String> {
    // A panic elsewhere cannot have left the map half written.
    let mut opened = OPENED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let opened = opened.get_or_insert_default();
    if let Some(compiler) = opened.get(path) {
        return Ok(compiler.clone());
    }
    let compiler = Arc::new(Compiler::open(path)?);
    opened.insert(path.into(), compiler.clone());
    Ok(compiler)
}

impl Compiler {
    fn open(path: &Path) -> Result<Self, String> {
        if !search_paths::is_bare(path) {
            for builtins in search_paths::builtins_beside(path) {
                // SAFETY: runs the initialisers of a library that NVRTC itself opens. Without it compiling
                // fails, and says so.
                std::mem::forget(unsafe { Library::new(builtins) });
            }
        }
        // SAFETY: runs NVRTC's initialisers, as every program that uses it would.
        let library = unsafe { Library::new(path) }.map_err(|error| loader::message(&error))?;
        let functions = Functions::of(&library).map_err(|missing| {
            format!("{} is no NVRTC of CUDA 11.2 or later: it has no {missing}", path.display())
        })?;
        std::mem::forget(library);
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: both write integers.
        let codes = unsafe {
            [(functions.version)(&raw mut major, &raw mut minor), (functions.supported_count)(&raw mut count)]
        };
        let mut capabilities: Vec<c_int> = vec![0; count.clamp(0, 1024) as usize];
        // SAFETY: there is room for as many integers as the library said.
        let last = unsafe { (functions.supported)(capabilities.as_mut_ptr()) };
        if let Some(code) = codes.into_iter().chain([last]).find(|&code| code != 0) {
            return Err(format!("{} does not describe itself: {}", path.display(), message(code)));
        }
        let mut capabilities: Vec<u32> = capabilities.into_iter().map(|c| c.max(0) as u32).collect();
        capabilities.sort_unstable();
        Ok(Self { library: path.into(), version: Version { major, minor }, capabilities, functions })
    }

    /// Compiles a source. `flags` are NVRTC's own, without the architecture.
    ///
    /// # Errors
    /// A [`Refusal`] with the compiler's log or message.
    pub fn compile(
        &self,
        source: &str,
        architecture: Architecture,
        flags: &[&str],
    ) -> Result<Image, Refusal> {
        self.compiled(source, architecture, flags)?.image(architecture)
    }

    /// Compiles a source to machine code, and returns with it the PTX that it was assembled from.
    #[cfg(test)]
    pub(crate) fn compile_with_ptx(
        &self,
        source: &str,
        capability: u32,
        flags: &[&str],
    ) -> Result<(Image, String), Refusal> {
        let native = Architecture::Native(capability);
        let compiled = self.compiled(source, native, flags)?;
        let ptx = compiled.image(Architecture::Ptx(capability))?;
        Ok((compiled.image(native)?, text(&ptx.bytes)))
    }

    /// The program of a source.
    fn compiled(
        &self,
        source: &str,
        architecture: Architecture,
        flags: &[&str],
    ) -> Result<Program<'_>, Refusal> {
        let mut program = Program::new(&self.functions, source)?;
        let architecture_flag = format!("--gpu-architecture={architecture}");
        let flags: Vec<CString> = std::iter::once(architecture_flag.as_str())
            .chain(flags.iter().copied())
            .map(|flag| CString::new(flag).map_err(|e| Refusal::Compiler(e.to_string())))
            .collect::<Result<_, _>>()?;
        let pointers: Vec<_> = flags.iter().map(|flag| flag.as_ptr()).collect();
        let functions = &self.functions;
        // SAFETY: the program and the flags are alive.
        let code = unsafe { (functions.compile)(program.handle, pointers.len() as c_int, pointers.as_ptr()) };
        let log = bytes(program.handle, functions.log_size, functions.log);
        program.log = log.map(|bytes| text(&bytes)).unwrap_or_default();
        if code == COMPILATION_FAILED && !program.log.is_empty() {
            return Err(Refusal::Log(std::mem::take(&mut program.log)));
        }
        if code != 0 {
            let log = &program.log;
            return Err(Refusal::Compiler(format!("compiling: {}. {log}", message(code))));
        }
        Ok(program)
    }
}

/// `NVRTC_ERROR_COMPILATION`.
const COMPILATION_FAILED: c_int = 6;

/// An NVRTC program, destroyed when dropped.
struct Program<'a> {
    functions: &'a Functions,
    handle: Handle,
    /// The compiler's log.
    log: String,
}

impl<'a> Program<'a> {
    fn new(functions: &'a Functions, source: &str) -> Result<Self, Refusal> {
        let source = CString::new(source).map_err(|e| Refusal::Compiler(e.to_string()))?;
        let mut handle = std::ptr::null_mut();
        let none = std::ptr::null();
        // SAFETY: source and name are NUL-terminated and copied; there are no headers.
        let code = unsafe {
            (functions.create)(&raw mut handle, source.as_ptr(), c"core/gpu/kernels".as_ptr(), 0, none, none)
        };
        if code != 0 {
            return Err(Refusal::Compiler(format!("taking the source: {}", message(code))));
        }
        Ok(Self { functions, handle, log: String::new() })
    }

    /// The compiled program as machine code or PTX, by the architecture.
    fn image(&self, architecture: Architecture) -> Result<Image, Refusal> {
        let Self { functions, handle, .. } = *self;
        let image = match architecture {
            Architecture::Native(_) => bytes(handle, functions.cubin_size, functions.cubin),
            Architecture::Ptx(_) => bytes(handle, functions.ptx_size, functions.ptx),
        };
        let refused =
            |code| Refusal::Compiler(format!("handing out the compiled program: {}", message(code)));
        Ok(Image { bytes: image.map_err(refused)?, log: self.log.clone() })
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again; a failure has no remedy.
        unsafe { (self.functions.destroy)(&raw mut self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA_12: Version = Version { major: 12, minor: 4 };
    const CUDA_13: Version = Version { major: 13, minor: 0 };

    #[test]
    fn a_known_device_gets_machine_code() {
        assert_eq!(architecture_for(CUDA_13, &[75, 80, 90], CUDA_13, 90), Ok(Architecture::Native(90)));
        // Within a major version, the compiler may be newer than the driver.
        let newer = Version { major: 13, minor: 5 };
        assert_eq!(architecture_for(newer, &[75, 80, 90], CUDA_13, 90), Ok(Architecture::Native(90)));
    }

    #[test]
    fn a_later_device_gets_the_newest_ptx_that_its_driver_can_compile() {
        assert_eq!(architecture_for(CUDA_12, &[75, 80, 90], CUDA_13, 100), Ok(Architecture::Ptx(90)));
        let newer = Version { major: 12, minor: 9 };
        assert!(architecture_for(newer, &[75, 80, 90], CUDA_12, 100).unwrap_err().contains("PTX"));
    }

    #[test]
    fn a_compiler_newer_than_the_driver_or_without_the_device_says_so() {
        assert!(architecture_for(CUDA_13, &[75, 90], CUDA_12, 90).unwrap_err().contains("too new"));
        assert!(architecture_for(CUDA_13, &[75, 90], CUDA_13, 61).unwrap_err().contains("no longer"));
    }
}
