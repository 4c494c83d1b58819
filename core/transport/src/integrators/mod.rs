//! Integrators: estimators of the radiance that arrives at a pixel.

pub mod path;
