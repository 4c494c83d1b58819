//! The CPU as a device: its name, clock and hardware threads.

use lockstep_core::{DeviceInfo, Error, OpenOptions, Result, TargetId};

/// Describes the CPU as the device of a target; `driver` names the intersector and its version.
pub(crate) fn describe(target: &str, threads: usize, driver: String, exact: bool) -> DeviceInfo {
    DeviceInfo {
        target: target.into(),
        backend: "cpu".into(),
        device: model(),
        driver,
        compiler: env!("LOCKSTEP_RUSTC").into(),
        flags: env!("LOCKSTEP_RUSTFLAGS").into(),
        compute_units: threads as u32,
        clocks: clocks(),
        kernel_hash: String::new(),
        on_host: true,
        exact,
        note: String::new(),
    }
}

/// Number of hardware threads that this process may use; at least one.
pub(crate) fn hardware_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Number of threads that options ask for; at least one.
pub(crate) fn threads(options: &OpenOptions) -> usize {
    options.threads.unwrap_or_else(hardware_threads).max(1)
}

/// Starts a pool of threads for a target.
///
/// # Errors
/// [`Error::Device`] when the system refuses them.
pub(crate) fn start_threads(target: &TargetId, threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| Error::Device {
        actor: target.to_string(),
        action: format!("starting {threads} threads"),
        reason: e.to_string(),
    })
}

/// A field of the first processor in `/proc/cpuinfo`; `None` where the file or the field is missing.
fn cpuinfo(field: &str) -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == field))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn model() -> String {
    cpuinfo("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn clocks() -> String {
    cpuinfo("cpu MHz").map_or_else(String::new, |mhz| format!("{mhz} MHz at start"))
}
