//! Opens libOpenCL at run time.
//!
//! If `LOCKSTEP_OPENCL` names a file, only that is tried. Otherwise the search order is the system's
//! `libOpenCL.so.1`, then those that `lockstep setup opencl-pocl` and `lockstep setup opencl-intel` fetch.
//!
//! Unless the user has set `OCL_ICD_VENDORS` or `OPENCL_VENDOR_PATH`, the first load sets `OCL_ICD_VENDORS`
//! to a folder that lists the system's drivers and the fetched ones, so that one process sees both. Loaders read
//! their drivers at the first call, and Khronos' cuts `OCL_ICD_FILENAMES` after its first name: its value is set
//! again, for the processes that this one starts. Call [`load`] early, before other threads read the environment.

mod functions;
mod vendors;

use libloading::Library;
use libloading::os::unix::{self, RTLD_GLOBAL, RTLD_NOW};
use lockstep_core::Unavailable;
use ocl::ffi::{c_void, cl_uint, clGetPlatformIDs};
use std::env;
use std::error::Error as _;
use std::ffi::{CStr, OsStr};
use std::path::PathBuf;
use std::sync::Mutex;

/// The environment variable that names the library.
pub const VARIABLE: &str = "LOCKSTEP_OPENCL";

/// The library's name where the system's loader finds it.
const SYSTEM: &str = "libOpenCL.so.1";

/// Libraries that Intel's driver depends on and would not find in its own folder; dependencies come first.
const INTEL_DEPENDENCIES: [&str; 4] = ["libintlc.so.5", "libimf.so", "libirng.so", "libsvml.so"];

/// File or name that the library was opened by; set once.
static LOADED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Opens the OpenCL library, once per process, and returns the file or name it was opened by.
///
/// # Errors
/// [`Unavailable`] with the files tried, the reasons and the remedy. After an error, the next call tries
/// again.
pub fn load() -> Result<PathBuf, Unavailable> {
    // A panic elsewhere cannot have left the path half written.
    let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(path) = &*loaded {
        return Ok(path.clone());
    }
    expose_fetched_drivers();
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let mut failures = Vec::new();
    for place in search_paths(named.as_deref()) {
        match place.open() {
            Ok(library) => {
                fill_table(&library);
                read_drivers();
                // Drivers start threads that outlive this backend, so the library stays mapped.
                std::mem::forget(library);
                return Ok(loaded.insert(place.file).clone());
            }
            Err(failure) => failures.push(failure),
        }
    }
    Err(unavailable(&failures, named.is_some()))
}

/// Number of platforms of the loaded library; zero on errors too, on which `ocl` would wait.
pub(crate) fn platform_count() -> u32 {
    let mut count: cl_uint = 0;
    // SAFETY: queries the count only.
    let status = unsafe { clGetPlatformIDs(0, std::ptr::null_mut(), &raw mut count) };
    if status == 0 { count } else { 0 }
}

/// The environment variable with drivers to load besides those of `.icd` files, separated by colons.
const LISTED: &str = "OCL_ICD_FILENAMES";

/// Lets the loader read its drivers, and sets [`LISTED`] again, whose value Khronos' loader cuts in place.
fn read_drivers() {
    let listed = env::var_os(LISTED);
    platform_count();
    if let Some(listed) = listed {
        // SAFETY: programs call `load` at their start, before other threads read the environment.
        unsafe { env::set_var(LISTED, listed) };
    }
}

/// The environment variable that names the home of PyOpenCL to the loader of its wheel, which crashes without.
const PYOPENCL_HOME: &str = "PYOPENCL_HOME";

/// A file to try.
struct SearchPath {
    file: PathBuf,
    /// The folder of the dependencies to load first.
    dependencies: Option<PathBuf>,
    /// The folder to set [`PYOPENCL_HOME`] to.
    home: Option<PathBuf>,
}

fn search_paths(named: Option<&OsStr>) -> Vec<SearchPath> {
    if let Some(named) = named {
        return vec![SearchPath { file: named.into(), dependencies: None, home: None }];
    }
    let system = SearchPath { file: SYSTEM.into(), dependencies: None, home: None };
    let pocl = vendors::POCL.place().map(|folder| SearchPath {
        file: folder.join("lib").join(SYSTEM),
        dependencies: None,
        home: Some(folder),
    });
    let intel = vendors::INTEL.place().map(|folder| folder.join("lib"));
    let intel =
        intel.map(|folder| SearchPath { file: folder.join(SYSTEM), dependencies: Some(folder), home: None });
    [system].into_iter().chain(pocl).chain(intel).collect()
}

impl SearchPath {
    fn open(&self) -> Result<Library, String> {
        for name in
            self.dependencies.iter().flat_map(|folder| INTEL_DEPENDENCIES.map(|name| folder.join(name)))
        {
            // SAFETY: runs the initialisers of maths libraries that Intel's driver opens too.
            let library = unsafe { unix::Library::open(Some(&name), RTLD_NOW | RTLD_GLOBAL) };
            std::mem::forget(library.map_err(message)?);
        }
        // SAFETY: runs the loader's initialisers, as every OpenCL program would.
        let library = unsafe { Library::new(&self.file) }.map_err(message)?;
        if let Some(home) = self.home.as_ref().filter(|_| env::var_os(PYOPENCL_HOME).is_none()) {
            // SAFETY: programs call `load` at their start, before other threads read the environment.
            unsafe { env::set_var(PYOPENCL_HOME, home) };
        }
        if symbol(&library, c"clGetPlatformIDs").is_none() {
            return Err(format!("{} is no OpenCL library", self.file.display()));
        }
        Ok(library)
    }
}

fn fill_table(library: &Library) {
    functions::fill(|name| symbol(library, name));
}

fn symbol(library: &Library, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: only takes the address; callers know the function's type.
    let address = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    Some(*address).filter(|address| !address.is_null())
}

/// Points the loader, before it is opened, to a folder that also lists the fetched drivers.
fn expose_fetched_drivers() {
    let chosen = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"].iter().any(|name| env::var_os(name).is_some());
    if chosen {
        return;
    }
    // Without a writable cache folder, the system's drivers remain.
    if let Ok(Some(folder)) = vendors::merged() {
        // SAFETY: programs call `load` at their start, before other threads read the environment.
        unsafe { env::set_var("OCL_ICD_VENDORS", folder) };
    }
}

fn unavailable(failures: &[String], named: bool) -> Unavailable {
    let remedy = if named {
        format!("Set {VARIABLE} to an OpenCL loader such as libOpenCL.so.1, or unset it.")
    } else {
        "Run `lockstep setup opencl-pocl` or `lockstep setup opencl-intel`, or install your GPU's OpenCL \
         driver and the package ocl-icd-libopencl1."
            .to_owned()
    };
    Unavailable { reason: format!("the OpenCL library could not be opened: {}", failures.join("; ")), remedy }
}

/// The system's message for an error.
fn message(error: libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
