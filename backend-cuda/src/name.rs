//! The backend's name.

/// The backend's name, and the name of the first device's target.
pub(crate) const NAME: &str = "cuda";
