//! Without a library: the program starts, the target is absent with a reason, and no function crashes.
//!
//! One test in a process of its own, since it decides which library the process opens.

use lockstep_core::{Backend, Error, OpenOptions};
use lockstep_opencl::{Opencl, loader};
use ocl::ffi;

/// Result of forwarded functions while no library is loaded.
const INVALID_OPERATION: i32 = -59;

#[test]
fn a_machine_without_the_library_has_an_absent_target_and_safe_functions() {
    assert!(!is_mapped("libOpenCL"), "the program links no driver");
    for named in ["/no/such/libOpenCL.so.1", "libm.so.6"] {
        // SAFETY: this test has the process to itself.
        unsafe { std::env::set_var(loader::VARIABLE, named) };
        let targets = Opencl.targets();
        assert_eq!(targets.len(), 1);
        assert_eq!(targets[0].name, "opencl");
        let unavailable = targets[0].state.as_ref().unwrap_err();
        assert!(unavailable.reason.contains(named), "{unavailable:?}");
        assert!(unavailable.remedy.contains(loader::VARIABLE), "{unavailable:?}");
        let opened = Opencl.open("opencl", &OpenOptions::default());
        assert!(matches!(opened, Err(Error::Unavailable { .. })));
    }
    functions_answer_an_error();
}

fn functions_answer_an_error() {
    let mut count = 0;
    let mut error = 0;
    let nothing = std::ptr::null_mut::<ffi::c_void>();
    // SAFETY: without a library, functions only write the places that they are given for numbers.
    unsafe {
        assert_eq!(ffi::clGetPlatformIDs(0, nothing.cast(), &raw mut count), INVALID_OPERATION);
        assert_eq!(ffi::clFinish(nothing), INVALID_OPERATION);
        assert!(ffi::clCreateBuffer(nothing, 0, 1, nothing, &raw mut error).is_null());
        assert_eq!(error, INVALID_OPERATION);
        assert!(ffi::clCreateBuffer(nothing, 0, 1, nothing, nothing.cast()).is_null());
        let name = c"clIcdGetPlatformIDsKHR".as_ptr();
        assert!(ffi::clGetExtensionFunctionAddressForPlatform(nothing, name).is_null());
    }
    assert!(ocl::Platform::first().is_err());
}

/// Whether a library of this name is in this process.
fn is_mapped(name: &str) -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains(name))
}
