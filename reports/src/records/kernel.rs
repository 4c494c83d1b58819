//! What compiled kernels take of a device.

use serde::{Deserialize, Serialize};

/// One kernel of one target. Nothing where the driver or the compiler does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelInfo {
    /// The kernel's name.
    pub kernel: String,
    /// Registers of a work-item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<u64>,
    /// Bytes of registers that a work-item writes to memory for want of more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill_bytes: Option<u64>,
    /// Bytes of a work-item's own memory: its stack, with the registers that were spilled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u64>,
    /// Bytes of memory that a work-group shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u64>,
    /// Work-items that the device runs in step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
}
