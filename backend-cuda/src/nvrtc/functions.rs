//! NVRTC's functions, from the library that is opened at run time.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};

/// `nvrtcProgram`.
pub(super) type Handle = *mut c_void;

/// Declares the functions with their types, and how to look them all up.
macro_rules! functions {
    ($($field:ident = $name:literal($($t:ty),*);)*) => {
        /// The functions in use, as of CUDA 11.2.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($t),*) -> c_int,)*
        }

        impl Functions {
            /// Looks up all functions; the error is the name of a missing one.
            pub(super) fn of(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        // SAFETY: NVRTC specifies the type of the function of this name.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($t),*) -> c_int>($name)
                        };
                        *found.map_err(|_| $name)?
                    },)*
                })
            }
        }
    };
}

functions! {
    version = "nvrtcVersion"(*mut c_int, *mut c_int);
    supported_count = "nvrtcGetNumSupportedArchs"(*mut c_int);
    supported = "nvrtcGetSupportedArchs"(*mut c_int);
    create = "nvrtcCreateProgram"(
        *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    );
    destroy = "nvrtcDestroyProgram"(*mut Handle);
    compile = "nvrtcCompileProgram"(Handle, c_int, *const *const c_char);
    log_size = "nvrtcGetProgramLogSize"(Handle, *mut usize);
    log = "nvrtcGetProgramLog"(Handle, *mut c_char);
    ptx_size = "nvrtcGetPTXSize"(Handle, *mut usize);
    ptx = "nvrtcGetPTX"(Handle, *mut c_char);
    cubin_size = "nvrtcGetCUBINSize"(Handle, *mut usize);
    cubin = "nvrtcGetCUBIN"(Handle, *mut c_char);
}

/// The text of an error code.
pub(super) fn message(code: c_int) -> String {
    let name = match code {
        1 => "out of memory",
        2 => "program creation failure",
        3 => "invalid input",
        4 => "invalid program",
        5 => "invalid option",
        6 => "compilation failure",
        7 => "built-in operation failure: its libnvrtc-builtins is missing",
        11 => "internal error",
        _ => return format!("error {code}"),
    };
    name.to_owned()
}

/// Reads bytes of a program by a pair of functions: one for the size, one for the bytes, with the NUL of a
/// text.
pub(super) fn bytes(
    program: Handle,
    size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    get: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
) -> Result<Vec<u8>, c_int> {
    let mut len = 0;
    // SAFETY: the program is alive, and the function writes one number.
    let code = unsafe { size(program, &raw mut len) };
    if code != 0 {
        return Err(code);
    }
    let mut bytes = vec![0u8; len.max(1)];
    // SAFETY: there is room for as many bytes as the function said.
    let code = unsafe { get(program, bytes.as_mut_ptr().cast()) };
    if code == 0 { Ok(bytes) } else { Err(code) }
}

/// The text before the first NUL.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes);
    String::from_utf8_lossy(text).trim().to_owned()
}
