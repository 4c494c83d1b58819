//! The driver's functions, under the names that `cust` links to.
//!
//! Each is a trampoline: it jumps to its address in a table, so arguments and results of any type pass
//! through. [`super`] fills the table from the loaded library; until then every address is [`not_loaded`]'s.

use std::arch::naked_asm;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Error code of every function while no library is loaded, or if the library lacks it:
/// `CUDA_ERROR_NOT_INITIALIZED`.
pub(super) const NOT_LOADED: u32 = 3;

/// Returns [`NOT_LOADED`]; ignores all arguments.
extern "C" fn not_loaded() -> u32 {
    NOT_LOADED
}

/// Jumps to an entry of the table. It uses caller-saved registers only.
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($offset:expr) => {
        naked_asm!("jmp qword ptr [rip + {table} + {offset}]", table = sym ADDRESSES, offset = const $offset)
    };
}

#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
macro_rules! jump {
    ($offset:expr) => {
        naked_asm!(
            "adrp x16, {table}",
            "add x16, x16, :lo12:{table}",
            "ldr x16, [x16, {offset}]",
            "br x16",
            table = sym ADDRESSES,
            offset = const $offset,
        )
    };
}

#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
macro_rules! jump {
    ($offset:expr) => {
        naked_asm!(
            "adrp x16, {table}@PAGE",
            "add x16, x16, {table}@PAGEOFF",
            "ldr x16, [x16, {offset}]",
            "br x16",
            table = sym ADDRESSES,
            offset = const $offset,
        )
    };
}

macro_rules! forward {
    ($($name:ident)*) => {
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
            [const { AtomicPtr::new(not_loaded as *mut c_void) }; NAMES.len()];

        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                jump!(Function::$name as usize * size_of::<AtomicPtr<c_void>>())
            }
        )*
    };
}

/// Fills the table; `find` looks up a function by its name.
pub(super) fn fill(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    for (name, address) in NAMES.iter().zip(&ADDRESSES) {
        address.store(find(name).unwrap_or(not_loaded as *mut c_void), Ordering::Release);
    }
}

// Every function that `cust` links to.
forward! {
    cuArray3DCreate_v2
    cuArray3DGetDescriptor_v2
    cuArrayDestroy
    cuCtxCreate_v2
    cuCtxDestroy_v2
    cuCtxGetApiVersion
    cuCtxGetCacheConfig
    cuCtxGetCurrent
    cuCtxGetDevice
    cuCtxGetFlags
    cuCtxGetLimit
    cuCtxGetSharedMemConfig
    cuCtxGetStreamPriorityRange
    cuCtxPopCurrent_v2
    cuCtxPushCurrent_v2
    cuCtxSetCacheConfig
    cuCtxSetCurrent
    cuCtxSetLimit
    cuCtxSetSharedMemConfig
    cuCtxSynchronize
    cuDestroyExternalMemory
    cuDeviceGet
    cuDeviceGetAttribute
    cuDeviceGetCount
    cuDeviceGetName
    cuDevicePrimaryCtxRelease_v2
    cuDevicePrimaryCtxReset_v2
    cuDevicePrimaryCtxRetain
    cuDevicePrimaryCtxSetFlags_v2
    cuDeviceTotalMem_v2
    cuDriverGetVersion
    cuEventCreate
    cuEventDestroy_v2
    cuEventElapsedTime
    cuEventQuery
    cuEventRecord
    cuEventSynchronize
    cuExternalMemoryGetMappedBuffer
    cuFuncGetAttribute
    cuFuncSetCacheConfig
    cuFuncSetSharedMemConfig
    cuGetErrorString
    cuGraphAddKernelNode
    cuGraphCreate
    cuGraphDebugDotPrint
    cuGraphDestroy
    cuGraphGetEdges
    cuGraphGetNodes
    cuGraphKernelNodeGetParams
    cuGraphNodeGetType
    cuImportExternalMemory
    cuInit
    cuLaunchHostFunc
    cuLaunchKernel
    cuLinkAddData_v2
    cuLinkComplete
    cuLinkCreate_v2
    cuLinkDestroy
    cuMemAdvise
    cuMemAllocAsync
    cuMemAllocHost_v2
    cuMemAllocManaged
    cuMemAllocPitch_v2
    cuMemAlloc_v2
    cuMemFreeAsync
    cuMemFreeHost
    cuMemFree_v2
    cuMemGetInfo_v2
    cuMemPrefetchAsync
    cuMemcpy2D_v2
    cuMemcpyAtoH_v2
    cuMemcpyDtoDAsync_v2
    cuMemcpyDtoD_v2
    cuMemcpyDtoHAsync_v2
    cuMemcpyDtoH_v2
    cuMemcpyHtoA_v2
    cuMemcpyHtoDAsync_v2
    cuMemcpyHtoD_v2
    cuMemsetD16Async
    cuMemsetD16_v2
    cuMemsetD32Async
    cuMemsetD32_v2
    cuMemsetD8Async
    cuMemsetD8_v2
    cuModuleGetFunction
    cuModuleGetGlobal_v2
    cuModuleLoad
    cuModuleLoadData
    cuModuleLoadDataEx
    cuModuleUnload
    cuOccupancyAvailableDynamicSMemPerBlock
    cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuOccupancyMaxPotentialBlockSize
    cuStreamCreateWithPriority
    cuStreamDestroy_v2
    cuStreamGetFlags
    cuStreamGetPriority
    cuStreamSynchronize
    cuStreamWaitEvent
    cuSurfObjectCreate
    cuSurfObjectDestroy
    cuSurfObjectGetResourceDesc
    cuTexObjectCreate
    cuTexObjectDestroy
    cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc
    cuTexObjectGetTextureDesc
}
