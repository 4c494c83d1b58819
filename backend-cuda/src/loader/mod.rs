//! Opens libcuda, the driver's library, at run time.
//!
//! If `LOCKSTEP_CUDA` names a file, only that is tried; otherwise the system's `libcuda.so.1`.

mod functions;

use crate::version::Version;
use libloading::Library;
use lockstep_core::Unavailable;
use std::env;
use std::error::Error as _;
use std::ffi::{CStr, OsStr, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::Mutex;

/// The environment variable that names the library.
pub const VARIABLE: &str = "LOCKSTEP_CUDA";

/// The names under which the system's loader finds the library.
const SYSTEM: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// The loaded driver; set once.
static LOADED: Mutex<Option<Driver>> = Mutex::new(None);

/// The driver's library, opened and initialised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The file or name it was opened by.
    pub library: PathBuf,
    /// The latest CUDA version that it supports.
    pub version: Version,
}

// The first two functions called. They are declared here because `cust` maps all codes that it does not know
// to one, and their remedies differ.
unsafe extern "C" {
    fn cuInit(flags: c_uint) -> c_uint;
    fn cuDriverGetVersion(version: *mut c_int) -> c_uint;
}

/// Opens the driver's library and initialises the driver, once per process.
///
/// # Errors
/// [`Unavailable`] with the files tried, the reasons and the remedy. After an error, the next call tries
/// again.
pub fn load() -> Result<Driver, Unavailable> {
    // A panic elsewhere cannot have left the driver half written.
    let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(driver) = &*loaded {
        return Ok(driver.clone());
    }
    let library = open()?;
    let version = initialise(&library)?;
    Ok(loaded.insert(Driver { library, version }).clone())
}

/// Opens the library and fills the table of functions; returns the file or name it was opened by.
fn open() -> Result<PathBuf, Unavailable> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let names: Vec<&OsStr> = match &named {
        Some(named) => vec![named],
        None => SYSTEM.iter().map(OsStr::new).collect(),
    };
    let mut failures = Vec::new();
    for name in names {
        // SAFETY: runs the driver's initialisers, as every CUDA program would.
        match unsafe { Library::new(name) } {
            Ok(library) if symbol(&library, c"cuInit").is_some() => {
                functions::fill(|function| symbol(&library, function));
                // The driver starts threads that outlive this backend, so it stays mapped.
                std::mem::forget(library);
                return Ok(name.into());
            }
            Ok(_) => failures.push(format!("{} is no CUDA driver", name.to_string_lossy())),
            Err(error) => failures.push(message(&error)),
        }
    }
    let remedy = if named.is_some() {
        format!("Set {VARIABLE} to the driver's libcuda.so.1, or unset it.")
    } else {
        "Install NVIDIA's driver if this machine has an NVIDIA GPU.".to_owned()
    };
    Err(Unavailable {
        reason: format!("the CUDA driver could not be opened: {}", failures.join("; ")),
        remedy,
    })
}

fn initialise(library: &std::path::Path) -> Result<Version, Unavailable> {
    // SAFETY: the table is filled, and zero is the only flag there is.
    let status = unsafe { cuInit(0) };
    if let Some((reason, remedy)) = refusal(status) {
        let reason = format!("{} does not start: {reason}", library.display());
        return Err(Unavailable { reason, remedy: remedy.into() });
    }
    let mut number = 0;
    // SAFETY: writes one integer.
    match unsafe { cuDriverGetVersion(&raw mut number) } {
        0 => Ok(Version::of_number(number)),
        code => Err(Unavailable {
            reason: format!("{} does not report its version (CUDA error {code})", library.display()),
            remedy: "Reinstall NVIDIA's driver.".into(),
        }),
    }
}

/// The reason that a driver does not start, and the remedy; `None` if it starts.
fn refusal(status: c_uint) -> Option<(String, &'static str)> {
    Some(match status {
        0 => return None,
        NO_DEVICE => (
            "it finds no device".into(),
            "Check with `nvidia-smi` that a GPU is there, and that CUDA_VISIBLE_DEVICES does not hide it.",
        ),
        34 => ("it is the toolkit's stub, not a driver".into(), "Install NVIDIA's driver."),
        803 => (
            "library and kernel module are of different versions".into(),
            "Restart the machine, or reinstall NVIDIA's driver.",
        ),
        804 => (
            "its compatibility library does not support this GPU".into(),
            "Update NVIDIA's driver, and take the compatibility library off the loader's path.",
        ),
        code => (
            format!("CUDA error {code}"),
            "Check with `nvidia-smi` that the driver works; see the system's log.",
        ),
    })
}

/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: c_uint = 100;

fn symbol(library: &Library, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: only takes the address; callers know the function's type.
    let address = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    Some(*address).filter(|address| !address.is_null())
}

/// The system's message for an error.
pub(crate) fn message(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
