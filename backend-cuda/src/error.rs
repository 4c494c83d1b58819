//! Maps CUDA's errors to Lockstep's.
//!
//! Messages use the error's name and never `cust`'s text, for which it would call the driver: there may be
//! none.

use cust::error::CudaError;
use lockstep_core::Error;

/// An error of the driver. `action` is in the progressive form ("uploading hits").
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

/// Whether an error is sticky: the context is lost, and every later call fails with it too.
pub(crate) fn is_sticky(error: CudaError) -> bool {
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
            "the driver cannot run what NVRTC made; update the driver, or set LOCKSTEP_NVRTC to an older \
             NVRTC"
        }
        CudaError::InvalidDevice => "the device is gone; see the system's log for the driver's message",
        CudaError::NotInitialized => "the driver is not loaded or lacks this function",
        CudaError::UnknownError => "the driver's error code has no name here; see the system's log",
        error if is_sticky(error) => {
            "the device's state is lost for this process, other targets are not; start again, and if it \
             comes back, run the program under compute-sanitizer"
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
    fn an_illegal_address_is_sticky_and_full_memory_is_not() {
        assert!(is_sticky(CudaError::IllegalAddress));
        assert!(reason(CudaError::IllegalAddress).contains("start again"));
        assert!(!is_sticky(CudaError::OutOfMemory));
    }
}
