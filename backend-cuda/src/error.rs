//! CUDA's errors in the terms of the seam.
//!
//! Errors are named, never printed by `cust`, which would ask the driver for the words: there may be none.

use cust::error::CudaError;
use lockstep_core::Error;

/// Maps what the driver refused. `action` is in the progressive form ("uploading hits").
pub(crate) fn device_error(actor: &str, action: impl Into<String>, error: CudaError) -> Error {
    Error::Device { actor: actor.into(), action: action.into(), reason: reason(error) }
}

/// The error's name, and the remedy where one is known.
pub(crate) fn reason(error: CudaError) -> String {
    match remedy(error) {
        Some(remedy) => format!("{error:?}: {remedy}"),
        None => format!("{error:?}"),
    }
}

/// Whether the device's context is lost with this error: every later call fails with it too.
pub(crate) fn is_lasting(error: CudaError) -> bool {
    matches!(
        error,
        CudaError::IllegalAddress
            | CudaError::LaunchFailed
            | CudaError::LaunchTimeout
            | CudaError::HardwareStackError
            | CudaError::IllegalInstruction
            | CudaError::MisalignedAddress
            | CudaError::InvalidAddressSpace
            | CudaError::InvalidProgramCounter
            | CudaError::AssertError
            | CudaError::EccUncorrectable
            | CudaError::NvlinkUncorrectable
            | CudaError::ContextIsDestroyed
    )
}

fn remedy(error: CudaError) -> Option<&'static str> {
    Some(match error {
        CudaError::OutOfMemory => {
            "the device is out of memory; close other programs that use it, or choose a smaller scene or film"
        }
        CudaError::LaunchOutOfResources => "the kernel wants more registers or memory than the device has",
        CudaError::LaunchTimeout => {
            "the system ended a kernel that ran too long; use a GPU without a display, or a smaller film"
        }
        CudaError::EccUncorrectable | CudaError::NvlinkUncorrectable => {
            "the hardware failed; see `nvidia-smi -q` and the system's log"
        }
        CudaError::NoBinaryForGpu | CudaError::InvalidImage | CudaError::InvalidPtx => {
            "the driver cannot run what NVRTC made; update the driver, or set LOCKSTEP_NVRTC to an older NVRTC"
        }
        CudaError::InvalidDevice => "the device is gone; see the system's log for the driver's words",
        CudaError::NotInitialized => "the driver is not loaded or lacks this function",
        CudaError::UnknownError => "the driver's code for it has no name here; see the system's log",
        error if is_lasting(error) => {
            "the device's state is lost for this process, other targets are not; start again, and if it comes back, \
             run the program under compute-sanitizer"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_named_without_asking_the_driver() {
        let error = device_error("cuda@0", "allocating hits", CudaError::OutOfMemory).to_string();
        assert!(error.starts_with("cuda@0: allocating hits failed: OutOfMemory: "), "{error}");
        assert_eq!(reason(CudaError::NotFound), "NotFound");
    }

    #[test]
    fn an_illegal_address_lasts_and_a_full_memory_does_not() {
        assert!(is_lasting(CudaError::IllegalAddress));
        assert!(reason(CudaError::IllegalAddress).contains("start again"));
        assert!(!is_lasting(CudaError::OutOfMemory));
    }
}
