//! The backend's name.

/// The backend's name, and the target listed where there is no device.
pub(crate) const NAME: &str = "opencl";
