//! Maps OpenCL's errors to Lockstep's.

use lockstep_core::Error;
use ocl::core::Status;

/// An error of the driver. `action` is in the progressive form ("uploading hits").
pub(crate) fn device_error(actor: &str, action: impl Into<String>, error: &ocl::OclCoreError) -> Error {
    Error::Device { actor: actor.into(), action: action.into(), reason: reason(error) }
}

/// The status's name, and the remedy where one is known.
fn reason(error: &ocl::OclCoreError) -> String {
    let Some(status) = error.api_status() else {
        return first_line(&error.to_string());
    };
    match remedy(status) {
        Some(remedy) => format!("{status:?}: {remedy}"),
        None => format!("{status:?}"),
    }
}

fn remedy(status: Status) -> Option<&'static str> {
    Some(match status {
        Status::CL_MEM_OBJECT_ALLOCATION_FAILURE | Status::CL_OUT_OF_RESOURCES => {
            "the device is out of memory or failed while running; close other programs that use it, or \
             choose a smaller scene or film"
        }
        Status::CL_OUT_OF_HOST_MEMORY => "this machine is out of memory",
        Status::CL_INVALID_BUFFER_SIZE => "the device cannot hold a buffer of this size",
        Status::CL_DEVICE_NOT_AVAILABLE => {
            "the device is gone; see the system's log for the driver's message"
        }
        Status::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => {
            "the device failed while running; its state is lost, so start again"
        }
        Status::CL_INVALID_OPERATION => "the OpenCL library lacks this function or refuses it",
        _ => return None,
    })
}

/// The first line of a message with words; `ocl` frames its messages with lines of symbols.
fn first_line(text: &str) -> String {
    let words = |line: &&str| line.chars().any(char::is_alphanumeric);
    text.lines().find(words).unwrap_or(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_words_is_kept() {
        assert_eq!(first_line("\n####\n  something broke \nmore"), "something broke");
        assert_eq!(first_line(""), "");
    }
}
