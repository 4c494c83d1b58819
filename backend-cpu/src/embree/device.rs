//! An Embree device that records its errors and counts its memory.

use super::TARGET;
use embree4_sys::{RTCDevice, RTCError, rtcSetDeviceErrorFunction, rtcSetDeviceMemoryMonitorFunction};
use lockstep_core::{Error, Result};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The device that owns the Embree scenes and geometries of one loaded scene. It must be dropped after all of
/// them.
pub(super) struct Device {
    /// Dropped first, since Embree calls back with the monitor as long as the device lives.
    inner: embree4_rs::Device,
    monitor: Box<Monitor>,
}

/// State of the device's error and memory callbacks, which any thread may call.
#[derive(Default)]
struct Monitor {
    /// The first error since the last check.
    error: Mutex<Option<String>>,
    /// Bytes currently allocated.
    bytes: AtomicI64,
}

// SAFETY: Embree's devices may be used by any thread.
unsafe impl Send for Device {}
// SAFETY: Embree's devices may be used by several threads at once; the monitor consists of a lock and an
// atomic.
unsafe impl Sync for Device {}

impl Device {
    /// A device that builds with this many threads, at least two: with one, Embree's scheduler (oneTBB)
    /// starts a worker that finds no work yet never sleeps, and so takes a processor from the threads that
    /// trace rays.
    ///
    /// # Errors
    /// [`Error::Device`] with Embree's reason.
    pub(super) fn new(threads: usize) -> Result<Self> {
        let threads = threads.max(2);
        // `try_new` hands Embree the bytes as they are, so the NUL that ends a C string is part of them.
        let config = format!("threads={threads}\0");
        let inner = embree4_rs::Device::try_new(Some(&config))
            .map_err(|e| failure(&format!("making a device with {threads} threads"), &e.to_string()))?;
        let device = Self { inner, monitor: Box::default() };
        let monitor = ptr::from_ref::<Monitor>(&device.monitor).cast_mut().cast();
        // SAFETY: the device is live, and the monitor, which its callbacks only read, outlives it.
        unsafe {
            rtcSetDeviceErrorFunction(device.handle(), Some(record_error), monitor);
            rtcSetDeviceMemoryMonitorFunction(device.handle(), Some(count_memory), monitor);
        }
        Ok(device)
    }

    /// The device of `embree4-rs`.
    pub(super) fn wrapper(&self) -> &embree4_rs::Device {
        &self.inner
    }

    /// The raw handle. `embree4-rs` keeps it private; it is the only field of its device.
    pub(super) fn handle(&self) -> RTCDevice {
        const {
            assert!(size_of::<embree4_rs::Device>() == size_of::<RTCDevice>());
            assert!(align_of::<embree4_rs::Device>() == align_of::<RTCDevice>());
        }
        // SAFETY: the release of `embree4-rs` that Cargo.toml pins stores one field, the handle, and the
        // assertions show that there is no room for another.
        unsafe { ptr::from_ref(&self.inner).cast::<RTCDevice>().read() }
    }

    /// Bytes that Embree has currently allocated.
    pub(super) fn bytes(&self) -> u64 {
        u64::try_from(self.monitor.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Fails if Embree has reported an error since the last check, from any thread.
    ///
    /// # Errors
    /// [`Error::Device`] with the first error.
    pub(super) fn check(&self, action: &str) -> Result<()> {
        let error = self.monitor.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), |reason| Err(failure(action, &reason)))
    }
}

/// An Embree failure. `action` is in the progressive form ("building the BVH").
pub(super) fn failure(action: &str, reason: &str) -> Error {
    Error::Device { actor: TARGET.into(), action: action.into(), reason: format!("Embree: {reason}") }
}

unsafe extern "C" fn record_error(monitor: *mut c_void, code: RTCError, message: *const c_char) {
    // SAFETY: registered with a monitor that outlives the device.
    let monitor = unsafe { &*monitor.cast::<Monitor>() };
    let mut text = code.to_string();
    if !message.is_null() {
        // SAFETY: Embree hands over a C string that lives as long as this call.
        let detail = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        text = format!("{text} ({detail})");
    }
    monitor.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
}

unsafe extern "C" fn count_memory(monitor: *mut c_void, bytes: isize, _done: bool) -> bool {
    // SAFETY: registered with a monitor that outlives the device.
    let monitor = unsafe { &*monitor.cast::<Monitor>() };
    monitor.bytes.fetch_add(bytes as i64, Ordering::Relaxed);
    true
}

#[cfg(test)]
mod tests {
    use super::super::tests::embree_is_here;
    use super::*;
    use embree4_sys::{RTCDeviceProperty, RTCGeometryType, loaded, rtcGetDeviceProperty, rtcNewGeometry};

    #[test]
    fn the_handle_is_the_devices() {
        if !embree_is_here() {
            return;
        }
        let device = Device::new(1).unwrap();
        // SAFETY: the device is live.
        let version = unsafe { rtcGetDeviceProperty(device.handle(), RTCDeviceProperty::VERSION) };
        let expected = loaded().unwrap().version;
        assert_eq!(version, (expected.major * 10_000 + expected.minor * 100 + expected.patch) as isize);
    }

    #[test]
    fn an_error_is_reported_once_from_whichever_thread_it_came() {
        if !embree_is_here() {
            return;
        }
        let device = Device::new(1).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: the device is live; an unknown type is refused.
                let geometry = unsafe { rtcNewGeometry(device.handle(), RTCGeometryType(9_999)) };
                assert!(geometry.is_null());
            });
        });
        let message = device.check("making a geometry").unwrap_err().to_string();
        assert!(message.starts_with("cpu-embree: making a geometry failed: Embree: "), "{message}");
        assert!(device.check("making a geometry").is_ok());
    }
}
