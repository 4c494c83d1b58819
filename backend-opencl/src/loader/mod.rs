//! Opens libOpenCL at run time.
//!
//! Looked for in this order: the file that `LOCKSTEP_OPENCL` names, and then nothing else; the system's `libOpenCL.so.1`;
//! the one in Intel's runtime, where `lockstep setup opencl-intel` fetched it.
//!
//! Unless the user has set `OCL_ICD_VENDORS` or `OPENCL_VENDOR_PATH`, the first load sets `OCL_ICD_VENDORS` to a folder
//! that lists the system's drivers and the fetched ones, so that both are seen in one process. Call [`load`] early,
//! before other threads read the environment.

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

/// Libraries that Intel's loader needs and would not find beside itself, each after those it needs.
const INTEL_NEEDS: [&str; 4] = ["libintlc.so.5", "libimf.so", "libirng.so", "libsvml.so"];

/// Where the loaded library came from; set once.
static LOADED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Opens the library, once; returns the file or name it was opened by.
///
/// # Errors
/// An [`Unavailable`] that names the library, what was tried, and what to do. Another call tries again.
pub fn load() -> Result<PathBuf, Unavailable> {
    // A panic elsewhere cannot have left the path half written.
    let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(path) = &*loaded {
        return Ok(path.clone());
    }
    show_fetched_drivers();
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let mut complaints = Vec::new();
    for place in places(named.as_deref()) {
        match place.open() {
            Ok(library) => {
                fill_table(&library);
                // Drivers start threads that outlive every use of ours, so the library stays mapped.
                std::mem::forget(library);
                return Ok(loaded.insert(place.file).clone());
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    Err(absence(&complaints, named.is_some()))
}

/// How many platforms the loaded library offers; zero too when it complains, which `ocl` would take for a reason to wait.
pub(crate) fn platform_count() -> u32 {
    let mut count: cl_uint = 0;
    // SAFETY: asks for the count only.
    let status = unsafe { clGetPlatformIDs(0, std::ptr::null_mut(), &raw mut count) };
    if status == 0 { count } else { 0 }
}

/// A file to try and the folder of libraries that it needs first.
struct Place {
    file: PathBuf,
    needs_from: Option<PathBuf>,
}

fn places(named: Option<&OsStr>) -> Vec<Place> {
    if let Some(named) = named {
        return vec![Place { file: named.into(), needs_from: None }];
    }
    let system = Place { file: SYSTEM.into(), needs_from: None };
    let intel = vendors::intel_folder().map(|folder| folder.join("lib"));
    let intel = intel.map(|folder| Place { file: folder.join(SYSTEM), needs_from: Some(folder) });
    [system].into_iter().chain(intel).collect()
}

impl Place {
    fn open(&self) -> Result<Library, String> {
        for name in self.needs_from.iter().flat_map(|folder| INTEL_NEEDS.map(|name| folder.join(name))) {
            // SAFETY: runs the initialisers of maths libraries that Intel's driver would open too.
            let library = unsafe { unix::Library::open(Some(&name), RTLD_NOW | RTLD_GLOBAL) };
            std::mem::forget(library.map_err(words)?);
        }
        // SAFETY: runs the loader's initialisers, as every OpenCL program would.
        let library = unsafe { Library::new(&self.file) }.map_err(words)?;
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
    // SAFETY: only the address is taken; who calls it knows the function's type.
    let address = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    Some(*address).filter(|address| !address.is_null())
}

/// Points the loader that is about to be opened to a folder which also lists the fetched drivers.
fn show_fetched_drivers() {
    let chosen = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"].iter().any(|name| env::var_os(name).is_some());
    if chosen {
        return;
    }
    // A cache folder that cannot be written leaves the system's drivers, which is what there would be without ours.
    if let Ok(Some(folder)) = vendors::merged() {
        // SAFETY: `load` is asked first by a program's start, before it has threads that read the environment.
        unsafe { env::set_var("OCL_ICD_VENDORS", folder) };
    }
}

fn absence(complaints: &[String], named: bool) -> Unavailable {
    let remedy = if named {
        format!("Set {VARIABLE} to an OpenCL loader such as libOpenCL.so.1, or unset it.")
    } else {
        "Run `lockstep setup opencl-intel` or `lockstep setup opencl-pocl`, or install your GPU's OpenCL driver and the \
         package ocl-icd-libopencl1."
            .to_owned()
    };
    Unavailable {
        reason: format!("the OpenCL library could not be opened: {}", complaints.join("; ")),
        remedy,
    }
}

/// The system's own words for an error.
fn words(error: libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
