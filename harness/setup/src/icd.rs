//! Checks each OpenCL driver by itself, and whether the system has a loader.

use std::error::Error;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;

use libloading::Library;

/// `clGetExtensionFunctionAddress`, which every installable driver exports (cl_khr_icd).
type AddressOf = unsafe extern "C" fn(name: *const c_char) -> *mut c_void;

/// `clIcdGetPlatformIDsKHR`, which it hands out.
type PlatformIds =
    unsafe extern "C" fn(entries: c_uint, platforms: *mut *mut c_void, count: *mut c_uint) -> c_int;

const PLATFORM_IDS: &CStr = c"clIcdGetPlatformIDsKHR";

/// The name of the library through which programs reach drivers.
const LOADER: &str = "libOpenCL.so.1";

/// Whether the system has an OpenCL loader; an error has the complaint.
pub(super) fn open_loader() -> Result<(), String> {
    // SAFETY: runs the loader's initialisers, as every OpenCL program would.
    unsafe { Library::new(LOADER) }.map(drop).map_err(message)
}

/// How many platforms a driver offers here; an error has the loader's or the driver's complaint.
pub(super) fn platforms(driver: &Path) -> Result<u32, String> {
    // SAFETY: runs the driver's initialisers, as every OpenCL program would.
    let library = unsafe { Library::new(driver) }.map_err(message)?;
    // SAFETY: the function's type is as cl_khr_icd has it.
    let address_of =
        unsafe { library.get::<AddressOf>(c"clGetExtensionFunctionAddress") }.map_err(message)?;
    // SAFETY: a NUL-terminated name.
    let address = unsafe { address_of(PLATFORM_IDS.as_ptr()) };
    if address.is_null() {
        return Err("it is no installable OpenCL driver".into());
    }
    // SAFETY: the driver hands out a function of this type under this name.
    let platform_ids = unsafe { std::mem::transmute::<*mut c_void, PlatformIds>(address) };
    let mut count = 0;
    // SAFETY: asks for the count only.
    let status = unsafe { platform_ids(0, ptr::null_mut(), &raw mut count) };
    // A driver may have started threads, so it must stay mapped.
    std::mem::forget(library);
    if status == 0 { Ok(count) } else { Err(format!("it offers no platform (OpenCL error {status})")) }
}

/// The system's message for an error.
fn message(error: libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_is_an_error_that_names_it() {
        let complaint = platforms(Path::new("/no/such/driver.so")).expect_err("no such file");
        assert!(complaint.contains("/no/such/driver.so"), "{complaint}");
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_library_that_is_no_driver_is_an_error() {
        assert!(platforms(Path::new("libm.so.6")).is_err());
    }
}
