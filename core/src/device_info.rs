//! The description of a target's device.

use crate::target_id::TargetId;
use serde::{Deserialize, Serialize};

/// A target's device, driver, compiler and flags: enough to repeat a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceInfo {
    /// The target, such as `cpu-bvh` or `cuda@0`.
    pub target: TargetId,
    /// The backend: `cpu`, `opencl`, `cuda`.
    pub backend: String,
    /// The device's marketing name.
    pub device: String,
    /// Driver or runtime library with its version.
    pub driver: String,
    /// The compiler that made the code which runs.
    pub compiler: String,
    /// Flags given to that compiler.
    pub flags: String,
    /// Hardware threads or compute units used; 0 when unknown.
    #[serde(alias = "threads")]
    pub compute_units: u32,
    /// Clocks as the driver reports them, empty when unknown.
    pub clocks: String,
    /// Hash of the device code, empty for the Rust reference.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kernel_hash: String,
    /// True where the device is the host's processor, so that targets beside it take its time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub on_host: bool,
    /// True when exact mode promises bit-identity with every other exact target; read as true from files that
    /// do not say.
    #[serde(alias = "promises_identity", default = "promised")]
    pub exact: bool,
    /// A remark for people, such as why this device is preferred to others of its backend; often empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl DeviceInfo {
    /// Host threads that render for the target and are the program's own; 0 elsewhere.
    pub fn host_threads(&self) -> u32 {
        if self.backend == "cpu" { self.compute_units } else { 0 }
    }
}

fn promised() -> bool {
    true
}
