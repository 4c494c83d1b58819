//! Opens libcuda, the driver's library, at run time.
//!
//! Looked for in this order: the file that `LOCKSTEP_CUDA` names, and then nothing else; the system's `libcuda.so.1`.

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
    /// The CUDA version that it supports.
    pub version: Version,
}

// The two functions that are asked before any other. Declared here because `cust` turns codes that it does not know
// into one, and the remedies differ.
unsafe extern "C" {
    fn cuInit(flags: c_uint) -> c_uint;
    fn cuDriverGetVersion(version: *mut c_int) -> c_uint;
}

/// Opens the library and initialises the driver, once.
///
/// # Errors
/// An [`Unavailable`] that names the library, what was tried, and what to do. Another call tries again.
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

/// Opens the library and fills the table of functions; returns what it was opened by.
fn open() -> Result<PathBuf, Unavailable> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let names: Vec<&OsStr> = match &named {
        Some(named) => vec![named],
        None => SYSTEM.iter().map(OsStr::new).collect(),
    };
    let mut complaints = Vec::new();
    for name in names {
        // SAFETY: runs the driver's initialisers, as every CUDA program would.
        match unsafe { Library::new(name) } {
            Ok(library) if symbol(&library, c"cuInit").is_some() => {
                functions::fill(|function| symbol(&library, function));
                // The driver starts threads that outlive every use of ours, so it stays mapped.
                std::mem::forget(library);
                return Ok(name.into());
            }
            Ok(_) => complaints.push(format!("{} is no CUDA driver", name.to_string_lossy())),
            Err(error) => complaints.push(words(&error)),
        }
    }
    let remedy = if named.is_some() {
        format!("Set {VARIABLE} to the driver's libcuda.so.1, or unset it.")
    } else {
        "Install NVIDIA's driver if this machine has an NVIDIA GPU.".to_owned()
    };
    Err(Unavailable {
        reason: format!("the CUDA driver could not be opened: {}", complaints.join("; ")),
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
            reason: format!("{} does not tell its version (CUDA error {code})", library.display()),
            remedy: "Reinstall NVIDIA's driver.".into(),
        }),
    }
}

/// Why a driver does not start, and what to do; `None` when it does.
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
            "Check with `nvidia-smi` that the driver works; the system's log has its words.",
        ),
    })
}

/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: c_uint = 100;

fn symbol(library: &Library, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: only the address is taken; who calls it knows the function's type.
    let address = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    Some(*address).filter(|address| !address.is_null())
}

/// The system's own words for an error.
pub(crate) fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
