//! An Embree device that remembers its errors and counts its memory.

use super::TARGET;
use embree4_sys::{RTCDevice, RTCError, rtcSetDeviceErrorFunction, rtcSetDeviceMemoryMonitorFunction};
use lockstep_core::{Error, Result};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The factory of all scenes and geometries of one loaded scene. Must be dropped after all of them.
pub(super) struct Device {
    /// Dropped first, since the library reports to the ledger as long as the device lives.
    inner: embree4_rs::Device,
    ledger: Box<Ledger>,
}

/// What the library reports from any of its threads.
#[derive(Default)]
struct Ledger {
    /// The first error since the last question.
    error: Mutex<Option<String>>,
    /// Bytes that are allocated now.
    bytes: AtomicI64,
}

// SAFETY: Embree's devices may be used by any thread.
unsafe impl Send for Device {}
// SAFETY: Embree's devices may be used by several threads at once; the ledger is made of a lock and an atomic.
unsafe impl Sync for Device {}

impl Device {
    /// A device that builds with this many threads, but at least two: for one alone, Embree's scheduler (oneTBB) starts a
    /// worker that finds no work, yet never sleeps, and takes a processor from who traces rays.
    ///
    /// # Errors
    /// [`Error::Device`] with Embree's reason.
    pub(super) fn new(threads: usize) -> Result<Self> {
        let threads = threads.max(2);
        // `try_new` hands Embree the bytes as they are, so the NUL that ends a C string is part of them.
        let config = format!("threads={threads}\0");
        let inner = embree4_rs::Device::try_new(Some(&config))
            .map_err(|e| failure(&format!("making a device with {threads} threads"), &e.to_string()))?;
        let device = Self { inner, ledger: Box::default() };
        let ledger = ptr::from_ref::<Ledger>(&device.ledger).cast_mut().cast();
        // SAFETY: the device is live, and the ledger, which its callbacks only read, outlives it.
        unsafe {
            rtcSetDeviceErrorFunction(device.handle(), Some(note_error), ledger);
            rtcSetDeviceMemoryMonitorFunction(device.handle(), Some(note_memory), ledger);
        }
        Ok(device)
    }

    /// The device as `embree4-rs` knows it.
    pub(super) fn wrapper(&self) -> &embree4_rs::Device {
        &self.inner
    }

    /// The device as Embree's own functions know it. `embree4-rs` keeps it private, yet it is all that its device
    /// consists of.
    pub(super) fn handle(&self) -> RTCDevice {
        const {
            assert!(size_of::<embree4_rs::Device>() == size_of::<RTCDevice>());
            assert!(align_of::<embree4_rs::Device>() == align_of::<RTCDevice>());
        }
        // SAFETY: the release of `embree4-rs` that Cargo.toml pins stores one field, the handle, and the assertions show
        // that there is no room for another.
        unsafe { ptr::from_ref(&self.inner).cast::<RTCDevice>().read() }
    }

    /// Bytes that Embree has allocated.
    pub(super) fn bytes(&self) -> u64 {
        u64::try_from(self.ledger.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Whether Embree has reported an error since the last question, from whatever thread.
    ///
    /// # Errors
    /// [`Error::Device`] with the first of them.
    pub(super) fn check(&self, action: &str) -> Result<()> {
        let error = self.ledger.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), |reason| Err(failure(action, &reason)))
    }
}

/// What Embree could not do, and why.
pub(super) fn failure(action: &str, reason: &str) -> Error {
    Error::Device { actor: TARGET.into(), action: action.into(), reason: format!("Embree: {reason}") }
}

unsafe extern "C" fn note_error(ledger: *mut c_void, code: RTCError, message: *const c_char) {
    // SAFETY: registered with a ledger that outlives the device.
    let ledger = unsafe { &*ledger.cast::<Ledger>() };
    let mut text = code.to_string();
    if !message.is_null() {
        // SAFETY: Embree hands over a C string that lives as long as this call.
        let detail = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        text = format!("{text} ({detail})");
    }
    ledger.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
}

unsafe extern "C" fn note_memory(ledger: *mut c_void, bytes: isize, _done: bool) -> bool {
    // SAFETY: registered with a ledger that outlives the device.
    let ledger = unsafe { &*ledger.cast::<Ledger>() };
    ledger.bytes.fetch_add(bytes as i64, Ordering::Relaxed);
    true
}

#[cfg(test)]
mod tests {
    use super::super::tests::embree_is_here;
    use super::*;
    use embree4_sys::{RTCDeviceProperty, RTCGeometryType, loaded, rtcGetDeviceProperty, rtcNewGeometry};

    #[test]
    fn the_handle_is_that_of_a_device() {
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
                // SAFETY: the device is live; an unknown kind is refused.
                let geometry = unsafe { rtcNewGeometry(device.handle(), RTCGeometryType(9_999)) };
                assert!(geometry.is_null());
            });
        });
        let message = device.check("making a geometry").unwrap_err().to_string();
        assert!(message.starts_with("cpu-embree: making a geometry failed: Embree: "), "{message}");
        assert!(device.check("making a geometry").is_ok());
    }
}
