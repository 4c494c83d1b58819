//! OpenCL's functions, under the names that `ocl` links to.
//!
//! Each reads its address from a table, which [`super`] fills from the loaded library, and forwards its
//! arguments. Without an address it returns [`NOT_LOADED`], in the error parameter too if it has one.
//! Parameters have single letters, because only their order and types matter; these are compared with the
//! bindings' at compile time.

use ocl::ffi::*;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Error code of every function while no library is loaded, or if the library lacks it:
/// `CL_INVALID_OPERATION`.
pub(super) const NOT_LOADED: cl_int = -59;

/// Result of a function without an address.
trait Answer {
    const NONE: Self;
}

impl Answer for cl_int {
    const NONE: Self = NOT_LOADED;
}

impl Answer for *mut c_void {
    const NONE: Self = std::ptr::null_mut();
}

macro_rules! forward {
    ($($name:ident($($p:ident: $t:ty),* $(; $error:ident)?) -> $r:ty;)*) => {
        /// Indices into the table of addresses.
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        enum Function { $($name),* }

        /// Every function's name, in the table's order.
        const NAMES: &[&CStr] = &[$(
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            }
        ),*];

        static ADDRESSES: [AtomicPtr<c_void>; NAMES.len()] =
            [const { AtomicPtr::new(std::ptr::null_mut()) }; NAMES.len()];

        $(forward!(@function $name($($p: $t),*) [$($error)?] -> $r);)*
    };
    (@function $name:ident($($p:ident: $t:ty),*) [] -> $r:ty) => {
        const _: unsafe extern "system" fn($($t),*) -> $r = ocl::ffi::$name;

        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($p: $t),*) -> $r {
            let address = ADDRESSES[Function::$name as usize].load(Ordering::Acquire);
            if address.is_null() {
                return <$r as Answer>::NONE;
            }
            // SAFETY: the address is the loaded library's function of this name, whose type OpenCL specifies.
            let function = unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "system" fn($($t),*) -> $r>(address)
            };
            // SAFETY: the arguments are the caller's, under the same contract.
            unsafe { function($($p),*) }
        }
    };
    (@function $name:ident($($p:ident: $t:ty),*) [$error:ident] -> $r:ty) => {
        const _: unsafe extern "system" fn($($t,)* *mut cl_int) -> $r = ocl::ffi::$name;

        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($p: $t,)* $error: *mut cl_int) -> $r {
            let address = ADDRESSES[Function::$name as usize].load(Ordering::Acquire);
            if address.is_null() {
                if !$error.is_null() {
                    // SAFETY: OpenCL has the caller pass null or a place for the error code.
                    unsafe { *$error = NOT_LOADED };
                }
                return <$r as Answer>::NONE;
            }
            // SAFETY: the address is the loaded library's function of this name, whose type OpenCL specifies.
            let function = unsafe {
                std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "system" fn($($t,)* *mut cl_int) -> $r,
                >(address)
            };
            // SAFETY: the arguments are the caller's, under the same contract.
            unsafe { function($($p,)* $error) }
        }
    };
}

/// Fills the table; `find` looks up a function by its name.
pub(super) fn fill(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    for (name, address) in NAMES.iter().zip(&ADDRESSES) {
        address.store(find(name).unwrap_or(std::ptr::null_mut()), Ordering::Release);
    }
}

forward! {
    clGetPlatformIDs(a: cl_uint, b: *mut cl_platform_id, c: *mut cl_uint) -> cl_int;
    clGetPlatformInfo(a: cl_platform_id, b: cl_platform_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clGetDeviceIDs(a: cl_platform_id, b: cl_device_type, c: cl_uint, d: *mut cl_device_id,
        e: *mut cl_uint) -> cl_int;
    clGetDeviceInfo(a: cl_device_id, b: cl_device_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clCreateSubDevices(a: cl_device_id, b: *const cl_device_partition_property, c: cl_uint,
        d: *mut cl_device_id, e: *mut cl_uint) -> cl_int;
    clRetainDevice(a: cl_device_id) -> cl_int;
    clReleaseDevice(a: cl_device_id) -> cl_int;
    clCreateContext(a: *const cl_context_properties, b: cl_uint, c: *const cl_device_id,
        d: Option<extern "C" fn(*const c_char, *const c_void, size_t, *mut c_void)>,
        e: *mut c_void; error) -> cl_context;
    clCreateContextFromType(a: *const cl_context_properties, b: cl_device_type,
        c: Option<extern "C" fn(*const c_char, *const c_void, size_t, *mut c_void)>,
        d: *mut c_void; error) -> cl_context;
    clRetainContext(a: cl_context) -> cl_int;
    clReleaseContext(a: cl_context) -> cl_int;
    clGetContextInfo(a: cl_context, b: cl_context_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clCreateCommandQueue(a: cl_context, b: cl_device_id,
        c: cl_command_queue_properties; error) -> cl_command_queue;
    clRetainCommandQueue(a: cl_command_queue) -> cl_int;
    clReleaseCommandQueue(a: cl_command_queue) -> cl_int;
    clGetCommandQueueInfo(a: cl_command_queue, b: cl_command_queue_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clCreateBuffer(a: cl_context, b: cl_mem_flags, c: size_t, d: *mut c_void; error) -> cl_mem;
    clCreateSubBuffer(a: cl_mem, b: cl_mem_flags, c: cl_buffer_create_type,
        d: *const c_void; error) -> cl_mem;
    clCreateImage(a: cl_context, b: cl_mem_flags, c: *const cl_image_format, d: *const cl_image_desc,
        e: *mut c_void; error) -> cl_mem;
    clRetainMemObject(a: cl_mem) -> cl_int;
    clReleaseMemObject(a: cl_mem) -> cl_int;
    clGetSupportedImageFormats(a: cl_context, b: cl_mem_flags, c: cl_mem_object_type, d: cl_uint,
        e: *mut cl_image_format, f: *mut cl_uint) -> cl_int;
    clGetMemObjectInfo(a: cl_mem, b: cl_mem_info, c: size_t, d: *mut c_void, e: *mut size_t) -> cl_int;
    clGetImageInfo(a: cl_mem, b: cl_image_info, c: size_t, d: *mut c_void, e: *mut size_t) -> cl_int;
    clSetMemObjectDestructorCallback(a: cl_mem, b: Option<extern "C" fn(cl_mem, *mut c_void)>,
        c: *mut c_void) -> cl_int;
    clCreateSampler(a: cl_context, b: cl_bool, c: cl_addressing_mode,
        d: cl_filter_mode; error) -> cl_sampler;
    clRetainSampler(a: cl_sampler) -> cl_int;
    clReleaseSampler(a: cl_sampler) -> cl_int;
    clGetSamplerInfo(a: cl_sampler, b: cl_sampler_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clCreateProgramWithSource(a: cl_context, b: cl_uint, c: *const *const c_char,
        d: *const size_t; error) -> cl_program;
    clCreateProgramWithBinary(a: cl_context, b: cl_uint, c: *const cl_device_id, d: *const size_t,
        e: *const *const c_uchar, f: *mut cl_int; error) -> cl_program;
    clCreateProgramWithBuiltInKernels(a: cl_context, b: cl_uint, c: *const cl_device_id,
        d: *const char; error) -> cl_program;
    clRetainProgram(a: cl_program) -> cl_int;
    clReleaseProgram(a: cl_program) -> cl_int;
    clBuildProgram(a: cl_program, b: cl_uint, c: *const cl_device_id, d: *const c_char,
        e: Option<extern "C" fn(cl_program, *mut c_void)>, f: *mut c_void) -> cl_int;
    clCompileProgram(a: cl_program, b: cl_uint, c: *const cl_device_id, d: *const c_char, e: cl_uint,
        f: *const cl_program, g: *const *const c_char, h: Option<extern "C" fn(cl_program, *mut c_void)>,
        i: *mut c_void) -> cl_int;
    clLinkProgram(a: cl_context, b: cl_uint, c: *const cl_device_id, d: *const c_char, e: cl_uint,
        f: *const cl_program, g: Option<extern "C" fn(cl_program, *mut c_void)>,
        h: *mut c_void; error) -> cl_program;
    clGetProgramInfo(a: cl_program, b: cl_program_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clGetProgramBuildInfo(a: cl_program, b: cl_device_id, c: cl_program_build_info, d: size_t,
        e: *mut c_void, f: *mut size_t) -> cl_int;
    clCreateKernel(a: cl_program, b: *const c_char; error) -> cl_kernel;
    clCreateKernelsInProgram(a: cl_program, b: cl_uint, c: *mut cl_kernel, d: *mut cl_uint) -> cl_int;
    clRetainKernel(a: cl_kernel) -> cl_int;
    clReleaseKernel(a: cl_kernel) -> cl_int;
    clSetKernelArg(a: cl_kernel, b: cl_uint, c: size_t, d: *const c_void) -> cl_int;
    clGetKernelInfo(a: cl_kernel, b: cl_kernel_info, c: size_t, d: *mut c_void, e: *mut size_t) -> cl_int;
    clGetKernelArgInfo(a: cl_kernel, b: cl_uint, c: cl_kernel_arg_info, d: size_t, e: *mut c_void,
        f: *mut size_t) -> cl_int;
    clGetKernelWorkGroupInfo(a: cl_kernel, b: cl_device_id, c: cl_kernel_work_group_info, d: size_t,
        e: *mut c_void, f: *mut size_t) -> cl_int;
    clWaitForEvents(a: cl_uint, b: *const cl_event) -> cl_int;
    clGetEventInfo(a: cl_event, b: cl_event_info, c: size_t, d: *mut c_void, e: *mut size_t) -> cl_int;
    clCreateUserEvent(a: cl_context; error) -> cl_event;
    clRetainEvent(a: cl_event) -> cl_int;
    clReleaseEvent(a: cl_event) -> cl_int;
    clSetUserEventStatus(a: cl_event, b: cl_int) -> cl_int;
    clSetEventCallback(a: cl_event, b: cl_int, c: Option<extern "C" fn(cl_event, cl_int, *mut c_void)>,
        d: *mut c_void) -> cl_int;
    clGetEventProfilingInfo(a: cl_event, b: cl_profiling_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clFlush(a: cl_command_queue) -> cl_int;
    clFinish(a: cl_command_queue) -> cl_int;
    clEnqueueReadBuffer(a: cl_command_queue, b: cl_mem, c: cl_bool, d: size_t, e: size_t, f: *mut c_void,
        g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueReadBufferRect(a: cl_command_queue, b: cl_mem, c: cl_bool, d: *const size_t, e: *const size_t,
        f: *const size_t, g: size_t, h: size_t, i: size_t, j: size_t, k: *mut c_void, l: cl_uint,
        m: *const cl_event, n: *mut cl_event) -> cl_int;
    clEnqueueWriteBuffer(a: cl_command_queue, b: cl_mem, c: cl_bool, d: size_t, e: size_t, f: *const c_void,
        g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueWriteBufferRect(a: cl_command_queue, b: cl_mem, c: cl_bool, d: *const size_t, e: *const size_t,
        f: *const size_t, g: size_t, h: size_t, i: size_t, j: size_t, k: *const c_void, l: cl_uint,
        m: *const cl_event, n: *mut cl_event) -> cl_int;
    clEnqueueFillBuffer(a: cl_command_queue, b: cl_mem, c: *const c_void, d: size_t, e: size_t, f: size_t,
        g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueCopyBuffer(a: cl_command_queue, b: cl_mem, c: cl_mem, d: size_t, e: size_t, f: size_t,
        g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueCopyBufferRect(a: cl_command_queue, b: cl_mem, c: cl_mem, d: *const size_t, e: *const size_t,
        f: *const size_t, g: size_t, h: size_t, i: size_t, j: size_t, k: cl_uint, l: *const cl_event,
        m: *mut cl_event) -> cl_int;
    clEnqueueReadImage(a: cl_command_queue, b: cl_mem, c: cl_bool, d: *const size_t, e: *const size_t,
        f: size_t, g: size_t, h: *mut c_void, i: cl_uint, j: *const cl_event, k: *mut cl_event) -> cl_int;
    clEnqueueWriteImage(a: cl_command_queue, b: cl_mem, c: cl_bool, d: *const size_t, e: *const size_t,
        f: size_t, g: size_t, h: *const c_void, i: cl_uint, j: *const cl_event, k: *mut cl_event) -> cl_int;
    clEnqueueFillImage(a: cl_command_queue, b: cl_mem, c: *const c_void, d: *const size_t, e: *const size_t,
        f: cl_uint, g: *const cl_event, h: *mut cl_event) -> cl_int;
    clEnqueueCopyImage(a: cl_command_queue, b: cl_mem, c: cl_mem, d: *const size_t, e: *const size_t,
        f: *const size_t, g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueCopyImageToBuffer(a: cl_command_queue, b: cl_mem, c: cl_mem, d: *const size_t,
        e: *const size_t, f: size_t, g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueCopyBufferToImage(a: cl_command_queue, b: cl_mem, c: cl_mem, d: size_t, e: *const size_t,
        f: *const size_t, g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueMapBuffer(a: cl_command_queue, b: cl_mem, c: cl_bool, d: cl_map_flags, e: size_t, f: size_t,
        g: cl_uint, h: *const cl_event, i: *mut cl_event; error) -> *mut c_void;
    clEnqueueMapImage(a: cl_command_queue, b: cl_mem, c: cl_bool, d: cl_map_flags, e: *const size_t,
        f: *const size_t, g: *mut size_t, h: *mut size_t, i: cl_uint, j: *const cl_event,
        k: *mut cl_event; error) -> *mut c_void;
    clEnqueueUnmapMemObject(a: cl_command_queue, b: cl_mem, c: *mut c_void, d: cl_uint, e: *const cl_event,
        f: *mut cl_event) -> cl_int;
    clEnqueueMigrateMemObjects(a: cl_command_queue, b: cl_uint, c: *const cl_mem, d: cl_mem_migration_flags,
        e: cl_uint, f: *const cl_event, g: *mut cl_event) -> cl_int;
    clEnqueueNDRangeKernel(a: cl_command_queue, b: cl_kernel, c: cl_uint, d: *const size_t,
        e: *const size_t, f: *const size_t, g: cl_uint, h: *const cl_event, i: *mut cl_event) -> cl_int;
    clEnqueueTask(a: cl_command_queue, b: cl_kernel, c: cl_uint, d: *const cl_event,
        e: *mut cl_event) -> cl_int;
    clEnqueueNativeKernel(a: cl_command_queue, b: Option<extern "C" fn(*mut c_void)>, c: *mut c_void,
        d: size_t, e: cl_uint, f: *const cl_mem, g: *const *const c_void, h: cl_uint, i: *const cl_event,
        j: *mut cl_event) -> cl_int;
    clEnqueueMarkerWithWaitList(a: cl_command_queue, b: cl_uint, c: *const cl_event,
        d: *mut cl_event) -> cl_int;
    clEnqueueBarrierWithWaitList(a: cl_command_queue, b: cl_uint, c: *const cl_event,
        d: *mut cl_event) -> cl_int;
    clGetExtensionFunctionAddressForPlatform(a: cl_platform_id, b: *const c_char) -> *mut c_void;
    clCreateFromGLBuffer(a: cl_context, b: cl_mem_flags, c: cl_GLuint; error) -> cl_mem;
    clCreateFromGLTexture(a: cl_context, b: cl_mem_flags, c: cl_GLenum, d: cl_GLint,
        e: cl_GLuint; error) -> cl_mem;
    clCreateFromGLRenderbuffer(a: cl_context, b: cl_mem_flags, c: cl_GLuint; error) -> cl_mem;
    clEnqueueAcquireGLObjects(a: cl_command_queue, b: cl_uint, c: *const cl_mem, d: cl_uint,
        e: *const cl_event, f: *mut cl_event) -> cl_int;
    clEnqueueReleaseGLObjects(a: cl_command_queue, b: cl_uint, c: *const cl_mem, d: cl_uint,
        e: *const cl_event, f: *mut cl_event) -> cl_int;
    clGetGLContextInfoKHR(a: *const cl_context_properties, b: cl_gl_context_info, c: size_t, d: *mut c_void,
        e: *mut size_t) -> cl_int;
    clCreateFromGLTexture2D(a: cl_context, b: cl_mem_flags, c: cl_GLenum, d: cl_GLint,
        e: cl_GLuint; error) -> cl_mem;
    clCreateFromGLTexture3D(a: cl_context, b: cl_mem_flags, c: cl_GLenum, d: cl_GLint,
        e: cl_GLuint; error) -> cl_mem;
}
