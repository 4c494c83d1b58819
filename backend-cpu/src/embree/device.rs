//! An Embree device that records its errors and counts its memory.

use super::TARGET;
use lockstep_core::{Error, Result};
use lockstep_embree_sys::{
    RTCDevice, RTCError, rtcGetDeviceError, rtcNewDevice, rtcReleaseDevice, rtcSetDeviceErrorFunction,
    rtcSetDeviceMemoryMonitorFunction,
};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The device that owns the Embree scenes and geometries of one loaded scene. It must be dropped after all of
/// them.
pub(super) struct Device {
    handle: RTCDevice,
    /// Embree calls back with its address as long as the device lives.
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
        Self::with_config(&format!("threads={}", threads.max(2)))
    }

    /// A device with options as Embree's documentation of `rtcNewDevice` lists them.
    fn with_config(config: &str) -> Result<Self> {
        let action = || format!("making a device ({config})");
        let text = CString::new(config).map_err(|e| failure(&action(), &e.to_string()))?;
        // SAFETY: a C string that outlives the call.
        let handle = unsafe { rtcNewDevice(text.as_ptr()) };
        if handle.is_null() {
            // SAFETY: without a device, it returns the error of this thread's last device creation.
            let error = unsafe { rtcGetDeviceError(ptr::null_mut()) };
            return Err(failure(&action(), &error.to_string()));
        }
        let device = Self { handle, monitor: Box::default() };
        let monitor = ptr::from_ref::<Monitor>(&device.monitor).cast_mut().cast();
        // SAFETY: the device is live, and the monitor, which its callbacks only read, outlives it.
        unsafe {
            rtcSetDeviceErrorFunction(device.handle(), Some(record_error), monitor);
            rtcSetDeviceMemoryMonitorFunction(device.handle(), Some(count_memory), monitor);
        }
        Ok(device)
    }

    /// The raw handle, valid while `self` lives.
    pub(super) fn handle(&self) -> RTCDevice {
        self.handle
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

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: made by `with_config`, released once; the monitor is still there.
        unsafe { rtcReleaseDevice(self.handle) }
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
    use lockstep_embree_sys::{
        RTCDeviceProperty, RTCGeometryType, loaded, rtcGetDeviceProperty, rtcNewGeometry,
    };

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
    fn options_that_embree_refuses_are_an_error_with_its_reason() {
        if !embree_is_here() {
            return;
        }
        let message = Device::with_config("verbose=loud").err().unwrap().to_string();
        let expected = "cpu-embree: making a device (verbose=loud) failed: Embree: ";
        assert!(message.starts_with(expected), "{message}");
        let message = Device::with_config("verbose=0\0").err().unwrap().to_string();
        assert!(message.contains("nul"), "{message}");
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
