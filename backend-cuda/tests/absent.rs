//! Without a driver: the program starts, the target is absent with a reason, and no function crashes.
//!
//! One test in a process of its own, since it decides which library the process opens.

use cust::device::Device;
use cust::error::CudaError;
use lockstep_core::{Backend, Error, OpenOptions};
use lockstep_cuda::{Cuda, loader};

#[test]
fn a_machine_without_the_driver_has_an_absent_target_and_safe_functions() {
    assert!(!is_mapped("libcuda"), "the program links no driver");
    for named in ["/no/such/libcuda.so.1", "libm.so.6"] {
        // SAFETY: this test has the process to itself.
        unsafe { std::env::set_var(loader::VARIABLE, named) };
        let targets = Cuda.targets();
        assert_eq!(targets.len(), 1);
        assert_eq!(targets[0].name, "cuda");
        let unavailable = targets[0].state.as_ref().unwrap_err();
        assert!(unavailable.reason.contains(named), "{unavailable:?}");
        assert!(unavailable.remedy.contains(loader::VARIABLE), "{unavailable:?}");
        for target in ["cuda", "cuda@0"] {
            let opened = Cuda.open(target, &OpenOptions::default());
            assert!(matches!(opened, Err(Error::Unavailable { .. })));
        }
    }
    assert_eq!(Device::num_devices().unwrap_err(), CudaError::NotInitialized);
    assert_eq!(cust::init(cust::CudaFlags::empty()).unwrap_err(), CudaError::NotInitialized);
    assert_eq!(cust::memory::mem_get_info().unwrap_err(), CudaError::NotInitialized);
}

/// Whether a library of this name is in this process.
fn is_mapped(name: &str) -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains(name))
}
